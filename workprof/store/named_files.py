"""The files that one ingest names: which format they are read as, the role of each, and whether the options fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from workprof.errors import SettingsError, TraceError
from workprof.formats import AUTO, MEASUREMENTS, NAMES, TABLES, declared, generic
from workprof.formats.measured import WIDE
from workprof.store.detect import detect, several_files
from workprof.store.reports import GRAINS, JOINS, IngestOptions
from workprof.store.spool import checked_input
from workprof.store.table_files import required_tables


@dataclass(frozen=True)
class NamedFiles:
    """The files of one ingest, the role of each, and the format they are read as.

    Attributes:
        stem: from which the dataset's name is made.
        origin: the names as given, for people.
    """

    format: str
    paths: tuple[Path, ...]
    roles: tuple[str, ...]
    stem: str
    origin: str


def named_files(paths: Sequence[Path], options: IngestOptions) -> NamedFiles:
    """Return the files of an ingest, checked.

    Raises:
        TraceError: when a file is not there or cannot be read, or there are several that do not belong together.
        SettingsError: for an unknown format, and for an option of another format.
    """
    if not paths:
        raise TraceError("no file is named; give the path of a trace")
    if options.format not in (AUTO, *NAMES):
        raise SettingsError(f"format {options.format!r} is not known; use {AUTO} or one of {', '.join(NAMES)}")
    for path in paths:
        if not path.is_dir():
            checked_input(path)
    chosen = options.format if options.format != AUTO else detect(paths, options.delimiter, options.encoding)
    if chosen == TABLES:
        return _tables(paths)
    if len(paths) > 1:
        raise several_files(paths)
    _refuse_options_of_others(chosen, options)
    first = paths[0].resolve() if paths[0].is_dir() else paths[0]
    stem = first.name.split(".")[0]
    named_after = chosen not in MEASUREMENTS and declared(chosen).from_stem
    return NamedFiles(chosen, (checked_input(paths[0]),), (stem if named_after else "",), stem, first.name)


def _tables(paths: Sequence[Path]) -> NamedFiles:
    found = dict(sorted(required_tables(paths).items()))  # however they are packed or listed, one order for the hash
    for path in found.values():
        checked_input(path)
    stem = paths[0].resolve().name if paths[0].is_dir() else TABLES
    return NamedFiles(
        TABLES, tuple(found.values()), tuple(found), stem, ", ".join(path.name for path in found.values())
    )


def _refuse_options_of_others(chosen: str, options: IngestOptions) -> None:
    """Refuse what a format cannot do, rather than load it under a name that promises it ('faithful')."""
    if options.mapping and chosen not in (generic.FORMAT.name, WIDE):
        raise SettingsError(
            f"a mapping belongs to formats generic (jobs) and {WIDE} (counters by the second), not {chosen}; add "
            f"--format {generic.FORMAT.name}, or leave the mapping out"
        )
    for option, value, default in (("join", options.join, JOINS[0]), ("grain", options.grain, GRAINS[0])):
        if value != default:
            raise SettingsError(
                f"{option} {value!r} belongs to format {TABLES}, which joins tables; a file of format {chosen} is "
                f"one table: leave {option} at {default!r}"
            )
