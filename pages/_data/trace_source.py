"""Where a trace comes from: an upload of the browser, or a file of the server's data folder."""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from pages._frame.visit import Visit
from workprof.charts.text import visible
from workprof.inputs import Spooled, chosen_file, listed_files, spool_upload
from workprof.units import MIB, format_bytes

TYPES = ["csv", "tsv", "txt", "parquet", "json", "jsonl", "ndjson", "gz", "zst"]
SOURCES = ("Upload", "Data folder")
ROUND = "data_round"


def choose() -> str:
    """Show the kinds of sources and return the chosen one."""
    source = st.segmented_control(
        "Where is the file?", SOURCES, default=SOURCES[0], required=True, key="data_source", bind="query-params"
    )
    return source or SOURCES[0]


def pick(visit: Visit, source: str) -> UploadedFile | str | None:
    """Show the widget of a kind of source and return what it holds."""
    return _upload() if source == SOURCES[0] else _folder(visit)


def taken(visit: Visit, picked: UploadedFile | str) -> Spooled:
    """Return the source on disk; an upload leaves the widget, and so the server's memory."""
    if isinstance(picked, str):
        path = chosen_file(visit.house.settings.data, picked)
        return Spooled(path, path, picked)
    spooled = spool_upload(picked, picked.name, visit.house.settings.home)
    st.session_state[ROUND] = st.session_state.get(ROUND, 0) + 1
    return spooled


def _upload() -> UploadedFile | None:
    limit = format_bytes(st.get_option("server.maxUploadSize") * MIB)
    return st.file_uploader(
        f"Trace file (up to {limit}; larger: the data folder, or `workprof ingest FILE` in a shell)",
        type=TYPES,
        key=f"data_upload_{st.session_state.get(ROUND, 0)}",
        help="CSV, Parquet or JSON lines, plain or as .gz or .zst. It stays on this machine.",
    )


def _folder(visit: Visit) -> str | None:
    folder: Path = visit.house.settings.data
    files = listed_files(folder)
    if not files:
        st.info("The data folder of this server (WORKPROF_DATA) holds no trace file.", icon=":material/folder_off:")
    return st.selectbox(
        "File in the server's data folder, or a folder of raw PAI tables",
        files,
        index=None,
        format_func=visible,
        key="data_file",
        bind="query-params",
        placeholder="Choose a file",
    )
