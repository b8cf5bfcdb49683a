"""What the catalogue of kept computations tells: one run, two runs side by side, one that runs now."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import Any

import numpy as np

from workprof.records import canonical_json

RUN_DIGITS = 12
MOST_DEPTH = 3
SEEDS = ("seed", "seeds")
NOT_COMPARED = ("settings", "seconds", "step_seconds")
"""Of a result: its settings are compared on their own, its time differs from run to run."""


@dataclass(frozen=True)
class KeptRun:
    """One kept computation.

    Attributes:
        run: its short name, 12 hexadecimal digits.
        key: under which its result is kept.
        step: its name; a clustering whose labels it rests on is left out of it.
        clustering: key of that clustering; '' = none.
        dataset, dataset_hash: what it is about.
        settings: as they were, nothing left open.
        changed: path -> value as text of those that are not the step's defaults.
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

    before: KeptRun
    after: KeptRun
    settings: tuple[SettingChange, ...]
    numbers: tuple[NumberChange, ...]
    n_equal: int
    notes: tuple[str, ...]


def seed_of(settings: dict[str, Any]) -> int | None:
    """Return the seed of a computation: its own, else the first that stands in the settings within."""
    for name in SEEDS:
        found = settings.get(name)
        if isinstance(found, list) and found:
            found = found[0]
        if isinstance(found, int):
            return found
    within = (seed_of(value) for value in settings.values() if isinstance(value, dict))
    return next((seed for seed in within if seed is not None), None)


def flat_settings(settings: dict[str, Any], prefix: str = "") -> dict[str, str]:
    """Return path -> value as text."""
    found: dict[str, str] = {}
    for name, value in settings.items():
        if isinstance(value, dict) and value:
            found |= flat_settings(value, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = value if isinstance(value, str) else json.dumps(value)
    return found


def default_settings(cls: type[Any]) -> dict[str, str]:
    """Return path -> default as text of a class of settings; nothing where it cannot be made without an argument."""
    if any(one.default is MISSING and one.default_factory is MISSING for one in fields(cls)):
        return {}
    return flat_settings(json.loads(canonical_json(cls())))


def numbers_of(record: object) -> dict[str, float]:
    """Return path -> number for every single number of a result, three records deep; arrays and lists are left out."""
    return dict(_numbers(record, "", 0))


def _numbers(value: object, path: str, depth: int) -> Iterator[tuple[str, float]]:
    if isinstance(value, (bool, int, float, np.generic)):
        if np.isreal(value):
            yield path, float(value)
        return
    if depth > MOST_DEPTH:
        return
    if is_dataclass(value) and not isinstance(value, type):
        inside = {one.name: getattr(value, one.name) for one in fields(value) if one.name not in NOT_COMPARED}
    elif isinstance(value, dict):
        inside = value
    else:
        return
    for name, item in inside.items():
        yield from _numbers(item, f"{path}.{name}" if path else str(name), depth + 1)


def changes(before: dict[str, str], after: dict[str, str]) -> tuple[SettingChange, ...]:
    """Return the settings that differ; a missing one is written as 'none'."""
    names = dict.fromkeys([*before, *after])
    pairs = ((name, before.get(name, "none"), after.get(name, "none")) for name in names)
    return tuple(SettingChange(*pair) for pair in pairs if pair[1] != pair[2])


def number_changes(before: dict[str, float], after: dict[str, float]) -> tuple[tuple[NumberChange, ...], int]:
    """Return the numbers that differ, and how many are equal."""
    names = list(dict.fromkeys([*before, *after]))
    nan = float("nan")
    pairs = [NumberChange(name, before.get(name, nan), after.get(name, nan)) for name in names]
    differ = tuple(pair for pair in pairs if not np.array_equal(pair.before, pair.after, equal_nan=True))
    return differ, len(pairs) - len(differ)


def limits(first: KeptRun, second: KeptRun, read: bool) -> tuple[str, ...]:
    """Return what limits a comparison."""
    told = {
        "their numbers cannot be set side by side: a result is of an older version, or cannot be read": not read,
        "the runs are about different datasets": first.dataset_hash != second.dataset_hash,
        "the runs rest on different clusterings": first.clustering != second.clustering,
    }
    return tuple(words for words, holds in told.items() if holds)
