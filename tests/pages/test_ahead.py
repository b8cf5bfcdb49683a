"""What is loaded before the first visitor comes: every module of the pages, and the scripts that a document names."""

import asyncio
import contextlib
import subprocess
import sys
import threading
from pathlib import Path
from unittest.mock import patch

import streamlit
import streamlit as st

from pages._frame import ahead
from pages._frame.visit import SAMPLES, open_home
from workprof.store.trace_store import TraceStore

ROOT = Path(__file__).parents[2]
STATIC = Path(streamlit.__file__).parent / "static"


def answered(kind, app=ahead.Ahead):
    """Return the headers of an answer of a kind of content."""

    async def answers(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", kind)]})
        await send({"type": "http.response.body", "body": b"x"})

    sent = []

    async def send(message):
        sent.append(message)

    asyncio.run(app(answers)({"type": "http"}, None, send))
    assert sent[1] == {"type": "http.response.body", "body": b"x"}
    return dict(sent[0]["headers"])


def test_a_document_names_the_scripts_that_streamlit_has():
    named = answered(b"text/html; charset=utf-8")[b"link"].decode()
    assert len(ahead.scripts()) == len(ahead.SCRIPTS)
    for address in ahead.scripts():
        assert f'<{address}>; rel="modulepreload"' in named
        assert (STATIC / address).is_file()


def test_other_answers_name_none():
    assert b"link" not in answered(b"text/javascript")


def test_the_application_has_every_module_of_the_pages_before_it_listens():
    code = "import sys, app; print(*[name for name in sys.modules if name.startswith('pages.')])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    files = [path for path in (ROOT / "pages").glob("_*/*.py") if path.name != "__init__.py"]
    wanted = {f"pages.{path.parent.name}.{path.stem}" for path in files}
    assert len(wanted) > 50
    assert wanted <= {*done.stdout.split()}


def test_a_server_that_starts_opens_the_home_and_one_that_cannot_says_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKPROF_HOME", str(tmp_path / "home"))
    with contextlib.closing(open_home().workbench) as workbench:
        dataset = workbench.ingest([SAMPLES["jobs"].path]).hash
        ahead.warm_up()
        with patch.object(TraceStore, "column_profiles", side_effect=AssertionError):
            assert workbench.column_profiles(dataset)  # read already
    st.cache_resource.clear()
    (tmp_path / "file").touch()
    monkeypatch.setenv("WORKPROF_HOME", str(tmp_path / "file"))
    ahead.warm_up()


def test_only_the_start_of_the_server_warms_up():
    started = threading.Event()

    async def answers(scope, receive, send):
        pass

    with patch.object(ahead, "warm_up", started.set):
        asyncio.run(ahead.Ahead(answers)({"type": "http"}, None, None))
        assert not started.wait(0.2)
        asyncio.run(ahead.Ahead(answers)({"type": "lifespan"}, None, None))
        assert started.wait(20)
