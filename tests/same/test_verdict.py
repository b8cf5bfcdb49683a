"""One verdict: Home, Memory, the tour, the report, the command, the CSV and the library say the same of every row."""

import contextlib
import html
import io
import json

import pandas as pd
import pytest

from tests.same.reading import same_metrics
from workprof.answers.home import deeds
from workprof.answers.tasks import shown as last_part
from workprof.answers.verdict import action_words, sentence, task_names
from workprof.cli.main import app
from workprof.core.units import format_share, gb_h
from workprof.memory.verdict import VerdictSettings

pytestmark = pytest.mark.slow

FIGURES = ("Requested", "Never used", "Saved", "Kills")


def told_figures(told):
    """Return label -> value as pages print them, from the JSON of the command."""
    best, today = told["recommended"], told["today"]
    return {
        "Requested": gb_h(today["booked_gb_h"]),
        "Never used": format_share(today["unused_gb_h"] / today["booked_gb_h"]),
        "Saved": format_share(best["saved_share"]),
        "Kills": f"{best['failures']:,}",
    }


def memory_rows(told):
    return [one for one in told["rows"] if one["resource"] == "memory"]


def same_rows(table, told, called=str):
    """Whether a table has the rows of the command: the same size, saving and words of each; `called`: its tasks."""
    rows = memory_rows(told)
    assert table["task_name"].tolist() == [called(one["task_name"]) for one in rows]
    for name in ("request_gb", "size_gb", "saved_gb_h"):
        assert table[name].tolist() == pytest.approx([one[name] for one in rows])
    for name in ("action", "why", "kills", "n_runs"):
        assert table[name].tolist() == [one[name] for one in rows]


@pytest.mark.parametrize("more", [{}, {"memory_kills": "5%"}, {"memory_applied": "submission"}])
def test_the_page_and_its_file_show_what_the_command_prints(tasks, more):
    flags = {"memory_kills": "--acceptable-kills", "memory_applied": "--applied"}
    options = [word for name, value in more.items() for word in (flags[name], value)]
    told = tasks.command("memory", "plan", "tasks", *options)
    page = tasks.page("memory", "tasks", memory_tab="Plan", **more)
    assert {label: page.metric(label)[0] for label in FIGURES} == told_figures(told)
    assert told["reason"] in page.words
    same_rows(page.csv("tasks-plan.csv"), told)
    (shown,) = (table for table in page.tables if "request_gb" in table)
    same_rows(shown, told, last_part)
    requested, sized = page.figures["memory-verdict"]
    assert sum(requested["x"]) == pytest.approx(told["today"]["booked_gb_h"])
    assert sum(requested["x"]) - sum(sized["x"]) == pytest.approx(told["recommended"]["saved_gb_h"])
    line, chosen, plain = page.figures["memory-frontier"]
    assert line["y"] == pytest.approx([100 * one["saved_share"] for one in told["curve"]])
    assert chosen["y"] == pytest.approx([100 * told["recommended"]["saved_share"]])
    assert plain["y"] == pytest.approx([100 * one["saved_share"] for one in told["plain_rules"]])


def test_the_text_of_the_command_has_the_sentence_and_the_words_of_the_rows(tasks):
    told = tasks.command("memory", "plan", "tasks")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        app(args=["memory", "plan", "tasks"], standalone_mode=False)
    assert printed.getvalue().splitlines()[0] == told["reason"]
    assert "largest of 120 runs used" in printed.getvalue()


def test_home_report_and_library_say_the_same(tasks):
    told = tasks.command("memory", "plan", "tasks")
    found = tasks.library(lambda bench: bench.verdict("tasks", VerdictSettings()))
    assert found.memory.judged.saved == told["recommended"]["saved_gb_h"]
    home, memory = tasks.page("home", "tasks"), tasks.page("memory", "tasks", memory_tab="Plan")
    assert home.metric("Saved") == [told_figures(told)["Saved"]]
    assert sentence(found) == told["reason"]
    assert sentence(found) in home.words
    assert sentence(found) in memory.words
    first, row = found.memory.rows[0], memory_rows(told)[0]
    assert first.size == row["size_gb"]
    words = action_words(first, task_names(found.memory.rows))
    assert row["why"] in words
    assert words.startswith("HEAVY: lower ")
    assert deeds(found, 1)[0].what.startswith("Lower HEAVY: ")
    printed = tasks.report("tasks", "memory")
    same_metrics(memory, printed, "memory", len(FIGURES))
    for name in ("memory-verdict", "memory-frontier"):
        assert memory.figures[name] in printed.figures("memory")[name]
    assert sentence(found) in html.unescape(printed.page)
    same_rows(pd.read_csv(io.BytesIO(printed.csv("memory")["memory-plan-rows"])), told)


def test_the_findings_of_the_ledger_are_rows_of_the_plan(tasks):
    plan, told = tasks.command("memory", "plan", "tasks"), tasks.command("memory", "ledger", "tasks")
    sized = [one for one in told["findings"] if one["plan"] is not None]
    assert sized
    for one in sized:
        assert one["plan"] in plan["rows"]
        row, memory = one["plan"], one["plan"]["resource"] == "memory"
        end, hours = ("_gb", "_gb_h") if memory else ("", "")
        said = (row["action"], row[f"request{end}"], row[f"size{end}"], row[f"saved{hours}"], row["kills"], row["why"])
        instead, saved = one["instead"], one["saved"]
        assert said == tuple(instead[name] for name in ("action", "request", "size")) + tuple(
            saved[name] for name in ("amount", "kills", "why")
        )
        assert saved["kills_per_1000"] == row["kills_per_1000"]
    page = tasks.page("memory", "tasks", memory_tab="Ledger")
    shown, printed = page.csv("tasks-findings.csv"), tasks.report("tasks", "ledger")
    reported = pd.read_csv(io.BytesIO(printed.csv("ledger")["ledger-findings"]))
    for table in (shown, reported):
        assert table["why"].tolist() == [(one["plan"] or one["saved"])["why"] for one in told["findings"]]
        assert table["action"].fillna("").tolist() == [
            (one["plan"] or {}).get("action", "") for one in told["findings"]
        ]
    home = tasks.page("home", "tasks", home_findings="true")
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        app(args=["memory", "ledger", "tasks"], standalone_mode=False)
    for one in [one for one in told["findings"][:5] if one["instead"]]:
        assert one["instead"]["words"] in home.words
        assert one["plan"]["why"] in text.getvalue()
    listed = json.loads(page.files["tasks-ledger.json"])["findings"]
    assert [one["plan"] for one in listed] == [one["plan"] for one in told["findings"]]


@pytest.mark.soak
def test_the_tour_says_the_same(samples):
    told = samples.command("memory", "plan", samples.hashes["jobs"])
    stop = samples.page("memory", "jobs", demo="1")
    home = samples.page("home", "jobs")
    assert {label: stop.metric(label)[0] for label in FIGURES} == told_figures(told)
    assert told["reason"] in stop.words
    assert told["reason"] in home.words
    assert home.metric("Saved") == [told_figures(told)["Saved"]]
    page = samples.page("memory", "jobs")
    for name in ("memory-verdict", "memory-frontier"):
        assert stop.figures[f"tour_memory_{name}"] == page.figures[name]


def test_a_decision_is_the_same_on_every_face(tasks):
    plain = tasks.command("memory", "plan", "tasks")
    first = memory_rows(plain)[0]
    options = ("--decline", "--note", "its peak is near", "--by", "ann")
    try:
        told_by = tasks.command("memory", "decide", "tasks", first["row_key"], *options)
        told = tasks.command("memory", "plan", "tasks")
        found = tasks.library(lambda bench: bench.verdict("tasks"))
        assert told_by["reason"] == told["reason"] == sentence(found) == found.reason
        assert told["recommended"]["saved_share"] == found.memory.judged.saved_share
        assert told["recommended"]["saved_gb_h"] == pytest.approx(
            plain["recommended"]["saved_gb_h"] - first["saved_gb_h"]
        )
        assert told["decided"]["if_all"]["saved_gb_h"] == plain["recommended"]["saved_gb_h"]
        home, memory = tasks.page("home", "tasks"), tasks.page("memory", "tasks", memory_tab="Plan")
        assert {label: memory.metric(label)[0] for label in FIGURES} == told_figures(told)
        assert home.metric("Saved") == [told_figures(told)["Saved"]]
        for page in (home, memory):
            assert told["reason"] in page.words
        assert f"{first['task_name']}: lower " not in home.words
        (shown,) = (table for table in memory.tables if "request_gb" in table)
        printed = tasks.report("tasks", "memory")
        in_report = pd.read_csv(io.BytesIO(printed.csv("memory")["memory-plan-rows"]), keep_default_na=False)
        same_rows(shown, told, last_part)
        for table in (memory.csv("tasks-plan.csv"), in_report):
            same_rows(table, told)
        for table in (shown, memory.csv("tasks-plan.csv"), in_report):
            assert table["decision"].tolist()[0] == "declined"
            assert table["note"].tolist()[0] == "its peak is near"
        assert told["reason"] in html.unescape(printed.page)
        requested, sized = memory.figures["memory-verdict"]
        assert sum(requested["x"]) - sum(sized["x"]) == pytest.approx(told["recommended"]["saved_gb_h"])
    finally:
        tasks.library(lambda bench: bench.restore_decisions("tasks", {first["row_key"]: None}))
    assert tasks.command("memory", "plan", "tasks")["recommended"] == plain["recommended"]
