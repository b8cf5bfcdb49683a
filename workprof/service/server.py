"""The server beneath the routes: bounded connections and heads, and an end within seconds."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from types import FrameType
from typing import TYPE_CHECKING, Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if TYPE_CHECKING:
    from starlette.applications import Starlette

HEAD_WITHIN_S = 10.0
"""From a connection, or the first byte of a request, to the end of its headers."""
HEAD_BYTES = 65_536
MOST_CONNECTIONS = 512
ANSWERS_END_S, END_WITHIN_S = 1.5, 4.5
"""After a signal: until answers that are on their way are given up, and until the process ends whatever it is at."""


class Bounded(HttpToolsProtocol):
    """A connection whose headers are waited for a while, and not for ever."""

    _late: asyncio.TimerHandle | None = None
    _head, _in_body = 0, False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        if self.cycle is None or self.cycle.response_complete:
            self._wait()
            self._head += 0 if self._in_body else len(data)  # a body may go on after its answer
        super().data_received(data)
        if self._late is not None and self._head > HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response("The head of a request is too large.")

    def on_headers_complete(self) -> None:
        """Answer."""
        self._stop_waiting()
        self._in_body = True
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Be ready for the next head."""
        self._in_body = False
        super().on_message_complete()

    def _wait(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(HEAD_WITHIN_S, self.transport.close)

    def _stop_waiting(self) -> None:
        self._head = 0
        if self._late is not None:
            self._late.cancel()
            self._late = None


class Ending(uvicorn.Server):
    """A server that ends within seconds of a signal, whatever is computed then; what was confirmed is on the disk."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to end."""
        if not self.should_exit:
            threading.Thread(target=_end_late, daemon=True).start()
        super().handle_exit(sig, frame)


def _end_late() -> None:
    time.sleep(END_WITHIN_S)
    end_process(0)


def end_process(status: int) -> None:
    """End now: threads that still compute are not waited for; children of theirs end with this process."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def serve(app: Starlette, host: str, port: int) -> bool:
    """Serve until a signal; return whether the server began."""
    for how in (signal.SIGINT, signal.SIGTERM):
        signal.signal(how, _nothing)  # uvicorn sends the signal once more when it has ended
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        http=Bounded,
        ws="none",
        access_log=False,
        proxy_headers=False,  # the peer is who is connected, not whom a header names
        log_level="warning",
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=int(ANSWERS_END_S + 0.5),
    )
    server = Ending(config)
    server.run()
    return server.started


def _nothing(*_: Any) -> None:
    """Stay."""
