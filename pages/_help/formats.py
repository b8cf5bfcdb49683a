"""The formats that can be read, from their declarations."""

from __future__ import annotations

import streamlit as st

from pages._frame.visit import Visit
from pages._parts import figures
from pages._parts.controls import choice
from workprof.charts.help.methods import MEASURED, field_table, format_table, rule_table
from workprof.formats import FORMATS, TABLES, rules_of
from workprof.formats.fields import DESCRIPTIONS, JOB_FIELDS
from workprof.formats.pai_tables import CORRECTED


def formats(visit: Visit) -> None:
    """Show the formats, the columns of one, and the fields that every job trace is turned into."""
    del visit
    st.markdown(
        "The format of a file is recognised by its content; `--format` or the Data page can name it. "
        "Any other table is "
        "imported as **generic** with a mapping of its columns. Every line is counted: as a row, a reject, blank, or "
        "part of a quoted cell. A file with a broken quote is refused with the line; `workprof ingest --accept-loss` "
        "imports the rest and counts the lost lines."
    )
    table = format_table((*FORMATS.values(), CORRECTED), MEASURED)
    figures.table(table, "formats", key="help_formats", alt=f"{len(table)} formats")
    st.header("What its columns become")
    mapped = tuple(name for name in (*FORMATS, TABLES) if rules_of(name))
    name = choice("Format", "help_format", mapped)
    rules = rule_table(rules_of(name))
    figures.table(rules, f"format-{name}", key="help_rules", alt=f"Columns of the format {name}")
    st.header("Fields of a job trace")
    st.caption("The names for features, groups and --map. 100 percent = one core or GPU; further columns are kept.")
    fields = field_table(JOB_FIELDS, DESCRIPTIONS)
    figures.table(fields, "fields", key="help_fields", alt=f"{len(fields)} fields of a job trace")
