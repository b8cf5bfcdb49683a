"""The run laid over one of the library's."""

from __future__ import annotations

import streamlit as st

from pages._parts import figures
from pages._parts.controls import choice
from pages._phases.asking import Asked
from workprof.charts.phases.fingerprints import alignment_chart
from workprof.phases.matching import Match, MatchLine
from workprof.phases.timeline import AlignmentSettings


def alignment(asked: Asked, found: Match, train_hash: str) -> None:
    """Show, once opened, how the run goes together with a chosen one, the nearest first."""
    panel = st.expander(
        "Alignment", icon=":material/join:", key="phases_alignment", on_change="rerun", bind="query-params"
    )
    if not panel.open:
        return
    with panel:
        lines = {recorded_name(line): line for line in found.matches}
        picked = choice("Laid over", "phases_over", tuple(lines), "Runs of the library, the nearest first.")
        settings = AlignmentSettings(asked.line.name, picked, train_hash, asked.library)
        with st.spinner("Aligning…"):
            aligned = asked.workbench.aligned_runs(asked.dataset.hash, settings)
        figures.show(alignment_chart(aligned, lines[picked].offset), key="phases_alignment_chart")


def recorded_name(line: MatchLine) -> str:
    """Return the name as recorded: a run with a label by hand keeps it as 'workload/run'."""
    return line.run if "/" in line.run else f"{line.workload}/{line.run}"
