"""What a generator reports once its files are written."""

import math
from dataclasses import dataclass
from pathlib import Path

from workprof.core.errors import SettingsError
from workprof.core.units import format_bytes
from workprof.store.home import free_bytes, no_room


@dataclass(frozen=True)
class SynthReport:
    """A finished synthetic data set: where it is, how many rows, how long it took."""

    path: Path  # the file, or the folder of several files
    rows: int  # rows of the file; for several files, rows of all tables together
    seconds: float  # wall-clock time of generating and writing
    tables: dict[str, int]  # rows by file name
    bytes: int  # size on disk of everything written


def truth_of(path: Path) -> Path:
    """The file beside a synthetic one that holds its truth."""
    return path.with_name(path.name.split(".")[0] + ".truth.json")


def check_size(name: str, value: int, seed: int, most: float = math.inf) -> None:
    """Raise unless `value` is a positive whole number, `most` at most, and `seed` a non-negative one.

    Raises SettingsError with the name, the value and the bound.
    """
    for label, number, least in ((name, value, 1), ("seed", seed, 0)):
        if isinstance(number, bool) or not isinstance(number, int) or number < least:
            raise SettingsError(f"{label} is {number!r}; give a whole number of at least {least}")
    if value > most:
        raise SettingsError(f"{name} is {value:,}; give at most {most:,}")


def check_room(path: Path, what: str, size_bytes: float) -> None:
    """Raise unless the disk has room for about `size_bytes` of what shall be written, such as '3 rows'.

    Raises DiskFull, which says how much it is and how much is free.
    """
    if size_bytes > free_bytes(path):
        text = f"{path} was not written: {what} take about {format_bytes(size_bytes)}"
        raise no_room(path.parent, text, "give another place, or write less")


def block_sizes(total: int, block: int) -> list[int]:
    """Nearly equal sizes of about `block` that add up to `total`."""
    blocks = max(1, round(total / block))
    return [total // blocks + (number < total % blocks) for number in range(blocks)]
