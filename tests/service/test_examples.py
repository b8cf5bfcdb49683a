"""The examples of docs/service, each beside a real service and beside none."""

import base64
import importlib.util
import json
import math
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.command_line import run_here
from tests.service.conftest import write_wasteful
from tests.service.running import free_port, serving

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "service"
NOBODY_S = 2.0
"""Far more than the 50 ms that an example waits: processes start meanwhile."""


@pytest.fixture(scope="module")
def served(filled, tmp_path_factory):
    home = tmp_path_factory.mktemp("examples") / "home"
    shutil.copytree(filled, home)
    with serving(home, "--dataset", "wasteful", ready="/healthz") as client:
        end = time.monotonic() + 60
        while client.post("/v1/size", json={"task_name": "align"}).status_code == 503:
            assert time.monotonic() < end
            time.sleep(0.1)
        yield client


@pytest.fixture(scope="module")
def advised(filled):
    """A task whose size is advised, and that size in GB."""
    plan = run_here("memory", "plan", "wasteful", "--json", home=filled).json
    one = next(one for one in plan["rows"] if one["resource"] == "memory" and one["action"] == "lower")
    return one["task_name"], one["size_gb"]


def silent_port():
    """Return a listening socket that never answers."""
    silent = socket.create_server(("127.0.0.1", 0))
    return silent, silent.getsockname()[1]


LUA = """
slurm = {SUCCESS = 0, log_user = function(...) io.stderr:write(string.format(...), "\\n") end}
load = loadstring or load
dofile(arg[1])
job = {name = arg[2], pn_min_memory = load("return " .. arg[3])(), user_name = "o'hara \\"x\\"", account = "a\\\\b"}
assert(slurm_job_submit(job, {}, 0) == slurm.SUCCESS)
print(string.format("%.0f", job.pn_min_memory))
"""


def submit(tmp_path, url, name, mib, lua="lua5.4"):
    """Return the request after the script ran; Slurm is built with a Lua of 5.1 to 5.4."""
    assert shutil.which(lua), f"{lua} is not there: apt-get install {lua}"
    script = tmp_path / "submit.lua"
    script.write_text(LUA, encoding="utf-8")
    command = [lua, str(script), str(EXAMPLES / "job_submit.lua"), name, str(mib)]
    environment = os.environ | {"WORKPROF_URL": url}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=30)
    return int(done.stdout)


def test_slurm_takes_the_size_and_keeps_the_request_without_an_answer(served, advised, tmp_path):
    task, size_gb = advised
    url = str(served.base_url)
    for lua in ("lua5.1", "lua5.4"):  # the first may come too late on a busy machine
        sizes = {submit(tmp_path, url, task, 50_000, lua) for _ in range(3)}
        assert -(-size_gb * 1e9 // 2**20) in sizes
    assert submit(tmp_path, url, "never seen; $(false) 'x'", 50_000) == 50_000
    assert submit(tmp_path, url, task, "2^63 + 4096") == 2**63 + 4096  # per CPU
    silent, port = silent_port()
    with silent:
        started = time.monotonic()
        assert submit(tmp_path, f"http://127.0.0.1:{port}", task, 50_000) == 50_000
        assert time.monotonic() - started < NOBODY_S
    assert submit(tmp_path, f"http://127.0.0.1:{free_port()}", task, 50_000) == 50_000


def review_of(task, memory):
    container = {
        "name": "main",
        "image": "x",
        "resources": {"requests": {"memory": memory, "cpu": "2"}, "limits": {"memory": memory}},
    }
    other = {"name": "never seen", "image": "y"}
    pod = {"metadata": {"labels": {}}, "spec": {"containers": [container | {"name": task}, other]}}
    request = {"uid": "705ab4f5", "kind": {"kind": "Pod"}, "operation": "CREATE", "namespace": "team", "object": pod}
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}


def ask_webhook(url, document):
    port = free_port()
    command = [sys.executable, str(EXAMPLES / "kubernetes_webhook.py"), str(port)]
    webhook = subprocess.Popen(command, env=os.environ | {"WORKPROF_URL": url}, stderr=subprocess.DEVNULL)
    try:
        request = urllib.request.Request(f"http://127.0.0.1:{port}", json.dumps(document).encode())
        for _ in range(100):
            try:
                with urllib.request.urlopen(request, timeout=10) as answer:
                    return json.load(answer)["response"]
            except urllib.error.URLError:
                time.sleep(0.05)
        raise AssertionError("the webhook did not answer")
    finally:
        webhook.kill()
        webhook.wait(10)


def test_kubernetes_patches_what_is_advised_and_admits_everything_else(served, advised):
    task, size_gb = advised
    response = next(
        found
        for found in (ask_webhook(str(served.base_url), review_of(task, "64Gi")) for _ in range(3))
        if "patch" in found
    )
    assert (response["uid"], response["allowed"], response["patchType"]) == ("705ab4f5", True, "JSONPatch")
    (patch,) = json.loads(base64.b64decode(response["patch"]))
    memory = f"{-(-size_gb * 1e9 // 2**20):.0f}Mi"
    assert patch == {
        "op": "add",
        "path": "/spec/containers/0/resources",
        "value": {"requests": {"memory": memory, "cpu": "2"}, "limits": {"memory": memory}},
    }
    nobody = ask_webhook(f"http://127.0.0.1:{free_port()}", review_of(task, "64Gi"))
    assert nobody == {"uid": "705ab4f5", "allowed": True}
    silent, port = silent_port()
    with silent:
        assert ask_webhook(f"http://127.0.0.1:{port}", review_of(task, "1e9")) == {"uid": "705ab4f5", "allowed": True}


def webhook_module():
    spec = importlib.util.spec_from_file_location("webhook", EXAMPLES / "kubernetes_webhook.py")
    webhook = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(webhook)
    return webhook


def test_a_container_is_asked_for_by_namespace_workload_and_name():
    pod = {
        "metadata": {
            "labels": {"pod-template-hash": "5d8c7b9f4b"},
            "ownerReferences": [{"kind": "ReplicaSet", "name": "cart-5d8c7b9f4b"}],
        }
    }
    job = webhook_module().job_of({"name": "app", "resources": {"requests": {"memory": "2G"}}}, pod, "shop")
    assert job == {"namespace": "shop", "container": "app", "workload": "cart", "requested_memory_gb": 2.0}


def test_quantities_of_kubernetes():
    webhook = webhook_module()
    found = [webhook.quantity(text) for text in ("512Mi", "2G", "1e9", "128974848", "1500m", "", "x", None)]
    assert found == [512 * 2**20, 2e9, 1e9, 128974848, 1.5, None, None, None]


GROOVY = """
def config = new ConfigSlurper().parse(new File(args[0]).text)
args.drop(2).each { attempt ->
    def memory = config.process.memory.clone()
    memory.delegate = [task: [process: args[1], attempt: attempt as int]]
    memory.resolveStrategy = Closure.DELEGATE_FIRST
    println memory.call()
}
"""


def process_memory(tmp_path, url, process, *attempts):
    """Return what Groovy makes of process.memory, B, for each attempt of a process."""
    assert shutil.which("groovy"), "no groovy found: install it (Debian: apt-get install groovy)"
    script = tmp_path / "memory.groovy"
    script.write_text(GROOVY, encoding="utf-8")
    java = Path(shutil.which("java")).resolve().parents[1]
    environment = os.environ | {"WORKPROF_URL": url, "JAVA_HOME": str(java)}
    command = ["groovy", str(script), str(EXAMPLES / "nextflow.config"), process, *map(str, attempts)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=120)
    assert all(line.endswith(" B") for line in done.stdout.splitlines())
    return [int(line.removesuffix(" B")) for line in done.stdout.splitlines()]


@pytest.mark.soak
def test_nextflow_takes_the_size_of_each_attempt_and_keeps_the_request_without_an_answer(served, advised, tmp_path):
    task, size_gb = advised
    url, attempts = str(served.base_url), (1, 2, 3, 9) * 5  # the first come too late: Java loads its classes
    answer = served.post("/v1/size", json={"task_name": task}).json()
    sizes = [answer["size_gb"], *answer["next_gb"]]
    assert sizes[0] == pytest.approx(size_gb)
    wanted = [sizes[min(n, len(sizes)) - 1] * 2 ** (n - min(n, len(sizes))) for n in attempts]
    found = process_memory(tmp_path, url, f"flow:part:{task}", *attempts)
    asked = {n: {one for one, k in zip(found, attempts, strict=True) if k == n} for n in attempts}
    for n, gb in zip(attempts, wanted, strict=True):
        assert math.ceil(gb * 1e9) in asked[n]
        assert asked[n] <= {math.ceil(gb * 1e9), n * 64 * 10**9}
    request = [64 * 10**9, 128 * 10**9]
    assert process_memory(tmp_path, url, "never_seen", 1, 2) == request
    silent, port = silent_port()
    with silent:
        assert process_memory(tmp_path, f"http://127.0.0.1:{port}", task, 1, 2) == request
    assert process_memory(tmp_path, f"http://127.0.0.1:{free_port()}", task, 1, 2) == request


@pytest.mark.soak
def test_nextflow_asks_for_a_process_as_its_trace_names_it(tmp_path):
    table = tmp_path / "trace.csv"
    write_wasteful(table)
    table.write_text(table.read_text(encoding="utf-8").replace("align", "FLOW:PART:ALIGN"), encoding="utf-8")
    assert run_here("ingest", table, home=tmp_path / "home").status == 0
    assert run_here("memory", "plan", "trace", home=tmp_path / "home").status == 0
    with serving(tmp_path / "home", ready="/healthz") as client:
        end = time.monotonic() + 60
        while (answer := client.post("/v1/size", json={"task_name": "FLOW:PART:ALIGN"})).status_code == 503:
            assert time.monotonic() < end
            time.sleep(0.1)
        assert answer.json()["source"] == "advice"
        found = process_memory(tmp_path, str(client.base_url), "FLOW:PART:ALIGN", *[1] * 9)  # the first come too late
        assert found[-1] == math.ceil(answer.json()["size_gb"] * 1e9)


def test_nextflow_waits_no_longer_than_the_others():
    text = (EXAMPLES / "nextflow.config").read_text(encoding="utf-8")
    assert re.findall(r"(?:connect|read)Timeout = (\d+)", text) == ["50", "50"]
