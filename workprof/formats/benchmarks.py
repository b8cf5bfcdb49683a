"""Reads benchmark runs: JSON lines, one run each, as `workprof nodes suite` writes them; its notes are counted."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workprof.core.errors import TraceError
from workprof.core.units import DAY_S
from workprof.formats.declare import Unreadable
from workprof.formats.measured import BENCHMARK_KEYS, BENCHMARKS, Measured
from workprof.formats.repeated_keys import RepeatedKeys
from workprof.store.lines import refuse_unread
from workprof.store.reports import Check

if TYPE_CHECKING:
    import pandas as pd


KNOWN = ("cpu-sysbench", "disk-fio", "disk-ioping", "memory-sysbench", "network-iperf3", "network-qperf")
"""The benchmarks whose output workprof reads."""

HISTORY_RUNS = 4
"""A run is judged against three earlier ones of its node and benchmark."""


def checks_of(runs: pd.DataFrame) -> tuple[Check, ...]:
    """The findings about a table of runs, those that found nothing left out."""
    if runs.empty:
        return ()
    result = (*_of_outcomes(runs), *_of_labels(runs), *_of_history(runs))
    return tuple(check for check in result if check.count)


def _of_outcomes(runs: pd.DataFrame) -> tuple[Check, ...]:
    failed = runs["rc"].notna() & (runs["rc"] != 0)
    empty = ~failed & (runs["stdout"].str.strip() == "")
    backwards = runs["finished_s"] < runs["started_s"]
    unset = (runs["started_s"] < EARLIEST_S) | (runs["started_s"] > time.time() + DAY_S)
    open_end = runs["finished_s"].isna()
    strange = ~runs["benchmark"].isin(KNOWN)
    return (
        _warning("failed_runs", failed, "runs ended with a status other than 0; they have no values"),
        _warning("empty_output", empty, "runs ended well and printed nothing; they have no values"),
        _warning("ends_before_start", backwards, "runs end before they start; check the clock of the node"),
        _warning("strange_clock", unset, "runs start before 2000 or in the future; set the clock of the node"),
        _warning("no_end", open_end, "runs have no time at which they ended"),
        _warning("unknown_benchmark", strange, f"runs are of none of {', '.join(KNOWN)}; they have no values"),
    )


def _of_labels(runs: pd.DataFrame) -> tuple[Check, ...]:
    unlabelled = int(runs["stressed"].isna().sum())
    text = "runs do not tell whether they were stressed; without labels a run gets a p-value, not a probability"
    repeated = runs.duplicated()
    return (
        Check("stressed_unknown", "info", unlabelled, f"{unlabelled:,} {text}"),
        _warning("duplicates", repeated, "rows repeat an earlier row; they are kept, and each run counts once"),
    )


def _of_history(runs: pd.DataFrame) -> tuple[Check, ...]:
    counts = runs.drop_duplicates().groupby(["node", "benchmark"]).size()
    single, few = int((counts == 1).sum()), int((counts < HISTORY_RUNS).sum())
    text = f"{few:,} of {len(counts):,} node and benchmark pairs have fewer than {HISTORY_RUNS} runs"
    alone = f"{single:,} of {len(counts):,} node and benchmark pairs have one run only: no interval and no rank"
    return (Check("one_run", "warning", single, alone), Check("few_runs", "info", few, f"{text}: none can be judged"))


def _warning(name: str, where: pd.Series, text: str) -> Check:
    count = int(where.sum())
    return Check(name, "warning", count, f"{count:,} {text}")


SHOWN_CHARACTERS = 200
EARLIEST_S = 946_684_800.0
"""The year 2000: a clock that nobody set counts from 1970."""

LATEST_S = 1e11
"""The year 5138; milliseconds since 1970 are above it from 1973 on."""
FRAME_COLUMNS = (
    "node",
    "benchmark",
    "argv",
    "started_s",
    "finished_s",
    "stressed",
    "rc",
    "stdout",
    "stderr",
    "host",
    "provenance",
)
"""Texts (argv, host and provenance: JSON), but for started_s, finished_s, stressed (1, 0, NaN = unknown) and rc."""

_KEYS = frozenset((*BENCHMARK_KEYS, "started", "finished", "stressed", "rc", "stderr", "host", "provenance"))


class _Wrong(Exception):
    """What is wrong with a line, and in which column ('' = the whole line)."""

    def __init__(self, column: str, reason: str) -> None:
        super().__init__(reason)
        self.column, self.reason = column, reason


def read_benchmarks(path: Path, origin: str = "") -> Measured:
    """The runs of a file of JSON lines, in its order; keys that are not ours are kept in `provenance`.

    Raises TraceError when no line of the file is a run at all; says what it looks like. When a line was passed over.
    """
    rows: list[dict[str, Any]] = []
    rejected: list[Unreadable] = []
    repeated = RepeatedKeys()
    for number, line in _lines(path):
        try:
            rows.append(_row(line, repeated))
            repeated.end_row()
        except _Wrong as wrong:
            repeated.forget()
            text = line.decode("utf-8", "replace")[:SHOWN_CHARACTERS]
            rejected.append(Unreadable(number, wrong.column, text, wrong.reason))
    refuse_unread(path, origin or path.name, len(rows) + len(rejected), any_end=False)
    if not rows and rejected and all(not one.column for one in rejected):
        raise TraceError(_not_runs(origin or path.name, rejected[0]))
    frame = _frame(rows)
    return Measured(
        BENCHMARKS, frame, len(rows) + len(rejected), tuple(rejected), (*repeated.checks("runs"), *checks_of(frame))
    )


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            bare = line.removeprefix(b"\xef\xbb\xbf").strip() if number == 1 else line.strip()
            if bare:
                yield number, bare


def _not_runs(origin: str, first: Unreadable) -> str:
    wanted = f"one JSON object per line with {', '.join(BENCHMARK_KEYS)}"
    if first.text.startswith("["):
        return f"{origin} is a JSON array; benchmark runs are {wanted}, without brackets around them"
    return f"{origin} holds no benchmark run ({first.reason}, {first.text[:60]!r}); runs are {wanted}"


def _row(line: bytes, repeated: RepeatedKeys) -> dict[str, Any]:
    run = _object(line, repeated)
    absent = [key for key in BENCHMARK_KEYS if key not in run]
    if absent:
        raise _Wrong("" if len(absent) == len(BENCHMARK_KEYS) else absent[0], f"no {', '.join(absent)}")
    return {
        "node": _name(run, "node"),
        "benchmark": _name(run, "benchmark"),
        "argv": json.dumps(_checked(run, "argv", _is_words, "a list of texts")),
        "started_s": _seconds(run, "started"),
        "finished_s": float("nan") if run.get("finished") is None else _seconds(run, "finished"),
        "stressed": _state(run),
        "rc": _code(run),
        "stdout": _text(run, "stdout"),
        "stderr": _text(run, "stderr"),
        "host": json.dumps(_checked(run, "host", _is_object, "an object") or {}),
        "provenance": json.dumps(_provenance(run)),
    }


def _object(line: bytes, repeated: RepeatedKeys) -> dict[str, Any]:
    try:
        text = line.decode("utf-8")
        run = json.loads(text, parse_constant=lambda _: None, parse_float=_finite, object_pairs_hook=repeated.hook)
    except UnicodeDecodeError:
        raise _Wrong("", "not UTF-8") from None
    except json.JSONDecodeError as error:
        raise _Wrong("", f"not JSON: {error.msg} at character {error.colno}") from None
    except (ValueError, RecursionError):
        raise _Wrong("", "not JSON that can be read: a number too long or nesting too deep") from None
    if not isinstance(run, dict):
        raise _Wrong("", "not a JSON object")
    return run


def _finite(text: str) -> float | None:
    """The number, None for one that is too large to be any: JSON has no word for it."""
    value = float(text)
    return value if math.isfinite(value) else None


def _checked(run: dict[str, Any], key: str, accepts: Callable[[Any], bool], wanted: str) -> Any:
    value = run.get(key)
    if not accepts(value):
        raise _Wrong(key, f"{key} is not {wanted}")
    return value


def _is_words(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) for word in value)


def _is_object(value: Any) -> bool:
    return value is None or isinstance(value, dict)


def _name(run: dict[str, Any], key: str) -> str:
    value = run[key]
    if not isinstance(value, str) or not value.strip():
        raise _Wrong(key, f"{key} is not a name")
    return _whole(value.strip())


def _text(run: dict[str, Any], key: str) -> str:
    value = _checked(run, key, lambda one: one is None or isinstance(one, str), "a text")
    return _whole(value or "")


def _whole(text: str) -> str:
    """The text with halves of characters, which JSON can hold and UTF-8 cannot, marked as '?'."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _seconds(run: dict[str, Any], key: str) -> float:
    value = run.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not _is_finite(value):
        raise _Wrong(key, f"{key} is not a number of seconds since 1970")
    if abs(value) > LATEST_S:
        raise _Wrong(key, f"{key} is {value:.0f}, too large for seconds since 1970; is it in milliseconds?")
    return float(value)


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def _state(run: dict[str, Any]) -> float:
    value = _checked(run, "stressed", lambda one: one is None or isinstance(one, bool), "true, false or null")
    return float("nan") if value is None else float(value)


def _code(run: dict[str, Any]) -> float:
    value = run.get("rc")
    if value is None:
        return float("nan")
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > 0xFFFF:
        raise _Wrong("rc", "rc is not an exit status")
    return float(value)


def _provenance(run: dict[str, Any]) -> dict[str, Any]:
    provenance = _checked(run, "provenance", _is_object, "an object") or {}
    return {**{key: value for key, value in run.items() if key not in _KEYS}, **provenance}


def _frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    import pandas as pd  # noqa: PLC0415  pandas waits until a file is read

    return pd.DataFrame({name: [row[name] for row in rows] for name in FRAME_COLUMNS})
