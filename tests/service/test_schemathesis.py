"""Random requests within and beyond the service's own description: no crash, and no answer that it does not tell."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.service.conftest import until_ready
from tests.service.running import serving

pytestmark = pytest.mark.soak

CHECKS = (
    *("not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance"),
    *("response_headers_conformance", "ignored_auth", "negative_data_rejection", "unsupported_method"),
)
"""All but that every valid body is taken: which names of fields are valid depends on the dataset."""


def test_the_service_keeps_to_its_own_description(filled, tmp_path):
    home = tmp_path / "home"
    shutil.copytree(filled, home)
    with serving(home, "--dataset", "small", "--timeout", "120", WORKPROF_TOKEN="secret") as client:
        until_ready(client)
        command = [sys.executable, "-m", "schemathesis.cli", "run", f"{client.base_url}/openapi.json"]
        command += ["--header", "Authorization: Bearer secret", "--checks", ",".join(CHECKS), "--seed", "1"]
        command += ["--max-examples", "20", "--request-timeout", "150", "--no-color", "--workers", "2"]
        done = subprocess.run(
            command, cwd=tmp_path, env=os.environ, capture_output=True, text=True, timeout=3_000, check=False
        )
        assert done.returncode == 0, done.stdout[-8_000:] + done.stderr[-2_000:]
        assert client.get("/healthz").status_code == 200
