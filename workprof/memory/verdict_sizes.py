"""The rows of a verdict looked up by a run that is to be submitted, the finest key first."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from workprof.core.stats import Interval
from workprof.core.units import GB, MIB
from workprof.core.words import counted, listed
from workprof.memory.resources import MEMORY
from workprof.memory.verdict import ResourceVerdict
from workprof.memory.verdict_rows import KEEP, LOWER, VerdictRow

REQUEST = "request"
Key = tuple[str, ...]


NAMES = ("task_name", "workload", "container")
"""What a job has to be known by: its user or namespace alone say too little."""


@dataclass(frozen=True)
class Found:
    """The row of a run, and what to request for it. Amounts are in the unit of the resource."""

    row: VerdictRow | None
    size: float | None  # None where neither a row nor the run has a request
    note: str  # why there is no row, or that it is the largest of several; '' = the row of its key

    @property
    def below(self) -> bool:
        """Whether the size is smaller than its row's, as what was requested is."""
        return self.row is not None and self.size is not None and self._against(self.row.size, self.size) < 0

    @property
    def kills_per_1000(self) -> Interval | None:
        """Of the next 1,000 runs of this size; None without a row, and below its size, where they are not known.

        Above the row's size at most as many runs are killed, and at least none.
        """
        if self.row is None or self.size is None or self.below:
            return None
        known = self.row.kills_per_1000
        return Interval(0.0, known.high) if self._against(self.row.size, self.size) > 0 else known

    @staticmethod
    def _against(own: float, size: float) -> float:
        return 0.0 if math.isclose(own, size, rel_tol=1e-3, abs_tol=MIB / GB) else size - own


@dataclass(frozen=True)
class SizedRows:
    """The rows of one resource alone: what is looked up of a verdict."""

    resource: str
    unit: str
    levels: tuple[Key, ...]
    rows: tuple[VerdictRow, ...]


class Sizes:
    """The rows of one resource by their keys."""

    def __init__(self, verdict: ResourceVerdict | SizedRows) -> None:
        """Take the rows; of several requests within one MiB the largest size counts."""
        self.verdict = verdict
        self._rows: dict[tuple[Key, Key], dict[int, VerdictRow]] = {}
        self._partly: dict[Key, dict[Key, list[VerdictRow]]] = {}
        for row in verdict.rows:
            if row.by:
                names = _without_request(row.by)
                own = self._rows.setdefault((row.by, tuple(row.key.get(name, "") for name in names)), {})
                for place in _places(row.request, verdict.resource) if REQUEST in row.by else (0,):
                    before = own.get(place)
                    own[place] = row if before is None or before.size < row.size else before

    def find(self, job: Mapping[str, object], request: float | None) -> Found:
        """The row of a run; a size to lower to is never above its request, one to raise to never below.

        Where the run's request, or a column of its key, is not given or new, the largest size of the rows that agree
        with the others counts: no job gets less than any of them says, nor less than it asks where that row does not
        lower.

        `job` is column -> value of what names it; the request is in the unit of the resource.
        """
        per_request = request is None and REQUEST in self.verdict.levels[0]
        for by in () if per_request else self.verdict.levels:
            own = self._rows.get((by, tuple(_text(job.get(name)) for name in _without_request(by))), {})
            places = (0,) if REQUEST not in by else () if request is None else _places(request, self.verdict.resource)
            row = next((own[at] for at in places if at in own), None)
            if row is not None:
                return Found(row, _for_request(row, request), "")
        names = tuple(name for name in _without_request(self.verdict.levels[0]) if _text(job.get(name)))
        values = tuple(_text(job[name]) for name in names)
        given = listed([f"{name} {value!r}" for name, value in zip(names, values, strict=True)])
        if given and not set(names) & set(NAMES):
            return Found(None, request, f"{given} alone does not tell which job it is")
        rows = self._agreeing(names).get(values, []) if names else []
        if not rows:
            return Found(None, request, f"no run of {given or 'a job without a name'} is known")
        row = max(rows, key=lambda one: one.size)
        note = f"the largest size of {counted(len(rows), 'row')}" if len(rows) > 1 else ""
        return Found(row, _for_request(row, request), note)

    def _agreeing(self, names: Key) -> dict[Key, list[VerdictRow]]:
        """The rows of the finest keys by some of their columns."""
        if names not in self._partly:
            found: dict[Key, list[VerdictRow]] = {}
            for row in self.verdict.rows:
                if set(_without_request(self.verdict.levels[0])) == set(_without_request(row.by)):
                    found.setdefault(tuple(row.key.get(name, "") for name in names), []).append(row)
            self._partly[names] = found
        return self._partly[names]


def _for_request(row: VerdictRow, request: float | None) -> float:
    if request is None or (row.action == KEEP and not math.isfinite(row.size)):
        return row.size
    if row.action == KEEP:
        return request
    return min(row.size, request) if row.action == LOWER else max(row.size, request)


def _without_request(by: Key) -> Key:
    return tuple(name for name in by if name != REQUEST)


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _places(request: float, resource: str) -> tuple[int, ...]:
    """Numbers under which a request is found: itself, and for memory what rounds to the same MiB (below 0)."""
    exact = round(request * GB)
    return (exact, -round(exact / MIB) - 1) if resource == MEMORY else (exact,)
