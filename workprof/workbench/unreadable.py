"""What people kept about a dataset and cannot be read any more: told on every page, removed when they say so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workprof.forecasts.feedback.model import FinishedJobs
from workprof.forecasts.feedback.windows import FeedbackState
from workprof.formats.measured import BENCHMARKS, TELEMETRY
from workprof.memory.scenarios import Scenario
from workprof.nodes.ranking import NodeScenario
from workprof.phases.library import LibraryEdits
from workprof.store.reports import Dataset
from workprof.workbench.asking import JOBS
from workprof.workbench.datasets import DatasetQuestions

KEPT: dict[str, tuple[str, type[Any]]] = {
    JOBS: ("Scenario {!r}", Scenario),
    BENCHMARKS: ("Scenario {!r}", NodeScenario),
    TELEMETRY: ("What was labelled by hand", LibraryEdits),
}
"""Kind of a dataset -> the words for what people keep about it, with a place for its name, and its class."""


@dataclass(frozen=True)
class UnreadableKept:
    """One thing that was kept about a dataset, and why it cannot be read.

    Attributes:
        what: it is, for people.
        reason: that it cannot be read, for people.
        scenario: its name, where it is one; else None.
        loop: digest of the settings of its feedback loop, where it is one; else None.
    """

    what: str
    reason: str
    scenario: str | None = None
    loop: str | None = None


class UnreadableQuestions(DatasetQuestions):
    """Questions about what the database keeps beside the datasets' rows."""

    def unreadable(self, dataset: str) -> tuple[UnreadableKept, ...]:
        """Return what is kept about a dataset and cannot be read; nothing in a home that nobody damaged."""
        entry = self.dataset(dataset)
        return self._views.get((entry.hash, f"unreadable {self._store.commits}"), lambda: self._unreadable(entry))

    def remove_unreadable(self, dataset: str) -> tuple[UnreadableKept, ...]:
        """Remove what cannot be read of what is kept about a dataset, and return what it was."""
        entry = self.dataset(dataset)
        found = self._unreadable(entry)
        for one in found:
            if one.scenario is not None:
                self._store.remove_scenario(entry.hash, one.scenario)
            if one.loop is not None:
                self._store.forget_feedback(entry.hash, one.loop)
        return found

    def _unreadable(self, entry: Dataset) -> tuple[UnreadableKept, ...]:
        what, cls = KEPT.get(entry.kind, KEPT[JOBS])
        scenarios = self._store.unreadable_scenarios(entry.hash, cls)
        found = [UnreadableKept(what.format(name), one.reason, scenario=name) for name, one in scenarios.items()]
        if entry.kind == JOBS:
            loops = self._store.unreadable_feedback(entry.hash, FeedbackState, FinishedJobs)
            found += [UnreadableKept("What finished jobs told", one.reason, loop=loop) for loop, one in loops.items()]
        return tuple(found)
