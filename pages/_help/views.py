"""The texts of the Help page: glossary, settings, methods, definitions, limits, diagnostics."""

from __future__ import annotations

import streamlit as st

from pages._frame.visit import Visit
from pages._parts import tables
from workprof.charts.help.methods import DEFINITIONS, KEYS, LIMITS, METHODS, definition_table, diagnostics_text
from workprof.charts.help.settings import SETTING_COLUMNS, setting_lines, settings_table
from workprof.charts.help.terms import found_terms, term_table
from workprof.charts.text import counted, markdown_text
from workprof.workbench.datasets import diagnostics
from workprof.workbench.declared import DECLARED

LONGEST = 800


def glossary(visit: Visit) -> None:
    """Show the terms that hold the searched words."""
    del visit
    text = st.text_input(
        "Search", key="help_term", bind="query-params", placeholder="A word, such as silhouette or u-score"
    )
    found = found_terms(text)
    if not found:
        st.info(f"No term holds {markdown_text(text, 60)}; try a shorter word.", icon=":material/search_off:")
        return
    st.caption(f"{counted(len(found), 'term')}.")
    for room in dict.fromkeys(term.room for term in found):
        st.header(room)
        lines = [
            f"- **{markdown_text(term.name)}**: {markdown_text(term.meaning, LONGEST)}"
            for term in found
            if term.room == room
        ]
        st.markdown("\n".join(lines))
    tables.csv(term_table(found), "glossary", "help_terms_csv", "CSV of these terms")


def methods(visit: Visit) -> None:
    """Show what is computed, by whose method, and where ours differs."""
    del visit
    for method in METHODS:
        st.header(method.name)
        st.caption(f"On: {method.pages}")
        st.markdown(markdown_text(method.what, LONGEST))
        st.markdown(f"**Ours:** {markdown_text(method.ours, LONGEST)}")
        st.markdown("\n".join(f"- {markdown_text(source, LONGEST)}" for source in method.sources))


def definitions(visit: Visit) -> None:
    """Show published definitions beside ours, with the numbers that made the difference."""
    del visit
    st.markdown(
        "**Corrected** is the default. **Faithful** repeats what was published, unit slips and all, and is flagged "
        "wherever it is shown. Where there is no such mode, ours alone is computed."
    )
    for one in DEFINITIONS:
        with st.container(border=True):
            st.markdown(f"**{markdown_text(one.topic)}**")
            st.markdown(f"As published: {markdown_text(one.published, LONGEST)}")
            st.markdown(f"Corrected: {markdown_text(one.ours, LONGEST)}")
            st.markdown(f"The difference: {markdown_text(one.numbers, LONGEST)}")
            st.caption(f"Source: {markdown_text(one.source, LONGEST)}.")
    tables.csv(definition_table(), "definitions", "help_definitions_csv", "CSV of these definitions")


def settings(visit: Visit) -> None:
    """Show every setting of every question, once."""
    del visit
    text = st.text_input(
        "Search", key="help_setting", bind="query-params", placeholder="A word, such as headroom or seed"
    )
    lines = setting_lines(DECLARED.values(), text)
    if not lines:
        st.info(f"No setting holds {markdown_text(text, 60)}; try a shorter word.", icon=":material/search_off:")
        return
    st.markdown(f"{counted(len(lines), 'setting')}; in a shell `workprof COMMAND NAME OPTION VALUE`.")
    table = settings_table(lines)
    tables.show(
        table,
        SETTING_COLUMNS,
        key="help_settings",
        alt=f"{len(lines)} settings with their options, defaults and bounds",
    )
    tables.csv(table, "settings", "help_settings_csv", "CSV of these settings")


def limits(visit: Visit) -> None:
    """Show what is not done, and the keys."""
    del visit
    st.header("Limits")
    st.markdown("\n".join(f"- {markdown_text(limit, LONGEST)}" for limit in LIMITS))
    st.header("Keys")
    st.markdown("\n".join(f"- **{markdown_text(keys)}**: {markdown_text(words, LONGEST)}" for keys, words in KEYS))
    st.caption("Whatever the mouse selects on a chart can be chosen in the lists and tables beside it.")


def diagnostics_view(visit: Visit) -> None:
    """Show versions and sizes, to be copied."""
    st.markdown(
        "To be sent along with a question. The button at the upper right of the box copies it. It names no person, no "
        "machine and no folder."
    )
    st.code(diagnostics_text(diagnostics(visit.workbench)), language=None, wrap_lines=True)
