"""What a report is made of: its parts, and the heavy questions behind it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pandas as pd

from workprof.charts.shapes import Chart, Headline
from workprof.core import answer
from workprof.core.errors import Cancelled, StepFailed
from workprof.core.progress import Progress
from workprof.profiles.settings import ProfileSettings
from workprof.store.reports import Dataset
from workprof.workbench import Workbench
from workprof.workbench.question_methods import Bound

S = TypeVar("S")
R = TypeVar("R")
LOOK_EVERY_S = 0.5


def through_job(question: Bound[S, R], dataset: str, settings: S, progress: Progress) -> R:
    """Return the cached result, or start the job that makes it (or join the one that runs) and wait.

    When `progress` raises `Cancelled`, the job is stopped.

    Raises:
        Cancelled: the job was stopped, here or elsewhere.
        StepFailed: the job says why.
    """
    result = question.cached(dataset, settings).result
    if result is not None:
        return result
    view = question.start(dataset, settings)
    while view.active:
        try:
            progress(view.fraction, view.message)
        except Cancelled:
            question.bench.cancel(view.key)
            raise
        view = question.bench.wait(view.key, LOOK_EVERY_S) or view
    if view.state == "cancelled":
        raise Cancelled(f"{view.step} was cancelled")
    result = question.cached(dataset, settings).result
    if result is None:
        raise StepFailed(view.message)
    return result


@dataclass(frozen=True)
class Table:
    """A table with its title and the stem of its CSV file."""

    title: str
    name: str
    frame: pd.DataFrame  # all of it, for the file
    told: answer.Table | None = None  # as it is shown, where an answer tells it


def of_answer(table: answer.Table, name: str = "", title: str = "") -> Table:
    """A table of an answer; `name` = the stem of its file, `title` above it: its own where there is none."""
    return Table(title or table.title, name or table.name, table.frame(), table)


@dataclass(frozen=True)
class Content:
    """A section once it is made."""

    settings: dict[str, object]  # the settings records behind it, by what they are of
    headlines: tuple[Headline, ...] = ()  # figures
    words: tuple[str, ...] = ()  # sentences, plain text
    charts: tuple[Chart, ...] = ()  # with their own words and numbers
    tables: tuple[Table, ...] = ()  # beside the charts' own
    published: bool = False  # it follows the published definitions


@dataclass(frozen=True)
class Decision:
    """The first page of a report: what to do, for whoever decides."""

    summary: str  # what the dataset shows, in one sentence with its numbers
    advice: str = ""  # what to do and why; '' = nothing is computed that could be advised
    headlines: tuple[Headline, ...] = ()  # four at most
    chart: Chart | None = None  # the one picture; None where nothing can be drawn
    tables: tuple[Table, ...] = ()  # the largest first, scenarios last
    risks: tuple[str, ...] = ()  # what to know before acting, a sentence each


Make = Callable[[Workbench, Dataset, Progress, ProfileSettings], Content]
Need = tuple[Bound[Any, Any], object]
"""A question and the settings that a section asks it with."""


def nothing(_: Workbench, __: Dataset, ___: ProfileSettings) -> tuple[Need, ...]:
    """Name no question: the section is ready at once."""
    return ()


@dataclass(frozen=True)
class Kind:
    """A section that a report may have."""

    name: str  # for options, addresses and file names
    title: str  # for people
    page: str  # the page that shows the same
    dataset_kind: str  # that it is about; '' = any
    make: Make  # asks and draws it; a refusal (WorkprofError) makes a section that says what is missing
    # what it asks that may take a while
    needs: Callable[[Workbench, Dataset, ProfileSettings], tuple[Need, ...]] = nothing
    appendix: bool = False  # it stands at the end


@dataclass(frozen=True)
class Section:
    """A section of a report: made, or the reason why not."""

    kind: Kind
    status: str  # 'done' or 'missing'
    reason: str  # what is missing and what to do; '' once done
    seconds: float  # it took
    content: Content = field(default_factory=lambda: Content({}))
