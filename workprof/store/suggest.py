"""What a look at the first rows of a generic file proposes. Only shown: the user says yes or no."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from workprof.formats.declare import NUMBER, TEXT
from workprof.formats.fields import FIELDS
from workprof.formats.generic import SYNONYMS, UNIT_SUFFIXES
from workprof.store.mapping import UNITS_OF
from workprof.store.relation import TIMESTAMP
from workprof.store.reports import FieldSource

MILLISECOND_EPOCH = 1e11
"""A time stamp above this is in milliseconds: as seconds it would be after the year 5000."""


def guessed_mapping(types: Mapping[str, str], samples: Mapping[str, Sequence[str]]) -> dict[str, FieldSource]:
    """Return field -> column with unit, by equal names first, then by synonyms; every column is used once."""
    free = list(types)
    mapping: dict[str, FieldSource] = {}
    for field in FIELDS:
        if field in free:
            mapping[field] = FieldSource(field, FIELDS[field].unit)
            free.remove(field)
    for field, synonyms in SYNONYMS.items():
        if field in mapping:
            continue
        column = _best(field, synonyms, [name for name in free if _fits(field, types[name])])
        if column is not None:
            mapping[field] = FieldSource(column, _unit(field, column, types[column], samples.get(column, ())))
            free.remove(column)
    return {field: mapping[field] for field in FIELDS if field in mapping}


def _best(field: str, synonyms: Sequence[str], columns: Sequence[str]) -> str | None:
    wanted = (re.sub(r"_(s|bytes|percent)$", "", field), field, *synonyms)
    for name in wanted:
        for column in columns:
            if _bare(column) == name or column.strip().lower() == name:
                return column
    return None


def _bare(column: str) -> str:
    words = re.split(r"[\s_.\-()\[\]]+", column.strip().lower())
    words = [word for word in words if word]
    if len(words) > 1 and words[-1] in UNIT_SUFFIXES:
        words = words[:-1]
    return "_".join(words)


def _fits(field: str, kind: str) -> bool:
    if FIELDS[field].type == TEXT:
        return True
    return kind in (NUMBER, "BIGINT") or (kind == TIMESTAMP and field.endswith("_time_s"))


def _unit(field: str, column: str, kind: str, values: Sequence[str]) -> str:
    unit = FIELDS[field].unit
    if not unit or kind == TIMESTAMP:
        return unit
    words = [word for word in re.split(r"[\s_.\-()\[\]]+", column.strip().lower()) if word]
    told = UNIT_SUFFIXES.get(words[-1], "") if len(words) > 1 else ""
    if told in UNITS_OF.get(unit, {}):
        return told
    if words[-1] in ("cpus", "cores", "gpus"):
        return "cores"
    if field.endswith("_time_s") and any(_above(value, MILLISECOND_EPOCH) for value in values):
        return "ms"
    return unit


def _above(value: str, limit: float) -> bool:
    try:
        return float(value) > limit
    except ValueError:
        return False
