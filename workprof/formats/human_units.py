"""Numbers that a tool wrote for people, as plain numbers: '1.5 GB', '3m 4s', '99.8%', '2024-05-26 19:54:50.296'."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime

from workprof.core.units import DAY_S, HOUR_S, KIB, MINUTE_S

_PLAIN = r"([0-9]++(?:\.[0-9]*+)?|\.[0-9]++)"  # possessive: a cell of a million digits takes no longer than it is
_ASCII = re.IGNORECASE | re.ASCII  # without ASCII the Kelvin sign is a K and the long s an s
_BYTES = re.compile(rf"{_PLAIN}\s*([KMGTP]?)I?B", _ASCII)
_DURATION = re.compile(rf"{_PLAIN}\s*(ms|d|h|m|s)", _ASCII)
_WHOLE_DURATION = re.compile(rf"(\s*{_PLAIN}\s*(ms|d|h|m|s))+\s*", _ASCII)
_PERCENT = re.compile(rf"{_PLAIN}\s*%", re.ASCII)
_SECONDS = {"ms": 1e-3, "s": 1.0, "m": float(MINUTE_S), "h": float(HOUR_S), "d": float(DAY_S)}
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}


def byte_count(value: str) -> str:
    """Return the bytes of '1.5 GB' (Nextflow counts in 1024s); a value that is none comes back as it is."""
    match = _BYTES.fullmatch(value.strip())
    return _number(float(match.group(1)) * KIB ** _POWERS[match.group(2).upper()]) if match else value


def milliseconds(value: str) -> str:
    """Return the milliseconds of '1h 3m 4s'; a value that is none comes back as it is."""
    if not _WHOLE_DURATION.fullmatch(value):
        return value
    return _number(sum(1000 * float(number) * _SECONDS[unit.lower()] for number, unit in _DURATION.findall(value)))


def epoch_ms(value: str) -> str:
    """Return the milliseconds since 1970 of a date and time (UTC where it names no zone), else the value as it is."""
    if value.strip().isdigit():  # eight digits are a plain number here, though ISO 8601 has dates written so
        return value
    try:
        moment = datetime.fromisoformat(value.strip())
    except ValueError:
        return value
    zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return _number(zoned.timestamp() * 1000)


def percent(value: str) -> str:
    """Return the number of '99.8%'; a value that is none comes back as it is."""
    match = _PERCENT.fullmatch(value.strip())
    return match.group(1) if match else value


KINDS: dict[str, Callable[[str], str]] = {
    "bytes": byte_count,
    "milliseconds": milliseconds,
    "epoch_ms": epoch_ms,
    "percent": percent,
}


def _number(value: float) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".")
