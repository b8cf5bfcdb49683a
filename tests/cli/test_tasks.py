"""What somebody comes to do with a shell and a service, each in the words in which they would ask for it.

Those of the library are in `tests/library/test_tasks`.
"""

import csv
import io
import json
import shutil
import subprocess
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from tests.campaign.test_campaign import kill_when, written
from tests.command_line import run_here, run_process
from tests.memory.test_verdict import jobs
from tests.pull.servers import fill, postgres
from tests.service.running import serving

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
HEAD = "JobID|JobName|User|Account|Partition|State|Submit|Start|End|ElapsedRaw|ReqMem|NNodes|NCPUS|MaxRSS"


def sacct(n=240):
    """What `sacct -a -P` prints of jobs that request 64 GB and use 4 to 6, each with its batch step."""
    draw, lines = np.random.default_rng(8), [HEAD]
    for at in range(n):
        user, name = ("ann", "ben")[at % 2], ("align", "call")[at // 2 % 2]
        start = 1_767_225_600 + at * 900
        seconds = int(draw.uniform(600, 3000))
        begin, end = (
            datetime.fromtimestamp(one, UTC).strftime("%Y-%m-%dT%H:%M:%S") for one in (start, start + seconds)
        )
        times = f"COMPLETED|{begin}|{begin}|{end}|{seconds}"
        lines.append(f"{1000 + at}|{name}|{user}|lab|long|{times}|64G|1|4|")
        lines.append(f"{1000 + at}.batch|batch|||long|{times}||1|4|{draw.uniform(4e6, 6e6):.0f}K")
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def slurm(home):
    path = home / "sacct.txt"
    path.write_text(sacct(), encoding="utf-8")
    assert run_here("ingest", path, "--name", "slurm", home=home).status == 0
    return path


def test_a_size_by_curl_with_the_names_of_the_trace(slurm, home, tmp_path):
    copy = tmp_path / "home"
    shutil.copytree(home, copy)
    body = {"JobName": "align", "User": "ann", "Account": "lab", "Partition": "long", "ReqMem": "64G"}
    with serving(copy, "--dataset", "slurm", ready="/healthz") as client:
        while client.post("/v1/size", json=body).status_code == 503:
            pass
        curl = ["curl", "-s", "-f", f"{client.base_url}/v1/size", "-d", json.dumps(body)]
        told = json.loads(subprocess.run(curl, capture_output=True, timeout=60, check=True).stdout)
        assert (told["action"], told["source"]) == ("lower", "advice")
        assert told["requested_gb"] == pytest.approx(64 * 1.024**3)
        named = {"task_name": "align", "user": "ann", "group": "lab", "workload": "long"}
        same = client.post("/v1/size", json=named | {"requested_memory_gb": told["requested_gb"]}).json()
        assert same == told


@pytest.mark.soak
def test_a_size_by_curl_with_the_columns_of_a_table_of_ones_own(tmp_path):
    home, table = tmp_path / "home", jobs(3).drop(columns="finished")
    names = {"user": "login", "task_name": "what", "requested_memory_bytes": "asked_mb"}
    table = table.assign(requested_memory_bytes=table["requested_memory_bytes"] / 1e6).rename(columns=names)
    table.to_csv(tmp_path / "own.csv", index=False)
    mapping = {new: {"from": column} for new, column in names.items() if new != "requested_memory_bytes"}
    mapping["requested_memory_bytes"] = {"from": "asked_mb", "unit": "MB"}
    for name in ("submit_time_s", "start_time_s", "end_time_s", "duration_s"):
        mapping[name] = {"from": name, "unit": "s"}
    mapping |= {"peak_memory_bytes": {"from": "peak_memory_bytes", "unit": "B"}, "status": {"from": "status"}}
    (tmp_path / "map.json").write_text(json.dumps(mapping), encoding="utf-8")
    made = run_here("ingest", tmp_path / "own.csv", "--map", tmp_path / "map.json", "--name", "own", home=home)
    assert made.status == 0, made.err
    with serving(home, ready="/healthz") as client:
        body = {"login": "u0", "what": "t0", "asked_mb": 32_000}
        while (told := client.post("/v1/size", json=body)).status_code == 503:
            pass
        same = client.post("/v1/size", json={"user": "u0", "task_name": "t0", "requested_memory_gb": 32}).json()
        assert told.json() == same
        assert same["action"] == "lower"


@pytest.mark.soak
def test_a_campaign_that_was_killed_goes_on_and_runs_nothing_twice(tmp_path):
    plan, ledger = written(tmp_path, repeats=2, at_once=2, pause=0.5)
    kill_when(plan, tmp_path / "home", 2)
    done = run_here("campaign", "run", plan, "--json", home=tmp_path / "home")
    assert done.status == 0, done.err
    assert done.json["states"] == {"SIZED": 8}
    ran = Counter(ledger.read_text().split())
    assert all(4 <= n <= 6 for n in ran.values())  # two were on their way when it was killed


SUBMIT = """
slurm = {SUCCESS = 0}
dofile(arg[1])
job = {user_name = arg[2], name = arg[3], min_mem_per_node = tonumber(arg[4])}
assert(slurm_job_submit(job, {}, 0) == slurm.SUCCESS)
print(string.format("%.0f", job.min_mem_per_node))
"""


def test_a_slurm_snippet_with_an_advice_that_shows_on_the_sample(tmp_path):
    trace = ROOT / "data" / "sample" / "pai_sample.parquet"
    snippet = run_here("size", trace, "--to", "slurm", "-o", tmp_path / "job_submit.lua", home=tmp_path / "home")
    assert snippet.status == 0, snippet.err
    rows = run_here("size", trace, home=tmp_path / "home")
    lowered = [row for row in csv.DictReader(io.StringIO(rows.out)) if row["action"] == "lower"]
    row = next(one for one in lowered if one["resource"] == "memory" and one["user"] and one["task_name"])
    (tmp_path / "submit.lua").write_text(SUBMIT, encoding="utf-8")
    lua = next((one for one in ("lua5.4", "lua5.3", "lua") if shutil.which(one)), None)
    assert lua, "no lua found: install it (Debian: apt-get install lua5.4)"
    asked = round(float(row["request_bytes"]) / 2**20)
    command = [lua, "submit.lua", "job_submit.lua", row["user"], row["task_name"], str(asked)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True)
    assert int(done.stdout) == -(-float(row["size_bytes"]) // 2**20)


@pytest.mark.soak
def test_a_pull_from_postgres_to_what_to_request(tmp_path):
    home, table = tmp_path / "home", jobs(3).drop(columns="finished")
    with postgres() as address:
        fill(address, {"runs": table})
        pulled = run_here("pull", "--from", address, "--table", "runs", "--as", "hpc", "--json", home=home)
    assert pulled.status == 0, pulled.err
    assert pulled.json["ingest"]["rows"] == len(table)
    table.to_csv(tmp_path / "runs.csv", index=False)
    rows = [run_here("memory", "export", "hpc", "--to", "csv", "-o", "-", home=home)]
    rows.append(run_here("size", tmp_path / "runs.csv", home=home))
    told = [[one for one in csv.DictReader(io.StringIO(one.out)) if one["resource"] == "memory"] for one in rows]
    assert [(one["user"], one["task_name"], one["action"]) for one in told[0]] == [
        (one["user"], one["task_name"], one["action"]) for one in told[1]
    ]
    assert "lower" in {one["action"] for one in told[0]}


def test_a_nightly_refresh_after_which_the_service_tells_new_sizes(tmp_path):
    home, folder, lines = tmp_path / "home", tmp_path / "accounting", sacct(480).splitlines(keepends=True)
    folder.mkdir()
    (folder / "week1.txt").write_text("".join(lines[:481]), encoding="utf-8")
    assert run_here("source", "add", "cluster", "--from", "files", "--path", folder, home=home).status == 0
    assert run_process("refresh", "--wait", 60, home=home).status == 0
    with serving(home, "--dataset", "cluster", ready="/healthz") as client:
        body = {"user": "ann", "task_name": "align", "requested_memory_gb": 64}

        def told():
            while (answer := client.post("/v1/size", json=body)).status_code == 503:
                pass
            return answer.json()

        first = told()
        raised = [line.replace("align", "fresh") for line in lines[481:]]
        (folder / "week2.txt").write_text("".join([lines[0], *raised]), encoding="utf-8")
        night = run_process("refresh", "--wait", 60, "--json", home=home)
        assert night.status == 0, night.err
        assert night.json["refreshes"][0]["new"] == 240
        end = time.monotonic() + 120
        while told()["model"] == first["model"] and time.monotonic() < end:
            time.sleep(0.2)
        assert told()["model"]["rows"] == 2 * first["model"]["rows"]
        body["task_name"] = "fresh"
        assert told()["action"] == "lower"
