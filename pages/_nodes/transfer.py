"""Runtimes on other machines: reports of the same tasks on several, how far off each method would have been."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages._frame import link
from pages._nodes.asking import Asked
from pages._nodes.ranking import notes
from pages._parts import figures
from pages._parts.controls import choice
from workprof.charts.nodes.groups import interval_sentence, transfer_bars
from workprof.charts.text import markdown_text, visible
from workprof.inputs import chosen_file
from workprof.nodes.transfer import TransferSettings
from workprof.workbench.nodes import RuntimeTransfer

SHOWN = "nodes_transfer_last"
FOLDER, SCORES = "nodes_reports", "nodes_scores_file"
COMPARED, YES = "nodes_compared", "yes"
"""In the address once the methods were compared: a link to the comparison makes it again."""


def transfer(asked: Asked) -> None:
    """Show where the reports are, then the comparison; it uses no benchmark run of the dataset."""
    st.caption(
        "From files, not from this dataset: a folder with MACHINE/.../execution_report_*.csv, scored by the published "
        "machine scores, or by a CSV machine,cpu,linpack,memory,io."
    )
    data = asked.visit.house.settings.data
    link.check(FOLDER, lambda text: chosen_file(data, text))
    folder = st.text_input(
        "Folder of reports",
        key=FOLDER,
        bind="query-params",
        max_chars=400,
        placeholder="below the data folder, such as reports",
        help="Relative to the server's data folder (WORKPROF_DATA); nothing outside it can be read.",
    ).strip()
    if not folder:
        st.info("Name a folder of reports to compare the methods.", icon=":material/info:")
        return
    _compare(asked, chosen_file(data, folder))


def _compare(asked: Asked, folder: Path) -> None:
    machines = asked.workbench.report_machines(folder)
    with st.grid(min_column_width=220, gap="small"):
        local = choice("Learned on", "nodes_local", machines, "The machine whose runs are known.")
        targets = st.multiselect(
            "Predicted on",
            [name for name in machines if name != local],
            format_func=visible,
            key="nodes_targets",
            bind="query-params",
            placeholder="all others",
        )
        link.check(SCORES, lambda text: chosen_file(asked.visit.house.settings.data, text))
        scores = st.text_input(
            "CSV of scores", key=SCORES, bind="query-params", max_chars=400, placeholder="published scores"
        ).strip()
    settings = TransferSettings(local, tuple(targets) or tuple(name for name in machines if name != local))
    file = chosen_file(asked.visit.house.settings.data, scores) if scores else None
    pressed = st.button("Compare the methods", type="primary", icon=":material/play_arrow:", key="nodes_transfer")
    linked = SHOWN not in st.session_state and link.read(COMPARED, link.one_of(YES), "") == YES
    if pressed or linked:
        with st.spinner("Predicting the runtimes…", show_time=True):
            st.session_state[SHOWN] = (folder, asked.workbench.runtime_transfer(folder, settings, file))
        st.query_params[COMPARED] = YES
    of_folder, found = st.session_state.get(SHOWN, (None, None))
    if found is not None and of_folder == folder:
        if found.settings != settings:
            st.warning("What follows is based on previous settings.", icon=":material/history:")
        _show(found)


def _show(told: RuntimeTransfer) -> None:
    targets = ", ".join(told.settings.targets)
    st.caption(markdown_text(f"Learned on {told.settings.local}, predicted on {targets}.", 300))
    figures.show(transfer_bars(told.result), key="nodes_transfer_bars")
    if sentence := interval_sentence(told.interval):
        st.markdown(markdown_text(sentence, 400))
    notes((*told.notes, *(f"{name} is left out: {reason}" for name, reason in told.result.left_out.items())))
