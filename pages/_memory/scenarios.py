"""Kept scenarios: what was decided, up to four side by side."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages._memory.asking import Asked
from pages._parts import kept_scenarios, tables
from pages._parts.downloads import csv
from workprof.charts.memory.plans import comparison_table, scenario_table
from workprof.charts.text import markdown_text
from workprof.inputs import safe_name
from workprof.memory.scenarios import MOST_COMPARED

CHOSEN = "memory_compared"


def scenarios(asked: Asked) -> None:
    """Show the kept scenarios, and those chosen side by side."""
    kept = asked.workbench.scenarios(asked.dataset.hash)
    if not kept:
        st.info(
            "No scenario of this dataset is kept yet. Decide something under Bins, Models or Roll-up and press "
            "**Save scenario**.",
            icon=":material/info:",
        )
        return
    table = scenario_table(kept)
    tables.show(table, hide_index=True, key="memory_scenarios", alt=f"{len(kept)} kept scenarios")
    names = [one.name for one in kept]
    chosen = kept_scenarios.compared(names, CHOSEN, MOST_COMPARED)
    if chosen:
        _compared(asked, chosen)
    remove = partial(asked.workbench.remove_scenario, asked.dataset.hash)
    kept_scenarios.removal(asked.visit, names, ("memory", CHOSEN), remove)


def _compared(asked: Asked, chosen: list[str]) -> None:
    found = asked.workbench.compare_scenarios(asked.dataset.hash, chosen)
    for warning in found.warnings:
        st.warning(f"{markdown_text(warning[:1].upper() + warning[1:], 300)}.", icon=":material/warning:")
    table = comparison_table(found)
    tables.show(
        table, hide_index=True, key="memory_comparison", alt=f"{len(chosen)} scenarios side by side", height="content"
    )
    csv(table, f"{safe_name(asked.dataset.name)}-scenarios", "memory_comparison_csv", "CSV of the comparison")
