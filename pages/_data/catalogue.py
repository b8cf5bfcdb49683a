"""The datasets of this home: open, rename, export, remove."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import streamlit as st

from pages._frame import datasets
from pages._frame.errors import guard
from pages._frame.visit import Visit
from pages._parts import tables
from workprof.charts.data import catalogue_table
from workprof.charts.text import markdown_text
from workprof.inputs import safe_name
from workprof.store.reports import Dataset


def section(visit: Visit, dataset: Dataset) -> None:
    """Show the catalogue and what can be done with the chosen dataset."""
    st.header("All datasets")
    table = catalogue_table(visit.workbench.datasets())
    counts = {name: st.column_config.NumberColumn(format="localized") for name in ("rows", "finished rows")}
    tables.show(table, hide_index=True, key="data_catalogue", alt="Datasets of this home folder", column_config=counts)
    st.caption("Choose one in the sidebar. Below: what can be done with the chosen one.")
    with st.container(horizontal=True):
        for kind in ("parquet", "csv"):
            _export_button(visit, dataset, kind)
        _schema_button(visit, dataset)
        if st.button("Rename", icon=":material/edit:", disabled=visit.readonly, help=visit.refusal):
            _rename_dialog(visit, dataset)
        if st.button("Remove", icon=":material/delete:", disabled=visit.readonly, help=visit.refusal):
            _remove_dialog(visit, dataset)


def _export_button(visit: Visit, dataset: Dataset, kind: str) -> None:
    st.download_button(
        f"All {dataset.rows:,} rows as {'Parquet' if kind == 'parquet' else 'CSV'}",
        data=_exporter(visit, dataset, kind),
        file_name=f"{safe_name(dataset.name)}.{kind}",
        on_click="ignore",
        key=f"data_export_{kind}",
        icon=":material/download:",
    )


def _schema_button(visit: Visit, dataset: Dataset) -> None:
    st.download_button(
        "Schema as JSON",
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
    with tempfile.TemporaryDirectory(dir=visit.house.settings.home / "spool") as folder:
        path = Path(folder) / f"export.{kind}"
        visit.workbench.export(dataset.hash, path)
        return path.read_bytes()


@st.dialog("Rename the dataset", icon=":material/edit:")
def _rename_dialog(visit: Visit, dataset: Dataset) -> None:
    with guard():
        name = st.text_input("New name", value=dataset.name, max_chars=80, key="data_new_name")
        if st.button("Rename it", type="primary", disabled=not name.strip()):
            visit.workbench.rename(dataset.hash, name.strip())
            st.rerun()


@st.dialog("Remove the dataset?", icon=":material/delete:")
def _remove_dialog(visit: Visit, dataset: Dataset) -> None:
    with guard():
        st.markdown(
            f"**{markdown_text(dataset.name)}** ({dataset.rows:,} rows) and every result computed from it will be "
            "removed from this home folder. The file that it was loaded from stays where it is."
        )
        if st.button("Remove it for good", type="primary", icon=":material/delete:"):
            visit.workbench.remove(dataset.hash)
            datasets.forget()
            st.rerun()
