"""Why our policy would give the next run of a task its size."""

from __future__ import annotations

import streamlit as st

from pages._memory.asking import Asked
from pages._parts import figures
from workprof.charts.memory.policies import why_costs, why_headlines, why_history
from workprof.charts.text import label_text
from workprof.memory.assessment import FEWEST_RUNS
from workprof.memory.replay import NO_INPUT, ReplaySettings
from workprof.memory.why import WhySettings


def reason(asked: Asked, settings: ReplaySettings) -> None:
    """Show the size of the chosen task's next run and what it rests on."""
    if not asked.task:
        st.info("Choose one task above to see the reason for its size.", icon=":material/info:")
        return
    value = None
    if settings.input_column != NO_INPUT:
        value = st.number_input(
            f"{label_text(settings.input_column)} of the next run",
            min_value=0.0,
            max_value=1e18,
            value=None,
            format="%g",
            key="memory_input_value",
            bind="query-params",
            placeholder="empty = the median of the past runs",
            width=320,
        )
    found = asked.workbench.why_size(
        asked.dataset.hash,
        WhySettings(
            task=asked.task,
            input_column=settings.input_column,
            input_value=None if value is None else float(value),
            target=asked.target,
            sizing=settings.sizing,
            retry=settings.retry,
        ),
    )
    if found.too_few:
        st.warning(f"Only {found.n_known} runs (fewer than {FEWEST_RUNS}): a guess.", icon=":material/warning:")
    figures.headline_row(why_headlines(found))
    figures.show(why_history(found), key="memory_why")
    figures.show(why_costs(found), key="memory_why_costs")
