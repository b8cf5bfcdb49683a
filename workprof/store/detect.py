"""Which format files have, by name or by columns, and the role of each file that one ingest names."""

import contextlib
import itertools
import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from workprof.core.errors import SettingsError, TraceError
from workprof.core.text import near
from workprof.formats import AUTO, FORMATS, MEASUREMENTS, NAMES, TABLES, declared, generic, has_reader, slurm_print
from workprof.formats.configurations import is_configurations
from workprof.formats.declare import Format
from workprof.formats.fields import TIMING
from workprof.formats.measured import BENCHMARK_KEYS, BENCHMARKS, CONFIGURATIONS, SCOUT, WIDE
from workprof.formats.scout import record_files
from workprof.formats.telemetry import sniffed
from workprof.store.arrow_files import arrow_schema, is_arrow
from workprof.store.json_rows import first_objects, is_json
from workprof.store.other_tools import refusal
from workprof.store.raw_tables import looks_like_tables, required_tables
from workprof.store.reports import AGGREGATIONS, JOINS, IngestOptions
from workprof.store.spool import PARQUET_MAGIC, checked_input, head_of, is_columnar, plain_head
from workprof.store.spreadsheet import is_workbook
from workprof.store.text_shape import HEAD_BYTES, decoded_head, text_shape

MOST_FILES = 20_000


def detect(paths: Sequence[Path], options: IngestOptions) -> str:
    """The name of the format that the files seem to have, read as the options say.

    Raises TraceError when it is none that is known for sure; names the formats.
    """
    if looks_like_tables(paths):
        return TABLES
    if len(paths) == 1 and record_files(paths[0]):
        return SCOUT
    read = _read_by(paths, options)
    if read:
        return read
    _refuse_mixed(paths, options)
    if len(paths) > 1 and not any(path.is_dir() for path in paths):
        raise several_files(paths)
    if len(paths) != 1 or paths[0].is_dir():
        named = ", ".join(path.name or str(path) for path in paths) or "nothing"
        reason = f"{named}: no raw PAI tables (pai_*_table.csv) there; give one file, or the folder of the tables"
        raise TraceError(f"{reason}. {one_dataset(paths[0] / '*')}" if len(paths) == 1 else reason)
    path = checked_input(paths[0])
    measured = measurements(path, options.encoding, options.sheet)
    if measured:
        with contextlib.suppress(TraceError):  # numbers alone look like the counters of perf stat
            return _without_header(path, options) or measured
        return measured
    result = column_names(path, options)
    of_format = (name for name, known in FORMATS.items() if has_headings(known, result))
    named = generic.FORMAT.name if is_export(result) else next(of_format, "")
    if named:
        return named
    headless = _without_header(path, options)
    if headless:
        return headless
    _refuse_other_tools(path, options, result)
    if result:
        return generic.FORMAT.name
    raise TraceError(f"{paths[0].name}: the format is not clear; name it with --format: one of {', '.join(NAMES)}")


def belong_together(paths: Sequence[Path], options: IngestOptions) -> bool:
    """Whether one ingest takes all these files: raw tables, or files that one reader makes one table of."""
    return len(paths) == 1 or looks_like_tables(paths) or bool(_read_by(paths, options))


def _refuse_other_tools(path: Path, options: IngestOptions, columns: Sequence[str]) -> None:
    """Refuse what a well-known tool writes that is no trace, unless somebody says which column is which.

    Raises:
        TraceError: what it is, why not, and the command that makes a trace.
    """
    text = "" if options.mapping else refusal(_head_text(path, options, {}) or ",".join(columns), path.name)
    if text:
        raise TraceError(text)


def is_export(columns: Sequence[str]) -> bool:
    """Tell whether columns are those of an export of a dataset: fields by their names, beside columns of its format."""
    return len({*TIMING, "submit_time_s"} & {*columns}) > 1 and bool({"job_name", "task_name"} & {*columns})


def has_headings(known: Format, result: Sequence[str]) -> bool:
    """Tell whether a file's columns are those of a format."""
    if known.headings is not None:
        return known.headings(result) is not None
    return any(each and set(each) <= set(result) for each in (known.signature, *known.further_signatures))


def _read_by(paths: Sequence[Path], options: IngestOptions) -> str:
    """The format whose reader knows every one of the files, '' where there is none."""
    files = given_files(paths)
    heads: dict[Path, str] = {}
    for name, known in FORMATS.items():
        reader = known.reader
        if reader is None or not files or (len(files) > 1 and not reader.several):
            continue
        others = [path for path in files.values() if not reader.recognises(_head_text(path, options, heads), path.name)]
        if not others or (len(others) < len(files) and all(reader.beside(heads[path]) for path in others)):
            return name
    return ""


def _refuse_mixed(paths: Sequence[Path], options: IngestOptions) -> None:
    """Raise TraceError where some files are of a format of which several make a dataset, and others are not."""
    files = given_files(paths)
    heads: dict[Path, str] = {}
    for name, known in FORMATS.items() if len(files) > 1 else ():
        reader = known.reader
        if reader is None or not reader.several:
            continue
        heads |= {path: _head_text(path, options, heads) for path in files.values()}
        own = [file for file, path in files.items() if reader.recognises(heads[path], path.name)]
        others = [file for file, path in files.items() if file not in own and not reader.beside(heads[path])]
        if own and others:
            raise TraceError(
                f"{others[0]} is not of the format {name}, as {own[0]} is ({len(others):,} of {len(files):,} files): a "
                "dataset is of one format. Load these files apart, or leave them out"
            )


def names_without_heading(path: Path, options: IngestOptions) -> tuple[str, ...]:
    """What the columns of a dump of sacct without a heading are taken for, () of any other file."""
    return slurm_print.without_heading(_head_text(path, options, {})) if path.is_file() else ()


def _head_text(path: Path, options: IngestOptions, heads: dict[Path, str]) -> str:
    """The first characters of a file, '' of one that is no text; each file is looked at once."""
    if path not in heads:
        head = plain_head(checked_input(path), HEAD_BYTES, options.encoding, options.sheet)
        heads[path] = "" if is_columnar(head) else head.decode(errors="replace").removeprefix("\ufeff")
    return heads[path]


def given_files(paths: Sequence[Path]) -> dict[str, Path]:
    """Name -> file of the files and of what the folders hold, hidden ones apart, in the order of their names.

    A name has the folders below the folder that is named, or below the one that all files have in common.

    Raises TraceError when there are more than `MOST_FILES`.
    """
    files: list[Path] = []
    for path in paths:
        result = path.rglob("*") if path.is_dir() else iter([path])
        inside = (file for file in result if file.is_file() and not file.name.startswith("."))
        files += sorted(itertools.islice(inside, MOST_FILES + 1))
        if len(files) > MOST_FILES:
            raise TraceError(f"{path}: there are more than {MOST_FILES:,} files; give fewer, or one file of all rows")
    if len(files) < 2:
        return {file.name: file for file in files}
    if len(paths) == 1:
        return {str(file.relative_to(paths[0])): file for file in files}
    common = Path(os.path.commonpath([file.resolve().parent for file in files]))
    return {str(file.resolve().relative_to(common)): file for file in files}


def _without_header(path: Path, options: IngestOptions) -> str:
    """The format that knows a file without a header from its first rows, '' where there is none."""
    head = plain_head(path, HEAD_BYTES, options.encoding, options.sheet)
    if is_columnar(head):
        return ""
    if is_json(decoded_head(head, path.name)):
        return ""
    rows = text_shape(head, path.name, options.delimiter, names=("",)).rows
    names = (name for name, known in FORMATS.items() if known.recognises is not None and known.recognises(rows))
    return next(names, "")


def measurements(path: Path, encoding: str, sheet: str = "") -> str:
    """The format of a file of measurements, '' for any other file."""
    head = plain_head(path, HEAD_BYTES, encoding, sheet)
    if is_columnar(head):
        return ""
    content = head.decode(errors="replace").removeprefix("\ufeff")
    if is_json(content):
        keys = {key for one in first_objects(content, len(head) < HEAD_BYTES) for key in one}
        if set(BENCHMARK_KEYS) <= keys:
            return BENCHMARKS
    return sniffed(content) or (CONFIGURATIONS if is_configurations(content) else "")


def one_dataset(pattern: Path) -> str:
    """How files of one format become one dataset: what loads them now, and again once there are more."""
    path = shlex.quote(str(pattern))
    return f"For one dataset of all: workprof source add NAME --from files --path {path} && workprof refresh NAME"


def several_files(paths: Sequence[Path]) -> TraceError:
    """The refusal of several files that are no raw PAI tables: reason and next step."""
    names = " ".join(shlex.quote(str(path)) for path in paths[:3]) + (" ..." if len(paths) > 3 else "")
    return TraceError(
        f"{len(paths)} files are named, but outside {TABLES} a dataset is one file: its name, its rejected lines and "
        f"(Nextflow) its workload come from that file. {one_dataset(paths[0].parent / f'*{paths[0].suffix}')}. "
        f'Or load them one by one: for file in {names}; do workprof ingest "$file"; done'
    )


def column_names(path: Path, options: IngestOptions) -> tuple[str, ...]:
    """The columns of a file: of its schema, its header, or the keys of its first JSON objects."""
    if is_arrow(head_of(path)):
        return tuple(arrow_schema(path).names)
    if head_of(path).startswith(PARQUET_MAGIC):
        try:
            return tuple(pq.read_schema(path).names)
        except (pa.ArrowException, OSError, UnicodeError) as error:
            raise TraceError(f"{path.name}: broken Parquet file ({error}); write it again") from error
    head = plain_head(path, HEAD_BYTES, options.encoding, options.sheet)
    if is_columnar(head):
        return ("parquet",)
    content = decoded_head(head, path.name)
    if is_json(content):
        return tuple(dict.fromkeys(key for one in first_objects(content, len(head) < HEAD_BYTES) for key in one))
    return text_shape(head, path.name, options.delimiter).header


@dataclass(frozen=True)
class NamedFiles:
    """The files of one ingest, the role of each, and the format they are read as."""

    format: str
    paths: tuple[Path, ...]
    roles: tuple[str, ...]  # of the files, as far as they change what is read
    stem: str  # from which the dataset's name is made
    origin: str  # the names as given, for people
    names: tuple[str, ...] = ("",)  # of the files, with the folders below the one that all have in common


def named_files(paths: Sequence[Path], options: IngestOptions) -> NamedFiles:
    """The files of an ingest, checked.

    Raises:
        TraceError: when a file is not there or cannot be read, or there are several that do not belong together.
        SettingsError: for an unknown format, and for an option of another format or kind of file.
    """
    if not paths:
        raise TraceError("no file is named; give the path of a trace")
    family = [name for name in NAMES if f"{name}-".startswith(f"{options.format}-")]
    if options.format != AUTO and not family:
        meant = near(options.format, NAMES)
        raise SettingsError(f"format {options.format!r} is not known; use {AUTO} or one of {', '.join(NAMES)}{meant}")
    for path in paths:
        if not path.is_dir():
            _refuse_unused(checked_input(path), options)
    chosen = _chosen(paths, options, family)
    if chosen == TABLES:
        return _tables(paths)
    if has_reader(chosen):
        return _read(chosen, paths)
    if chosen == SCOUT:
        return _records(paths)
    if len(paths) > 1:
        raise several_files(paths)
    _refuse_options_of_others(chosen, options)
    first = paths[0].resolve() if paths[0].is_dir() else paths[0]
    stem = first.name.split(".")[0]
    named_after = chosen not in MEASUREMENTS and declared(chosen).from_stem
    return NamedFiles(chosen, (checked_input(paths[0]),), (stem if named_after else "",), stem, first.name)


def _chosen(paths: Sequence[Path], options: IngestOptions, family: Sequence[str]) -> str:
    """The format to read files as; of a family ('borg', 'slurm'), the member that they have.

    Raises SettingsError when the name is the family's alone, and the files have no format of it.
    """
    if options.format in NAMES and len(family) == 1:
        return options.format
    result = detect(paths, options)
    if options.format == AUTO or result in family:
        return result
    if options.format in NAMES:
        return options.format
    raise SettingsError(
        f"{paths[0].name} looks like format {result}, not {options.format}; use {AUTO}, or one of {', '.join(family)}"
    )


def _read(chosen: str, paths: Sequence[Path]) -> NamedFiles:
    """The files that a format's reader takes."""
    files, reader = given_files(paths), FORMATS[chosen].reader
    if not files:
        raise TraceError(f"{', '.join(str(path) for path in paths)}: there is no file in it")
    if len(files) > 1 and reader is not None and not reader.several:
        raise several_files(paths)
    for path in files.values():
        checked_input(path)
    names, first = tuple(files), paths[0].resolve()
    stem = first.name.split(".")[0] or chosen
    shown = names[0] if len(names) == 1 else f"{paths[0].name or stem} ({len(names):,} files)"
    return NamedFiles(chosen, tuple(files.values()), names if len(names) > 1 else ("",), stem, shown, names)


def _tables(paths: Sequence[Path]) -> NamedFiles:
    result = dict(sorted(required_tables(paths).items()))  # however they are packed or listed, one order for the hash
    for path in result.values():
        checked_input(path)
    stem = paths[0].resolve().name if paths[0].is_dir() else TABLES
    return NamedFiles(
        TABLES, tuple(result.values()), tuple(result), stem, ", ".join(path.name for path in result.values())
    )


def _records(paths: Sequence[Path]) -> NamedFiles:
    """The files of a folder of records."""
    files = record_files(paths[0])
    if len(paths) > 1 or not files:
        named = ", ".join(map(str, paths))
        raise TraceError(f"{named}: name one folder with a folder for each record, such as 4_m4.large_sort_spark_big_1")
    stem = paths[0].resolve().name.split(".")[0]
    return NamedFiles(SCOUT, tuple(files.values()), tuple(files), stem, f"{stem} ({len(files):,} files)", tuple(files))


def _refuse_unused(path: Path, options: IngestOptions) -> None:
    """Raise SettingsError where an option says how a file is written that is of another kind."""
    given = [name for name in ("delimiter", "encoding", "decimal", "sheet") if getattr(options, name)]
    if not given:
        return
    head, used = plain_head(path, HEAD_BYTES), {"delimiter", "encoding", "decimal"}
    kind = "a text"
    if is_workbook(path, head_of(path)):
        kind, used = "a workbook", {"decimal", "sheet"}
    elif is_columnar(head):
        kind, used = "a table of typed columns", set()
    elif is_json(head.decode(errors="replace").removeprefix("\ufeff")):
        kind, used = "JSON", {"encoding", "decimal"}
    for name in given:
        if name not in used:
            raise SettingsError(f"--{name} says nothing of {path.name}, which is {kind}; leave it out")


def _refuse_options_of_others(chosen: str, options: IngestOptions) -> None:
    """Refuse what a format cannot do, rather than load it under a name that promises it ('faithful')."""
    if options.mapping and chosen not in (*FORMATS, WIDE):
        raise SettingsError(
            f"a mapping belongs to formats of jobs and {WIDE} (counters by the second), not {chosen}; leave the "
            "mapping out"
        )
    shares = chosen in FORMATS and FORMATS[chosen].normalised
    if not shares and (options.machine_memory_bytes or options.machine_cores):
        text = ", ".join(name for name, known in FORMATS.items() if known.normalised)
        raise SettingsError(
            f"the size of a machine belongs to formats whose numbers are shares of one ({text}), not to {chosen}, "
            f"which gives amounts: leave it out"
        )
    for option, value, default in (("join", options.join, JOINS[0]), ("grain", options.aggregation, AGGREGATIONS[0])):
        if value != default:
            raise SettingsError(
                f"{option} {value!r} belongs to format {TABLES}, which joins tables; a file of format {chosen} is "
                f"one table: leave {option} at {default!r}"
            )
