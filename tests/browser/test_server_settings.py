"""What a server of ours answers to strangers on the network, however it was started."""

import contextlib
import http.client
import os
import socket
import subprocess
import sys

import psutil
import pytest

from tests.browser.conftest import ROOT, wait_until_healthy

EVIL = "http://evil.example"
UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server that was started from another folder, with nothing but the name of the file."""
    folder = tmp_path_factory.mktemp("elsewhere")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("WORKPROF_", "STREAMLIT_"))}
    command = [sys.executable, "-m", "streamlit", "run", str(ROOT / "app.py"), f"--server.port={port}"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=folder, env=kept | {"WORKPROF_HOME": str(folder / "home")}, stdout=log, stderr=log
        )
        try:
            wait_until_healthy(process, port)
            yield process, port
        finally:
            process.kill()
            process.wait(30)


@contextlib.contextmanager
def answer(server, method, path, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server[1], timeout=60)
    try:
        connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        yield connection.getresponse()
    finally:
        connection.close()


def test_it_listens_on_loopback_only(server):
    listening = [one.laddr for one in psutil.Process(server[0].pid).net_connections("inet") if one.status == "LISTEN"]
    assert {address.port for address in listening} == {server[1]}
    assert {address.ip for address in listening} == {"127.0.0.1"}


def test_a_foreign_page_is_told_nothing_and_gets_no_session(server):
    for path in ("/", "/_stcore/health", "/_stcore/host-config"):
        with answer(server, "GET", path, Origin=EVIL) as got:
            assert got.headers.get("Access-Control-Allow-Origin") is None
    with answer(server, "GET", "/_stcore/stream", Origin=EVIL, **UPGRADE) as got:
        assert got.status == 403
    with answer(server, "GET", "/_stcore/stream", Origin=f"http://127.0.0.1:{server[1]}", **UPGRADE) as got:
        assert got.status == 101


@pytest.mark.parametrize("token", [{}, {"X-Xsrftoken": "2|00000000|" + "00" * 16 + "|1"}])
def test_an_upload_without_the_cookies_token_is_refused(server, token):
    for method in ("PUT", "DELETE"):
        with answer(server, method, "/_stcore/upload_file/session/file", **token) as got:
            assert got.status == 403


def test_the_interface_for_agents_and_the_sources_are_not_served(server):
    with answer(server, "POST", "/_stcore/agent/interact") as got:
        assert got.status in {403, 404, 405}
    for path in (
        "/app.py",
        "/pages/home.py",
        "/.streamlit/config.toml",
        "/../app.py",
        "/static/../app.py",
        "/app/static/x",
    ):
        with answer(server, "GET", path) as got:
            assert b"st.set_page_config" not in got.read()
