"""A report's numbers: a ZIP of CSV files, and the manifest that says what each is and what it rests on."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any

import pandas as pd

from workprof.charts.downloads import csv_bytes
from workprof.core.records import to_json
from workprof.inputs import safe_name
from workprof.report.parts import Section
from workprof.report.report import Report

MANIFEST = "manifest.json"
EPOCH = (1980, 1, 1, 0, 0, 0)
"""Of every file in the ZIP: the same report gives the same bytes."""


def report_bundle(report: Report) -> bytes:
    """Return the ZIP: every chart's and table's rows as CSV, whole, and `manifest.json`."""
    target = io.BytesIO()
    files: list[dict[str, Any]] = []
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as bundle:
        for section in report.sections:
            for name, title, frame in _frames(section):
                content = csv_bytes(frame)
                path = f"{section.kind.name}/{name}.csv"
                bundle.writestr(zipfile.ZipInfo(path, EPOCH), content, zipfile.ZIP_DEFLATED)
                files.append(
                    {
                        "file": path,
                        "section": section.kind.name,
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


def _frames(section: Section) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield file stem, title and rows; a stem that repeats gets a number."""
    taken: dict[str, int] = {}
    content = section.content
    named = [(chart.name, chart.takeaway, chart.data) for chart in content.charts]
    for stem, title, frame in [*named, *((table.name, table.title, table.frame) for table in content.tables)]:
        name = safe_name(stem)
        taken[name] = taken.get(name, 0) + 1
        yield (name if taken[name] == 1 else f"{name}-{taken[name]}"), title, frame
