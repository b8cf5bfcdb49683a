"""What the views of the Memory page share: the measure of memory, the task, and scenarios to save."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages._frame import datasets, link
from pages._frame.errors import lacking
from pages._frame.visit import Visit
from pages._parts import saved_scenarios, tabs
from pages._parts.controls import LARGEST_GB, choice, number
from workprof.answers.tasks import task_labels
from workprof.charts.home import sized_by_windows
from workprof.core.units import GB
from workprof.memory.assessment import Assessment, AssessmentSettings
from workprof.memory.ledger_settings import judged_besides_memory
from workprof.memory.scenarios import Scenario
from workprof.memory.usage import NONE_FINISHED, TARGET_WORDS, USAGE_COLUMNS
from workprof.store.reports import Dataset
from workprof.workbench import Workbench


def take(key: str, name: str) -> None:
    """Make a name of the list the value of a control; to be called before the control is shown.

    Streamlit clears a parameter that is no option from the address, and leaves a value that code gives to a control
    out of it in a first run: a copied link would open something else. So the link itself is put right, as if it had
    been opened with the list's name; there is no public way to say that the page starts from it.
    """
    if key in st.session_state:  # the control was shown before: from then on the address follows
        st.session_state[key] = name
        return
    st.query_params[key] = name
    running = get_script_run_ctx()
    if running is not None:
        running.session_state._state.query_params.set_initial_query_params_from_current()


TASK = "memory_task"
EVERY_TASK = "all tasks"


def flat_request() -> float:
    """Show the field and return the request in bytes; 0 = none."""
    meaning = "The request of runs that have none in the table, 0 = none; GB = 1e9 bytes."
    return number("Assume one request for all (GB)", "memory_request", 0.0, (0.0, LARGEST_GB), meaning) * GB


def _as_label(wanted: str, labels: Mapping[str, str]) -> None:
    """Call a task as the list calls it: links of other pages give the full name."""
    result = next((label for label, name in labels.items() if name == wanted and wanted not in labels), wanted)
    if result != wanted:
        take(TASK, result)


def chosen_task(labels: Mapping[str, str]) -> str:
    """Show the tasks, the one that wastes most first, and return the chosen one's name; '' = all tasks."""
    options = dict(labels) | {EVERY_TASK: ""}
    _as_label(link.read(TASK, str, EVERY_TASK), labels)
    chosen = choice(
        "Task",
        TASK,
        tuple(options),
        "The one that wastes most GB·h first. Tasks of a path show its end.",
    )
    return options[chosen]


TAB = "memory_tab"
NEEDED = ("duration_s",)
REQUEST = "requested_memory_bytes"


@dataclass(frozen=True)
class PageContext:
    """What the page is about."""

    visit: Visit  # this run of the page
    dataset: Dataset  # looked at
    target: str  # what counts as use
    request_bytes: float  # of runs without a request; 0 = none
    columns: frozenset[str]  # names that the dataset has
    task: str = field(default="")  # name, '' = all tasks

    @property
    def workbench(self) -> Workbench:
        """The open workbench."""
        return self.visit.workbench

    @property
    def shared(self) -> dict[str, Any]:
        """The settings of a question on the task that all views of the page share, by their paths."""
        return {"task": self.task, "request_bytes": self.request_bytes, "target": self.target}

    @property
    def has_requests(self) -> bool:
        """Whether savings can be computed."""
        return REQUEST in self.columns or self.request_bytes > 0


def none_ended(visit: Visit, dataset: Dataset) -> bool:
    """Return whether sizes can rest on nothing: no run has finished, and no service runs on in windows."""
    return not dataset.finished_rows and not sized_by_windows(visit.workbench.column_profiles(dataset.hash))


def context(visit: Visit, dataset: Dataset, above: DeltaGenerator, below: DeltaGenerator) -> PageContext | None:
    """Show the shared controls and return what was chosen; None (and what is missing) where the page cannot work.

    The controls stand above while the table lacks requests, else below, folded.
    """
    columns = frozenset(column.name for column in visit.workbench.columns(dataset.hash))
    targets = tuple(name for name, column in USAGE_COLUMNS.items() if column in columns)
    missing = [name for name in NEEDED if name not in columns]
    if not targets:
        missing = ["peak_memory_bytes (or rss)", *missing]
    if missing:
        words = f"This dataset has no column {' and no column '.join(missing)}, which sizing needs"
        if judged_besides_memory(columns):
            lacking(f"{words}; the ledger below says what else is never used")
        else:
            datasets.empty_state(visit, f"{words}.")
        return None
    if none_ended(visit, dataset):
        lacking(NONE_FINISHED)
        return None
    without_requests = REQUEST not in columns  # then nothing can be compared before it is given
    place = above if without_requests else _folded(below)
    with place, st.grid(min_column_width=220, gap="small"):
        target = choice(
            "Memory measure",
            "memory_target",
            targets,
            "Peak RSS: the largest use of a run, which decides whether it is killed. RSS: what the published harness "
            "compares with.",
            shown=TARGET_WORDS,
        )
        request = flat_request()
    chosen = PageContext(visit, dataset, target, request, columns)
    if not chosen.has_requests:
        above.info(
            "This dataset has no requests: give **Assume one request for all (GB)** to see what is wasted and saved.",
            icon=":material/info:",
        )
    return chosen


def _folded(below: DeltaGenerator) -> DeltaGenerator:
    """Return the fold of what the page reads of the dataset."""
    return below.expander("Data", icon=":material/database:", key="memory_data", on_change="rerun", bind="query-params")


def of_task(context: PageContext) -> PageContext:
    """Show the list of tasks and return what the page is about with the chosen one."""
    return replace(context, task=chosen_task(task_labels([one.task for one in assessment(context).tasks])))


def assessment(context: PageContext, settings: AssessmentSettings | None = None) -> Assessment:
    """Return what tasks request and use; a spinner stands there while it is measured for the first time."""
    settings = settings or AssessmentSettings(target=context.target, request_bytes=context.request_bytes)
    with st.spinner("Measuring requested and used memory…", show_time=True):
        return context.workbench.assessment(context.dataset.hash, settings)


def needs_requests(context: PageContext) -> bool:
    """Return whether requests are missing, and say so."""
    if context.has_requests:
        return False
    st.info("Savings compare with requests, and this dataset has none.", icon=":material/info:")
    return True


def open_task(label: str, tab: str) -> None:
    """Make a task the one that the page is about, in another view (a callback)."""
    st.session_state[TASK] = label
    tabs.select(TAB, tab)


OF_BEFORE = (
    "The result shown belongs to earlier settings and cannot be saved with the current ones: compute these first, or "
    "set them back."
)


def save_scenario(context: PageContext, key: str, draft: Callable[[str], Scenario], *, current: bool = True) -> None:
    """Show the field for a name and the button that saves the decision, with the settings that were computed.

    `current` is whether what is shown is of the settings above; a result before it is not saved under a new name.
    """

    def save(name: str) -> str:
        return context.workbench.save_scenario(context.dataset.hash, draft(name)).name

    saved_scenarios.save_form(context.visit, key, save, "To compare it under Scenarios.", "" if current else OF_BEFORE)
