"""The texts of the Help page: glossary, settings, methods, definitions, formats, limits, diagnostics."""

import streamlit as st

from pages._frame.visit import Visit
from pages._parts import figures, tables
from pages._parts.controls import choice
from workprof.answers.help.methods import (
    DEFINITIONS,
    KEYS,
    LIMITS,
    MEASURED,
    METHODS,
    definition_table,
    diagnostics_text,
    field_table,
    format_table,
    rule_table,
)
from workprof.answers.help.settings import SETTING_COLUMNS, setting_lines, settings_table
from workprof.answers.help.terms import TERMS, matching_terms, term_table
from workprof.core.words import counted, markdown_text
from workprof.formats import FORMATS, TABLES, rules_of
from workprof.formats.fields import DESCRIPTIONS, JOB_FIELDS
from workprof.formats.pai_tables import CORRECTED
from workprof.workbench.datasets import diagnostics
from workprof.workbench.declared import DECLARED

LONGEST = 800
FIRST_AREA = "Memory"


def glossary(visit: Visit) -> None:
    """Show the terms of an area, or those that hold the searched words."""
    del visit
    figures.headline(f"{len(TERMS)} terms of workprof and of the field: search one, or choose an area.")
    text = st.text_input(
        "Search", key="help_term", bind="query-params", placeholder="A word, such as silhouette or u-score"
    )
    areas = tuple(dict.fromkeys(term.room for term in TERMS))
    area = choice("Area", "help_area", areas, index=areas.index(FIRST_AREA), row=True)
    result = matching_terms(text) if text.strip() else tuple(term for term in TERMS if term.room == area)
    if not result:
        st.info(f"No term contains {markdown_text(text, 60)}; try a shorter word.", icon=":material/search_off:")
        return
    st.caption(f"{counted(len(result), 'term')}{' in all areas' if text.strip() else ''}.")
    st.markdown(
        "\n".join(f"- **{markdown_text(term.name)}**: {markdown_text(term.meaning, LONGEST)}" for term in result)
    )
    tables.csv(term_table(result), "glossary", "help_terms_csv", "Download CSV")


def methods(visit: Visit) -> None:
    """Show what is computed, by whose method, and where workprof differs."""
    del visit
    figures.headline(f"{len(METHODS)} published methods, and where workprof differs from them.")
    for method in METHODS:
        with st.expander(f"{method.name} · {method.pages}", expanded=method is METHODS[0]):
            st.markdown(markdown_text(method.what, LONGEST))
            st.markdown(f"**In workprof:** {markdown_text(method.ours, LONGEST)}")
            st.markdown("\n".join(f"- {markdown_text(source, LONGEST)}" for source in method.sources))


def definitions(visit: Visit) -> None:
    """Show published definitions beside the default ones, with the numbers that made the difference."""
    del visit
    figures.headline(
        f"{len(DEFINITIONS)} published definitions are corrected by default; 'as published' repeats them and is marked."
    )
    for one in DEFINITIONS:
        with st.expander(markdown_text(one.topic), expanded=one is DEFINITIONS[0]):
            st.markdown(f"As published: {markdown_text(one.published, LONGEST)}")
            st.markdown(f"Default: {markdown_text(one.ours, LONGEST)}")
            st.markdown(f"The difference: {markdown_text(one.numbers, LONGEST)}")
            st.caption(f"Source: {markdown_text(one.source, LONGEST)}.")
    tables.csv(definition_table(), "definitions", "help_definitions_csv", "Download CSV")


def settings(visit: Visit) -> None:
    """Show every setting of every question, once."""
    text = st.text_input(
        "Search", key="help_setting", bind="query-params", placeholder="A word, such as headroom or seed"
    )
    lines = setting_lines(DECLARED.values(), text)
    if not lines:
        st.info(f"No setting contains {markdown_text(text, 60)}; try a shorter word.", icon=":material/search_off:")
        return
    most = visit.app_state.settings.ahead_s
    st.markdown(
        f"Pages compute by themselves what takes at most {most:g} s (`WORKPROF_AHEAD`, in seconds; 0 = never)."
        if most
        else "Pages compute nothing by themselves (`WORKPROF_AHEAD` is 0)."
    )
    st.markdown(f"{counted(len(lines), 'setting')}; on the command line `workprof COMMAND NAME OPTION VALUE`.")
    table = settings_table(lines)
    tables.show(
        table,
        SETTING_COLUMNS,
        key="help_settings",
        alt=f"{len(lines)} settings with their options, defaults and bounds",
    )
    tables.csv(table, "settings", "help_settings_csv", "Download CSV")


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
    tables.saved_frame(table, "formats", key="help_formats", alt=f"{len(table)} formats")
    st.header("What its columns become")
    mapped = tuple(name for name in (*FORMATS, TABLES) if rules_of(name))
    name = choice("Format", "help_format", mapped)
    rules = rule_table(rules_of(name))
    tables.saved_frame(rules, f"format-{name}", key="help_rules", alt=f"Columns of the format {name}")
    st.header("Fields of a job trace")
    st.caption("The names for features, groups and --map. 100 percent = one core or GPU; further columns are kept.")
    fields = field_table(JOB_FIELDS, DESCRIPTIONS)
    tables.saved_frame(fields, "fields", key="help_fields", alt=f"{len(fields)} fields of a job trace")


def limits(visit: Visit) -> None:
    """Show the limits, and the keyboard shortcuts."""
    del visit
    st.header("Limits")
    st.markdown("\n".join(f"- {markdown_text(limit, LONGEST)}" for limit in LIMITS))
    st.header("Keyboard shortcuts")
    st.markdown("\n".join(f"- **{markdown_text(keys)}**: {markdown_text(words, LONGEST)}" for keys, words in KEYS))
    st.caption("Whatever the mouse selects on a chart can be chosen in the lists and tables beside it.")


def diagnostics_view(visit: Visit) -> None:
    """Show versions and sizes, to be copied."""
    st.markdown(
        "Send these lines along with a question; the button at the upper right of the box copies them. They contain no "
        "names of people, machines or folders."
    )
    st.code(diagnostics_text(diagnostics(visit.workbench)), language=None, wrap_lines=True)
