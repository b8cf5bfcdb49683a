"""What the cells of a file without a header look like: formats tell their own rows by it."""

import re
from collections.abc import Callable, Sequence

WHOLE = re.compile(r"-?\d+(?:\.0+)?")
PLAIN = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?")

MOSTLY = 0.9
"""Share of a file's first rows that have to fit: a broken row among them becomes a reject."""


def mostly(rows: Sequence[Sequence[str]], fits: Callable[[Sequence[str]], bool]) -> bool:
    """Tell whether nearly all of the first rows of a file are those of a table."""
    return bool(rows) and sum(map(fits, rows)) >= MOSTLY * len(rows)


def whole(cell: str, *, missing: bool = False) -> bool:
    """Tell whether a cell is a whole number, or empty where it may be `missing`."""
    return WHOLE.fullmatch(cell.strip()) is not None if cell.strip() else missing


def number(cell: str, least: float, most: float, *, missing: bool = False) -> bool:
    """Tell whether a cell is a number within bounds, or empty where it may be `missing`."""
    text = cell.strip()
    if not text:
        return missing
    return PLAIN.fullmatch(text) is not None and least <= float(text) <= most


def word(cell: str) -> bool:
    """Tell whether a cell is a name: neither empty nor a number."""
    return bool(cell.strip()) and PLAIN.fullmatch(cell.strip()) is None
