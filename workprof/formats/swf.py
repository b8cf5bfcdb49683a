"""Standard Workload Format 2.2, the notation of the Parallel Workloads Archive: 18 numbers a line, -1 = not known.

Times count from the log's UnixStartTime. Memory is in kilobytes (1024 bytes) per processor, averaged over the job's
processors: here it is that of the whole job. A job that was swapped out or checkpointed has a line of the whole, then
one for each part (status 2, 3, 4); the parts fold into it.

Source: Chapin et al., Benchmarks and Standards for the Evaluation of Parallel Job Schedulers (1999); the definition of
version 2.2 on the archive's pages.
"""

import itertools
import math
import re
from collections.abc import Iterator, Sequence

from workprof.formats.declare import (
    NUMBER,
    TEXT,
    Format,
    Given,
    Made,
    Read,
    Reader,
    Remark,
    Rule,
    SourceColumn,
    Steps,
    Unreadable,
)

COLUMNS = (
    *("job", "submit_time", "wait_time", "run_time", "allocated_processors", "mean_cpu_time", "used_memory"),
    *("requested_processors", "requested_time", "requested_memory", "status", "user", "group", "executable"),
    *("queue", "partition", "preceding_job", "think_time"),
)
"""The 18 fields of a line."""

TIMES = ("start_time", "end_time")
IDS = ("job", "user", "group", "executable", "queue", "partition", "preceding_job")
STATUSES = {
    0: "failed",
    1: "completed",
    2: "partial execution, continued",
    3: "partial execution, completed",
    4: "partial execution, failed",
    5: "cancelled",
}
PARTS = (2, 3, 4)
SHOWN = 5
LOOKED_AT_ROWS = 20
MOSTLY = 0.8

_START = re.compile(r"^\s*;\s*UnixStartTime:\s*(\d+)", re.IGNORECASE)
_HEADER = re.compile(
    r"^\s*;\s*(?:Version|Computer|Installation|UnixStartTime|MaxJobs|MaxRecords|MaxProcs|MaxNodes|TimeZone)\w*:",
    re.IGNORECASE | re.MULTILINE,
)


def recognises(head: str, name: str) -> bool:
    """Tell whether a text begins a log in this format.

    Without a header of the format, and without its ending, the jobs have to be numbered from 1.
    """
    lines = head.splitlines()[: None if head.endswith("\n") else -1] or [head]
    rows = list(itertools.islice((line for line in lines if line.strip() and line.lstrip()[0] != ";"), LOOKED_AT_ROWS))
    result = [row for row in map(_numbers, rows) if row is not None]
    if (
        not result
        or len(result) < min(MOSTLY * len(rows), len(rows) - 1)
        or sum(row[COLUMNS.index("status")] in (*STATUSES, -1) for row in result) < MOSTLY * len(result)
    ):
        return False
    numbered = [row[0] for row in result] == list(range(1, len(result) + 1))
    return numbered or ".swf" in name.lower() or _HEADER.search(head) is not None


def read(sources: Sequence[Given]) -> Iterator[Read | Unreadable | Remark]:
    """Yield a row for every job and every part of one."""
    memory = 0
    negative: list[str] = []
    for given in sources:
        origin = 0.0
        for line, text in given.lines():
            if not text.strip() or text.lstrip().startswith(";"):
                start = _START.match(text)
                origin = float(start.group(1)) if start else origin
                continue
            row = _numbers(text)
            if row is None:
                yield Unreadable(line, "", text, f"a job is {len(COLUMNS)} numbers between blanks")
                continue
            cells = dict(zip(COLUMNS, row, strict=True))
            memory += cells["used_memory"] >= 0
            strange = [name for name, value in cells.items() if value < 0 and value != -1 and name != "submit_time"]
            negative += [f"{name}: {cells[name]:g} in line {line:,}" for name in strange]
            yield Read(line, _cells(cells, origin))
    if memory:
        message = (
            f"{memory:,} jobs tell their used memory as an average over their processors; times the processors it "
            "stands for the peak, which it may be below: a size that rests on it may be too small"
        )
        yield Remark("memory is an average", memory, message, "warning")
    if negative:
        shown = f"{'; '.join(negative[:SHOWN])}{' and others' if len(negative) > SHOWN else ''}"
        message = (
            f'{len(negative):,} numbers are negative, and not the -1 that means "not known": they count as missing'
        )
        yield Remark("negative values", len(negative), f"{message} ({shown})", "warning")


def _numbers(text: str) -> list[float] | None:
    words = text.split()
    if len(words) != len(COLUMNS):
        return None
    try:
        result = [float(word) for word in words]
    except ValueError:
        return None
    return result if all(map(math.isfinite, result)) else None


def _cells(row: dict[str, float], origin: float) -> list[str | float | None]:
    """The cells of a line: negative = missing, a part named as one of its job, times in epoch seconds."""
    cells: dict[str, str | float | None] = {
        name: None if value < 0 and name != "submit_time" else f"{value:.0f}" if name in IDS else value
        for name, value in row.items()
    }
    part = row["status"] in PARTS
    cells["job"] = f"{cells['job']}.part" if part else cells["job"]
    status = row["status"]
    cells["status"] = None if status < 0 else STATUSES.get(int(status), f"unknown ({status:g})")
    cells["submit_time"] = origin + row["submit_time"] if row["submit_time"] != -1 else None
    known = cells["submit_time"] is not None and cells["wait_time"] is not None
    start = origin + row["submit_time"] + row["wait_time"] if known else None
    end = start + row["run_time"] if start is not None and row["run_time"] >= 0 else None
    return [*(cells[name] for name in COLUMNS), start, end]


FORMAT = Format(
    name="swf",
    title="Standard Workload Format (Parallel Workloads Archive)",
    columns=tuple(SourceColumn(name, TEXT if name in (*IDS, "status") else NUMBER) for name in (*COLUMNS, *TIMES)),
    rules=(
        Rule("job_name", "job"),
        Rule("task_name", "executable"),
        Rule("user", "user"),
        Rule("group", "group"),
        Rule("workload", "queue"),
        Rule("status", "status"),
        Rule("submit_time_s", "submit_time", "s"),
        Rule("start_time_s", "start_time", "s"),
        Rule("end_time_s", "end_time", "s"),
        Rule("duration_s", "run_time", "s"),
        Rule("time_limit_s", "requested_time", "s"),
        Rule("requested_memory_bytes", "requested_memory", "KiB"),
        Rule("peak_memory_bytes", "used_memory", "KiB"),
    ),
    required=("job",),
    many_machines=True,
    finished=("completed",),
    zero_is_unknown=("peak_memory_bytes", "cpu_usage_percent"),
    steps=Steps(key="job_name", step=r"^(\d+)\.part$", largest=("peak_memory_bytes",)),
    made=(
        Made(
            "peak_memory_bytes",
            "peak_memory_bytes * coalesce(nullif(allocated_processors, 0), requested_processors)",
            needs=("peak_memory_bytes", "allocated_processors", "requested_processors"),
            of_line=True,
        ),
        Made(
            "requested_memory_bytes",
            "nullif(requested_memory_bytes, 0) * coalesce(nullif(requested_processors, 0), allocated_processors)",
            needs=("requested_memory_bytes", "allocated_processors", "requested_processors"),
        ),
        Made(
            "requested_cpu_percent",
            "100 * coalesce(nullif(requested_processors, 0), allocated_processors)",
            needs=("allocated_processors", "requested_processors"),
        ),
        Made("time_limit_s", "nullif(time_limit_s, 0)", needs=("time_limit_s",)),
        Made(
            "cpu_usage_percent",
            "100 * mean_cpu_time * coalesce(nullif(allocated_processors, 0), requested_processors) "
            "/ nullif(duration_s, 0)",
            needs=("mean_cpu_time", "duration_s", "allocated_processors", "requested_processors"),
        ),
    ),
    reader=Reader(recognises, (*COLUMNS, *TIMES), read),
    not_known="The format defines used memory as an average over a job's processors: a size may be too small.",
)
