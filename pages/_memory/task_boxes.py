"""Box plots of the tasks, whole or close up."""

from __future__ import annotations

import streamlit as st

from pages._parts import figures
from pages._parts.controls import LARGEST_GB
from workprof.charts.memory.boxes import task_boxes, zoom_end_gb
from workprof.memory.assessment import Assessment

FULL, CLOSE_UP = "full", "close up"


def boxes(found: Assessment) -> None:
    """Show what the tasks use, up to the largest use or close up."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        shown = st.segmented_control(
            "Axis", (FULL, CLOSE_UP), default=FULL, required=True, key="memory_boxes", bind="query-params"
        )
        end = 0.0
        if shown == CLOSE_UP:
            end = st.number_input(
                "Close up to (GB, 0 = half of the tasks)",
                min_value=0.0,
                max_value=LARGEST_GB,
                value=0.0,
                format="%g",
                key="memory_boxes_end",
                bind="query-params",
                width=260,
            )
    figures.show(
        task_boxes(found, (float(end) or zoom_end_gb(found)) if shown == CLOSE_UP else 0.0),
        key=f"memory_boxes_{'close' if shown == CLOSE_UP else 'full'}",
    )
