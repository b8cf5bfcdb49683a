"""Dumps of `sacct` without a heading (`-n`, `--noheader`): which column is which, as far as its cells tell.

A list that this program's documents propose is known by the number of its columns and what stands in each. Of any other
list a column is known where nothing else that sacct prints can look so: ids with steps, states, the moments whose
difference is the time elapsed, names of steps, sizes on the lines of jobs. All others are doubtful.

Source: Slurm's manual page of sacct.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

from workprof.formats import slurm

DOUBTFUL = "?"
DELIMITERS = ("|", ",", ";", "\t")

USUAL = (
    "JobID,JobName,User,State,Submit,Start,End,Elapsed,Timelimit,ReqMem,MaxRSS,AveRSS,TotalCPU,ReqCPUS,NNodes,NTasks,"
    "TRESUsageInTot,ExitCode"
)
FULL = (
    "JobID,JobName,User,Account,Partition,State,Submit,Start,End,Elapsed,Timelimit,ReqMem,MaxRSS,AveRSS,TotalCPU,"
    "ReqCPUS,AllocCPUS,NNodes,NTasks,ReqTRES,AllocTRES,TRESUsageInTot,TRESUsageInMax,NodeList,ExitCode"
)
PROPOSED = tuple(tuple(names.split(",")) for names in (USUAL, FULL))
"""Lists of columns in the commands of the documents and of the refusals."""
DEFAULT = ("JobID", "JobName", "Partition", "Account", "AllocCPUS", "State", "ExitCode")
"""What sacct prints without --format."""

_SIZE = r"(?:\d+(?:\.\d+)?[KMGTP]?|)"
_SPAN = r"(?:\d+-)?\d+:\d\d:\d\d"
_MOMENT = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d|Unknown|None"
SHAPES = {
    **{name: re.compile(shape) for name, shape in slurm.SHAPES},
    **dict.fromkeys(("Submit", "Start", "End"), re.compile(_MOMENT)),
    "Elapsed": re.compile(_SPAN),
    "Timelimit": re.compile(rf"{_SPAN}|UNLIMITED|Partition_Limit|"),
    "TotalCPU": re.compile(rf"(?:{_SPAN}|\d+:\d\d(?:\.\d+)?|)"),
    "ReqMem": re.compile(rf"{_SIZE}[nc]?"),
    **dict.fromkeys(("MaxRSS", "AveRSS"), re.compile(_SIZE)),
    **dict.fromkeys(("ReqCPUS", "AllocCPUS", "NNodes", "NTasks"), re.compile(r"\d*")),
    **dict.fromkeys(("ReqTRES", "AllocTRES", "TRESUsageInTot", "TRESUsageInMax"), re.compile(r"(?:[\w/:.-]+=.*)?")),
}
"""What stands in a column that is proposed; of another name anything."""

OF_JOBS = ("User", "Partition", "Timelimit", "ReqTRES")
OF_STEPS = ("MaxRSS", "AveRSS", "NTasks", "TRESUsageInTot", "TRESUsageInMax")
"""Columns that are empty on the lines of steps, and on those of jobs."""

_STATE = re.compile(rf"(?:{slurm.STATES})(?: by \d+|\+)?")
_RESOURCES = re.compile(r"(?:[\w/:.\-]+=[^,]*,)*cpu=\d+(?:,[\w/:.\-]+=[^,]*)*")
_REQUEST, _REQUEST_PER = re.compile(r"\d+(?:\.\d+)?[KMGTP]|0"), re.compile(r"\d+(?:\.\d+)?[KMGTP]?[nc]")
_SIZED = re.compile(r"\d+(?:\.\d+)?[KMGTP]?")
STEPS = ("batch", "extern", "interactive")

Rows = Sequence[Sequence[str]]


def rows_of(lines: Iterable[str], delimiter: str) -> list[list[str]]:
    """The cells of lines; a delimiter at the end of each (`sacct -p`) is none between two."""
    rows = [line.split(delimiter) for line in lines]
    return [row[:-1] for row in rows] if all(len(row) > 1 and not row[-1] for row in rows) else rows


def is_sacct(rows: Rows) -> bool:
    """Tell whether every row has the id of a job or a step first, and a state."""
    number = SHAPES["JobID"]
    return bool(rows) and all(
        len(row) > 1 and number.fullmatch(row[0]) and any(_STATE.fullmatch(cell) for cell in row) for row in rows
    )


def names_of(rows: Rows) -> tuple[str, ...]:
    """The name of every column of rows of sacct, `DOUBTFUL` of one that several may be; () for other rows."""
    if not is_sacct(rows) or len({len(row) for row in rows}) > 1:
        return ()
    columns = [[row[at] for row in rows] for at in range(len(rows[0]))]
    for names in (*PROPOSED, DEFAULT):
        if len(names) == len(columns) and _fits(dict(zip(names, columns, strict=True))):
            return names
    return tuple(_told(columns))


def _fits(columns: Mapping[str, Sequence[str]]) -> bool:
    """Tell whether columns are those of a list: by their shapes, and by what steps and jobs leave empty."""
    step = ["." in cell for cell in columns["JobID"]]
    names = columns.keys()
    return (
        all(_all(SHAPES[name], columns[name]) for name in names & SHAPES.keys())
        and _names_steps(columns["JobID"], columns["JobName"])
        and not any(any(_of(columns[name], step, of_steps=True)) for name in names & {*OF_JOBS})
        and not any(any(_of(columns[name], step, of_steps=False)) for name in names & {*OF_STEPS})
        and ("Account" not in names or all(columns["Account"]))
        and ("ReqMem" not in names or all(_of(columns["ReqMem"], step, of_steps=False)))
        and ("MaxRSS" not in names or _at_least(columns["MaxRSS"], columns["AveRSS"]))
        and ("MaxRSS" not in names or _is_resident(columns))
        and ("Elapsed" not in names or _spans(columns["Start"], columns["End"], columns["Elapsed"]))
    )


def _at_least(most: Sequence[str], mean: Sequence[str]) -> bool:
    """Tell whether the largest of tasks is nowhere below their mean, but for what printing rounds."""
    return all(_bytes(large) >= 0.98 * _bytes(small) for large, small in zip(most, mean, strict=True))


def _is_resident(columns: Mapping[str, Sequence[str]]) -> bool:
    """Tell whether a size is nearer to the resident than to the virtual memory that the use of most tasks alone tells.

    Without a resource to compare with it may be any: only where no line has a size it does not matter.
    """
    near = []
    for cell, tasks, told in zip(*(columns[name] for name in ("MaxRSS", "NTasks", "TRESUsageInTot")), strict=True):
        used = dict(part.split("=", 1) for part in told.split(",") if "=" in part)
        if _bytes(cell) and tasks == "1" and all(_SIZED.fullmatch(used.get(name, "")) for name in ("mem", "vmem")):
            near.append(_bytes(cell) ** 2 <= 1.05 * _bytes(used["mem"]) * _bytes(used["vmem"]))
    return 2 * sum(near) > len(near) or not any(columns["MaxRSS"])


def _bytes(cell: str) -> float:
    digits = cell.rstrip("KMGTP")
    return float(digits or 0) * 1024.0 ** " KMGTP".index(cell[len(digits) :] or " ")


def _told(columns: Sequence[Sequence[str]]) -> Iterable[str]:
    """Yield the name of each column, as far as its cells tell."""
    step = [SHAPES["JobID"].fullmatch(cell) is not None and "." in cell for cell in columns[0]]
    names = [DOUBTFUL] * len(columns)
    names[0] = "JobID"
    rules: tuple[tuple[str, Callable[[Sequence[str]], bool]], ...] = (
        ("State", lambda cells: all(_STATE.fullmatch(cell) for cell in cells)),
        ("ExitCode", lambda cells: all(re.fullmatch(r"\d+:\d+", cell) for cell in cells)),
        ("JobName", lambda cells: _names_steps(columns[0], cells)),
        ("ReqMem", lambda cells: _requests(cells, step)),
        ("ReqTRES", lambda cells: any(step) and _resources(cells, step, of_steps=False)),
        ("AllocTRES", lambda cells: any(step) and _resources(cells, step, of_steps=True)),
    )
    for name, holds in rules:
        places = [at for at, cells in enumerate(columns) if at and holds(cells)]
        if len(places) == 1:
            names[places[0]] = name
    moments = [at for at, cells in enumerate(columns) if _all(SHAPES["Start"], cells)]
    spans = [at for at, cells in enumerate(columns) if _all(SHAPES["Elapsed"], cells)]
    found = [
        (start, end, span)
        for start in moments
        for end in moments
        for span in spans
        if start != end and _spans(columns[start], columns[end], columns[span])
    ]
    if len(found) == 1:
        for at, name in zip(found[0], ("Start", "End", "Elapsed"), strict=True):
            names[at] = name
    return names


def _all(shape: re.Pattern[str], cells: Sequence[str]) -> bool:
    return all(shape.fullmatch(cell) for cell in cells)


def _of(cells: Sequence[str], step: Sequence[bool], *, of_steps: bool) -> list[str]:
    return [cell for cell, its in zip(cells, step, strict=True) if its == of_steps]


def _names_steps(ids: Sequence[str], cells: Sequence[str]) -> bool:
    """Tell whether the steps that sacct names itself bear these names."""
    named = [(of.rpartition(".")[2], cell) for of, cell in zip(ids, cells, strict=True)]
    return all(cell == step for step, cell in named if step in STEPS) and any(step in STEPS for step, _ in named)


def _requests(cells: Sequence[str], step: Sequence[bool]) -> bool:
    """Tell whether jobs request memory: per node or core, or of the whole where steps say nothing of it."""
    jobs, steps = (_of(cells, step, of_steps=own) for own in (False, True))
    whole = bool(steps) and not any(steps) and _all(_REQUEST, jobs) and any(cell != "0" for cell in jobs)
    return bool(jobs) and (whole or _all(_REQUEST_PER, jobs))


def _resources(cells: Sequence[str], step: Sequence[bool], *, of_steps: bool) -> bool:
    """Tell whether jobs have resources, and steps too or none of them has."""
    jobs, steps = (_of(cells, step, of_steps=own) for own in (False, True))
    filled = _all(_RESOURCES, steps) if of_steps else not any(steps)
    return bool(jobs) and _all(_RESOURCES, jobs) and filled


def _spans(start: Sequence[str], end: Sequence[str], elapsed: Sequence[str]) -> bool:
    """Tell whether the time from a start to an end is the time elapsed, of every row that has both, and of one."""
    known = [
        (_moment(last) - _moment(first), _seconds(span))
        for first, last, span in zip(start, end, elapsed, strict=True)
        if first[:1].isdigit() and last[:1].isdigit()
    ]
    return any(seconds > 0 for _, seconds in known) and all(abs(told - seconds) <= 1 for told, seconds in known)


def _moment(cell: str) -> float:
    return datetime.fromisoformat(f"{cell}+00:00").timestamp()


def _seconds(cell: str) -> float:
    days, _, clock = cell.rpartition("-")
    hours, minutes, seconds = clock.split(":")
    return ((int(days or 0) * 24 + int(hours)) * 60 + int(minutes)) * 60 + int(seconds)
