"""The rows of a verdict looked up by a run that is to be submitted, the finest key first."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from workprof.core.units import GB, MIB
from workprof.core.words import listed
from workprof.memory.resources import MEMORY
from workprof.memory.verdict import ResourceVerdict
from workprof.memory.verdict_rows import KEEP, LOWER, VerdictRow

REQUEST = "request"
Key = tuple[str, ...]


@dataclass(frozen=True)
class Found:
    """The row of a run, and what to request for it. Amounts are in the unit of the resource."""

    row: VerdictRow | None
    size: float | None  # None where neither a row nor the run has a request
    unknown: str  # why there is no row; '' = there is one


class Sizes:
    """The rows of one resource by their keys."""

    def __init__(self, verdict: ResourceVerdict) -> None:
        """Take the rows; of several requests within one MiB the largest size counts."""
        self.verdict = verdict
        self._rows: dict[tuple[Key, Key], dict[int, VerdictRow]] = {}
        for row in verdict.rows:
            if row.by:
                names = _without_request(row.by)
                own = self._rows.setdefault((row.by, tuple(row.key.get(name, "") for name in names)), {})
                for place in _places(row.request, verdict.resource) if REQUEST in row.by else (0,):
                    before = own.get(place)
                    own[place] = row if before is None or before.size < row.size else before

    def find(self, job: Mapping[str, object], request: float | None) -> Found:
        """Return the row of a run; a size to lower to is never above its request, one to raise to never below.

        Args:
            job: column -> value of what names it.
            request: in the unit of the resource; None = none, then its key has to have one request alone.
        """
        unclear = ""
        for by in self.verdict.levels:
            own = self._rows.get((by, tuple(_text(job.get(name)) for name in _without_request(by))), {})
            row = None
            if REQUEST not in by:
                row = own.get(0)
            elif request is not None:
                row = next((own[at] for at in _places(request, self.verdict.resource) if at in own), None)
            elif own:
                rows = {id(one): one for one in own.values()}
                row = next(iter(rows.values())) if len(rows) == 1 else None
                unclear = unclear or f"its key has {len(rows)} different requests; say which"
            if row is not None:
                return Found(row, _for_request(row, request), "")
        return Found(None, request, unclear or self._no_row(job, request))

    def _no_row(self, job: Mapping[str, object], request: float | None) -> str:
        names = [name for name in self.verdict.levels[0] if name != REQUEST]
        given = [f"{name} {_text(job[name])!r}" for name in names if _text(job.get(name))]
        lacking = [name for name in names if not _text(job.get(name))]
        asked = "" if request is None or REQUEST not in self.verdict.levels[0] else f" with {request:.4g} "
        asked += self.verdict.unit if asked else ""
        text = f"no run of {listed(given) or 'such a job'}{asked} is known"
        return f"{text}; sizes also need {listed(lacking)}" if lacking else text


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
    """Return numbers under which a request is found: itself, and for memory what rounds to the same MiB (below 0)."""
    exact = round(request * GB)
    return (exact, -round(exact / MIB) - 1) if resource == MEMORY else (exact,)
