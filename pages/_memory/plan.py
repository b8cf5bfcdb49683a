"""Plan: what to request from now on, row by row; the kills that are acceptable; what if."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from pages._frame import link, look
from pages._frame.errors import refused
from pages._frame.visit import Visit
from pages._memory import decisions, exports, scope
from pages._memory.scope import PageContext, assessment, needs_requests
from pages._parts import figures, forms, long_question, prepared, tables
from pages._parts.long_question import LongQuestion
from workprof.answers.scenarios import verdict_scenario
from workprof.answers.verdict import (
    BROKEN,
    key_words,
    notes,
    sentence,
    services_words,
    table_name,
    untested_words,
    verdict_tables,
    what_if_sentence,
)
from workprof.charts.memory.tasks import requested_chart
from workprof.charts.memory.verdict import curve_chart, rows_chart, verdict_headlines
from workprof.core.answer import Table
from workprof.core.errors import SettingsError
from workprof.core.fields import Leaf, read
from workprof.core.units import format_duration
from workprof.core.words import markdown_text
from workprof.inputs import safe_name
from workprof.memory.questions import VERDICT
from workprof.memory.verdict import ResourceVerdict, Verdict, VerdictSettings
from workprof.memory.verdict_rows import ACTIONS
from workprof.store.reports import Dataset

MAIN = ("applied", "what_if.times", "what_if.node_bytes")
KILLS = ("default", "0", "0.1%", "0.2%", "0.5%", "1%", "2%", "5%", "10%", "20%", "50%")
"""Stops of the slider, also where many runs are killed today; a number of one's own from a link stands behind them."""
PREPARED = KILLS[: KILLS.index("5%") + 1]
"""Stops whose sizes are computed ahead."""
MOST_WORDS, FIND_PX = 200, 240
AT_ONCE_RUNS = 100_000
"""Up to so many runs the verdict is computed while the page waits: some seconds."""


def verdict_of(visit: Visit, dataset: Dataset, settings: VerdictSettings, name: str) -> Verdict | None:
    """Return the verdict: at once where that takes seconds, else by a button and a job that can be cancelled."""
    question = visit.workbench.verdict
    outcome = question.cached(dataset.hash, settings)
    running = outcome.job is not None and outcome.job.active
    if outcome.result is None and not running and dataset.rows <= AT_ONCE_RUNS:
        with st.spinner("Sizing the runs…", show_time=True):
            return question(dataset.hash, settings)
    return long_question.result(visit, dataset, _long(visit, dataset, settings, name))


def _long(
    visit: Visit, dataset: Dataset, settings: VerdictSettings, name: str
) -> LongQuestion[VerdictSettings, Verdict]:
    def before() -> str:
        return f"Sizes for {dataset.rows:,} runs are not computed yet."

    return LongQuestion(
        name=name,
        settings=settings,
        compute=visit.workbench.verdict,
        button="Compute the sizes",
        before=before,
        what="Sizing the runs",
    )


def plan(context: PageContext) -> None:
    """Show the answer, the controls, saving against kills, and the rows."""
    if needs_requests(context):
        return
    top = st.container()
    left, right = st.columns((2, 3), gap="medium")
    with left:
        kills = _acceptable_kills(VERDICT.leaf("acceptable_kills"))
    settings = _settings(context, kills)
    with top:
        result = verdict_of(context.visit, context.dataset, settings, "memory_verdict")
        if result is None:
            figures.show(requested_chart(assessment(context)), key="memory_requested")
            return
        figures.headline(markdown_text(sentence(result), 500))
        if doubts := " ".join(filter(None, (services_words(result), untested_words(result)))):
            st.caption(doubts)
    curve = curve_chart(result)
    with left if curve is not None else top:
        figures.headline_row(verdict_headlines(result))
    if curve is not None:
        with right:
            figures.show(curve, key="memory_verdict_curve")
    changed, found = what_if_sentence(result), result.memory.what_if
    if changed:
        st.markdown(f"**What if.** {markdown_text(changed, 400)}")
    if found is not None and found.broken:
        st.markdown("**Who breaks**")
        tables.answer(Table("broken", "", BROKEN, found.broken), key="memory_verdict_broken_table")
    with st.expander("Largest rows") if look.narrow() else st.container():
        figures.show(rows_chart(result), key="memory_verdict_rows", sentence=False)
    _rows(context, settings, result)
    if replace(settings, acceptable_kills="") == VerdictSettings() and context.dataset.rows <= AT_ONCE_RUNS:
        leaf = VERDICT.leaf("acceptable_kills")
        stops = [replace(settings, acceptable_kills=str(read(leaf, stop))) for stop in PREPARED]
        prepared.each(context.visit, context.dataset, "verdict", stops)
    scope.save_scenario(context, "memory_keep_verdict", lambda name: verdict_scenario(result, context.dataset, name))
    figures.fold("Export", "memory_verdict_exports", exports.of_verdict, context, result, icon=":material/download:")
    figures.fold("Method", "memory_verdict_method", _method, result, icon=":material/function:")


def _rows(context: PageContext, settings: VerdictSettings, result: Verdict) -> None:
    """Show the rows, found by words and by what changes, what is decided about them, and the file of all of them."""
    table, *further = verdict_tables(result)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        shown = st.segmented_control(
            "Rows", ("all", *ACTIONS), default="all", required=True, key="memory_verdict_action", bind="query-params"
        )
        words = st.text_input(
            "Find",
            key="memory_verdict_find",
            bind="query-params",
            max_chars=MOST_WORDS,
            placeholder="user, task",
            width=FIND_PX,
            help="Rows whose key has all these words.",
        )
    wanted = words.lower().replace(",", " ").split()
    rows = [
        row
        for row in table.rows
        if shown in ("all", row.action) and all(word in key_words(row).lower() for word in wanted)
    ]
    decisions.undo(context)
    own = Table(table.name, table.title, table.columns, rows)
    decisions.choose(context, settings, result.memory, own, "memory_verdict_table")
    decisions.gone(context, result)
    by_name = {table_name(one.resource): one for one in result.resources[1:]}
    others = [(by_name[one.name], one) for one in further if one.name in by_name]
    if others:
        figures.fold("Other resources", "memory_verdict_others", _others, context, settings, others)
    tables.csv(table.frame, f"{safe_name(context.dataset.name)}-plan", "memory_verdict_csv", "Download CSV")


def _others(context: PageContext, settings: VerdictSettings, others: Sequence[tuple[ResourceVerdict, Table]]) -> None:
    for resource, one in others:
        st.markdown(f"**{markdown_text(one.title, 200)}**")
        decisions.choose(context, settings, resource, one, f"memory_verdict_{one.name}_table")


def _method(result: Verdict) -> None:
    """Show how sizes are chosen and judged, and what limits them."""
    st.markdown(
        "Each row gets the size that is expected to hold least. Chances are learned on runs that had ended. "
        "The later runs are judged with what was known before them."
    )
    for words in notes(result):
        st.caption(markdown_text(words, 400))
    st.caption(f"Computed in {format_duration(result.seconds)}.")


def _settings(context: PageContext, kills: str) -> VerdictSettings:
    given = {"target": context.target, "request_bytes": context.request_bytes, "acceptable_kills": kills}
    return forms.settings(context.visit, context.dataset, VERDICT, MAIN, given)


def _acceptable_kills(leaf: Leaf) -> str:
    """Show the slider; a value of a link that is no stop of it becomes one."""
    key = leaf.key(VERDICT.page)

    def parse(text: str) -> str:
        VerdictSettings(acceptable_kills=read(leaf, text))
        return text

    link.check(key, parse)
    current = st.session_state.get(key) or st.query_params.get(key) or KILLS[0]
    stops = KILLS if current in KILLS else (*KILLS, current)
    chosen = st.select_slider(
        leaf.label,
        stops,
        value=KILLS[0],
        key=key,
        bind="query-params",
        format_func=lambda stop: leaf.about.shown.get(stop, stop),
        help=f"{leaf.about.help} Automatic: {leaf.about.empty}.",
    )
    try:
        return str(read(leaf, str(chosen)))
    except SettingsError as error:
        refused(str(error))
        return ""
