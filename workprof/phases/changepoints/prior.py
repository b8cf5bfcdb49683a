"""What is believed about a phase before its first sample."""

from __future__ import annotations

from dataclasses import dataclass

from workprof.phases.changepoints.settings import (
    ALPHA0,
    FAITHFUL_BETA0,
    FAITHFUL_KAPPA0,
    NARROWEST_LEVELS,
    ChangePointSettings,
)


@dataclass(frozen=True)
class Prior:
    """What is believed before the first sample of a phase; the prior mean is 0.

    Attributes:
        kappa0: weight of the prior mean, in samples.
        alpha0: shape of the variance.
        beta0: scale of the variance.
        hazard_samples: expected length of a phase.
        prune: stretches less probable than this times the hazard are dropped, 0 = none.
    """

    kappa0: float
    alpha0: float
    beta0: float
    hazard_samples: float
    prune: float = 0.0


def follows_noise(settings: ChangePointSettings) -> bool:
    """Return whether the prior scales with the noise of each counter: in corrected mode, unless beta0 is given."""
    return settings.mode == "corrected" and settings.beta0 is None


def prior_of(settings: ChangePointSettings, n_samples: int, spread: float) -> Prior:
    """Return the prior of a series, in units of `StandardSeries.scale`.

    The levels of phases are expected as far from the prior mean as the counter strays from it, and a bit further. With
    one width for all, a counter that rises to a hundred times its noise would have to be noisy up there (the two are
    coupled in this prior), and its smaller steps would be missed.

    Args:
        settings: of the search.
        n_samples: length of the series.
        spread: mean square of the standard values; of several counters together, its mean.
    """
    alpha0 = ALPHA0[settings.mode] if settings.alpha0 is None else settings.alpha0
    kappa0, beta0 = settings.kappa0, settings.beta0
    if kappa0 is None:
        kappa0 = FAITHFUL_KAPPA0 if settings.mode == "faithful" else 1 / (NARROWEST_LEVELS + spread)
    if beta0 is None:
        beta0 = alpha0 if follows_noise(settings) else FAITHFUL_BETA0
    return Prior(
        kappa0=kappa0,
        alpha0=alpha0,
        beta0=beta0,
        hazard_samples=settings.hazard_for(n_samples),
        prune=settings.prune_for(n_samples),
    )
