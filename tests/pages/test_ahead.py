"""What is loaded before the first visitor comes: every module of the pages, and the scripts that a document names."""

import asyncio
import contextlib
import re
import subprocess
import sys
import threading
from pathlib import Path
from unittest.mock import patch

import pytest
import streamlit
import streamlit as st

from pages._frame import ahead
from pages._frame.visit import SAMPLES, open_home
from workprof.store.trace_store import TraceStore

ROOT = Path(__file__).parents[2]
STATIC = Path(streamlit.__file__).parent / "static"


DOCUMENT = (STATIC / "index.html").read_bytes()


def answered(kind, parts=(b"x",), app=ahead.Ahead):
    """Return the headers and the text of an answer of a kind of content that comes in parts."""

    async def answers(scope, receive, send):
        size = b"%d" % sum(map(len, parts))
        headers = [(b"content-type", kind), (b"content-length", size)]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for place, part in enumerate(parts, start=1):
            await send({"type": "http.response.body", "body": part, "more_body": place < len(parts)})

    sent = []

    async def send(message):
        sent.append(message)

    asyncio.run(app(answers)({"type": "http"}, None, send))
    assert sent[0]["type"] == "http.response.start"
    assert [one["type"] for one in sent[1:]] == ["http.response.body"] * (len(sent) - 1)
    assert not sent[-1].get("more_body", False)
    headers, text = dict(sent[0]["headers"]), b"".join(one["body"] for one in sent[1:])
    assert headers[b"content-length"] == b"%d" % len(text)
    return headers, text


def test_a_document_names_the_scripts_that_streamlit_has():
    named = answered(b"text/html; charset=utf-8")[0][b"link"].decode()
    addresses = ahead.scripts()
    assert len(set(addresses)) == len(addresses) > len(ahead.SCRIPTS)
    assert all(any(Path(one).name.startswith(f"{name}.") for one in addresses) for name in ahead.SCRIPTS)
    for address in addresses:
        assert f'<{address}>; rel="modulepreload"' in named
        assert (STATIC / address).is_file()
        assert address.rpartition("/")[2] not in DOCUMENT.decode()


def test_what_a_script_imports_is_named_too():
    (charts,) = (one for one in ahead.scripts() if ahead.CHARTS in one)
    imported = re.findall(r'from"\./([\w.-]+)"', (STATIC / charts).read_text()[:5000])
    assert len(imported) > 5
    known = {Path(one).name for one in ahead.scripts()}
    assert all(name in known or name in DOCUMENT.decode() for name in imported)


@pytest.mark.parametrize("parts", [(DOCUMENT,), (DOCUMENT[:300], b"", DOCUMENT[300:])])
def test_a_document_starts_the_charts_script_before_its_own(parts):
    _, text = answered(b"text/html; charset=utf-8", parts)
    (charts,) = (one for one in ahead.scripts() if ahead.CHARTS in one)
    assert text.count(f'import("{charts}")'.encode()) == 1
    assert text.index(b"class extends Own") < text.index(b'src="./static/js/index')
    assert text.replace((ahead.START % charts).encode(), b"") == DOCUMENT


def test_other_answers_are_left_as_they_are():
    headers, text = answered(b"text/javascript", (b"<head>", b"</head>"))
    assert (text, b"link" in headers) == (b"<head></head>", False)


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
