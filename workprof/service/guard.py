"""Who may ask, how much and how long: around every route."""

import asyncio
import hmac
import json
import math
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

from workprof.service.metrics import Metrics

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

OPEN = ("/healthz", "/readyz")
"""Paths that need no token: a supervisor asks them."""
LOOPBACK = ("127.0.0.1", "localhost", "[::1]", "::1")
TRUSTED = "workprof.trusted"
"""Key of a request's scope: whether it may be told of datasets and users."""
MOST_CLIENTS = 4_096
AGAIN_S = 5.0
"""After which a service that ended may be back."""
LONGEST_ADDRESS = 16_384
"""Characters of path and query."""
PROBLEM = b"application/problem+json"
TITLES = {
    401: "Not authorised",
    403: "Refused",
    404: "Not found",
    405: "Method not allowed",
    413: "Too large",
    414: "Address too long",
    422: "Fields that cannot be used",
    429: "Too many requests",
    500: "Internal error",
    503: "Not ready",
    504: "Too slow",
    507: "Disk full",
}


def problem(status: int, detail: str, **more: Any) -> bytes:
    """The document of an error (RFC 9457)."""
    document = {"type": "about:blank", "title": TITLES.get(status, "Error"), "status": status, "detail": detail, **more}
    return json.dumps(document, default=str).encode()


@dataclass(frozen=True)
class Limits:
    """What one request, and one client, may take."""

    body_bytes: int = 8_000_000  # of a request
    rate: float = 0.0  # requests per second of one client address, with a burst of one second; 0 = any
    timeout_s: float = 30.0  # until an answer is given up


class Rate:
    """Tokens of each client address: `rate` a second, at most as many at once."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._held: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait_s(self, client: str) -> float:
        """Take a token and return 0, or how long it takes until there is one."""
        if not self._rate:
            return 0.0
        now, most = time.monotonic(), max(1.0, self._rate)
        tokens, then = self._held.pop(client, (most, now))
        tokens = min(most, tokens + (now - then) * self._rate)
        waits = 0.0 if tokens >= 1 else (1 - tokens) / self._rate
        self._held[client] = (tokens if waits else tokens - 1, now)
        while len(self._held) > MOST_CLIENTS:
            self._held.popitem(last=False)
        return waits


class Guard:
    """ASGI: refuses before a route is reached; every refusal is a problem document."""

    def __init__(self, app: App, *, token: str, limits: Limits, metrics: Metrics) -> None:
        """Take what is guarded; without a token only this machine's own programs are answered."""
        self._app, self._limits, self._metrics = app, limits, metrics
        self._token = token.encode()
        self._rate = Rate(limits.rate)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status, begun = time.perf_counter(), 500, False

        async def sending(message: Message) -> None:
            nonlocal status, begun
            if message["type"] == "http.response.start":
                status, begun = message["status"], True
            await send(message)

        headers = dict(scope["headers"])
        try:
            scope[TRUSTED] = not self._token or self._has_token(headers)
            refusal = self._refusal(scope, headers)
            if refusal is not None:
                await _send_problem(sending, *refusal)
                return
            async with asyncio.timeout(self._limits.timeout_s):
                await self._app(scope, self._limited(receive), sending)
        except _TooLarge:
            await _send_problem(
                sending, 413, f"a body of more than {self._limits.body_bytes:,} bytes; send fewer jobs at once"
            )
        except TimeoutError:
            if not begun:
                text = f"no answer within {self._limits.timeout_s:g} s; the result is kept once it is there: ask again"
                await _send_problem(sending, 504, text)
        except asyncio.CancelledError:  # the server ends
            if begun:
                raise
            await _send_problem(sending, 503, "the service ends; ask again once it is back", AGAIN_S)
        finally:
            route = scope.get("route")
            path = getattr(route, "path", "other") if status != 404 else "other"
            self._metrics.count_request(path, status, time.perf_counter() - started)

    def _has_token(self, headers: Mapping[bytes, bytes]) -> bool:
        scheme, _, given = headers.get(b"authorization", b"").partition(b" ")
        return scheme.lower() == b"bearer" and hmac.compare_digest(given.strip(), self._token)

    def _refusal(self, scope: Scope, headers: Mapping[bytes, bytes]) -> tuple[int, str, float] | None:
        """Status, words, and s until it is worth another try (0 = never), of a request that is not let in."""
        if not scope[TRUSTED] and scope["path"] not in OPEN:
            return 401, "this service needs a token; send the header 'Authorization: Bearer TOKEN'", 0.0
        if not self._token:
            host = headers.get(b"host", b"").decode("latin-1")
            name = host if host.endswith("]") else host.rpartition(":")[0] or host
            if b"origin" in headers or name not in LOOPBACK:
                return 403, "without WORKPROF_TOKEN only programs of this machine are answered, by its own address", 0.0
        if len(scope.get("raw_path") or b"") + len(scope.get("query_string") or b"") > LONGEST_ADDRESS:
            return 414, f"path and query have more than {LONGEST_ADDRESS:,} characters; shorten them", 0.0
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and (len(length) > 18 or int(length) > self._limits.body_bytes):
            return 413, f"a body of more than {self._limits.body_bytes:,} bytes; send fewer jobs at once", 0.0
        waits = self._rate.wait_s(scope["client"][0] if scope.get("client") else "")
        if waits:
            return 429, f"more than {self._limits.rate:g} requests a second; try again in {waits:.3f} s", waits
        return None

    def _limited(self, receive: Receive) -> Receive:
        taken = 0

        async def limited() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > self._limits.body_bytes:
                raise _TooLarge
            return message

        return limited


class _TooLarge(Exception):
    """The body of a request."""


def retry_after(wait_s: float) -> bytes:
    """The whole seconds that a header tells."""
    return b"%d" % max(1, math.ceil(wait_s))


async def _send_problem(send: Send, status: int, detail: str, wait_s: float = 0.0) -> None:
    headers = [(b"content-type", PROBLEM)]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if wait_s:
        headers.append((b"retry-after", retry_after(wait_s)))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": problem(status, detail)})
