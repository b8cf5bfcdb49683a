"""Exports of a plan: read back by a reader of each form, hostile names included, dataset, settings and risk in each."""

import csv
import io
import json
import re

import numpy as np
import pandas as pd
import pytest
import yaml

from workprof.core.text import visible
from workprof.core.units import MIB
from workprof.memory.exports import (
    Origin,
    groovy_text,
    literal_pattern,
    object_names,
    one_line,
    plan_csv,
    plan_json,
    plan_kubernetes,
    plan_nextflow,
    yaml_text,
)
from workprof.memory.plan import PlanSettings, plan_of

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
def plan():
    rng = np.random.default_rng(0)
    names = np.repeat(np.array(HOSTILE, dtype=object), 40)
    jobs = pd.DataFrame(
        {
            "task_name": names,
            "peak_memory_bytes": rng.uniform(1e8, 9e9, len(names)),
            "requested_memory_bytes": 16e9,
            "duration_s": 60.0,
        }
    )
    return plan_of({"jobs": jobs}, PlanSettings())


def test_csv_reads_back_and_no_cell_is_a_formula(plan):
    rows = list(csv.DictReader(io.StringIO(plan_csv(plan, ORIGIN), newline="")))
    assert len(rows) == len(HOSTILE)
    for row, task in zip(rows, plan.tasks, strict=True):
        assert row["task"].removeprefix("'") == visible(task.task)
        assert not row["task"].startswith(("=", "+", "-", "@"))
        assert float(row["size_gb"]) == pytest.approx(task.size_bytes / 1e9)
        assert float(row["retry_odds_high"]) == pytest.approx(task.risk.high, abs=1e-6)
        assert row["dataset_hash"] == "abc123"
        assert "max_seen" in row["settings"]


def test_json_reads_back(plan):
    document = json.loads(plan_json(plan, ORIGIN))
    assert [task["task"] for task in document["tasks"]] == list(HOSTILE)
    assert document["dataset"] == {"name": ORIGIN.dataset, "hash": "abc123"}
    assert document["settings"]["rule"] == "max_seen"
    assert document["tasks"][0]["size_gb"] == plan.tasks[0].size_bytes / 1e9
    assert {"n_tested", "odds", "low", "high"} <= set(document["tasks"][0]["risk"])


def test_json_of_unknown_figures_is_null_not_nan():
    jobs = pd.DataFrame({"task_name": ["a"], "peak_memory_bytes": [1e9], "duration_s": [1.0]})
    document = json.loads(plan_json(plan_of({"jobs": jobs}, PlanSettings()), ORIGIN))
    assert document["tasks"][0]["requested_bytes"] is None
    assert document["tasks"][0]["risk"]["odds"] is None


def test_kubernetes_documents_are_yaml_with_valid_names(plan):
    text = plan_kubernetes(plan, ORIGIN)
    documents = [document for document in yaml.safe_load_all(text) if document]
    assert len(documents) == len(HOSTILE)
    for document, task in zip(documents, plan.tasks, strict=True):
        name, notes = document["metadata"]["name"], document["metadata"]["annotations"]
        assert re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", name)
        assert notes["workprof/task"] == task.task
        assert "abc123" in notes["workprof/dataset"]
        assert "odds of a retry" in notes["workprof/risk"]
        assert "headroom 0.1" in notes["workprof/settings"]
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


def test_nextflow_configuration_holds_nothing_but_selectors(plan):
    text = plan_nextflow(plan, ORIGIN)
    bare = re.sub(r"\s+", " ", without_texts(text)).strip()
    selector = r"withName: TEXT \{ memory = \{ \d+\.MB \* task\.attempt \} \} "
    assert re.fullmatch(rf"process \{{ ({selector}){{{len(HOSTILE)}}}\}}", bare)
    assert "abc123" in text
    assert "odds of a retry" in text
    assert "errorStrategy" in text
    assert all(" " <= character <= "~" or character == "\n" for character in selectors(text))


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


def test_comments_stay_on_their_line(plan):
    for text, sign in ((plan_nextflow(plan, ORIGIN), "//"), (plan_kubernetes(plan, ORIGIN), "#")):
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
            "duration_s": 3600.0,
        }
    )
    plan = plan_of({"jobs": jobs}, PlanSettings(cap_bytes=8e9))
    most = int(8e9 // MIB)
    told = (
        "2 of 40 runs use more than the cap of 8 GB and can never run: 21 GB h of 1 task(s), the largest 12 GB (large)"
    )
    rows = {row["task"]: row for row in csv.DictReader(io.StringIO(plan_csv(plan, ORIGIN)))}
    assert (rows["large"]["never_run"], rows["small"]["never_run"]) == ("2", "0")
    assert (rows["large"]["size_gb"], rows["large"]["size_mib"]) == ("8.0", str(most))  # rounded up it would not fit
    assert "cap 8 GB" in rows["large"]["settings"]
    document = json.loads(plan_json(plan, ORIGIN))
    assert document["about"][0] == told
    assert document["never"]["n_runs"] == 2
    assert document["never"]["tasks"][0]["task"] == "large"
    text = plan_nextflow(plan, ORIGIN)
    assert text.splitlines()[0] == f"// {told}"
    assert f"memory = {{ [{most}.MB * task.attempt, {most}.MB].min() }}" in text
    yaml_of = plan_kubernetes(plan, ORIGIN)
    assert yaml_of.splitlines()[0] == f"# {told}"
    assert f"{most}Mi" in yaml_of
    free = plan_of({"jobs": jobs}, PlanSettings())
    assert json.loads(plan_json(free, ORIGIN))["never"]["n_runs"] == 0
    assert "min()" not in plan_nextflow(free, ORIGIN)
