"""Sweep: which clustering settings score best?"""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages import _shell
from pages._frame import header
from pages._frame.errors import guard, refused
from pages._frame.visit import Visit
from pages._parts import clusterings, controls, figures, forms, running_work, tabs
from pages._sweep import views
from workprof.answers.how_long import Expected, computed_words, earlier_runs, expected_sweep, part_sentence, sweep_words
from workprof.answers.profiles import PUBLISHED
from workprof.answers.sweep import chosen_sentence, in_use_sentence, place, standing_words
from workprof.core.units import format_duration
from workprof.core.words import counted, markdown_text
from workprof.profiles.questions import GROUP, SWEEP
from workprof.profiles.settings import ALGORITHM_WORDS
from workprof.profiles.sweep import SweepSettings
from workprof.store.reports import Dataset
from workprof.workbench.sweeps import GroupState, SweepState

PAGE = _shell.Page(
    "Sweep",
    "Which clustering settings score best?",
    "A sweep clusters the trace with a whole grid of settings. It needs a dataset with at least two numeric columns "
    "and more than 100 finished runs.",
    resets=True,
)
FEW_RUNS = 2_000
"""Of the small sweep that is shown where the whole takes long."""
LEAST_RUNS = 100
"""A grid says nothing of fewer."""
VIEWS = {
    "Score map": views.score_map,
    "Ranking": views.runs,
    "All settings": views.coordinates,
    "Summary": views.summary,
    "Target": views.targets,
    views.TAB: views.compare,
}
# Shown with the runs: moving it only scores the finished ones again.
TARGET = next(leaf for leaf in SWEEP.leaves if leaf.path == "target_clusters")


def body(visit: Visit, dataset: Dataset) -> None:
    """Show what the finished settings say, or what the sweep takes and the button that starts it; the form below."""
    forms.arrive("sweep", (SWEEP,))
    above = st.container()
    settings = form(visit, dataset)
    with above:
        state = _state(visit, dataset, settings)
        if state is None:
            return
        complete = state.standing.complete and not state.running
        few = replace(settings, preset="quick", sample_rows=FEW_RUNS)
        small = None if state.runs or state.running else _small(visit, dataset, settings, few)
        if not complete:
            panel(visit, dataset, settings, state, answered=small is not None and bool(small.runs))
        if state.runs:
            _results(visit, dataset, settings)
        elif small is not None:
            st.info(part_sentence(counted(FEW_RUNS, "run"), "Start sweep"), icon=":material/info:")
            if small.running:
                panel(visit, dataset, few, small)
            if small.runs:
                _results(visit, dataset, few)
        if complete:
            panel(visit, dataset, settings, state)


def _small(visit: Visit, dataset: Dataset, settings: SweepSettings, few: SweepSettings) -> SweepState | None:
    """Return how the same grid on a few runs stands, which starts by itself where the whole takes long."""
    if (settings.sample_rows or dataset.finished_rows) <= FEW_RUNS:
        return None
    state = _state(visit, dataset, few)
    return state if state is not None and (state.running or state.runs) else None


def _takes(visit: Visit, dataset: Dataset, settings: SweepSettings) -> Expected:
    earlier = earlier_runs(visit.workbench.datasets(), visit.workbench.runs(), GROUP.name)
    return expected_sweep(settings, dataset.finished_rows, earlier, running_work.busy())


def _begun(visit: Visit, dataset: Dataset, settings: SweepSettings, state: SweepState) -> bool:
    """Start what is short, once since the start of the server: what was cancelled or failed waits for its button."""
    longest = visit.app_state.settings.ahead_s
    touched = state.running or any(group.job is not None for group in state.groups)
    if touched or state.standing.complete or not longest or dataset.finished_rows < LEAST_RUNS:
        return False
    seconds = _takes(visit, dataset, settings).seconds
    if seconds > longest:
        return False
    visit.workbench.start_sweep(dataset.hash, settings, seconds)
    return True


def _state(visit: Visit, dataset: Dataset, settings: SweepSettings) -> SweepState | None:
    """Return how the sweep stands, or None (and a clear message) for settings that this dataset cannot meet."""
    state: SweepState | None = None
    with guard():
        state = visit.workbench.sweep_state(dataset.hash, settings)
        if _begun(visit, dataset, settings, state):
            state = visit.workbench.sweep_state(dataset.hash, settings)
    return state


def _results(visit: Visit, dataset: Dataset, settings: SweepSettings) -> None:
    """Show the finished runs, scored at the target that the reader chose; moving it computes nothing."""
    first, views_place = st.container(), st.container()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with st.container(width=220):
            target = forms.control(TARGET, SWEEP.page)
        state = visit.workbench.sweep_state(dataset.hash, replace(settings, target_clusters=target))
        views.open_best(dataset, state)
    if settings.mode == "faithful":
        header.published_flag()
        st.caption(PUBLISHED)
    complete = state.standing.complete
    with first:
        figures.headline(markdown_text(chosen_sentence(state.runs, state.chosen, complete), 400))
        used = visit.workbench.profiles.cached(dataset.hash, clusterings.everywhere(dataset)).result
        if used is not None and (other := in_use_sentence(used, state.runs)):
            st.caption(markdown_text(other, 300))
    view = views.View(visit, dataset, state)
    with views_place:
        tabs.show_open(views.TABS, VIEWS, view)


def form(visit: Visit, dataset: Dataset) -> SweepSettings:
    """Return the settings; nothing runs by changing them, what is cached for them is shown at once."""
    main = [leaf.path for leaf in SWEEP.leaves if leaf.path != TARGET.path]
    with controls.fold("Settings", "sweep_settings"):
        settings = forms.settings(visit, dataset, SWEEP, main, given={TARGET.path: TARGET.default})
    return settings


def panel(
    visit: Visit, dataset: Dataset, settings: SweepSettings, state: SweepState, *, answered: bool = False
) -> None:
    """Show the running sweep, or the button that starts it or goes on; say which groups failed.

    `answered`: the page has an answer of its own below.
    """
    if state.running:
        st.fragment(_running, run_every=running_work.EVERY_S)(visit, dataset, settings, state.standing.groups_done)
        return
    _failures(state)
    so_far = state.standing
    if so_far.complete:
        st.caption(f"Complete: {standing_words(so_far)}, {computed_words(state.seconds, dataset.hash)}.")
        return
    stopped = bool(so_far.groups_done)
    cost = sweep_words(settings, dataset.finished_rows, _takes(visit, dataset, settings))
    words = f"Not run yet. {markdown_text(cost, 400)}"
    if not stopped:
        st.markdown(words) if answered else figures.headline(words)
    with st.container(border=stopped):
        if stopped:
            st.markdown(f"**Stopped at {standing_words(so_far)}.** The whole sweep: {markdown_text(cost, 400)}")
        words = "Resume sweep" if stopped else "Start sweep"
        if st.button(words, type="primary", icon=":material/play_arrow:", key="sweep_start"):
            with guard():
                visit.workbench.start_sweep(dataset.hash, settings)
                st.rerun()


def _running(visit: Visit, dataset: Dataset, settings: SweepSettings, shown: int) -> None:
    """Show the progress; the whole page renews itself when a group has finished or the sweep has ended."""
    with guard():
        state = visit.workbench.sweep_state(dataset.hash, settings)
        if not state.running or state.standing.groups_done != shown:
            st.rerun()
        so_far, group = state.standing, _active(state)
        job = group.job if group else None
        with st.container(border=True):
            elapsed = format_duration(round(state.seconds + (job.elapsed_s if job else 0.0)))
            st.progress(so_far.fraction(job.fraction if job else None), text=f"{standing_words(so_far)} · {elapsed}")
            now = _name(group) if group and job else "the next settings are being prepared"
            st.caption(
                f"Now fitting: {markdown_text(now, 160)}. Finished settings are shown below; the pages stay usable."
            )
            if st.button("Cancel", key="sweep_cancel", icon=":material/stop_circle:"):
                visit.workbench.cancel_sweep(dataset.hash, settings)
                st.rerun()


def _failures(state: SweepState) -> None:
    """Show every reason once, with the groups that it stopped."""
    reasons: dict[str, list[str]] = {}
    for group in state.groups:
        if group.job is not None and group.job.state == "failed" and group.result is None:
            reasons.setdefault(group.job.message, []).append(_name(group))
    for reason, names in reasons.items():
        first = "; ".join(names[:3]) + " …" * (len(names) > 3)
        refused(f"{counted(len(names), 'part')} of the grid failed ({first}): {reason}")


def _active(state: SweepState) -> GroupState | None:
    return next((group for group in state.groups if group.job is not None and group.job.active), None)


def _name(group: GroupState | None) -> str:
    if group is None:
        return ""
    words = place(group.settings.of_size(group.settings.sizes[0]))
    return words if group.settings.algorithm == "hdbscan" else f"{ALGORITHM_WORDS[group.settings.algorithm]}, {words}"


_shell.run(PAGE, body)
