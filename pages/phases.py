"""Phases: what phases does this run have, and which workload is it?"""

from __future__ import annotations

from pages import _shell
from pages._frame.visit import Visit
from pages._parts import forms, tabs
from pages._phases import evaluation, form, known, live, timeline
from workprof.phases.questions import QUESTIONS
from workprof.store.reports import Dataset

PAGE = _shell.Page(
    "Phases",
    "What phases does this run have, and which workload is it?",
    "Phases needs a dataset of counters by the second (columns workload, run, t and counters), such as `workprof "
    "record` writes.",
    kind="telemetry",
    resets=True,
)
VIEWS = {
    "Timeline": timeline.timeline,
    "Fingerprint": timeline.fingerprint,
    "Match": known.match,
    "Library": known.library,
    "Evaluation": evaluation.evaluation,
    "Live": live.live,
}


def body(visit: Visit, dataset: Dataset) -> None:
    """Show what the page is about, then the chosen view."""
    forms.arrive("phases", QUESTIONS)
    context = form.context_of(visit, dataset)
    if context is not None:
        with context.views:
            tabs.show_open(form.TAB, VIEWS, context)


_shell.run(PAGE, body)
