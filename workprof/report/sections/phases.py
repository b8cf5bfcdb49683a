"""What was running: the phases of one run of every workload, and how well workloads are recognised."""

from __future__ import annotations

from workprof.charts.phases.evaluation import (
    confusion_chart,
    evaluation_headlines,
    evaluation_sentence,
    inner_table,
    known_bars,
    known_table,
    measures_of,
    open_curve,
    unknown_table,
)
from workprof.charts.phases.timeline import NOT_THE_PAPER, most_moving, phase_table, timeline_chart
from workprof.formats.measured import TELEMETRY
from workprof.phases.evaluation import EvaluationSettings
from workprof.phases.runs import RunList
from workprof.phases.timeline import TimelineSettings
from workprof.progress import Progress
from workprof.report.asking import through_job
from workprof.report.parts import Content, Kind, Table
from workprof.store.reports import Dataset
from workprof.workbench import Workbench

MOST_RUNS = 12


def _timelines(workbench: Workbench, dataset: Dataset, progress: Progress) -> Content:
    runs = workbench.phase_runs(dataset.hash, progress=progress)
    shown = _first_of_each(runs)
    asked = [TimelineSettings(run=name) for name in shown]
    found = [through_job(workbench.timeline, dataset.hash, own, progress) for own in asked]
    return Content(
        settings=dict(zip(shown, asked, strict=True)),
        words=(f"{len(runs.runs)} runs; shown is the first of each of {len(shown)} workloads.",),
        charts=tuple(timeline_chart(one, most_moving(one)) for one in found),
        tables=tuple(
            Table(f"Phases of {name}", f"phases-{name.replace('/', '-')}", phase_table(one))
            for name, one in zip(shown, found, strict=True)
        ),
    )


def _first_of_each(runs: RunList) -> list[str]:
    first: dict[str, str] = {}
    for line in runs.runs:
        first.setdefault(line.workload or line.name, line.name)
    return list(first.values())[:MOST_RUNS]


def _evaluation(workbench: Workbench, dataset: Dataset, progress: Progress) -> Content:
    asked = EvaluationSettings()
    found = through_job(workbench.evaluate_phases, dataset.hash, asked, progress)
    charts = [known_bars(found), *(open_curve(found, measure) for measure in measures_of(found)[:1])]
    if found.known is not None:
        charts.append(confusion_chart(found.known))
    known = (Table("Known workloads (Table II)", "phases-known", known_table(found)),) if found.known else ()
    return Content(
        settings={"evaluation": asked},
        headlines=evaluation_headlines(found),
        words=(evaluation_sentence(found), *found.notes, NOT_THE_PAPER),
        charts=tuple(chart for chart in charts if chart is not None),
        tables=(
            *known,
            Table("Unknown workloads (Table III)", "phases-unknown", unknown_table(found)),
            Table("Distances within workloads (Table IV)", "phases-distances", inner_table(found)),
        ),
    )


TIMELINES = Kind("phases", "Phases", "phases", TELEMETRY, _timelines)
EVALUATION = Kind("recognition", "Known and unknown workloads", "phases", TELEMETRY, _evaluation)
