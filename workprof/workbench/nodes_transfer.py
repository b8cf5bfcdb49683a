"""Questions about runtimes on other machines: reports of the same tasks, compared method by method."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from workprof.errors import NoRows
from workprof.formats.lotaru import read_reports, read_scores
from workprof.nodes.runtime_factors import PUBLISHED_SCORES, scores_from_frame
from workprof.nodes.runtime_intervals import Coverage, coverage, past_errors
from workprof.nodes.transfer import Transfer, TransferSettings, transfer
from workprof.workbench.datasets import DatasetQuestions


@dataclass(frozen=True)
class RuntimeTransfer:
    """How well runtimes on one machine tell those on others.

    Attributes:
        interval: how often the intervals of our factor hold; None where it could not be computed.
        notes: of the reading.
    """

    settings: TransferSettings
    found: Transfer
    interval: Coverage | None
    notes: tuple[str, ...]


class TransferQuestions(DatasetQuestions):
    """The question of the Nodes page's view of transfers. Its reports are files, never datasets of the store."""

    def report_machines(self, folder: Path) -> tuple[str, ...]:
        """Return the machines that have execution reports in a folder.

        Raises:
            NoRows: when there are none.
        """
        machines = sorted({path.relative_to(folder).parts[0] for path in folder.glob("*/**/execution_report_*.csv")})
        if not machines:
            raise NoRows(f"{folder.name} holds no MACHINE/.../execution_report_*.csv; choose another folder")
        return tuple(machines)

    def runtime_transfer(self, folder: Path, settings: TransferSettings, scores: Path | None = None) -> RuntimeTransfer:
        """Return the errors of every method on the reports of a folder; without a file of scores, by published ones.

        Raises:
            NoRows: when a machine has no report, or nothing can be predicted.
        """
        known = scores_from_frame(read_scores(scores)) if scores else PUBLISHED_SCORES
        read = read_reports(folder, (settings.local, *settings.targets))
        found = transfer(read.by_machine, known, settings)
        told = coverage(past_errors(found), settings.confidence) if found.default in found.methods else None
        return RuntimeTransfer(settings, found, told, read.notes)
