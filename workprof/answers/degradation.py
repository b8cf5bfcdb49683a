"""What is said of flagged runs: on which nodes the newest are, by which detector, and how good that is."""

import math
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from workprof.answers.nodes import moment_words
from workprof.core.answer import Answer, Figure, Table
from workprof.core.arrays import Floats
from workprof.core.table import Column
from workprof.core.units import format_share
from workprof.core.words import counted, listed
from workprof.nodes.detection import Detection, ScoredRuns, flagged_now
from workprof.nodes.detection_data import detector_word


def degradation_sentence(result: Detection) -> str:
    """Return how many runs are flagged, and on which nodes the newest ones; a node's verdict is the ranking's."""
    runs, now = result.runs, flagged_now(result)
    if not len(runs.flag):
        return "No run could be judged: each needs three earlier normal ones."
    few, judged = too_few_to_flag(result), {str(name) for name in runs.benchmark[runs.tested]}
    needed = f"takes {_least_trained(result)} training runs of a benchmark with history"
    if judged and judged <= few.keys():
        return f"No run can be flagged: that {needed}; there are at most {max(few.values())}."
    count = f"{int((runs.flag & runs.tested).sum()):,} of {int(runs.tested.sum()):,} newer runs are flagged"
    blind = f" No run of {listed(sorted(few))} can be flagged: that {needed}." if few else ""
    if not now:
        return f"No node's newest run is flagged; {count}.{blind}"
    named = [f"{node} ({', '.join(names)})" for node, names in list(now.items())[:3]]
    rest = [counted(len(now) - 3, "more node")] if len(now) > 3 else []
    return f"{count[:1].upper()}{count[1:]}, the newest ones of {listed([*named, *rest])}.{blind}"


def _least_trained(result: Detection) -> int:
    return math.ceil(1 / result.threshold) - 1


def too_few_to_flag(result: Detection) -> dict[str, int]:
    """Benchmark -> training runs with history, where these are so few that the least p-value is above the threshold."""
    runs = result.runs
    if result.supervised:
        return {}
    trained = runs.benchmark[~runs.tested & (runs.label != 1)]
    counts = {str(name): int((trained == name).sum()) for name in runs.benchmark[runs.tested]}
    return {name: count for name, count in counts.items() if 1 / (count + 1) > result.threshold}


MOST_DRIVERS = 3


def evidence(result: Detection) -> Floats:
    """Return (n_runs,) what the flags go by: the probability, or without labels the p-value."""
    return result.runs.p_anomalous if result.supervised else result.runs.p_value


def drivers_words(result: Detection, row: int) -> str:
    """Return the metrics that lie furthest from the run's history: 'events_per_second -15.2, ...'."""
    drivers = result.runs.drivers[row][:MOST_DRIVERS]
    return ", ".join(f"{one.metric.rpartition('.')[2] or one.metric} {one.size:+.1f}" for one in drivers)


def trust_sentence(result: Detection) -> str:
    """What was learned from what, and what was not judged."""
    parts = result.parts
    rest = f" {counted(len(result.not_scored), 'run')} could not be judged." if result.not_scored else ""
    return (
        f"Trained on {parts.by}: {parts.n_train:,} runs, {parts.n_train_anomalous:,} of them under load. "
        f"Judged are {parts.n_scored:,} of {parts.n_test:,} other runs.{rest}"
    )


def type_sentence(result: Detection) -> str:
    """How often the code of a run alone tells its benchmark."""
    n = len({str(name) for name in result.runs.benchmark})
    if not np.isfinite(result.model.type_accuracy):
        return f"The network embeds {counted(len(result.runs.row_id), 'run')} of {counted(n, 'benchmark')}."
    share, runs = format_share(result.model.type_accuracy), counted(result.model.n, "unseen run")
    return f"The code alone identifies the benchmark of {share} of {runs}."


def error_sentence(result: Detection) -> str:
    """How well the network reconstructs runs that it has not seen."""
    if not math.isfinite(result.model.mse):
        return "No unseen run was reconstructed."
    return f"On unseen runs the mean squared reconstruction error is {result.model.mse:.2g}."


def brier_sentence(result: Detection) -> str:
    """How far the stated probabilities of the detector are off."""
    own = result.detectors[result.detector]
    return f"The probabilities of the detector have a Brier score of {own.brier:.3f} on {own.n:,} unseen runs."


def stretch_words(since: str, flagged: int, runs: int, benchmarks: str) -> str:
    """What is said of a node's runs in a stretch of time."""
    worst = f": {benchmarks}" if benchmarks else ""
    return f"from {since}<br>{flagged} of {counted(runs, 'run')} flagged{worst}"


def timeline_sentence(result: Detection, node: str) -> str:
    """How many runs of a node are flagged, and of which benchmarks the newest one is."""
    runs = result.runs
    here = np.flatnonzero(runs.node == node)
    if not len(here):
        return f"No run of {node} has a verdict: each needs three earlier normal ones."
    flagged = int(runs.flag[here].sum())
    bad = flagged_now(result).get(node, ())
    now = (
        f"the newest run of {', '.join(bad)} is flagged: Over time says whether to run it again"
        if bad
        else "no newest run is flagged"
    )
    return f"{flagged} of {counted(len(here), 'run')} of {node} are flagged; {now}."


RING = "Ringed: flagged. Open: of the training part, judged by folds that had not seen it. Dotted: the threshold, "
MEAN_SQUARE = "Mean square over the metrics that a run has, each from 0 to 1; those of other benchmarks do not count."
SHADES = "Red: flagged as degraded, the stronger the larger the share. Grey: normal. Blank: no run."


def _n_flagged(result: Detection) -> int:
    return int((result.runs.flag & result.runs.tested).sum())


def _detector(result: Detection) -> str:
    return detector_word(result.detector, alone=result.published or not result.supervised)


FLAGGED = Column("n_flagged", _n_flagged, "Flagged", "%,.0f", "Of the runs outside the training part.")
NOW = Column(
    "n_flagged_now",
    lambda one: counted(len(flagged_now(one)), "node"),
    "Flagged now",
    help="Nodes whose newest run of a benchmark is flagged.",
    also=("n_degraded",),
)
DETECTOR = Column("detector", _detector, "Detector", help="Chosen inside the training part, unless set.")
F1 = Column("f1_anomalous", "", "F1 of degraded", "%.3f", "On unseen labelled runs.")


def detection_figures(result: Detection) -> tuple[Figure, ...]:
    """What was flagged, which nodes are degraded now, by which detector, and how good that is."""
    own = result.detectors.get(result.detector)
    low, high = own.f1_anomalous_interval if own else (math.nan, math.nan)
    ends = f"{low:.2f} to {high:.2f}" if math.isfinite(low) and math.isfinite(high) else ""
    return (
        Figure(FLAGGED, result, f"of {counted(int(result.runs.tested.sum()), 'run')}"),
        Figure(NOW, result, ", ".join(flagged_now(result))),
        Figure(DETECTOR, result),
        *((Figure(F1, own, ends),) if own else ()),
    )


def detectors_table(result: Detection) -> Table:
    """One line per detector, the best F1 of degraded runs first."""

    def of(name: str, heading: str, form: str = "%.3f", place: int | None = None) -> Column:
        def value(one: str) -> Any:
            found = getattr(result.detectors[one], name)
            return found if place is None else found[place]

        return Column(name if place is None else ("from", "to")[place], value, heading, form)

    columns = (
        Column("detector", lambda one: f"{one} (used)" if one == result.detector else one, "Detector"),
        of("f1_anomalous", "F1 of degraded"),
        replace(of("f1_anomalous_interval", "Interval", place=0), to=of("f1_anomalous_interval", "", place=1)),
        of("f1_normal", "F1 of normal"),
        of("weighted_accuracy", "Weighted accuracy"),
        of("pr_auc", "PR-AUC"),
        of("brier", "Brier score"),
        replace(of("n", "Test runs", "%,.0f"), name="runs"),
        replace(of("n_anomalous", "Under load", "%,.0f"), name="stressed"),
    )
    rows = sorted(result.detectors, key=lambda one: -np.nan_to_num(result.detectors[one].f1_anomalous, nan=-np.inf))
    return Table("detectors", "Detectors on the same runs", columns, rows)


LABELS = {1: "under load", 0: "normal", -1: "unknown"}


def runs_table(result: Detection, node: str = "", *, flagged: bool = False) -> Table:
    """One line per judged run of a node, '' = of all, the newest first; `flagged`: those alone, none of training."""
    runs = result.runs
    shown = (runs.node == node) | (node == "")
    here = np.flatnonzero(shown & runs.flag & runs.tested if flagged else shown)
    here = here[np.argsort(-runs.started_s[here], kind="stable")]

    def of(field: str) -> Any:
        return lambda row: getattr(runs, field)[row]

    proof, words = ("p_anomalous", "Probability") if result.supervised else ("p_value", "p-value")
    columns = (
        Column("node", lambda row: str(runs.node[row]), "Node"),
        Column("benchmark", lambda row: str(runs.benchmark[row]), "Benchmark"),
        Column("started_utc", lambda row: moment_words(float(runs.started_s[row])), "Started (UTC)"),
        Column("flagged", of("flag"), "Flagged", aside=flagged),
        Column(proof, of(proof), words, "%.3f"),
        Column("drivers", lambda row: drivers_words(result, int(row)), "Furthest from its history"),
        Column("label", lambda row: LABELS[int(runs.label[row])], "Label", aside=flagged),
        Column("part", lambda row: "tested" if runs.tested[row] else "training", "Part", aside=flagged),
        Column("reconstruction_error", of("reconstruction_error"), "Reconstruction error", "%.3g", aside=flagged),
        Column("row_id", of("row_id"), aside=flagged),
    )
    return Table("runs", "Flagged runs" if flagged else "Judged runs", columns, here.tolist())


REASON = Column("reason", "", "Reason")
NOT_SCORED = (Column("node", "", "Node"), Column("benchmark", "", "Benchmark"), REASON)
UNSEEN = (Column("metric", "name", "Metric"), REASON)
ORIENTATIONS = (
    Column("metric", "name", "Metric"),
    Column("declared", "", "Declared"),
    Column("by_the_data", "by_data", "By the data"),
    Column("used", "", "Used"),
    Column("reading", lambda one: "the data disagree" if one.disagree else "agreed", "Reading"),
)


def doubts(result: Detection) -> tuple[Table, ...]:
    """What the network does not see, which way each metric points (disagreements first), and what was not judged."""
    return (
        Table("node-unseen", "Excluded metrics", UNSEEN, result.dropped),
        Table(
            "node-orientations",
            "Metric directions",
            ORIENTATIONS,
            sorted(result.orientations, key=lambda one: not one.disagree),
        ),
        Table("node-unscored", "Unjudged runs", NOT_SCORED, result.not_scored),
    )


def detection_answer(result: Detection) -> Answer:
    """Which nodes are degraded now, by which detector, and which runs are flagged."""
    parts = result.parts
    return Answer(
        degradation_sentence(result),
        detection_figures(result),
        tables=(
            runs_table(result, flagged=True),
            detectors_table(result),
        ),
        notes=(
            *(["Published definitions."] if result.published else []),
            *result.messages,
            trust_sentence(result),
            f"{error_sentence(result)} {type_sentence(result)}",
        ),
        document={
            "mode": result.settings.mode,
            "published_definitions": result.published,
            "supervised": result.supervised,
            "detector": result.detector,
            "threshold": result.threshold,
            "model": asdict(result.model),
            "detectors": {name: asdict(one) for name, one in result.detectors.items()},
            "runs": _runs(result.runs),
            "not_scored": len(result.not_scored),
            "not_scored_runs": [asdict(one) for one in result.not_scored],
            "parts": asdict(parts),
            "calibration": asdict(result.calibration) if result.calibration else None,
            "recipe": asdict(result.network.recipe),
            "dropped_metrics": [asdict(one) for one in result.dropped],
            "orientations": [asdict(one) | {"disagree": one.disagree} for one in result.orientations],
            "messages": list(result.messages),
            "seconds": result.seconds,
        },
    )


def _runs(runs: ScoredRuns) -> list[dict[str, Any]]:
    return [
        {
            "row_id": runs.row_id[place],
            "node": str(runs.node[place]),
            "benchmark": str(runs.benchmark[place]),
            "started": float(runs.started_s[place]),
            "stressed": None if runs.label[place] < 0 else bool(runs.label[place]),
            "p_anomalous": float(runs.p_anomalous[place]),
            "p_value": float(runs.p_value[place]),
            "flag": bool(runs.flag[place]),
            "drivers": [asdict(one) for one in runs.drivers[place]],
            "reconstruction_error": float(runs.reconstruction_error[place]),
        }
        for place in np.flatnonzero(runs.tested)
    ]


def newest_words(n_shown: int, n_runs: int) -> str:
    """That some runs are not drawn."""
    return f"The newest {n_shown:,} of {counted(n_runs, 'run')}. "


def most_flagged_words(n_shown: int, n_nodes: int) -> str:
    """That some nodes are not drawn."""
    return f"The {counted(n_shown, 'node')} with most flagged runs, of {n_nodes:,}. "
