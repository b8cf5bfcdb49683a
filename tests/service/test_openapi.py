"""The service's own description: its examples and answers are valid, and a client that is generated from it works."""

import json
import os
import shutil
import subprocess
import sys

import jsonschema
import pytest

from tests.service.conftest import until_ready
from tests.service.running import serving

pytestmark = pytest.mark.slow

GENERATE = "from openapi_python_client.cli import app; app()"
USE = """
import importlib, json, sys
from workprof_client import AuthenticatedClient
from workprof_client import models
address, token, document = sys.argv[1], sys.argv[2], json.load(open("openapi.json"))
with AuthenticatedClient(base_url=address, token=token, timeout=120) as client:
    for path, methods in document["paths"].items():
        for method, told in methods.items():
            if path.startswith("/v1/questions/"):
                continue
            ask = importlib.import_module(f"workprof_client.api.default.{told['operationId']}").sync_detailed
            content = told.get("requestBody", {}).get("content", {}).get("application/json")
            for example in content["examples"].values() if content else [None]:
                given = {}
                if example:
                    name = content["schema"]["$ref"].rpartition("/")[2]
                    given = {"body": getattr(models, name).from_dict(example["value"])}
                answer = ask(client=client, **given)
                print(json.dumps([path, method, answer.status_code, type(answer.parsed).__name__]))
    bins = importlib.import_module("workprof_client.api.default.bins").sync(client=client, task="worker", k=2)
    print(json.dumps(["bins", "get", 200, [type(bins.time_based_saved_share).__name__, bins.bins[0].edge_gb]]))
"""


@pytest.fixture(scope="module")
def served(filled, tmp_path_factory):
    home = tmp_path_factory.mktemp("described") / "home"
    shutil.copytree(filled, home)
    with serving(home, "--dataset", "small", WORKPROF_TOKEN="secret") as client:
        until_ready(client)
        yield client


@pytest.fixture(scope="module")
def document(served):
    return served.get("/openapi.json").json()


def check(document, schema, value):
    whole = schema | {"components": document["components"]}
    jsonschema.Draft202012Validator(whole).validate(value)


def run(folder, *arguments, **environment):
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_route_tells_bodies_answers_refusals_and_the_token(document):
    assert document["components"]["securitySchemes"] == {"token": {"type": "http", "scheme": "bearer"}}
    assert document["security"] == [{"token": []}]
    for path, methods in document["paths"].items():
        for method, told in methods.items():
            answers = told["responses"]
            (shown,) = answers["200"]["content"].values()
            assert shown["schema"], path
            assert {"429", "504"} <= set(answers)
            assert ("401" in answers) == (path not in ("/healthz", "/readyz")) == ("security" not in told)
            assert all(list(answers[one]["content"]) == ["application/problem+json"] for one in answers if one != "200")
            if method == "post" or path.startswith("/v1/questions/"):
                assert {"404", "422", "503"} <= set(answers)


def test_every_example_and_its_answer_are_as_the_description_says(document, served):
    n_examples = 0
    for path in ("/v1/predict", "/v1/size", "/v1/observations"):
        told = document["paths"][path]["post"]
        content = told["requestBody"]["content"]["application/json"]
        for example in content["examples"].values():
            check(document, content["schema"], example["value"])
            answer = served.post(path, json=example["value"])
            assert answer.status_code == 200, answer.text
            check(document, told["responses"]["200"]["content"]["application/json"]["schema"], answer.json())
            n_examples += 1
        wrong = served.post(path, json={"jobs": 3, "runs": 3})
        check(document, told["responses"]["422"]["content"]["application/problem+json"]["schema"], wrong.json())
    assert n_examples == 6
    for path in ("/v1/observations", "/v1/profiles", "/v1/questions", "/healthz", "/readyz"):
        told = document["paths"][path]["get"]
        schema = told["responses"]["200"]["content"]["application/json"]["schema"]
        check(document, schema, served.get(path).json())


QUESTIONS = (
    "memory.assess",
    "memory.bins?task=worker",
    "memory.ledger",
    "memory.verdict",
    "memory.over_time",
    "profiles.baseline",
    "profiles.durations?by=task_name",
    "profiles.fit",
    "profiles.hopkins",
)


@pytest.mark.parametrize("asked", QUESTIONS)
def test_the_answer_to_a_question_is_as_the_description_says(document, served, asked):
    told = document["paths"][f"/v1/questions/{asked.partition('?')[0]}"]["get"]
    schema = told["responses"]["200"]["content"]["application/json"]["schema"]
    answer = served.get(f"/v1/questions/{asked}")
    assert answer.status_code == 200, answer.text
    check(document, schema, answer.json())
    named = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]["properties"]
    assert set(answer.json()) <= set(named)
    changed = answer.json() | {"seconds": "soon"}
    with pytest.raises(jsonschema.ValidationError):
        check(document, schema, changed)


def test_the_parameters_of_a_question_tell_bounds_and_what_has_to_be_given(document):
    told = {
        (name, one["name"]): one
        for name in ("profiles.hopkins", "memory.bins", "memory.assess", "phases.runs")
        for one in document["paths"][f"/v1/questions/{name}"]["get"]["parameters"]
    }
    draws = told["profiles.hopkins", "resamples"]["schema"]
    assert (draws["minimum"], draws["maximum"]) == (1, 1_000)
    given = {place for place, one in told.items() if one.get("required")}
    assert given == {("memory.bins", "task"), ("phases.runs", "dataset")}


def test_no_description_says_nothing(document):
    def empty(node, path):
        if isinstance(node, dict):
            schemas = {"schema", "items", "additionalProperties"} & set(node)
            yield from (f"{path}/{name}" for name in schemas if node[name] == {})
            properties = node.get("properties", {})
            yield from (f"{path}/properties/{name}" for name, one in properties.items() if one == {})
        parts = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        for name, one in parts:
            yield from empty(one, f"{path}/{name}")

    assert list(empty(document, "")) == []
    for path, methods in document["paths"].items():
        if path.startswith("/v1/questions/"):
            name = methods["get"]["responses"]["200"]["content"]["application/json"]["schema"]["$ref"]
            answer = document["components"]["schemas"][name.rpartition("/")[2]]
            answer = answer["items"] if answer["type"] == "array" else answer
            assert answer["properties"], path


def test_the_descriptions_of_bodies_refuse_what_is_none(document):
    schema = document["paths"]["/v1/predict"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    check(document, schema, {"user": "a", "ReqMem": "64G"})
    for body in ({"jobs": 3}, {"jobs": []}, {"jobs": [3]}, {"explain": "yes"}, {"dataset": 7}, {"instances": -1}):
        with pytest.raises(jsonschema.ValidationError):
            check(document, schema, body)
    run = document["components"]["schemas"]["RunWithId"]
    check(document, run, {"run": "a", "out_of_memory_kills": True, "peak_memory_is_lower_bound": 1})
    with pytest.raises(jsonschema.ValidationError):
        check(document, run, {"run": "a", "duration_s": True})


@pytest.mark.soak
def test_a_generated_client_runs_every_example(document, served, tmp_path):
    (tmp_path / "openapi.json").write_text(json.dumps(document), encoding="utf-8")
    (tmp_path / "settings.yml").write_text("post_hooks: []\n", encoding="utf-8")
    options = ("--path", "openapi.json", "--output-path", "made", "--config", "settings.yml", "--fail-on-warning")
    run(tmp_path, "-c", GENERATE, "generate", *options)
    used = run(tmp_path, "-c", USE, str(served.base_url), "secret", PYTHONPATH=str(tmp_path / "made"))
    answers = [json.loads(line) for line in used.splitlines()]
    assert all(status == 200 for _, _, status, _ in answers)
    kinds = [kind for _, method, _, kind in answers if method == "post"]
    assert kinds == ["OnePrediction", "Predictions", "OneSize", "SizeList", "Receipt", "Receipt"]
    kind, edge_gb = answers[-1][3]
    assert (kind, edge_gb > 0) == ("float", True)
