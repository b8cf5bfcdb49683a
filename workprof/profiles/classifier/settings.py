"""What a classifier is asked to be: the record that is the cache key, the form, the command's options and the link."""

from __future__ import annotations

from dataclasses import dataclass, field

from workprof.errors import SettingsError
from workprof.profiles.classifier.submit_time import SUBMIT_FIELDS
from workprof.profiles.settings import MODES, ProfileSettings

RARE_SHARE = 0.0003
"""Of the training rows: what a value needs to stand for itself by default (30 rows at the paper's 100,001)."""

FEWEST_RARE_ROWS = 3
MOST_RARE_ROWS = 100_000
MOST_WRONG_COST = 100.0


@dataclass(frozen=True)
class ClassifierSettings:
    """Settings of one classifier.

    Attributes:
        profiles: the clustering whose labels are learned.
        fields: inputs, all known at submission; empty = the mode's (faithful: the published five; corrected: those and
            the plan).
        mode: 'corrected', or 'faithful' = as published: every value its own column, XGBoost's defaults, trained on the
            rows with a profile, never abstains.
        rare_rows: a value with fewer training rows is pooled as 'rare'; 0 = 0.03 % of the rows, at least 3.
        threshold: smallest probability of an answer; 0 = chosen on the inner hold-out.
        wrong_cost: what a wrong answer costs when a right one gains 1; the threshold is chosen for it.
        calibration_share: of the training rows, held out by job to choose rounds, temperature and threshold.
        least_support: a profile with fewer training rows is never answered.
        seed: of every random draw.
    """

    profiles: ProfileSettings = field(default_factory=ProfileSettings)
    fields: tuple[str, ...] = ()
    mode: str = "corrected"
    rare_rows: int = 0
    threshold: float = 0.0
    wrong_cost: float = 1.0
    calibration_share: float = 0.2
    least_support: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise SettingsError(f"mode is {self.mode!r}; use one of {', '.join(MODES)}")
        unknown = [name for name in self.fields if name not in SUBMIT_FIELDS]
        if unknown or len(set(self.fields)) < len(self.fields):
            raise SettingsError(
                f"fields are {', '.join(self.fields)}; choose each once from {', '.join(SUBMIT_FIELDS)}"
            )
        if not 0 <= self.rare_rows <= MOST_RARE_ROWS:
            raise SettingsError(f"rare_rows is {self.rare_rows}; give 0 (0.03 % of the rows) to {MOST_RARE_ROWS:,}")
        if not 0 <= self.threshold < 1:
            raise SettingsError(f"threshold is {self.threshold}; give 0 (chosen on a hold-out) to below 1")
        if not 0 < self.wrong_cost <= MOST_WRONG_COST:
            raise SettingsError(f"wrong_cost is {self.wrong_cost}; give more than 0, at most {MOST_WRONG_COST:g}")
        if not 0.05 <= self.calibration_share <= 0.5:
            raise SettingsError(f"calibration_share is {self.calibration_share}; give 0.05 to 0.5")
        if self.least_support < 1 or self.seed < 0:
            raise SettingsError("least_support is 1 or more, seed 0 or more")


def rare_rows_of(settings: ClassifierSettings, n_rows: int) -> int:
    """Return the rows that a value needs to stand for itself; in faithful mode 1, so that every value does."""
    if settings.mode == "faithful":
        return 1
    return settings.rare_rows or max(FEWEST_RARE_ROWS, round(RARE_SHARE * n_rows))
