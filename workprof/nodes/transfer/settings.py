"""What is asked of a transfer."""

from __future__ import annotations

from dataclasses import dataclass

from workprof.errors import SettingsError
from workprof.nodes.transfer.factors import DEFAULT_FACTOR, FACTORS, factor_named


@dataclass(frozen=True)
class TransferSettings:
    """From which machine to which, by which factors.

    Attributes:
        local: the machine that was learned on.
        targets: the machines that are predicted.
        factors: names in `FACTORS`.
        confidence: of intervals, 0.5 to 0.99.
        seed: of Online-P's draws.

    Raises:
        SettingsError: for a name that is not known or twice there, or a confidence out of bounds.
    """

    local: str
    targets: tuple[str, ...]
    factors: tuple[str, ...] = tuple(FACTORS)
    confidence: float = 0.9
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.local or not self.targets:
            raise SettingsError("name one local machine and at least one target")
        if len(set(self.targets)) < len(self.targets):
            raise SettingsError(f"targets are {', '.join(self.targets)}; name each once")
        for name in self.factors:
            factor_named(name)
        if not 0.5 <= self.confidence <= 0.99:
            raise SettingsError(f"confidence is {self.confidence}; give a share from 0.5 to 0.99")

    @property
    def default(self) -> str:
        """Return the name of our factor."""
        return DEFAULT_FACTOR
