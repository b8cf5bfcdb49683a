"""The fingerprint of the run: counters x phases x statistics."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages._parts import figures
from pages._parts.controls import choice
from pages._phases.asking import Asked
from pages._phases.look import found_of
from pages._phases.timeline import shown_counters
from workprof.charts.phases.fingerprints import EVERY, fingerprint_chart
from workprof.charts.phases.timeline import fingerprint_json, fingerprint_npz
from workprof.inputs import safe_name
from workprof.phases.timeline import Timeline


def fingerprint(asked: Asked) -> None:
    """Show one statistic of every counter and phase, or all of them, and the fingerprint as files."""
    found = found_of(asked)
    if found is None:
        return
    with st.grid(min_column_width=200, gap="small"):
        statistic = choice("Statistic", "phases_statistic", (*found.statistics, EVERY), "Of each phase.")
        every = st.toggle(
            f"All {len(found.counters)} counters",
            key="phases_every",
            bind="query-params",
            help="Else the counters shown on the timeline.",
        )
    counters = found.counters if every else shown_counters(asked, found)
    figures.show(fingerprint_chart(found, statistic, counters), key="phases_fingerprint")
    _downloads(asked, found)


def _downloads(asked: Asked, found: Timeline) -> None:
    stem = f"{safe_name(found.fingerprint.name.replace('/', '-'))}-fingerprint"
    with st.container(horizontal=True):
        for ending, mime, data in (
            ("json", "application/json", partial(fingerprint_json, found, asked.dataset.hash)),
            ("npz", "application/octet-stream", partial(fingerprint_npz, found)),
        ):
            st.download_button(
                f"Fingerprint, {ending.upper()}",
                data=data,
                file_name=f"{stem}.{ending}",
                mime=mime,
                on_click="ignore",
                key=f"phases_fingerprint_{ending}",
                icon=":material/download:",
                help="All counters, with the true number of phases of each.",
            )
