"""A question that takes a while: its kept result, or the button, the running job and the result before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import streamlit as st

from pages._parts import running_work
from pages._phases.asking import Asked
from workprof.jobs import JobView
from workprof.workbench import Answer

Settings = TypeVar("Settings")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Work(Generic[Settings, Result]):
    """A question with its words.

    Attributes:
        name: of its keys.
        settings: asked with.
        answer: method of the workbench that looks for a kept result.
        start: method that starts the job.
        button: words of the button.
        before: what stands over it.
        what: the job in words.
    """

    name: str
    settings: Settings
    answer: Callable[[str, Settings], Answer[Result]]
    start: Callable[[str, Settings], JobView]
    button: str
    before: str
    what: str


def result(asked: Asked, work: Work[Settings, Result]) -> Result | None:
    """Return the kept result, or show how to get it and return the one before under a banner."""
    place, dataset = f"phases_last_{work.name}", asked.dataset.hash
    answer = work.answer(dataset, work.settings)
    if answer.result is not None:
        st.session_state[place] = (dataset, work.settings)
        return answer.result
    running = answer.job is not None and answer.job.active
    if not running:
        with st.container(border=True):
            st.markdown(work.before)
            if st.button(work.button, type="primary", icon=":material/play_arrow:", key=f"phases_start_{work.name}"):
                work.start(dataset, work.settings)
                st.rerun()
    running_work.job_panel(asked.visit.house, answer.job, work.what)
    return _previous(asked, work, running=running)


def _previous(asked: Asked, work: Work[Settings, Result], *, running: bool) -> Result | None:
    of_dataset, settings = st.session_state.get(f"phases_last_{work.name}", ("", None))
    if of_dataset != asked.dataset.hash or settings is None:
        return None
    kept = work.answer(of_dataset, settings).result
    if kept is not None:
        todo = "the new one is on its way" if running else f"press **{work.button}** to renew it"
        st.warning(f"What follows is based on previous settings; {todo}.", icon=":material/history:")
    return kept
