"""Policies replayed over the runs as they came, what is chosen, and why a size is what it is."""

from dataclasses import replace
from functools import partial

import streamlit as st

from pages._frame import header
from pages._memory import exports, scope
from pages._memory.scope import PageContext
from pages._parts import controls, figures, forms, long_question, tables
from pages._parts.controls import LARGEST_AMOUNT, choice, number
from pages._parts.long_question import LongQuestion
from workprof.answers.policies import CHOICES, compared_answer, policy_name, replay_answer, why_answer
from workprof.answers.scenarios import policy_scenario
from workprof.charts.memory.models import learning_curve
from workprof.charts.memory.policies import frontier_chart, why_costs, why_history
from workprof.charts.shapes import headlines
from workprof.core.answer import Answer, Table
from workprof.core.units import format_duration
from workprof.core.words import label_text, markdown_text
from workprof.inputs import safe_name
from workprof.memory.facts import AFTER, known_when
from workprof.memory.orders import SIZEY
from workprof.memory.policies import ORACLES
from workprof.memory.policy_figures import Compared
from workprof.memory.questions import REPLAY
from workprof.memory.replay import ReplayResult
from workprof.memory.replay_settings import ReplaySettings
from workprof.memory.usage import NO_INPUT, USAGE_COLUMNS
from workprof.memory.why import WhySettings


def table(context: PageContext, result: ReplayResult, told: Answer) -> None:
    """Show the policies, least waste with the cost of failures first."""
    table = told.table()
    st.caption("Least waste with the cost of failures first; 95 % intervals.")
    tables.answer(
        table,
        key="memory_policy_table",
        alt=f"{len(table.rows)} policies with waste, failures and their intervals",
        height="content",
    )
    tables.csv(table.frame, f"{safe_name(context.dataset.name)}-policies", "memory_policies_csv", "Download CSV")
    _prices(result)


def _sizes(context: PageContext, result: ReplayResult) -> None:
    """Show the buttons that save what a policy would give the next run of every task."""
    names = tuple(name for name in result.policies if name not in ORACLES)
    if names:
        name = choice(
            "Sizes of",
            "memory_export_policy",
            names,
            "The policy whose sizes for next runs are saved.",
            shown={name: policy_name(name) for name in names},
        )
        settings = replace(result.settings, policies=(name,))
        made = partial(context.workbench.policy_sizes, context.dataset.hash, settings)
        exports.buttons(context, "memory_policy_export", "Sizes", f"memory-{name}", made)


def _prices(result: ReplayResult) -> None:
    prices = st.expander(
        "Rule chosen at each failure cost",
        icon=":material/sell:",
        key="memory_prices",
        on_change="rerun",
        bind="query-params",
    )
    if prices.open and result.choices:
        with prices:
            choices = Table("choices", "", CHOICES, result.choices)
            tables.answer(
                choices, key="memory_choices", alt=f"The best policy at {len(result.choices)} prices of a failure"
            )


def reason(context: PageContext, settings: ReplaySettings) -> None:
    """Show the size of the chosen task's next run and what it rests on."""
    if not context.task:
        st.info("Choose one task to see the reason for its size.", icon=":material/info:")
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
    result = context.workbench.why_size(
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
    told = why_answer(result)
    if result.too_few:
        st.warning(told.notes[0], icon=":material/warning:")
    figures.headline_row(headlines(told))
    figures.show(why_history(result), key="memory_why")
    figures.show(why_costs(result), key="memory_why_costs")


FEW_RUNS = 2_000
FEW_WORDS = f"the latest {FEW_RUNS:,} runs"
"""Replayed at once where all take long."""
MAIN = ("policies", "known", "input_column", "retry.cap_bytes")


def policies(context: PageContext) -> None:
    """Show the rules on the same runs, what is chosen at the acceptable kills, and the reason for one task's size."""
    top = st.container()
    with controls.fold("Replay settings", "memory_replay_settings"):
        settings = _settings(context)
    question = LongQuestion(
        name="memory_replay",
        settings=settings,
        compute=context.workbench.replay,
        button="Replay the policies",
        before=partial(_before, context, settings),
        what="Replaying the policies",
        part=(replace(settings, latest_runs=FEW_RUNS), FEW_RUNS / max(context.dataset.rows, FEW_RUNS), FEW_WORDS),
        describe=lambda cached: f"{cached.protocol}, input {markdown_text(cached.input_column, 40)}",
        outlives=True,
    )
    with top:
        result = long_question.result(context.visit, context.dataset, question)
        if result is not None:
            current = question.compute.cached(context.dataset.hash, settings).result is not None
            _result(context, result, current=current)
    figures.fold("Why this size?", "memory_why_open", _why, context, settings)


def _why(context: PageContext, settings: ReplaySettings) -> None:
    reason(scope.of_task(context), settings)


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
    return (
        f"Not replayed with these settings yet: {len(settings.policies)} policies on "
        f"{context.dataset.finished_rows:,} completed runs, and the settings of workprof."
    )


AS_TODAY = "as today"
STOPS = (AS_TODAY, "0", "0.1%", "0.5%", "1%", "2%", "5%", "10%", "20%", "50%")
"""Of the slider: shares of the replayed runs; as today: no more kills than requests enforced have."""


def _acceptable() -> str:
    """Show the slider of acceptable kills and return its stop."""
    stop: str = st.select_slider(
        "Acceptable kills",
        STOPS,
        value=AS_TODAY,
        key="memory_policy_kills",
        bind="query-params",
        format_func=lambda stop: "as enforced" if stop == AS_TODAY else stop,
        help="Killed attempts, as a share of the runs. As enforced: no more than with the requests as limits.",
        width=320,
    )
    return stop


def kills_of(stop: str, result: ReplayResult) -> float | None:
    """Return the acceptable failures of a stop of the slider; None = as today."""
    return None if stop == AS_TODAY else float(stop.rstrip("%")) / 100 * result.n_test


def _result(context: PageContext, result: ReplayResult, *, current: bool) -> None:
    if result.protocol == SIZEY:
        header.published_flag()
    outcome, chart = st.container(), st.container()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kills = kills_of(_acceptable(), result)
        price = number(
            "Cost per failure (GB·h)",
            "memory_pick",
            0.0,
            (0.0, LARGEST_AMOUNT),
            f"On top of what its attempts hold; the mean run uses {result.mean_run_gb_h:.3g} GB·h. 0 = waste alone.",
            width=260,
        )
    told = replay_answer(result, price, kills)
    with outcome:
        figures.headline(markdown_text(told.sentence, 400))
    with chart:
        figures.show(frontier_chart(result, price, kills), key="memory_frontier")
    figures.headline_row(headlines(told))
    if result.compared is not None:
        _compared(result.compared)
    draft = partial(policy_scenario, result, price, context.dataset, kills=kills)
    scope.save_scenario(context, "memory_keep_policy", draft, current=current)
    figures.fold("All policies", "memory_policies_open", table, context, result, told)
    figures.fold("Cumulative waste", "memory_learning_open", _learning, result)
    if result.protocol != SIZEY:
        figures.fold("Export sizes", "memory_policy_sizes", _sizes, context, result)
    figures.fold("Method", "memory_policies_method", _method, told, result.seconds)


def _compared(found: Compared) -> None:
    """Show the verdict among the policies, on the runs that it is judged on."""
    answer = compared_answer(found)
    st.markdown(f"**{markdown_text(answer.sentence, 400)}**")
    tables.answer(answer.table(), key="memory_compared_policies")


def _learning(result: ReplayResult) -> None:
    figures.show(learning_curve(result), key="memory_learning")


def _method(told: Answer, seconds: float) -> None:
    """Show what sizes rest on, and which runs count."""
    for note in told.notes:
        st.caption(markdown_text(note, 900))
    st.caption(f"Computed in {format_duration(seconds)}.")
