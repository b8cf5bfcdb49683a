"""How finished jobs are followed: windows, decay, what counts as drift, when to advise another clustering."""

from __future__ import annotations

from dataclasses import dataclass, field

from workprof.errors import SettingsError
from workprof.profiles.forecaster import ForecasterSettings

SMALLEST_WINDOW = 20
LARGEST_WINDOW = 100_000


@dataclass(frozen=True)
class FeedbackSettings:
    """Settings of the feedback loop.

    Attributes:
        forecaster: the model that is followed; it decides which state an observation continues.
        window_jobs: newest rows that are remembered per profile.
        half_life_days: after so many days on the trace's clock a job counts half; 0 = every job in the window the same.
        recent_jobs: newest rows over all profiles on which outliers, agreement and ACQUIRES are measured.
        kept_jobs: newest finished rows that are kept whole for the next refit.
        least_jobs: independent jobs (rows of one job count together) below which nothing is called drift, and up to
            which the jobs of the fit stand in when quantiles are asked for.
        alarm_share: how often, where nothing drifts, one check may find drift anywhere (Holm over all its tests);
            small, since each new file is another look.
        least_factor: smallest change of the median error that matters, as a factor.
        least_distance: smallest Kolmogorov-Smirnov distance that matters, 0-1.
        least_outlier_rise: smallest rise of the outliers' share that matters, 0-1.
        drifted_share: of the recent jobs; where profiles with drift hold more, another clustering is advised.
        acquires_drop: below ACQUIRES at the fit at which another clustering is advised.
        refit: cluster and train again by itself whenever that is advised.
    """

    forecaster: ForecasterSettings = field(default_factory=ForecasterSettings)
    window_jobs: int = 1_000
    half_life_days: float = 30.0
    recent_jobs: int = 2_000
    kept_jobs: int = 50_000
    least_jobs: int = 20
    alarm_share: float = 0.01
    least_factor: float = 1.25
    least_distance: float = 0.15
    least_outlier_rise: float = 0.1
    drifted_share: float = 0.3
    acquires_drop: float = 0.15
    refit: bool = False

    def __post_init__(self) -> None:
        for name in ("window_jobs", "recent_jobs", "kept_jobs"):
            size = getattr(self, name)
            if not SMALLEST_WINDOW <= size <= LARGEST_WINDOW:
                raise SettingsError(f"{name} is {size}; give {SMALLEST_WINDOW} to {LARGEST_WINDOW:,}")
        if not 5 <= self.least_jobs <= self.window_jobs:
            raise SettingsError(f"least_jobs is {self.least_jobs}; give 5 to window_jobs ({self.window_jobs})")
        if not 0 <= self.half_life_days < float("inf"):
            raise SettingsError(f"half_life_days is {self.half_life_days}; give days, or 0 for no decay")
        if not 0 < self.alarm_share <= 0.2:
            raise SettingsError(f"alarm_share is {self.alarm_share}; give more than 0, at most 0.2")
        if self.least_factor < 1 or self.acquires_drop < 0:
            raise SettingsError("least_factor is 1 or more, acquires_drop 0 or more")
        for name in ("least_distance", "least_outlier_rise", "drifted_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise SettingsError(f"{name} is {getattr(self, name)}; give a share from 0 to 1")
