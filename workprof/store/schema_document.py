"""What the columns of a dataset mean, as a JSON document that lies beside its Parquet or CSV file."""

from __future__ import annotations

import json
from collections.abc import Sequence

from workprof.formats.fields import DESCRIPTIONS, FIELDS
from workprof.store.reports import Column, Dataset

SUFFIX = ".schema.json"
KEPT = "Kept from the trace as it is; the trace's own documentation says what it means."
PLANTED = "Planted truth of a synthetic trace: for scoring, no method sees it."


def schema_document(dataset: Dataset, columns: Sequence[Column]) -> str:
    """Return JSON: the dataset, then name, type, unit, source column and description of every column, in order.

    `type` is DuckDB's; `unit` is null where there is none, `source` null where the column was made while loading (from
    the file's name, or from other columns).
    """
    document = {
        "dataset": dataset.name,
        "hash": dataset.hash,
        "kind": dataset.kind,
        "format": dataset.format,
        "join": dataset.mode,
        "rows": dataset.rows,
        "origin": dataset.origin,
        "columns": [_described(column) for column in columns],
    }
    return json.dumps(document, indent=2) + "\n"


def _described(column: Column) -> dict[str, str | None]:
    description = PLANTED if column.truth else KEPT
    if column.name in FIELDS and not column.truth:
        description = DESCRIPTIONS[column.name]
    return {
        "name": column.name,
        "type": column.type,
        "unit": column.unit or None,
        "source": column.source or None,
        "description": description,
    }
