"""Tasks: their names as people read them."""

from collections.abc import Sequence

TASK_COLUMN = "task_name"
PATH_SIGN = ":"
"""Between the parts of a task's name in a Nextflow trace; the last part says what it does."""


def task_labels(tasks: Sequence[str]) -> dict[str, str]:
    """Return shown name -> task: the last part of a path, more parts where two tasks end alike."""
    result: dict[str, str] = {}
    for task in tasks:
        result[_shortest(task, tasks)] = task
    return result


def shown(task: str) -> str:
    """Return the last part of a task's path."""
    return task.rsplit(PATH_SIGN, 1)[-1] or task


def told(column: str, value: str) -> str:
    """Return a value of a column of the trace as people read it: of a task the last part of its path."""
    return shown(value) if column == TASK_COLUMN else value


def _shortest(task: str, tasks: Sequence[str]) -> str:
    parts = task.split(PATH_SIGN)
    for n_parts in range(1, len(parts)):
        ending = PATH_SIGN.join(parts[-n_parts:])
        if ending and sum(other == ending or other.endswith(PATH_SIGN + ending) for other in tasks) == 1:
            return ending
    return task
