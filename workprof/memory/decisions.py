"""What a person decides about a row of the verdict, and the text by which a row is known."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote

from workprof.core.errors import SettingsError
from workprof.core.stats import Interval
from workprof.core.text import near

ACCEPTED, DECLINED, NEVER, NOTED = "accepted", "declined", "never touch", "noted"
STATES = (ACCEPTED, DECLINED, NEVER, NOTED)
LEAVE_OUT = (DECLINED, NEVER)
"""Rows of these keep their requests: they are in no saving and no export."""

MOST_NOTE = 500
"""Characters of a note."""
REQUEST, RESOURCE, USUAL_RESOURCE = "request", "resource", "memory"
REQUEST_DIGITS = 12
SHOWN_KEYS = 5
SAME_REQUEST = 0.005
"""Two requests that differ by less of them are one, where somebody names a row."""


@dataclass(frozen=True)
class Decision:
    """What was decided about one row, by whom, when, and what the row said then."""

    row_key: str  # as `row_key` writes it
    state: str  # of STATES
    note: str
    by: str
    at: str  # ISO 8601, UTC
    action: str
    unit: str
    request: float
    size: float
    saved: float  # unit x h, of the judged runs


@dataclass(frozen=True)
class Advice:
    """What a row that is left out would say."""

    action: str
    reason: str
    size: float
    retry: tuple[float, ...]
    saved: float
    kills: int
    kills_per_1000: Interval


def key_text(resource: str, by: tuple[str, ...], key: Mapping[str, str], request: float) -> str:
    """The text by which a row is known: 'user=ann,task_name=train,request=4.2'; its resource unless memory.

    Signs that part it are written as in an address, so that it needs no quotes in a shell.
    """
    parts = {name: f"{request:.{REQUEST_DIGITS}g}" if name == REQUEST else key.get(name, "") for name in by}
    if resource != USUAL_RESOURCE:
        parts[RESOURCE] = resource
    return ",".join(f"{name}={quote(value, safe='/:@+.-_')}" for name, value in parts.items())


def parts_of(text: str) -> dict[str, str]:
    """Column -> value of a key or of a part of one; raises SettingsError for what is no list of NAME=VALUE."""
    result = {}
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if not equals or not name.strip():
            raise SettingsError(
                f"{text!r} names no row; write COLUMN=VALUE,COLUMN=VALUE, such as user=ann,request=4.2, and %2C for a "
                "comma within a value"
            )
        result[name.strip()] = unquote(value.strip())
    return result


def fits(given: Mapping[str, str], row_key: str) -> bool:
    """Tell whether a row has all given parts; memory where no resource is given."""
    own = {RESOURCE: USUAL_RESOURCE} | parts_of(row_key)
    return all(
        _same_request(value, own.get(name, "")) if name == REQUEST else own.get(name) == value
        for name, value in ({RESOURCE: USUAL_RESOURCE} | dict(given)).items()
    )


def keys_named(keys: Sequence[str], text: str, *, every: bool = False) -> list[str]:
    """The key that a text is, or the one that its parts fit; `every`: all that they fit.

    Raises SettingsError where none fits, or several do.
    """
    if text in keys:
        return [text]
    given = parts_of(text)
    found = [key for key in keys if fits(given, key)]
    if not found:
        known = f"there are such as {' '.join(keys[:SHOWN_KEYS]) or 'none yet'}"
        raise SettingsError(f"no row is {text!r}; {known}{_near(given, keys)}")
    if len(found) > 1 and not every:
        more = f" and {len(found) - SHOWN_KEYS:,} more" if len(found) > SHOWN_KEYS else ""
        told = f"{text!r} fits {len(found):,} rows: {' '.join(found[:SHOWN_KEYS])}{more}"
        raise SettingsError(f"{told}; name one, or take all (--all)")
    return found


def _near(given: Mapping[str, str], keys: Sequence[str]) -> str:
    """The column, or the value, that the first part that no key has is most like; see `near`."""
    rows = [{RESOURCE: USUAL_RESOURCE} | parts_of(key) for key in keys]
    for name, value in given.items():
        values = {row[name] for row in rows if name in row}
        if value not in values:
            return near(value, values) if values else near(name, {column for row in rows for column in row})
    return ""


def _same_request(given: str, own: str) -> bool:
    try:
        return math.isclose(float(given), float(own), rel_tol=SAME_REQUEST)
    except ValueError:
        return given == own


def checked_note(note: str) -> str:
    """A note on one line; raises SettingsError where it is too long."""
    text = " ".join(note.split())
    if len(text) > MOST_NOTE:
        raise SettingsError(f"the note has {len(text):,} characters; shorten it to {MOST_NOTE}")
    return text
