"""Long JSON texts in bounded memory: a moving window, and the members of a list or an object inside a document."""

import codecs
import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import IO, Any

from workprof.core.errors import TraceError
from workprof.core.units import MIB, format_bytes
from workprof.formats.declare import Given, Remark
from workprof.formats.repeated_keys import RepeatedKeys

CHUNK_BYTES = MIB
MAX_ELEMENT_CHARACTERS = MIB
"""A row may be as long as two of the longest lines: no row of a job table is longer."""

MAX_MEMBER_CHARACTERS = 64 * MIB
"""A member of a document, with all that it holds: a job with ten thousand steps has 30 MB."""

_SPACE = re.compile(r"[ \t\r\n]*")


_MENDED = re.compile(r'"(?:[^"\\]|\\.)*"|[^"]+', re.DOTALL)
_BAD_ESCAPE = re.compile(r'\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})(.)', re.DOTALL)
_ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}|.)', re.DOTALL)
_BARE = re.compile(r"(:\s*)([^\s\[{\]},][^,\]}\n]*?)(?=\s*[,\]}\n])")
_PLAIN = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")


class Mending:
    """Mends what a tool writes that is no JSON: escapes that there are not, and bare words such as 005.

    Attributes:
        count: of the places mended.
    """

    def __init__(self) -> None:
        """Begin with nothing held."""
        self.count, self._held = 0, ""

    def feed(self, text: str, *, final: bool) -> str:
        """A further piece mended, as far as its last string or value is whole."""
        whole, done = self._held + text, 0
        parts: list[str] = []
        for match in _MENDED.finditer(whole):
            token = match.group()
            if not final and match.end() == len(whole) and (token[0] == '"' or "\n" not in token):
                break
            if token[0] != '"':
                end = len(token) if final or match.end() < len(whole) else token.rindex("\n") + 1
                parts.append(_BARE.sub(self._quoted, token[:end]))
                done = match.start() + end
                continue
            parts.append(_ESCAPE.sub(self._escaped, token))
            done = match.end()
        self._held = "" if final else whole[done:]
        return "".join(parts) + (whole[done:] if final else "")

    def _quoted(self, match: re.Match[str]) -> str:
        if _PLAIN.fullmatch(match[2]):
            return match[0]
        self.count += 1
        return match[1] + json.dumps(match[2])

    def _escaped(self, match: re.Match[str]) -> str:
        if not _BAD_ESCAPE.match(match[0]):
            return match[0]
        self.count += 1
        return match[0][1:]  # PBS writes a backslash before what it means


class JsonWindow:
    """A moving piece of a long JSON text; holds one element and one chunk at most."""

    def __init__(
        self,
        stream: IO[bytes],
        origin: str,
        repeated: RepeatedKeys,
        longest: int = MAX_ELEMENT_CHARACTERS,
        mending: Mending | None = None,
    ) -> None:
        """Begin at the first character; an element has at most `longest`.

        `repeated` counts the keys that repeat. What the tool writes that is no JSON is mended where `mending` says how.
        """
        self._mending = mending
        self._stream, self._origin, self._repeated, self._longest = stream, origin, repeated, longest
        self._json = json.JSONDecoder(object_pairs_hook=repeated.hook, strict=mending is None)
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
        self._text, self._at, self._ended = "", 0, False
        self.line, self.done_bytes = 1, 0

    def peek(self) -> str:
        """The next character that is no space; '' at the end."""
        self.skip_space()
        return self._text[self._at : self._at + 1]

    def expect(self, wanted: str) -> None:
        """Step over a character that must come next."""
        result = self.peek()
        if result != wanted:
            raise self.broken(f"{wanted!r} is expected, {result!r} found" if result else "the file is cut off")
        self._move(self._at + 1)

    def skip_space(self) -> None:
        """Step to the next character that is no space."""
        if self._text[self._at : self._at + 1].strip():
            return
        while True:
            match = _SPACE.match(self._text, self._at)
            self._move(match.end() if match else self._at)
            if self._at < len(self._text) or not self._more():
                return

    def value(self) -> tuple[Any, str]:
        """The next value and its text."""
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
        """The refusal of an array that cannot be read on."""
        return TraceError(
            f"{self._origin}: the JSON text breaks off in the element of line {self.line} ({reason}); mend it, or "
            f"write one object per line (jq -c '.[]'), where only the bad lines are left out"
        )

    def _move(self, to: int) -> None:
        self.line += self._text.count("\n", self._at, to)
        self._at = to

    def _more(self) -> bool:
        if self._ended:
            return False
        if len(self._text) - self._at > self._longest:
            raise self.broken(f"an element is longer than {format_bytes(self._longest)} or never ends")
        held = len(self._text) - self._at
        raw = self._stream.read(max(CHUNK_BYTES, held))  # twice as much each time: a long element is not read for ever
        self._ended = not raw
        self.done_bytes += len(raw)
        text = self._decoder.decode(raw, final=self._ended)
        text = self._mending.feed(text, final=self._ended) if self._mending else text
        self._text, self._at = self._text[self._at :] + text, 0
        return True


@dataclass(frozen=True)
class Member:
    """A member of a list ('' = its key) or an object: where it begins (first line = 1), its key, its value."""

    line: int
    key: str
    value: Any


def members(
    given: Given,
    names: Collection[str],
    repeated: RepeatedKeys,
    own: str = "",
    mending: Mending | None = None,
    *,
    keyed: bool = False,
) -> Iterator[Member]:
    """Yield the members of each list or object that stands under one of some keys of a document.

    Members may stand without the document around them (`jq .jobs`, `jq '.jobs[]'`): in a list, one after another, or if
    `keyed` under keys of their own, where each has the key `own`. Documents may follow each other, too.

    Raises TraceError where the text is cut off or broken: nothing after that place can be trusted.
    """
    text = JsonWindow(given.stream, given.name, repeated, MAX_MEMBER_CHARACTERS, mending)
    while begin := text.peek():
        if begin != "{":
            yield from _inside(text, repeated)
            continue
        line, alone = text.line, {}
        for key in keys(text):
            if key in names and text.peek() in ("[", "{"):
                yield from _inside(text, repeated)
            else:
                at, (value, _) = text.line, text.value()
                if keyed and isinstance(value, dict) and own in value:
                    repeated.end_row()
                    yield Member(at, key, value)
                else:
                    alone[key] = value
        if own and own in alone:
            yield Member(line, "", alone)


def keys(text: JsonWindow) -> Iterator[str]:
    """Yield the keys of an object; who asks takes the value before the next one."""
    text.expect("{")
    while text.peek() != "}":
        key, _ = text.value()
        if not isinstance(key, str):
            raise text.broken(f"a key is expected, {key!r} found")
        text.expect(":")
        text.peek()
        yield key
        if text.peek() != "}":
            text.expect(",")
    text.expect("}")


def elements(text: JsonWindow) -> Iterator[int]:
    """Yield the line of each element of a list; who asks takes the value before the next one."""
    text.expect("[")
    while text.peek() != "]":
        yield text.line
        if text.peek() != "]":
            text.expect(",")
            if text.peek() == "]":
                raise text.broken("a value is expected, ']' found")
    text.expect("]")


def _inside(text: JsonWindow, repeated: RepeatedKeys) -> Iterator[Member]:
    if text.peek() == "{":
        for key in keys(text):
            line = text.line
            value, _ = text.value()
            repeated.end_row()
            yield Member(line, key, value)
        return
    for line in elements(text):
        value, _ = text.value()
        repeated.end_row()
        yield Member(line, "", value)


@dataclass(frozen=True)
class Part:
    """A value inside a document: where it begins, in which document (from 0), its keys, itself."""

    line: int
    document: int
    path: tuple[str, ...]
    value: Any
    element: bool  # it is an element of the list that its path names


def parts(text: JsonWindow, lists: Collection[tuple[str, ...]]) -> Iterator[Part]:
    """Yield the elements of long lists one by one, and every value beside them whole, of one document after another.

    Of the paths of lists () = the document itself.

    Raises TraceError where the text is cut off or broken: nothing after that place can be trusted.
    """
    document = 0
    while text.peek():
        yield from _parts(text, document, (), lists)
        document += 1


def _parts(
    text: JsonWindow, document: int, path: tuple[str, ...], lists: Collection[tuple[str, ...]]
) -> Iterator[Part]:
    opened = text.peek()
    if opened == "[" and path in lists:
        for line in elements(text):
            yield Part(line, document, path, text.value()[0], element=True)
    elif opened == "{" and any(len(wanted) > len(path) and wanted[: len(path)] == path for wanted in lists):
        for key in keys(text):
            yield from _parts(text, document, (*path, key), lists)
    else:
        line = text.line
        yield Part(line, document, path, text.value()[0], element=False)


def remarks(repeated: RepeatedKeys, of: str = "rows") -> Iterator[Remark]:
    """Yield what was found of repeated keys, for the reader of a format."""
    for check in repeated.checks(of):
        yield Remark(check.name, check.count, check.message, check.level)
