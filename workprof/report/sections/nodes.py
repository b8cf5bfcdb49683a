"""Which machine is good, how sure that is, and which one has gone bad."""

from __future__ import annotations

from workprof.charts.nodes.degradation import (
    code_map,
    detection_headlines,
    detection_reliability,
    detectors_table,
    orientation_table,
    reconstruction_errors,
    runs_table,
    timeline,
    trust_sentence,
    unscored_table,
    unseen_metrics_table,
)
from workprof.charts.nodes.groups import groups_sentence, groups_table, silhouette_bars
from workprof.charts.nodes.ranking import (
    aspect_lines,
    degraded_sentences,
    leave_out_table,
    node_table,
    pair_table,
    ranked_bars,
    ranking_headlines,
    robustness_sentence,
)
from workprof.formats.measured import BENCHMARKS
from workprof.nodes.detection import DegradationSettings, Detection
from workprof.nodes.groups import GroupSettings
from workprof.nodes.selection import RankSettings
from workprof.progress import Progress
from workprof.report.asking import through_job
from workprof.report.parts import Content, Kind, Table
from workprof.store.reports import Dataset
from workprof.workbench import Workbench


def _ranking(workbench: Workbench, dataset: Dataset, progress: Progress) -> Content:
    settings, grouped = RankSettings(), GroupSettings()
    result = workbench.node_ranking(dataset.hash, settings, progress)
    groups = workbench.node_groups(dataset.hash, grouped, progress)
    return Content(
        settings={"ranking": settings, "groups": grouped},
        headlines=ranking_headlines(result),
        words=(*result.notes, *degraded_sentences(result), robustness_sentence(result), groups_sentence(groups)),
        charts=(ranked_bars(result), aspect_lines(result), *((silhouette_bars(groups),) if groups.silhouettes else ())),
        tables=(
            Table("Nodes", "nodes", node_table(result)),
            Table("Pairs", "node-pairs", pair_table(result)),
            Table("With one benchmark left out", "node-leave-outs", leave_out_table(result)),
            Table("Groups", "node-groups", groups_table(groups)),
        ),
        published=result.published,
    )


def _degradation(workbench: Workbench, dataset: Dataset, progress: Progress) -> Content:
    settings = DegradationSettings()
    result = through_job(workbench.degradation, dataset.hash, settings, progress)
    names = sorted({str(name) for name in result.runs.node})
    charts = (
        *(timeline(result, name) for name in names),
        code_map(result),
        detection_reliability(result),
        reconstruction_errors(result),
    )
    return Content(
        settings={"detection": settings.detect},
        headlines=detection_headlines(result),
        words=(trust_sentence(result), *result.messages),
        charts=tuple(chart for chart in charts if chart is not None),
        tables=_tables(result),
        published=result.published,
    )


def _tables(result: Detection) -> tuple[Table, ...]:
    return (
        Table("Detectors on the same runs", "node-detectors", detectors_table(result)),
        Table("Judged runs", "node-runs-judged", runs_table(result)),
        Table("Runs without a verdict", "node-unscored", unscored_table(result)),
        Table("Metrics that the network does not see", "node-dropped", unseen_metrics_table(result)),
        Table("Which way metrics point", "node-orientations", orientation_table(result)),
    )


RANKING = Kind("nodes", "Nodes", "nodes", BENCHMARKS, _ranking)
DEGRADATION = Kind("degradation", "Degradation", "nodes", BENCHMARKS, _degradation)
