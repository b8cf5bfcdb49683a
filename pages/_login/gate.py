"""The gate before the dashboard: who is not logged in gets the form of the login, and nothing else.

An ASGI application around Streamlit's own, so that documents, sessions, uploads and downloads are all behind it. Who
passes is told to the pages in a header that the gate alone can sign.
"""

import html
import os
import time
import urllib.parse
from http.cookies import CookieError, SimpleCookie
from pathlib import Path

from anyio import to_thread
from itsdangerous import BadData, URLSafeSerializer
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from pages._login.strangers import POLICY_VIOLATION, from_own_page
from workprof.core.errors import SettingsError
from workprof.core.settings import switch
from workprof.store.doors import FORWARDED, login_hours, proxy_of
from workprof.store.users import Refused, User, Users, secret_of

COOKIE, PERSON = "workprof_session", "x-workprof-person"
LOGIN, LOGOUT, HEALTH = "/login", "/logout", "/_stcore/health"
LONGEST_FORM = 8_192
LONGEST_NEXT = 4_000
FORM = """<!doctype html><html lang="en"><meta charset="utf-8"><title>workprof: log in</title>
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><style>
body{{font:16px/1.5 system-ui,sans-serif;display:grid;place-items:center;min-height:90vh;margin:1rem}}
form{{width:min(20rem,100%)}}label{{display:block;margin-top:1rem}}
input,button{{font:inherit;width:100%;box-sizing:border-box;padding:.5rem}}button{{margin-top:1.5rem}}
</style><main><h1>workprof</h1>{words}<form method="post" action="/login">
<input type="hidden" name="next" value="{next}">
<label for="name">Name</label><input id="name" name="name" autocomplete="username" required autofocus>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<button>Log in</button></form></main></html>"""


class Gate:
    """An application that lets in whom a proxy or a password vouches for, where the operator set up one of them.

    Args:
        app: behind the gate.
        home: whose people may come in.

    Raises:
        SettingsError: where a variable of the login, or the file of users, cannot be used.
    """

    def __init__(self, app: ASGIApp, home: Path) -> None:
        self._app, self._home = app, home
        self._proxy, self._hours = proxy_of(os.environ), login_hours(os.environ)
        if self._proxy and os.environ.get(FORWARDED) != "":
            raise SettingsError(
                f"a proxy is named, and {FORWARDED} is not set to nothing, so a header could name the peer; start with "
                f"`workprof serve`, or with {FORWARDED}= before the command"
            )
        self._elsewhere = bool(switch(os.environ, "WORKPROF_LOGIN"))  # OpenID Connect: the pages ask for it
        self._users = Users(home)
        self._users.all()  # a file that is damaged, or open to others, is told at the start

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        headers = [one for one in scope["headers"] if one[0].lower().replace(b"_", b"-") != PERSON.encode()]
        scope = {**scope, "headers": headers}
        path = scope["path"]
        try:
            passwords = not self._proxy and not self._elsewhere and self._users.with_passwords
            if not (self._proxy or passwords) or path == HEALTH:
                await self._app(scope, receive, send)
                return
            name = self._name_of(scope)
        except SettingsError as error:
            await _refuse(scope, receive, send, PlainTextResponse(f"Nobody can log in: {error}", 503))
            return
        if passwords and scope["type"] == "http" and path in {LOGIN, LOGOUT}:
            await (await self._form(Request(scope, receive)))(scope, receive, send)
        elif name:
            told = signed(self._home, name, time.time() + self._hours * 3600).encode()
            await self._app({**scope, "headers": [*headers, (PERSON.encode(), told)]}, receive, send)
        elif self._proxy:
            words = "Come in through the proxy of this server, which logs you in."
            await _refuse(scope, receive, send, PlainTextResponse(words, 401))
        else:
            await _refuse(scope, receive, send, _to_login(scope))

    def _name_of(self, scope: Scope) -> str:
        if self._proxy:
            return self._proxy.name_of(scope["headers"], (scope.get("client") or ("",))[0])
        user = self._users.of_session(_cookie(Headers(scope=scope)), self._hours)
        return user.name if user else ""

    async def _form(self, request: Request) -> Response:
        """Show the form, look at what was filled in, or end a login."""
        secure = request.url.scheme == "https"
        if request.url.path == LOGOUT:
            answer: Response = RedirectResponse(LOGIN, 303)
            answer.delete_cookie(COOKIE, path="/", secure=secure, httponly=True, samesite="lax")
            return answer
        if request.method != "POST":
            return _page(request.query_params.get("next", ""))
        if not from_own_page(request.headers):
            return PlainTextResponse("A page of another site may not log you in.", 403)
        given = await _filled_in(request)
        if given is None:
            return PlainTextResponse("The form is too large.", 413)
        address = request.client.host if request.client else ""
        try:
            user = await to_thread.run_sync(self._users.check, given["name"], given["password"], address)
        except Refused as error:
            if not error.wait_s:  # what is not looked at would fill the log
                self._users.note_failure(given["name"], address, "dashboard")
            status = 429 if error.wait_s else 401
            answer = _page(given["next"], str(error), status)
            if error.wait_s:
                answer.headers["retry-after"] = str(int(error.wait_s) + 1)
            return answer
        return self._let_in(user, given["next"], address, secure=secure)

    def _let_in(self, user: User, goal: str, address: str, *, secure: bool) -> Response:
        self._users.note_login(user, address, "dashboard")
        answer = RedirectResponse(_own_path(goal), 303)
        session, age_s = self._users.session(user), int(self._hours * 3600)
        answer.set_cookie(COOKIE, session, max_age=age_s, path="/", secure=secure, httponly=True, samesite="lax")
        return answer


def signed(home: Path, name: str, until_s: float) -> str:
    """What the gate tells the pages of who passed it, and until when that holds (seconds since 1970)."""
    return str(URLSafeSerializer(secret_of(home, PERSON)).dumps([name, until_s]))


def passed(home: Path, text: str) -> str:
    """The name in what the gate told; '' where it is forged or too old."""
    try:
        name, until_s = URLSafeSerializer(secret_of(home, PERSON)).loads(text)
        return str(name) if time.time() < float(until_s) else ""
    except (BadData, ValueError, TypeError):
        return ""


async def _refuse(scope: Scope, receive: Receive, send: Send, answer: Response) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": POLICY_VIOLATION})  # answered with status 403
    else:
        await answer(scope, receive, send)


def _to_login(scope: Scope) -> Response:
    """To the form, where a person opens a page; whatever a page requests is refused."""
    if scope["type"] == "http" and scope["method"] == "GET" and "text/html" in Headers(scope=scope).get("accept", ""):
        query = scope["query_string"].decode("latin-1")
        goal = scope["path"] + (f"?{query}" if query else "")
        return RedirectResponse(f"{LOGIN}?{urllib.parse.urlencode({'next': _own_path(goal)})}", 303)
    return PlainTextResponse("Please log in.", 401)


def _own_path(goal: str) -> str:
    """A path of this server; '/' for what might lead elsewhere."""
    own = goal.startswith("/") and goal[1:2] not in {"/", "\\"} and goal.isprintable() and len(goal) <= LONGEST_NEXT
    return goal if own and not goal.startswith((LOGIN, LOGOUT)) else "/"


def _page(goal: str, told: str = "", status: int = 200) -> Response:
    words = f'<p role="alert">{html.escape(told)}.</p>' if told else ""
    text = FORM.format(words=words, next=html.escape(_own_path(goal), quote=True))
    return HTMLResponse(text, status, {"cache-control": "no-store"})


def _cookie(headers: Headers) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found else ""


async def _filled_in(request: Request) -> dict[str, str] | None:
    """What stands in the form; None where it is too long."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LONGEST_FORM:
            return None
    given = urllib.parse.parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True)
    return {name: given.get(name, [""])[0] for name in ("name", "password", "next")}
