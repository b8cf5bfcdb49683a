"""Durations: how long do jobs take, and how far off is what we say of it beforehand?"""

from __future__ import annotations

from pages import _shell
from pages._durations import asking, errors, observed
from pages._frame import reset
from pages._frame.visit import Visit
from pages._parts import tabs
from workprof.store.reports import Dataset

PAGE = _shell.Page(
    "Durations",
    "How long do jobs take, and how far off is what can be said of it before they run?",
    "Durations need a dataset with a duration (or memory, CPU or GPU use) per row; errors of predictions also need "
    "metadata such as user, task or group.",
)
VIEWS = {"Observed": observed.observed, "Prediction error": errors.errors}


def body(visit: Visit, dataset: Dataset) -> None:
    """Show the quantity that is looked at, then what was observed or how far the predictors are off."""
    reset.reset("durations")
    asked = asking.asked(visit, dataset)
    if asked is None:
        return
    tabs.show_open("durations_tab", VIEWS, asked)


_shell.run(PAGE, body)
