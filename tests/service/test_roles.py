"""Who may ask the service: a token, a name with its password, or whom the proxy names; a viewer hands nothing in."""

import asyncio
import base64
import time

import httpx
import pytest
from starlette.responses import PlainTextResponse

from tests.command_line import run_here
from tests.service.running import serving
from workprof.core.alerts import Alert, Checked
from workprof.core.roles import Role
from workprof.core.settings import Settings
from workprof.service.app import make_app
from workprof.service.guard import Doors, Guard, Limits
from workprof.service.metrics import Metrics
from workprof.service.state import State
from workprof.store.audit import Audit
from workprof.store.doors import basic_of, proxy_of
from workprof.store.users import Users
from workprof.workbench import Workbench

GOOD = "correct horse battery"
RUN = {"runs": [{"run": "a1", "task_name": "sort", "duration_s": 60}], "dataset": "wasteful"}


def basic(name, password=GOOD):
    return b"Basic " + base64.b64encode(f"{name}:{password}".encode())


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    users = Users(tmp_path_factory.mktemp("people"))
    users.add("paul", "planner", GOOD)
    users.add("vera", "viewer", GOOD)
    users.add("orla", "admin", None)
    return users


def ask(doors, given=b"", peer="203.0.113.9", headers=()):
    return asyncio.run(doors.caller(headers, given, peer))


@pytest.mark.slow
def test_each_way_in_names_who_asks(people):
    doors = Doors("token", people, proxy_of({"WORKPROF_PROXY_HEADER": "X-User", "WORKPROF_PROXY_FROM": "10.0.0.5"}))
    assert doors.closed
    assert ask(doors, b"Bearer token")[0].role is Role.ADMIN
    assert ask(doors, basic("paul"))[0].role is Role.PLANNER
    assert ask(doors, basic("vera"))[0].role is Role.VIEWER
    named = [(b"x-user", b"orla")]
    assert ask(doors, headers=named, peer="10.0.0.5")[0].role is Role.ADMIN
    assert ask(doors, headers=[(b"x-user", b"stranger")], peer="10.0.0.5")[0].role is Role.VIEWER
    for given in (b"", b"Bearer other", b"Bearer", b"token", basic("orla", ""), basic("nobody"), b"Basic !!", b"Basic"):
        assert ask(doors, given, headers=named) == (None, 0.0)  # the header of another peer counts for nothing


@pytest.mark.slow
def test_a_password_is_looked_at_once_a_minute_and_a_change_counts_at_once(people):
    doors = Doors(users=people)
    assert ask(doors, basic("paul"))[0]
    begun = time.process_time()
    for _ in range(20):
        assert ask(doors, basic("paul"))[0].role is Role.PLANNER
    assert time.process_time() - begun < 0.5
    people.set("paul", "viewer", None)
    assert ask(doors, basic("paul"))[0].role is Role.VIEWER
    people.set("paul", None, GOOD + "!")
    assert ask(doors, basic("paul"))[0] is None
    people.set("paul", "planner", GOOD)


@pytest.mark.slow
def test_guesses_are_slowed_and_noted(people):
    doors = Doors(users=people)
    waits = [ask(doors, basic("vera", f"wrong password {n}"), "198.51.100.7")[1] for n in range(7)]
    assert waits[0] == 0
    assert waits[-1] > 0
    noted = [one for one in Audit(people._home).entries(99) if "198.51.100.7" in one.what]
    assert len(noted) == waits.count(0) < 7  # what was not looked at does not fill the log
    assert {(one.deed, one.who, one.door) for one in noted} == {("login failed", "vera", "service")}


@pytest.mark.parametrize("given", [b"", b"Basic", b"Basic QQ==", b"Basic \xff", b"Bearer YTpi", b"Basic /////w=="])
def test_what_is_no_name_and_password_is_none(given):
    assert basic_of(given) is None


def test_without_people_or_token_this_machine_alone_is_answered(tmp_path):
    doors = Doors(users=Users(tmp_path))
    assert not doors.closed
    assert ask(doors)[0].role is Role.ADMIN


def test_the_rate_counts_who_is_not_let_in(tmp_path):
    guard = Guard(PlainTextResponse("in"), doors=Doors("token"), limits=Limits(rate=2.0), metrics=Metrics())

    async def asked():
        async with httpx.AsyncClient(transport=httpx.ASGITransport(guard), base_url="http://service") as client:
            return [(await client.get("/v1/questions")).status_code for _ in range(4)]

    assert asyncio.run(asked())[::3] == [401, 429]


def test_who_loses_the_last_password_opens_nothing(tmp_path):
    users = Users(tmp_path)
    users.add("ann", "admin", GOOD)
    doors = Doors(users=Users(tmp_path))
    assert doors.closed
    users.remove("ann")
    assert doors.closed
    assert ask(doors) == (None, 0.0)


def test_metrics_tell_a_viewer_the_alerts_that_viewers_see(tmp_path, people):
    settings = Settings(home=tmp_path / "home", data=tmp_path, pseudonyms=("user",))
    with Workbench(settings) as bench, Workbench(settings.seen_by(Role.VIEWER)) as seen:
        whole, apart = State(bench), State(seen)
        for state, name in ((whole, "ann"), (apart, "user-1")):
            state.checked = (Checked(Alert(name, f"jobs?user={name}", "kills", ">", 1.0), 2.0),)
            state._checked_at = time.monotonic()
        app = make_app(whole, lambda: apart, doors=Doors(users=people))

        async def told(who):
            async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://service") as client:
                return (await client.get("/metrics", headers={"Authorization": basic(who).decode()})).text

        assert 'alert="user-1",dataset="jobs"} 2.0' in (viewers := asyncio.run(told("vera")))
        assert "ann" not in viewers
        assert 'alert="ann"' in asyncio.run(told("paul"))
        whole.close()
        apart.close()


@pytest.mark.slow
def test_a_viewer_asks_and_hands_nothing_in(home, people):
    for name in ("users.json", "secret"):
        source = people._home / name
        if source.exists():
            (home / name).write_bytes(source.read_bytes())
            (home / name).chmod(0o600)
    with serving(home, ready="/healthz") as service:

        def status(method, path, who="", **more):
            headers = {"Authorization": basic(who).decode()} if who else {}
            return service.request(method, path, headers=headers, **more).status_code

        assert status("GET", "/v1/questions") == status("GET", "/metrics") == 401
        assert status("GET", "/v1/questions", "vera") == 200
        assert status("GET", "/v1/questions/memory.rollup?dataset=wasteful", "vera") in (200, 422, 503)
        refused = service.post("/v1/observations", json=RUN, headers={"Authorization": basic("vera").decode()})
        assert refused.status_code == 403, refused.text
        assert "you are a viewer" in refused.json()["detail"]
        assert status("POST", "/v1/observations", "paul", json=RUN) == 200
        for run in ("a2", "a3"):
            more = {"runs": [RUN["runs"][0] | {"run": run}], "dataset": "wasteful?task_name=sort"}
            assert status("POST", "/v1/observations", "paul", json=more) == 200
        assert status("POST", "/v1/observations", "paul", json=RUN) == 200  # known already
        again = status("GET", "/v1/observations?dataset=wasteful", "vera")
        assert again == 403
    told = [(one.who, one.role, one.door, one.what) for one in Audit(home).entries(99) if one.deed == "finished runs"]
    assert [one for one in told if one[0] == "paul"] == [
        ("paul", "planner", "service", "wasteful: 2"),
        ("paul", "planner", "service", "wasteful: 1"),
    ]
    assert {one[2] for one in told} == {"service"}
    assert all(one[3].startswith("wasteful: ") for one in told)


@pytest.mark.slow
def test_nobody_comes_in_while_the_file_of_users_is_damaged(tmp_path, caplog):
    users = Users(tmp_path)
    users.add("paul", "planner", GOOD)
    guard = Guard(PlainTextResponse("in"), doors=Doors(users=users), limits=Limits(), metrics=Metrics())

    def asked():
        async def get():
            transport = httpx.ASGITransport(guard)
            async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
                return await client.get("/v1/questions", headers={"Authorization": basic("paul").decode()})

        return asyncio.run(get())

    assert asked().text == "in"
    path = tmp_path / "users.json"
    whole = path.read_bytes()
    for damaged in (b"", whole[: len(whole) // 2], b"[1, 2]", whole.replace(b"planner", b"king")):
        path.write_bytes(damaged)
        refused = asked()
        assert refused.status_code == 503
        assert refused.headers["retry-after"]
        assert "the log of this service says why" in refused.json()["detail"]
        assert str(tmp_path) not in refused.text
        assert "nobody comes in: " in caplog.text
        caplog.clear()
    path.write_bytes(whole)
    assert asked().text == "in"


@pytest.mark.parametrize("api", [[], ["--api"]])
def test_nothing_listens_for_others_where_nobody_logs_in(tmp_path, api):
    refused = run_here("serve", *api, "--host", "0.0.0.0", home=tmp_path / "home")
    assert refused.status == 2
    assert len(refused.err.strip().splitlines()) == 1
    for words in ("others can reach", "workprof user add", "WORKPROF_TOKEN" if api else "WORKPROF_LOGIN=1"):
        assert words in refused.err
    half = run_here("serve", *api, home=tmp_path / "home", WORKPROF_PROXY_HEADER="X-User")
    assert "WORKPROF_PROXY_FROM is not" in half.err
