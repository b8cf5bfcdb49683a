"""Which results of a report are there, and how long the missing ones will take: measured here, else a guess."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from workprof.core.errors import WorkprofError
from workprof.core.units import HOUR_S, MINUTE_S
from workprof.core.words import listed
from workprof.profiles.settings import ProfileSettings
from workprof.report.parts import Kind, Need
from workprof.store.entries import About
from workprof.store.reports import Dataset
from workprof.workbench import Workbench

LATEST = 5
STARTING_S = 2.0
"""Of a child process, on top of the work."""
SECONDS_PER_RUN = {
    "profiles.fit": 6e-4,
    "profiles.sweep_group": 4e-4,
    "profiles.classifier_evaluation": 5e-3,
    "profiles.estimate_evaluation": 2.4e-2,
    "memory.verdict": 4e-4,
    "memory.replay": 1e-2,
}
SECONDS = {"nodes.detect": 60.0, "phases.evaluate": 45.0}
"""By run, or whatever the rows. Taken on two busy cores, as long as nothing was measured here; others are quick."""


ALIKE = 10.0
"""Up to so many times larger or smaller, other data tell the time: of a few runs, most goes by for other things."""


@dataclass(frozen=True)
class Readiness:
    """How a section stands: what it lacks will take so many seconds, 0 = all is there."""

    kind: Kind
    seconds: float


def readiness(
    workbench: Workbench, dataset: Dataset, kinds: Sequence[Kind], clustering: ProfileSettings | None = None
) -> tuple[Readiness, ...]:
    """Return how every section stands, in their order; what several lack counts in the first of them.

    What cannot be computed is not waited for: its section says why, or stands without it.
    """
    abouts = workbench.runs()
    rows = {entry.hash: entry.finished_rows for entry in workbench.datasets()}
    there, result, fit = {about.key for about in abouts}, [], clustering or ProfileSettings()
    for kind in kinds:
        missing = {key: need for key, need in _keyed(workbench, dataset, kind, fit) if key not in there}
        if any(question.cached(dataset.hash, settings).refusal for question, settings in missing.values()):
            missing = {}
        there |= missing.keys()
        result.append(Readiness(kind, sum(_seconds(need, dataset, abouts, rows) for need in missing.values())))
    return tuple(result)


def _keyed(workbench: Workbench, dataset: Dataset, kind: Kind, fit: ProfileSettings) -> list[tuple[str, Need]]:
    """Return key -> question of what a section needs; of what the dataset cannot answer, nothing."""
    try:
        return [
            (question.key(dataset.hash, settings), (question, settings))
            for question, settings in kind.needs(workbench, dataset, fit)
        ]
    except WorkprofError:
        return []


def _seconds(need: Need, dataset: Dataset, abouts: Sequence[About], rows: dict[str, int]) -> float:
    """Return the median pace of earlier results of the question on data of about this size, times the rows."""
    step = need[0].declared.question.name
    same = [about for about in abouts if about.step.partition("[")[0] == step and about.seconds]
    measured = [(rows.get(about.key.partition(":")[0], 0), about.seconds) for about in same]
    alike = [(n, seconds) for n, seconds in measured if n and 1 / ALIKE <= n / max(dataset.finished_rows, 1) <= ALIKE]
    paces = [seconds / n for n, seconds in alike][:LATEST]
    if not paces:
        return STARTING_S + SECONDS.get(step, 0.0) + SECONDS_PER_RUN.get(step, 0.0) * dataset.finished_rows
    return STARTING_S + statistics.median(paces) * dataset.finished_rows


def readiness_sentence(result: Sequence[Readiness]) -> str:
    """Return 'Still to compute: Durations and Memory, about 6 min.'."""
    missing = [one for one in result if one.seconds]
    if not missing:
        return "All results are ready; the file takes a few seconds."
    sections = listed([one.kind.title for one in missing])
    return f"Still to compute: {sections}, about {rough(sum(one.seconds for one in missing))}."


def rough(seconds: float) -> str:
    """Return a duration as one says it of a guess: '20 s', '6 min', '2 h'."""
    if seconds < MINUTE_S:
        return f"{max(5, 5 * round(seconds / 5))} s"
    return f"{round(seconds / MINUTE_S)} min" if seconds < HOUR_S else f"{seconds / HOUR_S:.2g} h"
