"""Every policy on the same runs: waste and failures, what a price per failure picks, and why a task gets its size."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages._frame import header
from pages._frame.errors import guard
from pages._memory import keep, policy_table, why
from pages._memory.asking import Asked
from pages._parts import earlier_result, figures, forms, long_question
from pages._parts.controls import LARGEST_AMOUNT, number
from pages._parts.long_question import LongQuestion
from workprof.charts.memory.models import learning_curve
from workprof.charts.memory.plans import policy_scenario
from workprof.charts.memory.policies import frontier_chart, policy_headlines
from workprof.charts.text import markdown_text
from workprof.memory.facts import AFTER, known_when
from workprof.memory.questions import REPLAY
from workprof.memory.replay import SIZEY, ReplayResult, ReplaySettings
from workprof.memory.usage import USAGE_COLUMNS
from workprof.units import format_duration

MAIN = ("policies", "protocol", "seeds", "input_column", "sizing.price_runs", "retry.rule", "retry.cap_bytes")


def policies(asked: Asked) -> None:
    """Show the settings, the running replay or the newest one, and the reason for one task's size."""
    with st.expander(
        "Replay", icon=":material/tune:", key="memory_replay_settings", on_change="rerun", bind="query-params"
    ):
        settings = _settings(asked)
    question = LongQuestion(
        name="memory_replay",
        settings=settings,
        answer=asked.workbench.replay.cached,
        start=asked.workbench.replay.start,
        button="Replay the policies",
        before=partial(_before, asked, settings),
        what="Replaying the policies",
        told=lambda kept: f"{kept.protocol}, input {markdown_text(kept.input_column, 40)}",
    )
    found = long_question.result(asked.visit, asked.dataset, question)
    if found is not None:
        _result(asked, found, current=found.settings == settings)
    st.header("Why this number")
    with guard():
        why.reason(asked, settings)


def _settings(asked: Asked) -> ReplaySettings:
    by_path = {leaf.path: leaf for leaf in REPLAY.leaves}
    hidden = {*USAGE_COLUMNS.values(), "row_id"}
    columns = [one for one in asked.workbench.columns(asked.dataset.hash) if one.numeric and not one.truth]
    inputs = sorted(
        (one.name for one in columns if one.name not in hidden), key=lambda name: (known_when(name) == AFTER, name)
    )
    own = {"input_column": partial(forms.control, by_path["input_column"], REPLAY.page, inputs)}
    return forms.settings(asked.visit, asked.dataset, REPLAY, MAIN, {"target": asked.target}, own)


def _before(asked: Asked, settings: ReplaySettings) -> str:
    earlier = earlier_result.runs(asked.visit, REPLAY.name)
    took = "Some seconds for a thousand runs."
    if earlier:
        took = f"The last replay here took {format_duration(earlier[0].seconds)} for {earlier[0].n_rows:,} rows."
    return (
        f"Not replayed with these settings yet: {len(settings.policies)} policies on "
        f"{asked.dataset.finished_rows:,} finished rows, and the settings of ours. {took}"
    )


def _result(asked: Asked, found: ReplayResult, *, current: bool) -> None:
    if found.protocol == SIZEY:
        header.published_flag()
    for note in found.notes:
        st.warning(f"{markdown_text(note[:1].upper() + note[1:], 400)}.", icon=":material/warning:")
    price = number(
        "Price of a failure (GB·h)",
        "memory_pick",
        0.0,
        (0.0, LARGEST_AMOUNT),
        f"On top of what its attempts are charged; the mean run uses {found.mean_run_gb_h:.3g} GB·h. 0 = waste alone.",
        width=260,
    )
    figures.headline_row(policy_headlines(found, price))
    figures.show(frontier_chart(found, price), key="memory_frontier")
    policy_table.table(asked, found, price)
    draft = partial(policy_scenario, found, price, asked.dataset)
    keep.keep(asked, "memory_keep_policy", draft, current=current)
    st.header("While the policies learn")
    figures.show(learning_curve(found), key="memory_learning")
    left_out = [f"{rows:,} with {reason}" for reason, rows in found.left_out.items() if rows]
    st.caption(
        f"{markdown_text('Left out: ' + ', '.join(left_out) if left_out else 'No run is left out', 300)}. Sized for "
        f"{found.target}, computed in {format_duration(found.seconds)}; dataset {asked.dataset.hash[:8]}."
    )
