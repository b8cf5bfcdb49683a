"""Which models are trained, on which bins, and what they may see."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages._memory import bin_form, edge_form
from pages._memory.asking import Asked
from pages._parts.controls import choice, count, number
from workprof.charts.text import visible
from workprof.memory.bin_search import BinSettings, faithful_bins
from workprof.memory.bin_models import PENALTY
from workprof.memory.bin_models import (
from workprof.memory.bin_models import (
    FAITHFUL,
    MODELS,
    MODES,
    MOST_PENALTY,
    MOST_TRIALS,
    PENALTY,
    SAMPLINGS,
    PredictorSettings,
)
from workprof.memory.bin_search import BinSettings, faithful_bins
from workprof.memory.facts import AFTER, UNSURE, known_when
from workprof.memory.usage import USAGE_COLUMNS

QUICK_TRIALS = PredictorSettings.trials


def settings(asked: Asked) -> PredictorSettings:
    """Show the controls and return the settings."""
    with st.expander(
        "Bins", icon=":material/stacked_bar_chart:", key="memory_models_bins", on_change="rerun", bind="query-params"
    ):
        searched = bin_form.settings(asked)
        bins = replace(searched, edges_bytes=edge_form.typed())
    with st.grid(min_column_width=200, gap="small"):
        models = st.multiselect("Models", MODELS, default=MODELS, key="memory_model", bind="query-params")
        sampling = st.multiselect(
            "Rare bins",
            SAMPLINGS,
            default=SAMPLINGS,
            key="memory_sampling",
            bind="query-params",
            help="none: as they are. random: rows drawn again. smote: rows in between. weighted: class weights.",
        )
        mode = choice("Mode", "memory_model_mode", MODES, "corrected: ours. faithful: the thesis' bins and edges.")
        penalty = number("Penalty of under-estimates", "memory_penalty", PENALTY, (1.0, MOST_PENALTY))
        trials = count("Trials per model", "memory_trials", QUICK_TRIALS, "Of the search; 0 = default parameters.")
        failure = number("Price of a failure (GB·h)", "memory_failure_price", 0.0, (0.0, 1e9))
        seed = count("Seed", "memory_seed", 0, "Of every random draw.")
        before, after = _facts(asked)
    return PredictorSettings(
        bins=_as_published(bins, asked) if mode == FAITHFUL else bins,
        models=tuple(models) or MODELS,
        sampling=tuple(sampling) or SAMPLINGS,
        penalty=penalty,
        trials=min(trials, MOST_TRIALS),
        mode=mode,
        before_the_run=before,
        after_the_run=after,
        failure_price_gb_h=failure,
        seed=seed,
    )


def _as_published(bins: BinSettings, asked: Asked) -> BinSettings:
    """Return the thesis' bins of the same task, number, target and request; edges of one's own stay."""
    published = faithful_bins(bins.task, bins.k)
    return replace(published, edges_bytes=bins.edges_bytes, request_bytes=asked.request_bytes, target=asked.target)


def _facts(asked: Asked) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Show the trace's own columns and those of afterwards, and return the ticked ones."""
    hidden = {*USAGE_COLUMNS.values(), "row_id"}
    names = sorted(name for name in asked.columns if name not in hidden and not name.startswith("truth_"))
    before = st.multiselect(
        "Also known before the run",
        [name for name in names if known_when(name) == UNSURE],
        format_func=visible,
        key="memory_before",
        bind="query-params",
        placeholder="none",
        help="Columns of the trace's own that you know to be there beforehand, such as an input size.",
    )
    after = st.multiselect(
        "Facts of after the run (optimistic)",
        [name for name in names if known_when(name) == AFTER],
        format_func=visible,
        key="memory_after",
        bind="query-params",
        placeholder="none",
        help="Such as rchar. The result is labelled: no such model can be used beforehand.",
    )
    return tuple(before), tuple(after)
