"""The ledger: who wastes what of every resource, the rows of the plan on it, and the runs behind each number."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import streamlit as st

import workprof
from pages._frame import cross_link
from pages._frame.cross_link import Link
from pages._frame.visit import Visit
from pages._memory import plan
from pages._memory.bins import CLUSTERING
from pages._memory.scope import PageContext
from pages._parts import clusterings, figures, forms, tables
from pages._parts.controls import choice
from workprof.answers.chargeback import chargeback_answer
from workprof.answers.ledger import (
    findings_sentence,
    judged_resources,
    ledger_answer,
    ledger_runs_answer,
    ledger_sentence,
)
from workprof.answers.ledger_exports import findings_csv, json_text, mail_text, rows_csv
from workprof.charts.memory.ledger import ledger_bars
from workprof.charts.profiles.jobs import Selection
from workprof.charts.shapes import headlines
from workprof.core.answer import Answer
from workprof.core.causes import CAUSES
from workprof.core.fields import Leaf
from workprof.core.shares import in_words
from workprof.core.words import markdown_text
from workprof.inputs import safe_name
from workprof.memory.advice import verdict_settings
from workprof.memory.chargeback import ChargebackSettings
from workprof.memory.exports import Origin
from workprof.memory.ledger import Ledger, LedgerRunList, called
from workprof.memory.ledger_rules import RULES
from workprof.memory.ledger_settings import GROUPINGS, NAMES, PROFILE, RESOURCES, TASK, USER, LedgerSettings
from workprof.memory.questions import CHARGEBACK, LEDGER, LEDGER_RUNS
from workprof.memory.usage import USAGE_COLUMNS
from workprof.profiles.names import name_of
from workprof.profiles.settings import ProfileSettings
from workprof.store.reports import Dataset

MAIN = ("by", "prices.per_gb_h", "prices.per_core_h", "prices.per_gpu_h")
REQUEST = "requested_memory_bytes"
RUNS_OPEN = "memory_ledger_runs_open"
EXPORTS: dict[str, tuple[str, str, Callable[[Ledger, Origin], str]]] = {
    "Rows, CSV": ("ledger.csv", "text/csv", rows_csv),
    "Findings, CSV": ("findings.csv", "text/csv", findings_csv),
    "JSON": ("ledger.json", "application/json", json_text),
    "Texts per user": ("mails.txt", "text/plain", mail_text),
}


def ledger(context: PageContext) -> None:
    """Show the settings, who wastes what, the findings, and the runs behind them."""
    held = {one.column.name for one in context.workbench.column_profiles(context.dataset.hash) if one.missing_share < 1}
    present = tuple(by for by, columns in GROUPINGS.items() if by in (TASK, PROFILE) or held & {*columns})
    by = LEDGER.leaf("by")
    own = {"by": partial(forms.control, by, LEDGER.page, present)}
    top = st.container()
    settings = forms.settings(context.visit, context.dataset, LEDGER, MAIN, {"target": context.target}, own)
    fit = None
    if settings.by == PROFILE:
        fit = clusterings.clustering(context.visit, context.dataset, CLUSTERING)
        if context.workbench.profiles.cached(context.dataset.hash, fit).result is None:
            clusterings.missing(context.visit, context.dataset, fit, "Rows by profile")
            return
    if _needs_sizes(context, settings):
        return
    with st.spinner("Adding up what runs request and use…", show_time=True):
        result = context.workbench.ledger(context.dataset.hash, settings, fit=fit)
    names = _names(context, result, fit)
    shown = called(result, names)
    told = ledger_answer(shown)
    with top:
        figures.headline(markdown_text(ledger_sentence(shown), 500))
        if judged_resources(shown):
            figures.show(ledger_bars(shown), key="memory_ledger")
    figures.headline_row(headlines(told))
    _findings(context, result, shown, told)
    figures.fold(f"Amounts by {result.settings.by}", "memory_ledger_rows_open", _rows, context, result, told)
    figures.fold("Bill by month", "memory_bill_open", _bill, context, settings)
    figures.fold("Runs behind a number", RUNS_OPEN, _runs, context, result, settings, fit)
    if result.totals.lost:
        figures.fold("Runs that did not finish", "memory_ledger_lost_open", _lost, told)
    figures.fold("Export", "memory_ledger_exports", _exports, context, result)
    figures.fold("Method", "memory_ledger_method", _method, told)


def _needs_sizes(context: PageContext, settings: LedgerSettings) -> bool:
    """Whether the verdict takes long and is not there; shows how to compute it."""
    sized, entry = verdict_settings(settings.target), context.dataset
    if entry.rows <= plan.AT_ONCE_RUNS or not {REQUEST, USAGE_COLUMNS[settings.target]} <= context.columns:
        return False
    return plan.verdict_of(context.visit, entry, sized, "memory_ledger_verdict") is None


def _names(context: PageContext, result: Ledger, fit: ProfileSettings | None) -> dict[str, str]:
    """Return row -> name of its profile; of nothing else."""
    if fit is None or result.settings.by != PROFILE:
        return {}
    names = context.workbench.profile_names(context.dataset.hash, fit)
    return {row.name: name_of(row.name, names) for row in result.rows}


def _bill(context: PageContext, settings: LedgerSettings) -> None:
    """Who requested what in each month; rows that are no accounts are billed by group or user."""
    known = CHARGEBACK.leaf("by").about.choices
    asked = ChargebackSettings(settings.by if settings.by in known else "", settings.prices)
    answer = chargeback_answer(context.workbench.chargeback(context.dataset.hash, asked))
    st.markdown(f"**{markdown_text(answer.sentence, 300)}**")
    tables.saved(answer.table(), "bill", key="memory_bill", alt=answer.sentence)
    for words in answer.notes:
        st.caption(markdown_text(words, 400))


def _method(told: Answer) -> None:
    for words in told.notes:
        st.caption(markdown_text(words, 400))


def without_memory(visit: Visit, dataset: Dataset) -> None:
    """Show the ledger of a dataset that has nothing to size, where anything is requested."""
    columns = frozenset(column.name for column in visit.workbench.columns(dataset.hash))
    if any({one.request, "duration_s"} <= columns for one in RESOURCES):
        st.header("Ledger")
        ledger(PageContext(visit, dataset, LedgerSettings().target, 0.0, columns))


def _findings(context: PageContext, result: Ledger, shown: Ledger, told: Answer) -> None:
    """Show the findings; `shown` is the ledger with the names of the profiles."""
    st.header("Findings")
    st.markdown(f"**{markdown_text(findings_sentence(shown), 400)}**")
    if not result.findings:
        return
    table = told.table("findings")
    picked = tables.answer(
        table,
        key="memory_ledger_findings",
        alt=f"{len(table.rows)} findings, the costliest first",
        on_select="rerun",
        selection_mode="single-row",
    )
    rows = [row for row in picked["selection"]["rows"] if row < len(table.rows)]
    with st.container(horizontal=True):
        if rows:
            one = result.findings[rows[0]]
            resource = one.resource if one.resource in NAMES else LEDGER_RUNS.leaf("resource").default
            values = {"row": one.who, "task": one.task, "key": one.key, "rule": ",".join(one.counts)}
            values["resource"] = resource
            _open(f"Its {one.n_runs:,} runs", "memory_ledger_open_finding", values)
        tables.csv(table.frame, f"{safe_name(context.dataset.name)}-findings", "memory_findings_csv", "Download CSV")


def _rows(context: PageContext, result: Ledger, told: Answer) -> None:
    table = told.table("rows")
    picked = tables.answer(
        table,
        key="memory_ledger_rows",
        alt=f"{len(table.rows) - 1} rows and the total",
        on_select="rerun",
        selection_mode="single-row",
    )
    rows = [row for row in picked["selection"]["rows"] if row < len(table.rows)]
    with st.container(horizontal=True):
        if rows:
            name = result.rows[rows[0]].name if rows[0] < len(result.rows) else ""
            count = result.rows[rows[0]].n_runs if name else result.totals.n_runs
            _open(f"Its {count:,} runs", "memory_ledger_open_row", {"row": name, "task": "", "key": "", "rule": ""})
        name = f"{safe_name(context.dataset.name)}-ledger-{result.settings.by}"
        tables.csv(table.frame, name, "memory_ledger_csv", "Download CSV")


def _open(words: str, key: str, values: dict[str, str]) -> None:
    """Show the button that lists the runs of a selected line below."""
    st.button(
        f"{words}, below",
        type="primary",
        icon=":material/list:",
        key=key,
        on_click=_choose,
        args=(values | {"cause": ""},),
    )


def _choose(values: dict[str, str]) -> None:
    """Make a line of a table the one whose runs are listed (a callback)."""
    st.session_state[RUNS_OPEN] = True
    for path, value in values.items():
        leaf = LEDGER_RUNS.leaf(path)
        st.session_state[leaf.key(LEDGER_RUNS.page)] = value or leaf.about.empty


RUNS_MAIN = ("row", "task", "key", "resource", "rule", "cause", "most")


def _runs(context: PageContext, result: Ledger, settings: LedgerSettings, fit: ProfileSettings | None) -> None:
    """Show the choice of runs, the runs, and links to them."""
    joined = [",".join(one.counts) for one in result.findings if len(one.counts) > 1]
    unjudged = {one.rule for one in result.unjudged}
    names = _names(context, result, fit)
    offered = {
        "row": [row.name for row in result.rows],
        "task": list(dict.fromkeys(one.task for one in result.findings if one.task)),
        "key": list(dict.fromkeys(one.key for one in result.findings if one.key)),
        "rule": list(dict.fromkeys([*(rule for rule in RULES if rule not in unjudged), *joined])),
        "cause": [cause for cause in CAUSES if cause in {one.cause for one in result.totals.lost}],
    }
    own: dict[str, Callable[[], Any]] = {
        path: partial(_listed, LEDGER_RUNS.leaf(path), listed, names if path == "row" else {})
        for path, listed in offered.items()
    }
    given = forms.within("ledger", settings)
    request = forms.settings(context.visit, context.dataset, LEDGER_RUNS, RUNS_MAIN, given, own)
    runs = context.workbench.ledger_runs(context.dataset.hash, request, fit=fit)
    told = ledger_runs_answer(runs)
    st.markdown(f"**{markdown_text(told.sentence, 300)}**")
    if runs.n_runs:
        _run_table(context, runs, told)


def _listed(leaf: Leaf, names: list[str], shown: Mapping[str, str]) -> str:
    """Show a list of names whose first entry means all of them, and return the chosen one; '' = all."""
    every = leaf.about.empty
    chosen = choice(
        leaf.label.partition(" (")[0], leaf.key(LEDGER_RUNS.page), (every, *names), leaf.about.help, shown=shown
    )
    return "" if chosen == every else chosen


def _run_table(context: PageContext, runs: LedgerRunList, told: Answer) -> None:
    table = told.table()
    tables.answer(table, key="memory_ledger_runs", alt=told.sentence)
    rows = runs.row_ids.tolist()
    with st.container(horizontal=True, vertical_alignment="center"):
        tables.csv(
            table.frame,
            f"{safe_name(context.dataset.name)}-ledger-runs",
            "memory_ledger_runs_csv",
            f"Download CSV ({len(table.rows):,} of {runs.n_runs:,} runs)",
        )
        if not runs.unfinished:
            these = {"profiles_tab": "Map", "profiles_selected": Selection(rows=tuple(rows)).text()}
            meaning = "With all their columns, on the Profiles page."
            words = f"These {len(rows):,} on the map"
            link = Link(words, "profiles", context.dataset.hash, these, "bubble_chart", meaning)
            cross_link.follow(link, "memory_ledger_map")


def _lost(told: Answer) -> None:
    table = told.table("lost")
    st.caption("What they held until they ended; a run that still goes holds it to the last moment of the trace.")
    tables.answer(table, key="memory_ledger_lost", alt=f"{len(table.rows)} causes and what those runs held")


def _exports(context: PageContext, result: Ledger) -> None:
    note = in_words(context.workbench.machine_shares(context.dataset.hash))
    origin = Origin(context.dataset.name, context.dataset.hash, workprof.__version__, note)
    with st.container(horizontal=True):
        for words, (ending, mime, write) in EXPORTS.items():
            of_users = write is not mail_text or result.settings.by == USER
            st.download_button(
                words,
                data=partial(_written, write, result, origin, tables.mark_of(mime)),
                file_name=f"{safe_name(context.dataset.name)}-{ending}",
                mime=mime,
                on_click="ignore",
                key=f"memory_ledger_export_{ending.partition('.')[0]}_{ending.rpartition('.')[2]}",
                icon=":material/download:",
                disabled=not of_users,
                help=None if of_users else "Texts are per user: choose Rows by user.",
            )


def _written(write: Callable[[Ledger, Origin], str], result: Ledger, origin: Origin, mark: str) -> bytes:
    return f"{mark}{write(result, origin)}".encode()
