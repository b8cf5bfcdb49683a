"""Runs that somebody named as alike or unlike: they choose the cut of the tree, and no profile goes against them.

Source: Campello, Moulavi, Zimek and Sander 2013, "A framework for semi-supervised and unsupervised optimal extraction
of clusters from hierarchies": of all cuts that with most satisfied constraints, of these the most stable. Ours differs
afterwards: what no cut can satisfy is settled run by run.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from workprof.core.arrays import Floats, Ints, numbers_of
from workprof.core.errors import SettingsError
from workprof.core.text import near
from workprof.core.words import listed, shortened
from workprof.profiles.settings import ProfileSettings

if TYPE_CHECKING:
    import pandas as pd

MOST_NAMED_ROWS = 5


@dataclass(frozen=True)
class Pairs:
    """Positions of runs in a table, two by two."""

    must: Ints  # (n_must, 2) in one profile
    must_not: Ints  # (n_must_not, 2) never in the same

    def __len__(self) -> int:
        return len(self.must) + len(self.must_not)

    @property
    def rows(self) -> Ints:
        """The runs that are named, rising."""
        return np.unique(np.concatenate([self.must, self.must_not]))

    def among(self, rows: Ints) -> Pairs:
        """The pairs of which both runs are among rising positions, as positions there."""

        def kept(pairs: Ints) -> Ints:
            return np.searchsorted(rows, pairs[np.isin(pairs, rows).all(axis=1)]).astype(np.int64)

        return Pairs(kept(self.must), kept(self.must_not))

    def held(self, labels: Ints) -> int:
        """How many pairs hold: the two are in one profile, or are not."""
        alike, unlike = labels[self.must], labels[self.must_not]
        together = (alike[:, 0] == alike[:, 1]) & (alike[:, 0] >= 0)
        apart = (unlike[:, 0] != unlike[:, 1]) | (unlike[:, 0] < 0)
        return int(together.sum() + apart.sum())


def _none() -> Ints:
    return np.zeros((0, 2), dtype=np.int64)


NO_PAIRS = Pairs(_none(), _none())


@dataclass(frozen=True)
class PairsHeld:
    """What became of the named pairs."""

    n_pairs: int
    held_unaided: int  # pairs that hold in the cut which the tree gives without them
    held_by_cut: int  # pairs that hold in the cut chosen for them
    moved: int  # runs that joined the profile of a run which they must be with
    unclustered: int  # runs without a profile that the cut would give one, as no profile was free for them


KINDS = {"must": True, "alike": True, "must-not": False, "unlike": False}
"""The first cell of a line of pairs -> whether its runs are alike."""
Named = tuple[tuple[str, ...], ...]


def named_pairs(text: str) -> tuple[Named, Named]:
    """The runs that lines of a CSV name as alike and as unlike: `must,A,B`, `must-not,A,B,C`; a heading may come first.

    Raises SettingsError for a line that names no kind or fewer than two runs, and where there is no line.
    """
    found: tuple[list[tuple[str, ...]], list[tuple[str, ...]]] = ([], [])
    for line, cells in enumerate(csv.reader(text.removeprefix("\ufeff").splitlines()), 1):
        kind, *runs = (cell.strip() for cell in cells) if cells else ("",)
        runs = list(dict.fromkeys(filter(None, runs)))
        if (not kind and not runs) or (line == 1 and kind.lower() not in KINDS):
            continue
        if kind.lower() not in KINDS or len(runs) < 2:
            raise SettingsError(
                f"line {line} is {shortened(','.join(cells))!r}; give lines such as must,A,B or must-not,A,B"
            )
        found[not KINDS[kind.lower()]].append(tuple(runs))
    if not any(found):
        raise SettingsError("the file names no runs; give lines such as must,A,B or must-not,A,B")
    return tuple(found[0]), tuple(found[1])


def find_pairs(jobs: pd.DataFrame, settings: ProfileSettings) -> Pairs:
    """The pairs of a clustering as positions in the table; a run is named by its job, or by the number of its row.

    Rows with ids below 0, which are jobs that finished since, have no names.

    Raises SettingsError where a name is that of no run or of several, a pair names one run only, pairs contradict each
    other, or the profiles are not cut from a tree.
    """
    if not (settings.must or settings.must_not):
        return NO_PAIRS
    if not settings.by_density:
        raise SettingsError(f"pairs of runs choose the cut of a tree, and {settings.algorithm} has none; use hdbscan")
    names = list(dict.fromkeys(name for group in (*settings.must, *settings.must_not) for name in group))
    place = dict(zip(names, _places(jobs, names), strict=True))

    def positions(groups: Sequence[tuple[str, ...]], option: str) -> Ints:
        pairs = _none()
        for group in groups:
            rows = sorted({place[name] for name in group})
            if len(rows) < 2:
                raise SettingsError(f"{option} names one run ({', '.join(group)}); give two, {option} A,B")
            pairs = np.vstack([pairs, np.array(list(combinations(rows, 2)), dtype=np.int64)])
        return np.unique(pairs, axis=0)

    found = Pairs(positions(settings.must, "--must"), positions(settings.must_not, "--must-not"))
    _refuse_contradiction(found, {row: name for name, row in reversed(place.items())})
    return found


def _places(jobs: pd.DataFrame, names: Sequence[str]) -> Iterator[int]:
    ids = numbers_of(jobs, "row_id") if "row_id" in jobs.columns else np.arange(len(jobs))
    by_name = np.full(len(jobs), "", dtype=object)
    if "job_name" in jobs.columns:
        by_name = np.where(ids < 0, "", jobs["job_name"].astype(str).to_numpy(dtype=object))
    for name in names:
        places = np.flatnonzero(by_name == name) if name else np.zeros(0, dtype=np.int64)
        if not len(places) and name.isascii() and name.isdecimal():
            places = np.flatnonzero(ids == int(name))
        if len(places) > 1:
            rows = [f"{ids[place]:.0f}" for place in places[:MOST_NAMED_ROWS]]
            more = ", ..." if len(places) > len(rows) else ""
            raise SettingsError(f"{len(places):,} runs are named {name!r}; give a row of them: {', '.join(rows)}{more}")
        if not len(places):
            known = near(name, set(by_name) - {""})
            raise SettingsError(f"no finished run is named {name!r}, and no row has this number{known}")
        yield int(places[0])


def groups_of(pairs: Pairs) -> Ints:
    """(n_rows,) of `pairs.rows` the group of each run: those that must be together have the same number."""
    from scipy.sparse import coo_array  # noqa: PLC0415  heavy
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

    rows = pairs.rows
    first, second = np.searchsorted(rows, pairs.must).T
    graph = coo_array((np.ones(len(first)), (first, second)), shape=(len(rows), len(rows)))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)


def _refuse_contradiction(pairs: Pairs, names: dict[int, str]) -> None:
    rows, group = pairs.rows, groups_of(pairs)
    for unlike in pairs.must_not:
        first, second = group[np.searchsorted(rows, unlike)]
        if first != second:
            continue
        linked = [f"{names[a]},{names[b]}" for a, b in _path(pairs.must, int(unlike[0]), int(unlike[1]))]
        one, other = (names[int(row)] for row in unlike)
        raise SettingsError(
            f"--must-not {one},{other} contradicts --must {listed(linked)}; take one of these pairs out"
        )


def _path(must: Ints, begin: int, end: int) -> list[tuple[int, int]]:
    """The fewest pairs that lead from one run to the other."""
    before: dict[int, int] = {begin: begin}
    waiting = [begin]
    for row in waiting:
        for a, b in [*must.tolist(), *must[:, ::-1].tolist()]:
            if a == row and b not in before:
                before[b] = a
                waiting.append(b)
    steps = []
    while end != begin:
        steps.append((before[end], end))
        end = before[end]
    return steps[::-1]


def satisfied(up: Ints, node: Ints, pairs: Pairs) -> tuple[Ints, Ints]:
    """What the nodes of a condensed tree satisfy: (n_nodes,) each as a profile, and (n_nodes,) the runs that fall out.

    Each run of a pair counts 1. A run that falls out of an unselected node is in no profile: it satisfies its pairs of
    unlike runs alone. `up` (n_nodes,) is the parent of each node, -1 for the root; `node` (n_rows,) the one that a run
    falls out of.
    """
    whole, fallen = np.zeros(len(up), dtype=np.int64), np.zeros(len(up), dtype=np.int64)

    def above(row: int) -> set[int]:
        found, at = set(), int(node[row])
        while at >= 0:
            found.add(at)
            at = int(up[at])
        return found

    for a, b in pairs.must.tolist():
        whole[list(above(a) & above(b))] += 2
    for a, b in pairs.must_not.tolist():
        whole[list(above(a) ^ above(b))] += 1
        for row in (a, b):
            fallen[node[row]] += 1
    return whole, fallen


def settle(labels: Ints, strength: Floats, pairs: Pairs) -> tuple[Ints, Floats]:
    """Profiles and strengths after which no pair is violated; -1 = in no profile.

    Runs that must be together join the profile that most of them are in, of several the one that they are in most
    strongly. Where runs that they must not be with are there already, they join the next; where none is left, they are
    in no profile. The largest groups come first. A run that joins a profile so belongs to it fully.
    """
    if not len(pairs):
        return labels, strength
    rows, group = pairs.rows, groups_of(pairs)
    n_groups = int(group.max()) + 1
    members = [rows[group == one] for one in range(n_groups)]
    apart: list[set[int]] = [set() for _ in range(n_groups)]
    for a, b in group[np.searchsorted(rows, pairs.must_not)].tolist():
        apart[a].add(b)
        apart[b].add(a)
    labels, strength = labels.copy(), strength.copy()
    given = np.full(n_groups, -1)

    def weight(one: int) -> tuple[int, float]:
        inside = members[one][labels[members[one]] >= 0]
        return len(inside), float(strength[inside].sum())

    for one in sorted(range(n_groups), key=weight, reverse=True):
        own, taken = members[one], {int(given[other]) for other in apart[one]}
        of = labels[own]
        offered = [label for label in np.unique(of[of >= 0]).tolist() if label not in taken]
        best = max(offered, key=lambda label: ((of == label).sum(), strength[own[of == label]].sum()), default=-1)
        given[one] = best
        strength[own[of != best]] = float(best >= 0)
        labels[own] = best
    return labels, strength
