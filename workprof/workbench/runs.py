"""What was computed: the kept runs, two of them side by side, how to have one again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, TypeVar

import numpy as np

from workprof.cache import CachedEntry
from workprof.core.errors import NotEnoughData, SettingsError
from workprof.core.fields import differences, write
from workprof.core.question import address_of, python_of, shell_of
from workprof.core.records import Packed, canonical_json, digest, unpack
from workprof.core.roles import PIN, REMOVE_RESULT, UNPIN
from workprof.core.runs import NumberChange, OpenJob, RunAgain, RunComparison, SettingChange, StoredRun
from workprof.core.scope import SIGN, split
from workprof.jobs import JobView
from workprof.profiles.settings import ProfileSettings
from workprof.workbench.declared import STORED, question_of
from workprof.workbench.forecasts import ForecastQuestions

Value = TypeVar("Value")

RUN_DIGITS = 12
MOST_DEPTH = 3
SEEDS = ("seed", "seeds")
NOT_COMPARED = ("settings", "seconds", "step_seconds")
"""Of a result: its settings are compared on their own, its time differs from run to run."""


def seed_of(settings: dict[str, Any]) -> int | None:
    """The seed of a computation: its own, else the first that stands in the settings within."""
    for name in SEEDS:
        result = settings.get(name)
        if isinstance(result, list) and result:
            result = result[0]
        if isinstance(result, int):
            return result
    within = (seed_of(value) for value in settings.values() if isinstance(value, dict))
    return next((seed for seed in within if seed is not None), None)


def flat_settings(settings: dict[str, Any], prefix: str = "") -> dict[str, str]:
    """Path -> value as text."""
    result: dict[str, str] = {}
    for name, value in settings.items():
        if isinstance(value, dict) and value:
            result |= flat_settings(value, f"{prefix}{name}.")
        else:
            result[f"{prefix}{name}"] = value if isinstance(value, str) else json.dumps(value)
    return result


def default_settings(cls: type[Any]) -> dict[str, str]:
    """Path -> default as text of a class of settings; nothing where it cannot be made without an argument."""
    if any(one.default is MISSING and one.default_factory is MISSING for one in fields(cls)):
        return {}
    return flat_settings(json.loads(canonical_json(cls())))


def numbers_of(record: object) -> dict[str, float]:
    """Path -> number for every single number of a result, three records deep; arrays and lists are left out."""
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
    """The settings that differ; a missing one is written as 'none'."""
    names = dict.fromkeys([*before, *after])
    pairs = ((name, before.get(name, "none"), after.get(name, "none")) for name in names)
    return tuple(SettingChange(*pair) for pair in pairs if pair[1] != pair[2])


def number_changes(before: dict[str, float], after: dict[str, float]) -> tuple[tuple[NumberChange, ...], int]:
    """The numbers that differ, and how many are equal."""
    names = list(dict.fromkeys([*before, *after]))
    nan = float("nan")
    pairs = [NumberChange(name, before.get(name, nan), after.get(name, nan)) for name in names]
    differ = tuple(pair for pair in pairs if not np.array_equal(pair.before, pair.after, equal_nan=True))
    return differ, len(pairs) - len(differ)


def limits(first: StoredRun, second: StoredRun, read: bool) -> tuple[str, ...]:
    """What limits a comparison."""
    limiting = {
        "their numbers cannot be set side by side: a result is of an older version, or cannot be read": not read,
        "the runs are about different datasets": first.dataset_hash != second.dataset_hash,
        "the runs rest on different clusterings": first.clustering != second.clustering,
    }
    return tuple(words for words, holds in limiting.items() if holds)


RUN_NAME = re.compile(rf"[0-9a-f]{{6,{RUN_DIGITS}}}")


def fit_words(fit: ProfileSettings, usual: ProfileSettings | None) -> tuple[str, ...]:
    """The options `--fit NAME=VALUE` of a clustering, `usual` being the one that its mode alone stands for."""
    others = {leaf.path: write(leaf, value) for leaf, value in differences(usual, fit).items()}
    return tuple(word for name, text in ({"mode": fit.mode} | others).items() for word in ("--fit", f"{name}={text}"))


class RunQuestions(ForecastQuestions):
    """The questions of the Runs page and of `workprof runs`."""

    def stored_runs(self, beginning: str = "") -> tuple[StoredRun, ...]:
        """Every kept computation whose name begins so, newest first."""
        names = {entry.hash: entry.name for entry in self._store.datasets()}
        return tuple(_stored_run(entry, names) for entry in self._cache.entries(beginning))

    kept_runs = stored_runs  # the former name, for a release

    def stored_run(self, run: str) -> StoredRun:
        """One kept computation by its name or the beginning of it.

        Raises SettingsError when there is none, or more than one.
        """
        matching = self.stored_runs(run) if RUN_NAME.fullmatch(run) else ()
        if len(matching) != 1:
            what = "more than one saved result begins so" if matching else "there is no such saved result"
            raise SettingsError(f"run {run!r}: {what}; `workprof runs` lists them by their {RUN_DIGITS} digits")
        return matching[0]

    def pin_run(self, run: str, pinned: bool) -> StoredRun:
        """Keep a run whatever comes, or let it go with the others when space is needed; return how it stands.

        Raises:
            SettingsError: when there is no such run, or too much would be pinned.
            WorkprofError: on a read-only home.
        """
        self._store.refuse(PIN)
        self._cache.pin(self.stored_run(run).key, pinned)
        self._store.note(PIN if pinned else UNPIN, run)
        return self.stored_run(run)

    def remove_run(self, run: str) -> StoredRun:
        """Forget a kept result and return what was forgotten; asking again computes it again.

        Raises:
            SettingsError: when there is no such run.
            WorkprofError: on a read-only home.
        """
        self._store.refuse(REMOVE_RESULT)
        gone = self.stored_run(run)
        self._cache.remove(gone.key)
        self._store.note(REMOVE_RESULT, run)
        return gone

    def open_jobs(self) -> tuple[OpenJob, ...]:
        """The jobs since the start that left no result, newest first, but for what nobody asked and no data answers."""
        names = {entry.hash: entry.name for entry in self._store.datasets()}
        return tuple(_open_job(view, names) for view in self.jobs() if view.state != "done" and view.listed)

    def compare_runs(self, before: str, after: str) -> RunComparison:
        """Which settings and which numbers of two kept runs of one step differ.

        Raises SettingsError when the runs are of different steps.
        """
        first, second = self.stored_run(before), self.stored_run(after)
        if first.step != second.step:
            raise SettingsError(f"{first.step} and {second.step} cannot be compared; choose two runs of one step")
        one, other = self.stored_result(first.run), self.stored_result(second.run)
        read = one is not None and other is not None
        differ, n_equal = number_changes(numbers_of(one), numbers_of(other)) if read else ((), 0)
        settings = changes(flat_settings(first.settings), flat_settings(second.settings))
        return RunComparison(first, second, settings, differ, n_equal, limits(first, second, read))

    def run_in_python(self, run: str) -> str:
        """Python that asks for a run's result again.

        Raises NotEnoughData when nothing can be asked to make it from settings alone; says why.
        """
        stored = self.stored_run(run)
        question, settings = question_of(stored.step, _settings(stored))
        if question.no_python:
            raise NotEnoughData(f"{stored.step} has no question of its own: {question.no_python}")
        return python_of(question, stored.dataset_hash, stored.dataset, settings, self.clustering_of(stored))

    def run_in_shell(self, run: str) -> str:
        """The command that asks for a run's result again.

        Raises NotEnoughData when no command has the options for it.
        """
        stored = self.stored_run(run)
        question, settings = question_of(stored.step, _settings(stored))
        if question.no_command:
            raise NotEnoughData(question.no_command)
        fit = self.clustering_of(stored)
        usual = None if fit is None else ProfileSettings(mode=fit.mode)
        if usual is not None and self.profiles.resolved(stored.dataset_hash, usual) == fit:
            usual = fit
        return shell_of(question, stored.dataset_hash, settings, () if fit is None else fit_words(fit, usual))

    def run_address(self, run: str) -> str:
        """Path and query of the page that shows a run, its settings by their options.

        Raises NotEnoughData when its settings are of an older version.
        """
        stored = self.stored_run(run)
        question, settings = question_of(stored.step, _settings(stored))
        return address_of(question, stored.dataset_hash, settings)

    def run_settings(self, run: str) -> object:
        """The settings of a run as the record that they were.

        Raises NotEnoughData when they are of an older version, or of a step that the catalogue does not know.
        """
        return _settings(self.stored_run(run))

    def clustering_of(self, stored: StoredRun) -> Any:
        """The settings of the clustering that a run rests on, None where it rests on none.

        Raises NotEnoughData when that clustering is no longer kept.
        """
        if not stored.clustering:
            return None
        for one in self.stored_runs(_name(stored.clustering)):
            return _settings(one)
        raise NotEnoughData("the clustering that this rests on is no longer saved, so its settings are not known")

    def run_again(self, run: str) -> RunAgain:
        """How to have a run again, and why not where it cannot be asked so."""
        python, why_no_python = _or_why(self.run_in_python, run)
        shell, why_no_shell = _or_why(self.run_in_shell, run)
        return RunAgain(python or "", shell or "", why_no_python, why_no_shell, _or_why(self.run_settings, run)[0])

    def stored_result(self, run: str) -> object | None:
        """The result of a run as it is kept; None where it is of an older version or of a step not known here."""
        stored = self.stored_run(run)
        if stored.step not in STORED or not stored.current:
            return None
        result: object = self._cache.get(stored.key, STORED[stored.step].result)
        return result


def _or_why(method: Callable[[str], Value], run: str) -> tuple[Value | None, str]:
    """An answer, or None and why there is none."""
    try:
        return method(run), ""
    except NotEnoughData as error:
        return None, str(error)


def _stored_run(entry: CachedEntry, names: dict[str, str]) -> StoredRun:
    about = entry.about
    step, _, rest = about.step.partition("[")
    question = STORED.get(step)
    settings, usual = flat_settings(about.settings), default_settings(question.settings) if question else {}
    changed = {name: value for name, value in settings.items() if usual.get(name) != value}
    return StoredRun(
        run=_name(about.key),
        key=about.key,
        step=step,
        finds=question.finds if question else step,
        clustering=rest.removesuffix("]"),
        dataset=_called(about.key, names, about.dataset),
        dataset_hash=_hash(about.key),
        settings=about.settings,
        changed=changed,
        seed=seed_of(about.settings),
        versions=about.versions,
        current=question is None or about.versions.get("step") == str(question.version),
        seconds=about.seconds,
        created=about.created,
        pinned=entry.pinned,
        size_bytes=entry.size_bytes,
    )


def _called(key: str, names: Mapping[str, str], otherwise: str) -> str:
    """What a result's dataset is called now, with its scope; `names`: hash of a whole dataset -> name."""
    whole, scope = split(_hash(key))
    return f"{names[whole]}{SIGN if scope else ''}{scope}" if whole in names else otherwise


def _open_job(view: JobView, names: dict[str, str]) -> OpenJob:
    dataset = _called(view.key, names, "removed")
    step = view.step.partition("[")[0]
    finds = STORED[step].finds if step in STORED else step
    return OpenJob(step, finds, dataset, view.state, view.message, view.started, view.elapsed_s)


def _name(key: str) -> str:
    """The name of the run of a key: the beginning of its digest, under which the cache keeps it."""
    return digest(key)[:RUN_DIGITS]


def _hash(key: str) -> str:
    return key.partition(":")[0]


def _settings(stored: StoredRun) -> Any:
    if stored.step not in STORED:
        raise NotEnoughData(f"{stored.step} is saved, but no question makes it again")
    try:
        return unpack(STORED[stored.step].settings, Packed(stored.settings, {}))
    except (KeyError, TypeError, ValueError, SettingsError) as error:
        raise NotEnoughData(f"the settings of run {stored.run} are of an older version and cannot be used") from error
