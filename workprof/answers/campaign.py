"""Campaigns: the states of the runs, what they mean, and the ways that runs take between them."""

from dataclasses import dataclass

from workprof.core.answer import Answer, Table
from workprof.core.campaigns import STATES, CampaignStatus
from workprof.core.table import Column
from workprof.core.words import counted


@dataclass(frozen=True)
class StateCount:
    """A state, and the runs that are in it."""

    state: str
    meaning: str
    runs: int


STATE_COUNTS = (
    Column("state", heading="State"),
    Column("runs", heading="Runs", unit="count"),
    Column("meaning", heading="Meaning", width="large"),
)
WAYS = (
    Column("before", heading="From"),
    Column("after", heading="To"),
    Column("runs", heading="Runs", unit="count"),
    Column("times", heading="Times", unit="count"),
    Column("when", heading="When", width="large"),
)


def states_answer(status: CampaignStatus) -> Answer:
    """How far a campaign is, its runs by state, and the ways that they took."""
    rounds = ", ".join(f"{count:,} {state}" for state, count in status.rounds.items())
    return Answer(
        states_sentence(status),
        tables=(
            Table(
                "states",
                "States",
                STATE_COUNTS,
                tuple(StateCount(name, meaning, status.states.get(name, 0)) for name, meaning in STATES.items()),
            ),
            Table("ways", "Ways between them", WAYS, status.ways),
        ),
        notes=(f"Benchmarks of nodes between the runs: {rounds}.",) if rounds else (),
        document={"campaign": status.campaign, "done": status.done, "rounds": status.rounds},
    )


def states_sentence(status: CampaignStatus) -> str:
    """How far a campaign is: '12 of 16 runs of trial are done: 12 SIZED, 4 FAILED.'."""
    counts = ", ".join(f"{count:,} {name}" for name, count in status.states.items())
    return f"{status.done:,} of {counted(len(status.runs), 'run')} of {status.campaign} are done: {counts}."
