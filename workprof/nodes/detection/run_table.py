"""Runs as a detector sees them: who ran what when, what it measured, and which earlier runs it may look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workprof.arrays import Bools, Floats, Ints
from workprof.nodes.metrics import CONTEXT, HIGHER, METRICS
from workprof.nodes.parsed_runs import ParsedRuns

UNKNOWN = -1


@dataclass(frozen=True)
class RunTable:
    """Parsed runs with numbers for their type and their history.

    Attributes:
        types: benchmarks that occur, sorted.
        type_id: (n_runs,) position in `types`.
        group: (n_runs,) one number per (node, benchmark): what a split by time cuts.
        cell: (n_runs,) one number per (node, benchmark, parameters): what may be compared.
        order: (n_runs,) positions from the earliest to the latest run.
        label: (n_runs,) 1 stressed, 0 not, -1 unknown.
        usable: (n_runs,) False for failed runs.
        values: (n_runs, n_metrics) NaN where absent.
        host: (n_runs, n_host) NaN where absent.
        sign: (n_metrics,) 1 higher is better, -1 lower is better, 0 context.
        scored: (n_metrics,) part of an aspect's score.
        owner: (n_metrics,) position in `types` of the benchmark that reports it, -1 for none that occurs.
    """

    parsed: ParsedRuns
    types: tuple[str, ...]
    type_id: Ints
    group: Ints
    cell: Ints
    order: Ints
    label: Ints
    usable: Bools
    values: Floats
    host: Floats
    sign: Ints
    scored: Bools
    owner: Ints

    def __len__(self) -> int:
        return len(self.type_id)


def run_table(parsed: ParsedRuns) -> RunTable:
    """Return the table of parsed runs; ties in time are broken by the end, then by the row's identity."""
    types, type_id = np.unique(parsed.benchmark, return_inverse=True)
    known = [METRICS[name] for name in parsed.metrics]
    positions = {str(name): place for place, name in enumerate(types)}
    return RunTable(
        parsed=parsed,
        types=tuple(positions),
        type_id=type_id.astype(np.int64),
        group=_numbered(parsed.node, parsed.benchmark),
        cell=_numbered(parsed.node, parsed.benchmark, np.array(parsed.parameters)),
        order=np.lexsort((parsed.row_ids, parsed.finished_s, parsed.started_s)).astype(np.int64),
        label=parsed.stressed.astype(np.int64),
        usable=np.asarray(np.isfinite(parsed.values).any(axis=1)),
        values=parsed.values,
        host=parsed.host,
        sign=np.array([0 if one.direction == CONTEXT else 1 if one.direction == HIGHER else -1 for one in known]),
        scored=np.array([one.scored for one in known], dtype=bool),
        owner=np.array([positions.get(one.benchmark, -1) for one in known], dtype=np.int64),
    )


def _numbered(*texts: NDArray[Any]) -> Ints:
    """Return one number per combination of texts."""
    if not len(texts[0]):
        return np.zeros(0, dtype=np.int64)
    codes = np.column_stack([np.unique(one, return_inverse=True)[1] for one in texts])
    numbers: Ints = np.unique(codes, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return numbers


class Histories:
    """For every run the comparable runs before it, by time.

    Args:
        table: the runs.
    """

    def __init__(self, table: RunTable) -> None:
        self._earlier: list[Ints] = [np.zeros(0, dtype=np.int64)] * len(table)
        so_far: dict[int, list[int]] = {}
        for row in table.order.tolist():
            if not table.usable[row]:
                continue
            cell = so_far.setdefault(int(table.cell[row]), [])
            self._earlier[row] = np.array(cell, dtype=np.int64)
            cell.append(row)

    def before(self, row: int) -> Ints:
        """Return every usable run of the same cell before this one, the earliest first."""
        return self._earlier[row]

    def normal_before(self, row: int, normal: Bools) -> Ints:
        """Return those of them that `normal` (n_runs,) marks."""
        earlier = self._earlier[row]
        return earlier[normal[earlier]]


def first_share(table: RunTable, share: float) -> Bools:
    """Return (n_runs,) True for the first `share` of the runs of each (node, benchmark) by time, rounded down."""
    first = np.zeros(len(table), dtype=bool)
    groups = table.group[table.order]
    for group in np.unique(groups):
        rows = table.order[groups == group]
        first[rows[: int(share * len(rows) + 1e-9)]] = True
    return first


def rounds(table: RunTable, rows: Ints) -> list[Ints]:
    """Return rows in rounds: the first of every cell, then the second, ...; none needs the verdict of its own round."""
    wanted = np.zeros(len(table), dtype=bool)
    wanted[rows] = True
    counts: dict[int, int] = {}
    turns: list[list[int]] = []
    for row in table.order[wanted[table.order]].tolist():
        turn = counts.get(int(table.cell[row]), 0)
        counts[int(table.cell[row])] = turn + 1
        if turn == len(turns):
            turns.append([])
        turns[turn].append(row)
    return [np.array(turn, dtype=np.int64) for turn in turns]
