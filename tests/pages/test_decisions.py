"""Plan: rows are found, selected, accepted, declined, noted and taken back; what is kept is what was pressed."""

from dataclasses import replace

import pytest

from tests.memory.test_verdict import jobs
from tests.pages.conftest import problems, words
from workprof.answers.verdict import sentence
from workprof.memory.decided import row_key

pytestmark = pytest.mark.slow

TABLE = "memory_verdict_table"
GONE = "user=nobody,request=1"


@pytest.fixture
def trace(house):
    report = house().workbench.ingest(jobs(3, requested_memory_bytes=32e9).drop(columns="finished"))
    return report.hash


def select(test, *rows, key=TABLE):
    test.session_state[key] = {"selection": {"rows": list(rows), "columns": [], "cells": []}}
    test.run()
    return test


def shown(test):
    """The table of rows, whatever turn of selections it has."""
    return next(one.value for one in test.dataframe if "request_gb" in one.value)


def kept(house, trace):
    return {one.row_key: (one.state, one.note) for one in house().workbench.decisions(trace)}


def test_selected_rows_are_declined_and_taken_back(app, trace, house):
    test = app("memory", ds=trace)
    assert problems(test) == []
    plain = house().workbench.verdict(trace)
    assert sentence(plain) in words(test)
    assert set(shown(test)["decision"]) == {""}
    assert "Select rows to accept, decline or note them." in words(test)
    select(test, 0, 2).button(key=f"{TABLE}_declined").click().run()
    assert problems(test) == []
    keys = [row_key(plain.memory.rows[at], plain.memory) for at in (0, 2)]
    assert kept(house, trace) == dict.fromkeys(keys, ("declined", ""))
    assert shown(test)["decision"].tolist()[:3] == ["declined", "", "declined"]
    assert shown(test)["action"].tolist()[0] == "keep"
    found = house().workbench.verdict(trace)
    assert sentence(found) in words(test) != sentence(plain)
    assert "2 rows are left out by decision" in sentence(found)
    test.button(key="memory_decided_undo").click().run()
    assert problems(test) == []
    assert kept(house, trace) == {}
    assert sentence(plain) in words(test)
    assert "memory_decided_undo" not in [one.key for one in test.button]


def test_rows_are_accepted_noted_never_touched_and_cleared(app, trace, house):
    test = app("memory", ds=trace)
    plain = house().workbench.verdict(trace)
    key = row_key(plain.memory.rows[1], plain.memory)
    select(test, 1).button(key=f"{TABLE}_accepted").click().run()
    assert kept(house, trace) == {key: ("accepted", "")}
    test.session_state[f"{TABLE}_note"] = "asked ann"
    select(test, 1, key=f"{TABLE}_1").button(key=f"{TABLE}_note_save").click().run()
    assert problems(test) == []
    assert kept(house, trace) == {key: ("accepted", "asked ann")}
    assert shown(test)["note"].tolist()[1] == "asked ann"
    select(test, 1, key=f"{TABLE}_2").button(key=f"{TABLE}_never").click().run()
    assert kept(house, trace) == {key: ("never touch", "asked ann")}
    select(test, 1, key=f"{TABLE}_3").button(key=f"{TABLE}_clear").click().run()
    assert kept(house, trace) == {}
    test.button(key="memory_decided_undo").click().run()
    assert kept(house, trace) == {key: ("never touch", "asked ann")}


def test_rows_are_found_by_words_and_decisions_on_rows_that_are_gone_are_forgotten(app, trace, house):
    bench = house().workbench
    row = bench.verdict(trace).memory.rows[0]
    name = bench.dataset(trace).name
    (one,) = bench.decide(trace, row_key(row, bench.verdict(trace).memory), "accepted")
    bench._store.save_decisions(name, {GONE: replace(one, row_key=GONE)})
    test = app("memory", ds=trace, memory_verdict_find=f"{row.key['user']}, {row.key['task_name']}")
    assert problems(test) == []
    assert len(shown(test)) == 1
    assert shown(test)["user"].tolist() == [row.key["user"]]
    assert "1 decision is on a row that no longer exists" in words(test)
    test.button(key="memory_decided_forget").click().run()
    assert problems(test) == []
    assert list(kept(house, trace)) == [one.row_key]


def test_home_leaves_out_what_was_declined_and_opens_the_first_questions(app, trace, house):
    bench = house().workbench
    memory = bench.verdict(trace).memory
    first, second = (row_key(row, memory) for row in memory.rows[:2])
    bench.decide(trace, first, "declined")
    bench.decide(trace, second, "accepted")
    test = app("home", ds=trace)
    assert problems(test) == []
    told = " ".join(one.label for one in test.button).replace("\\", "")
    assert f"Lower {', '.join(memory.rows[0].key.values())}: " not in told
    assert f"Lower {', '.join(memory.rows[1].key.values())}: " in told
    assert "(accepted)" in told
    test.button(key="home_next_cut").click().run()
    assert problems(test) == []
    assert test.query_params["memory_times"] in ("0.7", ["0.7"])
    assert "All requests times 0.7" in words(test)
    test = app("home", ds=trace)
    test.button(key="home_next_nodes").click().run()
    assert problems(test) == []
    assert "nodes of 64 GB are needed" in words(test)
