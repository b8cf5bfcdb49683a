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


def result(visit: Visit, dataset: Dataset, settings: LongQuestion[Settings, Result]) -> Result | None:
    """Return the kept result, or show how to get it and return the one before under a banner."""
    outcome = settings.ask.cached(settings.source or dataset.hash, settings.settings)
    if outcome.result is not None:
        st.session_state[_place(settings)] = (dataset.hash, settings.settings)
        return outcome.result
    running = outcome.job is not None and outcome.job.active
    if not running:
        with st.container(border=True):
            st.markdown(settings.before())
            if st.button(settings.button, type="primary", icon=settings.icon, key=settings.name):
                settings.ask.start(settings.source or dataset.hash, settings.settings)
                st.rerun()
    running_work.job_panel(visit.app_state, outcome.job, settings.what)
    return _previous(dataset, settings, running=running)


def _place(settings: LongQuestion[Settings, Result]) -> str:
    return f"{settings.name}_last"


def _previous(dataset: Dataset, request: LongQuestion[Settings, Result], *, running: bool) -> Result | None:
    of_dataset, settings = st.session_state.get(_place(request), ("", None))
    if of_dataset != dataset.hash or settings is None:
        return None
    cached = request.ask.cached(request.source or of_dataset, settings).result
    if cached is not None:
        todo = "new ones are being computed" if running else f"press **{request.button}** to update them"
        text = f" ({request.told(cached)})" if request.told else ""
        st.warning(f"These results are for the previous settings{text}; {todo}.", icon=":material/history:")
    return cached
