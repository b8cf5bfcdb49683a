"""The Memory page's questions, declared in `workprof.memory.questions`, and its scenarios."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pandas as pd

from workprof.core.errors import SettingsError
from workprof.core.progress import Progress, silent
from workprof.memory import questions
from workprof.memory.bins import PROFILE_COLUMN
from workprof.memory.scenarios import Comparison, Scenario, compare
from workprof.profiles.settings import ProfileSettings
from workprof.store.reports import Dataset
from workprof.workbench.asking import Frames, ask
from workprof.workbench.profiles import ProfileQuestions


def _with_profiles(
    bench: Any, entry: Dataset, settings: Any, fit: ProfileSettings, progress: Progress | None
) -> Frames:
    """Return a function that finds the profiles where they are not cached, and reads what sizing needs with them."""

    def read() -> Mapping[str, pd.DataFrame]:
        found = bench.profiles(entry.hash, fit, progress or silent)
        labels = pd.Series(found.labels, index=found.row_ids)
        jobs = bench.frames_of(entry, questions.BINS.reads(settings.bins))()["jobs"]
        return {"jobs": jobs.assign(**{PROFILE_COLUMN: jobs["row_id"].map(labels)})}

    return read


class MemoryQuestions(ProfileQuestions):
    """The questions of the Memory page and of `workprof memory`."""

    assessment = ask(questions.ASSESS)
    fact_points = ask(questions.FACT)
    bins = ask(questions.BINS)
    improvement = ask(questions.CURVE)
    profile_bins = ask(questions.PROFILE_BINS, frames=_with_profiles)
    profile_improvement = ask(questions.PROFILE_CURVE, frames=_with_profiles)
    bin_models = ask(questions.TRAIN)
    bin_tables = ask(questions.TABLES)
    replay = ask(questions.REPLAY)
    why_size = ask(questions.WHY)
    plan = ask(questions.PLAN)
    violations = ask(questions.VIOLATIONS)
    rollup = ask(questions.ROLLUP)

    def save_scenario(self, dataset: str, scenario: Scenario) -> Scenario:
        """Keep a scenario under its name and return it with its time."""
        entry = self._jobs_of(dataset)
        if scenario.dataset_hash != entry.hash:
            raise SettingsError(f"scenario {scenario.name!r} is of another dataset than {entry.name}; make it again")
        kept = replace(scenario, created=datetime.now(UTC).isoformat(timespec="seconds"))
        self._store.save_scenario(entry.hash, kept.name, kept.created, kept)
        return kept

    def scenarios(self, dataset: str) -> tuple[Scenario, ...]:
        """Return the kept scenarios of a dataset, the newest first."""
        return self._store.scenarios(self._jobs_of(dataset).hash, Scenario)

    def remove_scenario(self, dataset: str, name: str) -> None:
        """Forget a scenario."""
        self._store.remove_scenario(self._jobs_of(dataset).hash, name)

    def compare_scenarios(self, dataset: str, names: Sequence[str]) -> Comparison:
        """Return up to four kept scenarios side by side.

        Raises:
            SettingsError: for a name that is not kept, none, or more than four.
        """
        kept = {one.name: one for one in self.scenarios(dataset)}
        unknown = [name for name in names if name not in kept]
        if unknown:
            raise SettingsError(f"there is no scenario {unknown[0]!r}; choose from {', '.join(kept) or 'none'}")
        return compare(tuple(kept[name] for name in names))
