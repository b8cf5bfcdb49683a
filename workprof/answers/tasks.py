"""Tasks: their names as people read them."""

from collections import Counter
from collections.abc import Iterable, Iterator

TASK_COLUMN = "task_name"
PATH_SIGN = ":"
"""Between the parts of a task's name in a Nextflow trace; the last part says what it does."""


def task_labels(tasks: Iterable[str]) -> dict[str, str]:
    """Return shown name -> task: the last part of a path, more parts where two tasks end alike."""
    return {name: task for task, name in names_of(tasks).items()}


def names_of(tasks: Iterable[str]) -> dict[str, str]:
    """Return task -> shown name, see `task_labels`."""
    every = dict.fromkeys(tasks)
    alike = Counter(ending for task in every for ending in _endings(task))
    return {task: next((one for one in _endings(task) if one and alike[one] == 1), task) for task in every}


def shown(task: str) -> str:
    """Return the last part of a task's path."""
    return task.rsplit(PATH_SIGN, 1)[-1] or task


def told(column: str, value: str) -> str:
    """Return a value of a column of the trace as people read it: of a task the last part of its path."""
    return shown(value) if column == TASK_COLUMN else value


def _endings(task: str) -> Iterator[str]:
    """Yield the last part of a path, the last two, and so on."""
    parts = task.split(PATH_SIGN)
    return (PATH_SIGN.join(parts[at:]) for at in range(len(parts) - 1, -1, -1))
