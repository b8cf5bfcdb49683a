"""A campaign, as pages and commands show it: the state of every run, and the ways between states."""

from dataclasses import dataclass, field

DONE, OPEN = ("PROFILED", "SIZED"), ("DEPLOYED", "RUNNING")

STATES = {
    "REGISTERED": "in the plan",
    "DEPLOYED": "its turn has come",
    "RUNNING": "an attempt was handed to its node",
    "PROFILED": "an attempt ended with 0; its use is kept",
    "SIZED": "all runs have ended, they are a dataset, and the command has a size (or the reason why not)",
    "FAILED": "the last attempt failed",
}
"""State -> what it means."""
WAYS = {
    ("REGISTERED", "DEPLOYED"): "its turn has come",
    ("DEPLOYED", "RUNNING"): "handed to its node",
    ("RUNNING", "PROFILED"): "the attempt ended with 0",
    ("RUNNING", "RUNNING"): "the attempt failed, and the next has more memory",
    ("RUNNING", "FAILED"): "the last attempt failed",
    ("PROFILED", "SIZED"): "all runs have ended, and are imported and sized",
    ("FAILED", "DEPLOYED"): "tried again, by option --failed",
    ("DEPLOYED", "DEPLOYED"): "the campaign was killed before the attempt, and goes on",
    ("RUNNING", "DEPLOYED"): "the campaign was killed during the attempt, and goes on",
}
"""From one state to another -> when a run takes that way."""


@dataclass(frozen=True)
class WayTaken:
    """How often runs went from one state to another."""

    before: str
    after: str
    when: str  # in words; '' = by a journal that was changed by hand
    runs: int  # runs that went so, some of them several times
    times: int


@dataclass(frozen=True)
class RunStatus:
    """The last that is known of a run; `size_gb` is what to request from now on, `reason` is of a failure."""

    run: str
    command: str
    input: str
    node: str
    repeat: int
    state: str
    attempt: int
    size_gb: float | None
    reason: str


@dataclass(frozen=True)
class CampaignStatus:
    """A campaign: `done` runs are profiled, `states` counts runs, `changed_at` is in seconds since 1970 (0 = never)."""

    campaign: str
    plan: str
    folder: str
    done: int
    states: dict[str, int]
    runs: tuple[RunStatus, ...]
    changed_at: float
    ways: tuple[WayTaken, ...] = ()  # those of `WAYS`, then any other that was taken
    rounds: dict[str, int] = field(default_factory=dict)  # state -> benchmarks of a node between runs

    @property
    def running(self) -> int:
        """Runs that were begun and have not ended."""
        return sum(self.states.get(name, 0) for name in OPEN)
