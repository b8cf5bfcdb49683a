"""One home for several processes: commands beside a server; whoever dies frees it; what may not be written is read.

Real servers and commands; the app's own page is asked through Streamlit's test driver.
"""

import contextlib
import json
import os
import re
import signal
import stat
import subprocess
import sys
import urllib.request
from pathlib import Path

import psutil
import pytest
import streamlit as st  # noqa: TID251  the app's own page
from streamlit.testing.v1 import AppTest  # noqa: TID251

from pages._frame import visit
from tests.faults.soundness import bytes_below, until
from tests.faults.works import write_trace
from workprof.core import settings
from workprof.nodes.processes import free_port
from workprof.store.home import LOCK

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 120


@pytest.fixture
def home(tmp_path, forks):
    """A home with a dataset in it."""
    folder = tmp_path / "home"
    ended = forks.workprof(tmp_path / "io", "ingest", write_trace(tmp_path / "kept.csv", 2000), "--home", folder)
    assert ended.status == 0, ended.err
    return folder


@pytest.fixture
def run(forks, home, tmp_path):
    def command(*arguments, **how):
        return forks.workprof(tmp_path / "io", *arguments, "--home", home, **how)

    return command


def answers(port):
    with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=5):
        return True
    return False


@contextlib.contextmanager
def serving(home):
    """Run `workprof serve` until it answers; nothing of it is left afterwards."""
    port = free_port()
    command = [sys.executable, "-m", "workprof", "serve", "--port", str(port), "--home", str(home)]
    server = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
    family = [psutil.Process(server.pid)]
    try:
        until(lambda: answers(port) or server.poll() is not None, patience_s=PATIENCE_S)
        assert server.poll() is None
        family += family[0].children(recursive=True)
        yield server, family
    finally:
        for process in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        server.wait(PATIENCE_S)


@pytest.mark.soak
def test_commands_beside_a_server_read_and_write_and_a_killed_server_leaves_nothing_running(home, run, tmp_path):
    with serving(home) as (server, family):
        assert len(family) == 2
        for command in (("datasets",), ("runs", "--json"), ("memory", "assess", "kept")):
            assert run(*command).status == 0
        assert run("ingest", write_trace(tmp_path / "more.csv", 500)).status == 0
        assert run("rename", "more", "later").status == 0
        server.send_signal(signal.SIGKILL)
        server.wait(PATIENCE_S)
        until(lambda: not any(process.is_running() for process in family[1:]), patience_s=PATIENCE_S)
    assert {row["dataset"] for row in json.loads(run("datasets", "--json").out)} == {"kept", "later"}


WRITES = """
import sys
from workprof import Workbench, from_environment
with Workbench(from_environment()) as workbench, workbench._store.writing():
    print("writes", flush=True)
    sys.stdin.read()
"""


@contextlib.contextmanager
def writing(home):
    """Run a process that writes for as long as the body takes."""
    pipe, environment = subprocess.PIPE, os.environ | {"WORKPROF_HOME": str(home)}
    command = [sys.executable, "-c", WRITES]
    writer = subprocess.Popen(command, cwd=ROOT, env=environment, stdin=pipe, stdout=pipe, text=True)
    try:
        assert writer.stdout.readline() == "writes\n"
        yield writer
    finally:
        writer.kill()
        writer.communicate()


def test_a_command_beside_one_that_writes_ends_with_the_status_for_busy(home, run):
    with writing(home) as writer:
        for command in (("memory", "assess", "kept"), ("rename", "kept", "other")):
            ended = run(*command, "--wait", "0.2")
            assert (ended.status, ended.out) == (75, "")
            expected = f"workprof: home {home} is in use by process {writer.pid} .*--wait SECONDS.*--home DIR"
            assert re.fullmatch(expected, ended.err.strip()), ended.err
    assert run("rename", "kept", "other", "--wait", "20").status == 0


def test_the_app_beside_a_command_that_writes_is_a_friendly_page_until_it_is_killed(home, monkeypatch):
    monkeypatch.setenv("WORKPROF_HOME", str(home))
    monkeypatch.setattr(settings, "DEFAULT_WAIT_S", 0.2)
    monkeypatch.setattr(
        settings.Settings.__init__, "__defaults__", (*settings.Settings.__init__.__defaults__[:-1], 0.2)
    )
    st.cache_resource.clear()
    with writing(home) as writer:
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE_S).run()
        assert not app.exception
        assert [title.value for title in app.title] == ["The home folder is in use"]
        (warning,) = [item.value for item in app.warning]
        assert f"process {writer.pid} " in warning
        assert "home DIR" in warning
    (again,) = [button for button in app.button if button.label == "Try again"]
    again.click().run()
    assert not app.exception
    assert "The home folder is in use" not in [title.value for title in app.title]
    st.cache_resource.clear()


def test_a_lock_file_of_any_content_holds_nobody_up(home, run):
    for left in (b"1", b"999999999", b"\xff\xfe\x00", b"", str(os.getpid()).encode()):
        (home / LOCK).write_bytes(left)
        assert run("datasets").status == 0


@contextlib.contextmanager
def unwritable(folder):
    """Take away the right to write everywhere below a folder."""
    places = [folder, *folder.rglob("*")]
    modes = {place: stat.S_IMODE(place.stat().st_mode) for place in places}
    for place, mode in modes.items():
        place.chmod(mode & ~0o222)
    try:
        yield
    finally:
        for place, mode in modes.items():
            place.chmod(mode)


QUESTION = ("memory", "replay", "kept", "--policies", "p95", "--json")
KEEPS_NOTHING = {"WORKPROF_READONLY": "1"}


@pytest.mark.soak
def test_a_home_that_may_not_be_written_says_so_and_shows_what_it_holds_when_asked_to_read(home, run, tmp_path):
    kept = json.loads(run(*QUESTION).out)
    runs = json.loads(run("runs", "--json").out)
    before = bytes_below(home)
    with unwritable(home):
        ended = run("datasets", powerless=True)
        assert ended.status == 2
        assert re.search(r"home .* cannot be used \(.*\); give another with --home .*WORKPROF_READONLY=1", ended.err)
        shown = {
            command: run(*command, powerless=True, **KEEPS_NOTHING)
            for command in (("datasets", "--json"), ("runs", "--json"), QUESTION)
        }
        other = run("memory", "assess", "kept", "--json", powerless=True, **KEEPS_NOTHING)
        written = run("export", "kept", "-o", tmp_path / "out.csv", powerless=True, **KEEPS_NOTHING)
        refused = run("ingest", tmp_path / "kept.csv", powerless=True, **KEEPS_NOTHING)
    assert [ended.status for ended in shown.values()] == [0, 0, 0], shown
    assert [one["dataset"] for one in json.loads(shown["datasets", "--json"].out)] == ["kept"]
    assert json.loads(shown["runs", "--json"].out) == runs
    assert json.loads(shown[QUESTION].out) == kept
    assert other.status == 0
    assert json.loads(other.out)["tasks"]
    assert "is shown, but could not be kept" in other.err
    assert (written.status, refused.status) == (2, 2)
    assert "cannot be used" in written.err
    assert "WORKPROF_READONLY is set" in refused.err
    assert not (tmp_path / "out.csv").exists()
    assert {name: hashed for name, hashed in bytes_below(home).items() if name != LOCK}.items() <= before.items()


def test_a_home_below_a_folder_that_may_not_be_written_says_so(forks, tmp_path):
    parent = tmp_path / "closed"
    parent.mkdir()
    with unwritable(parent):
        ended = forks.workprof(tmp_path / "io", "datasets", "--home", parent / "home", powerless=True)
    assert ended.status == 2
    assert re.search(r"workprof: home .* cannot be used \(.*Permission denied.*\); give another with --home", ended.err)


def test_the_app_tells_that_its_home_cannot_be_used(tmp_path, monkeypatch):
    """A file is in the place of the home: that stops root, too."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("WORKPROF_HOME", str(tmp_path / "file"))
    st.cache_resource.clear()
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE_S).run()
    assert not app.exception
    assert any("cannot be used" in item.value for item in app.error)
    st.cache_resource.clear()


def test_the_app_says_that_a_result_could_not_be_kept(home, monkeypatch):
    (home / "cache").rmdir()
    (home / "cache").write_text("", encoding="utf-8")  # a folder that cannot be written, for root too
    monkeypatch.setenv("WORKPROF_HOME", str(home))
    st.cache_resource.clear()
    workbench = visit.open_home().workbench
    assert workbench.assessment("kept").tasks
    assert workbench.assessment("kept") is workbench.assessment("kept")
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE_S).run()
    assert not app.exception
    (warning,) = [item.value for item in app.sidebar.warning]
    assert "is shown, but could not be kept" in warning
    st.cache_resource.clear()
