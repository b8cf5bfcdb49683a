"""Who may ask, how much and how long: around every route."""

import asyncio
import hashlib
import hmac
import json
import logging
import math
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

from workprof.core.errors import WorkprofError
from workprof.core.roles import Role
from workprof.service.metrics import Metrics
from workprof.store.doors import Proxy, basic_of
from workprof.store.users import Refused, Users

LOG = logging.getLogger(__name__)
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
ROLE = "workprof.role"
"""Of the same: what the caller may do."""
WHO = "workprof.who"
"""Of the same: the caller's name; '' = a program of this machine."""
KNOWN_S = 60.0
"""A password that was right is not looked at again within it."""
MOST_CLIENTS = 4_096
AGAIN_S = 5.0
"""After which a service that ended may be back."""
LONGEST_ADDRESS = 16_384
"""Characters of path and query."""
PROBLEM = b"application/problem+json"
UNEXPECTED = "the log says what went wrong"
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


@dataclass(frozen=True)
class Caller:
    """Who asks, and what they may do."""

    name: str
    role: Role


class Doors:
    """Who may ask: whoever has the token, whom a password or a proxy vouches for; without these this machine alone."""

    def __init__(self, token: str = "", users: Users | None = None, proxy: Proxy | None = None) -> None:
        self._token, self._users, self._proxy = token.encode(), users, proxy
        self._known: OrderedDict[bytes, tuple[Caller, float]] = OrderedDict()  # by digest of what was sent

    @property
    def closed(self) -> bool:
        """Whether one has to say who one is."""
        return bool(self._token or self._proxy or (self._users and self._users.with_passwords))

    @property
    def how(self) -> str:
        """How one says who one is."""
        if self._proxy and not self._token:
            return "this service is asked through its proxy, which logs people in"
        return (
            "this service needs a token; send the header 'Authorization: Bearer TOKEN', or a user's name and password"
        )

    async def caller(
        self, headers: Sequence[tuple[bytes, bytes]], given: bytes, peer: str
    ) -> tuple[Caller | None, float]:
        """Who asks, None where that is not said; and s until another password is looked at."""
        if not self.closed:
            return Caller("", Role.ADMIN), 0.0
        scheme, _, token = given.partition(b" ")
        if self._token and scheme.lower() == b"bearer" and hmac.compare_digest(token.strip(), self._token):
            return Caller("token", Role.ADMIN), 0.0
        if self._proxy and (name := self._proxy.name_of(headers, peer)):
            return Caller(name, self._users.role(name) if self._users else Role.VIEWER), 0.0
        if self._users is None or (named := basic_of(given)) is None:
            return None, 0.0
        return await self._by_password(self._users, *named, peer)

    async def _by_password(self, users: Users, name: str, password: str, peer: str) -> tuple[Caller | None, float]:
        """Look at a password, which takes a while, once a minute at most."""
        listed = users.all().get(name)
        sent = hashlib.sha256("\0".join((name, password, listed.password if listed else "")).encode()).digest()
        caller, then = self._known.get(sent, (None, 0.0))
        if caller and listed and time.monotonic() - then < KNOWN_S:
            return Caller(name, listed.level), 0.0
        try:
            user = await asyncio.to_thread(users.check, name, password, peer)
        except Refused as error:
            if not error.wait_s:  # what is not looked at would fill the log
                users.note_failure(name, peer, "service")
            return None, error.wait_s
        self._known[sent] = (Caller(name, user.level), time.monotonic())
        while len(self._known) > MOST_CLIENTS:
            self._known.popitem(last=False)
        return Caller(name, user.level), 0.0


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

    def __init__(self, app: App, *, doors: Doors, limits: Limits, metrics: Metrics) -> None:
        """Take what is guarded; where nobody has to say who they are only this machine's own programs are answered."""
        self._app, self._limits, self._metrics, self._doors = app, limits, metrics, doors
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
            refusal = await self._let_in(scope, headers)
            if refusal is not None:
                await _send_problem(sending, *refusal)
                return
            async with asyncio.timeout(self._limits.timeout_s):
                await self._app(scope, self._limited(receive), sending)
        except (Exception, asyncio.CancelledError) as error:
            if not begun:
                await _send_problem(sending, *self._failure(scope, error))
            elif not isinstance(error, TimeoutError):
                raise
        finally:
            route = scope.get("route")
            path = getattr(route, "path", "other") if status != 404 else "other"
            self._metrics.count_request(path, status, time.perf_counter() - started)

    def _failure(self, scope: Scope, error: BaseException) -> tuple[int, str, float]:
        """Answer what was raised: above here it would close the connection, and with it the client's next request."""
        if isinstance(error, _TooLarge):
            return 413, f"a body of more than {self._limits.body_bytes:,} bytes; send fewer jobs at once", 0.0
        if isinstance(error, TimeoutError):
            text = f"no answer within {self._limits.timeout_s:g} s; the result is kept once it is there: ask again"
            return 504, text, 0.0
        if isinstance(error, asyncio.CancelledError):  # the server ends
            return 503, "the service ends; ask again once it is back", AGAIN_S
        LOG.error("%s %s failed", scope["method"], scope["path"], exc_info=error)
        return 500, UNEXPECTED, 0.0

    async def _let_in(self, scope: Scope, headers: Mapping[bytes, bytes]) -> tuple[int, str, float] | None:
        try:
            waits = self._rate.wait_s(scope["client"][0] if scope.get("client") else "")
            if waits:
                return 429, f"more than {self._limits.rate:g} requests a second; try again in {waits:.3f} s", waits
            return self._refusal(scope, headers, await self._named(scope, headers))
        except WorkprofError as error:  # of the file of users, which is not for strangers
            LOG.error("nobody comes in: %s", error)
            return 503, "who may come in cannot be read; the log of this service says why", AGAIN_S

    async def _named(self, scope: Scope, headers: Mapping[bytes, bytes]) -> float:
        """Find out who asks; return s until another password is looked at."""
        peer = scope["client"][0] if scope.get("client") else ""
        caller, wait_s = await self._doors.caller(scope["headers"], headers.get(b"authorization", b""), peer)
        scope[TRUSTED], scope[ROLE] = caller is not None, caller.role if caller else Role.VIEWER
        scope[WHO] = caller.name if caller else ""
        return wait_s

    def _refusal(self, scope: Scope, headers: Mapping[bytes, bytes], wait_s: float) -> tuple[int, str, float] | None:
        """Status, words, and s until it is worth another try (0 = never), of a request that is not let in."""
        if not scope[TRUSTED] and scope["path"] not in OPEN:
            if wait_s:
                return 429, f"too many wrong passwords; try again in {wait_s:.0f} s", wait_s
            return 401, self._doors.how, 0.0
        if not self._doors.closed:
            host = headers.get(b"host", b"").decode("latin-1")
            name = host if host.endswith("]") else host.rpartition(":")[0] or host
            if b"origin" in headers or name not in LOOPBACK:
                return 403, "without WORKPROF_TOKEN only programs of this machine are answered, by its own address", 0.0
        if len(scope.get("raw_path") or b"") + len(scope.get("query_string") or b"") > LONGEST_ADDRESS:
            return 414, f"path and query have more than {LONGEST_ADDRESS:,} characters; shorten them", 0.0
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and (len(length) > 18 or int(length) > self._limits.body_bytes):
            return 413, f"a body of more than {self._limits.body_bytes:,} bytes; send fewer jobs at once", 0.0
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
