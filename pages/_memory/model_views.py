"""Trained models from three sides: scores, confusions, inputs."""

from __future__ import annotations

import streamlit as st

from pages._memory.asking import Asked
from pages._parts import figures, tables, terms
from pages._parts.downloads import csv
from workprof.charts.memory.models import MODEL_COLUMNS, bin_confusion, importance_table, input_words, model_table
from workprof.charts.text import markdown_text
from workprof.inputs import safe_name
from workprof.memory.models import PredictorResult


def table(asked: Asked, found: PredictorResult) -> None:
    """Show the scores, the estimated and the replayed savings."""
    table = model_table(found)
    tables.show(
        table,
        hide_index=True,
        key="memory_model_table",
        alt=f"{len(table)} models with scores, estimated and replayed savings, and failures",
        column_config=tables.columns(MODEL_COLUMNS),
    )
    csv(table, f"{safe_name(asked.dataset.name)}-models", "memory_models_csv", f"CSV, all {len(table)} models")


def matrices(found: PredictorResult) -> None:
    """Show which bins each model told, and which were true."""
    with st.grid(min_column_width=300, gap="small"):
        for place, model in enumerate(found.models):
            with st.container(border=True):
                st.markdown(f"**{markdown_text(model.name)}**")
                figures.small(bin_confusion(found, model), key=f"memory_confusion_{place}")


def inputs(found: PredictorResult) -> None:
    """Show what the models go by."""
    st.header("What the models go by")
    st.markdown(markdown_text(input_words(found), 900))
    table = importance_table(found)
    if len(table):
        tables.show(
            table,
            hide_index=True,
            key="memory_importance",
            alt=f"Importance of {len(table)} inputs",
            column_config=terms.columns(table.columns),
        )
