"""The rules of one ingest: the format's own, those that the user gave for a generic file, or proposed."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence

from workprof.core.errors import ColumnMissing, SettingsError, UnitUnknown
from workprof.core.units import FACTORS, UNITS_OF
from workprof.formats import generic, values
from workprof.formats.declare import NUMBER, PLAIN, TEXT, Format, Rule
from workprof.formats.fields import FIELDS, NAME_FIELDS, TIME_FIELDS
from workprof.formats.generic import SYNONYMS, UNIT_SUFFIXES
from workprof.store.relation import INTERVAL, TIMESTAMP
from workprof.store.reports import FieldSource

SHOWN_COLUMNS = 20


def rules_for(
    declared: Format, mapping: Mapping[str, FieldSource], found: Sequence[str], guesses: Mapping[str, FieldSource]
) -> tuple[Rule, ...]:
    """Return the rules, every one of whose columns the file has or may lack.

    Args:
        declared: the format.
        mapping: what the user said; only for the generic format.
        found: the file's columns.
        guesses: what a look at the file proposes; only shown.

    Raises:
        ColumnMissing: when required columns or fields are absent; names what was found and what to do.
        SettingsError: when the mapping names an unknown field.
    """
    if declared.name != generic.FORMAT.name:
        _require(declared, found)
        return declared.rules
    asked = [_checked(field, source, found) for field, source in mapping.items()]
    taken = {rule.source for rule in asked}
    own = [
        rule
        for rule in declared.rules
        if rule.source in found and rule.source not in taken and rule.field not in mapping
    ]
    rules = (*asked, *own)
    lacking = missing_fields({rule.field for rule in rules})
    if lacking:
        raise ColumnMissing(
            f"fields are missing: {'; '.join(lacking)}. Columns found: {shown(found)}. "
            f"Say which column is which with --map FILE.json; a proposal to check: {as_json(guesses)}"
        )
    return rules


def missing_fields(have: Collection[str]) -> tuple[str, ...]:
    """Return what a job table still needs: a name, and a duration or both its times."""
    lacking = []
    if not set(NAME_FIELDS) & set(have):
        lacking.append("job_name or task_name")
    if "duration_s" not in have and not {"start_time_s", "end_time_s"} <= set(have):
        lacking.append("duration_s, or start_time_s and end_time_s")
    return tuple(lacking)


def as_json(mapping: Mapping[str, FieldSource]) -> str:
    """Return a mapping as the JSON that --map takes."""
    return json.dumps({field: _source_json(source) for field, source in mapping.items()})


def shown(names: Sequence[str]) -> str:
    """Return column names for a message, not more than fit."""
    more = f" and {len(names) - SHOWN_COLUMNS} more" if len(names) > SHOWN_COLUMNS else ""
    return ", ".join(name[:60] for name in names[:SHOWN_COLUMNS]) + more


def _require(declared: Format, found: Sequence[str]) -> None:
    lacking = [name for name in declared.required if name not in found]
    if lacking:
        raise ColumnMissing(
            f"format {declared.name} needs the column{'s' * (len(lacking) > 1)} {', '.join(lacking)}; "
            f"columns found: {shown(found)}. Choose another --format, or generic with --map"
        )


def _checked(field: str, source: FieldSource, found: Sequence[str]) -> Rule:
    if field not in FIELDS:
        raise SettingsError(f"the mapping names the field {field!r}; fields are {', '.join(FIELDS)}")
    if source.column not in found:
        raise ColumnMissing(f"the mapping takes {field} from {source.column!r}; columns found: {shown(found)}")
    allowed = UNITS_OF.get(FIELDS[field].unit, {})
    if source.unit and source.unit not in allowed:
        known = f"use one of {', '.join(allowed)}" if allowed else "it has no unit: leave it out"
        kind = "" if source.unit in FACTORS else " is not known"
        raise UnitUnknown(f"unit {source.unit!r} of {field}{kind or ' does not fit'}; {known}")
    return Rule(field, source.column, source.unit or PLAIN)


def _source_json(source: FieldSource) -> dict[str, str]:
    return {"from": source.column} | ({"unit": source.unit} if source.unit else {})


MOSTLY = 0.8
"""Share of a column's first texts that must be values of a field: one 'Unknown' does not hide a column."""

EPOCHS = (("ns", 1e17), ("us", 1e14), ("ms", 1e11))
"""Units of time stamps that are all above these: as seconds they would be after the year 5000."""


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
        named = _named(field, synonyms, free)
        column = next((name for name in named if _fits(field, types[name], samples.get(name, ()))), None)
        if column is not None:
            mapping[field] = FieldSource(column, _unit(field, column, types[column], samples.get(column, ())))
            free.remove(column)
    return {field: mapping[field] for field in FIELDS if field in mapping}


def _named(field: str, synonyms: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Return the columns that are called like a field, the likeliest first."""
    wanted = (re.sub(r"_(s|bytes|percent)$", "", field), field, *synonyms)
    found = [c for name in wanted for c in columns if name in (_bare(c), c.strip().lower())]
    return list(dict.fromkeys(found))


def _bare(column: str) -> str:
    words = re.split(r"[\s_.\-()\[\]]+", column.strip().lower())
    words = [word for word in words if word]
    if len(words) > 1 and words[-1] in UNIT_SUFFIXES:
        words = words[:-1]
    return "_".join(words)


def _fits(field: str, kind: str, texts: Sequence[str]) -> bool:
    """Tell whether a field may come from a column: by its type, or by its first texts ('08:23:08', '16Gi')."""
    if FIELDS[field].type == TEXT or kind in (NUMBER, "BIGINT"):
        return True
    if kind == TIMESTAMP:
        return field in TIME_FIELDS
    if kind == INTERVAL:
        return FIELDS[field].unit == "s" and field not in TIME_FIELDS
    there = [value for value in texts if value.strip() and value not in generic.FORMAT.nulls]
    quantity = values.TIME if field in TIME_FIELDS else FIELDS[field].unit
    read = [value is not None for value in values.numbers(there, quantity)]
    return bool(read) and sum(read) >= MOSTLY * len(read)


def _unit(field: str, column: str, kind: str, texts: Sequence[str]) -> str:
    unit = FIELDS[field].unit
    if not unit or kind in (TIMESTAMP, INTERVAL):
        return unit
    words = [word for word in re.split(r"[\s_.\-()\[\]]+", column.strip().lower()) if word]
    told = UNIT_SUFFIXES.get(words[-1], "") if len(words) > 1 else ""
    if told in UNITS_OF.get(unit, {}):
        return told
    if words[-1] in ("cpus", "cores", "gpus"):
        return "cores"
    if field in TIME_FIELDS:
        return next((epoch for epoch, least in EPOCHS if any(_above(value, least) for value in texts)), unit)
    return unit


def _above(value: str, limit: float) -> bool:
    try:
        return float(value) > limit
    except ValueError:
        return False
