"""The gate in a real browser: the form, the page that was wanted, one's role, pseudonyms, and the way out."""

import time

import httpx
import pandas as pd
import pytest

from pages._frame.visit import VIEWERS
from tests.browser.conftest import PATIENCE_MS, running_server
from tests.browser.test_login import as_bytes
from tests.store.test_pseudonyms import NAMES, found, trace
from workprof.core.settings import Settings
from workprof.store.reports import IngestOptions
from workprof.store.users import Users
from workprof.workbench import Workbench

GOOD = "correct horse battery"


@pytest.fixture(scope="module")
def gated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gate")
    assert isinstance(trace(folder / "runs.csv"), pd.DataFrame)
    with Workbench(Settings(home=folder / "home", data=folder)) as bench:
        bench.ingest([folder / "runs.csv"], IngestOptions(name="runs"))
    users = Users(folder / "home")
    users.add("vera", "viewer", GOOD)
    users.add("ann", "admin", GOOD)
    with running_server(folder / "home", WORKPROF_PSEUDONYMS="1") as server:
        yield server


def log_in(page, name, password=GOOD):
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in").click(timeout=PATIENCE_MS)


def test_a_viewer_logs_in_sees_no_name_and_logs_out(chromium, gated):
    context = chromium.new_context()
    page, heard = context.new_page(), []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: heard.append(as_bytes(frame))))
    page.goto(f"{gated.url}/data?ds=runs&data_tab=Preview")
    assert heard == []
    log_in(page, "vera", "wrong password")
    page.get_by_role("alert").wait_for(timeout=PATIENCE_MS)
    log_in(page, "vera")
    page.get_by_text("Logged in as vera, viewer").wait_for(timeout=PATIENCE_MS)
    assert "data_tab=Preview" in page.url
    page.get_by_text(VIEWERS.removesuffix(".")).first.wait_for(timeout=PATIENCE_MS)
    ends = time.monotonic() + PATIENCE_MS / 1000
    while b"user-" not in b"".join(heard) and time.monotonic() < ends:  # rows are sent below those words, and later
        page.wait_for_timeout(100)
    sent = b"".join(heard)
    assert b"user-" in sent
    assert found(sent) == []
    page.get_by_text("Log out").click(timeout=PATIENCE_MS)
    page.get_by_label("Password").wait_for(timeout=PATIENCE_MS)
    page.goto(f"{gated.url}/data")
    page.get_by_label("Password").wait_for(timeout=PATIENCE_MS)
    context.close()


@pytest.mark.soak
def test_an_admin_sees_names_and_who_came_in(chromium, gated):
    context = chromium.new_context()
    page, heard = context.new_page(), []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: heard.append(as_bytes(frame))))
    page.goto(f"{gated.url}/data?ds=runs&data_tab=Preview")
    log_in(page, "ann")
    page.get_by_text("Logged in as ann, admin").wait_for(timeout=PATIENCE_MS)
    page.get_by_text("Who did what").first.wait_for(timeout=PATIENCE_MS)
    sent = b"".join(heard)
    assert NAMES[0] in found(sent)
    assert b"logged in" in sent
    context.close()


@pytest.mark.some(1)
@pytest.mark.parametrize(("proxy", "status"), [("10.0.0.5", 401), ("127.0.0.1", 200)])
def test_the_peer_is_who_is_connected_whatever_is_forwarded(tmp_path, proxy, status):
    with Workbench(Settings(home=tmp_path / "home", data=tmp_path)):
        pass
    claims = {"X-Remote-User": "ann", "X-Forwarded-For": "10.0.0.5", "X-Forwarded-Proto": "https"}
    named = {"WORKPROF_PROXY_HEADER": "X-Remote-User", "WORKPROF_PROXY_FROM": proxy, "FORWARDED_ALLOW_IPS": ""}
    with running_server(tmp_path / "home", **named) as server:
        assert httpx.get(server.url, headers=claims).status_code == status
        assert httpx.get(server.url).status_code == 401
