"""How the phases of a run are found: method, read-out, prior, hazard, and what counts as a phase."""

from __future__ import annotations

from dataclasses import dataclass

from workprof.errors import SettingsError

MODES = ("corrected", "faithful")
METHODS = ("bcpd", "pelt", "binseg", "kernel")
READOUTS = ("path", "exact", "drop")
PHASES = ("per_counter", "joint")

SHORTEST_SERIES = 4
"""Fewer samples have no change."""

LEAST_HAZARD_SAMPLES = {"corrected": 30.0, "faithful": 15.0}
HAZARD_SHARE = 0.25

PRUNE_FROM_SAMPLES = 4000
PRUNE_BELOW = 1e-3
"""An hour keeps every run length; from 4,000 samples on the less probable ones are dropped unless told otherwise: those
below a thousandth of a fresh change, which is a millionth of all where a change is expected every 1,000 samples."""

READOUT = {"corrected": "exact", "faithful": "path"}
FAITHFUL_KAPPA0 = 1.0
ALPHA0 = {"corrected": 4.0, "faithful": 1.0}
FAITHFUL_BETA0 = 0.1
NARROWEST_LEVELS = 5.0
"""Corrected priors and read-out are those that did best on drawn steps of 3 noise sd, none, one and two in 30 samples;
half and twice of alpha0 and of the levels' width did about as well. The tests of planted steps keep the figures."""


@dataclass(frozen=True)
class ChangePointSettings:
    """Settings of a search for change points. None = the mode's own value.

    Attributes:
        method: 'bcpd' (Bayesian, ours); 'pelt', 'binseg' or 'kernel' (ruptures).
        readout: of 'bcpd': 'exact' is the most probable segmentation of the whole series, 'path' follows the most
            probable run lengths back from the end, 'drop' is what was seen on-line; None = 'exact' (faithful: 'path').
        phases: 'per_counter', or 'joint' = one set of phases for all counters together.
        hazard_samples: expected length of a phase; None = a quarter of the series, at least 30 (faithful: 15).
        min_samples: shorter phases join the neighbour with the closer mean.
        max_phases: of a counter; the weakest changes beyond it are left out and counted.
        penalty: of the methods of ruptures, per change; None = by the length, see `alternatives.py`.
        mu0: prior mean of a phase; None = the median of the series.
        kappa0: weight of that mean, in samples; None = by how far the counter strays from it, see `prior.py`
            (faithful: 1).
        alpha0: shape of the prior of a phase's variance.
        beta0: its scale; None = alpha0 noise variances, see `noise.py` (faithful: 0.1).
        prune: run lengths less probable than this times the hazard are dropped; 0 = none; None = 0 below 4,000
            samples, else 0.001.
        mode: 'corrected', or 'faithful' = plain priors and the `path`; the paper names neither.
    """

    method: str = "bcpd"
    readout: str | None = None
    phases: str = "per_counter"
    hazard_samples: float | None = None
    min_samples: int = 2
    max_phases: int = 8
    penalty: float | None = None
    mu0: float | None = None
    kappa0: float | None = None
    alpha0: float | None = None
    beta0: float | None = None
    prune: float | None = None
    mode: str = "corrected"

    def __post_init__(self) -> None:
        _check_choice("mode", self.mode, MODES)
        _check_choice("method", self.method, METHODS)
        _check_choice("readout", self.chosen_readout, READOUTS)
        _check_choice("phases", self.phases, PHASES)
        if self.hazard_samples is not None and not 1 < self.hazard_samples < float("inf"):
            raise SettingsError(f"hazard_samples is {self.hazard_samples}; give the samples of a phase, above 1")
        for name in ("penalty", "kappa0", "alpha0", "beta0"):
            value = getattr(self, name)
            if value is not None and not 0 < value < float("inf"):
                raise SettingsError(f"{name} is {value}; give a number above 0, or nothing for the default")
        if self.mu0 is not None and not abs(self.mu0) < float("inf"):
            raise SettingsError(f"mu0 is {self.mu0}; give a finite number, or nothing for the median")
        if self.min_samples < 1 or self.max_phases < 1:
            raise SettingsError(
                f"min_samples is {self.min_samples} and max_phases {self.max_phases}; give 1 or more of both"
            )
        if self.prune is not None and not 0 <= self.prune <= 0.1:
            raise SettingsError(f"prune is {self.prune}; give a share of the hazard between 0 (keep all) and 0.1")

    @property
    def chosen_readout(self) -> str:
        """The read-out asked for, or the mode's."""
        return READOUT[self.mode] if self.readout is None else self.readout

    def hazard_for(self, n_samples: int) -> float:
        """Return the expected length of a phase of a series, in samples."""
        if self.hazard_samples is not None:
            return self.hazard_samples
        return max(LEAST_HAZARD_SAMPLES[self.mode], HAZARD_SHARE * n_samples)

    def prune_for(self, n_samples: int) -> float:
        """Return below which share of the hazard run lengths are dropped, 0 = none."""
        if self.prune is not None:
            return self.prune
        return PRUNE_BELOW if n_samples >= PRUNE_FROM_SAMPLES else 0.0


def _check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise SettingsError(f"{name} is {value!r}; choose from {', '.join(choices)}")
