"""JSON texts as rows: one object a line, or one array of objects, read in bounded memory with the line of every row."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workprof.core.errors import TraceError
from workprof.core.units import MIB, format_bytes
from workprof.formats.repeated_keys import RepeatedKeys
from workprof.store.text_shape import UTF8_BOM

LOOKED_AT_ROWS = 200
CHUNK_BYTES = MIB
MAX_ELEMENT_CHARACTERS = MIB
"""An array's element may be as long as two of the longest lines: no row of a job table is longer."""

_ARRAY = re.compile(r"\s*\[\s*[{\]]")
_SPACE = re.compile(r"[ \t\r\n]*")
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
        text = _Window(stream, origin, repeated)
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


class _Window:
    """A moving piece of a long JSON text; holds one element and one chunk at most."""

    def __init__(self, stream: Any, origin: str, repeated: RepeatedKeys) -> None:
        self._stream, self._origin, self._repeated = stream, origin, repeated
        self._json = json.JSONDecoder(object_pairs_hook=repeated.hook)
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
        self._text, self._at, self._ended = "", 0, False
        self.line, self.done_bytes = 1, 0

    def peek(self) -> str:
        """Return the next character that is no space; '' at the end."""
        self.skip_space()
        return self._text[self._at : self._at + 1]

    def expect(self, wanted: str) -> None:
        """Step over a character that must come next."""
        found = self.peek()
        if found != wanted:
            raise self.broken(f"{wanted!r} is expected, {found!r} found" if found else "the file is cut off")
        self._move(self._at + 1)

    def skip_space(self) -> None:
        """Step to the next character that is no space."""
        while True:
            match = _SPACE.match(self._text, self._at)
            self._move(match.end() if match else self._at)
            if self._at < len(self._text) or not self._more():
                return

    def value(self) -> tuple[Any, str]:
        """Return the next value and its text."""
        while True:
            self._repeated.forget()
            try:
                value, end = self._json.raw_decode(self._text, self._at)
            except (ValueError, RecursionError) as error:
                reason = getattr(error, "msg", "it is nested too deeply")
                if isinstance(error, RecursionError) or not self._more():
                    raise self.broken(str(reason)) from error
            else:
                if end < len(self._text) or not self._more():  # a number may go on in the next chunk
                    content = self._text[self._at : end]
                    self._move(end)
                    return value, content

    def broken(self, reason: str) -> TraceError:
        """Return the refusal of an array that cannot be read on."""
        return TraceError(
            f"{self._origin}: the JSON array breaks off in the element of line {self.line} ({reason}); mend it, or "
            f"write one object per line (jq -c '.[]'), where only the bad lines are left out"
        )

    def _move(self, to: int) -> None:
        self.line += self._text.count("\n", self._at, to)
        self._at = to

    def _more(self) -> bool:
        if self._ended:
            return False
        if len(self._text) - self._at > MAX_ELEMENT_CHARACTERS:
            raise self.broken(f"an element is longer than {format_bytes(MAX_ELEMENT_CHARACTERS)} or never ends")
        raw = self._stream.read(CHUNK_BYTES)
        self._ended = not raw
        self.done_bytes += len(raw)
        self._text, self._at = self._text[self._at :] + self._decoder.decode(raw, final=self._ended), 0
        return True


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
