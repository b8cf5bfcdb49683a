"""The datasets of this home: their list, and one of them looked into."""

import json
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import streamlit as st

from pages._frame import datasets
from pages._frame.errors import guard
from pages._frame.visit import Visit
from pages._parts import figures, tables
from workprof.answers.help.terms import heading
from workprof.charts.data import (
    catalogue_table,
    check_table,
    column_table,
    coverage_chart,
    ingest_sentence,
    join_table,
    mapping_table,
    validity_sentence,
    with_dates,
)
from workprof.charts.home import unended_words
from workprof.core.scope import split
from workprof.core.words import counted, markdown_text
from workprof.inputs import safe_name
from workprof.store.checks import EXACT_UP_TO_ROWS
from workprof.store.reports import Dataset, IngestReport, lines_lost
from workprof.workbench import JOBS, Workbench

ESTIMATED = "Of so many runs quantiles, and many distinct values, are estimates."
PREVIEW_ROWS = 100
REJECTS_SHOWN = 1000
LONGEST_FINDING = 1000


def headline(workbench: Workbench, dataset: Dataset) -> None:
    """Show whether the dataset is valid, and what a job trace holds, in the words of Home."""
    with guard():
        figures.headline(markdown_text(validity_sentence(dataset, workbench.ingest_report(dataset.hash)), 300))
        if dataset.kind != JOBS:
            return
        counts = workbench.counts(dataset.hash)
        unended = unended_words(counts, workbench.column_profiles(dataset.hash))
        st.caption(markdown_text(" ".join((f"{dataset.name} holds {counts.held}.", *unended)), 600))


def warn_of_loss(workbench: Workbench, dataset: Dataset) -> None:
    """Warn where lines of the file are in no row, above everything that is shown without them."""
    with guard():
        lost = workbench.ingest_report(dataset.hash).lost
        if lost:
            st.warning(
                f"{lines_lost(lost)}: in no row and not among the rejected ones. No figure counts them; "
                "mend the file and load it again.",
                icon=":material/warning:",
            )


def preview(workbench: Workbench, dataset: Dataset) -> None:
    """Show the first rows as stored."""
    st.caption(f"First {min(PREVIEW_ROWS, dataset.rows):,} of {counted(dataset.rows, 'row')}, units normalised.")
    frame = workbench.preview(dataset.hash, PREVIEW_ROWS)
    as_stored = frame.rename_axis(columns="field")
    tables.show(as_stored, key="data_preview", alt=f"First rows of {dataset.name}")


def columns(workbench: Workbench, dataset: Dataset) -> None:
    """Show the distribution of every column."""
    words = "Over all rows; the small bars show the distribution between the 1st and 99th percentile."
    st.caption(words if dataset.rows <= EXACT_UP_TO_ROWS else f"{words} {ESTIMATED}")
    table = column_table(workbench.column_profiles(dataset.hash))
    tables.show(
        table,
        key="data_columns",
        alt=f"Columns of {dataset.name} with unit, missing share, minimum, median, 95th percentile and maximum",
        column_config={
            "column": st.column_config.TextColumn(pinned=True, width=170),
            "meaning": st.column_config.TextColumn(width=150),
            "unit": st.column_config.TextColumn(width=85),
            "missing": st.column_config.ProgressColumn(format="percent", min_value=0, max_value=1, width=110),
            "distinct": st.column_config.NumberColumn(format="localized"),
            "histogram": st.column_config.BarChartColumn(y_min=0, width=100),
            **{name: st.column_config.TextColumn(width=110) for name in ("min", "median", "p95", "max")},
        },
    )


def coverage(workbench: Workbench, dataset: Dataset) -> None:
    """Show when the runs start; nothing where the dataset has no start times."""
    with guard():
        result = workbench.time_coverage(dataset.hash)
        place = st.container()
        hours = _hours_from_utc() if with_dates(result) else 0.0
        chart = coverage_chart(result, hours)
        if chart is not None:
            with place:
                figures.show(chart, key=f"data_coverage_{hours}")


def _hours_from_utc() -> float:
    return st.number_input(
        "Time zone: hours from UTC",
        min_value=-12.0,
        max_value=14.0,
        value=0.0,
        step=0.5,
        format="%g",
        key="data_utc_hours",
        bind="query-params",
        width=220,
        help="For the axis only: stored times stay in UTC.",
    )


def checks(workbench: Workbench, dataset: Dataset) -> None:
    """Show what the ingest found."""
    report = workbench.ingest_report(dataset.hash)
    st.markdown(f"**{markdown_text(ingest_sentence(report), 300)}**")
    findings = check_table(report)
    if findings.empty:
        st.success("All checks passed.", icon=":material/check:")
    else:
        texts = [markdown_text(one, LONGEST_FINDING) for one in findings["finding"]]  # st.table reads Markdown
        shown = findings.assign(finding=texts).rename(columns=heading)
        st.table(shown.style.hide(axis="index").map(_level_colour, subset=[heading("level")]))
    if report.joins:
        st.markdown("**Joins**: rows before and after each; a fan-out above 1 means that rows were repeated.")
        tables.show(join_table(report), key="data_joins", alt="Rows before and after each join")
    mapped(dataset, report)
    rejected(workbench, dataset)


def mapped(dataset: Dataset, report: IngestReport) -> None:
    """Show which column of a generic file became which field, and offer it for other files."""
    if not report.mapping:
        return
    st.markdown("**Column mapping**: field, column of the file, unit. Other columns are stored under their own names.")
    tables.show(mapping_table(report), key="data_mapping", alt=f"Mapping of {dataset.name}")
    st.download_button(
        "Download mapping (JSON)",
        data=json.dumps(report.mapping, indent=2),
        file_name=f"{safe_name(dataset.name)}-mapping.json",
        mime="application/json",
        on_click="ignore",
        key="data_mapping_json",
        icon=":material/download:",
        help="For --map, or for another file with these columns.",
    )


def rejected(workbench: Workbench, dataset: Dataset) -> None:
    """Show the rejected rows."""
    rejects = workbench.rejects(dataset.hash, REJECTS_SHOWN)
    if rejects.empty:
        st.caption("No rejected rows.")
        return
    st.markdown("**Rejected rows**: line in the file, column, text and reason.")
    tables.saved_frame(
        rejects, f"{safe_name(dataset.name)}-rejects", key="data_rejects", alt="Rejected rows with reasons"
    )


def _level_colour(level: object) -> str:
    for word, colour in (("error", "#cf4a45"), ("warning", "#b26a00")):
        if word in str(level):
            return f"color: {colour}; font-weight: 600"
    return ""


def section(visit: Visit, dataset: Dataset) -> None:
    """Show the catalogue and what can be done with the chosen dataset."""
    st.header("All datasets")
    table = catalogue_table(visit.workbench.datasets())
    look = {
        "rows": st.column_config.NumberColumn(format="localized"),
        "finished rows": st.column_config.NumberColumn("Completed", format="localized", help="Rows of finished runs."),
        "join": st.column_config.Column("Join mode", help="How raw tables were joined."),
    }
    tables.show(table, key="data_catalogue", alt="Datasets of this home folder", column_config=look)
    st.markdown(f"**Actions for {markdown_text(dataset.name)}**")
    whole = visit.workbench.dataset(split(dataset.hash)[0])  # what is shown may be a part, which has no name of its own
    with st.container(horizontal=True):
        for kind in ("parquet", "csv"):
            _export_button(visit, dataset, kind)
        _schema_button(visit, dataset)
        if st.button("Rename", icon=":material/edit:", disabled=bool(visit.admins_only), help=visit.admins_only):
            _rename_dialog(visit, whole)
        if st.button("Remove", icon=":material/delete:", disabled=bool(visit.admins_only), help=visit.admins_only):
            _remove_dialog(visit, whole)


def _export_button(visit: Visit, dataset: Dataset, kind: str) -> None:
    st.download_button(
        f"Download {'Parquet' if kind == 'parquet' else 'CSV'}",
        data=_exporter(visit, dataset, kind),
        file_name=f"{safe_name(dataset.name)}.{kind}",
        on_click="ignore",
        key=f"data_export_{kind}",
        icon=":material/download:",
    )


def _schema_button(visit: Visit, dataset: Dataset) -> None:
    st.download_button(
        "Download schema (JSON)",
        data=partial(visit.workbench.schema_document, dataset.hash),
        file_name=f"{safe_name(dataset.name)}-schema.json",
        mime="application/json",
        on_click="ignore",
        key="data_export_schema",
        icon=":material/download:",
        help="Every column with its unit, type, source and meaning.",
    )


def _exporter(visit: Visit, dataset: Dataset, kind: str) -> Callable[[], bytes]:
    return partial(_exported, visit, dataset, kind)


def _exported(visit: Visit, dataset: Dataset, kind: str) -> bytes:
    with tempfile.TemporaryDirectory(dir=visit.app_state.settings.home / "spool") as folder:
        path = Path(folder) / f"export.{kind}"
        visit.workbench.export(dataset.hash, path)
        return path.read_bytes()


@st.dialog("Rename the dataset", icon=":material/edit:")
def _rename_dialog(visit: Visit, dataset: Dataset) -> None:
    with guard():
        name = st.text_input("New name", value=dataset.name, max_chars=80, key="data_new_name")
        if st.button("Rename", type="primary", disabled=not name.strip()):
            visit.workbench.rename(dataset.hash, name.strip())
            st.rerun()


@st.dialog("Remove the dataset?", icon=":material/delete:")
def _remove_dialog(visit: Visit, dataset: Dataset) -> None:
    with guard():
        st.markdown(
            f"**{markdown_text(dataset.name)}** ({dataset.rows:,} rows) and every result computed from it will be "
            "removed from this home folder. The file that it was loaded from stays where it is."
        )
        if st.button("Remove permanently", type="primary", icon=":material/delete:"):
            visit.workbench.remove(dataset.hash)
            datasets.forget()
            st.rerun()
