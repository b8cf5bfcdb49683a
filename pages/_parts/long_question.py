"""A question that takes a while: its kept result, or the button, the running job and the result before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import streamlit as st

from pages._frame.visit import Visit
from pages._parts import running_work
from workprof.store.reports import Dataset
from workprof.workbench.question_methods import Bound

Settings = TypeVar("Settings")
Result = TypeVar("Result")


@dataclass(frozen=True)
class LongQuestion(Generic[Settings, Result]):
    """A question with its words.

    Attributes:
        name: of its button, and of the place where the session keeps the settings shown last.
        settings: asked with.
        compute: the question of the open workbench.
        button: words of the button.
        before: what stands over it, requested only where there is no result.
        what: the job in words.
        describe: what the settings of the result before were, in words.
        icon: of the button.
        source: hash of the dataset that is asked, where it is another one than the page's.
    """

    name: str
    settings: Settings
    compute: Bound[Settings, Result]
    button: str
    before: Callable[[], str]
    what: str
    describe: Callable[[Result], str] | None = None
    icon: str = ":material/play_arrow:"
    source: str = ""


def result(visit: Visit, dataset: Dataset, question: LongQuestion[Settings, Result]) -> Result | None:
    """Return the kept result, or show how to get it and return the one before under a banner."""
    outcome = question.compute.cached(question.source or dataset.hash, question.settings)
    if outcome.result is not None:
        st.session_state[_place(question)] = (dataset.hash, question.settings)
        return outcome.result
    running = outcome.job is not None and outcome.job.active
    if not running:
        with st.container(border=True):
            st.markdown(question.before())
            if st.button(question.button, type="primary", icon=question.icon, key=question.name):
                question.compute.start(question.source or dataset.hash, question.settings)
                st.rerun()
    running_work.job_panel(visit.app_state, outcome.job, question.what)
    return _previous(dataset, question, running=running)


def _place(question: LongQuestion[Settings, Result]) -> str:
    return f"{question.name}_last"


def _previous(dataset: Dataset, question: LongQuestion[Settings, Result], *, running: bool) -> Result | None:
    of_dataset, settings = st.session_state.get(_place(question), ("", None))
    if of_dataset != dataset.hash or settings is None:
        return None
    cached = question.compute.cached(question.source or of_dataset, settings).result
    if cached is not None:
        todo = "new ones are being computed" if running else f"press **{question.button}** to update them"
        text = f" ({question.describe(cached)})" if question.describe else ""
        st.warning(f"These results are for the previous settings{text}; {todo}.", icon=":material/history:")
    return cached
