"""What a careless or hostile client sends: a short answer at once, and everybody else is answered meanwhile."""

import asyncio
import contextlib
import http.client
import json
import shutil
import signal
import socket
import threading
import time

import httpx
import pandas as pd
import pytest
import uvicorn

from tests.benchmarks.service import used_s
from tests.command_line import run_here, run_process
from tests.service.conftest import until_ready
from tests.service.running import free_port, serving, start
from workprof.core.text import near
from workprof.memory.questions import VERDICT
from workprof.service.app import LONG_S, Threads
from workprof.service.bodies import document_of, refuse_odd, runs_of
from workprof.service.guard import UNEXPECTED, Doors, Guard, Limits
from workprof.service.jobs import MOST_PROBLEMS, BadFields, FieldReader, number_of
from workprof.service.metrics import Metrics
from workprof.service.models import Job, ObserveBody
from workprof.service.prediction import Batches, TooMany
from workprof.service.questions import settings_from
from workprof.service.server import END_WITHIN_S, HEAD_WITHIN_S, Bounded
from workprof.service.state import FIRST_S, Held, NotReady

pytestmark = pytest.mark.slow

AT_ONCE_S = 0.1
OF_PARSING = 0.5
"""On a slow or busy machine: the share of what it takes there to parse 300,000 keys."""
MOST_ANSWERED = 100_000
"""Bytes of any refusal."""


@pytest.fixture(scope="module")
def client(filled, tmp_path_factory):
    home = tmp_path_factory.mktemp("attacked") / "home"
    shutil.copytree(filled, home)
    with serving(home, "--dataset", "small") as found:
        until_ready(found)
        yield found


def jobs(n, one):
    return json.dumps({"jobs": [one] * n}).encode()


HOSTILE = {
    "unknown keys of many jobs": lambda: jobs(10_000, {f"unknown {i}": i for i in range(15)}),
    "unknown keys of one job": lambda: json.dumps({f"unknown {i}": i for i in range(300_000)}).encode(),
    "unknown keys beside many objects": lambda: (
        b'{"jobs":[' + b"{}," * 2_000 + json.dumps({f"unknown {i}": i for i in range(140_000)}).encode() + b"]}"
    ),
    "bad numbers of many jobs": lambda: jobs(10_000, {"user": "a", "instances": "many", "requested_memory_gb": -1}),
    "texts for numbers": lambda: json.dumps({"jobs": [{"instances": f"{i}x"} for i in range(10_000)]}).encode(),
    "many empty objects": lambda: b'{"jobs":[' + b",".join([b"{}"] * 2_000_000) + b"]}",
    "many numbers": lambda: b'{"jobs":[' + b",".join([b"1"] * 3_000_000) + b"]}",
    "many lists": lambda: b'{"user":' + b"[" * 3_000_000,
    "a long value": lambda: json.dumps({"user": "x" * 7_000_000}).encode(),
    "a long number": lambda: b'{"user":"a","instances":' + b"9" * 7_000_000 + b"}",
    "a long text for a number": lambda: json.dumps({"user": "a", "instances": "9" * 7_000_000}).encode(),
    "a long name": lambda: json.dumps({"x" * 7_000_000: 1}).encode(),
    "a long dataset": lambda: json.dumps({"user": "a", "dataset": "x" * 1_000_000}).encode(),
    "a long word": lambda: json.dumps({"user": "a", "by": "x" * 1_000_000, "explain": "x" * 1_000_000}).encode(),
    "a long id": lambda: json.dumps({"user": "a", "run": "x" * 1_000_000}).encode(),
    "a nested value": lambda: b'{"user":' + b'{"a":' * 900 + b"1" + b"}" * 901,
    "bytes": lambda: bytes(range(128, 256)) * 50_000,
}
"""Name -> what makes the body: together they are of many megabytes."""


def refused(answer, status=422):
    assert answer.status_code == status, answer.text[:500]
    assert len(answer.content) < MOST_ANSWERED
    told = answer.json()
    assert 1 <= len(told["errors"]) <= MOST_PROBLEMS
    return told


def parsing_s():
    """Processor time that parsing many keys takes here and now."""
    content, took = HOSTILE["unknown keys of one job"](), []
    for _ in range(3):
        before = time.process_time()
        json.loads(content)
        took.append(time.process_time() - before)
    return min(took)


@pytest.mark.some(9)
@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("path", ["/v1/predict", "/v1/size", "/v1/observations"])
def test_whatever_is_sent_is_refused_at_once_in_a_few_lines(client, path, name):
    took, content = [], HOSTILE[name]()
    at_once_s = max(AT_ONCE_S, OF_PARSING * parsing_s())
    for _ in range(5):
        before = used_s(client.server_pid)
        answer = client.post(path, content=content)
        refused(answer)
        # of the server's own time where others have the cores
        took.append(min(answer.elapsed.total_seconds(), used_s(client.server_pid) - before))
        if took[-1] < at_once_s:
            break
    assert min(took) < at_once_s, took


def test_long_words_of_a_query_are_refused_at_once(client):
    for path, query in (
        ("/v1/profiles", {"dataset": "x" * 10_000}),
        ("/v1/observations", {"dataset": "x" * 10_000}),
        ("/v1/questions/memory.bins", {"dataset": "x" * 10_000, "task": "worker"}),
        ("/v1/questions/memory.bins", {"x" * 10_000: "1"}),
        ("/v1/questions/memory.bins", {"task": "worker", "k": "9" * 10_000}),
        ("/v1/questions/memory.bins", {"task": "worker", "weight": "x" * 10_000}),
    ):
        refused(client.get(path, params=query))
    assert client.get("/v1/profiles", params={"dataset": "x" * 20_000}).status_code == 414


def test_a_long_name_is_compared_with_none():
    assert near("worker1", ["worker"])
    started = time.perf_counter()
    assert near("x" * 1_000_000, ["y" * 80] * 100) == ""
    assert time.perf_counter() - started < AT_ONCE_S


def test_numbers_are_those_of_an_ingest():
    assert [number_of(text) for text in ("12", " 1.5 ", "1e3", "+4", ".5", 7, 0.5)] == [12, 1.5, 1000, 4, 0.5, 7, 0.5]
    for text in ("1_000", "١٢", "１２", "nan", "inf", "0x10", "1e400", "-1", "1,5", "", "9" * 100, True, None, [1]):
        assert number_of(text) is None, text


def test_numbers_of_a_trace_may_carry_its_units():
    reader = FieldReader.of_trace("slurm", {})
    read = {
        text: reader.read({"JobName": "align", "ReqMem": text})["requested_memory_bytes"]
        for text in ("64G", "64Gn", "65536", "1T", "512M")
    }
    assert read == {"64G": 2**36, "64Gn": 2**36, "65536": 2**36, "1T": 2**40, "512M": 2**29}
    for text in ("64 apples", "64 disc", "٦٤G", "-1G"):
        with pytest.raises(BadFields):
            reader.read({"JobName": "align", "ReqMem": text})
    assert FieldReader().read({"user": "a", "requested_memory_gb": "2"})["requested_memory_bytes"] == 2e9
    with pytest.raises(BadFields, match="requested_memory_gb is 3; allowed: either it or requested_memory_bytes"):
        FieldReader().read({"user": "a", "requested_memory_bytes": 2e9, "requested_memory_gb": 3})
    for cores in ({"ReqCPUS": 4}, {"requested_cpu_percent": 400}):
        for given in ({"ReqMem": "4Gc", **cores}, {**cores, "ReqMem": "4Gc "}):
            assert reader.read({"JobName": "align", **given})["requested_memory_bytes"] == 2**34
    with pytest.raises(BadFields):
        reader.read({"JobName": "align", "ReqMem": "8Tc", "ReqCPUS": 1e7})
    assert FieldReader().read({"requested_memory_gb": "2Gc", "requested_cpu_percent": 300}) == {
        "requested_memory_bytes": 6 * 2**30,
        "requested_cpu_percent": 300.0,
    }
    whole = FieldReader.of_trace("slurm", {"group": {"from": "lab", "unit": ""}})
    assert whole.read({"JobName": "align", "ReqCPUS": 4, "lab": "x"}) == {
        "task_name": "align",
        "requested_cpu_percent": 400.0,
        "group": "x",
    }


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("ReqMem", "4G of it", "a number from 0 to 1.71799e+10, or a size of the whole job such as 64G"),
        (
            "ReqMem",
            "4Gc",
            "a size of the whole job such as 64G, or one of each core beside requested_cpu_percent or the trace's own "
            "CPUs",
        ),
        ("requested_memory_gb", "much", "a number from 0 to 1.80144e+07, or a size of the whole job such as 64G"),
        ("requested_cpu_percent", 1e12, "a number from 0 to 2e+09 percent, such as 200 for two cores or GPUs"),
        ("Submit", "yesterday", "a number from 0 to 1e+11, or a moment such as 2024-05-06T10:00:00Z"),
        ("ReqCPUS", "8 cores", "a number from 0 to 2e+07"),
        ("duration_s", 1e17, "a number from 0 to 3.15576e+09, or a time such as 01:30:00"),
    ],
)
def test_a_number_is_refused_beyond_what_an_ingest_takes_and_told_what_is_allowed(name, value, allowed):
    reader = FieldReader.of_trace("slurm", {}, ("duration_s",))
    with pytest.raises(BadFields) as refused:
        reader.read({"JobName": "align", name: value})
    assert refused.value.problems[0].allowed == allowed


def test_the_description_has_the_largest_number_that_is_taken():
    told = Job.model_json_schema()["properties"]
    for name in ("requested_memory_bytes", "requested_memory_gb", "requested_cpu_percent", "submit_time_s"):
        most = told[name]["anyOf"][0]["maximum"]
        assert FieldReader(("submit_time_s",)).read({"user": "a", name: most})
        with pytest.raises(BadFields):
            FieldReader(("submit_time_s",)).read({"user": "a", name: most * 1.001})


def test_a_field_under_two_names_says_one_thing():
    """Of a trace's own columns of one field that counts which an ingest takes; no other doubt is settled in silence."""
    reader = FieldReader.of_trace("slurm", {})
    for given in ({"User": "ann", "user": "bob"}, {"ReqMem": "32G", "requested_memory_gb": 8, "User": "ann"}):
        for pairs in (given.items(), reversed(given.items())):
            with pytest.raises(BadFields, match="allowed: either it or "):
                reader.read(dict(pairs))
    assert reader.read({"User": "ann", "user": "ann"}) == {"user": "ann"}
    for names in (("ReqCPUS", "AllocCPUS"), ("AllocCPUS", "ReqCPUS")):
        cpus = {"ReqCPUS": 7, "AllocCPUS": 8}
        assert reader.read({name: cpus[name] for name in names}) == {"requested_cpu_percent": 700.0}


def test_a_run_does_not_end_before_it_starts():
    reader = FieldReader(("start_time_s", "end_time_s"))
    run = {"run": "a", "task_name": "sort", "start_time_s": 100}
    with pytest.raises(BadFields, match=r"end_time_s of job 1 is 50.0; allowed: a moment that is not before the start"):
        runs_of({"runs": [run | {"end_time_s": 100}, run | {"end_time_s": 50}]}, reader)


def test_a_refusal_says_each_thing_once():
    with pytest.raises(BadFields) as refused:
        refuse_odd({"run": 1.5, "task_name": "sort"}, ObserveBody)
    assert len(refused.value.problems) == 1
    with pytest.raises(BadFields) as refused:
        settings_from(VERDICT, [("acceptable_kills", "-1")])
    assert refused.value.problems[0].allowed == "give a number such as 3, or a share such as 0.5%"


@pytest.mark.parametrize(
    "body",
    [
        b'{"task_name": "a", "task_name": "b"}',
        b'{"jobs": [{"user": "x"}, {"task_name": "a:b", "user": "x", "task_name": "b"}]}',
        b'{"task_name": "a", "jobs": [{"user": "c"}], "jobs": [], "task_name": "b"}',
    ],
)
def test_an_object_with_a_name_twice_is_refused(body):
    with pytest.raises(BadFields, match="allowed: one value: it is given more than once"):
        document_of(body)


def test_colons_in_texts_are_no_names():
    for text in (b'{"task_name": "a:b", "Submit": "10:00:00"}', b'{"a": ' + b"[" * 1000 + b'":"' + b"]" * 1000 + b"}"):
        assert document_of(text)


def half_sent(port, n, text=b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "):
    opened = []
    for _ in range(n):
        one = socket.create_connection(("127.0.0.1", port))
        one.sendall(text)
        opened.append(one)
    return opened


def is_closed(one):
    one.settimeout(5)
    try:
        while part := one.recv(4096):
            assert not part.startswith(b"HTTP/1.1 200"), part
    except ConnectionError:
        return True
    except TimeoutError:
        return False
    return True


def test_half_sent_headers_are_not_waited_for(client):
    """Nor are those that come letter by letter, nor a head without an end."""
    port = client.base_url.port
    opened = half_sent(port, 200) + half_sent(port, 100, b"")
    end = time.monotonic() + HEAD_WITHIN_S + 2
    while time.monotonic() < end:
        for one in opened[:20]:
            try:
                one.sendall(b"x")
            except OSError:
                break
        assert client.get("/healthz").status_code == 200
        time.sleep(0.5)
    assert all(map(is_closed, opened))
    (endless,) = half_sent(port, 1)
    with pytest.raises(OSError):
        for _ in range(100):
            endless.sendall(b"x" * 100_000)
            time.sleep(0.01)
    for one in (*opened, endless):
        one.close()


def test_connections_are_limited_and_go_back(client):
    port = client.base_url.port
    opened = half_sent(port, 600)
    until = time.monotonic() + 5
    while (status := httpx.get(f"http://127.0.0.1:{port}/healthz").status_code) == 200 and time.monotonic() < until:
        time.sleep(0.1)
    for one in opened:
        one.close()
    assert status == 503
    until_ready(client, "/healthz")


def test_others_are_answered_while_a_large_body_is_read_and_a_question_computed(client):
    stop, slowest, bodies = threading.Event(), [], [made() for made in HOSTILE.values()]

    def ask():
        with httpx.Client(base_url=client.base_url, timeout=30) as own:
            while not stop.is_set():
                slowest.append(own.get("/healthz").elapsed.total_seconds())
                time.sleep(0.005)

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        for body in bodies:
            client.post("/v1/predict", content=body)
        found = client.get("/v1/questions/profiles.stability")
        assert found.status_code == 200, found.text
    finally:
        stop.set()
        asking.join()
    assert sorted(slowest)[int(len(slowest) * 0.95)] < AT_ONCE_S
    assert max(slowest) < 1.0


def test_what_is_kept_is_answered_while_other_questions_are_computed(client):
    kept = {"task": "worker", "k": "2"}
    assert client.get("/v1/questions/memory.bins", params=kept).status_code == 200

    def ask(seed):
        with contextlib.suppress(httpx.HTTPError):  # nobody waits for it
            url = f"{client.base_url}/v1/questions/memory.replay"
            httpx.get(url, params={"policies": "all", "seed": seed}, timeout=60)

    long = [threading.Thread(target=ask, args=(seed,), daemon=True) for seed in range(21, 25)]
    for one in long:
        one.start()
    time.sleep(0.5)
    answers = [client.get("/v1/questions/memory.bins", params=kept) for _ in range(5)]
    assert all(one.is_alive() for one in long)
    assert {one.status_code for one in answers} == {200}
    assert min(one.elapsed.total_seconds() for one in answers) < 1


def test_readyz_tells_strangers_no_name(filled, tmp_path):
    run_home = tmp_path / "home"
    table = pd.DataFrame({"task_name": ["a"], "duration_s": [1.0], "status": ["running"]})
    table.to_csv(tmp_path / "runs.csv", index=False)
    made = run_here("ingest", tmp_path / "runs.csv", "--name", "secret-project", "--json", home=run_home)
    assert made.status == 0, made.err
    hashed = made.json["hash"]
    with (
        serving(run_home, ready="/healthz", WORKPROF_TOKEN="t0k3n") as client,
        httpx.Client(base_url=client.base_url) as stranger,
    ):
        told = stranger.get("/readyz")
        assert told.status_code == 503
        assert not any(word in told.text for word in ("secret-project", hashed, hashed[:8]))
        assert int(told.headers["retry-after"]) >= 1
        while "still being made" in (known := client.get("/readyz").json()["detail"]):
            time.sleep(0.1)
        assert "secret-project" in known
        assert "secret-project" not in stranger.get("/readyz").text
        for scheme in ("Bearer", "bearer", "BEARER"):
            assert stranger.get("/metrics", headers={"Authorization": f"{scheme} t0k3n"}).status_code == 200
        assert stranger.get("/metrics", headers={"Authorization": "Basic t0k3n"}).status_code == 401


def test_the_service_ends_within_five_seconds_whatever_it_computes(home):
    port = free_port()
    server = start(home, port)
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
        until_ready(client, "/healthz")

        told = []

        def ask(seed):
            path = f"/v1/questions/memory.replay?policies=all&seed={seed}"
            with contextlib.suppress(httpx.HTTPError):  # the server goes away
                told.append(httpx.get(f"http://127.0.0.1:{port}{path}", timeout=60))

        asking = [threading.Thread(target=ask, args=(seed,)) for seed in range(4)]
        for one in asking:
            one.start()
        run = {"run": "last", "task_name": "worker", "duration_s": 60, "end_time_s": 1e6}
        assert client.post("/v1/observations", json=run).json()["accepted"] == 1
        time.sleep(1)
        assert any(one.is_alive() for one in asking)
        started = time.monotonic()
        server.send_signal(signal.SIGTERM)
        assert server.wait(60) == 0
        assert time.monotonic() - started < END_WITHIN_S + 1.5
        for one in asking:
            one.join()
        assert {(one.status_code, one.headers.get("retry-after")) for one in told} <= {(200, None), (503, "5")}
        assert any(one.status_code == 503 for one in told)
    (kept,) = (home / "observations").glob("*.jsonl")
    assert '"last"' in kept.read_text()


def test_what_is_imported_later_is_answered_without_a_restart_and_without_a_gap(home, tmp_path):
    """The trace that was loaded last is meant; the one before answers until the new one is learned."""
    with serving(home) as client:
        before = client.post("/v1/size", json={"task_name": "worker"}).json()["model"]
        assert before["dataset"] == "small"
        runs = [one for one in run_here("runs", "--json", home=home).json if one["run"] == before["version"]]
        assert (runs[0]["step"], runs[0]["created"]) == ("memory.verdict", before["trained"])
        path = tmp_path / "newer.parquet"
        assert run_here("synth", "pai", "--rows", 1200, "-o", path, "--seed", 9, home=home).status == 0
        made = run_process("ingest", path, "--name", "newer", home=home)
        assert made.status == 0, made.err
        end = time.monotonic() + 120
        while True:
            answer = client.post("/v1/size", json={"task_name": "worker"})
            assert answer.status_code == 200, answer.text
            if answer.json()["model"]["dataset"] == "newer":
                break
            assert time.monotonic() < end
            time.sleep(0.05)
        assert answer.json()["model"]["version"] != before["version"]
        while (again := client.post("/v1/size", json={"task_name": "x", "dataset": "small"})).status_code == 503:
            assert time.monotonic() < end
            time.sleep(0.05)
        assert again.json()["model"] == before
        renamed = run_process("rename", "newer", "newest", home=home)
        assert renamed.status == 0, renamed.err
        end = time.monotonic() + 30
        while client.post("/v1/size", json={"task_name": "x", "dataset": "newest"}).status_code != 200:
            assert time.monotonic() < end
            time.sleep(0.05)
        assert client.post("/v1/size", json={"task_name": "x", "dataset": "newer"}).status_code == 404


def test_retry_after_is_what_is_left_of_the_time_that_it_usually_takes():
    held, go = Held(), threading.Event()
    try:
        with pytest.raises(NotReady) as first:
            held.get("a", lambda: go.wait() and 1, lambda: 40.0)
        assert 39 < first.value.wait_s <= 40
        time.sleep(1.2)
        with pytest.raises(NotReady) as second:
            held.get("a", lambda: 2, lambda: FIRST_S)
        assert 38 < second.value.wait_s < 39
        go.set()
        end = time.monotonic() + 5
        while time.monotonic() < end:
            try:
                assert held.get("a", lambda: 3, lambda: 0.0) == 1
                break
            except NotReady:
                time.sleep(0.01)
        else:
            raise AssertionError("not made")
    finally:
        go.set()
        held.close()


def test_who_comes_when_too_many_wait_is_told_how_long_those_take():
    batches = Batches()
    batches.waiting = 20_000
    batches._rate = 400.0
    with pytest.raises(TooMany) as told:
        batches.predict(None, [{}]).send(None)
    assert told.value.wait_s == 50
    batches.close()


def test_long_questions_hold_up_no_short_one():
    threads, go = Threads(), threading.Event()

    async def asked():
        long = [asyncio.create_task(threads.heavy(go.wait, takes_s=LONG_S + 1)) for _ in range(3)]
        await asyncio.sleep(0)
        told = [await asyncio.wait_for(threads.heavy(lambda: 7, takes_s=takes_s), 5) for takes_s in (0.0, LONG_S)]
        assert told == [7, 7]
        assert not any(one.done() for one in long)
        go.set()
        assert await asyncio.gather(*long) == [True] * 3

    try:
        asyncio.run(asked())
    finally:
        go.set()
        threads.close()


async def _fails(scope, receive, send):
    if scope["path"] == "/late":
        await send({"type": "http.response.start", "status": 200, "headers": []})
    if scope["path"] != "/well":
        raise ZeroDivisionError("nobody foresaw it")
    await send({"type": "http.response.start", "status": 204, "headers": [(b"connection", b"keep-alive")]})
    await send({"type": "http.response.body"})


def test_an_error_that_nobody_foresaw_is_answered_and_the_connection_serves_the_next_request(caplog):
    port, metrics = free_port(), Metrics()
    guarded = Guard(_fails, doors=Doors(), limits=Limits(), metrics=metrics)
    server = uvicorn.Server(uvicorn.Config(guarded, port=port, http=Bounded, lifespan="off", log_level="critical"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
            while not server.started:
                time.sleep(0.01)
            for _ in range(3):
                connection.request("GET", "/ill")
                answer = connection.getresponse()
                told = json.loads(answer.read())
                assert (answer.status, told["detail"]) == (500, UNEXPECTED)
                kept = connection.sock
                connection.request("GET", "/well")
                answer = connection.getresponse()
                assert (answer.status, answer.read()) == (204, b"")
                assert connection.sock is kept is not None
            connection.request("GET", "/late")
            with pytest.raises(http.client.HTTPException):  # half an answer is not taken for a whole one
                connection.getresponse().read()
    finally:
        server.should_exit = True
        thread.join()
    assert "nobody foresaw it" in caplog.text
