"""A report's numbers: a ZIP of CSV files, and the manifest that says what each is and what it rests on."""

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from workprof.charts.shapes import Chart
from workprof.core.progress import Progress
from workprof.core.records import to_json
from workprof.core.table import csv_bytes
from workprof.inputs import safe_name
from workprof.profiles.settings import ProfileSettings
from workprof.report.html import report_html
from workprof.report.parts import Decision, Table
from workprof.report.report import Report, make_report
from workprof.workbench import Workbench

MANIFEST = "manifest.json"
DECISION = "decision"
"""Folder of the first page's rows."""
EPOCH = (1980, 1, 1, 0, 0, 0)
"""Of every file in the ZIP: the same report gives the same bytes."""


def report_bundle(report: Report) -> bytes:
    """Return the ZIP: every chart's and table's rows as CSV, whole, and `manifest.json`."""
    target = io.BytesIO()
    files: list[dict[str, Any]] = []
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as bundle:
        parts = [(section.kind.name, section.content.charts, section.content.tables) for section in report.sections]
        if (first := report.decision) is not None:
            parts.insert(0, (DECISION, (first.chart,) if first.chart else (), first.tables))
        for part, charts, tables in parts:
            for name, title, frame in _frames(charts, tables):
                content = csv_bytes(frame)
                path = f"{part}/{name}.csv"
                bundle.writestr(zipfile.ZipInfo(path, EPOCH), content, zipfile.ZIP_DEFLATED)
                files.append(
                    {
                        "file": path,
                        "section": part,
                        "title": title,
                        "rows": len(frame),
                        "sha256": hashlib.sha256(content).hexdigest(),
                    }
                )
        written = json.dumps(manifest(report) | {"files": files}, indent=2, allow_nan=False)
        bundle.writestr(zipfile.ZipInfo(MANIFEST, EPOCH), written, zipfile.ZIP_DEFLATED)
    return target.getvalue()


def manifest(report: Report) -> dict[str, Any]:
    """Return what a report rests on: dataset, settings, versions, and which sections it has."""
    return {
        "dataset": to_json(report.dataset),
        "lost": report.lost,
        "machine_shares": to_json(report.machine_shares),
        "created": report.created,
        "note": report.note,
        "versions": report.versions,
        "seconds": report.seconds,
        "decision": _decision(report.decision) if report.decision is not None else None,
        "sections": [
            {
                "name": section.kind.name,
                "status": section.status,
                "reason": section.reason,
                "published": section.content.published,
                "settings": to_json(section.content.settings),
                "headlines": [{"label": item.label, "value": item.value} for item in section.content.headlines],
            }
            for section in report.sections
        ],
    }


def _decision(decision: Decision) -> dict[str, Any]:
    headlines = [{"label": item.label, "value": item.value} for item in decision.headlines]
    return {
        "answer": decision.summary,
        "advice": decision.advice,
        "headlines": headlines,
        "risks": list(decision.risks),
    }


def _frames(charts: Sequence[Chart], tables: Sequence[Table]) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield file stem, title and rows; a stem that repeats gets a number."""
    taken: dict[str, int] = {}
    named = [(chart.name, chart.takeaway, chart.data) for chart in charts]
    for stem, title, frame in [*named, *((table.name, table.title, table.frame) for table in tables)]:
        name = safe_name(stem)
        taken[name] = taken.get(name, 0) + 1
        yield (name if taken[name] == 1 else f"{name}-{taken[name]}"), title, frame


@dataclass(frozen=True)
class BuiltReport:
    """A report with its files."""

    report: Report  # as made
    page: bytes  # HTML, UTF-8
    bundle: bytes  # ZIP of CSV files
    manifest: bytes  # JSON, UTF-8


def build_report(
    workbench: Workbench,
    dataset: str,
    chosen: Sequence[str],
    note: str,
    progress: Progress,
    clustering: ProfileSettings | None = None,
) -> BuiltReport:
    """Return a report with its files; see `make_report`."""
    made = make_report(workbench, dataset, chosen, note, progress, clustering)
    written = json.dumps(manifest(made), indent=2, allow_nan=False).encode()
    return BuiltReport(made, report_html(made).encode(), report_bundle(made), written)
