"""The rules of one ingest, and what a generic file's columns seem to be: from their names and their values."""

import json
import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from workprof.core.arrays import Bools, Floats
from workprof.core.causes import FAILED, KILLED, OTHER, OUT_OF_MEMORY, SHORT_STATES, TIMED_OUT, cause_of
from workprof.core.errors import ColumnMissing, SettingsError, UnitUnknown
from workprof.core.units import (
    DAY_S,
    DURATION_FACTORS,
    FACTORS,
    FIRST_EPOCH_S,
    GB,
    GIB,
    KIB,
    LAST_EPOCH_S,
    MIB,
    UNITS_OF,
    factor,
)
from workprof.formats import generic, values
from workprof.formats.declare import NUMBER, PLAIN, TEXT, Format, Rule
from workprof.formats.fields import FIELDS, NAME_FIELDS, TIME_FIELDS, TRUTH_FIELDS
from workprof.formats.generic import (
    BYTES,
    CORES,
    FILLING,
    MOMENTS,
    NUMBERED,
    OF_A_RUN,
    OF_MEMORY,
    REAL_TIME,
    SIZES_ONLY,
    SYNONYMS,
    TELLING,
    TOGETHER,
    UNIT_SUFFIXES,
    UNITS_WITHIN,
    WALL,
    WITH_ID,
    WORDS,
    WRITTEN,
)
from workprof.store.look import Look, Numbers
from workprof.store.relation import INTERVAL, TIMESTAMP
from workprof.store.reports import FieldSource

SHOWN_COLUMNS = 20


def rules_for(declared: Format, mapping: Mapping[str, FieldSource], result: Sequence[str]) -> tuple[Rule, ...]:
    """The rules, every one of whose columns the file has or may lack.

    The mapping is what the user said, or `guesses` that are sure; of another format than the generic one it takes the
    place of that format's own rules.

    Raises:
        ColumnMissing: when required columns or fields are absent; names what was found and what to do.
        SettingsError: when the mapping names an unknown field.
    """
    if declared.name != generic.FORMAT.name:
        _require(declared, result)
        given = tuple(checked(field, source, result) for field, source in mapping.items())
        return (*given, *(rule for rule in declared.rules if rule.field not in mapping))
    rules = (*(checked(field, source, result) for field, source in mapping.items()), *own_rules(mapping, result))
    lacking = missing_fields({rule.field for rule in rules})
    if lacking:
        raise ColumnMissing(lacking_words(lacking, {rule.field for rule in rules}, result))
    return rules


def own_rules(mapping: Mapping[str, FieldSource], result: Sequence[str]) -> tuple[Rule, ...]:
    """The rules of columns that carry a field's own name and are not mapped."""
    taken = {source.column for source in mapping.values()}
    return tuple(
        rule
        for rule in generic.FORMAT.rules
        if rule.source in result and rule.source not in taken and rule.field not in mapping
    )


SAY_WHICH = ". Say which column is which with --map FILE.json; `workprof ingest FILE --look` shows a proposal"

WITHOUT_END = "add a column with either, or say with --map FILE.json which column it is"


def lacking_words(lacking: Sequence[str], have: Collection[str], result: Sequence[str]) -> str:
    """Which fields are missing, and what would do."""
    text = f"fields are missing: {'; '.join(lacking)}. Columns found: {shown(result)}"
    if DURATION in lacking and "start_time_s" in have:
        return f"{text}. There are start times, but no end and no duration: {WITHOUT_END}"
    if DURATION in lacking and "end_time_s" in have:
        return f"{text}. There are end times, but no start and no duration: {WITHOUT_END}"
    return f"{text}{SAY_WHICH}"


NAME = "job_name or task_name"
DURATION = "duration_s, or start_time_s and end_time_s"


def missing_fields(have: Collection[str]) -> tuple[str, ...]:
    """What a job table still needs: a name, and a duration or both its times."""
    lacking = []
    if not set(NAME_FIELDS) & set(have):
        lacking.append(NAME)
    if "duration_s" not in have and not {"start_time_s", "end_time_s"} <= set(have):
        lacking.append(DURATION)
    return tuple(lacking)


Document = dict[str, dict[str, str]]
"""A mapping as JSON: field -> {"from": column, "unit": unit}."""


def document(mapping: Mapping[str, FieldSource]) -> Document:
    """A mapping as --map takes it, in the order of the fields."""
    ordered = [field for field in FIELDS if field in mapping] + [field for field in mapping if field not in FIELDS]
    return {
        field: {"from": mapping[field].column} | ({"unit": mapping[field].unit} if mapping[field].unit else {})
        for field in ordered
    }


def as_json(mapping: Mapping[str, FieldSource]) -> str:
    """A mapping as the JSON that --map takes."""
    return json.dumps(document(mapping))


def from_json(content: str, named: str) -> dict[str, FieldSource]:
    """Field -> source of a mapping written as JSON.

    Raises SettingsError when it is no such JSON; `named` says whose.
    """
    shape = '{"duration_s": {"from": "runtime", "unit": "ms"}}'
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{named} cannot be read ({error}); write JSON such as {shape}") from error
    entries = list(document.items()) if isinstance(document, dict) else []
    wrong = [field for field, entry in entries if not (isinstance(entry, dict) and isinstance(entry.get("from"), str))]
    if not entries or wrong:
        what = f"field {wrong[0]!r} has no column" if wrong else "there is no field in it"
        raise SettingsError(f"{named}: {what}; write JSON such as {shape}")
    return {field: FieldSource(entry["from"], str(entry.get("unit", ""))) for field, entry in entries}


def shown(names: Sequence[str]) -> str:
    """Column names for a message, not more than fit."""
    more = f" and {len(names) - SHOWN_COLUMNS} more" if len(names) > SHOWN_COLUMNS else ""
    return ", ".join(name[:60] for name in names[:SHOWN_COLUMNS]) + more


def _require(declared: Format, result: Sequence[str]) -> None:
    lacking = [name for name in declared.required if name not in result]
    if lacking:
        raise ColumnMissing(
            f"format {declared.name} needs the column{'s' * (len(lacking) > 1)} {', '.join(lacking)}; "
            f"columns found: {shown(result)}. Choose another --format, or generic with --map"
        )


def checked(field: str, source: FieldSource, result: Sequence[str]) -> Rule:
    """The rule of one entry of a mapping.

    Raises:
        SettingsError: for an unknown field, and (UnitUnknown) for a unit that does not fit.
        ColumnMissing: for a column that the file lacks.
    """
    if field not in FIELDS:
        raise SettingsError(f"the mapping names the field {field!r}; fields are {', '.join(FIELDS)}")
    if source.column not in result:
        raise ColumnMissing(f"the mapping takes {field} from {source.column!r}; columns found: {shown(result)}")
    allowed = units_of(field)
    if source.unit and source.unit not in allowed:
        known = f"use one of {', '.join(allowed)}" if allowed else "it has no unit: leave it out"
        kind = "" if source.unit in FACTORS else " is not known"
        raise UnitUnknown(f"unit {source.unit!r} of {field}{kind or ' does not fit'}; {known}")
    names, unended = generic.OF_YARN
    words = words_for(source.column, result) if field == "status" else {}
    words = words | unended if field == "status" and words_of(source.column)[0] in names else words
    return Rule(field, source.column, source.unit or PLAIN, words=tuple(words.items()))


def words_for(column: str, columns: Sequence[str]) -> dict[str, str]:
    """The words for what stands in a status of true and false, or in the numbers of Slurm's database."""
    if column == "state" and set(columns) >= generic.OF_SLURMS_DATABASE:
        return {f"{number}{end}": word for number, word in enumerate(generic.STATES_OF_SLURM) for end in ("", ".0")}
    true = truth_of(column)
    false = generic.FALSE_WORDS.get(true, "finished")
    return dict.fromkeys(values.TRUE, true) | dict.fromkeys(values.FALSE, false) if true else {}


def truth_of(column: str) -> str:
    """What is true in a status of true and false with a column's name, '' where it is no such status."""
    words = words_of(column)[0]
    if words == {"end"}:  # of 'deleted' or 'end' true means nothing
        name = generic.ASKED.sub("", column.strip()).lower()
        return "completed" if name in ("complete", "completed", "finished") else ""
    return _TRUTHS.get(words, "")


def tells_reason(column: str) -> bool:
    """Tell whether a column's name says that it tells why runs ended: AWS Batch's `statusReason`, Argo's `message`."""
    words = words_of(column)[0]
    return "reason" in words or tells_error(column) or (bool(words & MESSAGES) and words <= MESSAGES | OF_MESSAGES)


MESSAGES, OF_MESSAGES = frozenset(["message", "diagnostics"]), frozenset(["status", "state"])
ERRORS = frozenset(["error", "errors", "exception", "failure", "traceback"])
OF_ERRORS = frozenset(["message", "reason", "result", "text", "type", "class", "name", "detail", "details", "last"])


def tells_error(column: str) -> bool:
    """Tell whether a column's name says that it tells what went wrong: BigQuery's `error_result.reason`."""
    words = words_of(column)[0]
    return bool(words & ERRORS) and words <= ERRORS | OF_ERRORS


def _is_truth(column: str, there: Sequence[str]) -> bool:
    """Tell whether a column is a status of true and false."""
    return bool(truth_of(column)) and {value.strip().lower() for value in there} <= {*values.TRUE, *values.FALSE}


MOSTLY = 0.8
"""Share of moments that must be of our time: few in none do not hide the unit of the others."""
LEAST_READ = 0.5
"""Share of a column's values that must be values of a field: its bad cells are counted, and hide no column."""

EPOCHS = (("s", 1e0), ("ms", 1e3), ("us", 1e6), ("ns", 1e9))
OFFSET_S = 600.0, 2.0e8
"""A trace on a clock of its own lasts from ten minutes to six years."""

SHORT_SPAN_S = 1.0e8
LONGEST_MEDIAN_S, SHORTEST_MEDIAN_S = 30.0 * DAY_S, 0.01
MANY_MEDIAN_S = 10_000.0
"""Bare durations above this in the middle are as likely milliseconds as seconds."""
FEW_S = 200.0
"""Bare durations that are all below this may be hours or minutes as well."""

LARGEST_NODE_BYTES = 24.0 * GIB * KIB
SURELY_BYTES = 2e8
"""Half of the sizes above this: as kilobytes that would be more than 200 GB."""

SAME_WITHIN = 3.0
AGREEING = 0.8
NEARLY_ALL = 0.9
CLOCK_OF_TWO = re.compile(r"\d+:\d\d")
DAY_ALONE = re.compile(r"\d{4}-\d\d-\d\d")


OWN_NAME, DATES, IN_VALUES, IN_NAME = "workprof's own name", "dates", "units in the values", "in the column's name"
SINCE_1970 = "time stamps since 1970"
AS_CHOSEN, UNREADABLE = "as chosen", "most values cannot be read"
NAMELESS = "no column is known to name the jobs: each user's are taken as one task"


@dataclass(frozen=True)
class Guess:
    """What a column is taken for."""

    source: FieldSource
    sure: bool  # it can be loaded so without asking
    why: str  # what the unit rests on


CLOCK = re.compile(r"\b[dhm]{1,2}(?:-[hms]{1,2})?(?::[hms]{1,2})+\b", re.IGNORECASE)
"""How the values of a column are written, as its heading says: 'Elapsed (hh:mm:ss)'."""


OF_PBS = re.compile("resource(_list|s_used)", re.IGNORECASE)
"""How PBS begins the names of requests and uses: Resource_List.mem, resources_used.mem."""


def words_of(column: str) -> tuple[frozenset[str], str]:
    """The words of a column's name, as `SYNONYMS` spells them, and the unit that it tells ('' = none)."""
    plain = CLOCK.sub(" ", generic.ASKED.sub("", column.strip()))
    told = (
        OF_PBS.sub(lambda match: " used " if match[1].lower() == "s_used" else " requested ", plain)
        .replace("%", " percent ")
        .replace("'d", "")
    )
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", told)
    spaced = re.sub(r"([A-Z]+)([A-Z][a-z]{2,})", r"\1 \2", spaced)
    spaced = re.sub(r"\b([KMGTkmgt]i?) B\b", r"\1B", spaced.replace("_", " "))
    parts = [part for part in re.split(r"[^a-z0-9µäöüß]+", spaced.lower()) if part]
    unit = ""
    if len(parts) > 1 and parts[-1] in UNIT_SUFFIXES:
        unit = UNIT_SUFFIXES[parts.pop()]
    elif len(parts) > 1 and parts[-1] == "m" and "cpu" in (WORDS.get(part, part) for part in parts):
        unit = "milli"
        parts.pop()
    elif len(parts) > 1 and parts[0] == "percent":
        unit = UNIT_SUFFIXES[parts.pop(0)]
    elif parts in (["seconds"], ["minutes"], ["hours"]):
        unit = UNIT_SUFFIXES[parts[0]]
    elif any(part in CORES for part in parts):
        unit = "cores"
    elif (
        len(within := [part for part in parts if part in UNITS_WITHIN or (part in BYTES and OF_MEMORY & {*parts})]) == 1
    ):
        unit = UNIT_SUFFIXES[within[0]]
        parts.remove(within[0])
    spelled = " ".join(TOGETHER.get(part, WORDS.get(part, part)) for part in parts).split()
    words = {WORDS.get(word, word) for word in spelled} - FILLING
    if words & TELLING and words - OF_A_RUN:
        words -= OF_A_RUN
    if words & MOMENTS and words != {"time"}:
        words -= {"time", "t"}
    if words & WITH_ID:
        words -= {"id"}
    return frozenset(words), unit


_TRUTHS = {words_of(name)[0]: truth for name, truth in generic.TRUTHS.items()}
_WANTED = {field: tuple(words_of(name)[0] for name in names) for field, names in SYNONYMS.items()}


OUTER = frozenset(
    [
        *("metadata", "spec", "status", "stats", "attributes", "properties", "details", "info", "executioninfo"),
        *("closure", "querystats", "result", "id", "tags", "labels", "mlflow", "attempts", "logs"),
        *("time", "times", "timing", "timeline", "timestamps", "resource", "resources"),
    ]
)
"""Members of a record that only hold others: Kubernetes' `metadata.name` and `status.startTime`, Azure Batch's
`executionInfo.endTime`, EMR's `Status.Timeline.EndDateTime`."""


def _named(columns: Sequence[str]) -> dict[str, tuple[frozenset[str], str]]:
    """The words of columns, those of a member of `OUTER` without it where they name a field that no other does."""
    known = {words for each in _WANTED.values() for words in each}
    result = {column: words_of(column) for column in columns}
    there = [words for words, _ in result.values()]
    for column, (words, _) in result.items():
        outer, dot, inner = column.partition(".")
        while (further := inner.partition("."))[1] and further[0].lower() in OUTER:
            inner = further[2]
        own = words_of(inner) if dot and outer.lower() in OUTER and words not in known else (words, "")
        if own[0] in known and own[0] not in there:
            result[column] = own
    return result


LIST_OR_OBJECT = re.compile(r"""\s*(?:\[(?:\s*["'{\[].*)?\]|\{(?:\s*["'].*)?\})\s*""", re.DOTALL)
"""Texts of lists and objects, which name nothing: the jobs of a build, the tasks of a run."""


def _may_be_a_field(column: str, look: Look) -> bool:
    there = look.present(column, 1000)
    return column != generic.SLOTS_OF_AZURE and not (there and all(map(LIST_OR_OBJECT.fullmatch, there)))


def guesses(look: Look) -> dict[str, Guess]:
    """Field -> what it may be taken from: equal names first, then by `SYNONYMS`; every column is used once."""
    named = _named(look.columns)
    free = [column for column in look.columns if _may_be_a_field(column, look)]
    result: dict[str, Guess] = {}
    for field in FIELDS:
        if field in free:
            result[field] = Guess(FieldSource(field, FIELDS[field].unit), True, OWN_NAME)
            free.remove(field)
    for field in _WANTED:
        of_free = {column: named[column] for column in free}
        column = "" if field in result and field != "status" else _likeliest(field, of_free, result, look)
        if column:
            result[field] = _unit_of(field, column, named[column], look)
            free.remove(column)
    result = _on_one_clock(result, free, named, look)
    result = _of_tools(result, look)
    free = [column for column in free if column not in {guess.source.column for guess in result.values()}]
    if "duration_s" not in result and {*look.columns} >= generic.OF_SQUEUE and look.types["TIME"] == TEXT:
        result["duration_s"] = Guess(FieldSource("TIME", "s"), True, IN_VALUES)
        free.remove("TIME")
    if DURATION in missing_fields(result) and "duration_s" not in result:
        named_so = [column for words in _WANTED["duration_s"] for column in free if words and named[column][0] == words]
        if named_so and look.present(named_so[0]):
            unit = named[named_so[0]][1]
            source = FieldSource(named_so[0], unit if unit in DURATION_FACTORS else "s")
            result["duration_s"] = Guess(source, False, UNREADABLE)
    if "run_name" in result and not set(NAME_FIELDS) & result.keys():
        result["job_name"] = result.pop("run_name")
    result = _with_task(result, [column for column in free if look.present(column, 1)], look)
    result = _with_use(result, free, named, look)
    result = _clocks(_as_they_lasted(_meant(_in_one_unit(result, look), look), look), look)
    result = _of_several(result, [name for name in free if named[name][0] in _WANTED["duration_s"]], named, look)
    result = _ask_for_points(_ask_for_zone(result, look), look)
    if not set(NAME_FIELDS) & result.keys() and "user" in result:
        result["task_name"] = replace(result["user"], sure=False, why=NAMELESS)
    return {field: result[field] for field in FIELDS if field in result}


def _likeliest(
    field: str, free: Mapping[str, tuple[frozenset[str], str]], result: Mapping[str, Guess], look: Look
) -> str:
    """The column of those that are free that a field is likeliest to come from, '' where there is none.

    A limit, or what was allocated, stands for a request where there is none, a number for a user without a name. Of
    several statuses that counts which tells the most bad ends, also beside a column `status`; a table of workprof's own
    fields keeps its own.
    """
    likely = [column for words in _WANTED[field] for column in free if words and free[column][0] == words]
    if field == "user":
        likely.sort(
            key=lambda column: (
                free[column][0] == {"account"},
                look.types[column] in (NUMBER, "BIGINT"),
                column.endswith(".name"),
            )
        )
    if field.startswith("requested"):
        likely.sort(key=lambda column: "req" not in column.lower())
    fitting = (column for column in likely if _fits(field, column, free[column][1], look))
    if field != "status":
        return next(fitting, "")
    if _is_own(result):
        return "" if field in result else next(fitting, "")
    own = (field,) if field in result else ()
    best = max((*own, *fitting), key=lambda column: _bad_ends(column, look), default="")
    return "" if best in own else best


def _known_of_tools(look: Look) -> tuple[str, dict[str, tuple[str, str]]]:
    """The tool that a table's names tell, '' for none, and what it says of its columns."""
    there = {*look.columns}
    return next(((tool, known) for tool, (names, known) in generic.OF_TOOLS.items() if names <= there), ("", {}))


def _of_tools(result: dict[str, Guess], look: Look) -> dict[str, Guess]:
    """The guesses with columns and units as a tool's manual has them, where a table's names tell the tool."""
    tool, known = _known_of_tools(look)
    if _is_own(result):
        return result
    filled = {column for column in look.columns if look.present(column, 1)}
    sources = {field: FieldSource(*of) for field, of in known.items() if of[0] in filled}
    result = result | {field: Guess(source, True, f"as {tool} has it") for field, source in sources.items()}
    if {*generic.RESOURCES} & filled and "mem_req" in known.get(REQUESTED, ()):
        result.pop(REQUESTED, None)
    return result


IN_UTC, LOCAL = "utc", "local"
CLOCK_IN_NAME = re.compile(rf"({IN_UTC})|gmt|({LOCAL})", re.IGNORECASE)
WITH_ZONE = re.compile(r".*\d(?:Z|[+-]\d\d(?::?\d\d)?|\s?[A-Z]{2,5})")


def _clocks_of(result: Mapping[str, Guess], look: Look) -> dict[str, str]:
    """Field of moments -> whether its column's name says UTC or local; '' = neither, or the values tell the zone."""
    return {field: clock_of(result[field].source.column, look) for field in TIME_FIELDS if field in result}


def _ask_for_zone(result: dict[str, Guess], look: Look) -> dict[str, Guess]:
    """The guesses, in which moments of both clocks, or local ones beside those of no named clock, are not sure."""
    clocks = _clocks_of(result, look)
    said = set(clocks.values())
    if LOCAL not in said or said == {LOCAL}:
        return result
    why = "UTC and local times differ by an unknown zone"
    if IN_UTC not in said:
        others = ", ".join(repr(result[field].source.column) for field, clock in clocks.items() if clock != LOCAL)
        why = f"local time by its name: does {others} have the same clock? the zone is unknown"
    return result | {field: Guess(result[field].source, False, why) for field, clock in clocks.items() if clock}


_UNIT = r"(?:\s?[A-Za-z%]{1,6})?"
POINTED, SMALL = re.compile(rf"[+-]?[1-9]\d{{0,2}}(?:\.\d{{3}})+{_UNIT}"), re.compile(rf"[+-]?\d{{1,3}}{_UNIT}")
"""Numbers with points between thousands, and those that need none."""


def _ask_for_points(result: dict[str, Guess], look: Look) -> dict[str, Guess]:
    """The guesses, in which numbers whose points may separate thousands are not sure.

    Decimals that happen to be three each do not stand beside whole numbers under a thousand alone ('1.024', '950');
    semicolons stand between columns for the sake of decimal commas.
    """
    if not look.delimiter or look.decimal != ".":
        return result
    pointed, mixed = {}, False
    for field, guess in result.items():
        if FIELDS[field].type == TEXT or field in TIME_FIELDS or guess.source.column in look.grouped:
            continue
        cells = [
            cell.strip() for cell in look.present(guess.source.column) if "0" <= cell.strip().lstrip("+-")[:1] <= "9"
        ]
        points = [cell for cell in cells if "." in cell]
        if len(points) > 1 and all(map(POINTED.fullmatch, points)):
            others = [cell for cell in cells if "." not in cell]
            if all(map(SMALL.fullmatch, others)):
                pointed[field], mixed = points[0], mixed or bool(others)
    if not mixed and not (look.delimiter == ";" and len(pointed) > 1):
        return result
    why = "the point may stand between thousands: if it does, write {!r} without it"
    return result | {field: replace(result[field], sure=False, why=why.format(cell)) for field, cell in pointed.items()}


def clock_of(column: str, look: Look) -> str:
    """Whether a column of moments says UTC or local by its name; '' = neither, or its values tell the zone."""
    match = CLOCK_IN_NAME.search(column)
    some = look.present(column, 1000)
    if match is None or look.types[column] == NUMBER or all(map(WITH_ZONE.fullmatch, some)):
        return ""
    return LOCAL if match[2] else IN_UTC


def _on_one_clock(
    result: dict[str, Guess], free: Sequence[str], named: Mapping[str, tuple[frozenset[str], str]], look: Look
) -> dict[str, Guess]:
    """The guesses on one clock where the table has such starts and ends: UTC, else that of no name, else local."""
    clocks = _clocks_of(result, look)
    if LOCAL not in clocks.values() or {*clocks.values()} == {LOCAL}:
        return result
    columns = [*free, *(result[field].source.column for field in clocks)]
    for clock in (IN_UTC, "", LOCAL):
        fitting = {
            field: column
            for field in clocks
            for column in columns
            if clock_of(column, look) == clock
            and named[column][0] in _WANTED[field]
            and _fits(field, column, named[column][1], look)
        }
        if clocks.keys() - {"submit_time_s"} <= fitting.keys():
            others = {field: guess for field, guess in result.items() if clocks.get(field, "") in ("", clock)}
            return others | {field: _unit_of(field, column, named[column], look) for field, column in fitting.items()}
    return result


def _with_task(result: dict[str, Guess], free: Sequence[str], look: Look) -> dict[str, Guess]:
    """The guesses with a job's name that runs share as their task, where no column is one.

    Beside a number, or a job that no other run shares, a name says what runs ('job_id', 'job_name'), and a stage
    (GitLab's) holds several of them. Without one, jobs of a table with workprof's own fields stay jobs: they may have
    several runs.
    """
    if "job_name" not in result:
        return result
    job, stage = result["job_name"], result.get("task_name")
    numbers = [column for column in free if NUMBERED.fullmatch(column.strip())]
    if stage is not None:
        if words_of(stage.source.column)[0] == {"task", "id"} and not _shared(stage.source.column, look):
            return _of_functions(result, free, look)
        if words_of(stage.source.column)[0] != {"stage"} or not numbers or not _shared(job.source.column, look):
            return result
        return {"workload": stage} | result | {"task_name": job, "job_name": Guess(FieldSource(numbers[0]), True, "")}
    alone = not _is_own(result) and not _shared(job.source.column, look)
    if alone or NUMBERED.fullmatch(job.source.column.strip()):
        names = [column for column in free if words_of(column)[0] in _WANTED["job_name"] and column not in numbers]
        task = next((column for column in names if _shared(column, look)), None)
        return result if task is None else result | {"task_name": Guess(FieldSource(task), True, "")}
    if not _shared(job.source.column, look) or (_is_own(result) and not numbers):
        return result
    named = {"job_name": Guess(FieldSource(numbers[0]), True, "")} if numbers else {}
    return {field: guess for field, guess in result.items() if field != "job_name"} | named | {"task_name": job}


def _of_functions(result: dict[str, Guess], free: Sequence[str], look: Look) -> dict[str, Guess]:
    """The guesses with a name that runs share as their task, and their own identifier as their job: tasks of Ray."""
    names = [column for column in free if words_of(column)[0] in _WANTED["job_name"] and _shared(column, look)]
    if not names:
        return result
    own = {"job_name": result["task_name"], "task_name": Guess(FieldSource(names[0]), True, "")}
    return {"workload": result["job_name"]} | result | own


def _is_own(result: Mapping[str, Guess]) -> bool:
    """Tell whether a table has workprof's own fields."""
    return any(guess.why == OWN_NAME and FIELDS[field].type == NUMBER for field, guess in result.items())


def _shared(column: str, look: Look) -> bool:
    """Tell whether most values of a column stand in several rows."""
    counts = Counter(look.present(column))
    return sum(n for n in counts.values() if n > 1) > LEAST_READ * counts.total()


def unfit(look: Look, used: Mapping[str, FieldSource]) -> dict[str, str]:
    """Column -> the field of numbers that it is named like, of columns that are not used and hold no numbers."""
    taken = {source.column for source in used.values()} | {column for column, _ in _known_of_tools(look)[1].values()}
    result = {}
    for column in look.columns:
        words = words_of(column)[0]
        alike = [field for field, wanted in _WANTED.items() if words and words in wanted and field not in used]
        if column in taken or not alike or not look.present(column, 1):
            continue
        field = next((each for each in alike if FIELDS[each].type == NUMBER), "")
        if field and look.types[column] == TEXT and len(alike) == 1:
            result[column] = field
    return result


REQUESTED, USED = "requested_memory_bytes", "peak_memory_bytes"
EITHER = re.compile(r"(?:max(?:imum)?|highest|most)?(?:mem(?:ory)?|ram)(?:max(?:imum)?|highest|most)?")
"""Names that batch systems and people give to what a job may take as well as to what it took."""

ALLOCATED_OR_USED = "allocated or used?"
STEP_BYTES = (0.25 * GB, 0.256 * GB, 256.0 * MIB / 1.024, 256.0 * MIB)
"""Requests are made in such steps; what was used seldom is."""


def _in_one_unit(result: Mapping[str, Guess], look: Look) -> dict[str, Guess]:
    """The guesses with memory used in the unit of that requested, where no name tells one and it would be above it."""
    result = dict(result)
    requested = result.get(REQUESTED)
    for field in (USED, "mean_memory_bytes"):
        used = result.get(field)
        if requested is None or used is None or {requested.why, used.why} != {NO_UNIT}:
            continue
        alike = replace(used, source=replace(used.source, unit=requested.source.unit))
        limit = np.nanmedian(_converted(REQUESTED, requested.source, look))
        as_guessed, as_requested = (np.nanmedian(_converted(field, one.source, look)) for one in (used, alike))
        if as_requested <= limit < as_guessed:
            result[field] = alike
    return result


def memory_of_either(look: Look, columns: Sequence[str]) -> list[str]:
    """The columns that are named as memory that may be allocated or used, and hold such."""
    named = _named(look.columns)
    return [
        column
        for column in columns
        if _either(Guess(FieldSource(column), True, "")) and _fits(USED, column, named[column][1], look)
    ]


def _with_use(
    result: dict[str, Guess], free: Sequence[str], named: Mapping[str, tuple[frozenset[str], str]], look: Look
) -> dict[str, Guess]:
    """The guesses with a second column of memory as the use, where its values are below the other's, on no steps."""
    others = memory_of_either(look, free)
    if USED in result or not others:
        return result
    requested = [result[REQUESTED].source.column] if REQUESTED in result else []
    is_sure = bool(requested) and not _either(result[REQUESTED])
    if len(requested + others) != 2:
        return result
    pairs = [(*requested, *others)] if is_sure else [(*requested, *others), (*others[::-1], *requested)]
    for upper, lower in pairs:
        both = {
            field: _unit_of(field, column, named[column], look) for field, column in ((REQUESTED, upper), (USED, lower))
        }
        limits, uses = (_converted(field, guess.source, look) for field, guess in both.items())
        there = np.isfinite(limits) & np.isfinite(uses) & (uses > 0)
        below = float((uses[there] <= limits[there]).mean()) if there.any() else 0.0
        if below >= NEARLY_ALL and float((uses[there] < limits[there]).mean()) >= 0.5 and not _on_steps(uses[there]):
            return result | both
    return result


def _on_steps(values: Floats) -> bool:
    return any(bool((np.abs(values / step - np.round(values / step)) < 1e-6).all()) for step in STEP_BYTES)


def _meant(result: Mapping[str, Guess], look: Look) -> dict[str, Guess]:
    """The guesses with memory that may be allocated or used told by its values and by the other of the two.

    A name of both is sure only where no value of a use is above the request, or where all stand on steps of requests.
    """
    result = dict(result)
    memory = {field: result[field] for field in (REQUESTED, USED) if field in result}
    doubtful = {field: guess for field, guess in memory.items() if guess.why != OWN_NAME and _either(guess)}
    if len(memory) == 2 and doubtful:
        requested, used = (_converted(field, memory[field].source, look) for field in (REQUESTED, USED))
        both = np.isfinite(requested) & np.isfinite(used) & (used > 0)
        within = float((used[both] <= requested[both]).mean()) if both.any() else 0.0
        if within >= NEARLY_ALL and float((used[both] < requested[both]).mean()) >= 0.5:
            return result
        why = f"{ALLOCATED_OR_USED} {within:.0%} of the uses are within the requests"
        return result | {field: replace(guess, sure=False, why=why) for field, guess in doubtful.items()}
    for field, guess in doubtful.items():
        values = _converted(field, guess.source, look)
        steps = _on_steps(values[np.isfinite(values) & (values > 0)])
        if field == REQUESTED and steps:
            continue
        standing = "all values stand on round steps, as requests do" if steps else "values stand on no round steps"
        del result[field]
        meant = REQUESTED if steps else USED
        result[meant] = replace(guess, sure=False, why=f"{ALLOCATED_OR_USED} {standing}")
    return result


def _either(guess: Guess) -> bool:
    parts = re.split(r"[^a-z]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", guess.source.column).lower())
    parts = [part for part in parts if part not in UNIT_SUFFIXES and part not in OF_A_RUN]
    return bool(EITHER.fullmatch("".join(parts)))


def units_of(field: str) -> tuple[str, ...]:
    """The units that a field may be read in."""
    return (*UNITS_OF.get(FIELDS[field].unit, {}), *((values.DAY_FIRST,) if field in TIME_FIELDS else ()))


def quantity_of(field: str, unit: str) -> str:
    """The quantity of `values.number` that a field is read as."""
    if field in TIME_FIELDS:
        return values.TIME_DAY_FIRST if unit == values.DAY_FIRST else values.TIME
    return values.TRUTH if field in TRUTH_FIELDS else FIELDS[field].unit


def factor_of(field: str, unit: str) -> float:
    """What one unit is in the unit that a field is kept in."""
    return factor(unit) if unit and unit != values.DAY_FIRST else 1.0


def _order(field: str, column: str, look: Look) -> str:
    """How the days of a column of moments in numbers stand: see `values.order_of_days`."""
    if field not in TIME_FIELDS or not values.order_of_days(look.present(column, 1000)):
        return ""
    return values.order_of_days(look.present(column))


def _fits(field: str, column: str, unit: str, look: Look) -> bool:
    """Tell whether a field may come from a column: by the unit in its name, and by its values ('08:23:08', '16Gi')."""
    there = look.present(column, 1000)
    if not there:
        return False
    if FIELDS[field].type == TEXT:
        return unit in ("", "cores") and _fits_text(field, column, there, look)
    if unit and unit not in UNITS_OF.get(FIELDS[field].unit, {}):
        return False
    if field in TIME_FIELDS and _is_truth(column, there):  # 'finished' may be a moment, or 0 and 1
        return False
    if not unit and words_of(column)[0] <= SIZES_ONLY:
        return False
    if look.types[column] == TIMESTAMP:
        return field in TIME_FIELDS
    if look.types[column] == INTERVAL:
        return FIELDS[field].unit == "s" and field not in TIME_FIELDS
    days = _order(field, column, look) == "first"
    read = look.numbers(column, quantity_of(field, values.DAY_FIRST if days else ""))
    known = int(read.present.sum())
    if not known or int((read.present & ~read.unread).sum()) <= LEAST_READ * known:
        return False
    return _fits_cores(field, column, read.at(1.0), unit) if FIELDS[field].unit == "percent" else True


def status_of(text: str) -> str:
    """A status without what stands before its word."""
    return re.sub(generic.BEFORE_STATUS, "", text)


STATUSES = ({"status"}, {"state"}, {"phase"}, {"outcome"}, {"conclusion"}, {"result"})


def unknown_status(look: Look, used: Mapping[str, FieldSource]) -> str:
    """The column that is named like a status and has no known word, '' where there is none or another one is used."""
    if "status" in used or "status" in look.columns:
        return ""
    named = (column for column in look.columns if words_of(column)[0] in STATUSES and look.types[column] == TEXT)
    return next((column for column in named if look.present(column, 1)), "")


def _bad_ends(column: str, look: Look) -> tuple[int, int]:
    """How many statuses are a bad end by their words, and how many by an exit code, or by true or false."""
    words, said = words_for(column, look.columns), Counter(map(status_of, look.present(column))).items()
    bad = (OUT_OF_MEMORY, TIMED_OUT, KILLED, FAILED)
    ends = sum(n for status, n in said if cause_of(words.get(status.strip().lower(), status)) in bad)
    if truth_of(column):
        return 0, ends + sum(n for status, n in said if words.get(status.strip().lower()) == "not completed")
    return ends, sum(n for status, n in said if not words and EXIT_CODE.fullmatch(status.strip()))


EXIT_CODE = re.compile(r"-?[1-9]\d*(?:\.0)?(?::\d+)?|0:[1-9]\d*")

SHORTEST_KEY, WITH_ID_BEHIND = 16, re.compile(r"[_ ]id$|Id$|ID$")
"""Characters at least of an identifier that every run has: GitHub's `node_id` is of the job."""
LONGEST_LOGIN = 32
"""Characters of a login (useradd); uids of Kubernetes are longer and are of pods, as are texts of one run each."""


def _fits_text(field: str, column: str, there: Sequence[str], look: Look) -> bool:
    numeric = look.types[column] in (NUMBER, "BIGINT")
    if field == "status":
        words = {status_of(value).strip().lower() for value in there}
        if truth_of(column) or words_of(column)[0] == {"end"}:
            return _is_truth(column, there)
        if spelled := words_for(column, look.columns):
            return bool(words & spelled.keys())
        known = words & {*generic.FORMAT.finished} or any(cause_of(word) != OTHER for word in words - {*SHORT_STATES})
        return bool(known) or (words <= {*SHORT_STATES} and any(len(word) > 1 for word in words))
    if field == "task_name" and words_of(column)[0] & WRITTEN:
        return _shared(column, look)
    if field == "user" and column.rpartition(".")[2].strip().lower() == "uid":
        of_runs = not numeric and 1 < len(there) == len({*there})
        return not of_runs and all(len(value.strip()) <= LONGEST_LOGIN for value in there)
    if field == "node" and WITH_ID_BEHIND.search(column):
        of_runs = not numeric and 1 < len(there) == len({*there})
        return not of_runs or any(len(value.strip()) < SHORTEST_KEY for value in there)
    if field in ("node", "gpu_type", "workload", "group"):
        return not (numeric and words_of(column)[0] & {"nodes", "gpu", "instance", "queue"})
    return True


def _fits_cores(field: str, column: str, read: Floats, unit: str) -> bool:
    """Tell a request from a use: requests are whole, a use is in percent or has parts of a core.

    Batch systems call what a run was given 'cores used': all of it, whole, and no use.
    """
    words = words_of(column)[0]
    number = read[np.isfinite(read)]
    whole = bool((number == np.round(number)).all())
    if words not in ({"cpu"}, {"gpu"}):
        return field.startswith("requested") or unit != "cores" or not whole
    whole = whole and float(number.max(initial=0.0)) <= MOST_CORES
    is_request = unit != "percent" and (whole or unit in ("cores", "milli"))
    return is_request == field.startswith("requested")


NO_UNIT = "no unit in the column's name"


def _unit_of(field: str, column: str, name: tuple[frozenset[str], str], look: Look) -> Guess:
    """The guess of a column's unit by itself; moments and durations look at each other in `_clocks`."""
    words, named_unit = name
    own = FIELDS[field].unit
    if not own:
        return Guess(FieldSource(column), True, "")
    if look.types[column] in (TIMESTAMP, INTERVAL):
        return Guess(FieldSource(column, own), True, DATES if look.types[column] == TIMESTAMP else IN_VALUES)
    order = _order(field, column, look)
    if order in ORDERS:
        unit, sure, why = ORDERS[order]
        return Guess(FieldSource(column, unit), sure, why)
    read = look.numbers(column, quantity_of(field, ""))
    number = read.number[~np.isnan(read.number)]
    bare = read.bare & (read.number != 0)
    beside = _beside_units(own, read, named_unit, look.present(column, 1000))
    if beside:
        unit, sure, why = beside
        return Guess(FieldSource(column, unit), sure, why)
    if not bare.any() and (read.present & ~read.bare).any():
        if own == "s" and field not in TIME_FIELDS and _two_parts(column, look):
            return Guess(FieldSource(column, own), False, "'1:30' is read as minutes and seconds")
        return Guess(FieldSource(column, own), True, DATES if field in TIME_FIELDS else IN_VALUES)
    if named_unit:
        return Guess(FieldSource(column, "MiB" if words == generic.OF_GALAXY else named_unit), True, IN_NAME)
    if field in TIME_FIELDS:
        epoch = since_1970(number)
        if epoch:
            return Guess(FieldSource(column, epoch), True, SINCE_1970)
        return Guess(FieldSource(column, own), False, NO_UNIT)
    unit, sure = {"s": _seconds, "B": _bytes, "percent": _percent}[own](field, words, number)
    return Guess(FieldSource(column, unit), sure, "size of the values" if sure else NO_UNIT)


PER_NODE = re.compile(r"\s*\d+(?:\.\d+)?[kKMGTPgt]?[nc]\s*")
MILLI = re.compile(r"\s*\d+(?:\.\d+)?m\s*")
BESIDE_MILLI = {
    "B": ("B", False, "'512m' is half a byte in Kubernetes: thousandths, or megabytes?"),
    "percent": ("cores", True, "bare numbers beside thousandths of a core are cores"),
}
"""What a column with thousandths ('250m') holds: unit, whether that is sure, and why."""


def _beside_units(own: str, read: Numbers, named: str, texts: Sequence[str]) -> tuple[str, bool, str] | None:
    """The unit of bare numbers beside values with a unit of their own, None where there are none of both."""
    each = next(filter(PER_NODE.fullmatch, texts), "") if own == "B" else ""
    if each:
        return own, False, f"{each.strip()!r} is of each {'node' if each.strip()[-1] == 'n' else 'core'} (Slurm)"
    if own in BESIDE_MILLI and any(map(MILLI.fullmatch, texts)):
        return BESIDE_MILLI[own]
    bare = read.number[read.bare & (read.number != 0)]
    if own != "B" or named or not bare.size or not (read.present & ~read.bare & ~read.unread).any():
        return None
    return own, float(np.median(bare)) >= LEAST_BARE_BYTES, BESIDE_UNITS


BESIDE_UNITS = "bare numbers stand beside sizes with a unit, and are read as bytes"
LEAST_BARE_BYTES = 1e6
"""Bare numbers beside sizes with a unit are bytes where half of them are above this; of smaller ones nobody knows."""

DAY_OR_MONTH = f"day or month first? unit {values.DAY_FIRST} reads the day first"
ORDERS = {
    "first": (values.DAY_FIRST, True, "numbers above 12 stand first: days"),
    "either": ("s", False, DAY_OR_MONTH),
}
"""What a column of days in numbers is, by their order: unit, whether that is sure, and why."""


def _two_parts(column: str, look: Look) -> bool:
    return all(CLOCK_OF_TWO.fullmatch(value.strip()) for value in look.present(column, 1000))


def of_our_time(moments: Floats) -> Bools:
    """Which moments lie between 1989 and 2052."""
    return (moments > FIRST_EPOCH_S) & (moments < LAST_EPOCH_S)


def in_their_units(moments: Floats) -> Floats:
    """Moments in seconds of which some, too large for their unit, are of our time in a smaller one."""
    result = moments.copy()
    for _, per_s in EPOCHS[1:]:
        other = of_our_time(moments / per_s)
        result[other] = moments[other] / per_s
    return result


def since_1970(number: Floats) -> str:
    """The unit of most moments (0 = not known) where each is of our time in one; '' where one is in none.

    The moments of our time in one unit are none in another, so that a few in another unit are read in theirs. Few that
    are in none do not hide the unit of the others, where these lie within a few years.
    """
    moments = number[number > 0]
    if not moments.size:
        return ""
    found = {unit: moments[of_our_time(moments / per_s)] / per_s for unit, per_s in EPOCHS}
    most = max(found, key=lambda unit: found[unit].size)
    if sum(each.size for each in found.values()) == moments.size:
        return most
    near = found[most].size >= MOSTLY * moments.size and float(np.ptp(np.quantile(found[most], (0.05, 0.95)))) < YEARS_S
    return most if near else ""


YEARS_S = 15 * 365.25 * DAY_S
"""A trace on a clock of its own seems to span the sixty years of our time, a real one spans few."""


def _seconds(field: str, words: frozenset[str], number: Floats) -> tuple[str, bool]:
    median, largest = (float(np.median(number)), float(number.max())) if number.size else (0.0, 0.0)
    if field == "time_limit_s":
        return "s", False
    if words == REAL_TIME:
        return ("ms" if median >= MANY_MEDIAN_S / 10 else "s"), False
    if WALL in words:
        return "s", 1 <= median <= LONGEST_MEDIAN_S
    if median >= MANY_MEDIAN_S:
        return ("ms" if largest > LONGEST_MEDIAN_S else "s"), False
    return "s", largest > FEW_S


def _bytes(field: str, words: frozenset[str], number: Floats) -> tuple[str, bool]:
    del field, words
    median, largest = (float(np.median(number)), float(number.max())) if number.size else (0.0, 0.0)
    if median >= SURELY_BYTES:
        return "B", largest <= LARGEST_NODE_BYTES
    for unit, most in (("GB", 2_000.0), ("MB", 4e6), ("KB", 4e9)):
        if largest <= most:
            return unit, False
    return "B", False


MOST_CORES = 512.0


def _percent(field: str, words: frozenset[str], number: Floats) -> tuple[str, bool]:
    largest = float(number.max()) if number.size else 0.0
    if field.startswith("requested"):
        if "count" in words:
            return "cores", True
        few = largest < (16 if "gpu" in field else 50)
        return ("cores", True) if few else ("percent", False)
    if largest <= 1:
        return "share", False
    return "percent", largest > 16 and len(words) > 1


def _clocks(result: dict[str, Guess], look: Look) -> dict[str, Guess]:
    """The guesses with moments and durations compared: end - start tells the unit of a bare duration."""
    result = dict(result)
    if _is_a_wait(result, look):
        del result["submit_time_s"]
    times = [field for field in TIME_FIELDS if field in result]
    offsets = [field for field in times if not result[field].sure and result[field].why != DAY_OR_MONTH]
    duration = result.get("duration_s")
    run = _end_minus_start(result, look)
    if offsets:
        unit, sure, why = _offset_unit(offsets, result, run, duration, look)
        for field in offsets:
            result[field] = Guess(replace(result[field].source, unit=unit), sure, why)
        run = _end_minus_start(result, look)
    timed = run is not None and result["start_time_s"].sure and result["end_time_s"].sure
    if duration is not None and duration.why == UNREADABLE:
        return result
    if duration is not None and not duration.sure and timed and run is not None:
        compared = _compared(duration.source.column, run, look)
        if compared is not None:
            result["duration_s"] = Guess(FieldSource(duration.source.column, compared), True, "end - start agrees")
        elif duration.why.startswith("'1:30'"):
            del result["duration_s"]  # end - start says it without doubt
    if run is not None and "duration_s" not in result:
        result |= _days_alone(result, look)
    limit, known = result.get("time_limit_s"), result.get("duration_s")
    if limit is not None and not limit.sure and known is not None and known.sure:
        result["time_limit_s"] = _limit(limit, known, look)
    return result


LONGER, LONGER_S, ANOTHER_UNIT = 1.05, 60.0, 10.0
"""Ends are told to the minute at least; of durations that are all so many times as long the unit is in doubt."""


def _as_they_lasted(result: dict[str, Guess], look: Look) -> dict[str, Guess]:
    """The guesses without a duration that most runs ended before: end - start says how long they ran.

    It holds a wait, or is a limit: a wall time is a limit then.
    """
    guess, run = result.get("duration_s"), _end_minus_start(result, look)
    times = (result[field] for field in ("start_time_s", "end_time_s") if field in result)
    if guess is None or run is None or guess.why == OWN_NAME or not (guess.sure and all(one.sure for one in times)):
        return result
    lasted = _converted("duration_s", guess.source, look)
    both = (lasted > 0) & (run > 0)
    ratio, longer = lasted[both] / run[both], lasted[both] > LONGER * run[both] + LONGER_S
    if not ratio.size or float(longer.mean()) < AGREEING:
        return result
    least, median, most = np.quantile(ratio, (0.05, 0.5, 0.95))
    if guess.why not in (IN_NAME, IN_VALUES) and median > ANOTHER_UNIT and most < SAME_WITHIN * least:
        return result
    is_limit = WALL in words_of(guess.source.column)[0] and "time_limit_s" not in result
    limit = {"time_limit_s": replace(guess, why="longer than end - start")} if is_limit else {}
    return {field: one for field, one in result.items() if field != "duration_s"} | limit


def _of_several(
    result: dict[str, Guess], others: Sequence[str], named: Mapping[str, tuple[frozenset[str], str]], look: Look
) -> dict[str, Guess]:
    """The guesses with a duration as doubtful where another column is named like one and says something else.

    The shorter one is proposed: the longer one may hold a wait, or be a limit.
    """
    known = result.get("duration_s")
    if known is None or known.why in (OWN_NAME, UNREADABLE) or _end_minus_start(result, look) is not None:
        return result
    lasted = _converted("duration_s", known.source, look)
    for column in others:
        if not _fits("duration_s", column, named[column][1], look):
            continue
        other = _unit_of("duration_s", column, named[column], look)
        ratio = _ratio(lasted, _converted("duration_s", other.source, look))
        if ratio.size and float((np.abs(ratio - 1) < LONGER - 1).mean()) < AGREEING:
            shorter = other if float(np.median(ratio)) > 1 else known
            rival = known.source.column if shorter is other else column
            return result | {"duration_s": replace(shorter, sure=False, why=f"{rival!r} {ANOTHER_DURATION}")}
    return result


ANOTHER_DURATION = "is a duration, too, and differs"


def _is_a_wait(result: Mapping[str, Guess], look: Look) -> bool:
    """Tell whether 'queued time' is how long a run waited: starts are of our time, and it is not."""
    if not {"submit_time_s", "start_time_s"} <= result.keys():
        return False
    submit, start = (_converted(field, result[field].source, look) for field in ("submit_time_s", "start_time_s"))
    both = np.isfinite(submit) & np.isfinite(start)
    return bool(both.any()) and bool((start[both] >= FIRST_EPOCH_S).all() and (submit[both] < FIRST_EPOCH_S).all())


def _days_alone(result: Mapping[str, Guess], look: Look) -> dict[str, Guess]:
    """Start and end as doubtful where they are days without a time: no duration comes of them."""
    ends = {field: result[field] for field in ("start_time_s", "end_time_s")}
    days = {field: guess for field, guess in ends.items() if _all_days(look.present(guess.source.column, 1000))}
    return {field: replace(guess, sure=False, why="days without a time of day") for field, guess in days.items()}


def _all_days(texts: Sequence[str]) -> bool:
    return all(DAY_ALONE.fullmatch(text) for text in texts)


def _converted(field: str, source: FieldSource, look: Look) -> Floats:
    result = look.numbers(source.column, quantity_of(field, source.unit)).at(factor_of(field, source.unit))
    return in_their_units(result) if field in TIME_FIELDS else result


def _end_minus_start(result: Mapping[str, Guess], look: Look) -> Floats | None:
    if not {"start_time_s", "end_time_s"} <= result.keys():
        return None
    start, end = (_converted(field, result[field].source, look) for field in ("start_time_s", "end_time_s"))
    return np.where((start > 0) & (end > start), end - start, np.nan)


def _ratio(longer: Floats, number: Floats) -> Floats:
    both = (longer > 0) & (number > 0)
    ratio: Floats = longer[both] / number[both]
    return ratio


def _nearest(ratio: Floats, units: Mapping[str, float]) -> str | None:
    """The unit that most of the ratios are, None where they are none."""
    if not ratio.size:
        return None
    median = float(np.median(ratio))
    unit = min(units, key=lambda name: abs(math.log(units[name] / median)))
    near = np.abs(np.log(ratio / units[unit])) <= math.log(SAME_WITHIN)
    return unit if float(near.mean()) >= AGREEING else None


def _compared(column: str, run: Floats, look: Look) -> str | None:
    """The unit in which a column of bare durations is as long as end - start."""
    read = look.numbers(column, "s")
    if not (read.bare & (read.number > 0)).any():
        return None
    return _nearest(_ratio(run, read.number), DURATION_FACTORS)


def _offset_unit(
    offsets: Sequence[str], result: Mapping[str, Guess], run: Floats | None, duration: Guess | None, look: Look
) -> tuple[str, bool, str]:
    """The unit of moments on the trace's own clock, whether it is sure, and what it rests on."""
    plain = run is not None and {"start_time_s", "end_time_s"} <= set(offsets)
    if plain and run is not None and duration is not None and duration.sure:
        lasted = _converted("duration_s", duration.source, look)
        unit = _nearest(_ratio(lasted, run), {name: 1 / per_s for name, per_s in EPOCHS})
        if unit:
            return unit, True, "end - start agrees with the duration"
    moments = np.concatenate([look.numbers(result[field].source.column, values.TIME).number for field in offsets])
    moments = moments[np.isfinite(moments) & (moments < NO_MOMENT)]
    serial = (moments > SERIAL[0]) & (moments < SERIAL[1])
    if serial.any() and serial.all() and float((moments != np.round(moments)).mean()) > LEAST_READ:
        return "s", False, SERIAL_DAYS
    if _are_dates(moments):
        return "s", False, DATES_ALONE
    span = float(moments.max()) if moments.size else 0.0
    known = run[np.isfinite(run)] if run is not None else np.zeros(0)
    median = float(np.median(known)) if known.size else 0.0
    if span <= SHORT_SPAN_S:
        return "s", median <= 2 * DAY_S, "counted from the trace's start"
    fitting = [unit for unit, per_s in EPOCHS[:3] if OFFSET_S[0] <= span / per_s <= OFFSET_S[1]]
    return (fitting[0] if fitting else "s"), len(fitting) == 1, "the only unit in which the trace lasts a usual time"


SERIAL = 36_526.0, 55_153.0
"""Days since 1900 from 2000 to 2050, as spreadsheets count them."""
SERIAL_DAYS = "days since 1900 of a spreadsheet? write them as 2026-01-31 10:00:00"

DATES_ALONE = "dates without separators, such as 20260131? write them as 2026-01-31 10:00:00"


def _are_dates(moments: Floats) -> bool:
    """Tell whether all numbers are dates written without separators: 20260131, 202601311000, 20260131100000."""
    date = np.select([moments >= 1e13, moments >= 1e11], [moments // 1e6, moments // 1e4], moments)
    year, month, day = date // 10_000, date // 100 % 100, date % 100
    of_today = (year >= 1990) & (year <= 2051) & (month >= 1) & (month <= values.MONTHS) & (day >= 1) & (day <= 31)
    return bool(of_today.size) and bool(of_today.all())


NO_MOMENT = 9e18
"""What a 64-bit number means by 'never'."""


def _limit(limit: Guess, known: Guess, look: Look) -> Guess:
    """The first unit in which time limits hold for nearly all runs."""
    limits = look.numbers(limit.source.column, "s")
    lasted = _converted("duration_s", known.source, look)
    both = np.isfinite(limits.number) & np.isfinite(lasted) & (limits.number > 0)
    for unit in ("s", "min", "h"):
        if both.any() and float((limits.number[both] * factor(unit) >= 0.98 * lasted[both]).mean()) >= 0.95:
            return Guess(replace(limit.source, unit=unit), True, "no run is longer than its limit")
    return limit
