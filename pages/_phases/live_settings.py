"""What a recording in progress is followed with."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import streamlit as st

from pages._phases.asking import Asked, counter_columns
from workprof.charts.text import markdown_text
from workprof.phases.live import LiveSettings
from workprof.phases.runs import SYSTEM72
from workprof.workbench.recordings import counters_of


def settings(asked: Asked, path: Path) -> LiveSettings | None:
    """Return what the recording is followed with; None (and why) where nothing is in common."""
    recorded = set(counters_of(path))
    mine = asked.library.counters or counter_columns(asked.visit, asked.dataset)
    common = tuple(name for name in mine if name in recorded)
    common = tuple(name for name in SYSTEM72 if name in common) or common
    if not common:
        st.info(
            f"{markdown_text(path.name)} and this dataset have no counter in common; choose another dataset.",
            icon=":material/info:",
        )
        return None
    if asked.library.fingerprints.normalise != "train":
        st.caption(":material/info: Normalised over all known runs: that of the run itself needs its end.")
    fingerprints = replace(asked.library.fingerprints, normalise="train")
    library = replace(asked.library, counters=common, fingerprints=fingerprints)
    return LiveSettings(library, asked.workbench.library_edits(asked.dataset.hash))
