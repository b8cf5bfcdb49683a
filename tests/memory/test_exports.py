"""Exports of policies and bins: read back by a reader of each form, hostile names included, with dataset and risk."""

import csv
import io
import json
import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import yaml

from tests.answers.test_verdict_exports import submitted
from workprof.core.errors import SettingsError
from workprof.core.text import visible
from workprof.core.units import MIB
from workprof.memory.bin_search import BinSettings
from workprof.memory.bins import bins_of
from workprof.memory.exports import (
    EXPORTS,
    LUA_MOST_OF,
    Origin,
    groovy_text,
    literal_pattern,
    lua_scope,
    lua_text,
    object_names,
    one_line,
    scope_lines,
    sizes_csv,
    sizes_json,
    sizes_kubernetes,
    sizes_nextflow,
    sizes_slurm,
    sizes_slurm_partitions,
    yaml_text,
)
from workprof.memory.policies import Sequence, policy_named
from workprof.memory.replay import replay
from workprof.memory.replay_settings import ReplaySettings
from workprof.memory.retry import RetrySettings
from workprof.memory.size_lists import bin_sizes, policy_sizes, size_names

ORIGIN = Origin('trace "x"\n# y', "abc123", "0.6")

HOSTILE = (
    "NFCORE:RNASEQ:STAR",
    "=cmd|' /C calc'!A0",
    "a'); System.exit(1) //",
    'a"\nb: c',
    "${System.exit(1)}",
    "$(touch x)",
    "\\u0027 + 'x",
    "\\u000aexit",
    "line\r\nend\u2028next\x00\x85",
    ".*",
    "tab\tand\\back",
    "UPPER lower",
    "upper-LOWER",
    "x" * 300,
    "émile 😀 \\😀",
    "---",
    "{{ template }} %s",
)


@pytest.fixture(scope="module")
def jobs():
    rng = np.random.default_rng(0)
    names = np.repeat(np.array(HOSTILE, dtype=object), 40)
    return pd.DataFrame(
        {
            "task_name": names,
            "peak_memory_bytes": rng.uniform(1e8, 9e9, len(names)) * np.repeat(rng.uniform(0.1, 1, len(HOSTILE)), 40),
            "requested_memory_bytes": 16e9,
            "duration_s": 60.0,
            "submit_time_s": np.arange(len(names)) * 60.0,
        }
    )


KINDS = ("p95", "vpa", "workprof", "bins", "bins under a cap")


@pytest.fixture(scope="module")
def listings(jobs):
    """Return kind -> sizes of the same jobs."""
    frames = {"jobs": jobs}
    found = {name: policy_sizes(frames, ReplaySettings(policies=(name,))) for name in ("p95", "vpa", "workprof")}
    found["bins"] = bin_sizes(frames, BinSettings(k=4, headroom=0.2))
    found["bins under a cap"] = bin_sizes(frames, BinSettings(k=4), 5e9)
    return found


@pytest.fixture(scope="module")
def listing(listings):
    return listings["p95"]


def test_csv_reads_back_and_no_cell_is_a_formula(listing):
    rows = list(csv.DictReader(io.StringIO(sizes_csv(listing, ORIGIN), newline="")))
    assert len(rows) == len(HOSTILE)
    for row, task in zip(rows, listing.sizes, strict=True):
        assert row["task"].removeprefix("'") == visible(task.task)
        assert not row["task"].startswith(("=", "+", "-", "@"))
        assert float(row["size_gb"]) == pytest.approx(task.size_bytes / 1e9)
        assert float(row["retry_odds_high"]) == pytest.approx(task.kill_high, abs=1e-6)
        assert row["dataset_hash"] == "abc123"
        assert "p95" in row["settings"]


def test_json_reads_back(listing):
    document = json.loads(sizes_json(listing, ORIGIN))
    assert [task["task"] for task in document["tasks"]] == sorted(HOSTILE)
    assert document["dataset"] == {"name": ORIGIN.dataset, "hash": "abc123"}
    assert document["settings"]["policies"] == ["p95"]
    assert document["tasks"][0]["size_gb"] == listing.sizes[0].size_bytes / 1e9
    assert {"n_tested", "odds", "low", "high"} <= set(document["tasks"][0]["risk"])


def test_json_of_unknown_figures_is_null_not_nan(listing):
    unknown = replace(listing.sizes[0], requested_bytes=math.nan, kill_probability=math.nan)
    document = json.loads(sizes_json(replace(listing, sizes=(unknown,)), ORIGIN))
    assert document["tasks"][0]["requested_bytes"] is None
    assert document["tasks"][0]["risk"]["odds"] is None


def test_kubernetes_documents_are_yaml_with_valid_names(listing):
    text = sizes_kubernetes(listing, ORIGIN)
    documents = [document for document in yaml.safe_load_all(text) if document]
    assert len(documents) == len(HOSTILE)
    for document, task in zip(documents, listing.sizes, strict=True):
        name, notes = document["metadata"]["name"], document["metadata"]["annotations"]
        assert re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", name)
        assert notes["workprof/task"] == task.task
        assert "abc123" in notes["workprof/dataset"]
        assert "retry probability " in notes["workprof/risk"]
        assert "p95" in notes["workprof/settings"]
        (container,) = document["spec"]["template"]["spec"]["containers"]
        size = container["resources"]["requests"]["memory"]
        assert container["resources"]["limits"]["memory"] == size
        assert (int(size.removesuffix("Mi")) - 1) * MIB < task.size_bytes <= int(size.removesuffix("Mi")) * MIB
    names = [document["metadata"]["name"] for document in documents]
    assert len(set(names)) == len(names)


def test_names_that_would_clash_are_told_apart():
    names = object_names(("Star Align", "star-align", "plain", "--", "x" * 80))
    assert names[2] == "plain"
    assert len(set(names)) == 5
    assert names[0].startswith("star-align-")
    assert names[3].startswith("task-")
    assert len(names[4]) <= 63


@pytest.mark.parametrize("text", [*HOSTILE, "", "\x7f", "no", "1e3"])
def test_yaml_texts_come_back_as_they_are(text):
    assert yaml.safe_load(yaml_text(text)) == text


def test_half_a_character_becomes_the_sign_for_unknown():
    assert yaml.safe_load(yaml_text("a\ud800b")) == "a\ufffdb"


def without_texts(configuration):
    """Return a Nextflow configuration with its comments and single-quoted texts taken out, read as Groovy reads."""
    kept, at, lines = [], 0, configuration
    while at < len(lines):
        if lines.startswith("//", at):
            at = lines.index("\n", at)
        elif lines[at] == "'":
            at += 1
            while lines[at] != "'":
                assert lines[at] != "\n", "a text must end on its line"
                at += 2 if lines[at] == "\\" else 1
            kept.append("TEXT")
            at += 1
        else:
            kept.append(lines[at])
            at += 1
    return "".join(kept)


def selectors(text):
    return "".join(line + "\n" for line in text.splitlines() if line.strip().startswith("withName"))


@pytest.mark.parametrize("name", HOSTILE)
def test_a_selector_matches_its_own_task_only(name):
    """Python's patterns and Java's agree on escaped signs."""
    pattern = literal_pattern(name)
    assert re.fullmatch(pattern, name)
    assert not re.fullmatch(pattern, name + "X")
    assert not re.fullmatch(literal_pattern(".*"), "anything")


def test_groovy_texts():
    assert groovy_text("it's \\ \n é") == r"'it\'s \\ \n \u00e9'"
    assert groovy_text("😀") == r"'\ud83d\ude00'"


def test_comments_stay_on_their_line(listing):
    for text, sign in (
        (sizes_nextflow(listing, ORIGIN), "//"),
        (sizes_kubernetes(listing, ORIGIN), "#"),
    ):
        head = text.splitlines()[:4]
        assert all(line.startswith(sign) for line in head)
        assert "abc123" in head[1]
    assert "\\" not in one_line("\\u000a")
    assert len(one_line("y" * 999)) == 200


def test_a_cap_and_what_can_never_run_stand_in_every_export():
    jobs = pd.DataFrame(
        {
            "task_name": ["large"] * 20 + ["small"] * 20,
            "peak_memory_bytes": [7.9e9] * 18 + [9e9, 12e9] + [1e9] * 20,
            "requested_memory_bytes": 16e9,
            "duration_s": 3600.0,
        }
    )
    asked = ReplaySettings(policies=("p95",), retry=RetrySettings(cap_bytes=8e9))
    listing, most = policy_sizes({"jobs": jobs}, asked), int(8e9 // MIB)
    told = (
        "2 of 40 runs use more than the cap of 8 GB and can never run: 21 GB h of 1 task(s), the largest 12 GB (large)"
    )
    rows = {row["task"]: row for row in csv.DictReader(io.StringIO(sizes_csv(listing, ORIGIN)))}
    assert (rows["large"]["never_run"], rows["small"]["never_run"]) == ("2", "0")
    assert (rows["large"]["size_gb"], rows["large"]["size_mib"]) == ("8.0", str(most))  # rounded up it would not fit
    assert "cap_bytes 8" in rows["large"]["settings"]
    document = json.loads(sizes_json(listing, ORIGIN))
    assert document["about"][0] == told
    assert document["never"]["n_runs"] == 2
    assert document["never"]["tasks"][0]["task"] == "large"
    assert sizes_nextflow(listing, ORIGIN).splitlines()[0] == f"// {told}"
    yaml_of = sizes_kubernetes(listing, ORIGIN)
    assert yaml_of.splitlines()[0] == f"# {told}"
    assert f"{most}Mi" in yaml_of
    free = policy_sizes({"jobs": jobs}, replace(asked, retry=RetrySettings()))
    assert json.loads(sizes_json(free, ORIGIN))["never"]["n_runs"] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_every_form_reads_back_with_sizes_retries_risk_and_evidence(listings, kind):
    listing = listings[kind]
    cap = listing.cap_bytes
    expected = {one.task: [mib(size, cap) for size in (one.size_bytes, *one.next_bytes)] for one in listing.sizes}
    assert list(expected) == sorted(HOSTILE)

    rows = list(csv.DictReader(io.StringIO(sizes_csv(listing, ORIGIN), newline="")))
    named, rows = rows[: len(listing.named)], rows[len(listing.named) :]
    assert [(row["task"], row["size_name"]) for row in named] == [("", one.name) for one in listing.named]
    for row, one in zip(rows, listing.sizes, strict=True):
        assert row["task"].removeprefix("'") == visible(one.task)
        assert int(row["size_mib"]) == expected[one.task][0]
        assert len(row["next_gb"].split()) == len(one.next_bytes)
        assert (int(row["tested_runs"]), int(row["failed_runs"])) == (one.n_tested, one.n_killed)
        assert (row["size_name"], row["sized_from"]) == (one.size_name, one.sized_from)

    document = json.loads(sizes_json(listing, ORIGIN))
    assert [one["name"] for one in document["sizes"]] == [one.name for one in listing.named]
    for told, one in zip(document["tasks"], listing.sizes, strict=True):
        assert (told["task"], told["size_gb"]) == (one.task, one.size_bytes / 1e9)
        assert told["next_gb"] == [size / 1e9 for size in one.next_bytes]
        assert told["kill_low"] <= told["kill_probability"] <= told["kill_high"]
        assert (told["n"], told["n_tested"]) == (40, one.n_tested)

    documents = [one for one in yaml.safe_load_all(sizes_kubernetes(listing, ORIGIN)) if one]
    if listing.named:
        sizes = documents.pop(0)
        assert sizes["data"] == {one.name: f"{mib(one.size_bytes, cap)}Mi" for one in listing.named}
    for told, one in zip(documents, listing.sizes, strict=True):
        (container,) = told["spec"]["template"]["spec"]["containers"]
        first, *later = (f"{size}Mi" for size in expected[one.task])
        assert container["resources"]["limits"]["memory"] == first
        notes = told["metadata"]["annotations"]
        assert notes["workprof/task"] == one.task
        assert notes["workprof/after-a-kill"] == ", ".join(later)
        assert notes["workprof/evidence"] == one.sized_from
        assert f"{one.n_killed} of {one.n_tested} tested runs" in notes["workprof/risk"]
        assert notes.get("workprof/size", "") == one.size_name

    table = lua_table(sizes_slurm(listing, ORIGIN))
    assert {task: [size, *later] for task, (size, later, _) in table.items()} == expected
    assert {task: name for task, (_, _, name) in table.items()} == {one.task: one.size_name for one in listing.sizes}

    limits = partitions(sizes_slurm_partitions(listing, ORIGIN))
    for one in (*listing.named, *listing.sizes):
        size = mib(one.size_bytes, cap)
        name = getattr(one, "name", None) or one.size_name or size
        assert limits[f"workprof_{name}"] == size


def test_a_script_of_a_policy_touches_its_scope_alone():
    scoped = replace(ORIGIN, dataset_hash=f"{ORIGIN.dataset_hash}?workload=long&user=")
    text = "\n".join(lua_scope(scoped))
    assert text.startswith('local scope = {\n  user_name = { [""] = true },\n  partition = { ["long"] = true },\n}\n')
    assert scope_lines(scoped) == ("Only runs of user none, workload long were judged.",)
    assert scope_lines(ORIGIN) == ()


def test_a_script_of_a_policy_asks_for_no_more_than_a_partition_allows(listing, tmp_path):
    parts = "{ short = {flag_default = 1, max_mem_per_node = 100}, long = {flag_default = 0, max_mem_per_node = 0} }"
    jobs = (("ana", "upper-LOWER", 9, "", "", "lab", name) for name in ("long", "short", ""))
    got = submitted(tmp_path, sizes_slurm(listing, ORIGIN), *jobs, parts=parts)
    size = next(one.size_bytes for one in listing.sizes if one.task == "upper-LOWER")
    assert [job[0] for job in got] == [mib(size, None), 100, 100]


def mib(size, cap):
    whole = math.ceil(size / MIB)
    return whole if cap is None else min(whole, math.floor(cap / MIB))


def lua_table(text):
    """Return task -> MiB, MiB after a kill, name of the size; every line is one that the file may have."""
    head, _, rest = text.partition("local sizes = {\n")
    body, _, functions = rest.partition("}\n\n")
    assert all(line.startswith("-- ") for line in head.splitlines())
    assert functions == LUA_FUNCTIONS.replace("{most_of}", "\n".join(LUA_MOST_OF))
    found = {}
    for line in body.removesuffix("\n").split("\n"):
        if line.startswith("  -- "):
            assert line.isprintable()
            continue
        entry = re.fullmatch(
            r'  \["((?:[ !#-\[\]-~]|\\\d{3})*)"\] = \{ mb = (\d+), next_mb = \{ ((?:\d+(?:, \d+)*)?) \}'
            r'(?:, size = "([A-Z0-9]+)")? \},',
            line,
        )
        assert entry, line
        task, first, later, name = entry.groups()
        found[lua_read(task)] = int(first), [int(size) for size in later.split(", ") if size], name or ""
    return found


def lua_read(text):
    codes = re.sub(r"\\(\d{3})", lambda code: chr(int(code[1])), text)
    return codes.encode("latin-1").decode()


LUA_FUNCTIONS = """local scope = {
}

local function in_scope(job)
  for column, values in pairs(scope) do
    if not values[job[column] or ""] then
      return false
    end
  end
  return true
end

{most_of}

function slurm_job_submit(job_desc, part_list, submit_uid)
  local found = job_desc.name ~= nil and sizes[job_desc.name]
  if found and in_scope(job_desc) then
    job_desc.min_mem_per_node = math.min(found.mb, most_of(job_desc, part_list, "max_mem_per_node"))
  end
  return slurm.SUCCESS
end

function slurm_job_modify(job_desc, job_rec, part_list, modify_uid)
  return slurm.SUCCESS
end

return slurm.SUCCESS
"""


def partitions(text):
    """Return name -> MiB of lines of slurm.conf; the others are comments."""
    found = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        entry = re.fullmatch(r"PartitionName=(\w+) Nodes=ALL DefMemPerNode=(\d+) MaxMemPerNode=(\d+)", line)
        assert entry and entry[2] == entry[3], line
        assert entry[1] not in found
        found[entry[1]] = int(entry[2])
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_nextflow_gives_every_attempt_its_size(listings, kind):
    listing = listings[kind]
    text = sizes_nextflow(listing, ORIGIN)
    bare = re.sub(r"\s+", " ", without_texts(text)).strip()
    size = r"(?:\d+\.MB|\[\d+\.MB(?:, \d+\.MB)+\]\[Math\.min\(task\.attempt, \d+\) - 1\])"
    selector = rf"(?:withName|withLabel): TEXT \{{ memory = \{{ {size} \}} \}} "
    assert re.fullmatch(rf"process \{{ (?:{selector}){{{len(listing.named) + len(listing.sizes)}}}\}}", bare)
    memories = [line.strip() for line in text.splitlines() if line.strip().startswith("memory")]
    for memory, one in zip(memories[len(listing.named) :], listing.sizes, strict=True):
        tries = [mib(tried, listing.cap_bytes) for tried in (one.size_bytes, *one.next_bytes)]
        if len(tries) == 1:
            assert memory == f"memory = {{ {tries[0]}.MB }}"
        else:
            sizes = ", ".join(f"{tried}.MB" for tried in tries)
            assert memory == f"memory = {{ [{sizes}][Math.min(task.attempt, {len(tries)}) - 1] }}"


def test_lua_texts():
    assert lua_text('a"b\\\n') == r'"a\034b\092\010"'
    assert lua_text("é1") == r'"\195\1691"'


def test_every_export_first_says_what_can_never_run(listings):
    listing = listings["bins under a cap"]
    n = listing.never.n_runs
    assert n > 0
    for name, write in EXPORTS.items():
        if name != "csv":
            first = write(listing, ORIGIN).split("\n")[2 if name == "json" else 0]
            assert f"{n} of {40 * len(HOSTILE)} runs use more than the cap of 5 GB and can never run" in first
    assert max(one.size_bytes for one in listing.named) == 5e9
    assert all(size <= 5e9 for one in listing.sizes for size in one.next_bytes)


def test_named_sizes_are_the_bins_and_a_task_gets_the_smallest_that_holds_it(jobs, listings):
    listing, settings = listings["bins"], BinSettings(k=4, headroom=0.2)
    found = bins_of({"jobs": jobs}, settings)
    assert [one.name for one in listing.named] == ["S", "M", "L", "XL"]
    assert tuple(one.size_bytes for one in listing.named) == found.edges_bytes
    assert [one.n_runs for one in listing.named] == found.effect.bin_runs.tolist()
    use = jobs["peak_memory_bytes"]
    assert [one.n_killed for one in listing.named] == [int((use > edge).sum()) for edge in found.edges_bytes]
    for one in listing.sizes:
        most = use[jobs["task_name"] == one.task].max()
        holding = [edge for edge in found.edges_bytes if edge * (1 + 1e-9) >= most * 1.2]
        assert one.size_bytes == holding[0]
        assert one.next_bytes[: len(holding) - 1] == tuple(holding[1:4])
    alone = bin_sizes({"jobs": jobs}, BinSettings(task=HOSTILE[0], k=2))
    assert [one.task for one in alone.sizes] == [HOSTILE[0]]
    assert [one.name for one in alone.named] == ["S", "L"]


def test_the_odds_of_a_task_are_those_of_sizes_from_its_past():
    use = np.array([1, 1, 1, 1, 9, 9, 1, 1, 1, 1.0]) * 1e9
    jobs = pd.DataFrame({"peak_memory_bytes": use, "requested_memory_bytes": 16e9, "duration_s": 60.0})
    (one,) = bin_sizes({"jobs": jobs}, BinSettings(k=2, headroom=0.0)).sizes
    assert (one.n_tested, one.n_killed, one.size_bytes) == (8, 2, 9e9)


@pytest.mark.parametrize(
    "name",
    [
        *("preset", "p95", "krr", "vpa", "tovar", "min_waste", "witt_lr"),
        pytest.param("local_min_waste", marks=pytest.mark.slow),
    ],
)
def test_a_policy_sizes_the_next_run_from_all_there_were(jobs, name):
    listing = policy_sizes({"jobs": jobs}, ReplaySettings(policies=(name,)))
    replayed = replay({"jobs": jobs}, ReplaySettings(policies=(name,), prices_runs=()))
    failed = replayed.policies[name].failed_share
    assert sum(one.n_tested for one in listing.sizes) == len(jobs)
    killed = sum(one.n_killed for one in listing.sizes)
    assert failed.low <= killed / len(jobs) <= failed.high
    for one in listing.sizes[:3]:
        use = jobs["peak_memory_bytes"][jobs["task_name"] == one.task].to_numpy()
        asked = np.full(len(use) + 1, 16e9)
        runs = Sequence(one.task, np.append(use, 1.0), np.full(41, 1 / 60), asked, np.zeros(41), 40, 1e9)
        assert one.size_bytes == pytest.approx(policy_named(name).sizes(runs, RetrySettings()).first_bytes[0], rel=1e-9)
    assert listing.sizes[0].next_bytes == tuple(sorted(listing.sizes[0].next_bytes))


def test_a_policy_leaves_a_task_of_few_runs_its_request():
    jobs = pd.DataFrame({"peak_memory_bytes": [1e9] * 4, "requested_memory_bytes": 16e9, "duration_s": 60.0})
    (one,) = policy_sizes({"jobs": jobs}, ReplaySettings(policies=("p95",))).sizes
    assert (one.rule, one.size_bytes, one.next_bytes[:2]) == ("kept", 16e9, (32e9, 64e9))
    assert "4 run(s) are known, the policy needs 10" in one.sized_from


@pytest.mark.parametrize(
    "wrong", [{"policies": ("p95", "vpa")}, {"policies": ("oracle_exact",)}, {"protocol": "sizey"}]
)
def test_sizes_of_next_runs_need_one_policy_that_can_be_used(jobs, wrong):
    with pytest.raises(SettingsError):
        policy_sizes({"jobs": jobs}, ReplaySettings(**({"policies": ("p95",)} | wrong)))


def test_names_of_sizes_rise_and_differ():
    for k in range(1, 33):
        assert len(set(size_names(k))) == k
    assert size_names(3) == ("S", "M", "L")
