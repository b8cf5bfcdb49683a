"""What the commands on phases print for people."""

from __future__ import annotations

import math

from workprof.cli.console import table
from workprof.phases.evaluation import Evaluation
from workprof.phases.matching import Match
from workprof.phases.timeline import Phases
from workprof.units import format_share

SHOWN_MATCHES = 12
NO_LIMIT = (
    "too few runs of each workload for a limit: every run gets its nearest workload, and none can be called unknown; "
    "record at least four of each"
)


def phases_text(found: Phases) -> str:
    """Return the changes of each counter as a table."""
    rows: list[dict[str, object]] = [
        {
            "counter": one.counter,
            "phases": len(one.start_s),
            "changes (s)": " ".join(f"{at:g}" for at in one.change_points_s),
            "means": " ".join(f"{mean:.4g}" for mean in one.mean),
            "note": one.note,
        }
        for one in found.counters
    ]
    name = f"{found.workload}/{found.run}" if found.workload else found.run
    return f"{name}: {found.n_samples} steps of {found.step_s:g} s\n\n{table(rows)}"


def match_text(found: Match) -> str:
    """Return the verdict and the nearest runs."""
    rows: list[dict[str, object]] = [
        {
            "workload": line.workload,
            "run": line.run,
            "Euclidean": f"{line.distance_ed:.4g}",
            "DTW": f"{line.distance_dtw:.4g}",
            "offset": line.offset,
            "within": {True: "yes", False: "no", None: "too few runs"}[line.within_threshold],
        }
        for line in found.matches[:SHOWN_MATCHES]
    ]
    one = found.verdict
    sure = f"confidence {one.confidence:.2f} (Euclidean), {one.confidence_dtw:.2f} (DTW)"
    agree = "" if one.agree else "; the measures name different workloads, so confidence is low"
    head = f"{found.unknown}: {one.workload} (nearest: {one.nearest})\n{one.reason}\n{sure}{agree}"
    return f"{head}\n\n{table(rows)}"


def evaluation_text(found: Evaluation) -> str:
    """Return known, baselines and unknown as tables."""
    return "\n\n".join([_known_text(found), _unknown_text(found), _distances_text(found)])


def _known_text(found: Evaluation) -> str:
    if found.known is None:
        return "no run is of a known workload"
    known = found.known
    others: list[dict[str, object]] = [
        {"by": name, "accuracy": format_share(value)}
        for name, value in [*known.learners.items(), *found.baselines.items()]
    ]
    spread = f" ± {known.accuracy_sd:.3f} over {known.n_splits} splits (they share runs)" if known.n_splits > 1 else ""
    return (
        f"known workloads: accuracy {known.accuracy:.3f}{spread}, precision {known.precision:.3f}, recall "
        f"{known.recall:.3f}, F1 {known.f1:.3f}; {known.n_test} answers, rejections left aside\n\n{table(others)}"
    )


def _unknown_text(found: Evaluation) -> str:
    rows: list[dict[str, object]] = [
        {
            "unknown workload": one.workload,
            "rejected": format_share(one.rejected_share),
            "nearest": ", ".join(f"{name} {format_share(share)}" for name, share in list(one.nearest.items())[:3]),
        }
        for one in found.unknown
    ]
    if math.isnan(found.c):
        return f"{NO_LIMIT}\n\n{table(rows)}"
    head = (
        f"unknown runs rejected: {format_share(found.rejected_share)}; known runs rejected by mistake: "
        f"{format_share(found.false_reject_share)}; c = {found.c:.2f}"
    )
    return f"{head}\n\n{table(rows)}"


def _distances_text(found: Evaluation) -> str:
    rows: list[dict[str, object]] = [
        {
            "workload": one.workload,
            "DTW": f"{one.dtw_mean:.4g} ± {one.dtw_std:.3g}",
            "Euclidean": f"{one.ed_mean:.4g} ± {one.ed_std:.3g}",
            "pairs": one.n_pairs,
        }
        for one in found.distances
    ]
    return f"distances among runs of one workload\n\n{table(rows)}"
