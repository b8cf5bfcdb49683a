"""Which task the Memory page is about, and the request of runs that have none."""

from __future__ import annotations

from collections.abc import Mapping

from pages._frame import link
from pages._memory import other_names
from pages._parts.controls import LARGEST_GB, choice, number
from workprof.units import GB

TASK = "memory_task"
EVERY_TASK = "all tasks"


def flat_request() -> float:
    """Show the field and return the request in bytes; 0 = none."""
    meaning = "The request of runs that have none in the table; GB = 1e9 bytes."
    return number("Flat request (GB, 0 = none)", "memory_request", 0.0, (0.0, LARGEST_GB), meaning) * GB


def _as_label(wanted: str, labels: Mapping[str, str]) -> None:
    """Call a task as the list calls it: links of other pages give the full name."""
    found = next((label for label, name in labels.items() if name == wanted and wanted not in labels), wanted)
    if found != wanted:
        other_names.take(TASK, found)


def chosen_task(labels: Mapping[str, str]) -> str:
    """Show the tasks, the one that wastes most first, and return the chosen one's name; '' = all tasks."""
    options = dict(labels) | {EVERY_TASK: ""}
    _as_label(link.read(TASK, str, EVERY_TASK), labels)
    chosen = choice(
        "Task",
        TASK,
        tuple(options),
        "Of the bins, the models and the facts; the one that wastes most GB·h first. Tasks of a path show its end.",
    )
    return options[chosen]
