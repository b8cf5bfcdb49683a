"""Phases: which phases does a workload go through, and which known workload is it?"""

from __future__ import annotations

from pages import _shell
from pages._frame import reset
from pages._frame.visit import Visit
from pages._parts import tabs
from pages._phases import asking, evaluation, fingerprint, library, live, match, timeline
from workprof.store.reports import Dataset

PAGE = _shell.Page(
    "Phases",
    "Which phases does a workload go through, and which known workload is it?",
    "Phases needs a dataset of counters by the second (columns workload, run, t and counters), such as `workprof "
    "record` writes.",
    kind="telemetry",
)
VIEWS = {
    "Timeline": timeline.timeline,
    "Fingerprint": fingerprint.fingerprint,
    "Match": match.match,
    "Library": library.library,
    "Evaluation": evaluation.evaluation,
    "Live": live.live,
}


def body(visit: Visit, dataset: Dataset) -> None:
    """Show what the page is about, then the chosen view."""
    reset.reset("phases")
    asked = asking.asked(visit, dataset)
    if asked is None:
        return
    tabs.show_open(asking.TAB, VIEWS, asked)


_shell.run(PAGE, body)
