"""What a generator reports once its files are written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from workprof.errors import SettingsError


@dataclass(frozen=True)
class SynthReport:
    """A finished synthetic data set: where it is, how many rows, how long it took.

    Attributes:
        path: the file, or the folder of several files.
        rows: rows of the file; for several files, rows of all tables together.
        seconds: wall-clock time of generating and writing.
        tables: rows by file name.
        bytes: size on disk of everything written.
    """

    path: Path
    rows: int
    seconds: float
    tables: dict[str, int]
    bytes: int


def check_size(name: str, value: int, seed: int) -> None:
    """Raise unless `value` is a positive whole number and `seed` a non-negative one.

    Raises:
        SettingsError: with the name, the value and the bound.
    """
    for label, number, least in ((name, value, 1), ("seed", seed, 0)):
        if isinstance(number, bool) or not isinstance(number, int) or number < least:
            raise SettingsError(f"{label} is {number!r}; give a whole number of at least {least}")
