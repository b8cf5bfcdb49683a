"""Runs of a job table that break rules of the ledger, added up by what findings are about, in one pass over its parts.

A finding is about a row of the verdict, or about whose runs of which task. Runs that no verdict could tell apart are a
cell, of one key and one request: rows are looked up for cells once all parts were seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints, Positions
from workprof.memory.advice import ADVISED_BY, Advised, Keyed, Lead, keyed
from workprof.memory.known import codes_of, first_of
from workprof.memory.ledger_rules import CAUSES_OF, OF_RESOURCE, RULES, USUAL, Broken, Rules
from workprof.memory.ledger_runs import LedgerRuns, RunsByPart, codes_in
from workprof.memory.ledger_settings import CORES, GPUS, LIMIT, MEMORY, TASK, WEEK
from workprof.memory.resources import (
    COARSE,
    CPU,
    GPU,
    KEY_COLUMNS,
    MEMORY as MEMORY_SIZED,
    PLACES,
    TIME,
    key_columns,
    texts_of,
)
from workprof.memory.sums import Sums
from workprof.memory.verdict_rows import LOWER
from workprof.memory.verdict_sizes import REQUEST

if TYPE_CHECKING:
    import pandas as pd

PRICED = {MEMORY_SIZED: MEMORY, CPU: CORES, GPU: GPUS, TIME: LIMIT}
"""Resource of the verdict -> of the ledger."""
BY_NAME = ""
"""In place of a resource of the verdict: findings about whose runs of which task."""
RULES_OF = {sized: [rule for rule in RULES if ADVISED_BY.get(rule, BY_NAME) == sized] for sized in (*PRICED, BY_NAME)}
"""Resource of the verdict -> rules whose findings are about its keys."""
SEVERAL, NEVER = -1, -2
TOLD = ("last", "place", "row", "task", *KEY_COLUMNS)
"""Of a cell: whether no run so far is judged; of the run that speaks for it, the first judged one, else the first, its
place and texts; and the row and the task that all its runs are of, or `SEVERAL`."""
LAST, PLACE, ONLY, TEXTS = 0, 1, slice(2, 4), slice(4, None)

Amounts = dict[tuple[str, str], tuple[Bools, Floats | None]]
"""(what it is of, what it is) -> (n,) which runs are added up, and of what; of None the runs."""


class Cells:
    """Runs that are alike, added up."""

    def __init__(self) -> None:
        self.keys: dict[tuple[float, ...], int] = {}
        self._told = np.zeros((0, len(TOLD)), dtype=np.int32)
        self._sums, self._names = Sums(), list[tuple[str, str]]()

    def places(self, codes: Sequence[Ints], request: Floats) -> tuple[Ints, Ints, Ints]:
        """(n,) the cell of each run among m of them, (m,) the first run and (m,) the cell among all."""
        asked = np.nan_to_num(request, nan=-1.0)
        own = codes_of([*codes, _codes_of(asked)], _codes_of)
        first = first_of(own)[0]
        keys = zip(*(part[first].tolist() for part in codes), asked[first].tolist(), strict=True)
        at = [self.keys.setdefault(key, len(self.keys)) for key in keys]
        return own, first, np.array(at, dtype=np.int64)

    def add(self, own: Ints, at: Ints, amounts: Amounts) -> None:
        """Add up amounts of the runs of a part."""
        values = [
            np.bincount(own[chosen], None if weights is None else weights[chosen], len(at))
            for chosen, weights in amounts.values()
        ]
        self._names = [*amounts]
        self._sums.add(at, np.array(values, dtype=np.float64))

    def tell(self, at: Ints, told: Positions) -> None:
        """Take `TOLD` of cells (m,) in a part."""
        n, before = len(self.keys), len(self._told)
        if n > before:
            room = np.full((max(n, before + before // 4), len(TOLD)), NEVER, dtype=np.int32)
            room[:before] = self._told
            self._told = room
        known = self._told[at]
        new = known[:, PLACE] == NEVER
        earlier = (told[:, LAST] < known[:, LAST]) | new
        result = np.where(earlier[:, None], told, known)
        agree = new[:, None] | (told[:, ONLY] == known[:, ONLY])
        result[:, ONLY] = np.where(agree, told[:, ONLY], SEVERAL)
        self._told[at] = result

    @property
    def told(self) -> Positions:
        """(cells, `TOLD`)."""
        return self._told[: len(self.keys)]

    def of(self, of: str, what: str) -> Floats:
        """(cells,) a sum."""
        result: Floats = self._sums.of[self._names.index((of, what))]
        return result

    @property
    def request(self) -> Floats:
        """(cells,) what the runs request, NaN = nothing."""
        asked = np.array([key[-1] for key in self.keys], dtype=np.float64)
        return np.where(asked < 0, np.nan, asked)


@dataclass(frozen=True)
class Groups:
    """What findings of a rule are about."""

    keyed: Keyed  # of the cells
    lower: Bools  # (cells,) whether the row lowers the request

    def sum(self, values: Floats) -> Floats:
        """(groups,) of (cells,) values."""
        return np.bincount(self.keyed.code, values, len(self.keyed.labels)).astype(np.float64)


class FoundRuns:
    """The runs that break rules; give it every part of a pass, then ask."""

    def __init__(self, runs: RunsByPart, advised: Advised) -> None:
        self.runs, self.advised = runs, advised
        self.rules = Rules(runs.settings.rules)
        self.cells = {sized: Cells() for sized in RULES_OF}
        self._texts: dict[str, dict[str | int | None, int]] = {name: {} for name in KEY_COLUMNS}
        self._held: set[str] = set()
        self._groups: dict[str, Groups] = {}
        self._seen = 0

    def add(self, jobs: pd.DataFrame, runs: LedgerRuns) -> None:
        """Add up a part."""
        broken = self.rules.broken(jobs, runs)
        self.rules.add(runs, broken)
        texts, hours = self._coded(jobs), np.nan_to_num(runs.hours)
        every, spoken = np.ones(len(runs), dtype=bool), np.stack([*texts.values()], axis=1)
        held = {name: np.nan_to_num(runs.over_time(name, runs.requested[name])) for name in (MEMORY, CORES, GPUS)}
        for sized, cells in self.cells.items():
            if not broken.keys() & {*RULES_OF[sized]}:
                continue  # the table lacks the columns
            own, first, at = self._place(runs, texts, sized)
            amounts: Amounts = {("", "n"): (every, None)}
            judged = every
            if sized:
                judged = runs.judged(PRICED[sized])
                amounts |= {("", "judged"): (judged, None), ("", "measured"): (runs.measured(PRICED[sized]), None)}
            for rule in RULES_OF[sized]:
                one = broken.get(rule)
                if one is None:
                    continue
                amounts[rule, "n"], amounts[rule, "wasted"] = (one.runs, None), (one.runs, one.wasted)
                amounts[rule, "hours"] = (one.runs, hours)
                if rule in CAUSES_OF:
                    amounts |= {(rule, name): (one.runs, held[name]) for name in held}
            amounts |= self._plain(runs, broken, hours, sized)
            cells.add(own, at, amounts)
            cells.tell(at, self._told(own, first, judged, spoken, runs))
        self._seen += len(runs)

    def _plain(self, runs: LedgerRuns, broken: dict[str, Broken], hours: Floats, sized: str) -> Amounts:
        """What the rules on the use of a resource add up further, and of the runs that break none of them."""
        resource = PRICED.get(sized, "")
        rules = [rule for rule in OF_RESOURCE.get(resource, ()) if rule in broken]
        if not rules:
            return {}
        rest = runs.judged(resource)
        for rule in rules:
            rest = rest & ~broken[rule].runs
        amounts = [runs.requested[resource], runs.used[resource]]
        requested, used = (np.nan_to_num(runs.over_time(resource, one)) for one in amounts)
        result: Amounts = {
            (REST, "n"): (rest, None),
            (REST, "wasted"): (rest, runs.wasted(resource)),
            (REST, "hours"): (rest, hours),
        }
        for name, mask in ((REST, rest), *((rule, broken[rule].runs) for rule in rules)):
            result |= {(name, "requested"): (mask, requested), (name, "used"): (mask, used)}
        return result

    def _coded(self, jobs: pd.DataFrame) -> dict[str, Ints]:
        """Column that names runs -> (n,) codes of its texts in all parts, -1 = none."""
        found = texts_of(jobs, KEY_COLUMNS)
        self._held |= {*found}
        nothing = np.full(len(jobs), -1, dtype=np.int64)
        return {
            name: np.append(codes_in(self._texts[name], [*found[name][1]]), -1)[found[name][0]]
            if name in found
            else nothing
            for name in KEY_COLUMNS
        }

    def _columns(self, sized: str) -> tuple[str, ...]:
        """Columns whose texts tell cells apart: those of the finest key, or all that could be of one."""
        verdict = self.advised.of.get(sized)
        names = (*PLACES, COARSE[0]) if verdict is None else verdict.levels[0]
        return tuple(name for name in names if name != REQUEST)

    def _place(self, runs: LedgerRuns, texts: dict[str, Ints], sized: str) -> tuple[Ints, Ints, Ints]:
        """See `Cells.places`."""
        if sized:
            codes = [texts[name] for name in self._columns(sized)]
            return self.cells[sized].places(codes, runs.requested[PRICED[sized]])
        row = runs.who if self.runs.settings.by not in (TASK, WEEK) else np.zeros(len(runs), dtype=np.int64)
        return self.cells[sized].places([row, runs.task], np.full(len(runs), np.nan))

    def _told(self, own: Ints, first: Ints, judged: Bools, spoken: Ints, runs: LedgerRuns) -> Positions:
        """(m, `TOLD`) of the cells of a part."""
        lead, last = first.copy(), np.ones(len(first), dtype=np.int64)
        at = np.flatnonzero(judged)[::-1]
        lead[own[at]], last[own[at]] = at, 0  # of several the first is written last
        only = []
        for codes in (runs.who, runs.task):
            one = codes[first]
            several = np.bincount(own[codes != one[own]], minlength=len(first)) > 0
            only.append(np.where(several, SEVERAL, one))
        return np.column_stack([last, lead + self._seen, *only, spoken[lead]]).astype(np.int32)

    def groups(self, rule: str) -> Groups:
        """What findings of a rule are about, once all parts were seen."""
        sized = ADVISED_BY.get(rule, BY_NAME)
        if sized not in self._groups:
            found = self._keyed(sized) if sized else self._by_name()
            lower = np.array([row is not None and row.action == LOWER for row in found.rows], dtype=bool)
            self._groups[sized] = Groups(found, lower[found.code])
        return self._groups[sized]

    def _keyed(self, sized: str) -> Keyed:
        """The rows of cells; kinds are told apart by the finest key alone, and one lead speaks for each."""
        cells, verdict, apart = self.cells[sized], self.advised.of.get(sized), self._columns(sized)
        columns = verdict.levels[0] if verdict is not None else key_columns(self._held)[0]
        held = [apart.index(name) for name in columns if name != REQUEST]
        asked = REQUEST in columns

        def kind(key: tuple[float, ...]) -> tuple[float, ...]:
            by = [key[at] for at in held]
            return (*by, np.inf if key[-1] < 0 else key[-1]) if asked else tuple(by)

        kinds = [kind(key) for key in cells.keys]
        leads: dict[tuple[float, ...], int] = {}
        told, request = cells.told, [key[-1] for key in cells.keys]
        for at in np.lexsort((told[:, PLACE], told[:, LAST])).tolist():
            leads.setdefault(kinds[at], at)
        order = {one: at for at, one in enumerate(sorted(leads))}
        names = {name: [str(text) for text in known] for name, known in self._texts.items()}
        spoken = [
            Lead(
                {
                    name: names[name][code]
                    for name, code in zip(KEY_COLUMNS, told[leads[one], TEXTS].tolist(), strict=True)
                    if code >= 0
                },
                None if request[leads[one]] < 0 else request[leads[one]],
            )
            for one in order
        ]
        found = keyed(spoken, columns, verdict, sized)
        code = found.code[np.array([order[one] for one in kinds], dtype=np.int64)]
        return Keyed(code, found.labels, found.rows)

    def _by_name(self) -> Keyed:
        """A group of each row and task."""
        ranks = [np.argsort(order) for order in (self.runs.order, self.runs.task_order)]
        pairs = [tuple(int(one) for one in key[:2]) for key in self.cells[BY_NAME].keys]
        plain = self.runs.settings.by in (TASK, WEEK)
        place = [(0 if plain else int(ranks[0][row]), int(ranks[1][task])) for row, task in pairs]
        at = {one: number for number, one in enumerate(sorted(place))}
        return Keyed(np.array([at[one] for one in place]), tuple(map(str, at)), (None,) * len(at))

    def of(self, rule: str, what: str) -> Floats:
        """(cells,) a sum of the runs that break a rule: those that their row lowers break the usual one."""
        cells, groups = self.cells[ADVISED_BY.get(rule, BY_NAME)], self.groups(rule)
        if what == "wasted" and rule in CAUSES_OF:
            return cells.of(rule, self.rules.resource_of(rule))
        result = cells.of(rule, what)
        return result + np.where(groups.lower, cells.of(REST, what), 0.0) if rule in USUAL.values() else result

    def group_of(self, jobs: pd.DataFrame, runs: LedgerRuns, rule: str) -> tuple[Ints, Ints]:
        """(n,) the cell of each run of a part that was seen, and its group."""
        own, _, at = self._place(runs, self._coded(jobs), ADVISED_BY.get(rule, BY_NAME))
        return at[own], self.groups(rule).keyed.code[at][own]

    def breaking(self, jobs: pd.DataFrame, runs: LedgerRuns, rules: tuple[str, ...]) -> tuple[Bools, Floats]:
        """(n,) whether a run of a part breaks one of some rules that `Rules.refuse` lets pass, and what it wastes."""
        broken = self.rules.broken(jobs, runs)
        mask, wasted = np.zeros(len(runs), dtype=bool), np.zeros(len(runs))
        for rule in rules:
            own = broken[rule].runs
            amounts = broken[rule].wasted
            resource = self.rules.resource_of(rule)
            if rule in CAUSES_OF:
                held = runs.over_time(resource, runs.requested[resource])
                amounts = np.where(own, np.nan_to_num(held), 0.0)
            elif rule == USUAL.get(resource):
                rest = runs.judged(resource) & self.groups(rule).lower[self.group_of(jobs, runs, rule)[0]]
                for other in OF_RESOURCE[resource]:
                    rest = rest & ~broken[other].runs
                own, amounts = own | rest, np.where(own | rest, runs.wasted(resource), 0.0)
            mask, wasted = mask | own, wasted + amounts
        return mask, wasted


REST = "rest"
"""In place of a rule: judged runs that break none of their resource."""


def _codes_of(values: Ints | Floats) -> Ints:
    """(n,) codes of values in their order of appearance: of many values found sooner than ranks."""
    import pandas as pd  # noqa: PLC0415  `import workprof` stays light

    return np.asarray(pd.factorize(values)[0], dtype=np.int64)
