"""How a trace is to be read: the options of an import, each with the format's own as the first choice."""

from __future__ import annotations

import streamlit as st

from pages._parts.controls import AUTO, choice
from workprof.formats import NAMES
from workprof.store.reports import GRAINS, JOINS, IngestOptions

DELIMITERS = {AUTO: "", "comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}
ENCODINGS = {AUTO: ""} | {name: name for name in ("utf-8", "utf-16", "utf-16-le", "utf-16-be", "latin-1")}
DECIMALS = {AUTO: "", "point": ".", "comma": ","}
DUPLICATES = ("keep", "drop")

JOIN_MEANING = (
    "corrected: instances and sensors are joined by worker. faithful: by inst_id, as published; it repeats every task "
    "of a job for every instance and sensor row of that job, and everything made from it carries the flag 'published "
    "definitions'."
)
GRAIN_MEANING = (
    "One row per instance, task or job, of the corrected join. The profiles' own grain is the instance; tasks and jobs "
    "add up their instances, for planning."
)
DUPLICATES_MEANING = "Rows that repeat an earlier row. They are counted either way, under Checks and rejects."
ZONE = (
    "Times without a zone are read as UTC. The PAI traces tell no dates; their hours and weekdays are those of UTC+8. "
    "The time coverage can be shown in another zone."
)


def ingest_options() -> IngestOptions:
    """Show the options behind a button and return what they say."""
    with st.popover("How to read it", icon=":material/tune:"):
        named = choice("Format", "data_format", (AUTO, *NAMES), "auto recognises a format by its columns.")
        duplicates = choice("Repeated rows", "data_duplicates", DUPLICATES, DUPLICATES_MEANING)
        st.markdown("**Text files**; auto: the format's own")
        with st.container(horizontal=True):
            delimiter = choice("Delimiter", "data_delimiter", tuple(DELIMITERS))
            encoding = choice("Encoding", "data_encoding", tuple(ENCODINGS))
            decimal = choice("Decimal sign", "data_decimal", tuple(DECIMALS))
        join, grain = _raw_tables()
        st.caption(ZONE)
    return IngestOptions(
        format=named,
        duplicates=duplicates,
        join=join,
        grain=grain,
        delimiter=DELIMITERS[delimiter],
        encoding=ENCODINGS[encoding],
        decimal=DECIMALS[decimal],
    )


def _raw_tables() -> tuple[str, str]:
    """Return join and grain; the published join has no grain but its own."""
    st.markdown("**Raw PAI tables** (a folder of the data folder)")
    with st.container(horizontal=True):
        join = choice("Join", "data_join", JOINS, JOIN_MEANING)
        grain = st.selectbox(
            "Grain",
            GRAINS,
            key="data_grain",
            bind="query-params",
            disabled=join == "faithful",
            help=GRAIN_MEANING,
        )
    return join, GRAINS[0] if join == "faithful" else grain
