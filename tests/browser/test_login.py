"""The optional login with a real provider on loopback, a real server and a real browser."""

import base64
import contextlib
import json
import os
import re
import socket
import subprocess
import sys

import pandas as pd
import pytest

from tests.browser.conftest import PATIENCE_MS, ROOT, SAMPLE, Server, wait_until_healthy
from tests.browser.oidc_provider import CLIENT, SECRET, running_provider
from workprof.core.settings import Settings
from workprof.store.reports import IngestOptions
from workprof.workbench import Workbench

NAME = "notforeverybody"
VISITOR = {"name": "Some Visitor", "email": "User@Example.org", "email_verified": True}
STRANGERS = [
    ({"email": "stranger@nottrusted.example", "email_verified": True}, "not on the list"),
    ({"email": "stranger@trusted.example", "email_verified": False}, "has not verified"),
]
ALLOWED = {"WORKPROF_LOGIN": "1", "WORKPROF_LOGIN_ALLOW": "user@example.org, @trusted.example"}


@pytest.fixture(scope="module")
def provider():
    with running_provider() as running:
        yield running


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Return a home with one small dataset, and the texts that a stranger must never be sent."""
    folder = tmp_path_factory.mktemp("login")
    trace = folder / "trace.parquet"
    pd.read_parquet(SAMPLE).head(400).to_parquet(trace)
    with Workbench(Settings(home=folder / "home", data=folder)) as workbench:
        report = workbench.ingest([trace], IngestOptions(name=NAME))
    return folder / "home", report.hash


@contextlib.contextmanager
def locked_server(home, provider, **variables):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    values = {
        "redirect_uri": f"http://127.0.0.1:{port}/oauth2callback",
        "cookie_secret": "0123456789abcdef0123456789abcdef",
        "client_id": CLIENT,
        "client_secret": SECRET,
        "server_metadata_url": f"{provider.url}/.well-known/openid-configuration",
    }
    secrets = home.parent / f"secrets-{port}.toml"
    secrets.write_text("[auth]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in values.items()))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WORKPROF_")}
    environment |= {"WORKPROF_HOME": str(home), "WORKPROF_DATA": str(home.parent), **variables}
    command = [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={port}", "--server.headless=true"]
    with (home.parent / f"{port}.log").open("wb") as log:
        process = subprocess.Popen(
            [*command, f"--secrets.files={secrets}"], cwd=ROOT, env=environment, stdout=log, stderr=log
        )
        try:
            wait_until_healthy(process, port)
            yield Server(port, home)
        finally:
            process.kill()
            process.wait(30)


@pytest.fixture(scope="module")
def locked(home, provider):
    with locked_server(home[0], provider, **ALLOWED) as server:
        yield server


@pytest.fixture
def overheard(visitors):
    """Return a function that opens a visitor and the list of everything that the server sends it by websocket."""

    def visit(server):
        visitor = visitors(server)
        heard = []
        visitor.page.on(
            "websocket", lambda socket: socket.on("framereceived", lambda frame: heard.append(as_bytes(frame)))
        )
        return visitor, heard

    return visit


def as_bytes(frame):
    return frame.encode() if isinstance(frame, str) else frame


def told(heard, home):
    """Return which of the house's own texts a visitor was sent."""
    everything = b"".join(heard)
    assert everything  # the ear is at the right wall
    return [text for text in (NAME, home[1], "Datasets", "profiles of jobs") if text.encode() in everything]


def press(visitor, name):
    """Press a button that sends the browser to the provider and back, and wait for the document that comes then."""
    visitor.page.evaluate("window.before = true")
    visitor.button(name).click(timeout=PATIENCE_MS)
    visitor.page.wait_for_function("window.before === undefined", timeout=PATIENCE_MS)
    return visitor.settle()


def see(visitor, text):
    visitor.page.get_by_text(text).first.wait_for(timeout=PATIENCE_MS)


@pytest.mark.soak
def test_a_stranger_on_a_cold_server_sees_the_login_and_nothing_else(home, provider, overheard):
    with locked_server(home[0], provider, **ALLOWED) as server:
        visitor, heard = overheard(server)
        visitor.open(f"/data?ds={home[1]}")  # first request ever: Streamlit runs pages/data.py without app.py
        see(visitor, "Please log in to use this server.")
        assert visitor.page.get_by_role("link", name="Profiles").count() == 0
        assert told(heard, home) in ([], [home[1]])  # the hash stands in the stranger's own address
        stranger, heard = overheard(server)
        stranger.open("/help?help_tab=Diagnostics")
        see(stranger, "Please log in to use this server.")
        assert told(heard, home) == []


@pytest.mark.soak
def test_login_goes_where_the_link_led_and_logout_ends_it(home, provider, locked, overheard):
    provider.is_now(**VISITOR)
    visitor, heard = overheard(locked)
    visitor.open(f"/data?ds={home[1]}&data_tab=Columns")
    see(visitor, "Please log in to use this server.")
    press(visitor, "Log in")
    see(visitor, "Logged in as Some Visitor")
    see(visitor, re.compile(NAME))
    assert "/data?" in visitor.page.url
    assert home[1] in visitor.page.url
    assert "data_tab=Columns" in visitor.page.url
    assert NAME in told(heard, home)
    visitor.open("/runs")  # the cookie holds for every page and tab of this browser
    see(visitor, "Logged in as Some Visitor")
    press(visitor, "Log out")
    see(visitor, "Please log in to use this server.")
    assert "/end" in provider.asked
    heard.clear()
    visitor.open("/data")
    see(visitor, "Please log in to use this server.")
    assert told(heard, home) == []


@pytest.mark.soak
def test_who_is_not_meant_is_refused(home, provider, locked, overheard):
    visitor, heard = overheard(locked)
    visitor.open("/data?data_tab=Columns")
    for claims, words in STRANGERS:
        provider.is_now(name="A Stranger", **claims)
        press(visitor, "Log in")
        see(visitor, re.compile(words))
        assert visitor.page.get_by_role("link", name="Profiles").count() == 0
        press(visitor, "Log out")
        see(visitor, "Please log in to use this server.")
    assert told(heard, home) == []
    provider.is_now(name="Another Visitor", email="other@trusted.example", email_verified=True)
    press(visitor, "Log in")
    see(visitor, "Logged in as Another Visitor")


@pytest.mark.soak
def test_an_old_login_is_asked_for_again(home, provider, locked, overheard):
    provider.is_now(**VISITOR)
    provider.iat_age_s = 12 * 3600 + 60
    visitor, heard = overheard(locked)
    try:
        visitor.open("/")
        press(visitor, "Log in")
    finally:
        provider.iat_age_s = 0.0
    see(visitor, re.compile("older than 12 hours"))
    assert told(heard, home) == []
    press(visitor, "Log in")
    see(visitor, "Logged in as Some Visitor")


@pytest.mark.soak
def test_a_forged_cookie_opens_nothing(home, locked, overheard):
    visitor, heard = overheard(locked)
    visitor.open("/")
    claims = json.dumps({**VISITOR, "is_logged_in": True, "origin": locked.url, "iat": 4_000_000_000})
    forged = base64.b64encode(claims.encode()).decode()
    visitor.page.context.add_cookies([{"name": "_streamlit_user", "value": forged, "url": locked.url}])
    visitor.open("/data")
    see(visitor, "Please log in to use this server.")
    assert told(heard, home) == []
