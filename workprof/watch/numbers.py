"""The numbers that an alert can be about: short names, and every number of a declared question's document."""

import contextlib
import math
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

from workprof.answers.alerts import NUMBERS
from workprof.answers.changes import KILLS_PER_DAY, UNUSED
from workprof.answers.told import document_of
from workprof.core.alerts import Alert, Checked
from workprof.core.errors import NotEnoughData, SettingsError, WorkprofError
from workprof.core.text import near
from workprof.core.units import DAY_S, HOUR_S, dated
from workprof.formats.measured import BENCHMARKS
from workprof.memory.comparison import APPEARED, VANISHED
from workprof.memory.questions import LEDGER
from workprof.memory.realised import CLOCK
from workprof.workbench import Workbench
from workprof.workbench.declared import DECLARED

Reader = Callable[[Workbench, str], float]


def _of_changes(read: Callable[[Any], float]) -> Reader:
    return lambda bench, dataset: read(bench.changes(dataset))


def _state(state: str) -> Reader:
    return _of_changes(lambda found: sum(one.state == state for one in found.compared.parts))


def _taken_up(found: Any) -> float:
    if found.taken_up is None:
        raise NotEnoughData("the runs before the last period advise nothing")
    return float(found.taken_up.saved)


def _degraded(bench: Workbench, dataset: str) -> list[Any]:
    entry = bench.dataset(dataset)
    if entry.kind == BENCHMARKS and bench.degradation.latest(entry.hash) is None:
        raise NotEnoughData(f"nothing was detected on {entry.name} yet; run `workprof nodes detect {entry.name}`")
    return [one for one in bench.degraded_nodes() if entry.kind != BENCHMARKS or one.hash == entry.hash]


def _probability(bench: Workbench, dataset: str) -> float:
    told = [one.probability for one in _degraded(bench, dataset) if math.isfinite(one.probability)]
    return max(told, default=0.0)


def _drifting(bench: Workbench, dataset: str) -> float:
    found = bench.feedback(dataset)
    if found is None:
        raise NotEnoughData("no finished run was observed yet; hand some in with `workprof estimate observe`")
    return float(sum(one.is_drifting for one in found.assessment.drift))


def _age_h(bench: Workbench, dataset: str) -> float:
    told = [one.maximum for one in bench.column_profiles(dataset, CLOCK) if math.isfinite(one.maximum)]
    newest_s = max(told, default=math.nan)
    if not dated(newest_s):
        raise NotEnoughData("the clock of this dataset shows no dates, so nothing says how old its runs are")
    age_s = time.time() - newest_s
    if age_s < -DAY_S:
        raise NotEnoughData(
            f"the newest moment is {datetime.fromtimestamp(newest_s, UTC):%Y-%m-%d}, in the future: correct that run"
        )
    return age_s / HOUR_S


def _failures(bench: Workbench, dataset: str) -> float:
    return float(bench.source(bench.dataset(dataset).name).failures)


READERS: dict[str, Reader] = {
    "kills_per_day": _of_changes(KILLS_PER_DAY.of),
    "unused_share": _of_changes(UNUSED.of),
    "worse_rows": _of_changes(lambda found: len(found.worse)),
    "drifted": _of_changes(lambda found: len(found.drift)),
    "appeared": _state(APPEARED),
    "vanished": _state(VANISHED),
    "realised_gb_h": _of_changes(_taken_up),
    "saved_share": lambda bench, dataset: bench.verdict(dataset).memory.judged.saved_share,
    "degraded_nodes": lambda bench, dataset: float(len(_degraded(bench, dataset))),
    "degraded_probability": _probability,
    "excluded_nodes": lambda bench, dataset: float(bench.node_history(dataset).n_excluded),
    "nodes_to_rerun": lambda bench, dataset: float(bench.node_history(dataset).n_rerun),
    "drifting_targets": _drifting,
    "age_h": _age_h,
    "failed_refreshes": _failures,
}
SAME = {"waste_share": "unused_share", "drift": "drifted"}
"""Further words for a number."""
BY_WORDS = {".".join(one.words): one for one in DECLARED.values() if not one.rests_on_fit or one is LEDGER} | DECLARED


def value_of(bench: Workbench, dataset: str, number: str) -> float:
    """The number of a dataset now, computed where it is not kept.

    Raises:
        SettingsError: where there is no such number.
        WorkprofError: where it cannot be computed.
    """
    name, colon, path = SAME.get(number, number).partition(":")
    if not colon:
        if name not in READERS:
            raise SettingsError(
                f"no number is called {name!r}{near(name, READERS)}; there are {', '.join(READERS)}, and QUESTION:PATH"
            )
        value: Any = READERS[name](bench, dataset)
    else:
        question = BY_WORDS.get(name)
        if question is None:
            raise SettingsError(f"no question is called {name!r}{near(name, BY_WORDS)}")
        value = document_of(question, getattr(bench, question.call)(dataset))
        for part in path.split("."):
            value = _within(value, part, number)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise SettingsError(f"{number} is no number: {str(value)[:80]}")
    if not math.isfinite(value):
        raise NotEnoughData(f"{number} is not known of this dataset")
    return float(value)


def _within(value: Any, part: str, number: str) -> Any:
    if isinstance(value, dict) and part in value:
        return value[part]
    if isinstance(value, list) and part.isdecimal() and int(part) < len(value):
        return value[int(part)]
    there = ", ".join(map(str, value)) if isinstance(value, dict) else f"a {type(value).__name__}"
    raise SettingsError(f"{number}: there is no {part!r}; there is {there[:300]}")


def refuse_unknown(number: str) -> None:
    """Refuse a number that no dataset has; raises SettingsError."""
    name, colon, _ = SAME.get(number, number).partition(":")
    known = BY_WORDS if colon else READERS
    if name not in known:
        raise SettingsError(f"no {'question' if colon else 'number'} is called {name!r}{near(name, known)}; there are "
                            f"{', '.join(READERS)}, and QUESTION:PATH such as memory.plan:today.kills")  # fmt: skip


def looked_up(bench: Workbench, dataset: str, number: str) -> bool:
    """Refuse a number that no dataset has, or that a kept answer does not; whether nothing is left to look up.

    Raises SettingsError, which names what there is.
    """
    refuse_unknown(number)
    name, colon, _ = SAME.get(number, number).partition(":")
    if not colon:
        return True
    kept: bool = getattr(bench, BY_WORDS[name].call).cached(dataset).result is not None
    if kept:
        with contextlib.suppress(NotEnoughData):  # it may be known of later runs
            value_of(bench, dataset, number)
    return kept


def checked(bench: Workbench, alerts: Iterable[Alert]) -> tuple[Checked, ...]:
    """What each alert finds now; one that cannot be computed says why, and the others go on."""
    result = []
    for one in alerts:
        try:
            result.append(Checked(one, value_of(bench, one.dataset, one.number)))
        except WorkprofError as error:
            result.append(Checked(one, math.nan, str(error)))
    return tuple(result)


assert READERS.keys() == NUMBERS.keys()  # noqa: S101  each is declared
