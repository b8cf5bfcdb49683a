"""Two datasets side by side, of what other questions answer about each."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from workprof.core.errors import ColumnMissing, NotEnoughData, SettingsError
from workprof.core.progress import Progress, silent
from workprof.core.scope import bounds, parsed, split
from workprof.core.units import dated
from workprof.formats import utc_offset_s
from workprof.memory.advice import VERDICT, verdict_table
from workprof.memory.bins import PROFILE_COLUMN
from workprof.memory.comparison import Comparison, Side, durations_of, parts_of
from workprof.memory.ledger import Ledger, ledger_of
from workprof.memory.ledger_settings import PROFILE, LedgerSettings
from workprof.memory.questions import LEDGER
from workprof.memory.realised import CLOCK
from workprof.profiles.fit import labelled
from workprof.profiles.names import name_of
from workprof.profiles.settings import ProfileSettings
from workprof.store.reports import Dataset
from workprof.workbench.memory import MemoryQuestions


class ComparisonQuestions(MemoryQuestions):
    """The question of `workprof compare`."""

    def compare(self, before: str, after: str, by: str = "", progress: Progress = silent) -> Comparison:
        """Two datasets, or scopes of one, side by side; `by` is what the rows are ('' = users, else tasks).

        Profiles are those of the whole dataset, so that both sides have the same ones.

        Each number is the one that the ledger, the verdict and the runs themselves give of that side alone.

        Raises:
            WrongKind: when either is no job trace.
            SettingsError: when `by` is none of the ledger's; profiles, of two datasets.
        """
        entries = [self._jobs_of(one) for one in (before, after)]
        if by == PROFILE:
            return self._by_profile(entries, progress)
        first, second = (self.ledger(one.hash, LedgerSettings(by=by), progress) for one in entries)
        if first.settings.by != second.settings.by:
            first, second = (self.ledger(one.hash, LedgerSettings(by="task"), progress) for one in entries)
        one, other = (self._side(entry, ledger) for entry, ledger in zip(entries, (first, second), strict=True))
        return Comparison(first.settings.by, (one, other), parts_of((first.rows, second.rows)))

    def _by_profile(self, entries: list[Dataset], progress: Progress) -> Comparison:
        whole, *others = {split(one.hash)[0] for one in entries}
        if others:
            raise SettingsError("two datasets have no profiles in common; compare two scopes of one, or --by task")
        fit, names = self.profiles(whole, ProfileSettings(), progress), self.profile_names(whole)

        def ledger(entry: Dataset) -> Ledger:
            settings = LedgerSettings(by=PROFILE)
            jobs = self.frames_of(entry, LEDGER.columns(settings), every=True)()["jobs"]
            whole_rows = self._store.whole_rows(entry.hash)[jobs["row_id"].to_numpy(dtype=np.int64)]
            jobs = labelled(jobs.assign(row_id=whole_rows), fit, PROFILE_COLUMN)
            return ledger_of({"jobs": jobs, VERDICT: verdict_table(self.verdict(entry.hash))}, settings)

        first, second = map(ledger, entries)
        one, other = (self._side(entry, ledger) for entry, ledger in zip(entries, (first, second), strict=True))
        parts = tuple(replace(part, name=name_of(part.name, names)) for part in parts_of((first.rows, second.rows)))
        return Comparison(PROFILE, (one, other), parts)

    def _side(self, entry: Dataset, ledger: Ledger) -> Side:
        try:
            memory = self.verdict(entry.hash).memory
        except (NotEnoughData, ColumnMissing):
            memory = None
        jobs = self.frames_of(entry, ["duration_s"])()["jobs"]
        durations = durations_of(
            jobs["duration_s"].to_numpy() if "duration_s" in jobs else jobs["row_id"].to_numpy()[:0]
        )
        judged = None if memory is None or memory.problem else memory.judged
        users = self.counts(entry.hash).users
        return Side(entry.name, users, durations, ledger.totals, judged, self._covered_s(entry))

    def _covered_s(self, entry: Dataset) -> float:
        """The time from a dataset's first start to its last moment, in the period of a scope alone; NaN without any."""
        whole, text = split(entry.hash)
        told = {one.column.name: one for one in self.column_profiles(whole, CLOCK) if one.missing_share < 1}
        starts = told.get("start_time_s", told.get("submit_time_s"))
        if starts is None:
            return math.nan
        first, latest = starts.minimum, max(one.maximum for one in told.values())
        if "end_time_s" not in told or told["end_time_s"].missing_share:  # what runs on ends with its last sample
            jobs = self.frames_of(self.dataset(whole), [starts.column.name, "duration_s"], every=True)()["jobs"]
            if "duration_s" in jobs:
                latest = max(latest, float((jobs[starts.column.name] + jobs["duration_s"]).max()))
        period = parsed(text).period if text else ""
        offset_s = utc_offset_s(entry.format)
        low, high = bounds(period, dates=dated(starts.maximum), utc_offset_s=offset_s) if period else (None, None)
        return min(latest, latest if high is None else high) - max(first, first if low is None else low)
