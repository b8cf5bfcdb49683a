"""Who may ask, how much and how long: around every route; what it counts is shown under /metrics."""

from __future__ import annotations

import asyncio
import hmac
import json
import math
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

OPEN = ("/healthz", "/readyz")
"""Paths that need no token: a supervisor asks them."""
LOOPBACK = ("127.0.0.1", "localhost", "[::1]", "::1")
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0)
"""s; upper ends of the histogram of answers."""
MOST_CLIENTS = 4_096
PROBLEM = b"application/problem+json"
TITLES = {
    401: "Not authorised",
    403: "Refused",
    404: "Not found",
    405: "Method not allowed",
    409: "Conflict",
    413: "Too large",
    415: "Not JSON",
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


@dataclass
class Metrics:
    """Counts since the start; safe to share between threads."""

    requests: Counter[tuple[str, int]] = field(default_factory=Counter)
    seconds: dict[str, list[int]] = field(default_factory=dict)
    total_s: dict[str, float] = field(default_factory=dict)
    batches: int = 0
    jobs: int = 0
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def count_request(self, path: str, status: int, seconds: float) -> None:
        """Count an answer."""
        with self._guard:
            self.requests[path, status] += 1
            counts = self.seconds.setdefault(path, [0] * (len(BUCKETS) + 1))
            counts[next((i for i, end in enumerate(BUCKETS) if seconds <= end), len(BUCKETS))] += 1
            self.total_s[path] = self.total_s.get(path, 0.0) + seconds

    def batch(self, n_jobs: int) -> None:
        """Count a batch of predictions."""
        with self._guard:
            self.batches += 1
            self.jobs += n_jobs

    def text(self, gauges: dict[str, tuple[str, float]]) -> str:
        """The counts in the text format of Prometheus, with gauges: name -> (help, value)."""
        with self._guard:
            lines = [
                "# HELP workprof_requests_total Answers by route and status.",
                "# TYPE workprof_requests_total counter",
            ]
            lines += [
                f'workprof_requests_total{{route="{path}",status="{status}"}} {n}'
                for (path, status), n in sorted(self.requests.items())
            ]
            name = "workprof_request_seconds"
            lines += [f"# HELP {name} Time to the answer.", f"# TYPE {name} histogram"]
            for path, counts in sorted(self.seconds.items()):
                so_far = 0
                for end, n in zip((*BUCKETS, math.inf), counts, strict=True):
                    so_far += n
                    le = "+Inf" if math.isinf(end) else f"{end:g}"
                    lines.append(f'{name}_bucket{{route="{path}",le="{le}"}} {so_far}')
                lines += [
                    f'{name}_sum{{route="{path}"}} {self.total_s[path]:.6f}',
                    f'{name}_count{{route="{path}"}} {so_far}',
                ]
            counters = {
                "workprof_prediction_batches_total": ("Batches of predictions.", self.batches),
                "workprof_predicted_jobs_total": ("Jobs predicted.", self.jobs),
            }
        for own, (help_text, value) in counters.items():
            lines += [f"# HELP {own} {help_text}", f"# TYPE {own} counter", f"{own} {value}"]
        for own, (help_text, number) in gauges.items():
            lines += [f"# HELP {own} {help_text}", f"# TYPE {own} gauge", f"{own} {number:g}"]
        return "\n".join(lines) + "\n"


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
        finally:
            route = scope.get("route")
            path = getattr(route, "path", "other") if status != 404 else "other"
            self._metrics.count_request(path, status, time.perf_counter() - started)

    def _refusal(self, scope: Scope, headers: dict[bytes, bytes]) -> tuple[int, str] | None:
        if self._token and scope["path"] not in OPEN:
            given = headers.get(b"authorization", b"")
            if not hmac.compare_digest(given, b"Bearer " + self._token):
                return 401, "this service needs a token; send the header 'Authorization: Bearer TOKEN'"
        if not self._token:
            host = headers.get(b"host", b"").decode("latin-1")
            name = host if host.endswith("]") else host.rpartition(":")[0] or host
            if b"origin" in headers or name not in LOOPBACK:
                return 403, "without WORKPROF_TOKEN only programs of this machine are answered, by its own address"
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length) > self._limits.body_bytes:
            return 413, f"a body of {int(length):,} bytes; at most {self._limits.body_bytes:,} are taken"
        waits = self._rate.wait_s(scope["client"][0] if scope.get("client") else "")
        if waits:
            return 429, f"more than {self._limits.rate:g} requests a second; try again in {waits:.3f} s"
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


async def _send_problem(send: Send, status: int, detail: str) -> None:
    headers = [(b"content-type", PROBLEM)]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if status in (429, 503):
        headers.append((b"retry-after", b"1"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": problem(status, detail)})
