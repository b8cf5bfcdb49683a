"""Bring in a trace: an upload or a file of the data folder, how to read it, and what became of it."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages import _datasets, _mapping, _progress, _shell
from pages._mapping import WAITING
from workprof.background import IngestView
from workprof.charts.data import ingest_sentence
from workprof.charts.text import markdown_text
from workprof.formats import NAMES
from workprof.inputs import Spooled, chosen_file, discarded_if_refused, listed_files, spool_upload
from workprof.store.reports import JOINS, IngestOptions
from workprof.units import format_bytes

TYPES = ["csv", "tsv", "txt", "parquet", "json", "jsonl", "ndjson", "gz", "zst"]
JOIN_WORDS = {
    "corrected": "corrected: instances and sensors joined by worker",
    "faithful": "faithful: by inst_id, as published (a cross product)",
}
DELIMITERS = {"": "the format's own", ",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
ENCODINGS = ("", "utf-8", "utf-16", "utf-16-le", "utf-16-be", "latin-1")
DECIMALS = {"": "the format's own", ".": "point (1.5)", ",": "comma (1,5)"}
INGEST, ROUND = "data_ingest", "data_round"


def section(visit: _shell.Visit, *, expanded: bool) -> None:
    """Show the import: choose, map where needed, follow, result."""
    busy = _follow(visit)
    if visit.readonly:
        st.info("This server is read-only: nothing can be loaded here.", icon=":material/lock:")
        return
    waiting: Spooled | None = st.session_state.get(WAITING)
    with st.expander("Import a trace", expanded=expanded or busy or waiting is not None, icon=":material/upload:"):
        if waiting is None:
            _choose(visit, busy)
        else:
            _mapping.screen(visit, waiting, st.session_state["data_waiting_options"], start)


def start(visit: _shell.Visit, source: Spooled, options: IngestOptions) -> None:
    """Start the ingest of a source in the background."""
    owned = None if source.folder == source.path else source.folder
    view = visit.house.ingests.start(source.label, [source.path], options, discard=owned)
    st.session_state[INGEST] = view.key
    st.session_state.pop(WAITING, None)
    st.rerun()


def _follow(visit: _shell.Visit) -> bool:
    key = st.session_state.get(INGEST)
    view = _progress.ingest_panel(visit.house, key) if key else None
    if view is not None and view.report is not None:
        _done(view)
    return view is not None and view.active


def _done(view: IngestView) -> None:
    report = view.report
    if report is None:
        return
    if st.session_state.get("data_opened") != view.key:
        st.session_state["data_opened"] = view.key
        _datasets.select(report.hash)
        st.rerun()
    show = st.info if report.already_loaded else st.success
    show(markdown_text(ingest_sentence(report), 300), icon=":material/check_circle:")


def _choose(visit: _shell.Visit, busy: bool) -> None:
    source = st.segmented_control(
        "Where is the file?",
        ("Upload", "Data folder of the server"),
        default="Upload",
        required=True,
        key="data_source",
    )
    upload = _upload_widget() if source == "Upload" else None
    picked = _folder_widget(visit) if source != "Upload" else None
    options = _options()
    clicked = st.button(
        "Import",
        type="primary",
        icon=":material/play_arrow:",
        disabled=busy or not (upload or picked),
        key="data_import",
    )
    if clicked and upload is not None:
        spooled = spool_upload(upload, upload.name, visit.house.settings.home)
        st.session_state[ROUND] = st.session_state.get(ROUND, 0) + 1
        _begin(visit, spooled, options)
    elif clicked and picked:
        path = chosen_file(visit.house.settings.data, picked)
        _begin(visit, Spooled(path, path, picked), options)


def _begin(visit: _shell.Visit, source: Spooled, options: IngestOptions) -> None:
    with discarded_if_refused(source):
        named = options.format if options.format != "auto" else visit.workbench.detect([source.path])
    if named != "generic":
        start(visit, source, options)
    st.session_state[WAITING] = source
    st.session_state["data_waiting_options"] = options
    st.rerun()


def _upload_widget() -> st.runtime.uploaded_file_manager.UploadedFile | None:
    limit = format_bytes(st.get_option("server.maxUploadSize") * 1024**2)
    return st.file_uploader(
        f"Trace file (up to {limit}; larger: the data folder, or `workprof ingest FILE` in a shell)",
        type=TYPES,
        key=f"data_upload_{st.session_state.get(ROUND, 0)}",
        help="CSV, Parquet or JSON lines, plain or as .gz or .zst. It stays on this machine.",
    )


def _folder_widget(visit: _shell.Visit) -> str | None:
    folder: Path = visit.house.settings.data
    files = listed_files(folder)
    if not files:
        st.info("The data folder of this server (WORKPROF_DATA) holds no trace file.", icon=":material/folder_off:")
    return st.selectbox("File in the data folder", files, index=None, key="data_file", placeholder="Choose a file")


def _options() -> IngestOptions:
    with st.popover("How to read it", icon=":material/tune:"):
        named = st.selectbox(
            "Format", ("auto", *NAMES), key="data_format", help="auto recognises a format by its columns."
        )
        join = st.radio(
            "Join of the raw PAI tables",
            JOINS,
            format_func=lambda mode: JOIN_WORDS[mode],
            key="data_join",
            help="The published join repeats every task of a job for every instance and sensor row of that job; "
            "everything made from it carries the flag 'published definitions'.",
        )
        delimiter = st.selectbox(
            "Delimiter", list(DELIMITERS), format_func=lambda d: DELIMITERS[d], key="data_delimiter"
        )
        encoding = st.selectbox(
            "Encoding", ENCODINGS, format_func=lambda name: name or "the format's own", key="data_encoding"
        )
        decimal = st.selectbox("Decimal sign", list(DECIMALS), format_func=lambda d: DECIMALS[d], key="data_decimal")
    return IngestOptions(format=named, join=join, delimiter=delimiter, encoding=encoding, decimal=decimal)
