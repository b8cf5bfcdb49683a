"""How runs are normalised, summarised by phase, compared and recognised."""

from __future__ import annotations

from dataclasses import dataclass, field

from workprof.errors import SettingsError
from workprof.phases.changepoints import MODES, ChangePointSettings

NORMALISATIONS = ("train", "run", "mixed")
DISTRIBUTIONS = ("quantiles", "hist")
SCALES = ("standard", "none")


@dataclass(frozen=True)
class FingerprintSettings:
    """Settings of fingerprints.

    Attributes:
        normalise: where mean and deviation come from: 'train' = all training runs, 'run' = the run itself (the literal
            reading of the paper: levels are erased), 'mixed' = phases are looked for on 'run', summarised on 'train'.
        absolute: take |z|, as published. It hides changes: a step with equal halves has the same |z| on both sides.
        log: take log(1 + x) of a counter first; rates span orders of magnitude.
        distribution: 'quantiles' (10, 25, 75 and 90 %) or 'hist' (shares in five bins) as the statistics of a phase
            after mean, median, variance and ADF.
        change_points: how phases are found.
    """

    normalise: str = "train"
    absolute: bool = False
    log: bool = True
    distribution: str = "quantiles"
    change_points: ChangePointSettings = field(default_factory=ChangePointSettings)

    def __post_init__(self) -> None:
        check_choice("normalise", self.normalise, NORMALISATIONS)
        check_choice("distribution", self.distribution, DISTRIBUTIONS)


@dataclass(frozen=True)
class MatchSettings:
    """Settings of distances and of the thresholds on them.

    Attributes:
        scale: 'none' = distances of the fingerprints as they are (published), 'standard' = every statistic of every
            counter in its standard deviations over the phases of the training runs.
        offsets: look for the shorter run inside the longer one.
        flat: DTW of the flattened fingerprints as one series; it depends on the order of the counters.
        c: a run is accepted up to mean + c standard deviations of its workload's distances; None = chosen on the
            training runs, each against the rest of them.
        two_sided: also reject runs closer than mean - c standard deviations, the literal rule.
        pooled: one spread for all workloads, from deviations about each one's own mean; for few runs each.
        false_rejects: share of the training runs, each against the rest, that may be rejected where c is chosen. New
            runs are rejected less often, as they meet one more run of their workload.
    """

    scale: str = "standard"
    offsets: bool = True
    flat: bool = False
    c: float | None = None
    two_sided: bool = False
    pooled: bool = True
    false_rejects: float = 0.12

    def __post_init__(self) -> None:
        check_choice("scale", self.scale, SCALES)
        if self.c is not None and not 0 <= self.c <= 100:
            raise SettingsError(f"c is {self.c}; give 0 to 100 standard deviations")
        if not 0 < self.false_rejects < 0.5:
            raise SettingsError(f"false rejects is {self.false_rejects}; give a share between 0 and 0.5")


@dataclass(frozen=True)
class LibrarySettings:
    """Settings of a library of known workloads.

    Attributes:
        counters: names, in this order; () = system72 where the runs have them, else all but proc.*.
        fingerprints: of the runs.
        match: of distances and thresholds.
        mode: 'corrected' = recognised by the pair model and the learner; 'faithful' = by distance and threshold.
        seed: of the models.
    """

    counters: tuple[str, ...] = ()
    fingerprints: FingerprintSettings = field(default_factory=FingerprintSettings)
    match: MatchSettings = field(default_factory=MatchSettings)
    mode: str = "corrected"
    seed: int = 0

    def __post_init__(self) -> None:
        check_choice("mode", self.mode, MODES)
        if not 0 <= self.seed < 2**32:
            raise SettingsError(f"seed is {self.seed}; give 0 to 4,294,967,295")


@dataclass(frozen=True)
class DetectSettings:
    """Settings of the phases of one run.

    Attributes:
        run: 'run', or 'workload/run' where several workloads have one of that name; '' = the first run.
        library: counters and fingerprints; normalised over all runs of the dataset.
    """

    run: str = ""
    library: LibrarySettings = field(default_factory=LibrarySettings)


@dataclass(frozen=True)
class MatchRunSettings:
    """Settings of one run matched with the others.

    Attributes:
        unknown: the run, as in `DetectSettings`; it and nothing else is kept out of the library.
        library: of the others.
    """

    unknown: str
    library: LibrarySettings = field(default_factory=LibrarySettings)


@dataclass(frozen=True)
class EvaluationSettings:
    """Settings of an evaluation.

    Attributes:
        library: of each training part.
        splits: repeated splits of known workloads.
        test_share: of the runs of each workload, at least one.
        open_splits: splits in which each workload is left out in turn; these are long.
        left_out: workloads that are left out together instead, as in the paper's Table III; () = each in turn.
        trained_elsewhere: `train` holds the runs to learn from, and nothing is split.
        train_hash: of that dataset, so that results are kept apart.
    """

    library: LibrarySettings = field(default_factory=LibrarySettings)
    splits: int = 20
    test_share: float = 0.3
    open_splits: int = 2
    left_out: tuple[str, ...] = ()
    trained_elsewhere: bool = False
    train_hash: str = ""

    def __post_init__(self) -> None:
        if not 1 <= self.splits <= 1000 or not 0 <= self.open_splits <= self.splits:
            raise SettingsError(
                f"splits is {self.splits} and open splits {self.open_splits}; give 1 to 1,000, and no more open ones"
            )
        if not 0 < self.test_share < 1:
            raise SettingsError(f"test share is {self.test_share}; give a share between 0 and 1")


def faithful_library(counters: tuple[str, ...] = (), seed: int = 0) -> LibrarySettings:
    """Return the settings of the method as published: |z| of each run by itself, flat DTW, mean ± 1 sd."""
    fingerprints = FingerprintSettings("run", True, False, "quantiles", ChangePointSettings(mode="faithful"))
    match = MatchSettings(scale="none", flat=True, c=1.0, two_sided=True, pooled=False)
    return LibrarySettings(counters, fingerprints, match, "faithful", seed)


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Refuse a value that is none of the choices."""
    if value not in choices:
        raise SettingsError(f"{name} is {value!r}; choose from {', '.join(choices)}")
