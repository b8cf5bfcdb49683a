"""How much each aspect weighs."""

from __future__ import annotations

import streamlit as st

from pages._frame.errors import refused
from workprof.charts.text import markdown_text
from workprof.nodes.metrics import ASPECTS
from workprof.nodes.selection import RankSettings
from workprof.units import format_share


def weights() -> dict[str, float]:
    """Show one weight per aspect and return them; all alike = none given."""
    with st.grid(min_column_width=130, gap="small"):
        given = {
            aspect: float(
                st.number_input(
                    f"Weight of {aspect}",
                    min_value=0.0,
                    max_value=1000.0,
                    value=1.0,
                    format="%g",
                    key=f"nodes_w_{aspect}",
                    bind="query-params",
                    help="Weights are shared out to 100 %. 0: the aspect does not count.",
                )
            )
            for aspect in ASPECTS
        }
    if not any(given.values()):
        refused("all weights are 0, so all aspects weigh alike; give at least one a weight above 0")
    return {} if len(set(given.values())) == 1 else given


def told(settings: RankSettings) -> None:
    """Show the weights as shares."""
    shares = ", ".join(f"{name} {format_share(share)}" for name, share in settings.shares.items() if share > 0)
    st.caption(f"Weights: {markdown_text(shares, 200)}.")
