"""Questions about what was computed: the kept runs, two of them side by side, how to have one again."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from workprof.cache import KeptEntry
from workprof.core.question import address_of, shell_of
from workprof.core.question import python_of as declared_python
from workprof.errors import NotEnoughData, SettingsError, WorkprofError
from workprof.jobs import JobView
from workprof.records import Packed, digest, unpack
from workprof.workbench.declared import declared_of
from workprof.workbench.forecasts import ForecastQuestions
from workprof.workbench.run_command_line import fit_words
from workprof.workbench.run_commands import command_of, with_clustering
from workprof.workbench.run_python import Question, python_of
from workprof.workbench.run_recipe import Recipe
from workprof.workbench.run_recipes import RECIPES
from workprof.workbench.run_records import (
    RUN_DIGITS,
    KeptRun,
    OpenJob,
    RunAgain,
    RunComparison,
    changes,
    default_settings,
    flat_settings,
    limits,
    number_changes,
    numbers_of,
    seed_of,
)

Told = TypeVar("Told")
RUN_NAME = re.compile(rf"[0-9a-f]{{6,{RUN_DIGITS}}}")
READONLY = "WORKPROF_READONLY is set: kept runs cannot be changed here; unset it to pin or remove them"


class RunQuestions(ForecastQuestions):
    """The questions of the Runs page and of `workprof runs`."""

    def kept_runs(self, beginning: str = "") -> tuple[KeptRun, ...]:
        """Return every kept computation whose name begins so, newest first."""
        names = {entry.hash: entry.name for entry in self._store.datasets()}
        return tuple(_kept_run(entry, names) for entry in self._cache.kept(beginning))

    def kept_run(self, run: str) -> KeptRun:
        """Return one kept computation by its name or the beginning of it.

        Raises:
            SettingsError: when there is none, or more than one.
        """
        found = self.kept_runs(run) if RUN_NAME.fullmatch(run) else ()
        if len(found) != 1:
            what = "more than one kept run begins so" if found else "there is no such kept run"
            raise SettingsError(f"run {run!r}: {what}; `workprof runs` lists them by their {RUN_DIGITS} digits")
        return found[0]

    def pin_run(self, run: str, pinned: bool) -> KeptRun:
        """Keep a run whatever comes, or let it go with the others when space is needed; return how it stands.

        Raises:
            SettingsError: when there is no such run, or too much would be pinned.
            WorkprofError: on a read-only home.
        """
        self._refuse_readonly()
        self._cache.pin(self.kept_run(run).key, pinned)
        return self.kept_run(run)

    def remove_run(self, run: str) -> KeptRun:
        """Forget a kept result and return what was forgotten; asking again computes it again.

        Raises:
            SettingsError: when there is no such run.
            WorkprofError: on a read-only home.
        """
        self._refuse_readonly()
        gone = self.kept_run(run)
        self._cache.remove(gone.key)
        return gone

    def open_jobs(self) -> tuple[OpenJob, ...]:
        """Return the jobs since the start that left no result, newest first."""
        names = {entry.hash: entry.name for entry in self._store.datasets()}
        return tuple(_open_job(view, names) for view in self.jobs() if view.state != "done")

    def compare_runs(self, before: str, after: str) -> RunComparison:
        """Return which settings and which numbers of two kept runs of one step differ.

        Raises:
            SettingsError: when the runs are of different steps.
        """
        first, second = self.kept_run(before), self.kept_run(after)
        if first.step != second.step:
            raise SettingsError(f"{first.step} and {second.step} cannot be compared; choose two runs of one step")
        one, other = self._numbers(first), self._numbers(second)
        read = one is not None and other is not None
        differ, n_equal = number_changes(one or {}, other or {}) if read else ((), 0)
        settings = changes(flat_settings(first.settings), flat_settings(second.settings))
        return RunComparison(first, second, settings, differ, n_equal, limits(first, second, read))

    def run_in_python(self, run: str) -> str:
        """Return Python that asks for a run's result again.

        Raises:
            NotEnoughData: when nothing can be asked to make it from settings alone; says why.
        """
        kept = self.kept_run(run)
        recipe = _recipe(kept)
        if not recipe.method:
            raise NotEnoughData(f"{kept.step} has no question of its own: {recipe.why_not}")
        settings = _settings(recipe, kept)
        declared, asked = declared_of(kept.step, settings)
        if declared is not None:
            fit = self._clustering_settings(kept) if kept.clustering else None
            return declared_python(declared, kept.dataset_hash, kept.dataset, asked, fit)
        question = Question(
            method=recipe.method,
            dataset=kept.dataset_hash,
            dataset_name=kept.dataset,
            settings=None if recipe.plain else recipe.asked(settings),
            more=recipe.more(settings) if recipe.more else {},
            clustering=(recipe.clustering, self._clustering_settings(kept)) if kept.clustering else None,
            before=recipe.before,
            after=recipe.after,
        )
        return python_of(question)

    def run_in_shell(self, run: str) -> str:
        """Return the command that asks for a run's result again.

        Raises:
            NotEnoughData: when no command has the options for it.
        """
        kept = self.kept_run(run)
        recipe = _recipe(kept)
        declared, asked = declared_of(kept.step, _settings(recipe, kept))
        resolve = partial(self.profiles.resolved, kept.dataset_hash)
        if declared is not None:
            if declared.no_command:
                raise NotEnoughData(declared.no_command)
            line = shell_of(declared, kept.dataset_hash, asked)
            fit = fit_words(self._clustering_settings(kept), resolve) if kept.clustering else ()
            return " ".join((line, *((shlex.join(fit),) if fit else ())))
        asked = recipe.asked(asked)
        found = "" if recipe.why_no_command else command_of(kept.step, kept.dataset_hash, asked, resolve)
        if found and kept.clustering:
            found = with_clustering(found, kept.step, self._clustering_settings(kept), resolve)
        if not found:
            usual = f"no command has the options that say these settings of {kept.step}; Python has"
            raise NotEnoughData(recipe.why_no_command or usual)
        return found

    def run_address(self, run: str) -> str:
        """Return path and query of the page that shows a run, its settings by their options; '' where none can.

        Raises:
            NotEnoughData: when its settings are of an older version.
        """
        kept = self.kept_run(run)
        declared, settings = declared_of(kept.step, _settings(_recipe(kept), kept))
        return address_of(declared, kept.dataset_hash, settings) if declared else ""

    def run_settings(self, run: str) -> object:
        """Return the settings of a run as the record that they were.

        Raises:
            NotEnoughData: when they are of an older version, or of a step that the catalogue does not know.
        """
        kept = self.kept_run(run)
        return _settings(_recipe(kept), kept)

    def run_again(self, run: str) -> RunAgain:
        """Return how to have a run again, and why not where it cannot be asked so."""
        python, why_no_python = _or_why(self.run_in_python, run)
        shell, why_no_shell = _or_why(self.run_in_shell, run)
        return RunAgain(python or "", shell or "", why_no_python, why_no_shell, _or_why(self.run_settings, run)[0])

    def _numbers(self, kept: KeptRun) -> dict[str, float] | None:
        """Return the numbers of a kept result; None where it is of an older version or of a step not known here."""
        recipe = RECIPES.get(kept.step)
        if recipe is None or not kept.current:
            return None
        result: object = self._cache.get(kept.key, recipe.result)
        return None if result is None else numbers_of(result)

    def _clustering_settings(self, kept: KeptRun) -> Any:
        """Return the settings of the clustering that a run rests on.

        Raises:
            NotEnoughData: when that clustering is no longer kept.
        """
        for one in self.kept_runs(_name(kept.clustering)):
            return _settings(_recipe(one), one)
        raise NotEnoughData("the clustering that this rests on is no longer kept, so its settings are not known")

    def _refuse_readonly(self) -> None:
        if self.settings.readonly:
            raise WorkprofError(READONLY)


def _or_why(ask: Callable[[str], Told], run: str) -> tuple[Told | None, str]:
    """Return an answer, or None and why there is none."""
    try:
        return ask(run), ""
    except NotEnoughData as error:
        return None, str(error)


def _kept_run(entry: KeptEntry, names: dict[str, str]) -> KeptRun:
    about = entry.about
    step, _, rest = about.step.partition("[")
    recipe = RECIPES.get(step)
    return KeptRun(
        run=_name(about.key),
        key=about.key,
        step=step,
        clustering=rest.removesuffix("]"),
        dataset=names.get(_hash(about.key), about.dataset),
        dataset_hash=_hash(about.key),
        settings=about.settings,
        changed=_changed(about.settings, recipe),
        seed=seed_of(about.settings),
        versions=about.versions,
        current=recipe is None or about.versions.get("step") == str(recipe.step.version),
        seconds=about.seconds,
        created=about.created,
        pinned=entry.pinned,
        size_bytes=entry.size_bytes,
    )


def _changed(settings: dict[str, Any], recipe: Recipe | None) -> dict[str, str]:
    """Return path -> value of the settings that are not the defaults; all of them where a step has none."""
    found, usual = flat_settings(settings), default_settings(recipe.settings) if recipe else {}
    return {name: value for name, value in found.items() if usual.get(name) != value}


def _open_job(view: JobView, names: dict[str, str]) -> OpenJob:
    dataset = names.get(_hash(view.key), "removed")
    return OpenJob(view.step.partition("[")[0], dataset, view.state, view.message, view.started, view.elapsed_s)


def _name(key: str) -> str:
    """Return the name of the run of a key: the beginning of its digest, under which the cache keeps it."""
    return digest(key)[:RUN_DIGITS]


def _hash(key: str) -> str:
    return key.partition(":")[0]


def _recipe(kept: KeptRun) -> Recipe:
    if kept.step not in RECIPES:
        raise NotEnoughData(f"{kept.step} is kept, but there is no recipe that asks for it again")
    return RECIPES[kept.step]


def _settings(recipe: Recipe, kept: KeptRun) -> Any:
    try:
        return unpack(recipe.settings, Packed(kept.settings, {}))
    except (KeyError, TypeError, ValueError, SettingsError) as error:
        raise NotEnoughData(f"the settings of run {kept.run} are of an older version and cannot be used") from error
