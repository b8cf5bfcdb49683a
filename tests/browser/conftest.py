"""A real server on a home of its own, a real Chromium, and a page that remembers everything that went wrong."""

import contextlib
import http.server
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.pages import whole_home
from workprof.core.settings import from_environment
from workprof.workbench import Workbench

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "data" / "sample" / "pai_sample.parquet"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]
LOCAL = ("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:")
PROBES = "/_stcore/"  # on a deep link the front end asks below the page's path first; those answers are 404
STARTUP_S = 240
PATIENCE_MS = 60_000
SETTLED = '[data-testid=stApp][data-test-script-state="notRunning"]'


def pytest_collection_modifyitems(items):
    for item in items:
        if item.nodeid.startswith("tests/browser/"):
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.slow)
            # Two servers and two browsers share two cores: a wait that ran out is tried once more; the summary says so.
            item.add_marker(pytest.mark.flaky(reruns=1, only_rerun="TimeoutError"))


@dataclass
class Server:
    port: int
    home: Path

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"


@contextlib.contextmanager
def running_server(home, **variables):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = os.environ | {"WORKPROF_HOME": str(home), "WORKPROF_DATA": str(home / "data")} | variables
    command = [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={port}", "--server.headless=true"]
    log = (home.parent / f"{home.name}.log").open("wb")
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
    try:
        wait_until_healthy(process, port)
        yield Server(port, home)
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)
        log.close()


def wait_until_healthy(process, port):
    end = time.monotonic() + STARTUP_S
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=10):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise RuntimeError(f"the server did not answer within {STARTUP_S} s (status {process.poll()})")


FRAMING = "http://localhost:*"
"""Where `framed` has its page: for a browser another site than 127.0.0.1, cookies included."""


@contextlib.contextmanager
def framed(page, address):
    """Open a page of another site with an address in a frame; give the frame and what the browser said of it."""
    document = f"<!doctype html><title>other</title><iframe src='{address}' width=1400 height=850></iframe>".encode()

    class OtherSite(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(document)

        def log_message(self, *_):
            pass

    said = []
    page.on("console", lambda message: said.append(message.text))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), OtherSite) as site:
        thread = threading.Thread(target=site.serve_forever)
        thread.start()
        try:
            page.goto(f"http://localhost:{site.server_address[1]}/")
            yield page.frames[-1], said
        finally:
            site.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def chromium():
    """A browser for the tests of one file: while it is open, its event loop is the only one in this thread."""
    if CHROMIUM is None:
        message = "no Chromium: `apt-get install chromium` (or put chromium on PATH) to run the browser tests"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    with running_server(tmp_path_factory.mktemp("browser") / "home") as running:
        yield running


@dataclass(frozen=True)
class Whole:
    """A server over a home with every kind of data, and links to data of which a page can make nothing or little."""

    server: Server
    hashes: whole_home.Hashes
    useless: dict[str, str]


@pytest.fixture(scope="session")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    hashes = whole_home.make(folder, tmp_path_factory)
    useless = useless_data(folder) | {"phases": f"ds={hashes.phases}&phases_run=nobody%2F9"}
    with running_server(folder / "home") as running:
        yield Whole(running, hashes, useless)


def useless_data(folder):
    """Add three jobs of which only the duration is known and one run per node; return the links to them."""
    jobs = folder / "three.csv"
    jobs.write_text("job_name,duration_s\na,1\nb,2\nc,3\n")
    nodes = whole_home.write(folder / "once.jsonl", whole_home.runs_of(whole_home.SPEEDS, 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(folder / "home"))
        with Workbench(from_environment()) as workbench:
            few = f"ds={workbench.ingest([jobs]).hash}"
            return {"jobs": few, "tasks": few, "nodes": f"ds={workbench.ingest([nodes]).hash}"}


@dataclass
class Visitor:
    """One browser session: its page, and what the console and the network said."""

    page: object
    base: str
    troubles: list = field(default_factory=list)

    def watch(self):
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.troubles.append(f"page error: {error}"))
        self.page.on("request", self._request)
        return self

    def open(self, path="/"):
        self.page.goto(self.base + path)
        return self.settle()

    def settle(self):
        for _ in range(2):
            self.page.wait_for_selector(SETTLED, timeout=PATIENCE_MS)
            self.page.wait_for_timeout(400)
        assert self.page.locator("[data-testid=stException]").count() == 0
        return self

    def button(self, name):
        return self.page.get_by_role("button", name=name, exact=True).first

    def import_file(self, path):
        """Drop a file on the Data page and start its import; a button that is still moving gets no click."""
        if not self.button("Import").is_visible():
            self.page.get_by_text("Import a trace").first.click()
            self.button("Import").wait_for()
        self.page.locator("[data-testid=stFileUploaderDropzoneInput]").set_input_files(str(path))
        self.page.get_by_test_id("stFileChip").first.wait_for(timeout=PATIENCE_MS)
        self.settle()
        self.button("Import").click(timeout=PATIENCE_MS)

    def copied_link(self):
        """Press Copy link and return what is on the clipboard."""
        self.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        self.button("Copy link").click()
        self.button("Copied").wait_for()
        return self.page.evaluate("navigator.clipboard.readText()")

    def wide(self):
        """Return by how many pixels the page is wider than its window."""
        script = "(main => main.scrollWidth - main.clientWidth)(document.querySelector('[data-testid=stMain]'))"
        return self.page.evaluate(script)

    def _console(self, message):
        if message.type == "error" and PROBES not in message.location.get("url", ""):
            self.troubles.append(f"console: {message.text}")

    def _request(self, request):
        if not request.url.startswith(LOCAL):
            self.troubles.append(f"request leaves the machine: {request.url}")


@pytest.fixture
def visitors(chromium):
    """Return a function that opens browser sessions; at the end none may have met trouble."""
    opened = []

    def visit(server, *, width=1440, height=900, dark=False):
        context = chromium.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
        )
        visitor = Visitor(context.new_page(), server.url).watch()
        context.set_default_timeout(20_000)
        opened.append((context, visitor))
        return visitor

    yield visit
    for context, _ in opened:
        context.close()
    assert [trouble for _, visitor in opened for trouble in visitor.troubles] == []
