"""Decisions on rows of a verdict: what is left out is in no figure, against sums over rows; keys know their rows."""

import dataclasses

import numpy as np
import pytest

from tests.memory.test_verdict import jobs
from workprof.answers.verdict import notes
from workprof.core.errors import SettingsError
from workprof.core.records import pack, unpack
from workprof.memory.decided import decided, decisions_on, row_key, rows_named
from workprof.memory.decisions import (
    ACCEPTED,
    DECLINED,
    MOST_NOTE,
    NEVER,
    NOTED,
    Decision,
    fits,
    key_text,
    keys_named,
    parts_of,
)
from workprof.memory.verdict import VerdictSettings, verdict_of
from workprof.memory.verdict_rows import KEEP, LOWER, RAISE
from workprof.memory.verdict_sizes import Sizes


@pytest.fixture(scope="module")
def plain():
    asked = dataclasses.replace(VerdictSettings(), acceptable_kills="2%")
    return verdict_of({"jobs": jobs(3, requested_memory_bytes=32e9)}, asked)


def decide(verdict, at, state, note=None):
    one = verdict.memory
    return decisions_on([(one, one.rows[at])], state, note, "ann")


def test_every_row_has_a_key_of_its_own_that_finds_it(plain):
    keys = [row_key(row, one) for one in plain.resources for row in one.rows if row.by]
    assert len(set(keys)) == len(keys) > 5
    for one in plain.resources:
        for row in one.rows:
            assert rows_named(plain, row_key(row, one)) == [(one, row)]


def test_rows_left_out_keep_their_requests_and_leave_every_figure(plain):
    decisions = (*decide(plain, 0, ACCEPTED), *decide(plain, 1, DECLINED, "too risky"), *decide(plain, 2, NEVER))
    found, memory = decided(plain, decisions).memory, plain.memory
    taken = [row for at, row in enumerate(memory.rows) if at not in (1, 2)]
    assert found.judged.saved == pytest.approx(sum(row.saved for row in taken))
    assert found.judged.kills == sum(row.kills for row in taken)
    assert found.judged.saved_share == pytest.approx(found.judged.saved / found.today.booked)
    assert sum(one.saved for one in found.judged.origins) == pytest.approx(found.judged.saved)
    assert sum(row.saved for row in found.rows) == pytest.approx(found.judged.saved)
    assert found.judged.charged + found.judged.saved == pytest.approx(found.today.booked)
    assert found.otherwise.saved < memory.otherwise.saved
    for at in (1, 2):
        row, before = found.rows[at], memory.rows[at]
        assert (row.action, row.size, row.saved, row.kills) == (KEEP, row.request, 0, 0)
        assert (row.would.action, row.would.size, row.would.saved) == (before.action, before.size, before.saved)
    assert found.rows[0] == dataclasses.replace(memory.rows[0], decision=decisions[0])
    assert found.rows[3:] == memory.rows[3:]
    assert found.decided.all_saved == memory.judged.saved
    assert found.decided.accepted_saved == memory.rows[0].saved
    assert (found.decided.accepted, found.decided.declined, found.decided.never) == (1, 1, 1)


def test_nothing_left_out_leaves_every_figure_and_taking_back_gives_the_first_verdict(plain):
    kept = decide(plain, 0, ACCEPTED)
    accepted = decided(plain, kept)
    assert accepted.memory.judged == plain.memory.judged
    declined = decided(plain, decide(plain, 0, DECLINED))
    assert declined.memory.judged != plain.memory.judged
    back = decided(declined, ())
    assert back.memory.judged == plain.memory.judged
    assert back.memory.rows == plain.memory.rows
    assert decided(declined, kept).memory.rows == accepted.memory.rows
    (of_left_out,) = decide(declined, 0, ACCEPTED)
    assert dataclasses.replace(of_left_out, at=kept[0].at) == kept[0]


def test_all_left_out_saves_nothing_and_says_why(plain):
    every = [one for at in range(len(plain.memory.rows)) for one in decide(plain, at, NEVER)]
    found = decided(plain, every)
    assert (found.memory.judged.saved, found.memory.judged.kills, found.memory.judged.expected_kills) == (0, 0, 0)
    assert found.memory.judged.wasted == pytest.approx(found.memory.today.unused)
    assert "declined" in found.reason


def test_a_raise_that_is_declined_goes_on_killing():
    table = jobs(3)
    killed = (table["user"] == "u0") & (np.arange(len(table)) % 3 == 0)
    table.loc[killed, ["status", "finished"]] = "OUT_OF_MEMORY", False
    found = verdict_of({"jobs": table}, VerdictSettings())
    raised = [at for at, row in enumerate(found.memory.rows) if row.action == RAISE]
    assert raised
    every = [one for at in raised for one in decide(found, at, DECLINED)]
    kept = decided(found, every).memory.judged
    assert kept.expected_kills > 2 * found.memory.judged.expected_kills
    assert kept.expected_kills == pytest.approx(found.memory.today.kills, rel=0.3)


def test_the_served_size_of_a_row_left_out_is_the_request(plain):
    first = next(row for row in plain.memory.rows if row.action == LOWER and "user" in row.by)
    job = dict(first.key)
    assert Sizes(plain.memory).find(job, first.request).size == first.size < first.request
    at = plain.memory.rows.index(first)
    kept = Sizes(decided(plain, decide(plain, at, NEVER)).memory).find(job, first.request)
    assert kept.size == first.request
    assert kept.row.decision.state == NEVER


def test_a_decision_on_a_row_that_is_gone_is_missing(plain):
    (one,) = decide(plain, 0, ACCEPTED)
    gone = dataclasses.replace(one, row_key="user=nobody,task_name=t9,request=1")
    found = decided(plain, [gone])
    assert found.missing == (gone,)
    assert found.memory.judged == plain.memory.judged
    assert any("no longer exist" in note and gone.row_key in note for note in notes(found))
    before = dataclasses.replace(plain, settings=dataclasses.replace(plain.settings, as_of="4"))
    assert decided(plain, [gone], scope="user=ann").missing == decided(before, [gone]).missing == ()


def test_what_was_accepted_holds_only_while_the_row_says_it(plain):
    (one,) = decide(plain, 0, ACCEPTED)
    other = dataclasses.replace(one, action=KEEP)
    row = decided(plain, [other]).memory.rows[0]
    assert not row.accepted
    assert decided(plain, [other]).memory.decided.accepted == 0


def test_a_note_keeps_the_state_and_a_state_keeps_the_note(plain):
    (noted,) = decide(plain, 0, None, "ask  ann\nfirst")
    assert (noted.state, noted.note) == (NOTED, "ask ann first")
    found = decided(plain, [noted])
    assert found.memory.judged == plain.memory.judged
    (declined,) = decide(found, 0, DECLINED)
    assert (declined.state, declined.note) == (DECLINED, "ask ann first")
    assert (declined.action, declined.size) == (plain.memory.rows[0].action, plain.memory.rows[0].size)
    (again,) = decide(decided(plain, [declined]), 0, None, "no")
    assert (again.state, again.note, again.size) == (DECLINED, "no", plain.memory.rows[0].size)


def test_a_decision_that_stands_keeps_its_day_and_its_advice(plain):
    """Else a note, or the same decision on all rows again, would begin the saving in fact anew."""
    (one,) = decide(plain, 0, ACCEPTED)
    earlier = dataclasses.replace(one, at="2026-01-05T10:00:00+00:00", by="ann", size=one.size / 2)
    there = decided(plain, [earlier])
    assert decide(there, 0, None, "told her") == (dataclasses.replace(earlier, note="told her"),)
    assert decide(there, 0, ACCEPTED) == (earlier,)
    assert decide(there, 0, DECLINED)[0].at > earlier.at
    (anew,) = decide(decided(plain, [dataclasses.replace(earlier, action="raise")]), 0, ACCEPTED)
    assert (anew.at > earlier.at, anew.size, anew.action) == (True, one.size, one.action)


def test_nonsense_is_refused_with_what_to_do(plain):
    with pytest.raises(SettingsError, match="choose from accepted"):
        decide(plain, 0, "maybe")
    with pytest.raises(SettingsError, match="nothing is decided"):
        decide(plain, 0, None)
    with pytest.raises(SettingsError, match=f"shorten it to {MOST_NOTE}"):
        decide(plain, 0, ACCEPTED, "x" * (MOST_NOTE + 1))
    with pytest.raises(SettingsError, match="no row is"):
        rows_named(plain, "user=nobody")
    for text, meant in (("user=U1", "u1"), ("usr=u1", "user"), ("user=u1,task_name=T2", "t2")):
        with pytest.raises(SettingsError, match=f"did you mean '{meant}'"):
            rows_named(plain, text)
    with pytest.raises(SettingsError, match="COLUMN=VALUE"):
        rows_named(plain, "ann")
    with pytest.raises(SettingsError, match=r"fits \d+ rows: .*--all"):
        rows_named(plain, "user=u1")
    assert len(rows_named(plain, "user=u1", every=True)) == 3


@pytest.mark.parametrize("value", ["a,b", "a=b", "ä %20", "x y", "p/q:r", "", "100%", "+"])
def test_any_name_comes_back_from_a_key(value):
    text = key_text("time limit", ("user", "task_name", "request"), {"user": value, "task_name": "t"}, 4.2)
    assert " " not in text
    assert parts_of(text) == {"user": value, "task_name": "t", "request": "4.2", "resource": "time limit"}


def test_parts_fit_by_value_requests_by_half_a_percent_and_memory_unless_said():
    memory = key_text("memory", ("user", "request"), {"user": "ann"}, 20.97152)
    cpu = key_text("cpu", ("user", "request"), {"user": "ann"}, 20.97152)
    assert fits({"user": "ann", "request": "21"}, memory)
    assert not fits({"user": "ann", "request": "22"}, memory)
    assert not fits({"user": "an"}, memory)
    assert not fits({"user": "ann"}, cpu)
    assert fits({"user": "ann", "resource": "cpu"}, cpu)
    assert keys_named([memory, cpu], "user=ann") == [memory]
    assert keys_named([memory, cpu], cpu) == [cpu]


def test_a_decision_comes_back_from_its_document(plain):
    (one,) = decide(plain, 0, ACCEPTED, "é")
    assert unpack(Decision, pack(one)) == one
