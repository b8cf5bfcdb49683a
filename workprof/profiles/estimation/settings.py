"""What an estimate is asked to do: the cache key, the form's defaults, the command's options."""

from __future__ import annotations

from dataclasses import dataclass, field

from workprof.errors import SettingsError
from workprof.profiles.classifier.splits import N_FOLDS, SPLITS
from workprof.profiles.estimation.target import check_target
from workprof.profiles.settings import MODES, ProfileSettings


@dataclass(frozen=True)
class EstimateSettings:
    """Settings of an estimator and of its evaluation.

    Attributes:
        target: field that is estimated.
        fields: submit-time fields to use; empty = the mode's default that the table has.
        mode: 'corrected', or 'faithful' = the published estimators per profile.
        split: how training and test rows are kept apart; the interval holds for jobs that are new in this sense.
        nominal: coverage of the interval, 0-1.
        n_folds: turns of an evaluation (by time there is one).
        seed: of every draw.
    """

    target: str = "duration_s"
    fields: tuple[str, ...] = ()
    mode: str = "corrected"
    split: str = "by_job"
    nominal: float = 0.9
    n_folds: int = N_FOLDS
    seed: int = 0

    def __post_init__(self) -> None:
        check_target(self.target)
        if self.mode not in MODES:
            raise SettingsError(f"mode is {self.mode!r}; choose from {', '.join(MODES)}")
        if self.split not in SPLITS:
            raise SettingsError(f"split is {self.split!r}; choose from {', '.join(SPLITS)}")
        if not 0.5 <= self.nominal < 1:
            raise SettingsError(f"nominal is {self.nominal}; give a coverage from 0.5 to below 1")
        if self.n_folds < 2 or self.seed < 0:
            raise SettingsError(f"n_folds is {self.n_folds} and seed {self.seed}; give at least 2 and 0")


@dataclass(frozen=True)
class EstimateEvaluationSettings:
    """Settings of an evaluation.

    Attributes:
        estimates: target, split, mode, fields.
        profiles: the clustering whose profiles some predictors use.
        tested: content hash of the dataset that is tested on; empty = the turns of the split.
    """

    estimates: EstimateSettings = field(default_factory=EstimateSettings)
    profiles: ProfileSettings = field(default_factory=ProfileSettings)
    tested: str = ""
