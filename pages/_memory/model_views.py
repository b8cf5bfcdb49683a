"""Trained models from three sides: scores, confusions, inputs."""

from __future__ import annotations

import streamlit as st

from pages._memory.asking import Asked
from pages._parts import figures, tables, terms
from pages._parts.downloads import csv
from workprof.charts.memory.models import bin_confusion, importance_table, input_words, model_table
from workprof.charts.text import markdown_text
from workprof.inputs import safe_name
from workprof.memory.models import PredictorResult


def table(asked: Asked, found: PredictorResult) -> None:
    """Show the scores, the estimated and the replayed savings."""
    table = model_table(found)
    number, percent = st.column_config.NumberColumn, "%.1f %%"
    tables.show(
        table,
        hide_index=True,
        key="memory_model_table",
        alt=f"{len(table)} models with scores, estimated and replayed savings, and failures",
        column_config=terms.columns(
            table.columns,
            {
                "model": st.column_config.TextColumn("model", pinned=True),
                "over_sampling": "over-sampling",
                "u_score": number("u-score", format=percent, help="Lower is better."),
                "accuracy": number("accuracy", format=percent),
                "u_rate": number("under-estimates", format=percent),
                "u_rate_low": number("from", format=percent, help="95 % Wilson interval of the under-estimates."),
                "u_rate_high": number("to", format=percent),
                "estimated": number("estimated", format=percent, help="The thesis' formula."),
                "replayed": number("replayed", format=percent, help="Every test run replayed, failures charged."),
                "saved_of_requested": number("saved of requests", format=percent),
                "failures": number("failed attempts"),
                "never_finished": number("never finished"),
                "charged_gb_h": number("charged (GB·h)", format="%,.2f"),
            },
        ),
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
