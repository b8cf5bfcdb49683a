"""What was computed, as pages and commands show it: kept runs, work without a result, two runs side by side."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class StoredRun:
    """One kept computation.

    Attributes:
        run: its short name, 12 hexadecimal digits.
        key: under which its result is kept.
        finds: the result in a few words.
        step: its name; a clustering whose labels it rests on is left out of it.
        clustering: key of that clustering; '' = none.
        dataset, dataset_hash: what it is about.
        settings: as they were, nothing left open.
        changed: path -> value as text of those that are not the step's defaults.
        changed_words: the same in words: label of the setting -> its value with its unit.
        seed: of its draws; None where it makes none.
        versions: of workprof, the step and Python.
        current: whether the step is still computed in this way.
        seconds: of the computation.
        created: ISO 8601, UTC.
        pinned: it stays when the disk's share is full and others go.
        size_bytes: on disk.
    """

    run: str
    key: str
    step: str
    finds: str
    clustering: str
    dataset: str
    dataset_hash: str
    settings: dict[str, Any]
    changed: dict[str, str]
    seed: int | None
    versions: dict[str, str]
    current: bool
    seconds: float
    created: str
    pinned: bool
    size_bytes: int
    changed_words: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class RunAgain:
    """How to have a run again.

    Attributes:
        python, shell: '' where it cannot be asked so.
        why_no_python, why_no_shell: then.
        settings: the record, for whoever wants to show it elsewhere; None where it can no longer be read.
    """

    python: str
    shell: str
    why_no_python: str
    why_no_shell: str
    settings: object | None


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
    """Two runs of one step.

    Attributes:
        before, after: the runs.
        settings: those that differ.
        numbers: those of the results that differ.
        n_equal: numbers that are equal.
        notes: what limits the comparison.
    """

    before: StoredRun
    after: StoredRun
    settings: tuple[SettingChange, ...]
    numbers: tuple[NumberChange, ...]
    n_equal: int
    notes: tuple[str, ...]
