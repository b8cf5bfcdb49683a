"""Files that went wrong: what cuts, copies, editors and other programs make of a good text."""

import re
from collections.abc import Callable

from hypothesis import strategies as st

NUMBERS = (
    "nan", "inf", "-Infinity", "1e400", "-1e400", "-0", "", " ", "-", ".", "+", "1.2.3", "1,5", "1e", "0x10", "1_000",
    "007", "9" * 400, "9" * 5000, "0." + "0" * 400 + "1", "12345678901234567890", "٣٤", "²", "½", "4\u212aB",
    "1e-400", "true",
)  # fmt: skip
"""What may stand where a number was."""

PIECES = (
    '"', "'", '""', ",", ";", "\t", "|", "\n", "\r", "\r\n", "\n\n", "\x00", "\ufeff", "\x1c", "\x85",
    "\u2028", "\u202e", "\x1b[31m", "{", "}", "[", "]", ":", "\\", "\\u0000", "#", "null", "NaN", "-Infinity", "é",
    "=1+1", "<b>", "a" * 5_000, "[" * 2_000,
)  # fmt: skip
"""What may stand anywhere."""

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")

Change = Callable[[str, st.DrawFn], str]


def _cut(text: str, draw: st.DrawFn) -> str:
    return text[: draw(st.integers(0, len(text)))]


def _beheaded(text: str, draw: st.DrawFn) -> str:
    return text[draw(st.integers(0, len(text))) :]


def _swapped(text: str, draw: st.DrawFn) -> str:
    lines = text.splitlines(keepends=True)
    if len(lines) < 2:
        return text
    one, other = draw(st.integers(0, len(lines) - 1)), draw(st.integers(0, len(lines) - 1))
    lines[one], lines[other] = lines[other], lines[one]
    return "".join(lines)


def _doubled(text: str, draw: st.DrawFn) -> str:
    lines = text.splitlines(keepends=True)
    if not lines:
        return text
    at = draw(st.integers(0, len(lines) - 1))
    return "".join([*lines[: at + 1], *lines[at : at + 1] * draw(st.integers(1, 3)), *lines[at + 1 :]])


def _without_a_line(text: str, draw: st.DrawFn) -> str:
    lines = text.splitlines(keepends=True)
    if not lines:
        return text
    del lines[draw(st.integers(0, len(lines) - 1))]
    return "".join(lines)


def _other_number(text: str, draw: st.DrawFn) -> str:
    found = list(_NUMBER.finditer(text))
    if not found:
        return text
    one = found[draw(st.integers(0, len(found) - 1))]
    return text[: one.start()] + draw(st.sampled_from(NUMBERS)) + text[one.end() :]


def _with_a_piece(text: str, draw: st.DrawFn) -> str:
    at = draw(st.integers(0, len(text)))
    return text[:at] + draw(st.sampled_from(PIECES)) + text[at + draw(st.integers(0, 3)) :]


def _with_any_text(text: str, draw: st.DrawFn) -> str:
    at = draw(st.integers(0, len(text)))
    return text[:at] + draw(st.text(max_size=12)) + text[at:]


def _other_line_ends(text: str, draw: st.DrawFn) -> str:
    return text.replace("\n", draw(st.sampled_from(("\r\n", "\r", "\n\r", "\n\n", "\x85"))))


def _marked(text: str, _: st.DrawFn) -> str:
    return "\ufeff" + text


CHANGES: tuple[Change, ...] = (
    _other_number, _with_a_piece, _cut, _swapped, _doubled, _without_a_line, _with_any_text, _other_line_ends,
    _beheaded, _marked,
)  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn, text: str, most: int = 3) -> str:
    """Draw a text with one to `most` changes; halves of characters are left out, as no file holds them."""
    for change in draw(st.lists(st.sampled_from(CHANGES), min_size=1, max_size=most)):
        text = change(text, draw)
    return text.encode("utf-8", "ignore").decode()


@st.composite
def mutated_bytes(draw: st.DrawFn, content: bytes) -> bytes:
    """Draw bytes that were cut, flipped, copied over or mixed with others."""
    found = bytearray(content)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(found)))
        match draw(st.sampled_from(("cut", "flip", "put", "drop", "copy"))):
            case "cut":
                del found[at:]
            case "flip" if at < len(found):
                found[at] ^= draw(st.integers(1, 255))
            case "put":
                found[at:at] = draw(st.binary(max_size=8))
            case "drop":
                del found[at : at + draw(st.integers(1, 64))]
            case _:
                found[at:at] = found[: draw(st.integers(0, 64))]
    return bytes(found)
