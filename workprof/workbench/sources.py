"""Sources of traces that grow: add, list, refresh, remove."""

from __future__ import annotations

import contextlib
import shutil
from dataclasses import replace
from functools import partial

import numpy as np

from workprof.core.arrays import Ints
from workprof.core.errors import SettingsError, WorkprofError
from workprof.core.progress import Progress, silent
from workprof.core.refreshes import Refresh, SourceStatus
from workprof.core.roles import REFRESH, SOURCE
from workprof.core.settings import Settings
from workprof.core.text import near
from workprof.profiles.fit import ProfileFit
from workprof.profiles.names import Labelled, successors
from workprof.profiles.settings import ProfileSettings
from workprof.sources.fetched import State
from workprof.sources.refresh import FOLDER, refresh
from workprof.sources.source import Source
from workprof.store.catalogue import checked_name
from workprof.store.documents import Unreadable
from workprof.workbench.memory import MemoryQuestions

CHANGES_ROWS = 200_000
"""Up to so many runs a refresh compares the last periods before its rows are taken in: another verdict, of the runs
before. Of more it does so afterwards, so that nobody waits for the new plan."""


class SourceQuestions(MemoryQuestions):
    """Questions about sources."""

    def add_source(self, source: Source) -> SourceStatus:
        """Keep a source, which nothing was read from yet.

        Raises SettingsError when its name is taken, or it does not use an option that is given.
        """
        source.refuse_unused()
        if source.name in self._store.sources(Source):
            raise SettingsError(f"a source is already called {source.name!r}; remove it or give another name")
        if any(one.name == source.name for one in self._store.datasets()):
            raise SettingsError(f"a dataset is already called {source.name!r}; rename it or give another name")
        self._store.save_source(source.name, source, State())
        return self.source(source.name)

    def sources(self) -> tuple[SourceStatus, ...]:
        """Every source that can be read, by name."""
        known = self._store.sources(Source)
        return tuple(self._view(one) for one in known.values() if not isinstance(one, Unreadable))

    def source(self, name: str) -> SourceStatus:
        """One source as it stands; raises SettingsError, which names one that is meant perhaps."""
        return self._view(self._source(name))

    def remove_source(self, name: str) -> SourceStatus:
        """Forget a source and what it kept, also one that cannot be read; its dataset stays. Return what it was."""
        self._store.refuse(SOURCE)
        known = self._kept_source(name)
        gone = SourceStatus(name, "unreadable", known.reason) if isinstance(known, Unreadable) else self._view(known)
        self._store.remove_source(name)
        with contextlib.suppress(SettingsError):  # of such a name nothing was kept
            shutil.rmtree(self.settings.home / FOLDER / checked_name(name), ignore_errors=True)
        return gone

    def refreshes(self, name: str, most: int = 100) -> tuple[Refresh, ...]:
        """The latest refreshes of a source, the newest first, also those that failed."""
        self._kept_source(name)
        return self._store.refreshes(name, most)

    def refresh(
        self, name: str, progress: Progress = silent, now_s: float | None = None, *, apart: bool = False
    ) -> Refresh:
        """Bring a source's dataset up to date and return what changed.

        `apart`: what is computed of it is computed in child processes, so that this one goes on answering.

        Raises WorkprofError when it cannot be reached or read; the last good state stays, and its history says why.
        """
        self._store.refuse(REFRESH)
        compute = partial(self._compute, apart)
        result = refresh(self._store, self._source(name), compute, self.settings, progress, now_s)
        if result.dataset and result.rows > CHANGES_ROWS:
            with contextlib.suppress(WorkprofError):  # the page says why it cannot be told
                if apart:
                    self.changes.start(result.dataset)
                else:
                    self.changes(result.dataset)
        return result

    def _compute(self, apart: bool, passing: Settings, dataset: str) -> None:
        """Compute what pages show first of the rows in a home of their own, and keep it here: then nobody waits."""
        with type(self)(passing) as grown:
            few = grown.dataset(dataset).rows <= CHANGES_ROWS
            for question in (grown.verdict, grown.over_time, *((grown.changes,) if few else ())):
                with contextlib.suppress(WorkprofError):  # the page says why it cannot be told
                    if apart:
                        grown.wait(question.start(dataset).key)
                    else:
                        question(dataset)
            with contextlib.suppress(WorkprofError):
                self._name_again(grown, dataset)
            self._cache.take_all(grown._cache)

    def _name_again(self, grown: SourceQuestions, dataset: str) -> None:
        """Give profiles of the new rows the names of those that they have become, matched by the runs of both.

        A clustering with names is computed again for that, with the same settings.
        """
        name, known = grown.dataset(dataset).name, {one.name: one.hash for one in self.datasets()}
        before = known.get(name, "")
        noted = self._store.noted_clusterings(before, scopes=True) if before else set()
        if not noted:
            return
        places = grown._store.moved(dataset)
        for key in (about.key for about in self.runs() if about.key in noted):
            fit, scope = self._cache.get(key, ProfileFit), key.partition(":")[0].removeprefix(before)
            with contextlib.suppress(WorkprofError):  # no run may be in the scope any more
                if fit is not None:
                    self._name_one(grown, (fit, key), (before + scope, dataset + scope), places)

    def _name_one(
        self, grown: SourceQuestions, named: tuple[ProfileFit, str], scopes: tuple[str, str], places: Ints
    ) -> None:
        """Name the profiles of a dataset or scope (hashes then and now) by a clustering of before with its key."""
        (fit, kept), (then, now) = named, scopes
        chosen = ProfileSettings() if kept == self.profiles.key(then) else fit.settings
        new, key = grown.profiles(now, chosen), grown.profiles.key(now, chosen)
        rows_then, rows_now = self._store.whole_rows(then)[fit.row_ids], grown._store.whole_rows(now)[new.row_ids]
        _, here, there = np.intersect1d(rows_then, places[:, 0], return_indices=True)
        became = successors(Labelled(places[there, 1], fit.labels[here]), Labelled(rows_now, new.labels))
        for note in self._store.notes(kept):
            if note.profile in became:
                self._store.set_note(key, replace(note, profile=became[note.profile]))

    def _kept_source(self, name: str) -> Source | Unreadable:
        known = self._store.sources(Source)
        if name not in known:
            raise SettingsError(f"no source is called {name!r}{near(name, known)}; `workprof source list` shows all")
        return known[name]

    def _source(self, name: str) -> Source:
        result = self._kept_source(name)
        if isinstance(result, Unreadable):
            raise SettingsError(f"source {name} cannot be read ({result.reason}); remove it and add it again")
        return result

    def _view(self, source: Source) -> SourceStatus:
        history = self._store.refreshes(source.name)
        failures = next((at for at, one in enumerate(history) if not one.error), len(history))
        return SourceStatus(
            source.name,
            source.kind,
            source.shown,
            source.every_s,
            source.keep_s,
            self._store.source_state(source.name, State).until_s,
            next((one.rows for one in self._store.datasets() if one.name == source.name), 0),
            next((one for one in history if not one.error), None),
            history[0] if failures else None,
            failures,
        )
