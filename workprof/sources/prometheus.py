"""Series of pods from a server with Prometheus' HTTP API (Prometheus, Thanos, Mimir, VictoriaMetrics).

Each metric is queried by windows that the server accepts, and every window is a file at once: a fetch that was killed
goes on behind the last one. Points of pods that may go on are kept until the pods have ended, so that a run is always
made of all its points. Of metrics that say what a pod is, not what it uses, only points around a change are kept.

Source: Prometheus' documentation of its HTTP API; the metrics are those of cAdvisor, kube-state-metrics and DCGM.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from workprof.core.arrays import Floats
from workprof.core.progress import Progress
from workprof.core.units import DAY_S, HOUR_S
from workprof.formats.pod_run import OVER
from workprof.formats.pod_series import CLUSTER, NAMESPACE, POD, in_order, label
from workprof.sources.api import Api, Refused, SourceUnreachable
from workprof.sources.fetched import Fetched, Place, State, reading
from workprof.sources.source import Source
from workprof.store.reports import IngestOptions

USES = (
    'container_memory_working_set_bytes{container!="",container!="POD"}',
    'container_cpu_usage_seconds_total{container!="",container!="POD"}',
    "DCGM_FI_DEV_GPU_UTIL",
    "DCGM_FI_DEV_FB_USED",
)
FACTS = (
    *("kube_pod_container_resource_requests", "kube_pod_container_resource_limits"),
    *("kube_pod_init_container_resource_requests", "kube_pod_init_container_info"),
    *("kube_pod_owner", "kube_replicaset_owner", "kube_job_owner", "kube_pod_labels"),
    *("kube_pod_created", "kube_pod_start_time", "kube_pod_completion_time", "kube_pod_status_phase == 1"),
    *("kube_pod_container_status_terminated_reason", "kube_pod_container_status_last_terminated_reason"),
    *("kube_pod_init_container_status_terminated_reason", "kube_pod_init_container_status_last_terminated_reason"),
    *("kube_pod_container_status_restarts_total", "container_oom_events_total"),
)
QUERIES = (*USES, *FACTS, "DCGM_FI_PROF_GR_ENGINE_ACTIVE")
"""In the order of their numbers in the points that are kept, so a new one stands last."""
OF_FACTS = range(len(USES), len(USES) + len(FACTS))
COMPLETION = QUERIES.index("kube_pod_completion_time")
WINDOW_S = 2 * HOUR_S
MOST_POINTS = 10_000
"""Of a series in one answer; Prometheus refuses more than 11,000."""
TOO_MUCH = (400, 413, 422)
"""How servers refuse an answer that would be too large."""
ENDED_AFTER_S = HOUR_S
"""A pod that no point tells of for so long has ended, where points of its cluster go on: its run is as it is."""
ASIDE_S = DAY_S
"""For so long its points lie aside: it may be told of again, after a gap."""
POINTS, ASIDE = "points-", "aside-"
"""How the names of files begin with points of pods that may go on, and of those that went without a word."""
SCHEMA = pa.schema(
    [
        ("query", pa.int32()),
        ("labels", pa.string()),
        ("times", pa.list_(pa.float64())),
        ("values", pa.list_(pa.float64())),
    ]
)
BATCH = 500


def fetch(source: Source, state: State, place: Place) -> Fetched:
    """Series since the last refresh, with what is known of pods that went on.

    Raises SourceUnreachable when the server does not answer, or only in part; what came is kept for the next try.
    """
    step = source.step_s
    until = math.floor((place.now_s - step) / step) * step
    if until <= state.until_s:
        return Fetched(None, state)
    # back over what was read: points may come late
    first = state.until_s + step - source.overlap_s if state.until_s else place.now_s - source.since_s
    folder = place.kept / "windows"
    start, end = _plan(folder, math.ceil(first / step) * step, until)
    with Api(source.address, source.credentials) as api:
        for number in range(len(QUERIES)):
            place.progress(0.5 * number / len(QUERIES), f"reading {_metric(number)}")
            _windows(api, source, (number, start, end), folder, place.progress)
    parts = [str(path) for path in sorted(folder.glob("*.parquet"))]
    kept = [str(place.kept / state.points)] if state.points and (place.kept / state.points).exists() else []
    parts = [*kept, *_again(place, kept, parts), *parts]
    place.progress(0.5, "putting series together")
    files = tuple(_written(parts, place.passing, step))
    points = f"{POINTS}{end:.0f}.parquet"
    if not files and state.until_s:
        return Fetched(None, replace(state, until_s=end, points=""))
    if not files:
        raise SourceUnreachable(
            f"{source.shown}: none of {len(QUERIES)} metrics has a series; check the selector, and the metrics' names "
            f"with --metric NAME=OTHER"
        )
    _keep(parts, place.kept, max(ENDED_AFTER_S, source.overlap_s), end)
    load = reading(files, IngestOptions(format="prometheus-pods", name=source.name))
    return Fetched(load, replace(state, until_s=end, points=points))


def tidy(kept: Path, state: State) -> None:
    """Remove what a refresh that is committed needs no more."""
    shutil.rmtree(kept / "windows", ignore_errors=True)
    for path in kept.glob(f"{POINTS}*.parquet"):
        if path.name != state.points:
            path.unlink(missing_ok=True)
    for path in kept.glob(f"{ASIDE}*.parquet"):
        if not state.until_s - ASIDE_S <= _moment(path) <= state.until_s:
            path.unlink(missing_ok=True)


def _moment(path: Path) -> float:
    return float(path.stem.partition("-")[2])


def _again(place: Place, kept: Sequence[str], windows: Sequence[str]) -> Iterator[str]:
    """A file of the points that lie aside of pods that the windows tell of again."""
    aside = [str(path) for path in sorted(place.kept.glob(f"{ASIDE}*.parquet"), key=_moment)]
    if not aside or not windows:
        return
    pods = {*map(_pod, _labels(windows))} - {*map(_pod, _labels(kept))}
    path, seen, rows = place.passing / "again.parquet", set[tuple[str, str, str]](), _no_rows()
    for part in reversed(aside):  # the newest has all points of a pod
        there = {labels for labels in _labels([part]) if _pod(labels) in pods - seen}
        for one in _series([part]) if there else ():
            if one[1] in there:
                _add(rows, one)
        seen |= {*map(_pod, there)}
    if seen:
        _atomically(pa.table(rows, schema=SCHEMA), path)
        yield str(path)


def _labels(parts: Sequence[str]) -> list[str]:
    """The labels of all series of some parts."""
    if not parts:
        return []
    with duckdb.connect(":memory:", config={"threads": "2"}) as connection:
        answer = connection.sql("SELECT DISTINCT labels FROM read_parquet(?)", params=[list(parts)])
        return [str(labels) for (labels,) in answer.fetchall()]


def _plan(folder: Path, start: float, end: float) -> tuple[float, float]:
    """From where to where to read: as a fetch that was killed had it, where it began at the same moment."""
    plan = folder / "plan.json"
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        known = json.loads(plan.read_text(encoding="utf-8"))
        if known["start"] == start:
            return start, float(known["end"])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, mode=0o700)
    plan.write_text(json.dumps({"start": start, "end": end}), encoding="utf-8")
    return start, end


def _windows(api: Api, source: Source, wanted: tuple[int, float, float], folder: Path, progress: Progress) -> None:
    """Write a file for each window of a query that is not there yet."""
    number, at, end = wanted
    there = {
        float(path.stem.split("-")[1]): float(path.stem.split("-")[2]) for path in folder.glob(f"{number}-*.parquet")
    }
    step = source.step_s
    points = max(1, min(MOST_POINTS, int(WINDOW_S / step)))
    while at <= end:
        if at in there:
            at = there[at] + step
            continue
        last = min(end, at + (points - 1) * step)
        progress(None, f"reading {_metric(number)}")
        try:
            result = _range(api, source, number, at, last)
        except Refused as error:
            if error.status not in TOO_MUCH or points == 1:
                raise
            points = max(1, points // 2)
            continue
        _write_window(result, folder / f"{number}-{at:.3f}-{last:.3f}.parquet", source, number)
        at = last + step


def promql(source: Source, number: int) -> str:
    """The query of a metric, with the source's name of it and its selector."""
    name, brace, rest = QUERIES[number].partition("{")
    name, space, condition = name.partition(" ")
    inner, _, _ = rest.partition("}")
    labels = ",".join(text for text in (inner if brace else "", source.selector.strip("{} ,")) if text)
    there = source.metrics.get(name, name)
    return f"{there}{{{labels}}}{space}{condition}" if labels else f"{there}{space}{condition}"


def _range(api: Api, source: Source, number: int, start: float, end: float) -> Sequence[Any]:
    query = {
        "query": promql(source, number),
        "start": f"{start:.3f}",
        "end": f"{end:.3f}",
        "step": f"{source.step_s:g}",
        "partial_response": "false",  # Thanos: all or an error
    }
    answer = api.json("/api/v1/query_range", query, post=True)
    data = answer.get("data") if isinstance(answer, dict) else None
    result = data.get("result") if isinstance(data, dict) else None
    if not isinstance(result, list) or answer.get("status") != "success":
        raise SourceUnreachable(f"{source.shown}: the answer is no result of query_range; check that --url is its root")
    if answer.get("warnings"):
        raise SourceUnreachable(f"{source.shown} answered in part ({str(answer['warnings'][0])[:200]})")
    return result


def _write_window(result: Sequence[Any], path: Path, source: Source, number: int) -> None:
    name, rows = _metric(number), _no_rows()
    for one in result:
        try:
            labels = {str(key): str(value) for key, value in one["metric"].items()}
            at, each = zip(*one["values"], strict=True)
            times, values = np.array(at, dtype=np.float64), np.array(each, dtype=np.float64)
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise SourceUnreachable(f"{source.shown}: a series of {name} cannot be read ({str(error)[:80]})") from error
        finite = np.isfinite(values)
        times, values = times[finite], values[finite]
        if times.size:
            labels["__name__"] = name
            if number in OF_FACTS:
                times, values = _around_changes(times, values, source.step_s)
            rows["query"].append(number)
            rows["labels"].append(json.dumps(labels, sort_keys=True))
            rows["times"].append(times)
            rows["values"].append(values)
    _atomically(pa.table(rows, schema=SCHEMA), path)


def _atomically(table: pa.Table, path: Path) -> None:
    passing = path.with_suffix(".part")
    pq.write_table(table, passing, compression="zstd")
    with passing.open("rb") as file:
        os.fsync(file.fileno())
    passing.replace(path)


def _around_changes(times: Floats, values: Floats, step: float) -> tuple[Floats, Floats]:
    """The first and the last point, and those on both sides of a change or a gap."""
    if times.size < 3:
        return times, values
    breaks = (np.diff(values) != 0) | (np.diff(times) > 1.5 * step)
    kept = np.concatenate([[True], breaks]) | np.concatenate([breaks, [True]])
    return times[kept], values[kept]


def _series(parts: Sequence[str]) -> Iterator[tuple[int, str, Floats, Floats]]:
    """Every series of all parts, its points by rising time; of one that was read twice the larger counts."""
    with duckdb.connect(":memory:", config={"threads": "2"}) as connection:
        answer = connection.sql(
            "SELECT query, labels, flatten(list(times ORDER BY times[1])), flatten(list(values ORDER BY times[1])) "
            "FROM read_parquet(?) GROUP BY query, labels ORDER BY query, labels",
            params=[list(parts)],
        )
        for batch in answer.to_arrow_reader(BATCH):
            numbers, labels = batch.column(0).to_pylist(), batch.column(1).to_pylist()
            points = zip(*(_lists(batch.column(place)) for place in (2, 3)), strict=True)
            for number, named, (times, values) in zip(numbers, labels, points, strict=True):
                yield number, named, *in_order(times, values)[:2]


def _lists(column: pa.ListArray[Any]) -> list[Floats]:
    points, ends = column.values.to_numpy(zero_copy_only=False), column.offsets.to_numpy()
    return [points[low:high] for low, high in itertools.pairwise(ends)]


def _written(parts: Sequence[str], folder: Path, step: float) -> Iterator[Path]:
    """Write the series as lines of JSON, a file a metric, as raw exports have them."""
    if not parts:
        return
    for number, series in itertools.groupby(_series(parts), key=lambda one: one[0]):
        path = folder / f"{_metric(number)}.json"
        with path.open("w", encoding="utf-8") as file:
            for _, labels, all_times, all_values in series:
                times, values = all_times, all_values
                if number in OF_FACTS:
                    times, values = _around_changes(times, values, step)
                milliseconds = np.rint(times * 1e3).astype(np.int64).tolist()
                points = json.dumps({"values": values.tolist(), "timestamps": milliseconds})
                file.write(f'{{"metric": {labels}, {points[1:]}\n')
        yield path


def _metric(number: int) -> str:
    return QUERIES[number].partition("{")[0].partition(" ")[0]


def _keep(parts: Sequence[str], folder: Path, horizon_s: float, end: float) -> None:
    """Keep the series of pods, and other series, that were seen shortly before the last point of their cluster.

    Of a pod that is told to be over it is shortly before the end. Those of other pods are put aside.
    """
    latest: dict[tuple[str, str, str], float] = {}
    until: dict[str, float] = {}
    over = set()
    for number, labels, times, _ in _series(parts):
        key, last = _pod(labels), float(times[-1])
        until[key[0]] = max(until.get(key[0], 0.0), last)
        if key[2]:
            latest[key] = max(latest.get(key, 0.0), last)
            if number == COMPLETION or json.loads(labels).get("phase") in OVER:
                over.add(key)
    rows, aside = _no_rows(), _no_rows()
    for one in _series(parts):
        key = _pod(one[1])
        if latest.get(key, float(one[2][-1])) >= (end if key in over else until[key[0]]) - horizon_s:
            _add(rows, one)
        elif key in latest and key not in over:
            _add(aside, one)
    if aside["query"]:
        _atomically(pa.table(aside, schema=SCHEMA), folder / f"{ASIDE}{end:.0f}.parquet")
    _atomically(pa.table(rows, schema=SCHEMA), folder / f"{POINTS}{end:.0f}.parquet")


def _no_rows() -> dict[str, list[Any]]:
    return {column: [] for column in SCHEMA.names}


def _add(rows: dict[str, list[Any]], series: tuple[int, str, Floats, Floats]) -> None:
    for column, value in zip(SCHEMA.names, series, strict=True):
        rows[column].append(value)


def _pod(labels: str) -> tuple[str, str, str]:
    known = json.loads(labels)
    return label(known, CLUSTER), label(known, NAMESPACE), label(known, POD)
