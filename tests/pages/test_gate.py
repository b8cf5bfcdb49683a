"""The gate before the dashboard: nothing passes it but who logged in, whatever a request claims."""

import asyncio
import shutil
import time
import urllib.parse

import httpx
import pytest
from itsdangerous import URLSafeSerializer
from starlette.responses import JSONResponse

from pages._login.gate import COOKIE, PERSON, Gate, passed, signed
from tests.pages.conftest import problems
from workprof.core.errors import SettingsError
from workprof.store.audit import Audit
from workprof.store.doors import proxy_of
from workprof.store.users import Users

GOOD = "correct horse battery"
PROXY = {"WORKPROF_PROXY_HEADER": "X-Remote-User", "WORKPROF_PROXY_FROM": "10.0.0.5, 192.168.7.0/29"}
PAGE = {"accept": "text/html"}


async def behind(scope, receive, send):
    """Stand in for Streamlit: tell what came through."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.close", "code": 1000})
        return
    told = {name.decode(): value.decode("latin-1") for name, value in scope["headers"]}
    await JSONResponse(told)(scope, receive, send)


class Browser:
    """Requests of one machine, with the cookies that it was given."""

    def __init__(self, app, peer):
        self.app, self.peer, self.base_url, self.cookies = app, peer, "http://testserver", httpx.Cookies()

    def request(self, method, path, **more):
        async def sent():
            transport = httpx.ASGITransport(self.app, client=(self.peer, 5000))
            async with httpx.AsyncClient(transport=transport, base_url=self.base_url, cookies=self.cookies) as client:
                answer = await client.request(method, path, **more)
                self.cookies = client.cookies
                return answer

        return asyncio.run(sent())

    def get(self, path, **more):
        return self.request("GET", path, **more)

    def post(self, path, **more):
        return self.request("POST", path, **more)

    def session(self, **headers):
        """Return how a web socket was answered."""
        cookie = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        given = [(name.encode(), value.encode()) for name, value in (headers | {"cookie": cookie}).items()]
        scope = {"type": "websocket", "path": "/_stcore/stream", "headers": given, "client": (self.peer, 5000)}
        told = []

        async def send(message):
            told.append((message["type"], message.get("code")))

        async def receive():
            return {"type": "websocket.connect"}

        asyncio.run(self.app(scope, receive, send))
        return told[0]


REFUSED, ACCEPTED = ("websocket.close", 1008), ("websocket.accept", None)


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """A home with two people; to hash a password takes a while."""
    folder = tmp_path_factory.mktemp("people") / "home"
    folder.mkdir()
    users = Users(folder)
    users.add("ann", "admin", GOOD)
    users.add("vera", "viewer", GOOD)
    return folder


@pytest.fixture
def client(home, people, monkeypatch):
    """Return a function that makes a browser on another machine, before the gate of a home with two people."""
    shutil.copytree(people, home)
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "")
    for name in (*PROXY, "WORKPROF_LOGIN", "WORKPROF_LOGIN_HOURS"):
        monkeypatch.delenv(name, raising=False)

    def made(peer="203.0.113.9", **variables):
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        return Browser(Gate(behind, home), peer)

    return made


def log_in(client, name="ann", password=GOOD, goal="/memory?ds=a", **headers):
    form = urllib.parse.urlencode({"name": name, "password": password, "next": goal})
    headers = {"content-type": "application/x-www-form-urlencoded"} | headers
    return client.post("/login", content=form, headers=headers)


@pytest.mark.parametrize("path", ["/", "/memory?ds=a", "/_stcore/host-config", "/media/x.csv", "/_stcore/metrics"])
def test_nothing_but_the_form_before_the_login(client, path):
    browser = client()
    opened = browser.get(path, headers=PAGE)
    assert opened.status_code == 303
    assert opened.headers["location"] == f"/login?{urllib.parse.urlencode({'next': path})}"
    assert browser.get(path).status_code == 401
    assert browser.request("PUT", "/_stcore/upload_file/a/b", content=b"x" * 100).status_code == 401
    assert browser.session() == REFUSED
    assert browser.get("/_stcore/health").status_code == 200  # a supervisor asks


def test_the_right_password_opens_the_page_that_was_wanted(client, home):
    browser = client()
    form = browser.get("/login", params={"next": '/memory?ds="><script>'}, headers=PAGE)
    assert "<script>" not in form.text
    entered = log_in(browser)
    assert (entered.status_code, entered.headers["location"]) == (303, "/memory?ds=a")
    cookie = entered.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    told = browser.get("/").json()
    assert passed(home, told[PERSON]) == "ann"
    assert browser.session() == ACCEPTED
    assert [(one.who, one.deed) for one in Audit(home).entries(9)] == [("ann", "logged in")]
    ended = browser.get("/logout")
    assert (ended.status_code, ended.headers["location"]) == (303, "/login")
    assert browser.get("/").status_code == 401


def test_the_cookie_is_for_tls_alone_where_the_page_came_by_it(client):
    browser = client()
    browser.base_url = "https://workprof.example.org"
    assert "Secure" in log_in(browser).headers["set-cookie"]


ELSEWHERE = ("/\\evil.example", "https://evil.example", "", "/a\r\nX: y", "/login", "/" + "x" * 5000, "//evil.example")


def test_a_login_leads_nowhere_else(client):
    browser = client()
    for goal in ELSEWHERE:
        assert 'name="next" value="/"' in browser.get("/login", params={"next": goal}).text, goal
    assert log_in(browser, goal=ELSEWHERE[-1]).headers["location"] == "/"


def test_wrong_passwords_are_told_alike_slowed_and_noted(client, home):
    browser = client()
    answers = [log_in(browser, name, "wrong password") for name in ("ann", "nobody")]
    assert {answer.status_code for answer in answers} == {401}
    assert len({answer.text for answer in answers}) == 1
    for _ in range(5):
        last = log_in(browser, "ann", "wrong password")
    assert last.status_code == 429
    assert int(last.headers["retry-after"]) >= 1
    assert log_in(browser).status_code == 429  # the right one, too
    noted = Audit(home).entries(99)
    assert len(noted) == 6  # five of ann, one of nobody: what was not looked at does not fill the log
    assert {one.deed for one in noted} == {"login failed"}
    assert {one.who for one in noted} == {"ann", "nobody"}
    assert all("203.0.113.9" in one.what and "wrong" not in one.what for one in noted)
    assert "set-cookie" not in last.headers


def test_forms_of_other_sites_and_huge_ones_are_refused(client):
    browser = client()
    assert log_in(browser, origin="https://evil.example").status_code == 403
    assert log_in(browser, origin="http://testserver").status_code == 303
    assert log_in(browser, password="x" * 10_000).status_code == 413
    assert browser.post("/login", content=b"\xff\xfe\x00").status_code in (401, 429)
    assert browser.post("/login").status_code in (401, 429)


@pytest.mark.parametrize("value", ["", "x", "a=b; c", '"', "WyJhbm4iXQ.AAAA.BBBB", "\x7f"])
def test_a_forged_cookie_opens_nothing(client, value):
    assert client().get("/", headers={"cookie": f"{COOKIE}={value}"}).status_code == 401


@pytest.mark.parametrize("name", [PERSON, PERSON.upper(), PERSON.replace("-", "_")])
def test_nobody_tells_the_pages_who_they_are_but_the_gate(client, home, name):
    browser = client()
    own = signed(home, "ann", time.time() + 99)
    assert browser.get("/", headers={name: own}).status_code == 401
    log_in(browser, "vera")
    assert passed(home, browser.get("/", headers={name: own}).json()[PERSON]) == "vera"
    for one in Users(home).all():
        Users(home).remove(one)
    told = client().get("/", headers={name: own}).json()  # nobody has to log in at a server that begins now
    assert PERSON not in {key.lower().replace("_", "-") for key in told}


def test_what_the_gate_says_is_signed_and_ends(home, tmp_path):
    home.mkdir()
    assert passed(home, signed(home, "ann", time.time() + 9)) == "ann"
    assert passed(home, signed(home, "ann", time.time() - 1)) == ""
    assert passed(home, URLSafeSerializer("other").dumps(["ann", 9e9])) == ""
    assert passed(home, "ann") == passed(home, "é") == ""
    other = tmp_path / "other"
    other.mkdir()
    assert passed(home, signed(other, "ann", 9e9)) == ""  # of another home


def test_a_changed_password_and_a_removed_person_are_out_at_once(client, home):
    browser, another = client(), client()
    log_in(browser)
    log_in(another, "vera")
    Users(home).set("ann", None, GOOD + "!")
    Users(home).remove("vera")
    assert browser.get("/").status_code == another.get("/").status_code == 401


def test_who_loses_the_last_password_opens_nothing(client, home):
    browser = client()
    (home / "users.json").unlink()
    assert browser.get("/").status_code == 401
    assert browser.session() == REFUSED


def test_a_users_file_that_is_open_to_others_lets_nobody_in(client, home):
    browser = client()
    log_in(browser)
    (home / "users.json").chmod(0o644)
    told = browser.get("/")
    assert told.status_code == 503
    assert "chmod 600" in told.text


def test_a_damaged_users_file_is_told_at_the_start_and_meanwhile(client, home):
    browser = client()
    log_in(browser)
    (home / "users.json").write_text('{"ann": ')
    told = browser.get("/")
    assert (told.status_code, "users.json cannot be read" in told.text) == (503, True)
    with pytest.raises(SettingsError, match="mend it, or put a copy back"):
        client()


@pytest.mark.parametrize("peer", ["10.0.0.5", "192.168.7.3", "::ffff:10.0.0.5"])
def test_the_proxy_vouches_for_people(client, home, peer):
    browser = client(peer, **PROXY)
    assert passed(home, browser.get("/", headers={"x-remote-user": "ann"}).json()[PERSON]) == "ann"
    assert browser.get("/", headers=PAGE).status_code == 401


@pytest.mark.parametrize("peer", ["203.0.113.9", "127.0.0.1", "10.0.0.50", "192.168.7.8", "testclient", "", "::1"])
def test_nobody_else_does(client, peer):
    browser = client(peer, **PROXY)
    claims = {"x-remote-user": "ann", "x-forwarded-for": "10.0.0.5", "forwarded": "for=10.0.0.5"}
    assert browser.get("/", headers=claims).status_code == 401
    assert browser.session(**claims) == REFUSED


@pytest.mark.parametrize("values", [["ann", "ann"], ["ann", "bob"], ["a\tb"], ["x" * 300], ["\xff"], [""]])
def test_a_header_that_is_not_one_name_counts_for_nothing(client, values):
    browser = client("10.0.0.5", **PROXY)
    headers = [("x-remote-user", value.encode("latin-1")) for value in values]
    assert browser.get("/", headers=headers).status_code == 401


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"WORKPROF_PROXY_HEADER": "X-Remote-User"}, "WORKPROF_PROXY_FROM is not"),
        ({"WORKPROF_PROXY_FROM": "10.0.0.5"}, "WORKPROF_PROXY_HEADER is not"),
        (PROXY | {"WORKPROF_PROXY_FROM": "0.0.0.0/0"}, "which is everybody"),
        (PROXY | {"WORKPROF_PROXY_FROM": "::/0"}, "which is everybody"),
        (PROXY | {"WORKPROF_PROXY_FROM": "proxy.example.org"}, "give addresses"),
        (PROXY | {"WORKPROF_PROXY_HEADER": "X Remote\nUser"}, "name of a header"),
    ],
)
def test_half_a_proxy_is_refused(given, words):
    with pytest.raises(SettingsError, match=words):
        proxy_of(given)


def test_a_page_that_was_reached_past_the_gate_shows_nothing(app, loaded, home):
    Users(home).add("ann", "admin", GOOD)
    test = app("data")
    (told,) = problems(test)
    assert "past the login" in told.replace("\\", "")
    assert not test.sidebar.selectbox


@pytest.mark.parametrize("trusted", [None, "127.0.0.1", "*"])
def test_a_server_that_believes_forwarded_addresses_names_no_proxy(client, monkeypatch, trusted):
    client()
    monkeypatch.delenv("FORWARDED_ALLOW_IPS")
    if trusted is not None:
        monkeypatch.setenv("FORWARDED_ALLOW_IPS", trusted)
    with pytest.raises(SettingsError, match="workprof serve"):
        client("10.0.0.5", **PROXY)
