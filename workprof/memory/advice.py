"""The row of the verdict that each run belongs to: what the findings of the ledger advise."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.core.arrays import Ints
from workprof.core.errors import ColumnMissing, NotEnoughData
from workprof.core.long_table import JobTable, frame_of
from workprof.core.records import Packed, canonical_json, unpack
from workprof.memory.decided import decided
from workprof.memory.resources import CPU, GPU, MEMORY, TIME, UNITS
from workprof.memory.verdict import ResourceVerdict, Verdict, VerdictSettings, further_verdicts_of, verdict_of
from workprof.memory.verdict_rows import VerdictRow
from workprof.memory.verdict_sizes import REQUEST, SizedRows, Sizes

if TYPE_CHECKING:
    import pandas as pd

VERDICT = "verdict"
"""Name of the table that holds the verdict beside the jobs."""
SIZED = "sized"
"""Of the rows that a verdict is made of, where there is none and the jobs are too long a table."""

ADVISED_BY = {
    **dict.fromkeys(("memory", "gpu_memory", "out_of_memory"), MEMORY),
    **dict.fromkeys(("cores", "serial", "gpu_cores"), CPU),
    **dict.fromkeys(("gpu_zero", "gpu_low"), GPU),
    **dict.fromkeys(("time_limit", "timed_out"), TIME),
}
"""Rule -> resource of the verdict whose row says what to request instead."""


def verdict_settings(target: str) -> VerdictSettings:
    """The settings of the verdict whose rows the findings are: the defaults."""
    return VerdictSettings(target=target)


def verdict_table(verdict: Verdict) -> pd.DataFrame:
    """The rows of a verdict, without what was decided about them, as a table beside the jobs."""
    import pandas as pd  # noqa: PLC0415  `import workprof` stays light

    return pd.DataFrame({VERDICT: [canonical_json(_rows(one)) for one in decided(verdict, ()).resources]})


def _rows(one: ResourceVerdict) -> SizedRows:
    return SizedRows(one.resource, one.unit, one.levels, one.rows)


@dataclass(frozen=True)
class Advised:
    """The rows of the verdict by resource, and why there are none on memory."""

    of: Mapping[str, SizedRows]
    no_memory: str

    def lacking(self, resource: str) -> str:
        """Why a resource has no row for some runs."""
        if resource == MEMORY and self.no_memory:
            return self.no_memory
        return "no earlier run of this key is known" if resource in self.of else f"no request of {resource} is sized"


def advised_in(frames: Mapping[str, JobTable], target: str) -> Advised:
    """The rows that stand beside the jobs, or compute them; without memory those on the other resources."""
    settings, lacking = verdict_settings(target), ""
    if VERDICT in frames:
        texts = frame_of(frames[VERDICT])[VERDICT]
        found = tuple(unpack(SizedRows, Packed(json.loads(text), {})) for text in texts)
    else:
        jobs = {"jobs": frame_of(frames.get(SIZED, frames["jobs"]))}
        try:
            resources = verdict_of(jobs, settings).resources
        except (ColumnMissing, NotEnoughData) as error:
            resources, lacking = further_verdicts_of(jobs, settings), str(error.__cause__ or error)
        found = tuple(map(_rows, resources))
    return Advised({one.resource: one for one in found}, lacking)


@dataclass(frozen=True)
class Lead:
    """What speaks for some runs: the first of them that could be judged, else the first."""

    job: Mapping[str, str]  # column -> value of what names it
    request: float | None  # in the unit of the resource


@dataclass(frozen=True)
class Keyed:
    """What some runs belong to: their row of a verdict, or their key where no row is."""

    code: Ints  # (n,)
    labels: tuple[str, ...]  # of the codes
    rows: tuple[VerdictRow | None, ...]


def keyed(leads: Sequence[Lead], columns: tuple[str, ...], verdict: SizedRows | None, resource: str) -> Keyed:
    """The row of runs of which each lead speaks, found as a run that is to be submitted finds it."""
    sizes = None if verdict is None else Sizes(verdict)
    place: dict[str, int] = {}
    rows: list[VerdictRow | None] = []
    code = np.zeros(len(leads), dtype=np.int64)
    for at, lead in enumerate(leads):
        found = None if sizes is None else sizes.find(lead.job, lead.request)
        row = found.row if found is not None and not found.note else None
        label = _label(lead.job if row is None else row.key, columns if row is None else row.by, lead.request, resource)
        code[at] = place.setdefault(label, len(rows))
        if code[at] == len(rows):
            rows.append(row)
    return Keyed(code, tuple(place), tuple(rows))


def _label(key: Mapping[str, str], by: tuple[str, ...], request: float | None, resource: str) -> str:
    words = [key[name] for name in by if name in key]
    if REQUEST in by:
        words.append("no request" if request is None else f"{request:.12g} {UNITS[resource]}")
    return ", ".join(words) or "all runs"
