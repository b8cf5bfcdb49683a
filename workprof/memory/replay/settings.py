"""What a replay is asked for."""

from __future__ import annotations

from dataclasses import dataclass, field

from workprof.errors import SettingsError
from workprof.memory.policies.catalogue import FURTHER, OURS, PEERS, POLICIES
from workprof.memory.policies.sizing_settings import SizingSettings
from workprof.memory.replay.protocols import PROTOCOLS, SIZEY, SIZEY_INPUT, SIZEY_TARGET, SUBMIT_TIME
from workprof.memory.retry import RetrySettings
from workprof.memory.runs import USAGE_COLUMNS

NO_INPUT = "none"
AFTER_THE_RUN = ("rchar", "wchar", "syscr", "syscw", "read_bytes", "write_bytes", "read_count", "write_count")
"""Columns that are known only when a run has ended: to size from them is optimistic."""

PRICES = (0.0, 0.05, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
"""Prices of a failure, in mean runs, that make the frontier."""


@dataclass(frozen=True)
class ReplaySettings:
    """Settings of a replay.

    Attributes:
        policies: names, see `POLICIES`; the default is ours and its peers.
        protocol: 'submit-time' or 'sizey'; the latter implies the target rss and the input rchar, for every policy.
        seeds: of the shuffles; figures are means over them. The order of submission has no seed: one is used.
        target: what is sized for: 'peak_rss' or 'rss'.
        input_column: a column with numbers known before the run, 'none' = no input.
        cold_runs: in the order of submission, runs of each task that start at their request.
        retry: how failures are lifted and charged.
        sizing: price and beliefs of the policy `workprof`.
        prices_runs: prices of a failure, in mean runs, for the frontier; () = no frontier.
    """

    policies: tuple[str, ...] = OURS + PEERS
    protocol: str = SUBMIT_TIME
    seeds: tuple[int, ...] = (1996,)
    target: str = "peak_rss"
    input_column: str = NO_INPUT
    cold_runs: int = 10
    retry: RetrySettings = field(default_factory=RetrySettings)
    sizing: SizingSettings = field(default_factory=SizingSettings)
    prices_runs: tuple[float, ...] = PRICES

    def __post_init__(self) -> None:
        unknown = sorted(set(self.policies) - set(POLICIES))
        if unknown or not self.policies:
            raise SettingsError(f"policies are {', '.join(unknown) or 'none'}; choose from {', '.join(POLICIES)}")
        if self.protocol not in PROTOCOLS:
            raise SettingsError(f"protocol is {self.protocol!r}; choose from {', '.join(PROTOCOLS)}")
        if self.target not in USAGE_COLUMNS:
            raise SettingsError(f"target is {self.target!r}; choose from {', '.join(USAGE_COLUMNS)}")
        if not self.seeds or not all(0 <= seed < 2**32 for seed in self.seeds):
            raise SettingsError(f"seeds are {self.seeds}; give at least one, each from 0 to 4,294,967,295")
        if not 2 <= self.cold_runs <= 10_000:
            raise SettingsError(f"cold runs is {self.cold_runs}; give 2 to 10,000")
        if not all(0 <= price <= 1e6 for price in self.prices_runs):
            raise SettingsError(f"prices are {self.prices_runs}; give 0 to 1,000,000 mean runs")

    @property
    def used_target(self) -> str:
        """The target that counts."""
        return SIZEY_TARGET if self.protocol == SIZEY else self.target

    @property
    def used_input(self) -> str:
        """The input that counts."""
        return SIZEY_INPUT if self.protocol == SIZEY else self.input_column

    @property
    def used_seeds(self) -> tuple[int, ...]:
        """The seeds that count."""
        return tuple(dict.fromkeys(self.seeds)) if self.protocol == SIZEY else self.seeds[:1]


def all_policies() -> tuple[str, ...]:
    """Return every policy that could be used; oracles, which look at the true use, are no policies."""
    return OURS + PEERS + FURTHER
