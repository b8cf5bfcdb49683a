"""A sweep while it runs: how far it is, Cancel, and Start again, which goes on where it was."""

from __future__ import annotations

import streamlit as st

from pages._frame.errors import guard, refused
from pages._frame.visit import Visit
from pages._parts import running_work
from workprof.charts.sweep.runs import Standing
from workprof.charts.text import counted, markdown_text
from workprof.profiles.sweep import SweepSettings
from workprof.store.reports import Dataset
from workprof.units import format_duration
from workprof.workbench.sweeps import GroupState, SweepState


def standing(state: SweepState) -> Standing:
    """Return how far a sweep is."""
    return Standing.of([(group.settings, group.result) for group in state.groups])


def panel(visit: Visit, dataset: Dataset, settings: SweepSettings, state: SweepState) -> None:
    """Show the running sweep, or the button that starts it or goes on; say which groups failed."""
    if state.running:
        st.fragment(_running, run_every=running_work.EVERY_S)(visit, dataset, settings, state.done)
        return
    _failures(state)
    so_far = standing(state)
    if so_far.complete:
        st.caption(
            f"Complete: {so_far.words()}, computed in {format_duration(state.seconds)}; dataset {_short(dataset)}."
        )
        return
    with st.container(border=True):
        stopped = bool(state.done)
        st.markdown(f"**Stopped at {so_far.words()}.**" if stopped else "No run of this grid is kept yet.")
        words = "Resume sweep" if stopped else "Start sweep"
        if st.button(words, type="primary", icon=":material/play_arrow:", key="sweep_start"):
            with guard():
                visit.workbench.start_sweep(dataset.hash, settings)
                st.rerun()


def _running(visit: Visit, dataset: Dataset, settings: SweepSettings, shown: int) -> None:
    """Show the progress; the whole page renews itself when a group has finished or the sweep has ended."""
    with guard():
        state = visit.workbench.sweep_state(dataset.hash, settings)
        if not state.running or state.done != shown:
            st.rerun()
        so_far, group = standing(state), _active(state)
        job = group.job if group else None
        with st.container(border=True):
            elapsed = format_duration(round(state.seconds + (job.elapsed_s if job else 0.0)))
            st.progress(so_far.fraction(job.fraction if job else None), text=f"{so_far.words()} · {elapsed}")
            now = f"{_name(group)}: {job.message}" if group and job else "the next group is being prepared"
            st.caption(f"Now: {markdown_text(now, 160)}. Finished runs are shown below; the pages stay usable.")
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
        refused(f"{counted(len(names), 'group')} failed ({'; '.join(names[:3])}{' …' * (len(names) > 3)}): {reason}")


def _active(state: SweepState) -> GroupState | None:
    return next((group for group in state.groups if group.job is not None and group.job.active), None)


def _name(group: GroupState | None) -> str:
    return "" if group is None else f"{group.settings.algorithm}, {group.settings.scaler}, {group.settings.metric}"


def _short(dataset: Dataset) -> str:
    return dataset.hash[:8]
