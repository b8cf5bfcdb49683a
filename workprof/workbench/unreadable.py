"""What people keep about a dataset and cannot be read any more: it is told, and can be removed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workprof.forecasts.feedback.model import FinishedJobs
from workprof.forecasts.feedback.windows import FeedbackState
from workprof.formats.measured import BENCHMARKS, TELEMETRY
from workprof.memory.decisions import Decision
from workprof.memory.scenarios import Scenario
from workprof.nodes.ranking import NodeScenario
from workprof.phases.library import LibraryEdits
from workprof.store.reports import Dataset
from workprof.workbench.datasets import DatasetQuestions
from workprof.workbench.question_methods import JOBS

ANNOTATIONS: dict[str, tuple[str, type[Any]]] = {
    JOBS: ("Scenario {!r}", Scenario),
    BENCHMARKS: ("Scenario {!r}", NodeScenario),
    TELEMETRY: ("What was labelled by hand", LibraryEdits),
}
"""Kind of a dataset -> the words for what people keep about it, with a place for its name, and its class."""


@dataclass(frozen=True)
class UnreadableEntry:
    """One thing that was kept about a dataset, and why it cannot be read."""

    what: str  # it is, for people
    reason: str  # that it cannot be read, for people
    scenario: str | None = None  # its name, where it is one; else None
    loop: str | None = None  # digest of the settings of its feedback loop, where it is one; else None
    decision: str | None = None  # the row that it is about, where it is one; else None


class UnreadableQuestions(DatasetQuestions):
    """Questions about what the database keeps beside the datasets' rows."""

    def unreadable(self, dataset: str) -> tuple[UnreadableEntry, ...]:
        """What is kept about a dataset and cannot be read; nothing in a home that nobody damaged."""
        entry = self.dataset(dataset)
        return self._views.get((entry.hash, f"unreadable {self._store.commits}"), lambda: self._unreadable(entry))

    def remove_unreadable(self, dataset: str) -> tuple[UnreadableEntry, ...]:
        """Remove what cannot be read of what is kept about a dataset, and return what it was."""
        entry = self.dataset(dataset)
        result = self._unreadable(entry)
        for one in result:
            if one.scenario is not None:
                self._store.remove_scenario(entry.hash, one.scenario)
            if one.loop is not None:
                self._store.forget_feedback(entry.hash, one.loop)
            if one.decision is not None:
                self._store.save_decisions(entry.name, {one.decision: None})
        return result

    def _unreadable(self, entry: Dataset) -> tuple[UnreadableEntry, ...]:
        what, cls = ANNOTATIONS.get(entry.kind, ANNOTATIONS[JOBS])
        scenarios = self._store.unreadable_scenarios(entry.hash, cls)
        result = [UnreadableEntry(what.format(name), one.reason, scenario=name) for name, one in scenarios.items()]
        if entry.kind == JOBS:
            loops = self._store.unreadable_feedback(entry.hash, FeedbackState, FinishedJobs)
            result += [UnreadableEntry("Observed finished jobs", one.reason, loop=loop) for loop, one in loops.items()]
            _, decided = self._store.decisions(entry.name, Decision)
            words = "Decision on {!r}"
            result += [UnreadableEntry(words.format(key), one.reason, decision=key) for key, one in decided.items()]
        return tuple(result)
