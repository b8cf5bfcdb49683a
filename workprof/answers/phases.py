"""What is said of phases: where a run changes, which known workload it is like, and how often that is right."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from operator import itemgetter
from typing import Any

import numpy as np

from workprof.answers.phase_words import phases_words, spans
from workprof.core.answer import Answer, Table
from workprof.core.table import Column
from workprof.core.units import number
from workprof.core.words import counted, shortened
from workprof.phases.fingerprints import STATISTICS, Fingerprint
from workprof.phases.library import Library, LibraryView
from workprof.phases.runs import RunList
from workprof.phases.series import SeriesChanges
from workprof.phases.timeline import AlignedRuns, Phases, Timeline


def seconds(value: float) -> str:
    """Return '12 s' or '12.5 s', 'no data' for NaN."""
    return f"{value:,.6g} s" if math.isfinite(value) else "no data"


STATISTIC_WORDS = {
    "mean": "mean",
    "median": "median",
    "variance": "variance",
    "adf": "ADF statistic",
    "q10": "10 % quantile",
    "q25": "25 % quantile",
    "q75": "75 % quantile",
    "q90": "90 % quantile",
}


def statistic_words(name: str) -> str:
    """A statistic of a phase in words."""
    return STATISTIC_WORDS.get(name, name)


def phase_table(result: Timeline, counters: Sequence[str] = ()) -> Table:
    """One line per counter and phase: where it lies, what was recorded in it, its statistics; () = all."""
    columns = (
        *(Column(name, itemgetter(name)) for name in ("workload", "run", "counter", "phase", "start_s", "end_s")),
        *(Column(name, itemgetter(name)) for name in ("samples", "recorded_mean", "by_hand")),
        *(Column(f"normalised_{name}", itemgetter(f"normalised_{name}")) for name in result.statistics),
    )
    places = map(result.counters.index, counters or result.counters)
    return Table("phases", "Phases", columns, [line for place in places for line in _lines(result, place)])


def _lines(result: Timeline, place: int) -> list[dict[str, object]]:
    own = result.fingerprint
    edges = [0, *own.boundaries_of(place).tolist(), own.n_samples]
    lines = []
    for phase, (first, end) in enumerate(itertools.pairwise(edges)):
        recorded = result.recorded[place, first:end]
        present = recorded[np.isfinite(recorded)]
        lines.append(
            {
                "workload": own.workload,
                "run": own.run,
                "counter": result.counters[place],
                "phase": phase + 1,
                "start_s": result.start_s + first * result.step_s,
                "end_s": result.start_s + end * result.step_s,
                "samples": len(present),
                "recorded_mean": float(present.mean()) if len(present) else None,
                "by_hand": bool(result.edited[place]),
                **{f"normalised_{name}": float(result.statistic(name)[place, phase]) for name in result.statistics},
            }
        )
    return lines


def lines_note(result: Timeline, *, thinned: bool) -> str:
    """What the lines of a timeline are."""
    usable = int((~result.fingerprint.flags).sum())
    words = (
        f"Vertical lines: a phase begins (dashed: set by hand). Bottom: share of {counted(usable, 'counter')} that "
        f"change within a sample of {result.step_s:g} s. Strongest changes first."
    )
    return f"{words} Long lines show the least and the largest value of each stretch." if thinned else words


def apart_sentence(result: AlignedRuns) -> str:
    """How far two runs lie apart."""
    cost = number(result.alignment.mean_cost)
    return f"{shortened(result.first)} and {shortened(result.second)} are {cost} standard deviations apart on average."


def moved_sentence(result: AlignedRuns) -> str:
    """How far two runs lie apart in time, at most."""
    path, cost = result.alignment.path, number(result.alignment.mean_cost)
    most = seconds(float(np.abs(path[:, 0] - path[:, 1]).max() * result.step_s))
    return (
        f"{shortened(result.first)} and {shortened(result.second)} are at most {most} apart in time, {cost} standard "
        "deviations per counter and sample."
    )


def overlay_note(result: AlignedRuns) -> str:
    """By what two runs are laid over each other."""
    return (
        f"Aligned in time by dynamic time warping of {counted(result.n_counters, 'counter')}: on average "
        f"{number(result.alignment.mean_cost)} standard deviations apart."
    )


def warping_note(result: AlignedRuns, offset: int) -> str:
    """By what two runs are aligned; `offset` is that of their phases."""
    return (
        f"Dynamic time warping of {counted(result.n_counters, 'counter')} with Manhattan distance. By phases, the "
        f"shorter of both runs begins {counted(offset, 'phase')} into the longer one."
    )


def timeline_sentence(result: Timeline) -> str:
    """Return the phases of a run, when and what, in one sentence."""
    name = shortened(result.fingerprint.name)
    usable = int((~result.fingerprint.flags).sum())
    window = result.start_s > result.run_from_s or result.end_s < result.run_to_s
    head = f"{name}, {result.start_s:g} to {seconds(result.end_s)}" if window else name
    if not usable:
        return f"{head}: no counter can be searched for phases."
    if result.edited.all():
        return f"{head}: {counted(result.fingerprint.phases, 'phase')}, set by hand for every counter."
    if result.fingerprint.phases == 1:
        return f"{head} does not change: {spans(result)[0].words}."
    return f"{head} has {phases_words(spans(result))}."


SHOWN_NOTES = 10
SHOWN_STEPS = 12


def notes_of(result: Any) -> tuple[str, ...]:
    """The first notes of a result."""
    rest = len(result.notes) - SHOWN_NOTES
    return (*result.notes[:SHOWN_NOTES], *((f"{rest} more; see --json",) if rest > 0 else ()))


RUNS = (
    Column("workload", heading="Workload"),
    Column("run", heading="Run"),
    Column("samples", heading="Samples", unit="count"),
    Column("first_s", heading="From (s)", form="%.6g"),
    Column("last_s", heading="To (s)", form="%.6g"),
    Column("status", heading="Status"),
)


def runs_answer(result: RunList) -> Answer:
    """The runs of a table of counters."""
    workloads = len({one.workload for one in result.runs if one.workload})
    known = f" of {counted(workloads, 'workload')}" if workloads else ""
    return Answer(
        f"{counted(len(result.runs), 'run')}{known} {'is' if len(result.runs) == 1 else 'are'} recorded.",
        tables=(Table("runs", "Runs", RUNS, result.runs),),
    )


def runs_document(result: RunList) -> list[dict[str, Any]]:
    """The document of the runs of a dataset: a list."""
    return [asdict(line) for line in result.runs]


CHANGES = (
    Column("counter", heading="Counter"),
    Column("phases", lambda one: len(one.start_s), "Phases", unit="count"),
    Column("change_points_s", lambda one: [float(at) for at in one.change_points_s], "Changes (s)", "%.6g"),
    Column("means", lambda one: [float(mean) for mean in one.mean], "Means", "%.4g"),
    Column("note", heading="Note", optional=True),
)


def phases_answer(result: Phases) -> Answer:
    """Where each counter of a run changes."""
    name = f"{result.workload}/{result.run}" if result.workload else result.run
    changes = sum(len(one.change_points_s) for one in result.counters)
    over = f"{counted(result.n_samples, 'step')} of {result.step_s:g} s"
    return Answer(
        f"{shortened(name)}: {counted(changes, 'change')} in {counted(len(result.counters), 'counter')} over {over}.",
        tables=(Table("changes", "Changes", CHANGES, result.counters),),
        notes=notes_of(result),
        document={
            "workload": result.workload,
            "run": result.run,
            "n_samples": result.n_samples,
            "step_s": result.step_s,
            "counters": {
                one.counter: {
                    "change_points_s": one.change_points_s,
                    "phases": [
                        {"start_s": start, "end_s": end, "mean": mean, "sd": sd}
                        | dict(zip((f"z_{name}" for name in result.statistic_names), row, strict=True))
                        for start, end, mean, sd, row in zip(
                            one.start_s, one.end_s, one.mean, one.sd, one.statistics, strict=True
                        )
                    ],
                    "note": one.note,
                }
                for one in result.counters
            },
            "dropped": list(result.dropped),
            "notes": list(result.notes),
            "seconds": result.seconds,
        },
    )


@dataclass(frozen=True)
class _Counter:
    """One counter of a run in the timeline."""

    name: str
    movement: float
    phases: int
    boundaries_s: list[float]
    note: str


COUNTERS = (
    Column("counter", "name", "Counter"),
    Column("movement", heading="Movement", form="%.2f"),
    Column("phases", heading="Phases", unit="count"),
    Column("change_points_s", "boundaries_s", "Changes (s)", "%.6g", also=("boundaries_s",)),
    Column("note", heading="Note", optional=True),
)


def timeline_answer(result: Timeline) -> Answer:
    """The phases of every counter of a run, the ones that move most first."""
    order = sorted(range(len(result.counters)), key=lambda at: -float(result.movement[at]))
    rows = [
        _Counter(
            result.counters[at],
            float(result.movement[at]),
            int(result.fingerprint.n_phases[at]),
            [float(second) for second in result.boundaries_s(at)],
            "by hand" if result.edited[at] else "not searched" if result.fingerprint.flags[at] else "",
        )
        for at in order
    ]
    return Answer(
        timeline_sentence(result),
        tables=(Table("phases", "Counters, those that move most first", COUNTERS, rows),),
        notes=notes_of(result),
        document={
            "workload": result.fingerprint.workload,
            "run": result.fingerprint.run,
            "start_s": result.start_s,
            "end_s": result.end_s,
            "step_s": result.step_s,
            "run_from_s": result.run_from_s,
            "run_to_s": result.run_to_s,
            "hazard_samples": result.hazard_samples,
            "times_s": result.times_s,
            "agreement": result.agreement,
            "counters": {name: _counter(result, at) for at, name in enumerate(result.counters)},
            "missing": result.fingerprint.missing,
            "notes": result.notes,
            "seconds": result.seconds,
        },
    )


def _counter(result: Timeline, at: int) -> dict[str, Any]:
    edges = [result.start_s, *result.boundaries_s(at).tolist(), result.end_s]
    values = result.fingerprint.values[at]
    return {
        "values": result.recorded[at],
        "boundaries_s": edges[1:-1],
        "phases": [
            {"start_s": start, "end_s": end} | dict(zip(result.statistics, row, strict=True))
            for start, end, row in zip(edges[:-1], edges[1:], values, strict=False)
        ],
        "movement": result.movement[at],
        "by_hand": result.edited[at],
        "usable": not np.any(result.fingerprint.flags[at]),
    }


PRINTS = (
    Column("run", "name", "Run"),
    Column("samples", "n_samples", "Samples", unit="count"),
    Column("phases", heading="Phases", unit="count"),
    Column("changed", lambda one: int((one.n_phases > 1).sum()), "Counters with a change", unit="count"),
    Column("counters_missing", lambda one: len(one.missing), "Counters missing", unit="count"),
)


def fingerprints_answer(result: Library, prints: Sequence[Fingerprint]) -> Answer:
    """The fingerprints of labelled runs; in the document values are counters x phases x statistics, zero beyond."""
    counters = len(result.fingerprints.normaliser.counters)
    return Answer(
        f"{counted(len(prints), 'fingerprint')} of {counted(counters, 'counter')}; documents have every statistic.",
        tables=(Table("runs", "Fingerprints", PRINTS, prints),),
        document={
            "counters": result.fingerprints.normaliser.counters,
            "statistics": STATISTICS[result.settings.fingerprints.distribution],
            "step_s": result.step_s,
            "runs": [
                {
                    "workload": one.workload,
                    "run": one.run,
                    "n_samples": one.n_samples,
                    "n_phases": one.n_phases,
                    "boundaries": [one.boundaries_of(at) for at in range(len(one.n_phases))],
                    "values": one.values,
                    "missing": one.missing,
                }
                for one in prints
            ],
            **limits_document(result),
        },
    )


def limits_document(result: Library | LibraryView) -> dict[str, Any]:
    """Up to which distances runs are accepted."""
    thresholds = {name: [asdict(one) for one in ones] for name, ones in result.thresholds.items()}
    return {"thresholds": thresholds, "c": result.c}


def aligned_answer(result: AlignedRuns) -> Answer:
    """Two runs laid over each other; the path of the document is in samples of each."""
    path, step = result.alignment.path, result.step_s
    every = max(1, -(-len(path) // SHOWN_STEPS))
    names = ("first", "second", "step_s", "n_counters")
    columns = (
        Column("first_s", lambda pair: float(pair[0] * step), f"{result.first} (s)", "%.6g"),
        Column("second_s", lambda pair: float(pair[1] * step), f"{result.second} (s)", "%.6g"),
    )
    cost = f"{result.alignment.mean_cost:.4g} per step and counter"
    return Answer(
        f"The runs differ by {cost}, over {counted(len(path), 'step')} and {counted(result.n_counters, 'counter')}.",
        tables=(Table("steps", "Moments that belong together", columns, list(path[::every])),),
        document={name: getattr(result, name) for name in names} | asdict(result.alignment),
    )


def changes_sentence(result: SeriesChanges) -> str:
    """How many changes there are in some series."""
    total = int(result.change_points.n_phases.sum()) - len(result.names)
    samples = counted(result.change_points.n_samples, "sample")
    return f"{counted(total, 'change')} in {len(result.names)} series of {samples}."
