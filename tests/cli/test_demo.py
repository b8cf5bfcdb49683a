"""The demo starts, says where, answers, and leaves nothing behind when it is stopped."""

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import psutil
import pytest

from tests.command_line import run_process
from tests.cut_off import CutOff
from tests.pages import toured_home
from workprof.core.settings import from_environment
from workprof.nodes.processes import free_port
from workprof.report.tour import missing
from workprof.workbench import JOBS, Workbench

ROOT = Path(__file__).parents[2]
STARTUP_S = 600
"""The first start on an empty home computes all that the tour shows."""


def answers(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=2) as response:
            return response.read() == b"ok"
    except OSError:
        return False


def status_for_a_foreign_page(port):
    """Return how a web socket of another site's page is answered."""
    asked = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        key = {"Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==", "Origin": "http://evil.example"}
        connection.request("GET", "/_stcore/stream", headers=asked | key)
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def almost_toured(home, tmp_path_factory):
    """A home that an earlier start left, without one of the results that the tour shows."""
    jobs = toured_home.make(home, tmp_path_factory)[JOBS]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(home))
        with Workbench(from_environment()) as workbench:
            assert workbench._cache.remove(workbench.replay.key(jobs))
            assert missing(workbench, jobs) == ("the replay of sizing policies",)


@pytest.mark.slow
@pytest.mark.usefixtures("almost_toured")
def test_demo_makes_what_is_missing_shares_its_home_and_stops(run_workprof, home, tmp_path):
    started_and_stopped(signal.SIGINT, run_workprof, home, tmp_path)


@pytest.mark.soak
def test_demo_starts_on_an_empty_home(run_workprof, home, tmp_path):
    started_and_stopped(signal.SIGTERM, run_workprof, home, tmp_path)


def started_and_stopped(how, run_workprof, home, tmp_path):
    port, cut_off = free_port(), CutOff(tmp_path / "record")
    log = tmp_path / "log"
    with log.open("wb") as stream:
        demo = subprocess.Popen(
            [sys.executable, "-m", "workprof", "demo", "--no-browser", "--port", str(port)],
            env=os.environ | {"WORKPROF_HOME": str(home)} | cut_off.variables,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
        )
    try:
        end = time.monotonic() + STARTUP_S
        while not answers(port) and time.monotonic() < end:
            assert demo.poll() is None, log.read_text()
            time.sleep(0.3)
        assert answers(port), log.read_text()
        while "tour: " not in log.read_text() and time.monotonic() < end:
            assert demo.poll() is None, log.read_text()
            time.sleep(0.3)
        beside = run_workprof("datasets", "--json", home=home)
        assert JOBS in {one["kind"] for one in beside.json}
        family = psutil.Process(demo.pid).children(recursive=True)
        assert status_for_a_foreign_page(port) == 403
        assert {member.pid for member in family} <= cut_off.watched()
        assert cut_off.tries() == []
        demo.send_signal(how)
        assert demo.wait(15) == 0
    finally:
        demo.kill()
        demo.wait()
    assert f"http://127.0.0.1:{port}" in log.read_text()
    assert "could not be made" not in log.read_text()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(home))
        with Workbench(from_environment()) as workbench:
            (jobs,) = (one.hash for one in workbench.datasets() if one.kind == JOBS)
            assert missing(workbench, jobs) == ()  # the tour's first stop is there at once
    assert not [member for member in family if member.is_running() and member.status() != psutil.STATUS_ZOMBIE]
    assert not answers(port)


def test_a_taken_port_is_refused_before_anything_is_loaded(run_workprof, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        refused = run_workprof("demo", "--no-browser", "--port", taken.getsockname()[1], home=tmp_path / "home")
    assert refused.status == 2
    assert "--port" in refused.err
    assert not (tmp_path / "home").exists()


@pytest.mark.soak
def test_check_opens_every_page(tmp_path):
    checked = run_process("demo", "--check", home=tmp_path / "home")
    assert checked.status == 0, checked.err
    opened = re.findall(r"ok {2,}(\w+)", checked.err)  # DuckDB may tell of leaks before, without a new line
    assert opened[:3] == ["Home", "Data", "Profiles"]


def test_make_demo_is_workprof_demo():
    # Started by make itself, an inner make also prints that it enters and leaves a directory.
    make = ["make", "--no-print-directory", "-n", "demo"]
    printed = subprocess.run(make, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert printed.splitlines()[-1] == "exec .venv/bin/workprof demo"
