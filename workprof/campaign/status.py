"""How far campaigns are: the state of every run of one, and the campaigns that were run from a home folder."""

import contextlib
import itertools
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from workprof.campaign.journal import Journal, RunState
from workprof.campaign.plan import Plan, read_plan
from workprof.core.errors import SettingsError
from workprof.core.records import digest
from workprof.core.table import Column
from workprof.store.home import make_folder, write_private

KNOWN = "campaigns"
"""Folder of the home: a file for each campaign that was run from it."""
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


RUNS = (
    Column("run", pinned=True, width="medium"),
    Column("state", width="small"),
    Column("attempt", form="%d", help="From 1; each further attempt gets more memory."),
    Column("reason", width="large", help="Of a failure, or why there is no size."),
    Column("command"),
    Column("input"),
    Column("node"),
    Column("repeat", form="%d"),
    Column("size_gb", heading="size", form="%.3g GB", help="To request from now on, of the command."),
)


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


def status_of(plan: Plan, journal: Journal, path: Path) -> CampaignStatus:
    """The states of a campaign, counted and run by run; `path` is that of the plan."""
    nothing = RunState("", "REGISTERED")
    states = [journal.states.get(run.name, nothing) for run in plan.runs]
    runs = tuple(
        RunStatus(
            *(one.name, one.command, one.input, one.node.name, one.repeat),
            *(state.state, state.attempt, state.size_gb, state.reason),
        )
        for one, state in zip(plan.runs, states, strict=True)
    )
    counts = Counter(one.state for one in runs)
    done = sum(counts[name] for name in DONE)
    last = max((state.at for state in states), default=0.0)
    rounds = Counter(one.state for name, one in journal.states.items() if name.startswith("suite."))
    ways = _ways([journal.ways.get(run.name, []) for run in plan.runs])
    return CampaignStatus(plan.name, str(path), str(journal.folder), done, dict(counts), runs, last, ways, dict(rounds))


def _ways(passed: Iterable[Sequence[str]]) -> tuple[WayTaken, ...]:
    runs, times = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for states in passed:
        steps = list(itertools.pairwise(states))
        times.update(steps)
        runs.update(set(steps))
    return tuple(WayTaken(*way, WAYS.get(way, ""), runs[way], times[way]) for way in dict.fromkeys([*WAYS, *times]))


def failures(runs: Iterable[RunStatus]) -> list[str]:
    """What failed, most often first: '4 runs of align failed: exit 137'; each run has its whole reason."""
    counts = Counter((one.command, one.reason.partition(":")[0]) for one in runs if one.state == "FAILED")
    return [
        f"{count:,} {'run' if count == 1 else 'runs'} of {command} failed: {reason}"
        for (command, reason), count in counts.most_common()
    ]


def enlist(home: Path, plan: Path, folder: Path) -> None:
    """Note in a home folder that a campaign is run from it, for its dashboard."""
    named = {"plan": str(plan.resolve()), "folder": str(folder.resolve())}
    make_folder(home)
    make_folder(home / KNOWN)
    write_private(home / KNOWN / f"{digest(named['folder'])[:16]}.json", json.dumps(named))


def enlisted(home: Path) -> tuple[tuple[CampaignStatus, ...], tuple[str, ...]]:
    """The campaigns that were run from a home, the last changed first, and what cannot be read of the others."""
    result: list[CampaignStatus] = []
    failed: list[str] = []
    for file in sorted((home / KNOWN).glob("*.json")):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):  # not of ours
            named = json.loads(file.read_text(encoding="utf-8"))
            plan, folder = Path(named["plan"]), Path(named["folder"])
            try:
                result.append(status_of(read_plan(plan), Journal(folder), plan))
            except (SettingsError, OSError) as error:
                failed.append(str(error))
    return tuple(sorted(result, key=lambda one: -one.changed_at)), tuple(failed)
