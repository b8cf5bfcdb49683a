"""Two kept runs of one step side by side: the settings and the numbers that differ."""

from __future__ import annotations

import streamlit as st

from pages._frame.visit import Visit
from pages._parts import figures
from pages._parts.controls import choice
from workprof.charts.runs import comparison_sentence, number_changes_table, run_label, setting_changes_table, when
from workprof.charts.text import markdown_text
from workprof.workbench.runs import KeptRun

NONE = "none"


def compare(visit: Visit, runs: tuple[KeptRun, ...], chosen: KeptRun) -> None:
    """Show a second run of the same step beside the chosen one."""
    st.header("Beside another run")
    others = {run_label(run): run for run in runs if run.step == chosen.step and run.run != chosen.run}
    if not others:
        st.caption(f"There is no other kept run of {markdown_text(chosen.step)}.")
        return
    label = choice("Other run of this step", "runs_other", (NONE, *others), "Of any dataset.")
    if label == NONE:
        return
    other = others[label]
    found = visit.workbench.compare_runs(chosen.run, other.run)
    names = (f"{chosen.run}, {when(chosen)}", f"{other.run}, {when(other)}")
    for note in found.notes:
        st.warning(f"{markdown_text(note[:1].upper() + note[1:], 300)}.", icon=":material/warning:")
    st.markdown(f"**{markdown_text(comparison_sentence(found.settings, found.numbers, found.n_equal), 300)}**")
    stem = f"runs-{chosen.run}-{other.run}"
    if found.settings:
        table = setting_changes_table(found.settings, names)
        figures.table(table, f"{stem}-settings", key="runs_changed", alt="Settings that differ")
    if found.numbers:
        table = number_changes_table(found.numbers, names)
        figures.table(table, f"{stem}-numbers", key="runs_numbers", alt="Numbers that differ")
