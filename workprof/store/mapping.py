"""The rules of one ingest: the format's own, or those that the user gave for a generic file, checked."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence

from workprof.errors import ColumnMissing, SettingsError, UnitUnknown
from workprof.formats import generic
from workprof.formats.declare import PLAIN, Format, Rule
from workprof.formats.fields import FIELDS, NAME_FIELDS
from workprof.store.reports import FieldSource
from workprof.units import DURATION_FACTORS, FACTORS, MEMORY_FACTORS, PERCENT_FACTORS

UNITS_OF = {"s": DURATION_FACTORS, "B": MEMORY_FACTORS, "percent": PERCENT_FACTORS}
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
