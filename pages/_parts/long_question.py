"""A question that takes a while: its kept result, or the button, the running job and the result before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import streamlit as st

from pages._frame.visit import Visit
from pages._parts import running_work
from workprof.jobs import JobView
from workprof.store.reports import Dataset
from workprof.workbench import Answer

Settings = TypeVar("Settings")
Result = TypeVar("Result")


@dataclass(frozen=True)
class LongQuestion(Generic[Settings, Result]):
    """A question with its words.

    Attributes:
        name: of its button, and of the place where the session keeps the settings shown last.
        settings: asked with.
        answer: method of the workbench that looks for a kept result.
        start: method that starts the job.
        button: words of the button.
        before: what stands over it, asked for only where there is no result.
        what: the job in words.
        told: what the settings of the result before were, in words.
        icon: of the button.
    """

    name: str
    settings: Settings
    answer: Callable[[str, Settings], Answer[Result]]
    start: Callable[[str, Settings], JobView]
    button: str
    before: Callable[[], str]
    what: str
    told: Callable[[Result], str] | None = None
    icon: str = ":material/play_arrow:"


def result(visit: Visit, dataset: Dataset, asked: LongQuestion[Settings, Result]) -> Result | None:
    """Return the kept result, or show how to get it and return the one before under a banner."""
    answer = asked.answer(dataset.hash, asked.settings)
    if answer.result is not None:
        st.session_state[_place(asked)] = (dataset.hash, asked.settings)
        return answer.result
    running = answer.job is not None and answer.job.active
    if not running:
        with st.container(border=True):
            st.markdown(asked.before())
            if st.button(asked.button, type="primary", icon=asked.icon, key=asked.name):
                asked.start(dataset.hash, asked.settings)
                st.rerun()
    running_work.job_panel(visit.house, answer.job, asked.what)
    return _previous(dataset, asked, running=running)


def _place(asked: LongQuestion[Settings, Result]) -> str:
    return f"{asked.name}_last"


def _previous(dataset: Dataset, asked: LongQuestion[Settings, Result], *, running: bool) -> Result | None:
    of_dataset, settings = st.session_state.get(_place(asked), ("", None))
    if of_dataset != dataset.hash or settings is None:
        return None
    kept = asked.answer(of_dataset, settings).result
    if kept is not None:
        todo = "the new one is on its way" if running else f"press **{asked.button}** to renew it"
        told = f" ({asked.told(kept)})" if asked.told else ""
        st.warning(f"What follows is based on previous settings{told}; {todo}.", icon=":material/history:")
    return kept
