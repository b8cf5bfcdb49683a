"""How far campaigns are: the state of every run of one, and the campaigns that were run from a home folder."""

import contextlib
import itertools
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from workprof.campaign.journal import Journal, RunState
from workprof.campaign.plan import Plan, read_plan
from workprof.core.campaigns import DONE, WAYS, CampaignStatus, RunStatus, WayTaken
from workprof.core.errors import SettingsError
from workprof.core.records import digest
from workprof.core.table import Column
from workprof.store.home import make_folder, write_private

KNOWN = "campaigns"
"""Folder of the home: a file for each campaign that was run from it."""
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
