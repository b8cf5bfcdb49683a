"""The Phases page's questions, declared in `workprof.phases.questions`, and the labels given to runs by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pandas as pd

from workprof.formats.measured import TELEMETRY
from workprof.phases import questions
from workprof.phases.evaluation import EvaluationSettings
from workprof.phases.library import LibraryEdits
from workprof.phases.live import LiveLibrary, LiveRun, LiveView, detector_from
from workprof.phases.runs import NOT_COUNTERS, OWN_PROCESSES, RunLine, RunListSettings
from workprof.store.reports import Dataset
from workprof.workbench.datasets import DatasetQuestions
from workprof.workbench.question_methods import Frames, ask, refuse_other_kind
from workprof.workbench.recordings import MOST_CAUGHT_UP

EDITS = "library"
"""Name under which the labels given by hand are kept."""


def _samples(bench: Any, entry: Dataset, settings: Any, *_: object) -> Frames:
    """A function that reads the samples, and those of the runs to learn from where it is another dataset."""
    columns = questions.RUNS.columns(settings) if isinstance(settings, RunListSettings) else None
    train = getattr(settings, "train_hash", "")
    elsewhere = train and (train != entry.hash or isinstance(settings, EvaluationSettings))

    def read() -> Mapping[str, pd.DataFrame]:
        others = {"train": bench.frames_of(bench.dataset(train), columns)()["jobs"]} if elsewhere else {}
        return {"samples": bench.frames_of(entry, columns)()["jobs"], **others}

    return read


def _with_train(bench: Any, entry: Dataset, settings: Any, train: str | None = None) -> Any:
    """The settings with the content of the dataset to learn from, so that it is part of the key.

    Raises WrongKind when that dataset holds no counters.
    """
    name = train or settings.train_hash
    other = bench.dataset(name) if name else None
    if other is not None:
        refuse_other_kind(other, TELEMETRY)
        settings = replace(settings, train_hash=other.hash)
    if isinstance(settings, EvaluationSettings):
        open_splits = min(settings.open_splits, settings.splits)
        return replace(settings, trained_elsewhere=other is not None, open_splits=open_splits)
    return settings


class PhaseQuestions(DatasetQuestions):
    """The questions of the Phases page and of `workprof phases`."""

    phase_runs = ask(questions.RUNS, frames=_samples)
    run_phases = ask(questions.DETECT, frames=_samples)
    timeline = ask(questions.TIMELINE, frames=_samples)
    phase_methods = ask(questions.METHODS, frames=_samples)
    typical_runs = ask(questions.TYPICAL, frames=_samples)
    run_shapes = ask(questions.SHAPES, frames=_samples)
    growing_sizes = ask(questions.GROWING, frames=_samples)
    workload_library = ask(questions.LEARN, frames=_samples)
    library_view = ask(questions.LIBRARY, frames=_samples)
    match_run = ask(questions.MATCH, frames=_samples)
    known_match = ask(questions.KNOWN_MATCH, resolve=_with_train, frames=_samples)
    run_course = ask(questions.COURSE, resolve=_with_train, frames=_samples)
    aligned_runs = ask(questions.ALIGN, resolve=_with_train, frames=_samples)
    evaluate_phases = ask(questions.EVALUATE, resolve=_with_train, frames=_samples)
    early_recognition = ask(questions.EARLY, frames=_samples)
    live_library = ask(questions.LIVE, frames=_samples)

    def replayed_run(self, dataset: str, line: RunLine, known: LiveLibrary) -> LiveView:
        """A recorded run as it would have stood at its end, had it been followed; its last samples where it is long."""
        samples = self.frames_of(self.dataset(dataset), None)()["jobs"]
        own = samples[samples["run"].astype(str) == line.run]
        if line.workload:
            own = own[own["workload"].astype(str) == line.workload]
        own = own.sort_values("t", kind="stable").iloc[-MOST_CAUGHT_UP:]
        followed = LiveRun(known, detector_from(known), line.workload, line.run)
        values = own[list(followed.counters)].to_numpy(dtype=float)
        for t_s, now in zip(own["t"].to_numpy(dtype=float), values, strict=True):
            followed.take(float(t_s), now)
        return followed.view()

    def system_counters(self, dataset: str) -> tuple[str, ...]:
        """Every counter of a dataset that does not look into the workload's own processes."""
        entry = self.dataset(dataset)
        refuse_other_kind(entry, TELEMETRY)
        names = (column.name for column in self._store.columns(entry.hash) if not column.truth)
        return tuple(name for name in names if name not in NOT_COUNTERS and not name.startswith(OWN_PROCESSES))

    def library_edits(self, dataset: str) -> LibraryEdits:
        """The labels that were given to runs of a dataset by hand."""
        saved = self._store.scenarios(self.dataset(dataset).hash, LibraryEdits)
        return saved[0] if saved else LibraryEdits()

    def set_library_edits(self, dataset: str, edits: LibraryEdits) -> None:
        """Keep labels that were given to runs of a dataset by hand, in the place of those kept before."""
        entry = self.dataset(dataset)
        refuse_other_kind(entry, TELEMETRY)
        self._store.save_scenario(entry.hash, EDITS, datetime.now(UTC).isoformat(timespec="seconds"), edits)
