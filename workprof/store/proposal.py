"""What a look at a generic file proposes: which column is which field, in which unit, and what speaks for it."""

import re
import struct
import uuid
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from workprof.core.arrays import Floats
from workprof.core.errors import ColumnMissing, NoRows, TraceError, UnitUnknown
from workprof.core.progress import silent
from workprof.core.units import DAY_S, FIRST_EPOCH_S, GB, MINUTE_S, format_duration
from workprof.formats import generic
from workprof.formats.declare import NUMBER, TEXT
from workprof.formats.fields import BOUNDS, FIELDS, REQUESTS, TIME_FIELDS
from workprof.formats.measured import time_column
from workprof.store.connection import Database
from workprof.store.home import room_in
from workprof.store.json_rows import first_objects, is_json
from workprof.store.look import LOOK_BYTES, LOOK_ROWS, Look, cells_of, texts_of
from workprof.store.mapping import (
    ALLOCATED_OR_USED,
    ANOTHER_DURATION,
    AS_CHOSEN,
    DATES,
    IN_NAME,
    IN_UTC,
    IN_VALUES,
    LARGEST_NODE_BYTES,
    LONGEST_MEDIAN_S,
    NAMELESS,
    NEARLY_ALL,
    OWN_NAME,
    REQUESTED,
    SAY_WHICH,
    SHORTEST_MEDIAN_S,
    SINCE_1970,
    UNREADABLE,
    USED,
    Guess,
    as_json,
    checked,
    clock_of,
    factor_of,
    guesses,
    in_their_units,
    lacking_words,
    memory_of_either,
    missing_fields,
    own_rules,
    quantity_of,
    shown,
    since_1970,
    unfit,
    unknown_status,
    words_for,
)
from workprof.store.parquet_bounds import refuse_promises
from workprof.store.relation import INTERVAL, TIMESTAMP, guessed_type, parquet_relation
from workprof.store.reports import Check, Evidence, FieldSource, IngestOptions, Suggestion
from workprof.store.running import Span
from workprof.store.spool import (
    PARQUET_MAGIC,
    Spooled,
    TextOptions,
    checked_input,
    head_of,
    is_columnar,
    plain_head,
    spool,
)
from workprof.store.text_shape import HEAD_BYTES, SAMPLE_ROWS, decoded_head, no_rows, text_shape

SHOWN_VALUES = 5
SHOWN_CHARACTERS = 40
NO_PROPOSAL = (
    "No column looks like one of them: give a table with a row per job whose first line names its columns, or a file "
    "of one of the formats that `workprof ingest --help` lists"
)
OF_COUNTERS = " Where its rows are samples of counters, load it with --format wide."
IMPLAUSIBLE = "implausible values"
MIB_BYTES = 1e6


def suggest(database: Database, path: Path, options: IngestOptions) -> Suggestion:
    """What the first rows propose, or what they say of the mapping in the options.

    Raises:
        TraceError: when the file cannot be read as asked.
        SettingsError: when the mapping names an unknown field.
    """
    return proposed(look_at(database, path, options), options)


def taken(database: Database, path: Path, options: IngestOptions) -> tuple[IngestOptions, tuple[Check, ...]]:
    """The options with what names and values of a generic file tell for sure, and what was left out.

    A file whose columns carry all the names that workprof needs is taken as it is; of its further columns, those that
    are sure.

    Raises:
        ColumnMissing: when no column seems to be a required field.
        UnitUnknown: when a unit is a guess; shows the evidence and the mapping to check.
    """
    result = suggest(database, path, options)
    if not result.columns:
        return options, ()  # the ingest tells why
    own = {rule.field for rule in own_rules({}, result.columns)}
    further = {field: source for field, source in result.mapping.items() if field not in own or source.column != field}
    doubts: tuple[Check, ...] = ()
    if not missing_fields(own):
        doubtful = {field: one for field, one in result.evidence.items() if not _is_certain(field, one)}
        doubts = _doubts({field: one for field, one in doubtful.items() if field in further})
        further = {field: source for field, source in further.items() if field not in doubtful}
    elif result.refusal:
        if result.missing:
            counters = OF_COUNTERS if time_column(result.columns) else ""
            if not result.mapping:
                raise ColumnMissing(f"{path.name}: {result.refusal.removesuffix(SAY_WHICH)}. {NO_PROPOSAL}.{counters}")
            raise ColumnMissing(f"{path.name}: {result.refusal}.{counters} A proposal: {as_json(result.mapping)}")
        raise UnitUnknown(
            f"{path.name}: {result.refusal}. {_options(result)}Check it with `workprof ingest FILE --look`, then load "
            f"it with --map FILE.json that holds {as_json(result.mapping)}"
        )
    return replace(options, mapping=further), (*doubts, *result.checks)


def _doubts(doubtful: Mapping[str, Evidence]) -> tuple[Check, ...]:
    """What is told of columns that may be fields, and are none for lack of certainty."""
    named = ", ".join(f"{one.column!r} ({field}: {one.why or 'by its name'})" for field, one in doubtful.items())
    message = (
        f"{len(doubtful)} columns may be fields, which is not certain, so they stay as they are: {named}; map "
        f"with --map what is one"
    )
    return (Check("doubtful columns", "warning", len(doubtful), message),) if doubtful else ()


SEPARATED = re.compile(r"[+-]?\d{1,3}(?:(?:,\d{3})+(?:\.\d+)?|(?:\.\d{3})+,\d+|(?:[ '\u00a0\u202f]\d{3})+(?:[.,]\d+)?)")
"""A number with separators of thousands: '1,288,490', '1.100,5', "1'600"."""
WITH_COMMA = re.compile(r"[+-]?\d+,\d+")
ZONE = re.compile(r"\d{1,2}:\d\d.*?(Z|\s?(?![AP]M$)[A-Z]{2,5}|[+-]\d\d(?::?\d\d)?)?$")


def _checks(mapping: Mapping[str, FieldSource], look: Look) -> tuple[Check, ...]:
    """What a look tells that the rows do not: columns that are no fields after all, and zones that differ."""
    result = []
    columns = unfit(look, mapping)
    if columns:
        named = ", ".join(f"{column!r} ({field})" for column, field in list(columns.items())[:SHOWN_VALUES])
        message = (
            f"{len(columns)} columns are named like a field, but most of their values are none of it, so they stay "
            f"as they are: {named}; map with --map what is one"
        )
        cells = [text.strip() for column in columns for text in look.present(column, SAMPLE_ROWS)]
        separated = next(filter(SEPARATED.fullmatch, cells), "")
        comma = next(filter(WITH_COMMA.fullmatch, cells), "") if look.decimal == "." and not separated else ""
        more = f"; write numbers such as {separated!r} without separators of thousands" if separated else ""
        if comma:
            more = f"; numbers such as {comma!r} need the decimal sign (--decimal , in a shell)"
        level = "warning" if separated or {*columns.values()} & {*TIME_FIELDS, REQUESTED, USED} else "info"
        result.append(Check("unread columns", level, len(columns), message + more))
    left = [column for column in look.columns if column not in {source.column for source in mapping.values()}]
    if USED not in mapping and (of_either := memory_of_either(look, left)):
        named = ", ".join(map(repr, of_either[:SHOWN_VALUES]))
        message = (
            f"{named} may be memory that was allocated or used, and neither name nor values tell: it is not read; "
            f"map it to {USED} where it was used, to {REQUESTED} where it was allocated"
        )
        result.append(Check("allocated or used", "warning", len(of_either), message))
    if status := unknown_status(look, mapping):
        word = _short(look.present(status, 1)[0])
        message = (
            f"the column {status!r} has no known word of a status ({word!r}, say), so all "
            "runs count as finished; where it tells how they ended, write COMPLETED or FAILED"
        )
        result.append(Check("unknown statuses", "warning", 1, message))
    used = {source.column for source in mapping.values()}
    further = [name for name in look.columns if name not in used]
    if further:
        message = f"columns that are no field, kept by their names: {shown(further)}"
        result.append(Check("further columns", "info", len(further), message))
    timed = [mapping[field].column for field in TIME_FIELDS if field in mapping]
    texts = [text.strip() for column in timed for text in look.present(column, SAMPLE_ROWS)]
    zones = [match[1] for text in texts if (match := ZONE.search(text))]
    bare = zones.count(None)
    numeric = [one for one in timed if look.types[one] in (NUMBER, "BIGINT")]
    counted = [one for one in numeric if since_1970(look.numbers(one, quantity_of(TIME_FIELDS[0], "")).number)]
    if 0 < bare == len(zones) and counted:
        named = ", ".join(column for column in timed if column not in counted)
        message = (
            f"{', '.join(counted)} count from 1970 in UTC, and {named} have no zone: those are read as UTC, too; "
            "durations are wrong where they are local times"
        )
        result.append(Check("zones differ", "warning", bare, message))
    in_utc = [column for column in timed if clock_of(column, look) == IN_UTC]
    others = [column for column in timed if column not in {*in_utc, *numeric} and not clock_of(column, look)]
    if 0 < bare == len(zones) and in_utc and others:
        message = (
            f"{', '.join(in_utc)} says UTC by its name, and {', '.join(others)} says no zone: it is read as UTC, too; "
            "durations are wrong where it is local"
        )
        result.append(Check("zones differ", "warning", bare, message))
    if 0 < bare < len(zones):
        message = (
            f"some moments of {', '.join(timed)} have a zone and others have none ({bare:,} of the first "
            f"{len(zones):,}); those without one are read as UTC"
        )
        result.append(Check("zones differ", "warning", bare, message))
    return tuple(result)


def _options(result: Suggestion) -> str:
    unsure = [one.why for one in result.evidence.values() if not one.sure]
    memory = any(why.startswith(ALLOCATED_OR_USED) for why in unsure)
    durations = any(why.endswith(ANOTHER_DURATION) for why in unsure)
    return (
        "Memory that was allocated is requested_memory_bytes, memory that was used peak_memory_bytes. " * memory
        + "How long a run took is duration_s, how long it might take time_limit_s. " * durations
    )


def _is_certain(field: str, evidence: Evidence) -> bool:
    """Tell whether a file whose names already do says by itself what a further column is."""
    certain = FIELDS[field].type == TEXT or evidence.why in (DATES, SINCE_1970, IN_NAME, IN_VALUES)
    return certain and evidence.sure and not evidence.unread


def look_at(database: Database, path: Path, options: IngestOptions) -> Look:
    """The first rows of a file: of a text at most 16 MiB, 100,000 rows."""
    checked_input(path)
    if head_of(path).startswith(PARQUET_MAGIC):
        return _of_parquet(Spooled(path, path.name, parquet=True), database.expansion_limit)
    head = plain_head(path, LOOK_BYTES, options.encoding, options.sheet)
    if is_columnar(head):
        token = uuid.uuid4().hex
        lost = f"{path.name} was not looked at"
        with database.home.spool_folder(token) as folder, room_in(database.home.folder, lost):
            wanted = TextOptions(expansion_limit=database.expansion_limit)
            unpacked = spool(path, folder / "look", wanted, silent, Span(0, 1, ""))
            return _of_parquet(unpacked, database.expansion_limit)
    whole = len(head) < LOOK_BYTES
    return _of_text(head, whole, path.name, options)


def _of_text(head: bytes, whole: bool, origin: str, options: IngestOptions) -> Look:
    content = decoded_head(head, origin)
    if is_json(content):
        decimal = options.decimal or "."
        objects = first_objects(content[:HEAD_BYTES], len(head) < HEAD_BYTES)
        names = tuple(dict.fromkeys(key for one in objects for key in one))
        rows = [[one.get(name) for name in names] for one in objects]
        whole = whole and len(rows) < SAMPLE_ROWS
        return Look(names, _types(names, rows, decimal), texts_of(names, rows), 0, whole, decimal=decimal)
    shape = text_shape(head[:HEAD_BYTES], origin, options.delimiter)
    left_open = any("\n" in name and shape.delimiter in name for name in shape.raw_header)  # a quote
    if left_open:
        shape = text_shape(head[:HEAD_BYTES], origin, options.delimiter, quoting=False)
    decimal = options.decimal or shape.decimal
    cells = cells_of(decoded_head(head[shape.skipped_bytes :], origin), shape, whole)
    if whole and not cells and not left_open:
        raise NoRows(no_rows(origin))
    types, texts = _types(shape.header, cells, decimal), texts_of(shape.header, cells)
    whole = whole and len(cells) < LOOK_ROWS
    grouped = shape.grouped.get(decimal, {})
    return Look(shape.header, types, texts, 2 + shape.skipped, whole, shape.delimiter, decimal, grouped)


def _types(names: tuple[str, ...], rows: list[list[object]] | list[list[str]], decimal: str) -> dict[str, str]:
    nulls, first = generic.FORMAT.nulls, rows[:SAMPLE_ROWS]
    return {
        name: guessed_type([str(row[at]) for row in first if at < len(row) and row[at] is not None], nulls, decimal)
        for at, name in enumerate(names)
    }


def _of_parquet(spooled: Spooled, expansion_limit: int) -> Look:
    refuse_promises(spooled, expansion_limit)
    types = {column.name: column.type for column in parquet_relation(spooled).columns}
    try:
        with pq.ParquetFile(spooled.path) as file:
            none = pa.RecordBatch.from_pylist([], schema=file.schema_arrow)
            first = next(file.iter_batches(batch_size=LOOK_ROWS), none)
            whole = first.num_rows == file.metadata.num_rows
        columns = [[_of_arrow(value, types[name]) for value in first.column(name)] for name in types]
    except (pa.ArrowException, OSError, ValueError) as error:  # UnicodeError is one of the last
        raise TraceError(f"{spooled.origin}: broken Parquet file ({error}); write it again") from error
    texts = texts_of(tuple(types), list(zip(*columns, strict=True)))
    return Look(tuple(types), types, texts, 1, whole)


def _of_arrow(cell: pa.Scalar, kind: str) -> object:
    """A value of a column; a length of time as seconds, also where Arrow has the bytes of months, days and ms.

    A moment beyond all years, as `infinity` is written, is none.
    """
    try:
        value = cell.as_py()
    except OverflowError:
        return None
    if kind == INTERVAL and isinstance(value, bytes):
        months, days, ms = struct.unpack("<III", value)
        return (30 * months + days) * DAY_S + ms / 1000
    return value.total_seconds() if isinstance(value, timedelta) else value


def proposed(look: Look, options: IngestOptions) -> Suggestion:
    """The proposal of a look; of a given mapping, what it would make of the columns."""
    likely = guesses(look)
    if options.mapping:
        chosen = {field: _chosen(field, source, look, likely) for field, source in options.mapping.items()}
        for rule in own_rules(options.mapping, look.columns):
            chosen[rule.field] = Guess(FieldSource(rule.source, rule.unit), True, OWN_NAME)
    else:
        chosen = likely
    evidence = {field: _evidence(field, guess, chosen, look) for field, guess in chosen.items()}
    mapping = {field: guess.source for field, guess in chosen.items()}
    missing = missing_fields(mapping)
    return Suggestion(
        columns=look.columns,
        types=look.types,
        sample={name: tuple(look.present(name, SHOWN_VALUES)) for name in look.columns},
        mapping=mapping,
        missing=missing,
        delimiter=look.delimiter,
        encoding=options.encoding or ("utf-8" if look.delimiter else ""),
        evidence=evidence,
        rows=look.rows,
        whole=look.whole,
        refusal=_refusal(missing, mapping, evidence, look),
        checks=_checks(mapping, look),
    )


def _chosen(field: str, source: FieldSource, look: Look, likely: Mapping[str, Guess]) -> Guess:
    rule = checked(field, source, look.columns)
    known = likely.get(field)
    same = known is not None and known.source == FieldSource(rule.source, rule.unit)
    unit = rule.unit or (FIELDS[field].unit)
    if same and known is not None:
        return known
    return Guess(FieldSource(rule.source, unit), True, AS_CHOSEN)


def _refusal(
    missing: tuple[str, ...], mapping: Mapping[str, FieldSource], evidence: Mapping[str, Evidence], look: Look
) -> str:
    if missing:
        return f"{_named_so(mapping, look)}{lacking_words(missing, mapping.keys(), look.columns)}"
    unsure = [(field, one) for field, one in evidence.items() if not one.sure]
    strange = [one for _, one in unsure if one.why == UNREADABLE]
    if strange:
        one = strange[0]
        at = f" at line {one.unread_line:,}" if one.unread_line else ""
        return f"{one.unread:,} values of {one.column!r} cannot be read, the first{at}: {one.unread_text!r}"
    if not unsure:
        return ""
    return "; ".join(f"{_asked(field, one)} is not certain ({one.why}): {in_words(one)}" for field, one in unsure)


def _asked(field: str, one: Evidence) -> str:
    """What is asked of a column: its unit, or what it means."""
    meaning = one.why.startswith((ALLOCATED_OR_USED, NAMELESS)) or one.why.endswith(ANOTHER_DURATION)
    return f"what {one.column!r} ({field}) means" if meaning else f"the unit of {one.column!r} ({field})"


def _named_so(mapping: Mapping[str, FieldSource], look: Look) -> str:
    """Which columns are named like a field and cannot be read so, with a value each."""
    words = []
    for column, field in unfit(look, mapping).items():
        unread = np.flatnonzero(look.numbers(column, quantity_of(field, "")).unread)
        if len(unread):
            at = f" in line {int(unread[0]) + look.first_line:,}" if look.first_line else ""
            cell = _short(str(look.texts[column][int(unread[0])]))
            forms = "2026-01-31 10:00:00, with an offset (+05:30) for another zone than UTC, or as seconds since 1970"
            more = f"; write moments as {forms}" if field in TIME_FIELDS else ""
            words.append(f"{column!r} is named like {field}, but {cell!r}{at} cannot be read so{more}. ")
    return "".join(words[:SHOWN_VALUES])


def in_words(one: Evidence) -> str:
    """A line of evidence: '50715 -> 50.7 s with unit ms, longest 2 min 00 s'."""
    text = ", ".join(f"{raw} -> {becomes}" for raw, becomes in one.values)
    unit = f" as {one.unit}" if one.unit else ""
    largest = f"; median {one.median}, largest {one.highest}" if one.highest else ""
    return f"{text}{unit}{largest}" + (f"; {one.warning}" if one.warning else "")


def _evidence(field: str, guess: Guess, chosen: Mapping[str, Guess], look: Look) -> Evidence:
    source = guess.source
    first = list(dict.fromkeys(look.present(source.column, SAMPLE_ROWS)))[:SHOWN_VALUES]
    if FIELDS[field].type == TEXT:
        words = words_for(source.column, look.columns) if field == "status" else {}
        examples = tuple((_short(value), _short(words.get(value.strip().lower(), value))) for value in first)
        return Evidence(source.column, "", guess.sure, guess.why, examples)
    number = _numbers(field, source, look)
    read = look.numbers(source.column, quantity_of(field, source.unit))
    places = [look.texts[source.column].index(value) for value in first]
    examples = tuple(
        (_short(value), words_of_value(field, float(number[at]))) for value, at in zip(first, places, strict=True)
    )
    finite = number[np.isfinite(number)]
    if field in TIME_FIELDS:
        finite = finite[finite != 0]
    unread = np.flatnonzero(read.unread)
    texts = [words_of_value(field, float(value)) for value in _range(finite)]
    lowest, median, highest = texts or ("", "", "")
    warning = _absurd(field, finite) or _below(field, number, chosen, look)
    absurd = bool(warning) and guess.why not in (OWN_NAME, AS_CHOSEN)
    return Evidence(
        column=source.column,
        unit=source.unit,
        sure=guess.sure and not absurd,
        why=IMPLAUSIBLE if guess.sure and absurd else guess.why,
        values=examples,
        lowest=lowest,
        median=median,
        highest=highest,
        unread=len(unread),
        unread_line=int(unread[0]) + look.first_line if len(unread) and look.first_line else 0,
        unread_text=_short(str(look.texts[source.column][int(unread[0])])) if len(unread) else "",
        warning=warning,
    )


def _short(value: str) -> str:
    line = " ".join(value.split())
    return line if len(line) <= SHOWN_CHARACTERS else line[: SHOWN_CHARACTERS - 1] + "…"


def _numbers(field: str, source: FieldSource, look: Look) -> Floats:
    unit = "" if look.types[source.column] in (TIMESTAMP, INTERVAL) else source.unit
    result = look.numbers(source.column, quantity_of(field, unit)).at(factor_of(field, unit))
    return in_their_units(result) if field in TIME_FIELDS else result


def _range(finite: Floats) -> tuple[float, ...]:
    return (float(finite.min()), float(np.median(finite)), float(finite.max())) if finite.size else ()


def words_of_value(field: str, value: float) -> str:
    """A value of a field as people read it: '50.7 s', '17.2 GB', '4 cores', '2024-05-26 19:54:50'."""
    if not np.isfinite(value):
        return "not readable"
    if field in TIME_FIELDS:
        if FIRST_EPOCH_S < value < 2.5e11 or -6e10 < value < 0:
            return f"{datetime.fromtimestamp(value, UTC):%Y-%m-%d %H:%M:%S}"
        return f"{format_duration(value)} after the start" if value < 2.5e11 else f"{value:.4g} s"
    unit = FIELDS[field].unit
    if unit == "s":
        return format_duration(value) if value >= MINUTE_S or value == 0 else f"{value:.3g} s"
    if unit == "B":
        if value >= 1000 * GB:
            return f"{value / GB:,.0f} GB"
        return f"{value / GB:.3g} GB" if value >= GB / 1000 or value == 0 else f"{value:,.0f} bytes"
    if unit == "percent":
        what = "GPU" if "gpu" in field else "core"
        return f"{value / 100:.4g} {what}" + ("" if value == 100 else "s")
    return f"{value:,.6g}"


def _absurd(field: str, finite: Floats) -> str:
    """What no machine and no trace can be, '' where there is no such thing."""
    if not finite.size:
        return ""
    median, largest = float(np.median(finite)), float(finite.max())
    if field == "duration_s":
        if median > LONGEST_MEDIAN_S:
            return "half of the runs would last over 30 days: is the unit right?"
        if 0 < median < SHORTEST_MEDIAN_S:
            return "half of the runs would last under 10 ms: is the unit right?"
    if FIELDS[field].unit == "B" and "memory" in field:
        within = finite[(finite >= 0) & (finite <= BOUNDS[field].of_a_system)]
        finite = within if within.size >= NEARLY_ALL * finite.size else finite  # the others are told as out of bounds
        most, largest = float(np.quantile(finite, 0.99)), float(finite.max())
        if most > LARGEST_NODE_BYTES:
            return f"{words_of_value(field, most)} is more than any node has: is the unit right?"
        if 0 < largest < MIB_BYTES:
            return "all sizes are under 1 MB: is the unit right?"
    if field in TIME_FIELDS and finite.min() < 0:
        return "moments before 1970: is the year right? They are left out if it is loaded so"
    if field in TIME_FIELDS and largest > 2.5e11:
        return "the times are thousands of years away: is the unit right?"
    return ""


def _below(field: str, number: Floats, chosen: Mapping[str, Guess], look: Look) -> str:
    """A warning where nearly all rows use more than this request, or nearly nothing of it."""
    usage = next((used for used, request in REQUESTS if request == field), "")
    if "memory" not in field or usage not in chosen:
        return ""
    used = _numbers(usage, chosen[usage].source, look)
    both = np.isfinite(used) & np.isfinite(number) & (number > 0) & (used > 0)
    if not both.any() or float((used[both] > number[both]).mean()) < NEARLY_ALL:
        return ""
    times = float(np.median(used[both] / number[both]))
    return f"nearly all runs use more than they request ({times:,.3g} times in the middle): is a unit wrong?"
