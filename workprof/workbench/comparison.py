"""Two datasets side by side, of what other questions answer about each."""

from __future__ import annotations

from workprof.core.errors import ColumnMissing, NotEnoughData
from workprof.core.progress import Progress, silent
from workprof.memory.comparison import Comparison, Side, durations_of, parts_of
from workprof.memory.ledger import Ledger
from workprof.memory.ledger_settings import LedgerSettings
from workprof.store.reports import Dataset
from workprof.workbench.memory import MemoryQuestions


class ComparisonQuestions(MemoryQuestions):
    """The question of `workprof compare`."""

    def compare(self, before: str, after: str, by: str = "", progress: Progress = silent) -> Comparison:
        """Two datasets, or scopes of one, side by side; `by` is what the rows are ('' = users, else tasks).

        Each number is the one that the ledger, the verdict and the runs themselves give of that side alone.

        Raises:
            WrongKind: when either is no job trace.
            SettingsError: when `by` is none of the ledger's.
        """
        entries = [self._jobs_of(one) for one in (before, after)]
        first, second = (self.ledger(one.hash, LedgerSettings(by=by), progress) for one in entries)
        if first.settings.by != second.settings.by:
            first, second = (self.ledger(one.hash, LedgerSettings(by="task"), progress) for one in entries)
        one, other = (self._side(entry, ledger) for entry, ledger in zip(entries, (first, second), strict=True))
        return Comparison(first.settings.by, (one, other), parts_of((first, second)))

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
        return Side(entry.name, self.counts(entry.hash).users, durations, ledger.totals, judged)
