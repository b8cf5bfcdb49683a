"""Members of a list or an object inside a JSON document: each with its line, in bounded memory, broken ones refused."""

import io
import json

import pytest

from workprof.core.errors import TraceError
from workprof.formats.declare import Given
from workprof.formats.json_documents import CHUNK_BYTES, members, remarks
from workprof.formats.repeated_keys import RepeatedKeys


def found(text, *names):
    """Return (line, key, value) of the members."""
    stream = io.BytesIO(text.encode())
    return [(each.line, each.key, each.value) for each in members(Given("t.json", stream), names, RepeatedKeys())]


def test_a_list_inside_a_document():
    text = '{"meta": {"v": [1, 2]},\n "jobs": [\n  {"a": 1},\n  {"a": 2}, 3\n ],\n "errors": []}\n'
    assert found(text, "jobs") == [(3, "", {"a": 1}), (4, "", {"a": 2}), (4, "", 3)]


def test_an_object_inside_a_document_and_documents_in_a_row():
    text = '{"Jobs": {\n"1.s": {"a": 1},\n"2.s": {}}}\n{"Jobs": {"3.s": {"b": 2}}}'
    assert found(text, "Jobs") == [(2, "1.s", {"a": 1}), (3, "2.s", {}), (4, "3.s", {"b": 2})]


def test_a_bare_list_and_empty_ones():
    assert found('[{"a": 1}]', "jobs") == [(1, "", {"a": 1})]
    assert found('{"jobs": []} {"jobs": {}} {} []', "jobs") == []
    assert found('{"jobs": null, "other": [1]}', "jobs") == []


def test_many_members_cross_the_chunks():
    rows = [{"id": at, "text": "ü" * (at % 977)} for at in range(4000)]
    text = json.dumps({"x": "y" * CHUNK_BYTES, "jobs": rows}, ensure_ascii=False)
    assert len(text.encode()) > 4 * CHUNK_BYTES
    assert [value for _, _, value in found(text, "jobs")] == rows


@pytest.mark.parametrize(
    "text",
    [
        '{"jobs": [{"a": 1}, {"a": ',
        '{"jobs": [{"a": 1} {"a": 2}]}',
        '{"jobs": [{"a": 1}],',
        '{"jobs": [1, 2}',
        "{1: [2]}",
        '{"jobs": ' + "[" * 100_000,
        '{"meta": {"a": tru}, "jobs": []}',
        '{"jobs": []} trailing',
        '{"jobs": [' + "9" * 10_000 + "]}",
    ],
)
def test_what_is_broken_is_refused(text):
    with pytest.raises(TraceError, match=r"t\.json.*line 1"):
        found(text, "jobs")


def test_keys_that_repeat_are_counted_by_member():
    counting = RepeatedKeys()
    stream = io.BytesIO(b'{"jobs": [{"a": 1, "a": 2}, {"a": 1}, {"b": {"c": 1, "c": 1}}]}')
    first, *_ = members(Given("t", stream), {"jobs"}, counting)
    assert first.value == {"a": 2}
    (told,) = remarks(counting, "jobs")
    assert (told.name, told.count, told.level) == ("repeated keys", 2, "warning")
