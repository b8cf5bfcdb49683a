"""Models that tell the bin of a run before it runs: trained in the background, replayed on runs they never saw."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from pages._frame import header
from pages._memory import asking, edge_form, keep, model_views, tables
from pages._memory.asking import Asked
from pages._parts import earlier_result, figures, forms, long_question
from pages._parts.long_question import LongQuestion
from workprof.charts.memory.models import estimated_and_replayed, model_headlines, model_sentence, ranking_warning
from workprof.charts.memory.plans import models_scenario, waterfall
from workprof.charts.text import markdown_text
from workprof.memory.bin_models import FAITHFUL, PredictorSettings
from workprof.memory.bin_search import faithful_bins
from workprof.memory.facts import AFTER, UNSURE, known_when
from workprof.memory.models import PredictorResult
from workprof.memory.questions import TRAIN
from workprof.memory.usage import USAGE_COLUMNS
from workprof.units import format_duration

MAIN = (
    *("bins.k", "models", "sampling", "mode", "penalty", "trials", "failure_price_gb_h", "seed"),
    *("before_the_run", "after_the_run"),
)


def models(asked: Asked) -> None:
    """Show the settings, the running job, and the newest models there are."""
    if asking.needs_requests(asked):
        return
    settings = _settings(asked)
    question = LongQuestion(
        name="memory_train",
        settings=settings,
        answer=asked.workbench.bin_models.cached,
        start=asked.workbench.bin_models.start,
        button="Train the models",
        before=partial(_before, asked, settings),
        what="Training the models",
        told=lambda kept: f"{markdown_text(kept.task or 'all tasks', 80)}, {len(kept.edges_bytes)} bins",
        icon=":material/model_training:",
    )
    found = long_question.result(asked.visit, asked.dataset, question)
    if found is not None:
        current = found.settings == settings
        _result(asked, found, current=current)
        if current:
            tables.thesis_tables(asked, settings)


def _settings(asked: Asked) -> PredictorSettings:
    """Show the form and return the settings; in the faithful mode with the thesis' bins."""
    columns = sorted(asked.columns - {*USAGE_COLUMNS.values(), "row_id"})
    offered = {
        path: [name for name in columns if known_when(name) == known and not name.startswith("truth_")]
        for path, known in (("before_the_run", UNSURE), ("after_the_run", AFTER))
    }
    by_path = {leaf.path: leaf for leaf in TRAIN.leaves}
    own: dict[str, Callable[[], Any]] = {
        path: partial(forms.control, by_path[path], TRAIN.page, names) for path, names in offered.items()
    }
    own["bins.edges_bytes"] = edge_form.typed
    shared = {f"bins.{name}": value for name, value in asked.shared.items()}
    settings = forms.settings(asked.visit, asked.dataset, TRAIN, MAIN, shared, own)
    if settings.mode != FAITHFUL:
        return settings
    bins = settings.bins
    published = faithful_bins(bins.task, bins.k)
    same = {name: getattr(bins, name) for name in ("edges_bytes", "request_bytes", "target")}
    return replace(settings, bins=replace(published, **same))


def _before(asked: Asked, settings: PredictorSettings) -> str:
    earlier = earlier_result.runs(asked.visit, TRAIN.name)
    took = "About a minute on two cores for a task of some hundred runs."
    if earlier:
        took = f"The last training here took {format_duration(earlier[0].seconds)}."
    pairs = len(settings.models) * len(settings.sampling)
    return f"No models with these settings yet: {pairs} to train, {settings.trials} trials each. {took}"


def _result(asked: Asked, found: PredictorResult, *, current: bool) -> None:
    if found.settings.mode == FAITHFUL:
        header.published_flag()
    if found.uses_after_the_run:
        st.warning(
            "The models see facts that are known only after the run: no such model can be used beforehand.",
            icon=":material/history_toggle_off:",
        )
    figures.headline_row(model_headlines(found))
    st.markdown(f"**{markdown_text(model_sentence(found), 400)}**")
    if found.ranks_differ:
        st.warning(markdown_text(ranking_warning(found), 500), icon=":material/swap_vert:")
    for note in found.notes:
        st.caption(f":material/info: {markdown_text(note[:1].upper() + note[1:], 400)}")
    model_views.table(asked, found)
    figures.show(estimated_and_replayed(found), key="memory_models")
    st.header("From now to planned")
    figures.show(waterfall(found), key="memory_waterfall")
    st.header("Bins told and true")
    st.caption("Outlined: told too small, so the first attempt fails.")
    model_views.matrices(found)
    model_views.inputs(found)
    keep.keep(asked, "memory_keep_models", partial(models_scenario, found, asked.dataset), current=current)
    st.caption(
        f"{found.n_train + found.n_validation + found.n_test:,} runs, seed {found.settings.seed}, computed in "
        f"{format_duration(found.seconds)}; dataset {asked.dataset.hash[:8]}."
    )
