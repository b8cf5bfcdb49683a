"""Before the first stop: the trace chosen, or the samples loaded; what the stops stand on computed beside the page."""

import contextlib

import streamlit as st

from pages._frame import datasets
from pages._frame.errors import refused
from pages._frame.visit import SAMPLES, AppState
from pages._parts import running_work
from workprof.background import TaskView
from workprof.core.errors import WorkprofError
from workprof.core.roles import Role
from workprof.report.bundle import BuiltReport
from workprof.report.tour import missing, prepare, samples_of
from workprof.store.reports import Dataset
from workprof.workbench import JOBS

LABEL = "the tour of {}"
"""Of the work in the background for a dataset, whichever session began it."""

Samples = dict[str, Dataset]


def ready(app_state: AppState) -> Dataset | None:
    """Return the trace once every stop can answer at once; until then show what is being done, and None."""
    dataset = _chosen(app_state) or _sample(app_state)
    lacking = ("the bundled sample",) if dataset is None else missing(app_state.workbench, dataset.hash)
    if dataset is not None and (not lacking or _made(app_state, dataset)):
        return dataset
    st.title("The tour is being prepared")
    if app_state.settings.readonly or dataset is None:
        _refuse(lacking)
        return None
    working(app_state, dataset)
    return None


def _made(app_state: AppState, dataset: Dataset) -> bool:
    """Tell whether all was tried for a trace; what could not be made is no stop."""
    view = latest(app_state, dataset)
    return view is not None and view.result is not None


def _chosen(app_state: AppState) -> Dataset | None:
    """Return the job trace of the address, else the one that this session looks at."""
    for asked in (st.query_params.get(datasets.PARAMETER, ""), datasets.of_session(JOBS)):
        with contextlib.suppress(WorkprofError):
            if asked and (found := app_state.workbench.dataset(asked)).kind == JOBS:
                return found
    return None


def _sample(app_state: AppState) -> Dataset | None:
    samples = loaded(app_state)
    if app_state.settings.role is Role.ADMIN and not app_state.settings.readonly and set(samples) < _installed():
        samples = _load(app_state)
    return samples.get(JOBS)


def _installed() -> set[str]:
    return {kind for kind, sample in SAMPLES.items() if sample.path.is_file()}


def loaded(app_state: AppState) -> Samples:
    """Return kind -> sample, of those that this home holds."""
    return samples_of(app_state.workbench, {kind: sample.path for kind, sample in SAMPLES.items()})


def working(app_state: AppState, dataset: Dataset) -> None:
    """Show how far the work is; it begins by itself unless it was stopped or failed before."""
    view = latest(app_state, dataset)
    if view is None or (view.state == "done" and not _failures(view)):
        view = _begin(app_state, dataset)
    if view.active:
        st.fragment(_running, run_every=running_work.EVERY_S)(app_state, view.key)
        return
    if view.state == "cancelled":
        st.info("It was stopped. What was computed so far is saved.", icon=":material/cancel:")
    else:
        refused(f"The tour could not be prepared: {_failures(view) or view.message}")
    if st.button("Go on", type="primary", icon=":material/play_arrow:", key="tour_go_on"):
        _begin(app_state, dataset)
        st.rerun()


def _failures(view: TaskView[BuiltReport]) -> str:
    """Return what a finished preparation could not make, '' = nothing."""
    sections = view.result.report.sections if view.result is not None else ()
    return "; ".join(f"{section.kind.title}: {section.reason}" for section in sections if section.reason)


def ahead(app_state: AppState, dataset: Dataset) -> None:
    """Begin with the report on the way to its stop, so that it is there on arrival."""
    if latest(app_state, dataset) is None:
        _begin(app_state, dataset)


def latest(app_state: AppState, dataset: Dataset) -> TaskView[BuiltReport] | None:
    """Return the work for the tour of a dataset that was begun last, None where there was none."""
    label = LABEL.format(dataset.hash)
    return next((view for view in app_state.reports.views() if view.label == label), None)


def _begin(app_state: AppState, dataset: Dataset) -> TaskView[BuiltReport]:
    label = LABEL.format(dataset.hash)
    return app_state.reports.begin(label, lambda progress: prepare(app_state.workbench, {JOBS: dataset}, progress))


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
