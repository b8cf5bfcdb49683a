"""JSON texts as rows: one object a line, or one array of objects, read in bounded memory with the line of every row."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workprof.formats.json_documents import CHUNK_BYTES, JsonWindow
from workprof.formats.repeated_keys import RepeatedKeys
from workprof.store.text_shape import UTF8_BOM

LOOKED_AT_ROWS = 200

_ARRAY = re.compile(r"\s*\[\s*[{\]]")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class JsonRow:
    """A line or an array's element: where it starts (first line = 1), how it reads, the object (None: it is none)."""

    line: int
    text: str
    row: dict[str, Any] | None
    done_bytes: int


def is_json(head: str) -> bool:
    """Tell whether a text begins with a JSON object or an array of them."""
    return head.lstrip().startswith("{") or is_json_array(head)


def is_json_array(head: str) -> bool:
    """Tell whether a text begins a JSON array of objects (or an empty one)."""
    return bool(_ARRAY.match(head))


def first_objects(head: str, whole: bool) -> list[dict[str, Any]]:
    """Return the first objects of a text's first characters (`whole`: the last line is not cut off)."""
    if is_json_array(head):
        return _first_elements(head)
    lines = head.splitlines() if whole else head.splitlines()[:-1]
    found = (_object(line) for line in lines[:LOOKED_AT_ROWS])
    return [row for row in found if row is not None]


def json_rows(path: Path, origin: str, repeated: RepeatedKeys | None = None) -> Iterator[JsonRow]:
    """Yield every line that is not blank, or every element of the array, in the order of the file.

    Args:
        path: of the text.
        origin: its name for people.
        repeated: counts the rows whose keys repeat.

    Raises:
        TraceError: when an array is cut off or broken: nothing after that place can be trusted.
    """
    with path.open("rb") as stream:
        head = stream.read(CHUNK_BYTES).decode("utf-8-sig", errors="replace")
    counting = repeated or RepeatedKeys()
    yield from _elements(path, origin, counting) if is_json_array(head) else _lines(path, counting)


def _lines(path: Path, repeated: RepeatedKeys) -> Iterator[JsonRow]:
    done, decoder = 0, json.JSONDecoder(object_pairs_hook=repeated.hook)
    with path.open("rb") as source:
        for number, raw in enumerate(source, start=1):
            done += len(raw)
            if (raw.removeprefix(UTF8_BOM) if number == 1 else raw).strip():
                content = raw.decode("utf-8-sig", errors="replace")
                yield JsonRow(number, content, _counted(repeated, _object(content, decoder)), done)


def _counted(repeated: RepeatedKeys, row: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the row, its repeated keys counted; of what is no row nothing is."""
    if row is None:
        repeated.forget()
    else:
        repeated.end_row()
    return row


def _elements(path: Path, origin: str, repeated: RepeatedKeys) -> Iterator[JsonRow]:
    with path.open("rb") as stream:
        text = JsonWindow(stream, origin, repeated)
        text.expect("[")
        if text.peek() == "]":
            return
        while True:
            text.skip_space()
            line, done = text.line, text.done_bytes
            value, content = text.value()
            row = _counted(repeated, value if isinstance(value, dict) else None)
            yield JsonRow(line, content, row, done)
            if text.peek() == "]":
                break
            text.expect(",")
        text.expect("]")
        if text.peek():
            raise text.broken("there is more after the end of the array")


def _first_elements(head: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    at = head.index("[") + 1
    while len(found) < LOOKED_AT_ROWS:
        start = head.find("{", at)
        try:
            value, at = _DECODER.raw_decode(head, start if start >= 0 else len(head))
        except (ValueError, RecursionError):  # the look ends inside an element, or the array ends
            return found
        found.append(value)
    return found


def _object(content: str, decoder: json.JSONDecoder = _DECODER) -> dict[str, Any] | None:
    try:
        value = decoder.decode(content)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
