"""How long a computation will take: a guess from the amount of work, set right by what earlier ones took here."""

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, TypeVar

from workprof.core.errors import SettingsError
from workprof.core.records import Packed, unpack
from workprof.core.units import format_duration
from workprof.core.words import counted
from workprof.forecasts.estimates import EstimateEvaluationSettings
from workprof.profiles.embedding import MOST_TRAINING_ROWS
from workprof.profiles.questions import FIT
from workprof.profiles.settings import (
    EXACT_SILHOUETTE_ROWS,
    FEATURE_SETS,
    OPTICS_ROWS,
    ProfileSettings,
    clustered_rows,
    default_features,
)
from workprof.profiles.sweep import OPTICS_SWEEP_ROWS, GroupSettings, SweepSettings

Settings = TypeVar("Settings")

STARTING_S = 2.0
"""Of a child process, on top of the work."""

SECONDS_PER_PAIR_CELL = 1e-10
"""Of rows² × features for exact silhouettes."""

OPTICS_SECONDS_PER_PAIR = 1.5e-7
"""Of rows² in one run. Like every constant of a guess, taken on two cores of a small machine."""

LATEST = 9
"""Earlier runs that count: the newest ones, as machines and versions change."""

SHORTEST_S = 0.05
"""Shorter runs tell more about their overhead than about the work."""


@dataclass(frozen=True)
class EarlierRun:
    """A kept computation: hash and finished rows of its dataset, its settings as a document, its seconds."""

    dataset: str
    n_rows: int
    settings: Mapping[str, Any]
    seconds: float


def earlier_runs(datasets: Iterable[Any], runs: Iterable[Any], step: str) -> tuple[EarlierRun, ...]:
    """The kept computations of a step among `Workbench.runs()`, newest first, with the rows of their datasets."""
    rows = {entry.hash: entry.finished_rows for entry in datasets}
    own = ((about.key.partition(":")[0], about) for about in runs if about.step == step)
    return tuple(EarlierRun(name, rows[name], about.settings, about.seconds) for name, about in own if name in rows)


SO_FAR = "The first figures; the rest is being computed."
"""What stands above what a computation has found before its end."""


def part_sentence(part: str, button: str) -> str:
    """What stands above the results of a small part."""
    return f"A small part: {part}. **{button}** takes all."


def computed_words(seconds: float, dataset_hash: str) -> str:
    """'computed in 3.1 s; dataset 0123abcd'."""
    return f"computed in {format_duration(seconds)}; dataset {dataset_hash[:8]}"


WIDEST = 20.0
"""Times the low end: a range that is wider on a busy machine is told by what is likeliest and by its high end."""
GUESSED, MEASURED = (0.4, 3.0), (0.7, 1.6)
"""How far the time may lie from what is expected: a guess, and one that rests on earlier runs here."""


@dataclass(frozen=True)
class Expected:
    """How long a computation will take: the seconds that are likeliest, and a range around them."""

    seconds: float
    low_s: float
    high_s: float
    runs: int  # earlier ones that it rests on; 0 = a guess
    what: str  # one of them, in a word

    def words(self) -> str:
        """Return '8 s to 19 s (from 3 earlier fits here)' or 'a guess'; on a busy machine 'about 8 s, up to'."""
        low, high = (float(f"{seconds:.2g}") for seconds in (max(self.low_s, 1.0), max(self.high_s, 2.0)))
        ground = f"from {counted(self.runs, f'earlier {self.what}')} here" if self.runs else "a guess"
        if high > WIDEST * low:
            likeliest = format_duration(float(f"{max(self.seconds, 1.0):.2g}"))
            return f"about {likeliest}, up to {format_duration(high)} on a busy machine ({ground})"
        least, most = format_duration(low), format_duration(high)
        return f"about {most} ({ground})" if least == most else f"{least} to {most} ({ground})"


@dataclass(frozen=True)
class Pace:
    """How the work of this machine compares with the guess: measured / guessed seconds over `runs` earlier runs."""

    factor: float = 1.0
    runs: int = 0
    least: float = 1.0
    most: float = 1.0

    def expected(self, fixed_s: float, work_s: float, what: str, busy: float = 1.0) -> Expected:
        """Return what work takes here.

        Args:
            fixed_s: that it takes on any machine.
            work_s: as guessed.
            what: it is, in a word.
            busy: processes that wait for each core of the machine now, at least 1.
        """
        low, high = MEASURED if self.runs else GUESSED
        return Expected(
            fixed_s + self.factor * work_s,
            fixed_s + low * self.least * work_s,
            fixed_s + high * self.most * work_s * max(busy, 1.0),
            self.runs,
            what,
        )


def pace(measured: Sequence[tuple[float, float]]) -> Pace:
    """Return the median of measured over guessed seconds of the newest runs; 1 where there are none.

    `measured` are (guessed work, seconds) of earlier runs, newest first, both without the start of a process.
    """
    ratios = [seconds / guess for guess, seconds in measured if guess > 0 and seconds >= SHORTEST_S][:LATEST]
    return Pace(statistics.median(ratios), len(ratios), min(ratios), max(ratios)) if ratios else Pace()


def measured_with(
    earlier: Sequence[EarlierRun], cls: type[Settings], work: Callable[[Settings, int], float]
) -> list[tuple[Settings, float, float]]:
    """Return (settings, guessed work, seconds) of the earlier runs whose settings can still be read."""
    result = []
    for run in earlier:
        try:
            settings: Settings = unpack(cls, Packed(dict(run.settings), {}))
        except (KeyError, TypeError, ValueError, SettingsError):
            continue  # of another version: it can say nothing about this one
        result.append((settings, work(settings, run.n_rows), run.seconds))
    return result


GUESSES = {
    "memory.changes": (2.0, 0.008),
    "memory.ledger": (3.0, 0.006),
    "memory.over_time": (1.0, 0.001),
    "memory.replay": (5.0, 3.2),
    "memory.rollup": (1.0, 0.002),
    "memory.tables": (30.0, 15.0),
    "memory.train": (10.0, 5.0),
    "memory.demand": (8.0, 0.005),
    "memory.schedule": (3.0, 0.2),
    "memory.verdict": (3.0, 0.012),
    "nodes.detect": (8.0, 50.0),
    "nodes.history": (0.5, 1.0),
    "nodes.rank": (0.5, 1.0),
    "phases.course": (3.0, 4.0),
    "phases.early": (60.0, 60.0),
    "phases.evaluate": (50.0, 20.0),
    "phases.library": (1.5, 1.0),
    "phases.live_library": (5.0, 5.0),
    "phases.shapes": (10.0, 30.0),
    "phases.growing": (0.5, 2.0),
    "phases.match": (5.0, 5.0),
    "profiles.baseline": (0.5, 0.12),
    "profiles.classifier_evaluation": (4.0, 0.8),
    "profiles.classifier_alternatives": (8.0, 4.0),
    "profiles.embeddings": (40.0, 4.0),
    "profiles.feedback_model": (6.0, 1.2),
    "profiles.forecaster": (6.0, 1.5),
    "profiles.held_out": (4.0, 0.8),
    "profiles.hopkins": (0.5, 0.02),
    "profiles.stability": (1.0, 0.3),
}
"""Step -> seconds that it takes at least, and seconds for 1,000 runs, on two cores of a small machine."""
GUESS = (5.0, 5.0)
"""Of every other step."""


def expected(
    step: str, settings: object, n_rows: int, earlier: Sequence[EarlierRun] = (), busy: float = 1.0
) -> Expected:
    """Return how long a step takes on so many runs, from those that it took here.

    Args:
        step: its name.
        settings: asked with; of the latest runs alone where they say how many.
        n_rows: finished runs.
        earlier: computations of the step in this home, newest first.
        busy: as of `Pace.expected`.
    """
    if isinstance(settings, ProfileSettings) and step == FIT.name:
        return expected_fit(settings, n_rows, earlier, busy)
    if isinstance(settings, EstimateEvaluationSettings):
        return expected_evaluation(settings, n_rows, earlier, busy)
    least_s, per_thousand_s = GUESSES.get(step, GUESS)

    def work_s(rows: int) -> float:
        return least_s + per_thousand_s * looked_at(settings, rows) / 1000

    here = pace([(work_s(run.n_rows), run.seconds) for run in earlier])
    return here.expected(STARTING_S, work_s(n_rows), "one", busy)


def looked_at(settings: object, n_rows: int) -> int:
    """Return how many of so many runs a step looks at: the latest, where its settings, or a part of them, say so."""
    parts = (settings, *(getattr(settings, one.name) for one in fields(settings))) if is_dataclass(settings) else ()
    result: int = min((n_rows, *(one.latest_runs for one in parts if hasattr(one, "latest_runs"))))
    return result


FIT_SECONDS_PER_CELL = 1.6e-5
"""Of rows × features, fit and scores together, on one core of a small machine (100,001 × 10: about 16 s)."""

JOIN_SECONDS_PER_ROW = 3e-5
"""Of a row beside the clustered ones, from the database to its profile (1,000,000: 65 s; 10,000,000: 289 s)."""

ENCODER_SECONDS_PER_ROW = 2e-3
"""Of an autoencoder, on one core of a small machine."""

CUT = ("min_cluster_size", "method", "epsilon", "target_clusters", "silhouette", "seed", "must", "must_not")
"""Settings that a kept tree is cut again for: such a run takes a second and is no measure of a fit."""


def expected_fit(
    settings: ProfileSettings, n_rows: int, earlier: Sequence[EarlierRun] = (), busy: float = 1.0
) -> Expected:
    """Return how long a clustering takes, from the fits of this home, newest first; busy as of `Pace.expected`."""
    alike = [
        (work, seconds)
        for past, work, seconds in measured_with(_whole_fits(earlier), ProfileSettings, fit_work_s)
        if (past.algorithm, past.embedding) == (settings.algorithm, settings.embedding)
    ]
    return pace(alike).expected(STARTING_S, fit_work_s(settings, n_rows), "fit", busy)


def fit_words(settings: ProfileSettings, n_rows: int) -> str:
    """Return what there is to do."""
    return f"{clustered_rows(settings, n_rows):,} runs × {_n_features(settings)} features"


def fit_work_s(settings: ProfileSettings, n_rows: int) -> float:
    """Return a guess of the seconds that the work takes, without the start of its process."""
    rows = clustered_rows(settings, n_rows)
    if settings.algorithm == "optics":
        return OPTICS_SECONDS_PER_PAIR * rows**2
    chosen = settings.silhouette or ("exact" if settings.mode == "faithful" or rows <= EXACT_SILHOUETTE_ROWS else "")
    exact = SECONDS_PER_PAIR_CELL * rows**2 * _n_features(settings) if chosen == "exact" else 0.0
    embedded = ENCODER_SECONDS_PER_ROW * min(rows, MOST_TRAINING_ROWS) if settings.embedding != "none" else 0.0
    joined = JOIN_SECONDS_PER_ROW * max(n_rows - rows, 0)
    return FIT_SECONDS_PER_CELL * rows * _n_features(settings) + exact + embedded + joined


def _n_features(settings: ProfileSettings) -> int:
    chosen = settings.features or default_features(settings.mode)
    return len(FEATURE_SETS.get(chosen[0], chosen))


def _whole_fits(earlier: Sequence[EarlierRun]) -> list[EarlierRun]:
    """Return the longest run of each tree: the others were cut from it."""
    longest: dict[str, EarlierRun] = {}
    for run in earlier:
        tree = repr(
            (run.dataset, sorted((name, repr(value)) for name, value in run.settings.items() if name not in CUT))
        )
        if tree not in longest or run.seconds > longest[tree].seconds:
            longest[tree] = run
    return list(longest.values())


GROUP_SECONDS_PER_CELL = 6e-6
"""Of rows × features in a group with one min_samples and sampled silhouettes."""

COUPLED_FACTOR = 3.0

READING_SECONDS_PER_ROW = 1.5e-6
"""Of a row of the trace: every group reads all, however few it clusters (10,000,000: 12 to 20 s)."""


def sweep_words(settings: SweepSettings, n_rows: int, takes: Expected) -> str:
    """Return what there is to do and how long it takes."""
    groups = settings.groups()
    tried = sum(len(group.sizes) for group in groups)
    work = f"{counted(tried, 'setting')} on {_group_rows(groups[0], n_rows):,} runs"
    sampled = any(group.algorithm == "optics" for group in groups) and _rows_of_optics(groups, n_rows) < n_rows
    also = f", OPTICS on {_rows_of_optics(groups, n_rows):,} of them" if sampled else ""
    return f"{work}{also}: {takes.words()} in the background; can be stopped and resumed."


def expected_sweep(
    settings: SweepSettings, n_rows: int, earlier: Sequence[EarlierRun] = (), busy: float = 1.0
) -> Expected:
    """Return how long a sweep takes; each algorithm has a pace of its own, the runs of both are counted.

    `earlier` are groups that this home has finished, newest first; busy as of `Pace.expected`.
    """
    groups = settings.groups()
    past = measured_with(earlier, GroupSettings, _group_work_s)
    paces = {
        algorithm: pace([(work, seconds) for group, work, seconds in past if group.algorithm == algorithm])
        for algorithm in {group.algorithm for group in groups}
    }
    parts = [paces[one.algorithm].expected(STARTING_S, _group_work_s(one, n_rows), "fit", busy) for one in groups]
    return Expected(
        sum(one.seconds for one in parts),
        sum(one.low_s for one in parts),
        sum(one.high_s for one in parts),
        sum(one.runs for one in paces.values()) if all(one.runs for one in paces.values()) else 0,
        "fit",
    )


def _group_rows(group: GroupSettings, n_rows: int) -> int:
    if group.algorithm == "optics":
        return min(n_rows, group.sample_rows or min(OPTICS_ROWS, OPTICS_SWEEP_ROWS))
    return clustered_rows(group.of_size(group.sizes[0]), n_rows)


def _rows_of_optics(groups: tuple[GroupSettings, ...], n_rows: int) -> int:
    return next(_group_rows(group, n_rows) for group in groups if group.algorithm == "optics")


def _group_work_s(group: GroupSettings, n_rows: int) -> float:
    """Return a guess of the seconds that a group takes, without the start of its process."""
    rows, columns = _group_rows(group, n_rows), len(FEATURE_SETS.get(group.features[0], group.features))
    reading = READING_SECONDS_PER_ROW * n_rows
    if group.algorithm == "optics":
        return reading + len(group.sizes) * OPTICS_SECONDS_PER_PAIR * rows**2
    neighbours = GROUP_SECONDS_PER_CELL * rows * columns * (1.0 if group.min_samples else COUPLED_FACTOR)
    exact = len(group.sizes) * SECONDS_PER_PAIR_CELL * rows**2 * columns if group.silhouette == "exact" else 0.0
    return reading + neighbours + exact


SECONDS_PER_FOLD = 0.6
SECONDS_PER_ROW_AND_FOLD = 5e-5
"""Taken on two cores of a small machine; earlier runs here set it right."""


def expected_evaluation(
    settings: EstimateEvaluationSettings, n_rows: int, earlier: Sequence[EarlierRun] = (), busy: float = 1.0
) -> Expected:
    """Return how long a test of the predictors takes; arguments as of `expected_fit`."""
    here = pace(
        [(guess, seconds) for _, guess, seconds in measured_with(earlier, EstimateEvaluationSettings, _test_work_s)]
    )
    return here.expected(STARTING_S, _test_work_s(settings, n_rows), "evaluation", busy)


def _n_folds(settings: EstimateEvaluationSettings) -> int:
    return 1 if settings.estimates.split == "by_time" else settings.estimates.n_folds


def _test_work_s(settings: EstimateEvaluationSettings, n_rows: int) -> float:
    return _n_folds(settings) * (SECONDS_PER_FOLD + SECONDS_PER_ROW_AND_FOLD * looked_at(settings, n_rows))
