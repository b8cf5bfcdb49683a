"""What the first visitor of a server would wait for, ahead of them: modules, the home, the browser's larger scripts.

Streamlit's front end requests the script that draws charts (some megabytes) only when the first chart has arrived. A
header of the document names it, so that the browser loads it while the page is being computed, and the document starts
it, which takes as long as loading it: a chart that arrives is drawn at once.
"""

import contextlib
import importlib
import pkgutil
import re
import sys
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

import plotly.graph_objects as go
import streamlit as st
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import pages
from pages._frame.visit import SETTLED, open_home
from pages._login.login import Visitor
from workprof.core.errors import WorkprofError
from workprof.core.roles import Role
from workprof.workbench import JOBS

CHARTS = "PlotlyChart"
SCRIPTS = (
    CHARTS,
    "Html",
    "BidiComponent",
    "PageLink",
    "Button",
    "Selectbox",
    "Metric",
    "Checkbox",
)
"""How the names of the scripts begin that most pages need; the rest of a name is its content's hash."""
IMPORTS_WITHIN = 20_000
"""Characters at the beginning of a script within which its imports stand."""
DOCUMENT, CONTENT_LENGTH, HEAD = b"text/html", b"content-length", b"<head>"
START = """<script>
{
  const Own = WebSocket;
  WebSocket = class extends Own {
    constructor(...given) { super(...given); this.addEventListener("message", () => import("%s"), {once: true}); }
  };
}
</script>"""
"""Starts a script with the server's first message: the browser would wait from then on until the page is computed."""
_IMPORTED = re.compile(r'(?:from|import)"\./([\w.-]+\.js)"')
_FOLDER = Path(st.__file__).parent / "static"


def load_pages() -> None:
    """Import what the pages consist of, before the server listens; the pages themselves run when they are opened."""
    for one in pkgutil.walk_packages(pages.__path__, f"{pages.__name__}."):
        if "._" in one.name:
            importlib.import_module(one.name)
    SETTLED.settle(len(sys.modules))


def warm_up() -> None:
    """Open the home, read what the pages of its newest jobs begin with, and draw a chart; the server listens already.

    Whatever is wrong with the home the first visitor is told, who opens it again.
    """
    go.Figure([go.Bar(x=[0.0], y=[0.0]), go.Scatter(x=[0.0], y=[0.0], line={"width": 1}, marker={"size": 1})]).to_json()
    with contextlib.suppress(WorkprofError):
        bench = open_home(Visitor("", Role.ADMIN)).workbench
        newest = next((entry.hash for entry in bench.datasets() if entry.kind == JOBS), None)
        if newest is not None:
            bench.column_profiles(newest)
            bench.counts(newest)


def scripts(names: Sequence[str] = SCRIPTS) -> tuple[str, ...]:
    """Return the addresses of the scripts and of those that they import, relative to the document as its own ones are.

    Those that the document names itself are left out.
    """
    folder, document = _FOLDER / "static" / "js", (_FOLDER / "index.html").read_text(encoding="utf-8")
    result = [path for name in names for path in folder.glob(f"{name}.*.js")]
    for path in result:  # grows while it is read
        imported = (folder / name for name in _IMPORTED.findall(path.read_text(encoding="utf-8")[:IMPORTS_WITHIN]))
        result += [one for one in imported if one not in result and one.name not in document]
    return tuple(f"./{path.relative_to(_FOLDER).as_posix()}" for path in result)


class Ahead:
    """An application that warms up when it starts; its documents name scripts to load, and start that of the charts."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        result = scripts()
        self._link = ", ".join(f'<{address}>; rel="modulepreload"' for address in result).encode("ascii")
        charts = [address for address in result if address.rpartition("/")[2].startswith(CHARTS)]
        self._start = "".join(START % address for address in charts).encode("ascii")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; with the first event, the server's start, begin to warm up."""
        if scope["type"] == "lifespan":
            threading.Thread(target=warm_up, name="warm-up", daemon=True).start()
        held: list[Message] = []  # of a document: its beginning, until its text is whole

        async def respond(message: Message) -> None:
            if message["type"] == "http.response.start" and self._link and _is_document(message.get("headers", ())):
                held.append({**message, "headers": [*message["headers"], (b"link", self._link)]})
            elif held and message["type"] == "http.response.body":
                held.append(message)
                if not message.get("more_body", False):
                    for one in self._started(held[0], b"".join(part.get("body", b"") for part in held[1:])):
                        await send(one)
                    held.clear()
            else:
                for one in (*held, message):
                    await send(one)
                held.clear()

        await self._app(scope, receive, respond)

    def _started(self, begin: Message, text: bytes) -> tuple[Message, Message]:
        """Return a document that starts the script of the charts."""
        whole = text.replace(HEAD, HEAD + self._start, 1)
        longer = len(whole) - len(text)
        sizes = [(name, b"%d" % (int(size) + longer)) for name, size in begin["headers"] if name == CONTENT_LENGTH]
        others = [header for header in begin["headers"] if header[0] != CONTENT_LENGTH]
        return {**begin, "headers": others + sizes}, {"type": "http.response.body", "body": whole}


def _is_document(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    return any(name.lower() == b"content-type" and value.startswith(DOCUMENT) for name, value in headers)
