"""What a loader hands to the ingest: the staged table's meaning and counts."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from workprof.store.compile import Plan
from workprof.store.reports import Check, Column, JoinStep


@dataclass(frozen=True)
class Stage:
    """Names of the tables that a loader fills; the ingest renames them, or drops them."""

    rows: str
    rejects: str


@dataclass(frozen=True)
class Loaded:
    """The staged rows."""

    columns: tuple[Column, ...]
    aliases: Mapping[str, str]
    rows_read: int
    rows: int
    finished_rows: int
    rejected: int
    checks: tuple[Check, ...]
    joins: tuple[JoinStep, ...] = ()
    mode: str = "corrected"  # 'corrected' or 'faithful'
    dropped: int = 0  # duplicates that were left out because the options ask so
    kind: str = "jobs"  # 'jobs', 'benchmarks', 'telemetry' or 'configurations'
    lost: int = 0  # lines of a text that are neither in a row nor rejected


@dataclass(frozen=True)
class Joined:
    """What a join of the raw tables staged."""

    plan: Plan
    steps: tuple[JoinStep, ...]
    checks: tuple[Check, ...]
    rows_read: int  # of the instance table, and the rejects of the other tables
    rejected: int
    one_to_many: tuple[str, ...] = ()  # steps that are meant to multiply rows
    # table -> its rows, where it was read whole and no row refused
    whole: Mapping[str, int] = field(default_factory=dict)


def step(name: str, rows_in: int, rows_out: int) -> JoinStep:
    """A step with its fan-out (0 where nothing came in)."""
    return JoinStep(name, rows_in, rows_out, rows_out / rows_in if rows_in else 0.0)
