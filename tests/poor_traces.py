"""Small traces that lack something: no finished run, no request, no use, hardly a row. Each is a legal dataset."""

from pathlib import Path

_NAMES = "job_name,task_name,user,status,submit_time_s,start_time_s,end_time_s"
_MEMORY = "requested_memory_bytes,peak_memory_bytes"
HEADER = f"{_NAMES},requested_cpu_percent,cpu_usage_percent,{_MEMORY}"


def _rows(n, status="completed", end="{end}", user="u{user}", request="{request}", use="{use}", seconds=None):
    lines = []
    for at in range(n):
        start, length = 1000 + 60 * at, seconds if seconds is not None else 30 + 37 * (at % 7)
        values = {"end": start + length, "user": at % 3, "request": 4e9, "use": 1e9 + 1e7 * at}
        cells = [
            f"j{at}",
            f"t{at % 2}",
            user,
            status,
            f"{start - 10}",
            f"{start}",
            end,
            "200",
            f"{50 + at}",
            request,
            use,
        ]
        lines.append(",".join(cells).format(**values))
    return "\n".join([HEADER, *lines]) + "\n"


def _without(text, *columns):
    rows = [line.split(",") for line in text.splitlines()]
    kept = [at for at, name in enumerate(rows[0]) if name not in columns]
    return "\n".join(",".join(row[at] for at in kept) for row in rows) + "\n"


POOR = {
    "running": _rows(60, status="running", end=""),
    "failed": _rows(60, status="failed"),
    "requests": _without(_rows(60), "peak_memory_bytes", "cpu_usage_percent"),
    "usage": _without(_rows(60), "requested_memory_bytes", "requested_cpu_percent"),
    "no-request": _rows(60, request="0"),
    "no-memory": _without(_rows(60), *_MEMORY.split(",")),
    "two": _rows(2),
    "one": _rows(1),
    "equal": _rows(60, seconds=60),
    "nobody": _rows(60, user="").replace(",,completed", ",ann,completed", 1),
    "one-user": _rows(60, user="ann"),
    "zero": _rows(60, seconds=0),
    "backwards": _rows(60, seconds=-5),
    "times": _without(
        _rows(60, status="", end=""), "status", "task_name", "user", "submit_time_s", *_MEMORY.split(",")
    ),
}
"""Name -> a file of it."""


def write(folder: Path, name: str) -> Path:
    """Write a trace and return its path."""
    path = folder / f"{name}.csv"
    path.write_text(POOR[name])
    return path
