"""Exports of Prometheus about pods: answers of its API as JSON, and Grafana's CSV, one column or one line a series.

Every series that names a pod counts: `pod_series` joins them into one run per pod. A series without the name of its
metric (`sum by (pod) (...)`, a legend) is told by its unit, its file's name, or its size; people are told what it was
taken for.

Source: Prometheus' documentation of its HTTP API; Grafana's of its panel inspector.
"""

import csv
import io
import itertools
import json
import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from workprof.core.errors import TraceError
from workprof.formats.declare import NUMBER, TEXT, Format, Given, Read, Reader, Remark, Rule, SourceColumn, Unreadable
from workprof.formats.fields import LATEST_S
from workprof.formats.json_documents import MAX_MEMBER_CHARACTERS, JsonWindow, parts, remarks
from workprof.formats.pod_columns import Column, take_unnamed
from workprof.formats.pod_names import BYTES, POD_NAME, VALUE_NAME, Named, named, unit_in, value_of
from workprof.formats.pod_runs import COLUMNS, TEXTS, PodRuns
from workprof.formats.pod_series import (
    LIMIT,
    OWNER_OF_OWNER,
    POD,
    REQUEST,
    UNKNOWN,
    Quantity,
    Series,
    label,
    quantity_of,
    quantity_told,
    request_and_resource,
)
from workprof.formats.pod_tables import EXCERPT_CHARACTERS, head_of, read_table
from workprof.formats.repeated_keys import RepeatedKeys

RESULTS = (("data", "result"), ("result",), ())
LOOKED_AT = 200


def _json(given: Given, runs: PodRuns, repeated: RepeatedKeys) -> Iterator[Unreadable | Remark]:
    window = JsonWindow(given.stream, given.name, repeated, MAX_MEMBER_CHARACTERS)
    unnamed: list[Column] = []
    for _, document in itertools.groupby(parts(window, RESULTS), key=lambda part: part.document):
        whole: dict[str, Any] = {}
        line, elements = 1, 0
        for part in document:
            elements += part.element
            if part.element:
                yield from _one_of_json(part.line, part.value, given.name, runs, unnamed)
            else:
                line = line if whole else part.line
                whole[".".join(part.path)] = part.value
        _refuse_error(whole, given.name)
        runs.empty.update([given.name] if whole and not elements and "metric" not in whole else [])
        warnings = [*(whole.get("warnings") or []), *(["isPartial"] if whole.get("isPartial") else [])]
        if warnings:
            first = str(warnings[0])[:EXCERPT_CHARACTERS]
            yield Remark(
                "partial answer", 1, f"{given.name} may lack series: the server warned of {first!r}", "warning"
            )
        if "metric" in whole and "values" in whole:
            yield from _one_of_json(line, whole, given.name, runs, unnamed)
        repeated.end_row()
    take_unnamed(unnamed, given.name, runs)


def _refuse_error(whole: Mapping[str, Any], origin: str) -> None:
    if whole.get("status") == "error":
        message = whole.get("error", whole.get("errorType", ""))
        raise TraceError(f"{origin}: Prometheus answered with an error ({message}); mend the query and save it again")
    kind = whole.get("data.resultType", "matrix")
    if kind not in ("matrix", "vector"):
        raise TraceError(
            f"{origin}: the result is of type {str(kind)[:40]!r}; query series of pods (/api/v1/query_range)"
        )


def _one_of_json(line: int, value: object, origin: str, runs: PodRuns, unnamed: list[Column]) -> Iterator[Unreadable]:
    """Take one series of an answer; `timestamps` are those of a raw export, in ms."""
    metric = value.get("metric") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(metric, dict):
        yield Unreadable(line, "metric", json.dumps(value)[:EXCERPT_CHARACTERS], "no series with labels")
        return
    labels = {str(key): str(each) for key, each in metric.items()}
    name = labels.pop("__name__", "")
    points = value.get("values", [value["value"]] if "value" in value else [])
    try:
        if "timestamps" in value:
            times, values = np.array(value["timestamps"], dtype=np.float64) / 1e3, np.array(points, dtype=np.float64)
        else:
            at, each = zip(*points, strict=True) if points else ((), ())
            times, values = np.array(at, dtype=np.float64), np.fromiter(map(float, each), np.float64, len(each))
            times = np.where(times > LATEST_S, times / 1e3, times)  # from other stores than Prometheus, in ms
        if times.shape != values.shape or times.ndim != 1:
            raise ValueError("times and values do not match")
    except (TypeError, ValueError, OverflowError) as error:
        yield Unreadable(line, "values", json.dumps(points)[:EXCERPT_CHARACTERS], f"no points: {str(error)[:80]}")
        return
    quantity = quantity_told(name, labels, values)
    if quantity == Quantity(OWNER_OF_OWNER):
        runs.take_owner(labels, name)
        return
    quantity = quantity if label(labels, POD) else None
    if quantity is None or not times.size:
        of = f"{name} of {labels['resource']}" if name and labels.get("resource") and label(labels, POD) else name
        runs.left_out[of or ", ".join(sorted(labels)) or "(no labels)"] += 1
    elif quantity.kind == UNKNOWN:
        words = Named(name, labels, *request_and_resource(name), unit_in(name))
        unnamed.append(Column(words, line, array("d", times), array("d", values)))
    elif quantity == Quantity(REQUEST, quantity.resource) and not name:
        kind = LIMIT if "limit" in origin.lower() else REQUEST
        if kind not in origin.lower():
            runs.taken_for[f"{origin}, resource={labels['resource']}"] = "info", "the numbers are taken for requests"
        runs.take(name, Quantity(kind, quantity.resource), Series(line, labels, times, values))
    else:
        runs.take(name, quantity, Series(line, labels, times, values))


LABELS = re.compile(r'"metric"\s*:\s*(\{[^{}]*\})')
GRAFANA_NAME = re.compile(r"-data-(?:as-[a-z]+-)?\d{4}-\d\d-\d\d")
OF_NODES = frozenset({"mode", "device", "mountpoint", "fstype", "chip", "sensor"})
COUNTERS = frozenset(
    (
        *("cpu", "mem", "memory", "disk", "net", "network", "read", "write", "user", "sys", "system", "idle", "load"),
        *("temp", "power", "io", "swap", "cache", "ipc", "freq"),
    )
)
"""Words of the names of counters; a name with one of them is no pod's, unless something else says so."""


def recognises(head: str, name: str) -> bool:
    """Tell whether a text's beginning is of series of pods, and not of counters of nodes."""
    start = head[:LOOKED_AT].lstrip("\ufeff \r\n\t")
    if start.startswith(("{", "[")):
        result = [_labels(match.group(1)) for match in LABELS.finditer(head)]
        return '"value' in head and (any(map(_names_pods, result)) or sum(map(_of_a_pod, result)) * 2 > len(result))
    shape = head_of(head)
    if shape is None:
        return False
    rows = list(itertools.islice(csv.reader(io.StringIO(head), delimiter=shape.delimiter), shape.lines, LOOKED_AT))
    if shape.pod >= 0:
        series = shape.header[shape.pod].strip().lower() in ("series", "metric")
        names = [row[shape.pod] for row in rows if len(row) > shape.pod]
        if not series:
            plain = any(VALUE_NAME.fullmatch(shape.header[place].strip()) for place in shape.values)
            return bool(shape.values) and (plain or len(set(names)) < len(names))
        return bool(shape.values) and bool(names) and all(map(_looks_like_a_pod, names))
    others = [text for place, text in enumerate(shape.header) if place != shape.time]
    if any(_in_braces(text) for text in others):
        return True
    cells = [text for row in rows for place, text in enumerate(row) if place != shape.time]
    has_bytes = any(_quantity(text) == BYTES for text in cells)
    certain = has_bytes or bool(GRAFANA_NAME.search(name))
    like = [_looks_like_a_pod(text, certain=certain) for text in others if named(text) is not None]
    return shape.time == 0 and bool(like) and all(like)


_NO_SERIES = re.compile(r'"result"\s*:\s*\[\s*\]')


def _holds_no_series(head: str) -> bool:
    """Tell whether a text is an answer without a series, as that to a question for kills where there was none."""
    return bool(_NO_SERIES.search(head[:10_000])) and '"metric"' not in head


def _labels(text: str) -> dict[str, str]:
    try:
        result = json.loads(text)
    except ValueError:
        return {}
    return {str(key): str(value) for key, value in result.items()}


def _of_a_pod(labels: Mapping[str, str]) -> bool:
    name = labels.get("__name__", "")
    of_pod = quantity_of(name, labels) is not None and bool(label(labels, POD))
    return of_pod and (bool(name) or not (OF_NODES & labels.keys() or "node-exporter" in labels.get("job", "")))


def _names_pods(labels: Mapping[str, str]) -> bool:
    """Tell whether labels are of a metric of pods, by its name."""
    quantity = quantity_of(labels.get("__name__", ""), labels)
    tells = bool(label(labels, POD)) or quantity == Quantity(OWNER_OF_OWNER)
    return "__name__" in labels and quantity not in (None, Quantity(UNKNOWN)) and tells


def _in_braces(text: str) -> bool:
    result = named(text) if "{" in text else None
    return result is not None and _of_a_pod({**result.labels, "__name__": result.metric})


def _quantity(text: str) -> str:
    try:
        return value_of(text)[1]
    except ValueError:
        return ""


def _looks_like_a_pod(text: str, *, certain: bool = False) -> bool:
    """Tell whether a name without labels is that of a pod: in Kubernetes' letters, with a number or a random end."""
    if "{" in text:
        return _in_braces(text)
    result = named(text)
    pod = result.labels["pod"] if result else ""
    words = set(re.split(r"[-.]", pod))
    like = bool(POD_NAME.fullmatch(pod)) and "-" in pod and not words & COUNTERS
    return like and (certain or "pod" in words or any(character.isdigit() for character in pod))


def read(sources: Sequence[Given]) -> Iterator[Read | Unreadable | Remark]:
    """Yield a row per pod of all files together.

    Raises TraceError when a file is broken or an error, or no series names a pod.
    """
    runs, repeated = PodRuns(), RepeatedKeys()
    bad: Unreadable | None = None
    for given in sources:
        start = given.stream.read(LOOKED_AT).lstrip(b"\xef\xbb\xbf \r\n\t")
        given.stream.seek(0)
        for each in _json(given, runs, repeated) if start[:1] in (b"{", b"[") else read_table(given, runs):
            bad = bad or (each if isinstance(each, Unreadable) else None)
            yield each
    if not runs.told:
        names = ", ".join(given.name for given in sources[:3])
        if bad and not runs.left_out:
            raise TraceError(f"{names}: no point can be read; line {bad.line:,} has {bad.reason} ({bad.text[:60]!r})")
        text = ", ".join(name[:60] for name, _ in runs.left_out.most_common(5))
        text = text or ("owners alone" if runs.owners else "none")
        raise TraceError(
            f"{names}: no series names a pod and an amount (found: {text}); "
            "export container_memory_working_set_bytes by namespace and pod"
        )
    yield from runs.rows()
    yield from remarks(repeated, "documents")


FORMAT = Format(
    name="prometheus-pods",
    title="Pods as Prometheus and Grafana export them",
    columns=tuple(SourceColumn(name, TEXT if name in TEXTS else NUMBER) for name in COLUMNS),
    rules=(
        Rule("job_name", "pod"),
        Rule("task_name", "task"),
        Rule("workload", "workload"),
        Rule("run_name", "run"),
        Rule("cluster", "cluster"),
        Rule("namespace", "namespace"),
        Rule("container", "container"),
        Rule("node", "node"),
        Rule("gpu_type", "gpu_type"),
        Rule("status", "status"),
        Rule("submit_time_s", "created", "s"),
        Rule("start_time_s", "start", "s"),
        Rule("end_time_s", "end", "s"),
        Rule("duration_s", "duration", "s"),
        Rule("requested_cpu_percent", "cpu_request", "cores"),
        Rule("requested_gpu_percent", "gpu_request", "cores"),
        Rule("requested_memory_bytes", "memory_request", "B"),
        Rule("cpu_usage_percent", "cpu_used", "cores"),
        Rule("gpu_usage_percent", "gpu_used", "percent"),
        Rule("mean_memory_bytes", "memory_mean", "B"),
        Rule("peak_memory_bytes", "memory_peak", "B"),
        Rule("mean_gpu_memory_bytes", "gpu_memory_mean", "B"),
        Rule("peak_gpu_memory_bytes", "gpu_memory_peak", "B"),
        Rule("out_of_memory_kills", "kills"),
        Rule("windows", "windows"),
    ),
    finished=("succeeded",),
    duration_from_times=True,
    units=(
        *(("cpu_limit", "cores"), ("memory_limit", "B")),
        *(("pod_cpu_request", "cores"), ("pod_memory_request", "B")),
    ),
    reader=Reader(recognises, COLUMNS, read, several=True, beside=_holds_no_series),
    rows_version=11,
    not_known="Peaks of memory between two samples are not known, so a size may be too small.",
)
