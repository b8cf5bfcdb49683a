"""Airflow's task instances: the rows of its table `task_instance`, and the documents of its REST API.

A row is the latest try of a task; earlier tries are in other tables. A task on Kubernetes may say its request in
`executor_config`: that text is searched for it, whether it is JSON or what Python prints, and never evaluated.

Source: Airflow's documentation of its metadata tables, of task states and of its stable REST API.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from workprof.formats import values
from workprof.formats.declare import (
    NUMBER,
    TEXT,
    Format,
    Given,
    Made,
    Read,
    Reader,
    Remark,
    Rule,
    SourceColumn,
    Unreadable,
)
from workprof.formats.json_documents import MAX_MEMBER_CHARACTERS, JsonWindow, elements, keys, remarks
from workprof.formats.repeated_keys import RepeatedKeys

TEXTS = (
    *("dag_id", "task_id", "run_id", "dag_run_id", "execution_date", "logical_date", "start_date", "end_date", "state"),
    *("queued_dttm", "queued_when", "hostname", "unixname", "pool", "queue", "operator", "executor", "executor_config"),
    *("task_display_name", "note", "external_executor_id", "scheduled_when"),
)
NUMBERS = ("duration", "try_number", "max_tries", "map_index", "pool_slots", "priority_weight", "pid", "job_id")
KUBERNETES = 1000
"""'500M' of Kubernetes is a power of 1000, '500Mi' of 1024."""

TASK = (
    "CASE WHEN min(workload) OVER of_name <> max(workload) OVER of_name THEN workload || '/' || task_name "
    "ELSE task_name END"
).replace("of_name", "(PARTITION BY task_name)")
"""A task's id tells it within its DAG: where several have it, each is named with its DAG."""


def _requested(what: str, reads: str) -> str:
    """The SQL of what the containers of `executor_config` request of 'memory' or 'cpu', else of their limits.

    `reads` is SQL of the number that the text `one` says.
    """
    quote = "[''\"]"  # as it stands in a text of SQL
    value = rf"{quote}?([^'',}}\"\s]+)"

    def of(key: str) -> str:
        inside = rf"{quote}{key}s{quote}\s*:\s*\{{[^{{}}]*{quote}{what}{quote}\s*:\s*{value}"
        own = rf"{quote}{key}_{what}{quote}\s*:\s*{value}"
        texts = " || ".join(
            f"regexp_extract_all(CAST(executor_config AS VARCHAR), '{each}', 1)" for each in (inside, own)
        )
        return f"list_sum(list_transform({texts}, lambda one: {reads}))"

    return f"coalesce({of('request')}, {of('limit')})"


FORMAT = Format(
    name="airflow",
    title="Airflow task instances (table)",
    columns=(*(SourceColumn(name, TEXT) for name in TEXTS), *(SourceColumn(name, NUMBER) for name in NUMBERS)),
    rules=(
        Rule("workload", "dag_id"),
        Rule("task_name", "task_id"),
        Rule("run_name", "run_id"),
        Rule("status", "state"),
        Rule("user", "unixname"),
        Rule("group", "pool"),
        Rule("node", "hostname"),
        Rule("submit_time_s", "queued_dttm"),
        Rule("start_time_s", "start_date"),
        Rule("end_time_s", "end_date"),
        Rule("duration_s", "duration", "s"),
    ),
    required=("dag_id", "task_id"),
    signature=("dag_id", "task_id", "start_date", "end_date"),
    further_signatures=(("dag_id", "task_id", "state", "duration"), ("dag_id", "task_id", "try_number")),
    nulls=("", "NULL", "null", "\\N", "None", "NaN", "nan", "NaT"),
    finished=("success",),
    duration_from_times=True,
    size_base=KUBERNETES,
    attempts="try_number",
    made=(
        Made(
            "run_name",
            "coalesce(run_name, CAST(dag_run_id AS VARCHAR), CAST(execution_date AS VARCHAR))",
            may=("run_name", "dag_run_id", "execution_date"),
        ),
        Made(
            "job_name",
            "workload || '.' || task_name || CASE WHEN map_index >= 0 THEN '[' || CAST(map_index AS INTEGER) || ']' "
            "ELSE '' END",
            needs=("workload", "task_name"),
            may=("map_index",),
            of_line=True,
        ),
        Made("task_name", TASK, needs=("workload", "task_name"), of_line=True),
        Made(
            "submit_time_s",
            f"coalesce(submit_time_s, {values.moment('CAST(queued_when AS VARCHAR)')})",
            needs=("queued_when",),
            may=("submit_time_s",),
        ),
        Made(
            "requested_memory_bytes",
            _requested("memory", values.number("one", "B", base=KUBERNETES)),
            needs=("executor_config",),
        ),
        Made(
            "requested_cpu_percent",
            _requested("cpu", values.number("one", "percent", 100.0)),
            needs=("executor_config",),
        ),
    ),
    not_known="Airflow does not measure what a task used.",
    rows_version=4,
)

FURTHER = "further"
COLUMNS = (*TEXTS, *NUMBERS, FURTHER)


def _recognises(text: str, name: str) -> bool:
    return text.lstrip().startswith(("{", "[")) and '"task_instances"' in text and '"dag_id"' in text


def _read(sources: Sequence[Given]) -> Iterator[Read | Unreadable | Remark]:
    repeated, rows, promised = RepeatedKeys(), 0, 0
    for given in sources:
        text = JsonWindow(given.stream, given.name, repeated, MAX_MEMBER_CHARACTERS)
        total = 0
        while begin := text.peek():
            for _ in elements(text) if begin == "[" else (text.line,):
                for key in keys(text):
                    if key == "task_instances" and text.peek() == "[":
                        for line in elements(text):
                            value, content = text.value()
                            repeated.end_row()
                            rows += 1
                            if isinstance(value, dict):
                                yield Read(line, _cells(value))
                            else:
                                yield Unreadable(line, key, content, "not a task instance")
                    else:
                        value, _ = text.value()
                        if key == "total_entries" and isinstance(value, int):
                            total = max(total, value)
        promised += total
    if promised > rows:
        message = (
            f"{promised - rows:,} of {promised:,} task instances are on further pages: fetch those too (limit, offset)"
        )
        yield Remark("further pages", promised - rows, message, "warning")
    yield from remarks(repeated)


def _cells(one: Mapping[str, object]) -> list[str | float | None]:
    more = {key: value for key, value in one.items() if key not in COLUMNS and value is not None}
    known = [_text(one.get(column)) for column in COLUMNS[:-1]]
    return [*known, json.dumps(more) if more else None]


def _text(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)


API = replace(
    FORMAT,
    name="airflow-api",
    title="Airflow task instances (REST API)",
    columns=(*FORMAT.columns, SourceColumn(FURTHER, TEXT)),
    signature=(),
    further_signatures=(),
    reader=Reader(_recognises, COLUMNS, _read, several=True),
)
