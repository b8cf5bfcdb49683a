"""Tables 7 to 11 of the thesis for the task that is chosen, made in the background."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from pages._memory.asking import Asked
from pages._parts import figures, running_work
from workprof.charts.memory.models import (
    best_models_table,
    binnings_sentence,
    binnings_table,
    samplings_table,
)
from workprof.charts.text import markdown_text
from workprof.memory.bin_models import PredictorSettings
from workprof.memory.model_tables import PredictorTables, TableSettings


def thesis_tables(asked: Asked, settings: PredictorSettings) -> None:
    """Show the tables behind a fold, or the way to them."""
    fold = st.expander(
        "Tables 7 to 11 of the thesis, for this task",
        icon=":material/table_chart:",
        key="memory_tables",
        on_change="rerun",
        bind="query-params",
    )
    if not fold.open:
        return
    with fold:
        wanted = TableSettings(settings)
        answer = asked.workbench.bin_tables.cached(asked.dataset.hash, wanted)
        if answer.result is not None:
            _show(answer.result)
            return
        running_work.job_panel(asked.visit.house, answer.job, "Training for two, three and four bins")
        running = answer.job is not None and answer.job.active
        if not running and st.button("Make the tables", icon=":material/play_arrow:", key="memory_tables_make"):
            asked.workbench.bin_tables.start(asked.dataset.hash, wanted)
            st.rerun()


def _show(found: PredictorTables) -> None:
    show = st.warning if found.ranks_differ else st.info
    show(
        markdown_text(binnings_sentence(found)),
        icon=":material/swap_vert:" if found.ranks_differ else ":material/info:",
    )
    _table("Table 11, with the replay beside it (%)", binnings_table(found), "table-11")
    _table("Tables 7 and 8: the best sampling of each model (%)", best_models_table(found), "tables-7-8")
    _table("Tables 9 and 10: u-score of every sampling", samplings_table(found), "tables-9-10")


def _table(title: str, frame: pd.DataFrame, name: str) -> None:
    st.markdown(f"**{title}**")
    figures.table(frame, name, key=f"memory_{name}", alt=f"{title}: {len(frame)} rows")
