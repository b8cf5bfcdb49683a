"""The files of the raw PAI tables: found in a folder or in a list, by name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from workprof.errors import TraceError
from workprof.formats.pai_tables import OPTIONAL, TABLES

SUFFIXES = (".csv", ".csv.gz", ".csv.zst", ".tar.gz", ".tar")


def looks_like_tables(paths: Sequence[Path]) -> bool:
    """Tell whether there is at least one raw table among the files or in the folder."""
    return bool(found_tables(paths))


def found_tables(paths: Sequence[Path]) -> dict[str, Path]:
    """Return table name -> file; of several forms of one table the plain one is taken."""
    candidates: list[Path] = []
    for path in paths:
        candidates += sorted(path.iterdir()) if path.is_dir() else [path]
    found: dict[str, Path] = {}
    for suffix in SUFFIXES:
        for path in candidates:
            name = path.name.removesuffix(suffix)
            if path.name.endswith(suffix) and name in TABLES and name not in found:
                found[name] = path
    return found


def required_tables(paths: Sequence[Path]) -> dict[str, Path]:
    """Return table name -> file.

    Raises:
        TraceError: names the tables that are not there.
    """
    found = found_tables(paths)
    lacking = [name for name in TABLES if name not in found and name not in OPTIONAL]
    if lacking:
        where = ", ".join(str(path) for path in paths)
        raise TraceError(
            f"{where}: no {', '.join(f'{name}.csv' for name in lacking)} (plain, .gz, .zst or .tar.gz) there; add it"
        )
    return found
