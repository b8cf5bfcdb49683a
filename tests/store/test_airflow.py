"""Airflow's task instances: exports of the table, answers of the REST API, requests of pods, exact totals."""

import csv
import datetime
import io
import json
import random

import numpy as np
import pandas as pd
import pytest

from workprof.core.causes import cause_of
from workprof.core.errors import TraceError
from workprof.core.units import GB, HOUR_S, MIB
from workprof.store.reports import IngestOptions

pytestmark = pytest.mark.slow

POD = {"pod_override": {"spec": {"containers": [{"resources": {"requests": {"cpu": "500m", "memory": "2Gi"}}}]}}}
HEADER = (
    "task_id,dag_id,run_id,start_date,end_date,duration,state,try_number,max_tries,hostname,unixname,job_id,pool,"
    "pool_slots,queue,priority_weight,operator,queued_dttm,pid,executor_config,map_index,rendered_map_index\n"
)
TABLE = HEADER + (
    "extract,sales,scheduled__1,2024-12-14 10:30:05.25+00,2024-12-14 10:30:15.25+00,10,success,1,3,w1,airflow,5,"
    "default_pool,1,default,1,PythonOperator,2024-12-14 10:30:00+00,77,"
    f'"{json.dumps(POD).replace(chr(34), chr(34) * 2)}",-1,\n'
    "load,sales,scheduled__1,2024-12-14 11:30:05+01:00,2024-12-14 11:31:05+01:00,60,failed,4,3,w2,airflow,6,"
    "default_pool,1,default,1,BashOperator,,78,"
    "\"{'KubernetesExecutor': {'request_memory': '500M', 'request_cpu': 2}}\",3,x\n"
    "wait,sales,scheduled__1,2024-12-14 10:32:00+00,,,running,1,0,w2,airflow,7,p,1,default,1,Sensor,,79,\\x80049,-1,\n"
    "again,sales,scheduled__1,2024-12-14 10:32:00+00,2024-12-14 10:32:30+00,30,up_for_retry,"
    "1,2,w2,airflow,8,p,1,q,1,S,,1,{},-1,\n"
    "late,sales,scheduled__1,,,,,0,0,,airflow,,p,1,q,1,S,,,{},-1,\n"
    "never,sales,scheduled__1,2024-12-14 10:33:00+00,2024-12-14 10:33:00+00,0,upstream_failed,"
    "0,0,,airflow,,p,1,q,1,S,,,{},-1,\n"
)


def test_an_export_of_the_table(store, write):
    report = store.ingest([write("task_instance.csv", TABLE)], IngestOptions())
    assert (report.format, report.rows_read, report.rows, report.rejected, report.lost) == ("airflow", 6, 6, 0, 0)
    assert {check.name: check.count for check in report.checks}["attempts"] == 1
    columns = ["job_name", "task_name", "workload", "run_name", "node", "user", "group", "status", "duration_s"]
    columns += ["submit_time_s", "start_time_s", "requested_memory_bytes", "requested_cpu_percent", "try_number"]
    frame = store.frame("task_instance", columns, finished_only=False)
    assert frame["job_name"].tolist()[:3] == ["sales.extract", "sales.load[3]", "sales.wait"]
    assert frame["task_name"].tolist()[0] == "extract" and set(frame["run_name"]) == {"scheduled__1"}
    np.testing.assert_array_equal(frame["duration_s"][:2], [10, 60])
    moment = datetime.datetime(2024, 12, 14, 10, 30, 5, 250_000, tzinfo=datetime.UTC).timestamp()
    np.testing.assert_array_equal(frame["start_time_s"][:2], [moment, moment - 0.25])
    assert frame["submit_time_s"][0] == moment - 5.25
    np.testing.assert_array_equal(frame["requested_memory_bytes"], [2048 * MIB, 5e8, *[np.nan] * 4])
    np.testing.assert_array_equal(frame["requested_cpu_percent"], [50, 200, *[np.nan] * 4])
    told = frame["status"].astype(object).tolist()
    causes = [cause_of(told[at]) for at in (1, 2, 3, 5)]
    assert causes == ["failed", "running", "failed", "never started"]
    runs = set(store.frame("task_instance", ["task_name"])["task_name"])
    assert "extract" in runs and not runs & {"load", "wait", "again", "never"}


def answer(instances, total=None):
    return {"task_instances": instances, "total_entries": len(instances) if total is None else total}


ONE = {
    "dag_id": "sales", "dag_run_id": "manual__1", "task_id": "extract", "execution_date": "2024-12-14T10:30:00Z",
    "start_date": "2024-12-14T10:30:05Z", "end_date": "2024-12-14T10:30:15.500000Z", "duration": 10.5,
    "state": "success", "try_number": 2, "max_tries": 3, "map_index": -1, "hostname": "w1", "unixname": "airflow",
    "pool": "default_pool", "queued_when": "2024-12-14T10:30:00Z", "executor_config": str(POD), "sla_miss": None,
    "rendered_fields": {"op_args": [1]},
}  # fmt: skip


def test_answers_of_the_rest_api(store, write):
    more = ONE | {"task_id": "load", "state": "running", "end_date": None, "duration": None, "executor_config": "{}"}
    pages = json.dumps(answer([ONE, more], 5), indent=1) + "\n" + json.dumps(answer([ONE | {"map_index": 4}], 5))
    report = store.ingest([write("answer.json", pages)], IngestOptions())
    assert (report.format, report.rows, report.rejected) == ("airflow-api", 3, 0)
    checks = {check.name: check.count for check in report.checks}
    assert (checks["further pages"], checks["attempts"]) == (2, 3)
    columns = [
        "job_name",
        "run_name",
        "submit_time_s",
        "start_time_s",
        "duration_s",
        "requested_memory_bytes",
        "further",
    ]
    frame = store.frame("answer", columns, finished_only=False)
    assert frame["job_name"].tolist() == ["sales.extract", "sales.load", "sales.extract[4]"]
    assert set(frame["run_name"]) == {"manual__1"}
    assert frame["start_time_s"][0] - frame["submit_time_s"][0] == 5
    assert (frame["duration_s"][0], frame["requested_memory_bytes"][0]) == (10.5, 2048 * MIB)
    assert json.loads(frame["further"].tolist()[0]) == {"rendered_fields": {"op_args": [1]}}


@pytest.mark.parametrize("kind", ["csv", "json", "jsonl", "api"])
def test_thousands_of_task_instances_add_up(store, write, kind):
    draw, runs, requested, rows = random.Random(2), 0, 0.0, []
    begin = datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)
    for at in range(3000):
        seconds, mebibytes = round(draw.uniform(0.5, 40_000), 3), draw.randint(100, 9000)
        start = begin + datetime.timedelta(seconds=at)
        state = draw.choice(("success", "success", "success", "failed"))
        containers = [
            {"resources": {"requests": {"memory": f"{mebibytes}Mi"}}},
            {"resources": {"requests": {"memory": "1G"}}},
        ]
        rows.append(
            {
                "dag_id": f"d{at % 5}",
                "task_id": f"t{at % 40}",
                "run_id": f"r{at // 40}",
                "start_date": start.isoformat(),
                "end_date": (start + datetime.timedelta(seconds=seconds)).isoformat(),
                "duration": seconds if at % 3 else None,
                "state": state,
                "executor_config": json.dumps({"pod_override": {"spec": {"containers": containers}}}),
            }
        )
        if state == "success":
            runs += 1
            requested += (mebibytes * MIB + 1e9) * seconds / GB / HOUR_S
    stream = io.StringIO()
    if kind == "csv":
        out = csv.DictWriter(stream, rows[0])
        out.writeheader()
        out.writerows(rows)
        content = stream.getvalue()
    else:
        content = json.dumps(answer(rows) if kind == "api" else rows)
        content = "\n".join(map(json.dumps, rows)) if kind == "jsonl" else content
    report = store.ingest([write("many.txt", content)], IngestOptions())
    assert (report.format, report.rows, report.rejected) == ("airflow-api" if kind == "api" else "airflow", 3000, 0)
    assert store.dataset("many").finished_rows == runs
    frame = store.frame("many", ["duration_s", "requested_memory_bytes"])
    total = (frame["duration_s"] * frame["requested_memory_bytes"]).sum() / GB / HOUR_S
    assert total == pytest.approx(requested, rel=1e-3)


@pytest.mark.parametrize("kind", ["table", "api"])
def test_a_task_id_of_two_dags_is_two_tasks(store, write, kind):
    ids = [("sales", "load"), ("stock", "load"), ("sales", "check"), ("sales", "load"), ("stock", "ship")]
    rows = [ONE | {"dag_id": dag, "task_id": task, "map_index": 2} for dag, task in ids]
    content = json.dumps(answer(rows) if kind == "api" else rows)
    store.ingest([write("two.json", content)], IngestOptions())
    frame = store.frame("two", ["task_name", "job_name", "workload"])
    assert frame["task_name"].tolist() == ["sales/load", "stock/load", "check", "sales/load", "ship"]
    assert frame["job_name"].tolist() == [f"{dag}.{task}[2]" for dag, task in ids]
    assert frame["workload"].tolist() == [dag for dag, _ in ids]


def test_what_is_no_row_is_a_reject_with_its_line(store, write):
    lines = TABLE.replace("+01:00,60,failed", "+01:00,soon,failed").splitlines()
    report = store.ingest([write("bad.csv", "\n".join([*lines, "a,b"]) + "\n")], IngestOptions())
    assert (report.rows, report.rejected) == (5, 2)
    found = store.rejects("bad").fillna("").to_dict("records")
    assert {(row["line"], row["text"]) for row in found} >= {(3, "soon")}
    content = json.dumps(answer([ONE, "text", ONE | {"duration": "soon"}]), indent=1)
    report = store.ingest([write("bad.json", content)], IngestOptions())
    assert (report.rows, report.rejected) == (1, 2)
    assert [
        row["text"] for row in store.rejects("bad-2" if "bad-2" in names(store) else report.dataset).to_dict("records")
    ]


def names(store):
    return [dataset.name for dataset in store.datasets()]


def test_nothing_of_a_configuration_is_evaluated(store, write, tmp_path):
    made = tmp_path / "made"
    code = f"__import__('pathlib').Path('{made}').touch()"
    deep = '{"a":' * 50_000 + '{"requests": {"memory": "1Gi"}}' + "}" * 50_000
    huge = "{'requests': {'memory': '" + "9" * 400 + "Gi'}}"
    rows = [ONE | {"executor_config": text} for text in (code, deep, huge, "{'requests': {'memory': 'a lot'}}")]
    report = store.ingest([write("hostile.json", json.dumps(answer(rows)))], IngestOptions())
    assert (report.rows, report.rejected) == (4, 0)
    asked = store.frame("hostile", ["requested_memory_bytes"])["requested_memory_bytes"].to_numpy()
    assert asked[1] == 1024 * MIB and np.isnan(asked[[0, 3]]).all() and not np.isinf(asked).any()
    assert not made.exists()


def test_an_answer_that_is_cut_off_is_refused(store, write):
    with pytest.raises(TraceError, match=r"breaks off|cut off"):
        store.ingest([write("cut.json", json.dumps(answer([ONE, ONE]))[:-40])], IngestOptions())


def test_an_export_as_parquet(store, tmp_path):
    rows = pd.DataFrame([ONE | {"rendered_fields": "x"}, ONE | {"rendered_fields": "y"}]).drop(columns="sla_miss")
    for name in ("start_date", "end_date", "queued_when", "execution_date"):
        rows[name] = pd.to_datetime(rows[name], format="ISO8601")
    rows.to_parquet(tmp_path / "ti.parquet")
    report = store.ingest([tmp_path / "ti.parquet"], IngestOptions())
    assert (report.format, report.rows, report.rejected) == ("airflow", 2, 0)
    row = store.frame("ti", ["run_name", "submit_time_s", "start_time_s", "requested_memory_bytes"]).iloc[0]
    assert (row["run_name"], row["requested_memory_bytes"]) == ("manual__1", 2048 * MIB)
    assert row["start_time_s"] - row["submit_time_s"] == 5
