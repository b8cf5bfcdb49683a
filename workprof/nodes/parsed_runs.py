"""Benchmark runs as a matrix: one row per run, one column per metric, and the parameters under which each was made."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from workprof.core.arrays import Floats, Ints
from workprof.core.errors import ColumnMissing, TraceError
from workprof.nodes.metrics import NUMERIC
from workprof.nodes.parsers import ParsedOutput, parse_output

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Arguments:
    """How a tool reads its command line."""

    valued: frozenset[str]  # short or long options whose value is the next word
    left_out: frozenset[str]  # options that do not change what is measured (places, ports, forms of output)
    aliases: dict[str, str]  # other writings of an option -> the one that is kept
    defaults: dict[str, str]  # what holds where an option is not given


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _pairs(text: str) -> dict[str, str]:
    """Name -> value of a text such as 'time=t port=p'."""
    return dict(pair.split("=", 1) for pair in text.split())


_SYSBENCH = {"num-threads": "threads", "max-time": "time"}
_ARGUMENTS = {
    "cpu-sysbench": Arguments(_words(""), _words("threads cpu-max-prime"), _SYSBENCH, _pairs("time=10")),
    "memory-sysbench": Arguments(
        _words(""),
        _words("threads memory-block-size memory-total-size memory-oper memory-scope"),
        _SYSBENCH,
        _pairs("time=10"),
    ),
    "disk-fio": Arguments(
        _words(""),
        _words("name directory filename output output-format unlink group_reporting minimal"),
        _pairs("blocksize=bs readwrite=rw"),
        _pairs("bs=4k direct=0 iodepth=1 rw=read"),
    ),
    "disk-ioping": Arguments(
        _words("a b c e i l o r s S t T w p P"),
        _words("q J B p P I"),
        _pairs("work-time=w interval=i size=s count=c read-write=G linear=L direct=D quiet=q json=J batch=B"),
        {},
    ),
    "network-iperf3": Arguments(
        _words("B C M O P S b c f i k l n p t w"),
        _words("B J V c f i p"),
        _pairs("client=c port=p time=t parallel=P json=J verbose=V format=f interval=i bind=B window=w length=l"),
        {},
    ),
    "network-qperf": Arguments(
        _words("access_recv ip lp m sl t ws"),
        _words("ip lp uu v vv"),
        _pairs("ar=access_recv time=t msg_size=m listen_port=lp verbose=v verbose_more=vv unify_units=uu"),
        {},
    ),
}
_TESTS = ("tcp_", "udp_")
_PRINTED = {
    "cpu-sysbench": ("num_threads", "prime_numbers_limit"),
    "memory-sysbench": ("number_of_threads", "block_size", "total_size"),
}


def parameters_of(benchmark: str, argv: Sequence[str], output: ParsedOutput, tool_version: str) -> str:
    """The canonical text of a run's parameters: the tool's version, then name=value in order of the names.

    What the tool prints of its parameters goes before the command line, which leaves defaults out, or names a file of
    them; `tool_version` is used where the output has none. A run length that differs makes a difference: maxima and
    caches depend on it.
    """
    version = output.texts.get("version") or tool_version or "version unknown"
    known = _options(_ARGUMENTS[benchmark], argv[1:])
    known |= {name: f"{output.numbers[name]:.0f}" for name in _PRINTED.get(benchmark, ()) if name in output.numbers}
    unlike = {"version", *_ARGUMENTS[benchmark].left_out}
    known |= {name: text for name, text in output.texts.items() if name not in unlike}
    return " ".join([version.strip(), *(f"{name}={known[name]}" if known[name] else name for name in sorted(known))])


def _options(arguments: Arguments, words: Sequence[str]) -> dict[str, str]:
    """Option -> value of a command line ('' for a bare one), defaults filled in."""
    options = dict(arguments.defaults)
    waiting = ""
    for word in words:
        if waiting:
            options[waiting], waiting = word.lower(), ""
        elif word.startswith("-"):
            written, equals, value = word.lstrip("-").partition("=")
            name = arguments.aliases.get(written, written)
            options[name] = value.lower()
            waiting = name if not equals and name in arguments.valued else ""
        elif word.startswith(_TESTS):
            options[word] = ""
    return {name: value for name, value in options.items() if name not in arguments.left_out}


COLUMNS = ("node", "benchmark", "argv", "started_s", "finished_s", "stressed", "rc", "stdout", "stderr", "host")
"""Of a table of runs; `row_id` and `provenance` are read where they are there."""

UNKNOWN = -1
TIMED_OUT = 124
_PLACE = {name: position for position, name in enumerate(NUMERIC)}


@dataclass(frozen=True)
class RunProblem:
    """A run that has no values, and why."""

    position: int  # row in the table, from 0
    node: str  # and `benchmark`: as in the table
    benchmark: str
    reason: str  # in words


@dataclass(frozen=True)
class ParsedRuns:
    """Runs and their metrics, in the order of the table."""

    row_ids: Ints  # (n_runs,) of the table
    node: NDArray[np.str_]  # and `benchmark`: (n_runs,) fixed-width text
    benchmark: NDArray[np.str_]
    started_s: Floats  # and `finished_s`: (n_runs,) seconds since 1970; NaN = not recorded
    finished_s: Floats
    stressed: NDArray[np.int8]  # (n_runs,) 1 = under stress, 0 = not, -1 = unknown
    values: Floats  # (n_runs, n_metrics) in the metrics' own units; NaN = the run does not have it
    metrics: tuple[str, ...]  # names of the columns of `values`, always all of `workprof.nodes.metrics.NUMERIC`
    host: Floats  # (n_runs, n_host) as recorded, the unit in the name; NaN = not recorded
    host_names: tuple[str, ...]  # names of the columns of `host`, sorted
    # (n_runs,) canonical text, '' for a run with a problem; runs compare only where it is the same
    parameters: tuple[str, ...]
    problems: tuple[RunProblem, ...]  # the runs without values; all their values are NaN
    # (n_runs,) the row repeats an earlier one: the same run, written twice. It counts once, and confirms nothing
    repeated: NDArray[np.bool_]

    def __len__(self) -> int:
        """The number of runs."""
        return len(self.row_ids)

    def column(self, metric: str) -> Floats:
        """(n_runs,) values of a metric, by its full name."""
        return np.asarray(self.values[:, self.metrics.index(metric)], dtype=np.float64)

    @property
    def usable(self) -> NDArray[np.bool_]:
        """(n_runs,) True for the runs without a problem."""
        usable = np.ones(len(self), dtype=np.bool_)
        usable[[problem.position for problem in self.problems]] = False
        return usable


def parse_runs(runs: pd.DataFrame) -> ParsedRuns:
    """The metrics of every run of a table of kind "benchmarks".

    A run that failed, printed nothing, was cut short or uses an unknown unit keeps its row, has NaN values and is
    listed in `problems`.

    Raises ColumnMissing when the table lacks one of `COLUMNS`.
    """
    missing = [name for name in COLUMNS if name not in runs.columns]
    if missing:
        raise ColumnMissing(f"benchmark runs lack {', '.join(missing)}; load them with --format benchmarks")
    values = np.full((len(runs), len(NUMERIC)), np.nan)
    parameters, problems = [""] * len(runs), []
    for position, run in enumerate(_rows(runs)):
        try:
            parameters[position] = _fill(values[position], run)
        except TraceError as error:
            problems.append(RunProblem(position, run.node, run.benchmark, str(error)))
    recorded = [_mapping(text) for text in runs["host"]]
    host_names = tuple(sorted({name for one in recorded for name in one}))
    host = np.array([[_number(one.get(name)) for name in host_names] for one in recorded], dtype=np.float64)
    row_ids = runs["row_id"].to_numpy(dtype=np.int64) if "row_id" in runs.columns else np.arange(len(runs))
    return ParsedRuns(
        row_ids=row_ids.astype(np.int64),
        node=np.array([_text(one) for one in runs["node"]], dtype=np.str_),
        benchmark=np.array([_text(one) for one in runs["benchmark"]], dtype=np.str_),
        started_s=_numbers(runs["started_s"]),
        finished_s=_numbers(runs["finished_s"]),
        stressed=np.array([_state(one) for one in runs["stressed"]], dtype=np.int8),
        values=values,
        metrics=NUMERIC,
        host=host.reshape(len(runs), len(host_names)),
        host_names=host_names,
        parameters=tuple(parameters),
        problems=tuple(problems),
        repeated=runs[[*COLUMNS]].duplicated().to_numpy(dtype=np.bool_),
    )


@dataclass(frozen=True)
class _Run:
    node: str
    benchmark: str
    argv: tuple[str, ...]
    rc: float
    stdout: str
    stderr: str
    tool_version: str


def _rows(runs: pd.DataFrame) -> list[_Run]:
    provenance = list(runs["provenance"]) if "provenance" in runs.columns else ["{}"] * len(runs)
    texts = [[_text(one) for one in runs[name]] for name in ("node", "benchmark", "argv", "stdout", "stderr")]
    codes = _numbers(runs["rc"])
    return [
        _Run(node, benchmark, _argv(argv), rc, stdout, stderr, _text(_mapping(origin).get("tool_version")))
        for node, benchmark, argv, stdout, stderr, rc, origin in zip(*texts, codes, provenance, strict=True)
    ]


def _fill(row: Floats, run: _Run) -> str:
    """Write a run's values into its row and return its parameters."""
    if run.rc == TIMED_OUT:
        raise TraceError("ended by its time limit (status 124)")
    if np.isfinite(run.rc) and run.rc != 0:
        words = (run.stderr.strip() or run.stdout.strip()).splitlines()[-1:]
        raise TraceError(f"ended with status {run.rc:.0f}: {' '.join(words)[:200] or 'no message'}")
    output = parse_output(run.benchmark, run.stdout, run.argv)
    for short, value in output.numbers.items():
        row[_PLACE[f"{run.benchmark}.{short}"]] = value
    return parameters_of(run.benchmark, run.argv, output, run.tool_version)


def _numbers(column: pd.Series[Any]) -> Floats:
    return np.array([_number(one) for one in column], dtype=np.float64)


def _number(value: object) -> float:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        return float("nan")
    try:
        number = float(value)
    except OverflowError:  # a whole number of JSON has no end
        return float("nan")
    return number if np.isfinite(number) else float("nan")


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _state(value: object) -> int:
    if isinstance(value, (bool, np.bool_)):
        return int(value)
    number = _number(value)
    return int(number) if number in {0.0, 1.0} else UNKNOWN


def _argv(text: str) -> tuple[str, ...]:
    try:
        words = json.loads(text or "[]")
    except json.JSONDecodeError:
        return ()
    return tuple(str(word) for word in words) if isinstance(words, list) else ()


def _mapping(text: object) -> dict[str, Any]:
    try:
        value = json.loads(_text(text) or "{}")
    except json.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}
