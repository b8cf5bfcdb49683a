"""Every process of the host in one pass over /proc: who started it, which session it is in, its page faults."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

GONE = ("Z", "X", "x")
"""States of processes that have ended and only wait to be asked for."""


@dataclass(frozen=True)
class ProcessLine:
    """One process. `born_ticks` with the number names it for good: numbers are used again."""

    pid: int
    parent: int
    session: int
    minor_faults: int
    major_faults: int
    born_ticks: int


def process_table(proc: Path) -> dict[int, ProcessLine]:
    """Return the living processes by number; one that ends while they are read is left out."""
    found = {}
    for name in os.listdir(proc):  # noqa: PTH208  a Path per process would double the cost of a sample
        if name.isdigit():
            line = _line(f"{proc}/{name}/stat")
            if line is not None:
                found[line.pid] = line
    return found


def _line(path: str) -> ProcessLine | None:
    try:
        with open(path, "rb") as stream:  # noqa: PTH123  as above
            content = stream.read()
    except OSError:
        return None
    number, _, rest = content.partition(b" (")
    words = rest.rpartition(b")")[2].split()  # the name itself may hold spaces and brackets
    if len(words) < 20 or words[0].decode() in GONE:
        return None
    return ProcessLine(
        pid=int(number),
        parent=int(words[1]),
        session=int(words[3]),
        minor_faults=int(words[7]),
        major_faults=int(words[9]),
        born_ticks=int(words[19]),
    )


def descendants(table: dict[int, ProcessLine], roots: set[int]) -> set[int]:
    """Return the roots that live and everything that they started, directly or not."""
    children: dict[int, list[int]] = {}
    for line in table.values():
        children.setdefault(line.parent, []).append(line.pid)
    found: set[int] = set()
    waiting = [pid for pid in roots if pid in table]
    while waiting:
        pid = waiting.pop()
        if pid not in found:
            found.add(pid)
            waiting.extend(children.get(pid, ()))
    return found
