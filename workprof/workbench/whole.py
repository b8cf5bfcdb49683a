"""The whole workbench: the questions of all rooms."""

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

from workprof.core.settings import from_environment
from workprof.workbench import rooms
from workprof.workbench.comparison import ComparisonQuestions
from workprof.workbench.declared import DECLARED
from workprof.workbench.feedback import FeedbackQuestions
from workprof.workbench.memory import MemoryQuestions
from workprof.workbench.nodes import NodeQuestions
from workprof.workbench.notices import NoticeQuestions
from workprof.workbench.people import PeopleQuestions
from workprof.workbench.phases import PhaseQuestions
from workprof.workbench.profiles import ProfileQuestions
from workprof.workbench.question_methods import ask
from workprof.workbench.rooms import room
from workprof.workbench.runs import RunQuestions
from workprof.workbench.sources import SourceQuestions
from workprof.workbench.unreadable import UnreadableQuestions

WHOLE = ("cancel", "close", "job", "jobs", "not_saved", "settings", "wait")
"""Of the workbench itself."""


class Workbench(
    PeopleQuestions,
    NoticeQuestions,
    SourceQuestions,
    ComparisonQuestions,
    RunQuestions,
    FeedbackQuestions,
    MemoryQuestions,
    NodeQuestions,
    PhaseQuestions,
    UnreadableQuestions,
):
    """One home folder, opened: its datasets, its results, its running steps.

    `dir(bench)` lists the rooms, such as `bench.memory`, and `dir(bench.memory)` what is asked there.
    """

    data = room(rooms.Data)
    profiles = room(rooms.Profiles, ProfileQuestions.profiles.declared)
    forecasts = room(rooms.Forecasts)
    memory = room(rooms.Memory)
    nodes = room(rooms.Nodes)
    phases = room(rooms.Phases)
    results = room(rooms.Results)

    def __dir__(self) -> list[str]:
        """The rooms, and what is about the workbench itself; the flat methods of before stay for a release."""
        return sorted((*rooms.ROOMS, *WHOLE))


for _question in DECLARED.values():  # what needs nothing of the workbench has no line of its own there
    if not hasattr(Workbench, _question.call):
        setattr(Workbench, _question.call, ask(_question))


@contextlib.contextmanager
def passing_workbench() -> Iterator[Workbench]:
    """A workbench that keeps nothing: its home is a temporary folder, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="workprof-") as folder:
        home = Path(folder) / "home"
        with Workbench(from_environment().passing(home)) as bench:
            yield bench
