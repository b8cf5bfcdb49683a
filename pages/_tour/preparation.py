"""Before the first stop: the samples loaded and what the stops stand on computed, in the background."""

from __future__ import annotations

import streamlit as st

from pages._frame.errors import refused
from pages._frame.visit import SAMPLES, AppState
from pages._parts import running_work
from workprof.background import TaskView
from workprof.report.bundle import BuiltReport
from workprof.report.tour import missing, prepare, samples_of
from workprof.store.reports import Dataset
from workprof.workbench import JOBS

LABEL = "the tour"
"""Of the work in the background, whichever session began it."""

Samples = dict[str, Dataset]


def ready(app_state: AppState) -> Samples | None:
    """Return kind -> sample once every stop can answer at once; until then show what is being done, and None."""
    samples = loaded(app_state)
    if not app_state.settings.readonly and set(samples) < _installed():
        samples = _load(app_state)
    lacking = missing(app_state.workbench, samples[JOBS].hash) if JOBS in samples else ("the bundled sample",)
    if not lacking:
        return samples
    st.title("The tour is being prepared")
    if app_state.settings.readonly:
        _refuse(lacking)
        return None
    working(app_state, samples)
    return None


def _installed() -> set[str]:
    return {kind for kind, sample in SAMPLES.items() if sample.path.is_file()}


def loaded(app_state: AppState) -> Samples:
    """Return kind -> sample, of those that this home holds."""
    return samples_of(app_state.workbench, {kind: sample.path for kind, sample in SAMPLES.items()})


def working(app_state: AppState, samples: Samples) -> None:
    """Show how far the work is; it begins by itself unless it was stopped or failed before."""
    view = latest(app_state)
    if view is None or (view.state == "done" and not _failures(view)):
        view = _begin(app_state, samples)
    if view.active:
        st.fragment(_running, run_every=running_work.EVERY_S)(app_state, view.key)
        return
    if view.state == "cancelled":
        st.info("It was stopped. What was computed so far is saved.", icon=":material/cancel:")
    else:
        refused(f"The tour could not be prepared: {_failures(view) or view.message}")
    if st.button("Go on", type="primary", icon=":material/play_arrow:", key="tour_go_on"):
        _begin(app_state, samples)
        st.rerun()


def _failures(view: TaskView[BuiltReport]) -> str:
    """Return what a finished preparation could not make, '' = nothing."""
    sections = view.result.report.sections if view.result is not None else ()
    return "; ".join(f"{section.kind.title}: {section.reason}" for section in sections if section.reason)


def ahead(app_state: AppState, samples: Samples) -> None:
    """Begin with the report on the way to its stop, so that it is there on arrival."""
    if latest(app_state) is None:
        _begin(app_state, samples)


def latest(app_state: AppState) -> TaskView[BuiltReport] | None:
    """Return the work for the tour that was begun last, None where there was none."""
    return next((view for view in app_state.reports.views() if view.label == LABEL), None)


def _begin(app_state: AppState, samples: Samples) -> TaskView[BuiltReport]:
    return app_state.reports.begin(LABEL, lambda progress: prepare(app_state.workbench, samples, progress))


def _load(app_state: AppState) -> Samples:
    with st.spinner("Loading the samples…", show_time=True):
        for kind in sorted(_installed()):
            app_state.workbench.ingest([SAMPLES[kind].path])
    return loaded(app_state)


def _running(app_state: AppState, key: str) -> None:
    view = app_state.reports.view(key)
    if view is None or not view.active:
        st.rerun()
    with st.container(border=True):
        running_work.line(view.message, view.fraction, view.elapsed_s)
        st.caption("Profiles, a test of the classifier, a replay and a verdict; computed once, then saved.")
        if st.button("Cancel", key=f"cancel_{key}", icon=":material/stop_circle:"):
            app_state.reports.cancel(key)
            st.rerun()


def _refuse(lacking: tuple[str, ...]) -> None:
    st.info(
        f"This server is read-only, and its home folder lacks {', '.join(lacking)}. Whoever keeps the home can run "
        "`workprof demo` on it once, without WORKPROF_READONLY; then the tour works here too.",
        icon=":material/lock:",
    )
