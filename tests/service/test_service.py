"""The service: the numbers of the library and the commands, refusals in words, and what is handed in stays."""

import json
import math
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import httpx
import pandas as pd
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.command_line import run_here
from tests.service.running import serving
from workprof import Workbench, from_environment
from workprof.answers.forecasts import forecast_document
from workprof.forecasts.forecaster import ForecasterSettings
from workprof.forecasts.questions import LEARNED
from workprof.formats import rules_of
from workprof.service.jobs import BadFields, FieldReader
from workprof.service.prediction import load_model
from workprof.service.state import State

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def client(filled, tmp_path_factory):
    home = tmp_path_factory.mktemp("served") / "home"
    shutil.copytree(filled, home)
    with serving(home, "--body", "200KB") as found:
        yield found


def problem(answer, status):
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    told = answer.json()
    assert told["status"] == status
    return told


def close(one, other):
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(close(one[name], other[name]) for name in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(close, one, other))
    if isinstance(one, float):
        return math.isclose(one, other, rel_tol=1e-5, abs_tol=1e-6)
    return one == other


def known_jobs(workbench, n):
    entry = workbench.dataset("small")
    table = workbench.frames_of(entry, LEARNED)()["jobs"].iloc[::37].head(n)
    submit = FieldReader().allowed
    return [
        {name: value for name, value in row.items() if name in submit and pd.notna(value)}
        for row in table.to_dict("records")
    ]


def test_a_refusal_names_each_field_once():
    reader = FieldReader(further=("user", "task_name", "container"))
    with pytest.raises(BadFields) as refused:
        reader.read({"task_nam": "x"})
    (problem,) = refused.value.problems
    assert len(set(problem.allowed)) == len(problem.allowed)
    with pytest.raises(BadFields, match=r"at least one of job_name, user, task_name, group, workload, .*, container$"):
        reader.read({})


def test_many_jobs_at_once_get_the_answers_that_each_gets_alone_from_the_library(home):
    """The service answers jobs together and through tables of its own; no number may differ."""
    with Workbench(replace(from_environment(), home=home)) as workbench:
        jobs = [*known_jobs(workbench, 12), {"task_name": "never seen"}, {"requested_cpu_percent": 400.0}]
        jobs.append({"user": jobs[0]["user"], "start_time_s": 86_400.0})
        model = load_model(workbench, "small")
        together = model.predict(jobs)
        settings = workbench.forecaster.resolved("small", ForecasterSettings())
        for job, answer in zip(jobs, together, strict=True):
            (alone,) = workbench.forecast_job("small", {name: str(value) for name, value in job.items()}, settings)
            expected = forecast_document(alone, model.names) | {"shap": None}
            assert close(json.loads(json.dumps(expected)), json.loads(json.dumps(answer)))


def test_a_prediction_with_reasons_is_that_of_the_command(client, filled, tmp_path):
    job = {"task_name": "worker", "user": "nobody", "requested_memory_gb": 8, "instances": 2}
    (expected,) = run_here(
        *("classify", "predict", "small", "--set", "task_name=worker", "--set", "user=nobody", "--json"),
        *("--set", "requested_memory_bytes=8e9", "--set", "instances=2"),
        home=filled,
    ).json
    answer = client.post("/v1/predict", json={"jobs": [job], "explain": True}).json()
    assert answer["dataset"] == "small"
    assert close(expected, answer["predictions"][0])
    alone = client.post("/v1/predict", json=job).json()
    assert alone.pop("model") == answer["model"]
    assert close(expected | {"shap": None}, alone)


@pytest.fixture(scope="session")
def exported(filled):
    """The rows of memory of a dataset that hold for one request, as they are exported."""

    def rows(dataset):
        text = run_here("memory", "export", dataset, "--to", "json", "-o", "-", home=filled).out
        document = json.loads(text)
        kept = [row for row in document["rows"] if row["resource"] == "memory" and row["per_request"] == "yes"]
        return document["about"][0], [row for row in kept if "task_name" in row]

    return rows


@pytest.mark.parametrize("dataset", ["small", "wasteful"])
def test_sizes_are_the_rows_of_the_plan(client, exported, dataset):
    reason, rows = exported(dataset)
    jobs = [
        {name: row[name] for name in ("user", "task_name") if name in row}
        | {"requested_memory_gb": row["request_bytes"] / 1e9}
        for row in rows
    ]
    while (found := client.post("/v1/size", json={"jobs": jobs, "dataset": dataset})).status_code == 503:
        time.sleep(0.1)
    answer = found.json()
    assert answer["reason"] == reason
    assert {"wasteful": {"lower"}}.get(dataset, {"lower", "keep"}) == {row["action"] for row in rows}
    for size, row in zip(answer["sizes"], rows, strict=True):
        assert (size["action"], size["why"], size["runs"]) == (row["action"], row["why"], row["runs"])
        assert round(size["size_gb"] * 1e9) == row["size_bytes"]
        assert size["next_gb"] == ([] if row["action"] == "keep" else pytest.approx(row["retry"]))
        assert size["kills_per_1000"] == pytest.approx([row["kills_per_1000_low"], row["kills_per_1000_high"]])
        assert size["source"] == ("request" if row["action"] == "keep" else "advice")


def test_sizes_are_those_of_the_findings_of_the_ledger(client, filled):
    told = run_here("memory", "ledger", "small", "--json", home=filled).json["findings"]
    rows = [one["plan"] for one in told if one["plan"] and one["plan"]["resource"] == "memory"]
    jobs = [
        {name: row[name] for name in ("user", "task_name") if name in row} | {"requested_memory_gb": row["request_gb"]}
        for row in rows
    ]
    while (found := client.post("/v1/size", json={"jobs": jobs, "dataset": "small"})).status_code == 503:
        time.sleep(0.1)
    assert rows
    for size, row in zip(found.json()["sizes"], rows, strict=True):
        assert (size["action"], size["why"]) == (row["action"], row["why"])
        assert size["size_gb"] == pytest.approx(row["size_gb"])


def test_a_job_that_is_not_known_keeps_its_request_and_names_of_the_trace_are_taken(client, exported):
    while client.post("/v1/size", json={"task_name": "worker"}).status_code == 503:
        time.sleep(0.1)
    unknown = client.post(
        "/v1/size", json={"user": "nobody", "task_name": "never seen", "requested_memory_gb": 3}
    ).json()
    assert (unknown["action"], unknown["size_gb"], unknown["source"]) == ("keep", 3, "request")
    assert unknown["why"] == "no run of user 'nobody' and task_name 'never seen' is known"
    row = next(one for one in exported("small")[1] if one["action"] == "lower")
    own = {"user": row["user"], "task_name": row["task_name"], "plan_mem": row["request_bytes"] / 2**30}
    found = client.post("/v1/size", json={"jobs": [own], "by": "user"}).json()["sizes"][0]
    assert found["key"] == {"user": row["user"], "task_name": row["task_name"]}
    assert round(found["size_gb"] * 1e9) == row["size_bytes"]
    problem(client.post("/v1/size", json=own | {"colour": "red"}), 422)


def test_every_bad_field_is_named_with_its_value_and_what_is_allowed(client):
    jobs = [{"task_name": "worker"}, {"usr": "ana", "instances": "many"}, {"requested_cpu_percent": -1}]
    told = problem(client.post("/v1/predict", json={"jobs": jobs}), 422)
    assert [(one["job"], one["field"], one["value"]) for one in told["errors"]] == [
        (1, "usr", "ana"),
        (1, "instances", "many"),
        (2, "requested_cpu_percent", -1),
    ]
    assert "user" in told["errors"][0]["allowed"]
    assert told["errors"][1]["allowed"] == "a number from 0 to 1e+09"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b"{", "body"),
        (b"[]", "body"),
        (b"{}", "jobs"),
        (b'{"jobs":[]}', "jobs"),
        (b'{"jobs":3}', "jobs"),
        (b'{"jobs":[3]}', "jobs"),
        (b'{"jobs":[{"user":["a"]}]}', "user"),
        (b'{"user":"a","instances":true}', "instances"),
        (b'{"jobs":[{"user":"a"}],"explain":"yes"}', "explain"),
        (b'{"jobs":[{"user":"a"}],"x":1}', "x"),
        (b'{"user":"a","dataset":7}', "dataset"),
        (b"\xff\xfe", "body"),
    ],
)
def test_a_body_that_is_no_request_is_refused(client, body, field):
    told = problem(client.post("/v1/predict", content=body), 422)
    assert told["errors"][0]["field"] == field


def test_refusals_by_route_method_dataset_size_and_origin(client):
    problem(client.get("/v1/nothing"), 404)
    other = client.get("/v1/predict")
    problem(other, 405)
    assert other.headers["allow"] == "POST"
    problem(client.post("/v1/predict", json={"user": "a", "dataset": "absent"}), 404)
    problem(client.post("/v1/predict", content=b" " * 300_000), 413)
    problem(client.post("/v1/predict", content=iter([b" " * 150_000] * 2)), 413)
    problem(client.get("/metrics", headers={"Origin": "http://elsewhere.example"}), 403)
    problem(client.get("/metrics", headers={"Host": "elsewhere.example"}), 403)


def test_a_declared_question_is_asked_by_its_settings(client, filled):
    expected = run_here("memory", "bins", "small", "--task", "worker", "-k", "2", "--json", home=filled).json
    for name in ("k", "bins_k"):
        answer = client.get("/v1/questions/memory.bins", params={"task": "worker", name: "2"})
        if name == "k":
            assert answer.json() | {"seconds": 0} == expected | {"seconds": 0}
            assert len(answer.headers["model-version"]) == 12
            assert answer.headers["model-trained"].startswith("20")
        else:
            assert problem(answer, 422)["errors"][0]["field"] == name
    told = problem(client.get("/v1/questions/memory.bins", params={"task": "worker", "k": "99"}), 422)
    assert told["errors"][0] | {"allowed": ""} == {"field": "k", "value": "99", "allowed": ""}
    for name, field in (
        ("memory.bins", "task"),
        ("memory.why", "task"),
        ("memory.fact", "column"),
        ("memory.profile_bins", "profile"),  # none is assumed
    ):
        assert problem(client.get(f"/v1/questions/{name}"), 422)["errors"][0]["field"] == field
    (odd,) = problem(client.get("/v1/questions/memory.verdict", params={"round_to": "0"}), 422)["errors"]
    assert (odd["field"], odd["value"]) == ("round_to", "0") and odd["allowed"].startswith("give sizes")
    listed = {one["name"] for one in client.get("/v1/questions").json()}
    assert {"memory.bins", "profiles.fit", "profiles.forecaster"} <= listed
    plan = client.get("/v1/questions/memory.plan", params={"dataset": "small"}).json()  # by the words of its command
    assert plan == client.get("/v1/questions/memory.verdict", params={"dataset": "small"}).json()
    assert "workprof memory plan" in {one["command"] for one in client.get("/v1/questions").json()}
    profiles = client.get("/v1/profiles").json()
    assert len(profiles["names"]) == len(profiles["profiles"]) + 1


@pytest.mark.parametrize(
    ("question", "command"),
    [
        ("profiles.durations?by=task_name", "durations small --by task_name"),
        ("profiles.durations", "durations small"),
        ("profiles.durations?dataset=wasteful", "durations wasteful"),  # of too few features for profiles
        ("profiles.fit", "profiles fit small"),
    ],
)
def test_answers_with_names_of_profiles_are_those_of_the_command(client, filled, question, command):
    told = run_here(*command.split(), "--json", home=filled).json
    answer = client.get(f"/v1/questions/{question}", timeout=120).json()
    for name, value in told.items():
        if name == "groups":
            assert [{key: one[key] for key in mine} for one, mine in zip(answer[name], value, strict=True)] == value
        elif not name.endswith("seconds"):
            assert answer[name] == value or {**value, **answer[name]} == answer[name], name


def test_a_list_is_given_in_parts_and_one_value_once(client):
    def asked(question, *pairs):
        return client.get(f"/v1/questions/{question}", params=list(pairs))

    apart = asked("profiles.baseline", ("by", "task_name"), ("by", "user"))
    assert apart.status_code == 200, apart.text
    assert apart.json() | {"seconds": 0} == asked("profiles.baseline", ("by", "task_name,user")).json() | {"seconds": 0}
    for pairs in (("k", "2"), ("k", "3")), (("dataset", "small"), ("dataset", "wasteful")):
        assert problem(asked("memory.bins", ("task", "worker"), *pairs), 422)["errors"][0]["field"] == pairs[0][0]
    problem(client.get("/v1/observations?dataset=small&dataset=wasteful"), 422)
    told = problem(client.get("/v1/questions/phases.runs", params={"dataset": "small"}), 422)
    assert (told["title"], "errors" in told) == ("Cannot be answered", False)


def test_openapi_names_every_route_and_setting(client):
    paths = client.get("/openapi.json").json()["paths"]
    assert {"/v1/predict", "/v1/size", "/v1/observations", "/v1/profiles", "/healthz", "/readyz", "/metrics"} <= set(
        paths
    )
    parameters = {one["name"] for one in paths["/v1/questions/memory.bins"]["get"]["parameters"]}
    assert {"task", "k", "headroom", "dataset"} <= parameters


def test_finished_runs_are_taken_once(client):
    run = {
        "run": "r1",
        "task_name": "worker",
        "user": "u",
        "duration_s": 60,
        "end_time_s": 1e6,
        "peak_memory_bytes": 1e9,
    }
    first = client.post("/v1/observations", json={"runs": [run, run | {"run": "r2"}, run]}).json()
    assert (first["accepted"], first["repeated"], first["different"]) == (2, 1, [])
    again = client.post("/v1/observations", json=run).json()
    assert (again["accepted"], again["repeated"], again["total"]) == (0, 1, first["total"])
    other = client.post("/v1/observations", json=run | {"duration_s": 61}).json()
    assert (other["repeated"], other["different"]) == (1, ["r1"])
    told = problem(client.post("/v1/observations", json={"task_name": "worker"}), 422)
    assert told["errors"][0]["field"] == "run"
    assert client.get("/v1/observations").json()["total"] == first["total"]


def test_a_run_that_did_not_finish_is_kept_counted_by_cause_and_not_compared(home):
    run = {"task_name": "worker", "user": "u", "peak_memory_bytes": 1e9}
    ends = ("TERMINATED", "OUT_OF_MEMORY", "OOMKilled", "Failed", "", None)
    runs = [run | {"run": f"{n}", "end_time_s": n, "duration_s": 60 + n, "status": end} for n, end in enumerate(ends)]
    killed = runs[1] | {"run": "k", "status": "Failed", "out_of_memory_kills": True, "node": "n7"}
    with serving(home) as client:
        told = client.post("/v1/observations", json={"runs": [*runs, killed]})
        assert told.status_code == 200, told.text
        assert told.json()["not_finished"] == {"out of memory": 3, "failed": 1}
        assert client.post("/v1/observations", json=runs[0]).json()["not_finished"] == {}
        refused = problem(client.post("/v1/observations", json={"run": "s", "status": "Failed"}), 422)
        assert "status" not in refused["errors"][0]["allowed"]
        seen = None
        while not seen:
            time.sleep(0.2)
            seen = client.get("/v1/observations").json()["drift"]
        assert (seen["observed"], seen["rows_read"]) == (3, 3)
        assert "4 jobs did not finish well and were left out (3 out of memory, 1 failed)" in seen["notes"]


def test_metrics_count_answers(client):
    client.post("/v1/predict", json={"user": "a"})
    text = client.get("/metrics").text
    counted = {
        (one.name, one.labels.get("route"), one.labels.get("status"), one.labels.get("le")): one.value
        for family in text_string_to_metric_families(text)
        for one in family.samples
    }
    answers = counted["workprof_requests_total", "/v1/predict", "200", None]
    assert counted["workprof_request_seconds_bucket", "/v1/predict", None, "+Inf"] >= answers >= 1
    assert counted["workprof_predicted_jobs_total", None, None, None] >= 1
    assert counted["workprof_waiting_jobs", None, None, None] == 0


def test_a_token_is_asked_of_everybody_and_the_rate_is_limited(home):
    with serving(home, "--rate", "8", ready="/healthz", WORKPROF_TOKEN="secret", WORKPROF_READONLY="1") as client:
        with httpx.Client(base_url=client.base_url) as stranger:
            assert stranger.get("/healthz").status_code == 200
            problem(stranger.get("/metrics"), 401)
            problem(stranger.get("/metrics", headers={"Authorization": "Bearer wrong"}), 401)
            problem(stranger.get("/metrics", headers={"Authorization": "Bearer s\u00e9cret".encode()}), 401)
        problem(client.post("/v1/observations", json={"run": "a", "user": "b"}), 403)
        with ThreadPoolExecutor(20) as at_once:  # however long a slow machine takes for one
            statuses = list(at_once.map(lambda _: client.get("/metrics").status_code, range(60)))
        assert 429 in statuses
        assert 200 in statuses


def test_only_this_machine_is_served_without_a_token(home):
    ended = run_here("serve", "--api", "--host", "0.0.0.0", home=home)
    assert ended.status == 2
    assert "WORKPROF_TOKEN" in ended.err
    assert run_here("serve", "--rate", "3", home=home).status == 2


def test_fields_of_the_trace_are_taken_in_its_own_units():
    reader = FieldReader.of_trace("pai-sample", {})
    source = next(rule for rule in rules_of("pai-sample") if rule.field == "requested_memory_bytes")
    assert reader.read({source.source: 2})["requested_memory_bytes"] == pytest.approx(2 * 1024**3)
    with pytest.raises(BadFields, match="allowed: job_name"):
        reader.read({"nothing": 1})


def test_a_finished_run_has_the_fields_that_an_ingest_makes_of_its_columns(tmp_path):
    path = tmp_path / "jobs.txt"
    heading = "JobID|JobName|User|Start|End|State|ReqMem|ReqCPUS|AllocCPUS|MaxRSS"
    line = "|align|ann|2025-01-01T00:00:00|2025-01-01T01:00:00|COMPLETED|8Gn|2|2|1G"
    path.write_text("\n".join([heading, *(f"{number}{line}" for number in range(1, 9))]) + "\n", encoding="utf-8")
    with Workbench(replace(from_environment(), home=tmp_path / "home")) as workbench:
        workbench.ingest(path)
        state = State(workbench)
        try:
            read = state.run_reader().read({"JobName": "align", "ReqCPUS": 2, "AllocCPUS": 4})
        finally:
            state.close()
    assert read == {"task_name": "align", "requested_cpu_percent": 200.0}
