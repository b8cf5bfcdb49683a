"""The service as `workprof serve --api` runs it: a process of its own."""

import contextlib
import os
import signal
import subprocess
import sys

import httpx

from tests.service.conftest import PATIENCE_S, until_ready
from workprof.nodes.processes import free_port


def start(home, port, *options, **environment):
    command = [sys.executable, "-m", "workprof.cli", "serve", "--api", "--port", str(port), *options]
    return subprocess.Popen(
        command, env=os.environ | {"WORKPROF_HOME": str(home)} | environment, stderr=subprocess.DEVNULL
    )


@contextlib.contextmanager
def serving(home, *options, ready="/readyz", **environment):
    """Yield a client of a service that is ready."""
    port = free_port()
    server = start(home, port, *options, **environment)
    token = environment.get("WORKPROF_TOKEN")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=60) as client:
            until_ready(client, ready)
            client.server_pid = server.pid
            yield client
    finally:
        server.send_signal(signal.SIGTERM)
        status = server.wait(PATIENCE_S)
        assert status in (0, -signal.SIGTERM), f"the service ended with {status}"
