"""A report in the forms that a reader takes away."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from workprof.core.progress import Progress
from workprof.report.bundle import manifest, report_bundle
from workprof.report.html import report_html
from workprof.report.report import Report, make_report
from workprof.workbench import Workbench


@dataclass(frozen=True)
class BuiltReport:
    """A report with its files.

    Attributes:
        report: as made.
        page: HTML, UTF-8.
        bundle: ZIP of CSV files.
        manifest: JSON, UTF-8.
    """

    report: Report
    page: bytes
    bundle: bytes
    manifest: bytes


def build_report(
    workbench: Workbench, dataset: str, chosen: Sequence[str], note: str, progress: Progress
) -> BuiltReport:
    """Return a report with its files; see `make_report`."""
    made = make_report(workbench, dataset, chosen, note, progress)
    written = json.dumps(manifest(made), indent=2, allow_nan=False).encode()
    return BuiltReport(made, report_html(made).encode(), report_bundle(made), written)
