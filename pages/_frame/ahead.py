"""What the first visitor of a server would wait for, ahead of them: modules, the home, the browser's larger scripts.

Streamlit's front end requests the script that draws charts (some megabytes) only when the first chart has arrived. A
header of the document names it, so that the browser loads it while the page is being computed; `look` has it started.
"""

from __future__ import annotations

import contextlib
import importlib
import pkgutil
import sys
import threading
from collections.abc import Iterable
from pathlib import Path

import plotly.graph_objects as go
import streamlit as st
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import pages
from pages._frame.visit import SETTLED, open_home
from workprof.core.errors import WorkprofError
from workprof.workbench import JOBS

SCRIPTS = ("PlotlyChart", "StreamlitMarkdown")
"""How the names of the scripts begin that every page with a chart needs; the rest of a name is its content's hash."""
DOCUMENT = b"text/html"
_FOLDER = Path(st.__file__).parent / "static"


def load_pages() -> None:
    """Import what the pages consist of, before the server listens; the pages themselves run when they are opened."""
    for found in pkgutil.walk_packages(pages.__path__, f"{pages.__name__}."):
        if "._" in found.name:
            importlib.import_module(found.name)
    SETTLED.settle(len(sys.modules))


def warm_up() -> None:
    """Open the home, read what the pages of its newest jobs begin with, and draw a chart; the server listens already.

    Whatever is wrong with the home the first visitor is told, who opens it again.
    """
    go.Figure([go.Bar(x=[0.0], y=[0.0]), go.Scatter(x=[0.0], y=[0.0], line={"width": 1}, marker={"size": 1})]).to_json()
    with contextlib.suppress(WorkprofError):
        bench = open_home().workbench
        newest = next((entry.hash for entry in bench.datasets() if entry.kind == JOBS), None)
        if newest is not None:
            bench.column_profiles(newest)
            bench.counts(newest)


def scripts() -> tuple[str, ...]:
    """Return the addresses of the scripts, relative to the document as its own ones are."""
    found = (path for name in SCRIPTS for path in (_FOLDER / "static" / "js").glob(f"{name}.*.js"))
    return tuple(f"./{path.relative_to(_FOLDER).as_posix()}" for path in found)


class Ahead:
    """An application that warms up when it starts, and whose documents name the scripts to load."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._link = ", ".join(f'<{address}>; rel="modulepreload"' for address in scripts()).encode("ascii")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; with the first event, the server's start, begin to warm up."""
        if scope["type"] == "lifespan":
            threading.Thread(target=warm_up, name="warm-up", daemon=True).start()

        async def answer(message: Message) -> None:
            headers = message.get("headers", ())
            if message["type"] == "http.response.start" and self._link and _is_document(headers):
                message = {**message, "headers": [*headers, (b"link", self._link)]}
            await send(message)

        await self._app(scope, receive, answer)


def _is_document(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    return any(name.lower() == b"content-type" and value.startswith(DOCUMENT) for name, value in headers)
