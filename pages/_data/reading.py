"""How a trace comes in: files or a path, the columns of a generic one, the load with its progress."""

from dataclasses import replace
from pathlib import Path

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from pages._data import mapping
from pages._data.mapping import WAITING, WAITING_OPTIONS
from pages._frame import datasets
from pages._frame.visit import Visit
from pages._parts import running_work
from pages._parts.controls import AUTO, LARGEST_AMOUNT, LARGEST_GB, choice, number
from workprof.background import TaskView
from workprof.charts.data import MODES, ingest_sentence
from workprof.core.text import visible
from workprof.core.units import GB, MIB, format_bytes
from workprof.core.words import markdown_text
from workprof.formats import NAMES, generic
from workprof.inputs import Spooled, chosen_file, discard, discarded_if_refused, listed_files, spool_upload
from workprof.store.reports import AGGREGATIONS, JOINS, IngestOptions, IngestReport

KINDS = (
    "CSV and its like, Excel (.xlsx), JSON, Parquet, Arrow, Feather, and the logs and dumps of schedulers, plain or as "
    ".gz or .zst. It stays on this machine."
)
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
        path = chosen_file(visit.app_state.settings.data, picked)
        return Spooled(path, path, picked)
    spooled = spool_upload(picked, picked.name, visit.app_state.settings.home)
    st.session_state[ROUND] = st.session_state.get(ROUND, 0) + 1
    return spooled


def _upload() -> UploadedFile | None:
    limit = format_bytes(st.get_option("server.maxUploadSize") * MIB)
    return st.file_uploader(
        f"Trace file (up to {limit}; larger: the data folder, or `workprof ingest FILE` in a shell)",
        key=f"data_upload_{st.session_state.get(ROUND, 0)}",
        help=KINDS,
    )


def _folder(visit: Visit) -> str | None:
    folder: Path = visit.app_state.settings.data
    files = listed_files(folder)
    if not files:
        st.info("The data folder of this server (WORKPROF_DATA) has no trace file.", icon=":material/folder_off:")
    return st.selectbox(
        "File in the server's data folder, or a folder of raw PAI tables",
        files,
        index=None,
        format_func=visible,
        key="data_file",
        bind="query-params",
        placeholder="Choose a file",
    )


INGEST = "work_ingest"
MAPPED = "data_mapped"
"""Key of an ingest that began with a mapping, its source and its options."""


def section(visit: Visit, *, expanded: bool) -> None:
    """Show the import: choose, map where needed, follow, result."""
    busy = _follow(visit)
    if visit.admins_only:
        st.info(f"{visit.admins_only.removesuffix('.')}: datasets cannot be imported.", icon=":material/lock:")
        return
    waiting: Spooled | None = st.session_state.get(WAITING)
    with st.expander("Import a trace", expanded=expanded or busy or waiting is not None, icon=":material/upload:"):
        if waiting is None:
            _choose(visit, busy)
        else:
            mapping.screen(visit, waiting, st.session_state[WAITING_OPTIONS], start)


def start(visit: Visit, source: Spooled, options: IngestOptions) -> None:
    """Start the ingest of a source in the background; the upload of a generic file is kept until it is loaded."""
    mapped = options.format == generic.FORMAT.name
    owned = None if mapped or source.folder == source.path else source.folder
    view = visit.app_state.ingests.start(source.label, [source.path], options, discard=owned)
    running_work.begun(INGEST, view.key)
    st.session_state.pop(WAITING, None)
    st.session_state[MAPPED] = (view.key, source, options) if mapped else None
    st.rerun()


def _follow(visit: Visit) -> bool:
    view = running_work.follow(visit.app_state.ingests, INGEST)
    if view is not None and not view.active:
        _settle(view)
    if view is not None and view.result is not None:
        _done(view)
    elif view is not None:
        running_work.task_panel(visit.app_state.ingests, view, "Loading")
    return view is not None and view.active


def _settle(view: TaskView[IngestReport]) -> None:
    """Drop the upload of a generic file that is loaded; one that is not goes back to its mapping, as it was."""
    key, source, options = st.session_state.get(MAPPED) or ("", None, None)
    if key != view.key or source is None:
        return
    st.session_state[MAPPED] = None
    if view.result is not None:
        discard(source)
        return
    st.session_state[WAITING], st.session_state[WAITING_OPTIONS] = source, options
    mapping.forget_widgets()


def _done(view: TaskView[IngestReport]) -> None:
    report = view.result
    if report is None:
        return
    if st.session_state.get("data_opened") != view.key:
        st.session_state["data_opened"] = view.key
        datasets.select(report.hash, report.kind)
        st.rerun()
    show = st.info if report.already_loaded else st.warning if report.lost else st.success
    show(markdown_text(ingest_sentence(report), 300), icon=":material/check_circle:")


def _choose(visit: Visit, busy: bool) -> None:
    picked = pick(visit, choose())
    with st.container(horizontal=True):
        options = ingest_options()
        mapping.saved(visit)
    clicked = st.button(
        "Import",
        type="primary",
        icon=":material/play_arrow:",
        disabled=busy or not picked,
        key="data_import",
    )
    if clicked and picked:
        _begin(visit, taken(visit, picked), options)


def _begin(visit: Visit, source: Spooled, options: IngestOptions) -> None:
    with discarded_if_refused(source):
        named = options.format if options.format != "auto" else visit.workbench.detect([source.path], options)
        certain = named == generic.FORMAT.name and not visit.workbench.suggest(source.path, options).refusal
    if named != generic.FORMAT.name or certain:
        start(visit, source, replace(options, format=named) if certain else options)
    mapping.forget_widgets()
    st.session_state[WAITING], st.session_state[WAITING_OPTIONS] = source, options
    st.rerun()


DELIMITERS = {AUTO: "", "comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}
ENCODINGS = {AUTO: ""} | {name: name for name in ("utf-8", "utf-16", "utf-16-le", "utf-16-be", "latin-1")}
DECIMALS = {AUTO: "", "point": ".", "comma": ","}
DUPLICATES = ("keep", "drop")
REPEATED = {"keep": "load and count", "drop": "drop and count"}
DETECT = {AUTO: "detect"}

JOIN_MEANING = (
    "Default: instances and sensors are joined by worker. As published: by job instance, which repeats every task of a "
    "job for every instance and sensor row of that job; all results carry the flag 'published definitions'."
)
AGGREGATION_MEANING = (
    "What one run is, in the default join: an instance, as profiles need it, or a whole task or job, which adds up its "
    "instances, for planning."
)
DUPLICATES_MEANING = "Rows that repeat an earlier row; Validation counts them either way."
ZONE = (
    "Times without a zone are read as UTC. PAI traces have no dates; their hours and weekdays are those of UTC+8. The "
    "chart of starts can be shown in another zone."
)


def ingest_options() -> IngestOptions:
    """Show the options behind a button and return what they say."""
    with st.popover("Read options", icon=":material/tune:"):
        named = choice("Format", "data_format", (AUTO, *NAMES), "Detected by its columns.", shown=DETECT)
        duplicates = choice("Repeated rows", "data_duplicates", DUPLICATES, DUPLICATES_MEANING, shown=REPEATED)
        st.markdown("**Text files**")
        with st.container(horizontal=True):
            delimiter = choice("Delimiter", "data_delimiter", tuple(DELIMITERS), shown=DETECT)
            encoding = choice("Encoding", "data_encoding", tuple(ENCODINGS), shown=DETECT)
            decimal = choice("Decimal sign", "data_decimal", tuple(DECIMALS), shown=DETECT)
        sheet = st.text_input(
            "Sheet of a workbook", key="data_sheet", bind="query-params", placeholder="the first that holds a table"
        )
        join, aggregation = _raw_tables()
        memory_gb, cores = _largest_machine()
        st.caption(ZONE)
    return IngestOptions(
        format=named,
        duplicates=duplicates,
        join=join,
        aggregation=aggregation,
        delimiter=DELIMITERS[delimiter],
        encoding=ENCODINGS[encoding],
        decimal=DECIMALS[decimal],
        sheet=sheet,
        machine_memory_bytes=memory_gb * GB,
        machine_cores=cores,
    )


def _largest_machine() -> tuple[float, float]:
    """Return its memory in GB and its cores, 0 = not known."""
    st.markdown("**Largest machine**, of traces that give memory and CPU as shares of it (Borg, Alibaba); 0: not known")
    with st.container(horizontal=True):
        memory_gb = number("Memory (GB)", "data_machine_gb", 0.0, (0.0, LARGEST_GB))
        cores = number("Cores", "data_machine_cores", 0.0, (0.0, LARGEST_AMOUNT))
    return memory_gb, cores


def _raw_tables() -> tuple[str, str]:
    """Return join and grain; the published join has no grain but its own."""
    st.markdown("**Raw PAI tables** (a folder of the data folder)")
    with st.container(horizontal=True):
        join = choice("Join mode", "data_join", JOINS, JOIN_MEANING, shown=MODES)
        aggregation = st.selectbox(
            "One run per",
            AGGREGATIONS,
            key="data_grain",
            bind="query-params",
            disabled=join == "faithful",
            help=AGGREGATION_MEANING,
        )
    return join, AGGREGATIONS[0] if join == "faithful" else aggregation
