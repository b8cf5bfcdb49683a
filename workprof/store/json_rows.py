"""JSON texts as rows: objects of lines, of an array or of a document's list, in bounded memory with each row's line."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workprof.core.causes import FOR_MEMORY
from workprof.formats.json_documents import CHUNK_BYTES, MAX_MEMBER_CHARACTERS, JsonWindow, elements, keys
from workprof.formats.repeated_keys import RepeatedKeys
from workprof.store.text_shape import UTF8_BOM

LOOKED_AT_ROWS = 200

LINES, ARRAY, LIST, OBJECTS, KEYED = "lines", "array", "list", "objects", "keyed"

_ARRAY = re.compile(r"\s*\[\s*[{\]]")
_LIST = re.compile(r"\[\s*\{")
_KEY = re.compile(r'[\s,]*("(?:[^"\\]|\\.)*")\s*:\s*')
_NEXT = re.compile(r"\s*(?:\{|\Z)")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class JsonRow:
    """A line or an element: where it starts (first line = 1), how it reads, the object (None: it is none)."""

    line: int
    text: str
    row: dict[str, Any] | None
    done_bytes: int


@dataclass(frozen=True)
class JsonShape:
    """How objects stand in a text."""

    # 'lines': one a line. 'array': in one array. 'list': under a key of a document, `{"total": 2, "jobs": [{...},
    # {...}]}`. 'objects': one after another, each over several lines. 'keyed': the members of one object, each under
    # the name of its row: `{"job-1": {...}, "job-2": {...}}`
    kind: str
    at: int = 0  # where the array or the first object begins
    path: tuple[str, ...] = ()  # the keys of a document under which the rows are
    # the one key of every object, whose value is the row: `{"tasks": [{"task": {...}}, {"task": {...}}]}`
    around: str = ""
    beside: str = ""  # a later list beside the rows, whose first object is like theirs
    named: str = ""  # of 'keyed': the column that a row's key becomes, '' where a member of every row is its key


def is_json(head: str) -> bool:
    """Tell whether a text begins with a JSON object or an array of them."""
    return head.lstrip().startswith("{") or bool(_ARRAY.match(head))


def json_shape(head: str) -> JsonShape:
    """How the objects of a text stand in it, from its first characters."""
    if _ARRAY.match(head):
        return JsonShape(ARRAY, head.index("["))
    begin = max(head.find("{"), 0)
    first, *others = head[begin:].split("\n", 2)
    alone = _object(first) is not None
    if alone and any(line.strip() for line in others):
        return JsonShape(LINES)
    end = _end_of_value(head, begin)
    several = end >= 0 and bool(_NEXT.match(head, end)) and bool(head[end:].strip())
    if not several and (rows := _keyed(head, begin)):
        return JsonShape(KEYED, begin, named=_column_of_keys(rows))
    found = _list_in(head, begin, 0 if several else MOST_DEEP)
    if found is not None:
        return found
    return JsonShape(LINES) if alone or end < 0 or not _NEXT.match(head, end) else JsonShape(OBJECTS, begin)


MOST_DEEP = 4
NO_ROWS = ("files", "columns", "fields", "schema", "parameters", "links", "messages", "warnings", "errors")
"""Lists of objects that answers have beside the list of their rows."""
WRAPPERS = ("hits", "data", "result", "results", "response", "body")
"""Members of an answer, beside others, that hold its rows: Elasticsearch's {"took": 5, "hits": {...}}."""


def _list_in(head: str, begin: int, deep: int) -> JsonShape | None:
    """The first list of objects in the object that begins at a place, or so deep in the only member of each.

    A member beside others counts where it is one of `WRAPPERS`, one of `NO_ROWS` where there is nothing else. Without a
    list the rows are the members of the only object that has them, each under its key.
    """
    at, only, wrapper, other, keyed = begin + 1, ("", -1), ("", -1), None, []
    while key := _KEY.match(head, at):
        name = json.loads(key[1], strict=False)
        if _LIST.match(head, key.end()):
            listed = JsonShape(LIST, key.end(), (name,), beside=_list_alike(head, key.end()))
            if name not in NO_ROWS:
                return listed
            other = other or listed
        is_object = head.startswith("{", key.end())
        only = (name, key.end()) if at == begin + 1 and is_object else ("", -1)
        wrapper = (name, key.end()) if name in WRAPPERS and is_object and wrapper[1] < 0 else wrapper
        if deep and is_object and (rows := _keyed(head, key.end())):
            keyed.append(JsonShape(KEYED, key.end(), (name,), named=_column_of_keys(rows)))
        at = _end_of_value(head, key.end())
        if at < 0:
            break
    only = only if only[1] >= 0 else wrapper
    found = _list_in(head, only[1], deep - 1) if deep and only[1] >= 0 else None
    if found is not None:
        return replace(found, path=(only[0], *found.path))
    return keyed[0] if len(keyed) == 1 else other


def _list_alike(head: str, at: int) -> str:
    """The name of a list behind the one that begins at a place, whose first object has most of its keys; '' = none."""
    first = _objects_from(head, at, one_list=True)[:1]
    at = _end_of_value(head, at)
    while at >= 0 and (key := _KEY.match(head, at)):
        other = _objects_from(head, key.end(), one_list=True)[:1] if _LIST.match(head, key.end()) else []
        if first and other and _are_alike(first[0], other[0]):
            return str(json.loads(key[1], strict=False))
        at = _end_of_value(head, key.end())
    return ""


def _are_alike(row: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return len(row.keys() & other.keys()) > max(len(row), len(other)) / 2


def _keyed(head: str, begin: int) -> list[tuple[str, dict[str, Any]]]:
    """The keys and values of the first members of an object as rows; none where they are no rows alike."""
    result: list[tuple[str, dict[str, Any]]] = []
    at = begin + 1
    while len(result) < LOOKED_AT_ROWS and (key := _KEY.match(head, at)):
        try:
            value, at = _DECODER.raw_decode(head, key.end())
        except (ValueError, RecursionError):
            break
        if not isinstance(value, dict):
            return []
        result.append((json.loads(key[1], strict=False), value))
    return result if len(result) > 1 and all(_are_alike(row, result[0][1]) for _, row in result) else []


def _column_of_keys(rows: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """The column that the keys of rows become, '' where a member of every row is its key.

    A member that is the key of some rows alone tells another thing: an exit code of 0 and 1 beside jobs 0 and 1.
    """
    if any(all(str(row.get(name)) == key for key, row in rows) for name in rows[0][1]):
        return ""
    return KEY if any(ID in row for _, row in rows) else ID


def _named(key: str, row: Mapping[str, Any], column: str) -> dict[str, Any]:
    return {column: key} | dict(row) if column else dict(row)


ID, KEY = "id", "key"
"""Columns of a row's key; the second where rows have the first."""


def first_objects(head: str, whole: bool) -> list[dict[str, Any]]:
    """The first objects of a text's first characters, flat (`whole`: the last line is not cut off)."""
    rows = _first(head, json_shape(head), whole)
    around = _around(rows)
    return [flat(inner(row, around)) for row in rows]


def _first(head: str, shape: JsonShape, whole: bool) -> list[dict[str, Any]]:
    if shape.kind == KEYED:
        return [_named(key, row, shape.named) for key, row in _keyed(head, shape.at)]
    if shape.kind != LINES:
        return _objects_from(head, shape.at, one_list=shape.kind != OBJECTS)
    lines = head.splitlines() if whole else head.splitlines()[:-1]
    result = (_object(line) for line in lines[:LOOKED_AT_ROWS])
    return [row for row in result if row is not None]


def _around(rows: Sequence[Mapping[str, Any]]) -> str:
    """The one key of all rows where its values are the rows, '' where there is none.

    Elasticsearch writes where a row lies beside it.
    """
    if rows and all(isinstance(row.get(SOURCE), dict) and {*row} - {SOURCE} <= BESIDE for row in rows):
        return SOURCE
    around = next(iter(rows[0]), "") if rows else ""
    return around if all(row.keys() == {around} and isinstance(row[around], dict) for row in rows) else ""


SOURCE, BESIDE = "_source", {"_index", "_type", "_id", "_score", "_version", "_seq_no", "_primary_term", "sort"}


def inner(row: dict[str, Any], around: str) -> dict[str, Any]:
    """The row inside an object of one key; what a later object has beside it stands beside its members."""
    found = row.get(around) if around else None
    beside = {key: value for key, value in row.items() if key != around}
    return found | beside if isinstance(found, dict) and not found.keys() & beside.keys() else row


CONTAINER = "container"
REQUIREMENTS = {"MEMORY": "memory_MiB", "VCPU": "vcpus", "GPU": "gpus"}
"""Types of AWS Batch's list of what a container requires -> names, with the unit that its reference tells."""


def flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with the members of its objects as columns: of {"a": {"b": 1}} the column a.b; of `DEEPER` a.times.b."""
    result: dict[str, Any] = {}
    for name, value in row.items():
        members = dict(_members_of(name, value)) if isinstance(value, dict) else {}
        listed = members.get(f"{name}.resourceRequirements")
        if isinstance(listed, list) or (name == CONTAINER and {f"{name}.vcpus", f"{name}.memory"} <= members.keys()):
            members |= _required(value, listed if isinstance(listed, list) else ())
        result.update(members if members and not members.keys() & row.keys() else {name: value})
    return _kills_of(row) | result | _last_attempt(row)


DEEPER = frozenset(["timeline", "times", "timing", "timestamps", "requests", "limits", "usage"])
"""Objects inside a row's objects whose members are columns, too: `Status.Timeline` of EMR, `resources.requests`."""


def _members_of(name: str, value: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, member in value.items():
        if isinstance(member, dict) and key.lower() in DEEPER:
            yield from ((f"{name}.{key}.{inner}", one) for inner, one in member.items())
        else:
            yield f"{name}.{key}", member


def _required(container: Mapping[str, Any], listed: Sequence[Any]) -> dict[str, Any]:
    """What a container of AWS Batch requires: of its list of types and values, else of its own members."""
    pairs: dict[object, Any] = {kind: container.get(own) for kind, own in (("MEMORY", "memory"), ("VCPU", "vcpus"))}
    pairs |= {each.get("type"): each.get("value") for each in listed if isinstance(each, dict)}
    return {name: pairs[kind] for kind, name in REQUIREMENTS.items() if pairs.get(kind) is not None}


ATTEMPTS = ("attempts", "logs")


def _last_attempt(row: Mapping[str, Any]) -> dict[str, Any]:
    """The members of a row's last attempt that has times, beside the list: tasks of TES, applications of Spark."""
    result: dict[str, Any] = {}
    for name in ATTEMPTS if CONTAINER not in row else ():
        listed = row.get(name)
        last = listed[-1] if isinstance(listed, list) and listed and isinstance(listed[-1], dict) else {}
        if any("start" in key.lower() for key in last) and any("end" in key.lower() for key in last):
            result |= {f"{name}.{key}": value for key, value in last.items() if not isinstance(value, dict | list)}
    return result


OOM_KILLS = "oom_kills"


def _kills_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """How many attempts of a job of AWS Batch were killed for memory, which the last one alone may not tell.

    Source: AWS Batch's reference, JobDetail and AttemptDetail.
    """
    attempts, container = row.get("attempts"), row.get(CONTAINER)
    if not isinstance(attempts, list) or not isinstance(container, dict) or "status" not in row:
        return {}
    last = [row] if str(row["status"]).upper() == "FAILED" else []
    killed, at_last = (
        sum(bool(re.search(FOR_MEMORY, _reasons_of(each).lower())) for each in listed) for listed in (attempts, last)
    )
    return {OOM_KILLS: max(killed, at_last)}


def _reasons_of(attempt: object) -> str:
    if not isinstance(attempt, dict):
        return ""
    container = attempt.get(CONTAINER)
    inner = container.get("reason") if isinstance(container, dict) else ""
    return f"{inner} {attempt.get('statusReason')}"


def json_rows(path: Path, origin: str, repeated: RepeatedKeys | None = None) -> Iterator[JsonRow]:
    """Yield every line that is not blank, or every element of an array or list, in the order of the file.

    `repeated` counts the rows whose keys repeat.

    Raises TraceError when the text is none of lines and cut off or broken: nothing after that place can be trusted.
    """
    shape, counting = shape_of(path), repeated or RepeatedKeys()
    for one in _lines(path, counting) if shape.kind == LINES else _members(path, origin, shape, counting):
        yield replace(one, row=inner(one.row, shape.around)) if shape.around and one.row is not None else one


def shape_of(path: Path) -> JsonShape:
    """How the objects of a file stand in it."""
    with path.open("rb") as stream:
        head = stream.read(CHUNK_BYTES)
    text = head.decode("utf-8-sig", errors="replace")
    shape = json_shape(text)
    return replace(shape, around=_around(_first(text, shape, len(head) < CHUNK_BYTES)))


def _lines(path: Path, repeated: RepeatedKeys) -> Iterator[JsonRow]:
    done, decoder = 0, json.JSONDecoder(object_pairs_hook=repeated.hook)
    with path.open("rb") as source:
        for number, raw in enumerate(source, start=1):
            done += len(raw)
            if (raw.removeprefix(UTF8_BOM) if number == 1 else raw).strip():
                content = raw.decode("utf-8-sig", errors="replace")
                yield JsonRow(number, content, _counted(repeated, _object(content, decoder)), done)


def _counted(repeated: RepeatedKeys, row: dict[str, Any] | None) -> dict[str, Any] | None:
    """The row, its repeated keys counted; of what is no row nothing is."""
    if row is None:
        repeated.forget()
    else:
        repeated.end_row()
    return row


def _members(path: Path, origin: str, shape: JsonShape, repeated: RepeatedKeys) -> Iterator[JsonRow]:
    with path.open("rb") as stream:
        if shape.path:
            text = JsonWindow(stream, origin, repeated, MAX_MEMBER_CHARACTERS)
            while text.peek():
                yield from _under(text, shape.path, shape, repeated)
            return
        text = JsonWindow(stream, origin, repeated)
        if shape.kind == ARRAY:
            yield from _elements(text, repeated)
        elif shape.kind == KEYED:
            yield from _by_key(text, shape.named, repeated)
        if shape.kind != OBJECTS and text.peek():
            raise text.broken("there is more after the end of the rows")
        while text.peek():
            yield _row(text, text.line, repeated)


def _under(text: JsonWindow, path: tuple[str, ...], shape: JsonShape, repeated: RepeatedKeys) -> Iterator[JsonRow]:
    """The rows under the keys of a document; its other members are passed over."""
    for key in keys(text):
        if key != path[0] or text.peek() != ("{" if path[1:] or shape.kind == KEYED else "["):
            text.value()
        elif path[1:]:
            yield from _under(text, path[1:], shape, repeated)
        else:
            yield from _by_key(text, shape.named, repeated) if shape.kind == KEYED else _elements(text, repeated)


def _by_key(text: JsonWindow, column: str, repeated: RepeatedKeys) -> Iterator[JsonRow]:
    for key in keys(text):
        one = _row(text, text.line, repeated)
        yield one if one.row is None else replace(one, row=_named(key, one.row, column))


def _elements(text: JsonWindow, repeated: RepeatedKeys) -> Iterator[JsonRow]:
    for line in elements(text):
        yield _row(text, line, repeated)


def _row(text: JsonWindow, line: int, repeated: RepeatedKeys) -> JsonRow:
    done = text.done_bytes
    value, content = text.value()
    return JsonRow(line, content, _counted(repeated, value if isinstance(value, dict) else None), done)


def _objects_from(head: str, at: int, *, one_list: bool) -> list[dict[str, Any]]:
    """The objects after a place, up to the end of the list that begins there where it is `one_list`."""
    result: list[dict[str, Any]] = []
    while len(result) < LOOKED_AT_ROWS:
        start = head.find("{", at)
        if one_list and "]" in head[at : max(start, at)]:
            break
        try:
            value, at = _DECODER.raw_decode(head, start if start >= 0 else len(head))
        except (ValueError, RecursionError):  # the look ends inside an element, or the array ends
            break
        result.append(value)
    return result


def _end_of_value(head: str, at: int) -> int:
    """Where a value ends, -1 where it does not."""
    try:
        return _DECODER.raw_decode(head, at)[1]
    except (ValueError, RecursionError):
        return -1


def _object(content: str, decoder: json.JSONDecoder = _DECODER) -> dict[str, Any] | None:
    try:
        value = decoder.decode(content)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
