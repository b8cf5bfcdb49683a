"""Random requests within and beyond the service's own description: no crash, and no answer that it does not tell."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.command_line import run_here
from tests.service.conftest import until_ready
from tests.service.running import serving
from tests.sources import ROOT

pytestmark = pytest.mark.soak

CHECKS = (
    *("status_code_conformance", "content_type_conformance", "response_schema_conformance"),
    *("response_headers_conformance", "ignored_auth", "negative_data_rejection", "unsupported_method"),
)
"""All but that every valid body is taken: which names of fields are valid depends on the dataset."""
ROUTES = ("--exclude-path-regex", "^/v1/questions/", "--phases", "examples,coverage,fuzzing", "--max-examples", "50")
DECLARED = ("--include-path-regex", "^/v1/questions/", "--phases", "fuzzing", "--max-examples", "2")
"""Questions are computed, two at a time: what waits too long is a 503 or a 504, which the description tells."""
ASKED = (*DECLARED[:-1], "4", "--mode", "positive")
"""The same of datasets and names that there are, with settings as the description has them: most are computed."""
REFUSED = """
[checks]
negative_data_rejection.expected-statuses = [400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 428, 429, "5xx"]
"""
"""How what is none may be answered: as usual, and 413, as a list of too many runs is too large a body."""
SAMPLES = ROOT / "data" / "sample"
THERE = """
[parameters]
"query.dataset" = "small"
"query.task" = "worker"
"query.bins.task" = "worker"
"query.predictor.bins.task" = "worker"
"query.column" = "duration_s"
"query.profile" = 0
"query.jobs" = "small"

[[operations]]
include-path-regex = "^/v1/questions/phases"
parameters = { "query.dataset" = "telemetry", "query.unknown" = "telemetry" }

[[operations]]
include-path-regex = "^/v1/questions/nodes"
parameters = { "query.dataset" = "benchmarks" }

[[operations]]
include-path-regex = "^/v1/questions/nodes.search"
parameters = { "query.dataset" = "configurations" }
"""


@pytest.mark.parametrize("options", [ROUTES, DECLARED, ASKED], ids=["routes", "questions", "asked"])
def test_the_service_keeps_to_its_own_description(filled, tmp_path, options):
    home = tmp_path / "home"
    shutil.copytree(filled, home)
    (tmp_path / "schemathesis.toml").write_text(REFUSED + THERE * (options is ASKED), encoding="utf-8")
    if options is ASKED:
        for path in ("telemetry.csv", "benchmarks.jsonl", "configurations.csv"):
            assert run_here("ingest", SAMPLES / path, "--name", path.partition(".")[0], home=home).status == 0
    with serving(home, "--dataset", "small", "--timeout", "5", WORKPROF_TOKEN="secret") as client:
        until_ready(client)
        command = [sys.executable, "-m", "schemathesis.cli", "run", f"{client.base_url}/openapi.json", *options]
        command += ["--header", "Authorization: Bearer secret", "--checks", ",".join(CHECKS), "--seed", "1"]
        command += ["--request-timeout", "60", "--no-color"]
        done = subprocess.run(
            command, cwd=tmp_path, env=os.environ, capture_output=True, text=True, timeout=3_000, check=False
        )
        assert done.returncode == 0, done.stdout[-8_000:] + done.stderr[-2_000:]
        counted = client.get("/metrics").text
        assert 'status="200"' in counted
        assert 'status="500"' not in counted
