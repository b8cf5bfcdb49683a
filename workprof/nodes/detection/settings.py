"""What is asked of the detection of degraded runs."""

from __future__ import annotations

from dataclasses import dataclass

from workprof.errors import SettingsError

CORRECTED, FAITHFUL = "corrected", "faithful"
MODES = (CORRECTED, FAITHFUL)

PERONA, COMBINED, CHOSEN = "perona", "combined", "chosen"
RULES = ("robust-z", "ewma", "mahalanobis")
"""Baselines that learn nothing from labels."""

FOREST, LOGISTIC = "isolation-forest", "logistic"
BASELINES = (*RULES, FOREST, LOGISTIC)
DETECTORS = (PERONA, *BASELINES, COMBINED)


@dataclass(frozen=True)
class DetectSettings:
    """How degraded runs are looked for.

    Attributes:
        mode: 'corrected', or 'faithful': published network, no calibration, threshold 0.5.
        detector: one of `DETECTORS`, or 'chosen': the best on validation inside the training part.
        train_share: of the runs of each (node, benchmark) by time, where no other dataset is trained on.
        false_alarm_share: of normal runs that may be flagged at most, 0-1; by validation, not by promise.
        trials: of the search over the published space of the network; 0 = our recipe.
        epochs: passes of the training; 0 = the recipe's.
        seed: of every draw.

    Raises:
        SettingsError: for an unknown name or a number out of bounds.
    """

    mode: str = CORRECTED
    detector: str = CHOSEN
    train_share: float = 0.6
    false_alarm_share: float = 0.05
    trials: int = 0
    epochs: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise SettingsError(f"mode is {self.mode!r}; choose from {', '.join(MODES)}")
        if self.detector not in (CHOSEN, *DETECTORS):
            raise SettingsError(f"detector is {self.detector!r}; choose from {', '.join((CHOSEN, *DETECTORS))}")
        for name, least, most in (
            ("train_share", 0.1, 0.9),
            ("false_alarm_share", 0.001, 0.5),
            ("trials", 0, 1000),
            ("epochs", 0, 1000),
            ("seed", 0, 2**31 - 1),
        ):
            value = getattr(self, name)
            if not least <= value <= most:
                raise SettingsError(f"{name} is {value}; give a number from {least} to {most}")

        if self.trials and self.is_faithful:
            raise SettingsError(f"trials is {self.trials}; the search is of mode {CORRECTED}, leave it out")

    @property
    def is_faithful(self) -> bool:
        """Whether published definitions are asked for."""
        return self.mode == FAITHFUL
