"""Exports of a verdict: read back by a reader of each form; what a row says is what a job gets."""

import csv
import dataclasses
import io
import json
import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
import yaml

from workprof.answers.verdict_exports import EXPORTS, exported, rows_in, shared
from workprof.core.errors import SettingsError
from workprof.core.units import GB, MIB
from workprof.memory.exports import Origin
from workprof.memory.resources import MEMORY, TIME
from workprof.memory.verdict import VerdictSettings, verdict_of
from workprof.memory.verdict_rows import KEEP, LOWER, RAISE
from workprof.memory.verdict_sizes import Sizes

ORIGIN = Origin('trace "x"\n# y', "abc123", "0.6")
GIB = 2**30


def runs(n=400, seed=0, **columns):
    """Runs one after the other; each key uses a stable share of its request."""
    rng = np.random.default_rng(seed)
    at = np.arange(n) * 600.0
    used = columns["requested_memory_bytes"] * columns.pop("share") * rng.uniform(0.97, 1.0, n)
    return pd.DataFrame(
        {
            "peak_memory_bytes": used,
            "submit_time_s": at,
            "start_time_s": at,
            "end_time_s": at + 300,
            "duration_s": 300.0,
            "status": "COMPLETED",
            "finished": True,
        }
        | columns
    )


def slurm_jobs(n=400, **more):
    kind = np.arange(n) % 4  # ana's train of 32 GiB and of 8 GiB, bob's train, and one that uses what it asks
    return runs(
        n,
        user=np.array(["ana", "ana", "bob", "bob"])[kind],
        task_name=np.array(["train", "train", "train", 'o"dd\nname'])[kind],
        requested_memory_bytes=np.array([32.0, 8.0, 32.0, 16.0])[kind] * GIB,
        share=np.array([0.3, 0.5, 0.6, 1.04])[kind],
        **more,
    )


def verdict(table, **settings):
    return verdict_of({"jobs": table}, VerdictSettings(**settings))


@pytest.fixture(scope="module")
def slurm():
    return verdict(slurm_jobs(time_limit_s=36_000.0))


def told(found, to):
    return exported(to, found, ORIGIN).decode()


def test_csv_and_json_hold_every_row_with_exact_bytes(slurm):
    rows = list(csv.DictReader(io.StringIO(told(slurm, "csv"), newline="")))
    documents = json.loads(told(slurm, "json"))["rows"]
    memory = rows_in(slurm, MEMORY)
    assert len(rows) == len(documents) == len(memory) + len(rows_in(slurm, TIME))
    assert {row.action for row in memory} == {LOWER, KEEP}
    for row, document, one in zip(rows, documents, memory, strict=False):
        assert (row["user"], row["task_name"]) == (one.key["user"], one.key["task_name"])
        assert (row["resource"], row["action"], row["per_request"]) == ("memory", one.action, "yes")
        assert int(row["request_bytes"]) == document["request_bytes"] == round(one.request * GB)
        assert int(row["size_bytes"]) == document["size_bytes"] == round(one.size * GB)
        assert [int(size) for size in row["retry_bytes"].split()] == [round(size * GB) for size in one.retry]
        assert (row["action"] == KEEP) == (row["request_bytes"] == row["size_bytes"])
        assert float(row["kills_per_1000_low"]) <= float(row["kills_per_1000_high"])
        assert row["why"] == document["why"] != ""
    assert {row["dataset_hash"] for row in rows} == {"abc123"}


@pytest.mark.parametrize("to", [name for name in EXPORTS if name not in ("csv", "json")])
def test_no_name_of_a_trace_leaves_its_comment_or_quotes(to):
    table = slurm_jobs()
    table["task_name"] = table["task_name"].replace("train", 'a"); os.exit(1) --\n${x} \\u000a')
    found = verdict(table)
    text = told(found, to)
    assert all(line.isprintable() for line in text.splitlines())
    assert 'trace "x" # y' in text
    assert not any(line.startswith(("${x}", "name")) for line in text.splitlines())


LUA = """
slurm = {SUCCESS = 0, NO_VAL = 4294967294}
dofile(arg[1])
local parts = load("return " .. arg[2])()
for line in io.lines() do
  local user, name, node, cpu, minutes, account, partition = line:match("(.-)|(.-)|(.-)|(.-)|([^|]*)|?([^|]*)|?(.*)")
  local job = {user_name = user, name = name, account = account, partition = partition ~= "" and partition or nil,
    min_mem_per_node = tonumber(node), min_mem_per_cpu = tonumber(cpu), time_limit = tonumber(minutes)}
  assert(slurm_job_submit(job, parts, 0) == slurm.SUCCESS)
  print(job.min_mem_per_node, job.min_mem_per_cpu, job.time_limit)
end
"""


def submitted(tmp_path, text, *jobs, parts="{}"):
    """Return (MiB per node, MiB per CPU, minutes) of jobs after they passed the script; '' = not said.

    A job is user, name, MiB per node, MiB per CPU, minutes, and what it says of account and partition.
    """
    lua = next((one for one in ("lua5.4", "lua5.3", "lua") if shutil.which(one)), None)
    assert lua, "no lua found: install it (Debian: apt-get install lua5.4)"
    (tmp_path / "job_submit.lua").write_text(text, encoding="utf-8")
    (tmp_path / "submit.lua").write_text(LUA, encoding="utf-8")
    done = subprocess.run(
        [lua, str(tmp_path / "submit.lua"), str(tmp_path / "job_submit.lua"), parts],
        input="".join("|".join(map(str, job)) + "\n" for job in jobs),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return [[None if one == "nil" else float(one) for one in line.split()] for line in done.stdout.splitlines()]


def mib(size):
    return -(-round(size * GB) // MIB)


def test_slurm_gives_a_job_the_row_of_its_user_name_and_request(slurm, tmp_path):
    sizes = {(row.key["user"], row.key["task_name"], row.request): row for row in rows_in(slurm, MEMORY)}
    minutes = {(row.key["user"], row.key["task_name"]): row.size * 60 for row in rows_in(slurm, TIME)}
    large, small, other = (
        sizes[key]
        for key in (("ana", "train", 32 * GIB / GB), ("ana", "train", 8 * GIB / GB), ("bob", "train", 32 * GIB / GB))
    )
    assert len({large.size, small.size, other.size}) == 3
    got = submitted(
        tmp_path,
        told(slurm, "slurm"),
        ("ana", "train", 32 * 1024, "", 600),
        ("ana", "train", 8 * 1024, "", ""),
        ("bob", "train", 32 * 1024, "", 4294967294),
        ("ana", "train", 64 * 1024, "", 60),
        ("eve", "train", 32 * 1024, "", ""),
        ("ana", "train", "", 32 * 1024, ""),
        ("ana", "train", "", "", ""),
    )
    assert [job[0] for job in got[:3]] == [mib(large.size), mib(small.size), mib(other.size)]
    assert got[0][2] == pytest.approx(minutes["ana", "train"])
    assert got[2][2] == 4294967294
    assert got[3:] == [
        [64 * 1024, None, 60],
        [32 * 1024, None, None],
        [None, 32 * 1024, None],
        [None, None, None],
    ]


@pytest.mark.parametrize("named", [(), ("group",), ("workload",), ("group", "workload")])
@pytest.mark.parametrize("same_request", [True, False])
@pytest.mark.parametrize("new_names", [True, False])
def test_slurm_gives_every_job_of_the_trace_the_size_of_its_row(tmp_path, named, same_request, new_names):
    """Of users alone, with their request, account and partition; a name that needs its request keeps it."""
    n = np.arange(600)
    table = runs(
        600,
        user=np.array(["ana", "bob"])[n % 2],
        task_name=[f"run-{at}" if at % 200 else "full" for at in n] if new_names else None,
        requested_memory_bytes=8 * GIB + (0 if same_request else MIB) * (n % 200 * 20.0),
        share=np.where(n % 200 == 0, 1.0, 0.3) if new_names else 0.3,
        group=np.array(["lab", "farm"])[n // 2 % 2] if "group" in named else None,
        workload=np.array(["long", "short"])[n // 3 % 2] if "workload" in named else None,
    )
    found = verdict(table)
    sizes = Sizes(found.memory)
    jobs = table.sample(40, random_state=0).to_dict("records") + table[::200].to_dict("records")
    expected = [sizes.find(job, job["requested_memory_bytes"] / GB) for job in jobs]
    assert all(one.row is not None for one in expected)
    changed = {one.row.action for one in expected}
    assert LOWER in changed or (new_names and not same_request)
    got = submitted(
        tmp_path,
        told(found, "slurm"),
        *(
            (
                job["user"],
                job["task_name"] or "a name",
                round(job["requested_memory_bytes"] / MIB),
                "",
                "",
                job["group"] or "an account",
                job["workload"] or "a partition",
            )
            for job in jobs
        ),
    )
    assert [job[0] for job in got] == [mib(one.size) for one in expected]


def test_nothing_is_raised_above_what_a_partition_allows(slurm, tmp_path):
    text = told(slurm, "slurm").replace('action = "lower"', 'action = "raise"').replace("size = ", "size = 1000000 + ")
    parts = """{
        short = {flag_default = 1, max_time = 720, max_mem_per_node = 40000, max_mem_per_cpu = 0},
        long = {flag_default = 0, max_time = 4294967295, max_mem_per_node = 0},
    }"""
    of_long, of_both, of_none = submitted(
        tmp_path,
        text,
        *(("ana", "train", 32 * 1024, "", 600, "lab", name) for name in ("long", "long,short")),
        ("ana", "train", 50_000, "", 600, "lab", "short"),
        parts=parts,
    )
    assert of_long[0] > 1_000_000 and of_long[2] > 1_000_000
    assert (of_both[0], of_both[2]) == (40_000, 720)
    assert of_none[2] == 720  # and what asks for more than is allowed is left to Slurm
    (usual,) = submitted(tmp_path, text, ("ana", "train", 32 * 1024, "", 600), parts=parts)
    assert (usual[0], usual[2]) == (40_000, 720)


def test_slurm_touches_no_job_beyond_the_scope_that_was_judged(slurm, tmp_path):
    scoped = dataclasses.replace(ORIGIN, dataset_hash="abc123?user=ana&workload=long&workload=it%27s")
    text = exported("slurm", slurm, scoped).decode()
    assert "-- Only runs of user ana, workload it's or long were judged." in text
    row = next(one for one in rows_in(slurm, MEMORY) if one.key["user"] == "ana" and one.request > 30)
    asked = 32 * 1024
    jobs = (("ana", "long"), ("ana", "it's"), ("ana", "short"), ("ana", ""), ("bob", "long"))
    got = submitted(tmp_path, text, *((user, "train", asked, "", "", "lab", partition) for user, partition in jobs))
    assert [job[0] for job in got] == [mib(row.size), mib(row.size), asked, asked, asked]
    assert all("were judged" not in told(slurm, to) for to in EXPORTS if to != "nextflow")


def test_slurm_of_a_trace_without_users_goes_by_name(tmp_path):
    table = slurm_jobs().drop(columns="user")
    found = verdict(table[table["requested_memory_bytes"] < 10 * GIB])
    (row,) = rows_in(found, MEMORY)
    assert row.action == LOWER
    got = submitted(tmp_path, told(found, "slurm"), ("whoever", "train", 8 * 1024, "", ""))
    assert got[0][0] == mib(row.size)


def test_slurm_asks_per_cpu_where_the_request_was_per_cpu(tmp_path):
    found = verdict(slurm_jobs(ReqMem=np.array(["4Gc", "8Gn", "4096Mc", "16G"])[np.arange(400) % 4]))
    sizes = {(row.key["user"], row.request): row.size for row in rows_in(found, MEMORY)}
    got = submitted(
        tmp_path,
        told(found, "slurm"),
        ("ana", "train", "", 4096, ""),
        ("bob", "train", "", 4096, ""),
        ("ana", "train", 8 * 1024, "", ""),
        ("ana", "train", 32 * 1024, "", ""),
    )
    of_eight_cpus = [sizes[user, 32 * GIB / GB] * GB / 8 / MIB for user in ("ana", "bob")]
    assert [job[1] for job in got[:2]] == [int(np.ceil(size)) for size in of_eight_cpus]
    assert got[2][0] == mib(sizes["ana", 8 * GIB / GB])
    assert got[3][0] == 32 * 1024  # it was never asked for per node


@pytest.mark.parametrize("small", [0.5, 0.99])  # of its 16 GiB: lowered, kept
def test_jobs_of_few_cpus_keep_what_they_need_of_a_request_per_cpu(tmp_path, small):
    cpus = np.array([4, 32])[np.arange(400) // 4 % 2]
    table = slurm_jobs(ReqMem="4Gc")
    table["requested_memory_bytes"] = cpus * 4.0 * GIB
    table["peak_memory_bytes"] = np.where(cpus == 4, small * 16, 24.0) * GIB * np.linspace(0.99, 1, 400)
    found = verdict(table)
    sizes = {row.request: row.size for row in rows_in(found, MEMORY) if row.key["user"] == "ana"}
    assert len(sizes) == 2 and max(sizes.values()) < 32
    (got,) = submitted(tmp_path, told(found, "slurm"), ("ana", "train", "", 4096, ""))
    assert got[1] == int(np.ceil(min(sizes.values()) * GB / 4 / MIB))


def test_a_row_of_any_request_never_goes_above_what_is_asked(tmp_path):
    table = slurm_jobs(800)
    rng = np.random.default_rng(1)
    asked = 32 * GIB + rng.permutation(800) * MIB  # ever new requests: the key is user and name
    table["requested_memory_bytes"] = asked.astype(float)
    table["peak_memory_bytes"] = 5e9 * rng.uniform(0.97, 1, 800)
    found = verdict(table)
    row = next(one for one in rows_in(found, MEMORY) if one.key == {"user": "ana", "task_name": "train"})
    assert (row.action, "request" in row.by) == (LOWER, False)
    got = submitted(
        tmp_path,
        told(found, "slurm"),
        ("ana", "train", 99_999, "", ""),
        ("ana", "train", 512, "", ""),
        ("ana", "train", "", 4096, ""),
    )
    assert [job[0] for job in got] == [mib(row.size), 512, None]
    raised = told(found, "slurm").replace('action = "lower"', 'action = "raise"')
    of_raised = submitted(tmp_path, raised, ("ana", "train", 512, "", ""), ("ana", "train", 0, "", ""))
    assert [job[0] for job in of_raised] == [mib(row.size), 0]  # 0 asks for all memory of a node
    sizes = Sizes(found.memory)
    assert sizes.find({"user": "ana", "task_name": "train"}, 99.0).size == row.size
    assert sizes.find({"user": "ana", "task_name": "train"}, 0.5).size == 0.5


def nextflow(text):
    """Return process -> directive -> what it is set to."""
    found = {}
    for name, body in re.findall(r"withName: '([^']*)' \{\n(.*?)\n    \}", text, re.DOTALL):
        lines = [line.strip() for line in body.splitlines() if "=" in line and not line.strip().startswith("//")]
        found[name] = dict(line.split(" = ", 1) for line in lines)
    return found


def test_nextflow_has_the_largest_size_of_a_process_and_retries_by_attempt():
    table = slurm_jobs(requested_cpu_percent=800.0, cpu_usage_percent=90.0).drop(columns="user")
    found = verdict(table)
    rows = rows_in(found, MEMORY)
    train = [row for row in rows if row.key["task_name"] == "train"]
    assert len(train) == 2
    text = told(found, "nextflow")
    processes = nextflow(text)
    one = shared(train)
    assert one.size == max(row.size for row in train)
    first, *later = [int(size) for size in re.findall(r"(\d+)\.MB", processes["train"]["memory"])]
    assert first == mib(one.size)
    assert later == [mib(size) for size in one.retry]
    assert sorted({first, *later}) == [first, *later]
    assert f"[Math.min(task.attempt, {1 + len(later)}) - 1]" in processes["train"]["memory"]
    assert processes["train"]["cpus"] == "1"
    kept = next(row for row in rows if row.key["task_name"] != "train")
    assert kept.action == KEEP
    assert "memory" not in processes.get(r'o"dd\nname', {})


@pytest.mark.parametrize("minutes", [5, 35, 40])
def test_a_time_limit_holds_runs_that_take_just_as_long_and_is_told_to_the_minute(minutes, tmp_path):
    """Multiples of five minutes are no decimal parts of an hour: nine digits of a twelfth are less than it."""
    table = runs(
        400, task_name="train", requested_memory_bytes=8.0 * GIB, share=0.3, time_limit_s=36_000.0, user="ana"
    ).assign(duration_s=60.0 * minutes)
    found = verdict(table)
    (row,) = rows_in(found, TIME)
    assert (row.action, row.kills) == (LOWER, 0)
    assert row.size * 60 % 5 == 0
    told_minutes = round(row.size * 60)
    assert minutes <= told_minutes <= minutes + 5
    assert re.match(rf"\{{ \[{told_minutes}\.min, ", nextflow(told(found, "nextflow"))["train"]["time"])
    (got,) = submitted(tmp_path, told(found, "slurm"), ("ana", "train", 8 * 1024, "", 600))
    assert got[2] == told_minutes


def test_a_process_of_which_one_request_has_to_stay_keeps_all():
    table = slurm_jobs().drop(columns="user")
    large = table["requested_memory_bytes"] == 32 * GIB
    table.loc[large, "peak_memory_bytes"] = 32.5 * GIB
    found = verdict(table)
    rows = [row for row in rows_in(found, MEMORY) if row.key["task_name"] == "train"]
    assert {row.action for row in rows} == {LOWER, KEEP}
    text = told(found, "nextflow")
    assert nextflow(text) == {}
    line = "Larger sizes than their own for 1 row: a {} has one size, the largest of its rows. So this file saves less"
    assert f"// {line.format('process')}" in text
    assert f"# {line.format('container')}" in told(found, "kubernetes")


def test_nothing_is_said_of_sizes_where_each_process_has_one():
    table = slurm_jobs().drop(columns="user")
    found = verdict(table[table["requested_memory_bytes"] != 8 * GIB])
    assert "Larger sizes than" not in told(found, "nextflow") + told(found, "kubernetes")


def pods(**columns):
    kind = np.arange(400) % 4
    table = runs(
        400,
        namespace="shop",
        workload=np.array(["cart", "cart", "cart", "night"])[kind],
        task_name=np.array(["cart/cart", "cart/proxy", "cart/init", "night"])[kind],
        container=np.array(["cart", "proxy", "init", "main"])[kind],
        owner_kind=np.array(["StatefulSet", "StatefulSet", "StatefulSet", "CronJob"])[kind],
        requested_memory_bytes=np.array([2.0, 0.125, 1.0, 4.0])[kind] * GIB,
        share=np.array([0.4, 0.999, 0.3, 0.5])[kind],
    )
    return table.assign(init_container=np.where(kind == 2, "yes", None), **columns)


def containers(document):
    spec = document["spec"]
    spec = spec.get("jobTemplate", {}).get("spec", spec)["template"]["spec"]
    return tuple(
        {one["name"]: one.get("resources") for one in spec.get(part, [])} for part in ("containers", "initContainers")
    )


def test_kubernetes_patches_workloads_of_the_right_kind_with_their_containers():
    found = verdict(pods(requested_cpu_percent=400.0, cpu_usage_percent=55.0))
    rows = {row.key["container"]: row for row in rows_in(found, MEMORY)}
    assert {name: row.action for name, row in rows.items()} == {
        "cart": LOWER,
        "proxy": KEEP,
        "init": LOWER,
        "main": LOWER,
    }
    cart, night = sorted(filter(None, yaml.safe_load_all(told(found, "kubernetes"))), key=lambda one: one["kind"])[::-1]
    assert (cart["apiVersion"], cart["kind"], cart["metadata"]["name"]) == ("apps/v1", "StatefulSet", "cart")
    assert (night["apiVersion"], night["kind"], night["metadata"]["namespace"]) == ("batch/v1", "CronJob", "shop")
    own, first = containers(cart)
    assert (set(own), set(first)) == ({"cart", "proxy"}, {"init"})
    size = f"{mib(rows['cart'].size)}Mi"
    assert (own["cart"]["requests"]["memory"], own["cart"]["limits"]) == (size, {"memory": size})
    assert "memory" not in own["proxy"]["requests"]
    assert first["init"]["limits"] == {"memory": f"{mib(rows['init'].size)}Mi"}
    assert set(containers(night)[0]) == {"main"}
    cpu = {row.key["container"]: row for row in found.resources[1].rows}
    assert own["cart"]["requests"]["cpu"] == f"{round(1000 * cpu['cart'].size)}m"
    assert cart["metadata"]["annotations"]["workprof/dataset"].endswith("(abc123)")


def test_kubernetes_takes_every_name_of_an_annotation_and_a_container():
    """A qualified name is at most 63 characters behind its slash; a container's has no points (RFC 1123 label)."""
    long = "c" * 63
    found = verdict(pods().replace({"container": {"cart": long}}))
    documents = [one for one in yaml.safe_load_all(told(found, "kubernetes")) if one]
    names = [name for one in documents for name in one["metadata"]["annotations"]]
    assert all(re.fullmatch(r"workprof/[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?", name) for name in names)
    assert len([name for name in names if "ccc" in name]) == 2
    assert long in containers(next(one for one in documents if one["metadata"]["name"] == "cart"))[0]
    found = verdict(pods(container=None).replace({"workload": {"night": "night.of.sale"}}))
    (night,) = [one for one in yaml.safe_load_all(told(found, "kubernetes")) if one and one["kind"] == "CronJob"]
    assert (night["metadata"]["name"], *containers(night)[0]) == ("night.of.sale", "night-of-sale")


def test_names_that_an_object_may_not_have_stay_apart():
    table = slurm_jobs().drop(columns="user")
    table["task_name"] = np.array(["a b", "a|b", "a-b", "A B"])[np.arange(400) % 4]
    table["peak_memory_bytes"] = table["requested_memory_bytes"] * 0.3 * np.linspace(0.98, 1, 400)
    documents = [one for one in yaml.safe_load_all(told(verdict(table), "kubernetes")) if one]
    assert len({one["metadata"]["name"] for one in documents}) == len(documents) == 4
    assert "a-b" in {one["metadata"]["name"] for one in documents}


def test_kubernetes_says_where_a_kind_has_no_patch_or_is_not_known():
    text = told(verdict(pods(owner_kind="Workflow")), "kubernetes")
    assert not [one for one in yaml.safe_load_all(text) if one]
    assert re.search(r"# Workflow cart: no patch of this kind; cart \d+Mi; init \d+Mi\n", text)
    text = told(verdict(pods(owner_kind=None)), "kubernetes")
    assert {one["kind"] for one in yaml.safe_load_all(text) if one} == {"Deployment"}
    assert "the kind is Deployment: set it to yours" in text
    plain = verdict(slurm_jobs().assign(task_name="Upper_Name"))
    (document,) = [one for one in yaml.safe_load_all(told(plain, "kubernetes")) if one]
    assert re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", document["metadata"]["name"])


def test_kubernetes_patches_a_workload_of_which_the_cpu_alone_changes():
    table = pods(requested_cpu_percent=400.0, cpu_usage_percent=55.0)
    table.loc[table["workload"] == "night", "requested_memory_bytes"] = np.nan
    text = told(verdict(table), "kubernetes")
    found = {one["kind"]: one for one in yaml.safe_load_all(text) if one}
    assert containers(found["CronJob"])[0] == {"main": {"requests": {"cpu": "1000m"}}}
    why = found["CronJob"]["metadata"]["annotations"]["workprof/why-main"]
    assert re.fullmatch(r"largest of 100 runs used 0.55 of 4 cores; too small for .* of the next 1,000 runs", why)


@pytest.mark.parametrize(
    ("to", "table", "line"),
    [
        (
            "nextflow",
            slurm_jobs().replace({"task_name": {"train": None}}).drop(columns="user"),
            "without a task name: ",
        ),
        ("kubernetes", pods().replace({"workload": {"night": None}}), r"without a workload \(shop, night, main\): "),
        ("kubernetes", pods(time_limit_s=36_000.0), r"4 rows of time limit\. CSV and JSON have them\."),
        ("slurm", slurm_jobs(requested_cpu_percent=800.0, cpu_usage_percent=90.0), r"3 rows of CPU\. CSV and"),
    ],
)
def test_an_export_says_which_changed_rows_it_cannot_hold(to, table, line):
    assert re.search(rf"^(#|//|--) Not in this file(,|:) {line}", told(verdict(table), to), re.MULTILINE)


def test_what_has_no_names_cannot_be_told_by_them():
    found = verdict(slurm_jobs().drop(columns="task_name"))
    with pytest.raises(SettingsError, match="nextflow names processes, and these rows are by user"):
        exported("nextflow", found, ORIGIN)
    assert told(found, "csv").startswith('"user"')


def test_rows_are_found_by_request_and_unknown_ones_say_why(slurm):
    sizes = Sizes(slurm.memory)
    rows = {(row.key["user"], row.key["task_name"], row.request): row for row in rows_in(slurm, MEMORY)}
    for (user, task, request), row in rows.items():
        found = sizes.find({"user": user, "task_name": task, "group": "any"}, request)
        assert (found.row, found.size, found.note) == (row, row.size, "")
        near = sizes.find({"user": user, "task_name": task}, request + 1e-6)  # as GB with six digits
        assert near.row is row
    unknown = sizes.find({"user": "eve", "task_name": "train"}, 7.5)
    assert (unknown.row, unknown.size) == (None, 7.5)
    assert unknown.note == "no run of user 'eve' and task_name 'train' is known"
    alone = sizes.find({"user": "ana"}, 7.5)
    assert (alone.row, alone.note) == (None, "user 'ana' alone does not tell which job it is")
    assert sizes.find({}, 7.5).note == "no run of a job without a name is known"


def test_what_is_not_said_or_new_gets_the_largest_size_of_the_rows_that_agree(slurm):
    sizes = Sizes(slurm.memory)
    rows = [row for row in rows_in(slurm, MEMORY) if row.key["task_name"] == "train"]
    largest = {user: max(row.size for row in rows if row.key["user"] == user) for user in ("ana", "bob")}
    ana = {"user": "ana", "task_name": "train"}
    assert (sizes.find(ana, None).size, sizes.find(ana, None).note) == (largest["ana"], "the largest size of 2 rows")
    assert sizes.find(ana, 99.0).size == largest["ana"]  # nobody asked for so much before
    assert sizes.find(ana, 1.0).size == 1.0  # or for so little: a size to lower to never raises
    assert sizes.find({"user": "bob", "task_name": "train"}, None).size == largest["bob"]
    assert sizes.find({"task_name": "train"}, None).size == max(largest.values())


def test_a_raise_is_never_below_what_is_asked():
    table = slurm_jobs()
    killed = (table["user"] == "bob") & (table["task_name"] == "train") & (np.arange(400) % 3 == 0)
    table.loc[killed, "status"] = "OUT_OF_MEMORY"
    table.loc[killed, "finished"] = False
    found = verdict(table)
    row = next(one for one in rows_in(found, MEMORY) if one.action == RAISE)
    assert row.key == {"user": "bob", "task_name": "train"}
    asked = [Sizes(found.memory).find(row.key, row.request * times).size for times in (0.1, 9)]  # that nobody asked for
    assert asked == [row.size, row.request * 9]
    kept = dataclasses.replace(row, action=KEEP, size=row.request)
    sizes = Sizes(dataclasses.replace(found.memory, rows=(kept,)))
    assert [sizes.find(row.key, row.request * times).size for times in (0.5, 9)] == [row.request / 2, row.request * 9]
    (one,) = [one for one in csv.DictReader(io.StringIO(told(found, "csv"))) if one["action"] == "raise"]
    assert int(one["size_bytes"]) > int(one["request_bytes"])
    assert dataclasses.replace(row, by=()).by == ()
