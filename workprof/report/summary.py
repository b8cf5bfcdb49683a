"""The first page of a report: the decision, for whoever decides and does not open the application."""

from collections.abc import Callable
from dataclasses import replace

import pandas as pd

from workprof.answers.ledger import findings_sentence, judged_resources, ledger_answer, ledger_sentence
from workprof.answers.nodes import (
    decision_sentence,
    degraded_sentences,
    node_table,
    none_degraded_sentence,
    ranking_figures,
    robustness_sentence,
)
from workprof.answers.recognition import evaluation_figures, evaluation_sentence, known_table
from workprof.answers.runs import never_used
from workprof.answers.scenarios import scenarios_answer
from workprof.answers.tasks import names_of
from workprof.answers.verdict import notes, sentence
from workprof.charts.memory.ledger import ledger_bars
from workprof.charts.memory.verdict import rows_chart, verdict_headlines
from workprof.charts.nodes.ranking import ranked_bars
from workprof.charts.phases.evaluation import known_bars
from workprof.charts.phases.timeline import most_moving, timeline_chart
from workprof.charts.shapes import Chart, Headline, headline, headlines
from workprof.core.causes import RUNNING
from workprof.core.errors import WorkprofError
from workprof.core.units import compact, format_share
from workprof.core.words import counted
from workprof.formats.measured import BENCHMARKS, CONFIGURATIONS, TELEMETRY
from workprof.memory.ledger import Amount, Ledger, LedgerRow
from workprof.memory.ledger_settings import LIMIT, MEMORY, PROFILE, TASK, LedgerSettings
from workprof.memory.verdict import Verdict, VerdictSettings
from workprof.nodes.selection import RankSettings
from workprof.phases.evaluation import EvaluationSettings
from workprof.phases.timeline import TimelineSettings
from workprof.profiles.names import NO_PROFILE, name_of
from workprof.profiles.settings import ProfileSettings
from workprof.report.parts import Decision, Table, of_answer
from workprof.store.reports import Counts, Dataset
from workprof.workbench import JOBS, Workbench

MOST_ROWS, MOST_SCENARIOS, MOST_RISKS = 8, 4, 6
"""Of what fits on one page."""
CHART_HEIGHT = 300
"""Pixels."""
MANY = 1000
"""From here on no digits after the point."""


def decision_of(
    workbench: Workbench, dataset: Dataset, most_rows: int | None = None, fit: ProfileSettings | None = None
) -> Decision:
    """Return the first page from what is computed; where the dataset cannot answer, it says why.

    Of a trace with more runs than `most_rows` nothing is computed: what it says stands here once the sizes are there.
    """
    try:
        large = dataset.kind == JOBS and most_rows is not None and dataset.rows > most_rows
        if large and workbench.verdict.cached(dataset.hash, VerdictSettings()).result is None:
            return Decision(f"{dataset.name}: no sizes are computed yet. Generate the report, or open Memory.")
        if dataset.kind == JOBS:
            return _of_jobs(workbench, dataset, fit or ProfileSettings())
        return MEASURED[dataset.kind](workbench, dataset)
    except WorkprofError as error:
        return Decision(f"{dataset.name}: no decision can be drawn from this dataset. {error}")


def _of_jobs(workbench: Workbench, dataset: Dataset, fit: ProfileSettings) -> Decision:
    names = _names(workbench, dataset, fit)
    clustered = len(names) > 1
    ledger = workbench.ledger(
        dataset.hash, LedgerSettings(by=PROFILE if clustered else TASK), fit=fit if clustered else None
    )
    best = workbench.verdict.cached(dataset.hash, VerdictSettings()).result
    memory, counts = ledger.totals.of(MEMORY), workbench.counts(dataset.hash)
    if not memory.n_judged and (others := [name for name in judged_resources(ledger) if name != LIMIT]):
        return _of_others(workbench.ledger(dataset.hash), others[0], counts)
    scenarios = workbench.scenarios(dataset.hash)[:MOST_SCENARIOS]
    return Decision(
        summary=_use_sentence(counts, memory),
        advice="" if best is None else sentence(best),
        headlines=verdict_headlines(best) if best else _use_headlines(memory),
        chart=_below(ledger_bars(ledger) if best is None else rows_chart(best), CHART_HEIGHT)
        if memory.n_judged
        else None,
        tables=(
            *((_waste_table(ledger, names),) if memory.n_judged else ()),
            *((of_answer(scenarios_answer(scenarios).table(), "decision-scenarios"),) if scenarios else ()),
        ),
        risks=(*_held(ledger.totals, counts), *_risks(best))[:MOST_RISKS],
    )


def _of_others(ledger: Ledger, resource: str, counts: Counts) -> Decision:
    """Return what the ledger says where memory cannot be judged, and this resource can."""
    told = ledger_answer(ledger)
    first = replace(told.tables[0], rows=told.tables[0].rows[:MOST_ROWS])
    return Decision(
        summary=f"{ledger_sentence(ledger)} The trace has {counts.held}.",
        advice=findings_sentence(ledger),
        headlines=headlines(told),
        chart=_below(ledger_bars(ledger), CHART_HEIGHT),
        tables=(of_answer(first, "decision-findings"),) if ledger.findings else (),
        risks=_held(ledger.totals, counts, resource),
    )


def _names(workbench: Workbench, dataset: Dataset, fit: ProfileSettings) -> dict[str, str]:
    """Return how the ledger calls a profile -> its name; nothing without a clustering."""
    names = workbench.profile_names(dataset.hash, fit)
    return {name: name_of(name, names) for name in (*(f"profile {label}" for label in range(len(names))), NO_PROFILE)}


def _use_sentence(counts: Counts, memory: Amount) -> str:
    if not memory.n_judged:
        return f"{counts.held}; no finished run has both a request and a use of memory, so no waste can be computed."
    left = f", {memory.n_judged:,} of them with a request and a use" if memory.n_judged < counts.runs else ""
    return f"{never_used('memory', memory.wasted, memory.judged_requested, 'GB·h')} The trace has {counts.held}{left}."


def _use_headlines(memory: Amount) -> tuple[Headline, ...]:
    if not memory.n_judged:
        return ()
    over = memory.n_over / memory.n_judged
    return (
        Headline(
            "Unused",
            format_share(memory.wasted_share),
            f"Requested and not used, of {compact(memory.judged_requested)} GB·h; a run above its request leaves none.",
            f"{compact(memory.wasted)} GB·h",
        ),
        Headline(
            "Runs above request",
            f"{memory.n_over:,}",
            "Runs whose peak is above their request: where requests are enforced, they would be killed.",
            f"{format_share(over)} of runs",
        ),
    )


def _waste_table(ledger: Ledger, names: dict[str, str]) -> Table:
    by = ledger.settings.by
    whole = ledger.totals.of(MEMORY).wasted
    wasting = [row for row in ledger.rows if row.of(MEMORY).wasted > 0]
    largest = sorted(wasting, key=lambda row: -row.of(MEMORY).wasted)[:MOST_ROWS]
    short = names_of(row.name for row in ledger.rows)
    rows = [_waste_line(row, names.get(row.name, short[row.name]), by, whole) for row in largest]
    of = f" (first {len(rows)} of {len(wasting)})" if len(rows) < len(wasting) else ""
    title = f"Largest unused memory by {by}{of}"
    return Table(title, "decision-waste", pd.DataFrame(rows))


def _waste_line(row: LedgerRow, name: str, by: str, whole: float) -> dict[str, object]:
    memory = row.of(MEMORY)
    return {
        by: name,
        "runs": row.n_runs,
        "requested_gb_h": _rounded(memory.judged_requested),
        "used_percent": round(100 * memory.utilisation, 1),
        "unused_gb_h": _rounded(memory.wasted),
        "of_all_unused_percent": round(100 * memory.wasted / whole, 1) if whole > 0 else 0.0,
        "runs_above_request": memory.n_over,
    }


def _rounded(value: float) -> float:
    """Return a number with the digits that one reads in a table."""
    return float(f"{value:.3g}") if abs(value) < MANY else round(value)


def _risks(best: Verdict | None) -> tuple[str, ...]:
    """Return what the verdict may cost, and what limits it."""
    if best is None:
        return ()
    low, high = best.memory.judged.kill_interval.low, best.memory.judged.kill_interval.high
    kills = f"Kills come in bursts: expect {low:,.0f} to {high:,.0f} among as many further runs."
    if not round(high):
        kills = "No kill is expected among as many further runs."
    ground = "The figures assume that future runs resemble past ones; they are tested on runs the choice never saw."
    return (kills, *map(_sentence, notes(best)), ground)


def _sentence(note: str) -> str:
    return f"{note[:1].upper()}{note[1:].removesuffix('.')}."


def _held(totals: LedgerRow, counts: Counts, resource: str = MEMORY) -> tuple[str, ...]:
    """Return what no figure counts; services that run on are in the figures."""
    amount, apart = totals.of(resource), {one.cause: one.n_runs for one in totals.lost}
    unjudged = amount.n_no_time + amount.n_no_request + amount.n_no_use
    counts = replace(counts, running=apart.get(RUNNING, 0))
    lacking = f"{counted(unjudged, 'run')} without a request, a use or a time: not counted." if unjudged else ""
    unended = f"Not ended: {counts.unended}; not counted." if counts.unended else ""
    return tuple(words for words in (lacking, unended) if words)


def _below(chart: Chart, height: int | None = None) -> Chart:
    """Return a chart that says what is drawn: what it shows stands above it already; `height` in pixels."""
    if height:
        chart.figure.update_layout(height=height)
    return replace(chart, takeaway=chart.shows, shows="")


def _of_benchmarks(workbench: Workbench, dataset: Dataset) -> Decision:
    result = workbench.node_ranking(dataset.hash, RankSettings())
    chart = ranked_bars(result)
    table = node_table(result).frame()
    columns = [name for name in ("rank", "node", "score", "low", "high", "tied_with", "runs") if name in table]
    return Decision(
        summary=decision_sentence(result),
        advice=" ".join(degraded_sentences(result)) or none_degraded_sentence(result),
        headlines=tuple(map(headline, ranking_figures(result))),
        chart=_below(chart),
        tables=(Table("Nodes, best first", "decision-nodes", table[columns].head(MOST_ROWS)),),
        risks=(robustness_sentence(result), *map(_sentence, result.notes))[:MOST_RISKS],
    )


def _of_telemetry(workbench: Workbench, dataset: Dataset) -> Decision:
    runs = workbench.phase_runs(dataset.hash).runs
    workloads = {line.workload for line in runs if line.workload}
    held = f"{counted(len(runs), 'run')} of {counted(len(workloads), 'workload')}"
    result = workbench.evaluate_phases.cached(dataset.hash, EvaluationSettings()).result
    if result is not None:
        known = known_bars(result)
        return Decision(
            summary=f"{evaluation_sentence(result)} {held}.",
            headlines=tuple(map(headline, evaluation_figures(result))),
            chart=None if known is None else _below(known),
            tables=(
                (Table("Known workloads", "decision-known", known_table(result).frame().head(MOST_ROWS)),)
                if result.known
                else ()
            ),
            risks=tuple(map(_sentence, result.notes))[:MOST_RISKS],
        )
    first = workbench.timeline.cached(dataset.hash, TimelineSettings(run=runs[0].name)).result if runs else None
    return Decision(
        summary=f"{held}.",
        advice="The recognition of workloads is not evaluated yet: add that section.",
        chart=None if first is None else timeline_chart(first, most_moving(first)),
    )


def _of_configurations(workbench: Workbench, dataset: Dataset) -> Decision:
    machines = workbench.machines_of(dataset.hash)
    held = f"{counted(dataset.rows, 'measurement')} of configurations of {counted(len(machines), 'machine')}"
    return Decision(f"{held}.", advice="What a search finds with few trials is in its section.")


MEASURED: dict[str, Callable[[Workbench, Dataset], Decision]] = {
    BENCHMARKS: _of_benchmarks,
    TELEMETRY: _of_telemetry,
    CONFIGURATIONS: _of_configurations,
}
"""By the kind of the dataset."""
