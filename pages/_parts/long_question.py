"""A question that takes a while: its kept result, or the button, the running job and the result before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import streamlit as st

from pages._frame.visit import Visit
from pages._parts import running_work
from workprof.store.reports import Dataset
from workprof.workbench.asking import Bound

Settings = TypeVar("Settings")
Result = TypeVar("Result")


@dataclass(frozen=True)
class LongQuestion(Generic[Settings, Result]):
    """A question with its words.

    Attributes:
        name: of its button, and of the place where the session keeps the settings shown last.
        settings: asked with.
        ask: the question of the open workbench.
        button: words of the button.
        before: what stands over it, requested only where there is no result.
        what: the job in words.
        told: what the settings of the result before were, in words.
        icon: of the button.
        source: hash of the dataset that is asked, where it is another one than the page's.
    """

    name: str
    settings: Settings
    ask: Bound[Settings, Result]
    button: str
    before: Callable[[], str]
    what: str
    told: Callable[[Result], str] | None = None
    icon: str = ":material/play_arrow:"
    source: str = ""


def result(visit: Visit, dataset: Dataset, asked: LongQuestion[Settings, Result]) -> Result | None:
    """Return the kept result, or show how to get it and return the one before under a banner."""
    answer = asked.ask.cached(asked.source or dataset.hash, asked.settings)
    if answer.result is not None:
        st.session_state[_place(asked)] = (dataset.hash, asked.settings)
        return answer.result
    running = answer.job is not None and answer.job.active
    if not running:
        with st.container(border=True):
            st.markdown(asked.before())
            if st.button(asked.button, type="primary", icon=asked.icon, key=asked.name):
                asked.ask.start(asked.source or dataset.hash, asked.settings)
                st.rerun()
    running_work.job_panel(visit.app_state, answer.job, asked.what)
    return _previous(dataset, asked, running=running)


def _place(asked: LongQuestion[Settings, Result]) -> str:
    return f"{asked.name}_last"


def _previous(dataset: Dataset, asked: LongQuestion[Settings, Result], *, running: bool) -> Result | None:
    of_dataset, settings = st.session_state.get(_place(asked), ("", None))
    if of_dataset != dataset.hash or settings is None:
        return None
    kept = asked.ask.cached(asked.source or of_dataset, settings).result
    if kept is not None:
        todo = "new ones are being computed" if running else f"press **{asked.button}** to update them"
        told = f" ({asked.told(kept)})" if asked.told else ""
        st.warning(f"These results are for the previous settings{told}; {todo}.", icon=":material/history:")
    return kept
