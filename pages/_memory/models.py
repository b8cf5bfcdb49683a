"""Models that tell the bin of a run before it runs: trained in the background, replayed on runs they never saw."""

from __future__ import annotations

import streamlit as st

from pages._frame import header
from pages._memory import asking, keep, model_form, model_views, tables
from pages._memory.asking import Asked
from pages._parts import earlier_result, figures, running_work
from workprof.charts.memory import (
    estimated_and_replayed,
    model_headlines,
    model_sentence,
    models_scenario,
    ranking_warning,
)
from workprof.charts.text import markdown_text
from workprof.memory.predictor.results import PredictorResult
from workprof.memory.predictor.settings import FAITHFUL, PredictorSettings
from workprof.units import format_duration
from workprof.workbench.memory import TRAIN

SHOWN = "memory_models_last"
WHAT = "Training the models"


def models(asked: Asked) -> None:
    """Show the settings, the running job, and the newest models there are."""
    if asking.needs_requests(asked):
        return
    settings = model_form.settings(asked)
    answer = asked.workbench.bin_models_answer(asked.dataset.hash, settings)
    if answer.result is not None:
        st.session_state[SHOWN] = (asked.dataset.hash, settings)
        _result(asked, answer.result)
        tables.tables(asked, settings)
        return
    running = answer.job is not None and answer.job.active
    if not running:
        _ask(asked, settings)
    running_work.job_panel(asked.visit.house, answer.job, WHAT)
    _previous(asked, running=running)


def _ask(asked: Asked, settings: PredictorSettings) -> None:
    with st.container(border=True):
        earlier = earlier_result.runs(asked.visit, TRAIN.name)
        took = "About a minute on two cores for a task of some hundred runs."
        if earlier:
            took = f"The last training here took {format_duration(earlier[0].seconds)}."
        pairs = len(settings.models) * len(settings.sampling)
        st.markdown(f"No models with these settings yet: {pairs} to train, {settings.trials} trials each. {took}")
        if st.button("Train the models", type="primary", icon=":material/model_training:", key="memory_train"):
            asked.workbench.start_bin_models(asked.dataset.hash, settings)
            st.rerun()


def _result(asked: Asked, found: PredictorResult) -> None:
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
    st.header("Bins told and true")
    st.caption("Outlined: told too small, so the first attempt fails.")
    model_views.matrices(found)
    model_views.inputs(found)
    keep.keep(asked, "memory_keep_models", lambda name: models_scenario(found, asked.dataset, name))
    st.caption(
        f"{found.n_train + found.n_validation + found.n_test:,} runs, seed {found.settings.seed}, computed in "
        f"{format_duration(found.seconds)}; dataset {asked.dataset.hash[:8]}."
    )


def _previous(asked: Asked, *, running: bool) -> None:
    """Show the result of the previous settings under a banner, where this session has one."""
    of_dataset, settings = st.session_state.get(SHOWN, ("", None))
    if of_dataset != asked.dataset.hash or settings is None:
        return
    kept = asked.workbench.bin_models_answer(of_dataset, settings).result
    if kept is None:
        return
    todo = "the new ones are being trained" if running else "press **Train the models** to renew it"
    st.warning(
        f"What follows is based on previous settings ({markdown_text(kept.task or 'all tasks', 80)}, "
        f"{len(kept.edges_bytes)} bins); {todo}.",
        icon=":material/history:",
    )
    _result(asked, kept)
