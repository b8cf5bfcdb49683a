"""Runtimes on other machines: reports of the same tasks on several, how far off each method would have been."""

import functools
import tempfile
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages._frame import link
from pages._nodes.context import PageContext, notes
from pages._parts import figures, forms
from pages._parts.controls import choice
from workprof.answers.node_groups import interval_sentence, transfer_sentence
from workprof.charts.nodes.groups import transfer_bars
from workprof.core.text import visible
from workprof.core.words import markdown_text
from workprof.inputs import chosen_file
from workprof.nodes.questions import TRANSFER
from workprof.nodes.transfer import TransferSettings
from workprof.synthetic.benchmarks import TASK_SPEEDS, write_execution_reports
from workprof.workbench.nodes import RuntimeTransfer, runtime_transfer

SHOWN = "nodes_transfer_last"
FOLDER, SCORES = "nodes_reports", "nodes_scores_file"
COMPARED, YES = "nodes_compared", "yes"
"""In the address once the methods were compared: a link to the comparison makes it again."""


def transfer(context: PageContext) -> None:
    """Show where the reports are, then the comparison; it uses no benchmark run of the dataset."""
    first = st.container()
    st.caption(
        "A folder of Nextflow reports holds MACHINE/.../execution_report_*.csv. Machines have their published "
        "scores, or those of a CSV machine,cpu,linpack,memory,io."
    )
    data = context.visit.app_state.settings.data
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
        example = _example()
        with first:
            figures.headline(markdown_text(transfer_sentence(example.result), 400))
            st.caption("This is an example of synthetic reports. Name a folder of reports for your own.")
        _show(example)
        return
    _compare(context, chosen_file(data, folder), first)


@functools.cache
def _example() -> RuntimeTransfer:
    """Return the comparison on synthetic reports of two machines, made once."""
    local, *others = TASK_SPEEDS
    with tempfile.TemporaryDirectory() as folder:
        write_execution_reports(Path(folder))
        return runtime_transfer(Path(folder), TransferSettings(local, tuple(others)))


def _compare(context: PageContext, folder: Path, first: DeltaGenerator) -> None:
    machines, data = context.workbench.report_machines(folder), context.visit.app_state.settings.data
    about = {leaf.path: leaf.about for leaf in TRANSFER.leaves}
    with st.grid(min_column_width=220, gap="small"):
        local = choice(about["local"].label, "nodes_local", machines, about["local"].help)
        others = tuple(name for name in machines if name != local)
        targets = st.multiselect(
            about["targets"].label,
            others,
            format_func=visible,
            key="nodes_targets",
            bind="query-params",
            placeholder="all others",
        )
        link.check(SCORES, lambda text: chosen_file(data, text))
        scores = st.text_input(
            "CSV of scores", key=SCORES, bind="query-params", max_chars=400, placeholder="published scores"
        ).strip()
    machine_names = {"local": local, "targets": tuple(targets) or others}
    settings = forms.settings(context.visit, context.dataset, TRANSFER, (), machine_names)
    file = chosen_file(data, scores) if scores else None
    pressed = st.button("Compare the methods", type="primary", icon=":material/play_arrow:", key="nodes_transfer")
    linked = SHOWN not in st.session_state and link.read(COMPARED, link.one_of(YES), "") == YES
    if pressed or linked:
        with st.spinner("Predicting the runtimes…", show_time=True):
            st.session_state[SHOWN] = (folder, context.workbench.runtime_transfer(folder, settings, file))
        st.query_params[COMPARED] = YES
    of_folder, result = st.session_state.get(SHOWN, (None, None))
    if result is not None and of_folder == folder:
        with first:
            figures.headline(markdown_text(transfer_sentence(result.result), 400))
            if result.settings != settings:
                st.warning("These results are for the previous settings.", icon=":material/history:")
        _show(result)
    else:
        with first:
            figures.headline(f"Runtimes of {len(machines)} machines are there; the methods are not compared yet.")


def _show(compared: RuntimeTransfer) -> None:
    targets = ", ".join(compared.settings.targets)
    st.caption(markdown_text(f"Trained on {compared.settings.local}, predicted on {targets}.", 300))
    figures.show(transfer_bars(compared.result), key="nodes_transfer_bars", sentence=False)
    if sentence := interval_sentence(compared.interval):
        st.markdown(markdown_text(sentence, 400))
    notes((*compared.notes, *(f"{name} is excluded: {reason}" for name, reason in compared.result.left_out.items())))
