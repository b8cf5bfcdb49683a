"""The Profiles page's questions, declared in `workprof.profiles.questions`, and the names that users give."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from workprof.profiles import questions
from workprof.profiles.fit import ProfileFit, recut, tree_settings
from workprof.profiles.settings import FEATURE_SETS, ProfileSettings, clustered_rows, resolve
from workprof.profiles.tree import SpanningTree
from workprof.progress import Progress
from workprof.store.reports import Dataset, ProfileNote
from workprof.workbench.asking import Extras, ask
from workprof.workbench.datasets import DatasetQuestions


def _in_rows(bench: Any, entry: Dataset, settings: ProfileSettings) -> ProfileSettings:
    """Return the settings with sizes in rows and fields for the trace's own names."""
    if settings.features and settings.features[0] not in FEATURE_SETS:
        settings = replace(settings, features=bench._store.resolve(entry.hash, settings.features))
    return resolve(settings, clustered_rows(settings, entry.finished_rows))


def _tree(_: Any, __: Dataset, settings: ProfileSettings) -> Extras:
    return ((questions.SPANNING_TREE.step, tree_settings(settings)),) if settings.algorithm == "hdbscan" else ()


def _recut(bench: Any, entry: Dataset, settings: ProfileSettings, progress: Progress) -> ProfileFit | None:
    """Return the profiles where a cached tree gives them in about a second, else None: that needs a fit."""
    step, key = questions.FIT.step, questions.FIT.step.key(entry.hash, settings)
    with bench._cache.lock(key):
        fit: ProfileFit | None = bench._cache.get(key, ProfileFit)
        for tree_step, tree_of in _tree(bench, entry, settings) if fit is None else ():
            tree = bench._cache.get(tree_step.key(entry.hash, tree_of), SpanningTree)
            if tree is not None:
                jobs = bench.frames_of(entry, questions.FIT.reads(settings))()
                fit = recut(jobs, settings, tree, progress)
                bench._cache.put(key, fit, step.about(key, entry.name, settings, fit.seconds))
    return fit


class ProfileQuestions(DatasetQuestions):
    """The questions of the Profiles page."""

    profiles = ask(questions.FIT, resolve=_in_rows, by_products=_tree, shortcut=_recut)

    def profile_notes(self, dataset: str, settings: ProfileSettings) -> dict[int, ProfileNote]:
        """Return the names and notes that users gave to the profiles of one clustering."""
        return {note.profile: note for note in self._store.notes(self.profiles.key(dataset, settings))}

    def set_profile_note(self, dataset: str, settings: ProfileSettings, note: ProfileNote) -> None:
        """Keep a name and a note for one profile."""
        self._store.set_note(self.profiles.key(dataset, settings), note)
