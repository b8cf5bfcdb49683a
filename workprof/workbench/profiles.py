"""The Profiles page's questions, declared in `workprof.profiles.questions`, and the names that users give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pandas as pd

from workprof.core.errors import NotEnoughData
from workprof.core.parallel import loops_on
from workprof.core.progress import Progress, silent
from workprof.core.units import factor
from workprof.formats import plain_rules_of
from workprof.formats.declare import PLAIN
from workprof.profiles import questions
from workprof.profiles.baseline import BaselineSettings
from workprof.profiles.features import NO_FEATURES, refuse_few_features
from workprof.profiles.fit import ProfileFit, labelled, recut, tree_settings
from workprof.profiles.hopkins import HopkinsSettings
from workprof.profiles.membership import MembershipSettings
from workprof.profiles.names import OUTLIERS, UNCLUSTERED, Labelled, shown_names, successors
from workprof.profiles.part_files import AssignedFiles, assign_files, file_assigner, list_files
from workprof.profiles.settings import (
    FEATURE_SETS,
    MOST_FITTED_ROWS,
    ProfileSettings,
    clustered_rows,
    default_features,
    refuse_few,
    settled,
    with_sample,
)
from workprof.profiles.stability import StabilitySettings
from workprof.profiles.tree import SpanningTree
from workprof.steps import about
from workprof.store.parquet_bounds import refuse_promises
from workprof.store.reports import Dataset, ProfileNote
from workprof.store.spool import Spooled
from workprof.workbench.datasets import DatasetQuestions
from workprof.workbench.question_methods import Extras, Frames, ask

if TYPE_CHECKING:
    from workprof.forecasts.embeddings import EmbeddingSettings

MOST_KEPT_ROWS = 100_000
"""Of the table that stays in memory between two cuts."""
Named = TypeVar("Named", HopkinsSettings, BaselineSettings)
OfFit = TypeVar("OfFit", StabilitySettings, MembershipSettings, "EmbeddingSettings")


def _in_rows(bench: Any, entry: Dataset, settings: ProfileSettings) -> ProfileSettings:
    """The settings with sizes in rows and fields for the trace's own names."""
    if settings.features and settings.features[0] not in FEATURE_SETS:
        settings = replace(settings, features=bench._store.resolve(entry.hash, settings.features))
    return settled(with_sample(settings, entry.finished_rows), clustered_rows(settings, entry.finished_rows))


def few_columns(bench: Any, entry: Dataset, features: tuple[str, ...]) -> None:
    """Refuse columns or sets of which a dataset has fewer than two numeric ones.

    Raises NotEnoughData.
    """
    numeric = [column.name for column in bench.columns(entry.hash) if column.numeric]
    refuse_few_features(features, [name for name in numeric if not name.startswith(NO_FEATURES)])


def _few_rows_or_columns(bench: Any, entry: Dataset, settings: ProfileSettings) -> None:
    few_columns(bench, entry, settings.features)
    refuse_few(settings, clustered_rows(settings, entry.finished_rows))


def _tree(_: Any, __: Dataset, settings: ProfileSettings) -> Extras:
    return ((questions.SPANNING_TREE.step, tree_settings(settings)),) if settings.algorithm == "hdbscan" else ()


def _recut(bench: Any, entry: Dataset, settings: ProfileSettings, _: object, progress: Progress) -> ProfileFit | None:
    """The profiles where a cached tree gives them in about a second, else None: that needs a fit."""
    step, key = questions.FIT.step, questions.FIT.step.key(entry.hash, settings)
    with bench._cache.lock(key):
        fit: ProfileFit | None = bench._cache.get(key, ProfileFit)
        if fit is None and (fit := _of_tree(bench, entry, settings, progress, scored=True)) is not None:
            bench._cache.put(key, fit, about(step, key, entry.name, settings, fit.seconds))
    return fit


def _of_tree(
    bench: Any, entry: Dataset, settings: ProfileSettings, progress: Progress, *, scored: bool
) -> ProfileFit | None:
    for tree_step, tree_of in _tree(bench, entry, settings):
        tree = bench._cache.get(tree_step.key(entry.hash, tree_of), SpanningTree)
        if tree is not None:
            columns = questions.FIT.columns(settings)
            read = bench.frames_of(entry, columns)
            kept = not scored and entry.finished_rows <= MOST_KEPT_ROWS  # read once for all steps of a slider
            jobs = bench._cuts.get((entry.hash, str(columns)), read) if kept else read()
            return recut(jobs, settings, tree, progress, scored=scored)
    return None


def _named(bench: Any, entry: Dataset, settings: Named) -> Named:
    """The settings with fields in place of the trace's own names, and the default set named."""
    features = settings.features or default_features(settings.mode)
    if features[0] not in FEATURE_SETS:
        features = bench._store.resolve(entry.hash, features)
    return replace(settings, features=features)


def _named_labels(bench: Any, entry: Dataset, settings: BaselineSettings) -> BaselineSettings:
    by = tuple(bench._store.resolve(entry.hash, label) for label in settings.by)
    return _named(bench, entry, replace(settings, by=by))


def fit_in_rows(bench: Any, entry: Dataset, settings: OfFit) -> OfFit:
    """The settings of a question about one clustering, with its sizes in rows."""
    return replace(settings, fit=_in_rows(bench, entry, settings.fit))


def _beside_labels(
    bench: Any, entry: Dataset, settings: BaselineSettings, fit: ProfileSettings | None, progress: Progress | None
) -> Frames:
    """A function that reads what the labels need, with the profiles of a clustering where one is given."""
    if fit is not None and progress is None and bench.profiles.cached(entry.hash, fit).result is None:
        raise NotEnoughData("the profiles that stand beside the labels are not there yet; find profiles first")

    def read() -> Mapping[str, pd.DataFrame]:
        result = bench.profiles(entry.hash, fit, progress or silent) if fit is not None else None
        frames: Mapping[str, pd.DataFrame] = bench.frames_of(entry, questions.BASELINE.columns(settings))()
        return frames if result is None else {"jobs": labelled(frames["jobs"], result)}

    return read


def _with_cached_profiles(
    bench: Any, entry: Dataset, settings: StabilitySettings, _: None, __: Progress | None
) -> Frames:
    """A function that reads what is clustered, with the profiles where they are cached."""

    def read() -> Mapping[str, pd.DataFrame]:
        result = bench.profiles.cached(entry.hash, settings.fit).result
        frames: Mapping[str, pd.DataFrame] = bench.frames_of(entry, questions.STABILITY.columns(settings))()
        return frames if result is None else {"jobs": labelled(frames["jobs"], result)}

    return read


def _with_given_names(bench: Any, entry: Dataset, fit: ProfileFit) -> ProfileFit:
    """The profiles with the names that people gave them: one object for the same names, as a page draws that once."""
    notes = bench.profile_notes(entry.hash, fit.settings)
    given = {label: note.name for label, note in notes.items() if note.name.strip()}
    key = bench.profiles.key(entry.hash, fit.settings)
    kept = bench._known(key) if given else None
    if kept is None or kept.digest != fit.digest:  # these are of the rows before a refresh, numbered in another way
        return fit
    named: ProfileFit = bench._cuts.get((key, str(given)), lambda: replace(fit, given_names=given))
    return named


class ProfileQuestions(DatasetQuestions):
    """The questions of the Profiles page."""

    profiles = ask(
        questions.FIT,
        resolve=_in_rows,
        by_products=_tree,
        shortcut=_recut,
        dress=_with_given_names,
        refuse=_few_rows_or_columns,
    )
    hopkins = ask(questions.HOPKINS, resolve=_named)
    baseline = ask(
        questions.BASELINE, resolve=_named_labels, fit=lambda _, __, ___, given: given, frames=_beside_labels
    )
    stability = ask(questions.STABILITY, resolve=fit_in_rows, frames=_with_cached_profiles)
    membership = ask(questions.MEMBERSHIP, resolve=fit_in_rows)

    def first_cut(self, dataset: str, settings: ProfileSettings) -> ProfileFit | None:
        """The profiles of a kept tree, kept with their scores or cut now without them (`silhouette_method` is '').

        None where there is no such tree, or so many runs that assigning those outside the sample takes long.
        """
        entry = self.dataset(dataset)
        key, wanted = self.profiles.key(dataset, settings), self.profiles.resolved(dataset, settings)
        fit = self._known(key)
        if fit is not None or (wanted.sample_rows and entry.finished_rows > MOST_FITTED_ROWS):
            return fit
        return self._cuts.get((key, ""), lambda: _of_tree(self, entry, wanted, silent, scored=False))

    def assign_files(
        self,
        dataset: str,
        paths: Sequence[Path],
        output: Path,
        settings: ProfileSettings | None = None,
        progress: Progress = silent,
    ) -> AssignedFiles:
        """Write the profiles of the runs in Parquet files, as a clustering of a dataset has them, and count them.

        The files are those of a larger trace, of which the dataset is a sample; on the cluster that WORKPROF_DASK names
        its workers read and write them (`workprof.profiles.part_files.assign_files`). What is not clustered yet is.

        The files, or those of folders, are of one row a run, with the columns of the dataset's features under the names
        that `export` gives them. A column that the dataset's format only gives another name and unit may have these.
        The output folder is made where absent.

        Raises:
            TraceError: for a file that would take much more than its bytes, as `ingest` does.
            As `workprof.profiles.part_files.list_files`, `file_assigner` and `assign_files`.
        """
        entry, chosen = self.dataset(dataset), settings or ProfileSettings()
        fit = self.profiles(entry.hash, chosen, progress)
        named = {feature: [(feature, 1.0)] for feature in fit.features}
        for rule in plain_rules_of(entry.format):
            if rule.field in named:
                named[rule.field].append((rule.source, 1.0 if rule.unit == PLAIN else factor(rule.unit)))
        files = list_files(paths, output, named)
        for one in files.files:
            refuse_promises(Spooled(Path(one.source), one.source, parquet=True), self.settings.expansion_limit)
        progress(0.0, "Preparing the assignment")
        jobs = self.frames_of(entry, questions.FIT.columns(fit.settings))()["jobs"]
        kept = (
            self._cache.get(step.key(entry.hash, of), SpanningTree) for step, of in _tree(self, entry, fit.settings)
        )
        whole = file_assigner(fit, jobs, self.profile_names(entry.hash, chosen), next(kept, None))
        with loops_on(self.settings.dask):
            return assign_files(whole, files, output, progress)

    def profile_names(self, dataset: str, settings: ProfileSettings | None = None) -> tuple[str, ...]:
        """What the profiles of a clustering are called: 'bert · worker (P0)', by label.

        The last one, which is also that of label -1, is 'Unclustered'. Empty where the clustering is not stored.
        """
        chosen = settings or ProfileSettings()
        fit = self.profiles.cached(dataset, chosen).result
        if fit is None:
            return ()
        given = {label: note.name for label, note in self.profile_notes(dataset, chosen).items()}
        names = shown_names(fit.cards, fit.typical_names, given)
        return (*(names[label] for label in sorted(names) if label != OUTLIERS), UNCLUSTERED)

    def profile_notes(self, dataset: str, settings: ProfileSettings) -> dict[int, ProfileNote]:
        """The names and notes that users gave to the profiles of one clustering.

        Where a profile has none of its own, it has that of a profile of another clustering of the dataset which it
        has become (`workprof.profiles.names.successors`); of several such clusterings the one made last counts.
        """
        key = self.profiles.key(dataset, settings)
        result = {note.profile: note for note in self._store.notes(key)}
        for earlier in self._named_clusterings(key):
            followed = self._views.get((key, f"names of {earlier}"), partial(self._successors, earlier, key))
            for note in self._store.notes(earlier):
                to = followed.get(note.profile)
                if to is not None and to not in result:
                    result[to] = replace(note, profile=to)
        return dict(sorted(result.items()))

    def set_profile_note(self, dataset: str, settings: ProfileSettings, note: ProfileNote) -> None:
        """Keep a name and a note for one profile.

        Without name and text the profile has none: a blank is kept where one would follow from another clustering.
        """
        key = self.profiles.key(dataset, settings)
        self._store.set_note(key, note)
        if not (note.name or note.note) and note.profile in self.profile_notes(dataset, settings):
            self._store.set_note(key, replace(note, name=" "))

    def _named_clusterings(self, key: str) -> tuple[str, ...]:
        """The other clusterings of the same dataset with names whose results are stored, the newest first."""
        others = self._store.noted_clusterings(key.partition(":")[0]) - {key}
        if not others or self._known(key) is None:
            return ()
        return tuple(about.key for about in self.runs() if about.key in others)

    def _successors(self, earlier: str, key: str) -> dict[int, int]:
        old, new = self._known(earlier), self._known(key)
        if old is None or new is None:
            return {}
        return successors(Labelled(old.row_ids, old.labels), Labelled(new.row_ids, new.labels))

    def _known(self, key: str) -> ProfileFit | None:
        return self._cache.get(key, ProfileFit) or self._cuts.get((key, ""), lambda: None)
