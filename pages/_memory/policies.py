"""Policies replayed over the runs as they came, and why a size is what it is."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from pages._frame import header
from pages._frame.errors import guard
from pages._memory import exports, scope
from pages._memory.scope import PageContext
from pages._parts import figures, forms, long_question, running_work, tables
from pages._parts.controls import LARGEST_AMOUNT, choice, number
from pages._parts.long_question import LongQuestion
from workprof.charts.memory.models import learning_curve
from workprof.charts.memory.plans import policy_scenario
from workprof.charts.memory.policies import (
    CHOICE_COLUMNS,
    POLICY_COLUMNS,
    choice_table,
    frontier_chart,
    policy_headlines,
    policy_table,
    why_costs,
    why_headlines,
    why_history,
)
from workprof.charts.text import label_text, markdown_text
from workprof.core.units import format_duration
from workprof.inputs import safe_name
from workprof.memory.assessment import FEWEST_RUNS
from workprof.memory.facts import AFTER, known_when
from workprof.memory.policies import ORACLES
from workprof.memory.questions import REPLAY
from workprof.memory.replay import NO_INPUT, SIZEY, ReplayResult, ReplaySettings, sized_from_words
from workprof.memory.usage import USAGE_COLUMNS, evidence_words
from workprof.memory.why import WhySettings


def table(context: PageContext, found: ReplayResult, price: float) -> None:
    """Show the policies, least waste with the price of the failures first."""
    table = policy_table(found, price)
    st.caption("Least waste with the price of the failures first; intervals of 95 %.")
    tables.show(
        table,
        POLICY_COLUMNS,
        key="memory_policy_table",
        alt=f"{len(table)} policies with waste, failures and their intervals",
        height="content",
    )
    tables.csv(
        table, f"{safe_name(context.dataset.name)}-policies", "memory_policies_csv", f"CSV, all {len(table)} policies"
    )
    _prices(found)


def _sizes(context: PageContext, found: ReplayResult) -> None:
    """Show the buttons that save what a policy would give the next run of every task."""
    names = tuple(name for name in found.policies if name not in ORACLES)
    if names:
        name = choice("Sizes of", "memory_export_policy", names, "The policy whose sizes for next runs are saved.")
        settings = replace(found.settings, policies=(name,))
        made = partial(context.workbench.policy_sizes, context.dataset.hash, settings)
        exports.buttons(context, "memory_policy_export", "Sizes", f"memory-{name}", made)


def _prices(found: ReplayResult) -> None:
    prices = st.expander(
        "Rule chosen at each failure cost",
        icon=":material/sell:",
        key="memory_prices",
        on_change="rerun",
        bind="query-params",
    )
    if prices.open and found.choices:
        with prices:
            choices = choice_table(found)
            tables.show(
                choices,
                CHOICE_COLUMNS,
                key="memory_choices",
                alt=f"The best policy at {len(choices)} prices of a failure",
            )


def reason(context: PageContext, settings: ReplaySettings) -> None:
    """Show the size of the chosen task's next run and what it rests on."""
    if not context.task:
        st.info("Choose one task above to see the reason for its size.", icon=":material/info:")
        return
    value = None
    if settings.input_column != NO_INPUT:
        value = st.number_input(
            f"{label_text(settings.input_column)} of the next run",
            min_value=0.0,
            max_value=1e18,
            value=None,
            format="%g",
            key="memory_input_value",
            bind="query-params",
            placeholder="empty = the median of the past runs",
            width=320,
        )
    found = context.workbench.why_size(
        context.dataset.hash,
        WhySettings(
            task=context.task,
            input_column=settings.input_column,
            input_value=None if value is None else float(value),
            target=context.target,
            sizing=settings.sizing,
            retry=settings.retry,
        ),
    )
    if found.too_few:
        st.warning(f"Only {found.n_known} runs (fewer than {FEWEST_RUNS}): a guess.", icon=":material/warning:")
    figures.headline_row(why_headlines(found))
    figures.show(why_history(found), key="memory_why")
    figures.show(why_costs(found), key="memory_why_costs")


MAIN = ("policies", "protocol", "known", "seeds", "input_column", "sizing.price_runs", "retry.rule", "retry.cap_bytes")


def policies(context: PageContext) -> None:
    """Show the settings, the running replay or the newest one, and the reason for one task's size."""
    with st.expander(
        "Replay", icon=":material/tune:", key="memory_replay_settings", on_change="rerun", bind="query-params"
    ):
        settings = _settings(context)
    question = LongQuestion(
        name="memory_replay",
        settings=settings,
        ask=context.workbench.replay,
        button="Replay the policies",
        before=partial(_before, context, settings),
        what="Replaying the policies",
        told=lambda kept: f"{kept.protocol}, input {markdown_text(kept.input_column, 40)}",
    )
    found = long_question.result(context.visit, context.dataset, question)
    if found is not None:
        _result(context, found, current=found.settings == settings)
    st.header("Why this number")
    with guard():
        reason(context, settings)


def _settings(context: PageContext) -> ReplaySettings:
    by_path = {leaf.path: leaf for leaf in REPLAY.leaves}
    hidden = {*USAGE_COLUMNS.values(), "row_id"}
    columns = [one for one in context.workbench.columns(context.dataset.hash) if one.numeric and not one.truth]
    inputs = sorted(
        (one.name for one in columns if one.name not in hidden), key=lambda name: (known_when(name) == AFTER, name)
    )
    own = {"input_column": partial(forms.control, by_path["input_column"], REPLAY.page, inputs)}
    return forms.settings(context.visit, context.dataset, REPLAY, MAIN, {"target": context.target}, own)


def _before(context: PageContext, settings: ReplaySettings) -> str:
    earlier = running_work.earlier(context.visit, REPLAY.name)
    took = "Some seconds for a thousand runs."
    if earlier:
        took = f"The last replay here took {format_duration(earlier[0].seconds)} for {earlier[0].n_rows:,} rows."
    return (
        f"Not replayed with these settings yet: {len(settings.policies)} policies on "
        f"{context.dataset.finished_rows:,} finished rows, and the settings of workprof. {took}"
    )


def _result(context: PageContext, found: ReplayResult, *, current: bool) -> None:
    if found.protocol == SIZEY:
        header.published_flag()
    for note in found.notes:
        st.warning(f"{markdown_text(note[:1].upper() + note[1:], 400)}.", icon=":material/warning:")
    st.caption(f"{markdown_text(sized_from_words(found), 300)}.")
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
    table(context, found, price)
    if found.protocol != SIZEY:
        _sizes(context, found)
    draft = partial(policy_scenario, found, price, context.dataset)
    scope.keep(context, "memory_keep_policy", draft, current=current)
    st.header("Cumulative waste")
    figures.show(learning_curve(found), key="memory_learning")
    left_out = [f"{rows:,} with {reason}" for reason, rows in found.left_out.items() if rows]
    if evidence := evidence_words(found.evidence):
        st.caption(f"{markdown_text(evidence, 600)}.")
    st.caption(
        f"{markdown_text('Left out: ' + ', '.join(left_out) if left_out else 'No run is left out', 300)}. Sized for "
        f"{found.target}, computed in {format_duration(found.seconds)}; dataset {context.dataset.hash[:8]}."
    )
