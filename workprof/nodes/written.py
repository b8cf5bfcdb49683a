"""Names with values, and moments, as people write them in a field or after an option."""

from __future__ import annotations

import math
from datetime import UTC, datetime

from workprof.errors import SettingsError


def texts_by_name(what: str, text: str | None) -> dict[str, str]:
    """Return the NAME=VALUE pairs of a text; empty for none.

    Args:
        what: the text's name in a message.
        text: such as 'a=1, b=2'.

    Raises:
        SettingsError: when it is written otherwise, or a name comes twice.
    """
    parts = [one.partition("=") for one in (text or "").split(",") if one.strip()]
    pairs = [(name.strip(), equals, value.strip()) for name, equals, value in parts]
    wrong = [name for name, equals, value in pairs if not (name and equals and value)]
    if wrong or len({name for name, _, _ in pairs}) < len(pairs):
        raise SettingsError(f"{what} is {text!r}; write NAME=VALUE,NAME=VALUE with each name once")
    return {name: value for name, _, value in pairs}


def numbers_by_name(what: str, text: str | None) -> dict[str, float]:
    """Return the NAME=NUMBER pairs of a text, see `texts_by_name`."""
    try:
        found = {name: float(value) for name, value in texts_by_name(what, text).items()}
    except ValueError as error:
        raise SettingsError(f"{what} is {text!r}; write NAME=NUMBER,NAME=NUMBER") from error
    if not all(map(math.isfinite, found.values())):
        raise SettingsError(f"{what} is {text!r}, which has a number that is not finite; write NAME=NUMBER,NAME=NUMBER")
    return found


def moment(what: str, text: str | None) -> float | None:
    """Return epoch seconds of a text, None for none; a time without a zone is UTC.

    Raises:
        SettingsError: when it is neither a number nor ISO 8601.
    """
    if text is None or not text.strip():
        return None
    try:
        at_s = float(text)
    except ValueError:
        at_s = _of_date(what, text)
    if not math.isfinite(at_s):
        raise SettingsError(f"{what} is {text!r}; write epoch seconds, or 2026-01-31T08:00")
    return at_s


def _of_date(what: str, text: str) -> float:
    try:
        read = datetime.fromisoformat(text)
    except ValueError as error:
        raise SettingsError(f"{what} is {text!r}; write epoch seconds, or 2026-01-31T08:00") from error
    return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()
