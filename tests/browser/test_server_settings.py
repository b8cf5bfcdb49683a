"""What a server of ours answers to strangers on the network, however it was started."""

import asyncio
import contextlib
import http.client
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass

import psutil
import pytest

from tests.browser.conftest import ROOT, STARTUP_S, wait_until_healthy
from tests.cut_off import CutOff
from tests.load.visitor import opened
from workprof.nodes.processes import free_port

EVIL = "http://evil.example"
UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
}


STARTS = {  # and `workprof demo`, which computes for a while first: tests/cli/test_demo.py
    "streamlit run": ("streamlit", "run", str(ROOT / "app.py"), "--server.port={port}"),
    "workprof serve": ("workprof", "serve", "--port", "{port}"),
}


@dataclass(frozen=True)
class Started:
    process: psutil.Process
    port: int
    cut_off: CutOff

    def family(self):
        return [self.process, *self.process.children(recursive=True)]

    @contextlib.contextmanager
    def answer(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            connection.request(method, path, body, named)
            yield connection.getresponse()
        finally:
            connection.close()


@contextlib.contextmanager
def started(folder, how):
    """Run a server that was started from another folder, with nothing but what a user types, and is cut off."""
    port = free_port()
    cut_off = CutOff(folder / "record")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("WORKPROF_", "STREAMLIT_"))}
    environment = kept | {"WORKPROF_HOME": str(folder / "home")} | cut_off.variables
    command = [sys.executable, "-m", *(word.format(port=port) for word in STARTS[how])]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
        try:
            wait_until_healthy(process, port)
            yield Started(psutil.Process(process.pid), port, cut_off)
        finally:
            process.terminate()
            process.wait(30)


@pytest.fixture(scope="module", params=STARTS)
def server(request, tmp_path_factory):
    with started(tmp_path_factory.mktemp("elsewhere"), request.param) as running:
        yield running


@pytest.mark.some(1)
def test_it_listens_on_loopback_only(server):
    found = [
        one.laddr for member in server.family() for one in member.net_connections("inet") if one.status == "LISTEN"
    ]
    assert {address.port for address in found} == {server.port}
    assert {address.ip for address in found} == {"127.0.0.1"}


FOREIGN = (EVIL, f"{EVIL}:8501", "http://localhost:1", "https://x.streamlit.app", "null", "http://[", "")


def test_a_foreign_page_is_told_nothing_and_gets_no_session(server):
    own = f"http://127.0.0.1:{server.port}"
    for origin in FOREIGN:
        for path in ("/", "/_stcore/health", "/_stcore/host-config"):
            with server.answer("GET", path, Origin=origin) as got:
                assert got.headers.get("Access-Control-Allow-Origin") is None
        with server.answer("GET", "/_stcore/stream", Origin=origin, **UPGRADE) as got:
            assert got.status == 403
        for method in ("OPTIONS", "PUT", "DELETE"):
            with server.answer(method, "/_stcore/upload_file/session/file", Origin=origin) as got:
                assert got.status == (204 if method == "OPTIONS" else 403)
                assert got.headers.get("Access-Control-Allow-Origin") in {None, own}
    with server.answer("GET", "/_stcore/stream", Origin=own, **UPGRADE) as got:
        assert got.status == 101


def test_no_other_machine_is_asked_anything(server):
    """Not while it starts, not by a visit, and not because another site's page knocks, at any door."""
    for origin in FOREIGN:
        for path in ("/", "/_stcore/stream", "/_stcore/health", "/_stcore/upload_file/session/file"):
            with server.answer("GET", path, Origin=origin, **(UPGRADE if "stream" in path else {})) as got:
                got.read()
        with server.answer("PUT", "/_stcore/upload_file/session/file", Origin=origin) as got:
            got.read()
    asyncio.run(visited(server.port))
    assert {member.pid for member in server.family()} <= server.cut_off.watched()
    assert server.cut_off.tries() == []


async def visited(port):
    async with opened(port, "a visitor"):
        pass


def test_a_server_for_every_address_asks_nobody_for_its_own(tmp_path):
    """In a network of its own, which nothing leads out of or into."""
    alone = ["unshare", "--map-root-user", "--net"]
    if subprocess.run([*alone, "true"], check=False, capture_output=True).returncode:
        pytest.skip("no network of its own may be made for a process here; the servers on loopback are watched")
    cut_off, options = CutOff(tmp_path / "record"), ("--server.address=0.0.0.0", f"--server.port={free_port()}")
    command = [*alone, sys.executable, "-m", "streamlit", "run", str(ROOT / "app.py"), *options]
    environment = os.environ | {"WORKPROF_HOME": str(tmp_path / "home")} | cut_off.variables
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert any("http://" in line for line in process.stdout), "it says where it is, and then listens"
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()
    assert cut_off.watched()
    assert cut_off.tries() == []


def test_no_other_host_may_steer_the_pages(server):
    with server.answer("GET", "/_stcore/host-config") as got:
        told = json.loads(got.read())
    assert told["allowedOrigins"] == []
    assert not any(told[name] for name in ("useExternalAuthToken", "enableCustomParentMessages", "metricsUrl"))


ENDPOINTS = (
    ("GET", "/", 200),
    ("HEAD", "/", 200),
    ("GET", "/profiles?ds=0", 200),
    ("GET", "/index.html", 200),
    ("GET", "/static/js/nothing.js", 200),
    ("GET", "/_stcore/health", 200),
    ("OPTIONS", "/_stcore/health", 204),
    ("GET", "/_stcore/host-config", 200),
    ("GET", "/_stcore/metrics", 200),
    ("GET", "/media/nothing.png", 404),
    ("GET", "/component/nothing/index.html", 404),
    ("GET", "/_stcore/bidi-components/nothing/a.js", 404),
    ("OPTIONS", "/_stcore/upload_file/session/file", 204),
    ("PUT", "/_stcore/upload_file/session/file", 403),
    ("PUT", "/", 405),
    ("GET", "/%2e%2e/app.py", 400),
)


def test_every_answer_says_that_no_other_site_may_frame_it(server):
    asked = list(ENDPOINTS)
    with server.answer("GET", "/") as got:
        asked += [("GET", f"/{path}", 200) for path in sorted(set(re.findall(r"static/[\w./-]+", got.read().decode())))]
    assert len(asked) > len(ENDPOINTS) + 1
    for method, path, status in asked:
        with server.answer(method, path) as got:
            assert (method, path, got.status) == (method, path, status)
            assert got.headers.get_all("Content-Security-Policy") == ["frame-ancestors 'self'"]
            assert got.headers.get_all("X-Content-Type-Options") == ["nosniff"]


@pytest.mark.parametrize("token", [{}, {"X-Xsrftoken": "2|00000000|" + "00" * 16 + "|1"}])
def test_an_upload_without_the_cookies_token_is_refused(server, token):
    for method in ("PUT", "DELETE"):
        with server.answer(method, "/_stcore/upload_file/session/file", **token) as got:
            assert got.status == 403


def test_the_interface_for_agents_and_the_sources_are_not_served(server):
    with server.answer("POST", "/_stcore/agent/interact") as got:
        assert got.status in {403, 404, 405}
    for path in (
        "/app.py",
        "/pages/home.py",
        "/.streamlit/config.toml",
        "/../app.py",
        "/static/../app.py",
        "/app/static/x",
    ):
        with server.answer("GET", path) as got:
            assert b"st.set_page_config" not in got.read()


@pytest.mark.some(1)
@pytest.mark.parametrize("how", STARTS)
def test_a_server_that_would_not_know_who_may_frame_it_does_not_start(tmp_path, how):
    command = [sys.executable, "-m", *(word.format(port=free_port()) for word in STARTS[how])]
    environment = os.environ | {"WORKPROF_HOME": str(tmp_path / "home"), "WORKPROF_FRAME_ANCESTORS": "*"}
    options = {"cwd": tmp_path, "env": environment, "capture_output": True, "text": True, "timeout": STARTUP_S}
    ended = subprocess.run(command, check=False, **options)
    assert ended.returncode in {1, 2}
    assert "workprof: WORKPROF_FRAME_ANCESTORS has '*'; give origins like" in ended.stderr
    assert "Traceback" not in ended.stderr
