"""Texts from outside, made safe for people and spreadsheets: nothing hides, nothing runs."""

import re
import shlex
from collections.abc import Iterable, Sequence

HIDDEN = (
    (0x00, 0x08), (0x0B, 0x0C), (0x0E, 0x1F), (0x7F, 0x9F),  # of terminals
    (0x061C, 0x061C), (0x200E, 0x200F), (0x202A, 0x202E), (0x2066, 0x2069),  # turn the direction of writing
    (0x200B, 0x200B), (0x2028, 0x2029), (0x2060, 0x2064), (0xFEFF, 0xFEFF), (0xFFF9, 0xFFFB), (0xE0000, 0xE007F),
    (0xD800, 0xDFFF),  # half a character alone
)  # fmt: skip
"""First and last code of every range; tabs, line ends and the joiners that scripts and emoji need are none of them.

Source: Unicode Standard Annex 9 (directional formatting characters) and Technical Report 36, section 2.
"""

TURNING = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""Codes that turn the direction of writing."""

CLASS = "[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in HIDDEN) + "]"
_HIDDEN = re.compile(CLASS)


def visible(text: str) -> str:
    r"""A text with hidden characters as they are spelled, such as `\u202e`; any other is as it was."""
    return _HIDDEN.sub(lambda result: ascii(result[0])[1:-1], text)


_ESCAPES = {"\\": "\\\\", "'": "\\'"}


def shell_line(words: Sequence[str]) -> str:
    """Words as a shell reads them, those with hidden characters in its $'...' with the codes in ASCII."""

    def code(sign: str) -> str:
        return _ESCAPES.get(sign) or (sign if visible(sign) == sign else f"\\U{ord(sign):08x}")

    return " ".join(f"$'{''.join(map(code, word))}'" if visible(word) != word else shlex.quote(word) for word in words)


FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet takes a cell that starts so for a formula (after a tab or a line end it looks on)."""


def spreadsheet_text(text: str) -> str:
    """A text that a spreadsheet shows as it is: one that would be a formula gets an apostrophe in front.

    Hidden characters are spelled out.
    """
    return visible("'" + text if text.startswith(FORMULA_STARTS) else text)


LONGEST_NAME = 200
"""Characters of a name that others are compared with: the time grows with its length."""


def near(name: str, names: Iterable[str]) -> str:
    """'; did you mean X?' with the name that is most like one that there is not, '' where none is."""
    import difflib  # noqa: PLC0415  only where something is wrong

    if len(name) > LONGEST_NAME:
        return ""

    plain = {one.lower().replace("_", "-"): one for one in names}
    result = difflib.get_close_matches(name.lower().replace("_", "-"), plain, n=1)
    return f"; did you mean {visible(plain[result[0]])!r}?" if result else ""


_ONE = re.compile(r"1 ([a-z]+)s\b")
_VERBS = {
    **{"have": "has", "are": "is", "were": "was", "do": "does"},
    **{verb: f"{verb}s" for verb in ("use", "end", "request", "repeat", "last", "stand", "tell", "say", "stay")},
}
_STAYS = ("had", "did", "may", "will", "would")
_BEFORE_NOUNS = ("the", "a", "an", "no", "of", "with", "without", "in", "at", "each", "every", "its")
_OF_THEY = {**_VERBS, **{verb: f"{verb}s" for verb in ("start", "hold", "count", "run")}}


def of_one(text: str) -> str:
    """A finding that begins '1 runs have ...' as one of a single thing: '1 run has ...'; any other is as it was.

    The first verb is put into the singular, the one after it, too, where it is of a clause ('that repeat ... were'),
    and so is what is said of 'they'.
    """
    match = _ONE.match(text)
    if match is None or match[1] == "serie":
        return text
    words, first = re.split(r"(\W+)", text[match.end() :]), True
    for at, word in enumerate(words):
        before = words[at - 2] if at > 1 else ""
        first = first and not set(word) & {*":;("}
        if before == "they":
            words[at - 2], words[at] = "it", _OF_THEY.get(word, word)
        elif word == "their":
            words[at] = "its"
        elif first and word in (*_VERBS, *_STAYS) and before not in _BEFORE_NOUNS:
            words[at] = _VERBS.get(word, word)
            first = before == "that"
    return f"1 {match[1]}{''.join(words)}"
