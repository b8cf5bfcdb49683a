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
from workprof.nodes.detection import Detection
from workprof.nodes.detection_data import DetectSettings
from workprof.nodes.groups import GroupSettings
from workprof.nodes.selection import RankSettings
from workprof.progress import Progress
from workprof.report.asking import through_job
from workprof.report.parts import Content, Kind, Table
from workprof.store.reports import Dataset
from workprof.workbench import Workbench


def _ranking(workbench: Workbench, dataset: Dataset, progress: Progress) -> Content:
    asked, grouped = RankSettings(), GroupSettings()
    found = workbench.node_ranking(dataset.hash, asked, progress)
    groups = workbench.node_groups(dataset.hash, grouped, progress)
    return Content(
        settings={"ranking": asked, "groups": grouped},
        headlines=ranking_headlines(found),
        words=(*found.notes, *degraded_sentences(found), robustness_sentence(found), groups_sentence(groups)),
        charts=(ranked_bars(found), aspect_lines(found), *((silhouette_bars(groups),) if groups.silhouettes else ())),
        tables=(
            Table("Nodes", "nodes", node_table(found)),
            Table("Pairs", "node-pairs", pair_table(found)),
            Table("With one benchmark left out", "node-leave-outs", leave_out_table(found)),
            Table("Groups", "node-groups", groups_table(groups)),
        ),
        published=found.published,
    )


def _degradation(workbench: Workbench, dataset: Dataset, progress: Progress) -> Content:
    asked = DetectSettings()
    found = through_job(
        workbench,
        lambda: workbench.degradation_answer(dataset.hash, asked),
        lambda: workbench.start_degradation(dataset.hash, asked),
        progress,
    )
    names = sorted({str(name) for name in found.runs.node})
    charts = (
        *(timeline(found, name) for name in names),
        code_map(found),
        detection_reliability(found),
        reconstruction_errors(found),
    )
    return Content(
        settings={"detection": asked},
        headlines=detection_headlines(found),
        words=(trust_sentence(found), *found.messages),
        charts=tuple(chart for chart in charts if chart is not None),
        tables=_tables(found),
        published=found.published,
    )


def _tables(found: Detection) -> tuple[Table, ...]:
    return (
        Table("Detectors on the same runs", "node-detectors", detectors_table(found)),
        Table("Judged runs", "node-runs-judged", runs_table(found)),
        Table("Runs without a verdict", "node-unscored", unscored_table(found)),
        Table("Metrics that the network does not see", "node-dropped", unseen_metrics_table(found)),
        Table("Which way metrics point", "node-orientations", orientation_table(found)),
    )


RANKING = Kind("nodes", "Nodes", "nodes", BENCHMARKS, _ranking)
DEGRADATION = Kind("degradation", "Degradation", "nodes", BENCHMARKS, _degradation)
