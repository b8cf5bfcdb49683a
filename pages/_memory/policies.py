"""Every policy on the same runs: waste and failures, what a price per failure picks, and why a task gets its size."""

from __future__ import annotations

import streamlit as st

from pages._frame import header
from pages._frame.errors import guard
from pages._memory import keep, policy_table, replay_form, why
from pages._memory.asking import Asked
from pages._parts import earlier_result, figures, running_work
from workprof.charts.memory import (
    frontier_chart,
    learning_curve,
    policy_headlines,
    policy_scenario,
)
from workprof.charts.text import markdown_text
from workprof.memory.replay.protocols import SIZEY
from workprof.memory.replay.records import ReplayResult
from workprof.memory.replay.settings import ReplaySettings
from workprof.units import format_duration
from workprof.workbench.memory import REPLAY

SHOWN = "memory_policies_last"
WHAT = "Replaying the policies"


def policies(asked: Asked) -> None:
    """Show the settings, the running replay or the newest one, and the reason for one task's size."""
    with st.expander(
        "Replay", icon=":material/tune:", key="memory_replay_settings", on_change="rerun", bind="query-params"
    ):
        settings = replay_form.settings(asked)
    answer = asked.workbench.replay_answer(asked.dataset.hash, settings)
    if answer.result is not None:
        st.session_state[SHOWN] = (asked.dataset.hash, settings)
        _result(asked, answer.result)
    else:
        running = answer.job is not None and answer.job.active
        if not running:
            _ask(asked, settings)
        running_work.job_panel(asked.visit.house, answer.job, WHAT)
        _previous(asked, running=running)
    st.header("Why this number")
    with guard():
        why.reason(asked, settings)


def _ask(asked: Asked, settings: ReplaySettings) -> None:
    with st.container(border=True):
        earlier = earlier_result.runs(asked.visit, REPLAY.name)
        took = "Some seconds for a thousand runs."
        if earlier:
            took = f"The last replay here took {format_duration(earlier[0].seconds)} for {earlier[0].n_rows:,} rows."
        st.markdown(
            f"Not replayed with these settings yet: {len(settings.policies)} policies on "
            f"{asked.dataset.finished_rows:,} finished rows, and the settings of ours. {took}"
        )
        if st.button("Replay the policies", type="primary", icon=":material/play_arrow:", key="memory_replay"):
            asked.workbench.start_replay(asked.dataset.hash, settings)
            st.rerun()


def _result(asked: Asked, found: ReplayResult) -> None:
    if found.protocol == SIZEY:
        header.published_flag()
    for note in found.notes:
        st.warning(f"{markdown_text(note[:1].upper() + note[1:], 400)}.", icon=":material/warning:")
    price = float(
        st.number_input(
            "Price of a failure (GB·h)",
            min_value=0.0,
            value=0.0,
            format="%g",
            key="memory_pick",
            bind="query-params",
            width=260,
            help=f"On top of what its attempts are charged; the mean run uses {found.mean_run_gb_h:.3g} GB·h. 0 = "
            "waste alone.",
        )
    )
    figures.headline_row(policy_headlines(found, price))
    figures.show(frontier_chart(found, price), key="memory_frontier")
    policy_table.table(asked, found, price)
    keep.keep(asked, "memory_keep_policy", lambda name: policy_scenario(found, price, asked.dataset, name))
    st.header("While the policies learn")
    figures.show(learning_curve(found), key="memory_learning")
    left_out = [f"{rows:,} with {reason}" for reason, rows in found.left_out.items() if rows]
    st.caption(
        f"{markdown_text('Left out: ' + ', '.join(left_out) if left_out else 'No run is left out', 300)}. Sized for "
        f"{found.target}, computed in {format_duration(found.seconds)}; dataset {asked.dataset.hash[:8]}."
    )


def _previous(asked: Asked, *, running: bool) -> None:
    """Show the result of the previous settings under a banner, where this session has one."""
    of_dataset, settings = st.session_state.get(SHOWN, ("", None))
    if of_dataset != asked.dataset.hash or settings is None:
        return
    kept = asked.workbench.replay_answer(of_dataset, settings).result
    if kept is None:
        return
    todo = "the new one runs" if running else "press **Replay the policies** to renew it"
    st.warning(
        f"What follows is based on previous settings ({kept.protocol}, input {markdown_text(kept.input_column, 40)}); "
        f"{todo}.",
        icon=":material/history:",
    )
    _result(asked, kept)
