"""What was computed, as pages and commands show it: kept runs, work without a result, two runs side by side."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class StoredRun:
    """One kept computation."""

    run: str  # its short name, 12 hexadecimal digits
    key: str  # under which its result is kept
    step: str  # its name; a clustering whose labels it rests on is left out of it
    finds: str  # the result in a few words
    clustering: str  # key of that clustering; '' = none
    dataset: str  # and `dataset_hash`: what it is about
    dataset_hash: str
    settings: dict[str, Any]  # as they were, nothing left open
    changed: dict[str, str]  # path -> value as text of those that are not the step's defaults
    seed: int | None  # of its draws; None where it makes none
    versions: dict[str, str]  # of workprof, the step and Python
    current: bool  # whether the step is still computed in this way
    seconds: float  # of the computation
    created: str  # ISO 8601, UTC
    pinned: bool  # it stays when the disk's share is full and others go
    size_bytes: int  # on disk


@dataclass(frozen=True)
class RunAgain:
    """How to have a run again."""

    python: str  # and `shell`: '' where it cannot be asked so
    shell: str
    why_no_python: str  # and `why_no_shell`: then
    why_no_shell: str
    settings: object | None  # the record, for whoever wants to show it elsewhere; None where it can no longer be read


@dataclass(frozen=True)
class OpenJob:
    """A computation that has no result: it waits, runs, failed or was cancelled since the start of this process."""

    step: str
    finds: str
    dataset: str
    state: str
    message: str
    started: float
    elapsed_s: float


@dataclass(frozen=True)
class SettingChange:
    """A setting by its path ('plan.rule') and its two values as text."""

    setting: str
    before: str
    after: str


@dataclass(frozen=True)
class NumberChange:
    """A number of the result by its path ('scores.n_clusters') and its two values; NaN = no such number there."""

    number: str
    before: float
    after: float


@dataclass(frozen=True)
class RunComparison:
    """Two runs of one step."""

    before: StoredRun  # and `after`: the runs
    after: StoredRun
    settings: tuple[SettingChange, ...]  # those that differ
    numbers: tuple[NumberChange, ...]  # those of the results that differ
    n_equal: int  # numbers that are equal
    notes: tuple[str, ...]  # what limits the comparison


@dataclass(frozen=True)
class MlflowExport:
    """What was written as runs of MLflow."""

    folder: str
    written: int  # results that are runs there now
    models: int  # further runs: the single models of a training, each within the training's run
    already_there: int  # results that the folder had; they stay as they are
    without_numbers: int  # of those written, results of an older version: settings, no metrics
