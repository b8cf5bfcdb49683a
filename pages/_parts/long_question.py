"""A question that takes a while: its kept result; else it starts by itself where it is short, or by a button.

Meanwhile the page shows the result before, one of a small part, or the newest that is kept.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import streamlit as st

from pages._frame.errors import lacking
from pages._frame.visit import Visit
from pages._parts import running_work
from workprof.answers.how_long import SO_FAR, Expected, earlier_runs, expected, part_sentence
from workprof.answers.sources import minute
from workprof.core.errors import NotEnoughData
from workprof.core.fields import earlier_words
from workprof.core.words import markdown_text
from workprof.jobs import JobView
from workprof.store.reports import Dataset
from workprof.workbench import CachedResult, Workbench
from workprof.workbench.question_methods import Bound

Settings = TypeVar("Settings")
Result = TypeVar("Result")


@dataclass(frozen=True)
class LongQuestion(Generic[Settings, Result]):
    """A question with its words."""

    name: str  # of its button, and of the place where the session keeps the settings shown last
    settings: Settings  # asked with
    compute: Bound[Settings, Result]  # the question of the open workbench
    button: str  # words of the button
    before: Callable[[], str]  # what stands over it, requested only where there is no result; how long it takes follows
    what: str  # the job in words
    # what the settings of another result were, in words; without it the newest kept one is not shown
    describe: Callable[[Result], str] | None = None
    icon: str = ":material/play_arrow:"  # of the button
    source: str = ""  # hash of the dataset that is asked, where it is another one than the page's
    pressed: Callable[[], None] = lambda: None  # done with the press of the button, such as to start what comes next
    more: Mapping[str, Any] = field(default_factory=dict)  # arguments of the call, such as the clustering
    # settings of a small part that is shown where the whole takes long, its share of the work, and words
    part: tuple[Settings, float, str] | None = None
    share: float = 1.0  # of the work that earlier ones took
    tells: bool = False  # what it has found, while it runs: then it needs no part beside it
    outlives: bool = False  # a refresh: what was found before it is shown meanwhile; it names no run of the table


def result(visit: Visit, dataset: Dataset, question: LongQuestion[Settings, Result]) -> Result | None:
    """Return the kept result, or show how to get it and return another under a banner."""
    outcome = cached(dataset, question)
    if outcome.result is not None:
        return outcome.result
    if outcome.refusal:
        lacking(outcome.refusal)
        return None
    running = work(visit, dataset, question, outcome)
    if outcome.so_far is not None:
        st.info(SO_FAR, icon=":material/hourglass_top:")
        return outcome.so_far
    return (
        _previous(dataset, question, running=running)
        or _before_refresh(dataset, question, running=running)
        or (None if running and question.tells else part(visit, dataset, question))
        or _latest(question, dataset, running=running)
    )


def cached(dataset: Dataset, question: LongQuestion[Settings, Result]) -> CachedResult[Result]:
    """Return how the question stands; the session remembers what it showed last."""
    outcome = question.compute.cached(question.source or dataset.hash, question.settings, **question.more)
    if outcome.result is not None:
        st.session_state[_place(question)] = (dataset.hash, question.settings)
    return outcome


def work(
    visit: Visit, dataset: Dataset, question: LongQuestion[Settings, Result], outcome: CachedResult[Result]
) -> bool:
    """Show the running job, or the button that starts one where it does not start by itself; return whether it runs."""
    job = outcome.job or by_itself(visit, dataset, question)
    running = job is not None and job.active
    if not running:
        with st.container(border=True):
            st.markdown(f"{question.before()} It takes {_takes(visit, dataset, question).words()}.")
            if st.button(question.button, type="primary", icon=question.icon, key=question.name):
                question.compute.start(question.source or dataset.hash, question.settings, **question.more)
                question.pressed()
                st.rerun()
    running_work.job_panel(visit.app_state, job, question.what)
    return running


def offer(visit: Visit, dataset: Dataset, question: LongQuestion[Any, Any]) -> None:
    """Show the work of a question that is not answered yet."""
    outcome = question.compute.cached(question.source or dataset.hash, question.settings, **question.more)
    if outcome.result is None and not outcome.refusal:
        work(visit, dataset, question, outcome)


def by_itself(visit: Visit, dataset: Dataset, question: LongQuestion[Settings, Result]) -> JobView | None:
    """Start what is short, once since the start of the server: what was cancelled or failed waits for its button."""
    longest = visit.app_state.settings.ahead_s
    if not longest:
        return None
    seconds = _takes(visit, dataset, question).seconds
    if seconds > longest:
        return None
    try:
        source = question.source or dataset.hash
        return question.compute.start(source, question.settings, ahead_s=seconds, **question.more)
    except NotEnoughData:  # what it rests on is not there yet: its own page, or the button, says so
        return None


def _takes(visit: Visit, dataset: Dataset, question: LongQuestion[Settings, Result]) -> Expected:
    source = visit.workbench.dataset(question.source) if question.source else dataset
    whole = takes(visit.workbench, question.compute, source, question.settings)
    return replace(whole, seconds=whole.seconds * question.share)


def takes(workbench: Workbench, compute: Bound[Any, Any], dataset: Dataset, settings: object) -> Expected:
    """Return how long a question takes on a dataset, from those before it and what else the machine does."""
    step = compute.declared.question.name
    return expected(
        step,
        settings,
        dataset.finished_rows,
        earlier_runs(workbench.datasets(), workbench.runs(), step),
        running_work.busy(),
    )


def _place(question: LongQuestion[Settings, Result]) -> str:
    return f"{question.name}_last"


def _previous(dataset: Dataset, question: LongQuestion[Settings, Result], *, running: bool) -> Result | None:
    of_dataset, settings = st.session_state.get(_place(question), ("", None))
    if of_dataset != dataset.hash or settings is None:
        return None
    result = question.compute.cached(question.source or of_dataset, settings, **question.more).result
    if result is not None and settings != question.settings:  # else its job has ended just now
        others = markdown_text(earlier_words(settings, question.settings), 200)
        _banner(question, f"the previous settings ({others})", running=running)
    return result


def _before_refresh(dataset: Dataset, question: LongQuestion[Settings, Result], *, running: bool) -> Result | None:
    if not question.outlives:
        return None
    found = question.compute.before_refresh(question.source or dataset.hash, question.settings, **question.more)
    if found is None:
        return None
    _banner(question, f"the rows before the refresh of {minute(found[1])}", running=running)
    return found[0]


def part(visit: Visit, dataset: Dataset, question: LongQuestion[Settings, Result]) -> Result | None:
    """Return the result of a small part, which starts by itself; where that would take long, too, None."""
    if question.part is None:
        return None
    settings, share, words = question.part
    small = replace(question, settings=settings, share=share)
    outcome = small.compute.cached(small.source or dataset.hash, settings, **small.more)
    if outcome.result is not None:
        st.info(part_sentence(words, question.button), icon=":material/info:")
        return outcome.result
    job = outcome.job or by_itself(visit, dataset, small)
    if job is not None and job.active:
        running_work.job_panel(visit.app_state, job, f"{question.what} ({words})")
    return None


def _latest(question: LongQuestion[Settings, Result], dataset: Dataset, *, running: bool) -> Result | None:
    if question.describe is None:
        return None
    result = question.compute.latest(question.source or dataset.hash)
    if result is not None:
        _banner(question, f"other settings ({question.describe(result)})", running=running)
    return result


def _banner(question: LongQuestion[Any, Any], whose: str, *, running: bool) -> None:
    todo = "new ones are being computed" if running else f"press **{question.button}** to update them"
    st.warning(f"These results are for {whose}; {todo}.", icon=":material/history:")
