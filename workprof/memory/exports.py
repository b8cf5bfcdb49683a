"""Sizes as a text for other programs: a table, JSON, Nextflow, Kubernetes patches, Slurm.

Every text names the dataset, the settings and the risk, and no name from a trace can leave its quotes.
"""

import csv
import io
import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from workprof.core.fields import differences, write
from workprof.core.records import digest, to_json
from workprof.core.scope import of_dataset
from workprof.core.text import spreadsheet_text
from workprof.core.units import GB, MIB
from workprof.memory.size_lists import MOST_RETRIES, UNCHANGED, ListedSize, NamedSize, NeverRun, SizeList

MOST_CHARACTERS = 200
MOST_OF_A_NOTE = 1_000


@dataclass(frozen=True)
class Origin:
    """Where a plan comes from."""

    dataset: str
    dataset_hash: str  # of its content
    version: str  # of workprof
    note: str = ""  # what is to be known of the dataset's numbers; '' = nothing


def one_line(text: str, most: int = MOST_CHARACTERS) -> str:
    """A text that cannot leave a comment line: control characters and other line ends become spaces.

    Backslashes become slashes: some readers of Groovy turn the code of a line end into one even there.
    """
    shown = "".join(character if character.isprintable() else " " for character in text.replace("\\", "/"))
    return shown if len(shown) <= most else shown[: most - 3] + "..."


def scope_lines(origin: Origin) -> tuple[str, ...]:
    """What the dataset was narrowed to in words, if it was."""
    words = of_dataset(origin.dataset_hash).words
    return (one_line(f"Only runs of {words} were judged.", MOST_OF_A_NOTE),) if words else ()


def never_line(never: NeverRun) -> str:
    """How many runs a cap rules out, in words; '' where it rules out none."""
    if not never.n_runs:
        return ""
    return (
        f"{never.n_runs} of {never.n_all} runs use more than the cap of {never.cap_gb:g} GB and can never run: "
        f"{never.used_gb_h:.4g} GB h of {len(never.tasks)} task(s), the largest {never.largest_gb:.4g} GB "
        f"({one_line(never.worst_task)})"
    )


def list_settings_line(listing: SizeList) -> str:
    """The settings of sizes in words: what differs from the defaults."""
    usual = type(listing.settings)()
    words = [f"{leaf.path} {write(leaf, value)}" for leaf, value in differences(usual, listing.settings).items()]
    if listing.cap_bytes is not None and not any(word.startswith("retry.cap") for word in words):
        words.append(f"cap {listing.cap_bytes / GB:g} GB")
    return one_line(", ".join([listing.source, *words]), MOST_OF_A_NOTE)


def odds_line(one: ListedSize | NamedSize) -> str:
    """The odds of a retry in words, with their interval."""
    if isinstance(one, ListedSize) and one.rule == UNCHANGED:
        return f"no advice, the request stays: {one_line(one.sized_from)}"
    if not one.n_tested:
        return "retry probability unknown: no run could be tested"
    text = (
        f"retry probability {one.kill_probability:.1%} (95 % interval {one.kill_low:.1%} to {one.kill_high:.1%}, "
        f"{one.n_killed} of {one.n_tested} tested runs)"
    )
    if isinstance(one, ListedSize) and one.too_few:
        text += f"; only {one.n} runs, too few to rely on"
    return text


def _evidence(one: ListedSize) -> str:
    """The odds of a retry, and what the size rests on."""
    if one.rule == UNCHANGED:
        return odds_line(one)
    return f"{odds_line(one)}; from {one_line(one.sized_from).removeprefix('from ')}"


def header_lines(origin: Origin, listing: SizeList) -> tuple[str, ...]:
    """The lines at the top of an export, without a comment sign; first what can never run."""
    never = never_line(listing.never)
    return (
        *((never,) if never else ()),
        f"Memory advised by workprof {one_line(origin.version)}",
        f"Dataset: {one_line(origin.dataset)} ({one_line(origin.dataset_hash)})",
        *scope_lines(origin),
        *((one_line(origin.note, MOST_OF_A_NOTE),) if origin.note else ()),
        f"Settings: {list_settings_line(listing)}",
        f"Risk: {listing.tested}",
        *(one_line(note, MOST_OF_A_NOTE) for note in listing.notes),
    )


def mebibytes(size_bytes: float, cap_bytes: float | None = None) -> int:
    """Whole MiB that hold a size, as far as a cap allows."""
    return int(min(-(-size_bytes // MIB), math.inf if cap_bytes is None else cap_bytes // MIB))


def gigabytes(size_bytes: float) -> float:
    """GB (1e9 bytes)."""
    return size_bytes / GB


COLUMNS = (
    "task",
    "runs",
    "size_gb",
    "size_mib",
    "requested_gb",
    "largest_gb",
    "rule",
    "retry_odds",
    "retry_odds_low",
    "retry_odds_high",
    "tested_runs",
    "failed_runs",
    "too_few_runs",
    "never_run",
    "dataset",
    "dataset_hash",
    "settings",
    "size_name",
    "next_gb",
    "sized_from",
)


def sizes_csv(listing: SizeList, origin: Origin) -> str:
    """Sizes as CSV: a header row, a row per named size (without a task), a row per task.

    A text that a spreadsheet would run as a formula gets an apostrophe in front.
    """
    target = io.StringIO()
    writer = csv.DictWriter(target, COLUMNS, restval="", lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writeheader()
    about = {
        "dataset": origin.dataset,
        "dataset_hash": origin.dataset_hash,
        "settings": "; ".join(filter(None, (list_settings_line(listing), origin.note))),
    }
    never = {one.task: one.n_runs for one in listing.never.tasks}
    for size in listing.named:
        values = _values(size, listing.cap_bytes) | {"runs": size.n_runs, "size_name": size.name}
        writer.writerow({name: _cell(value) for name, value in (values | about).items()})
    for one in listing.sizes:
        values = _values(one, listing.cap_bytes) | {
            "task": one.task,
            "runs": one.n,
            "requested_gb": round(gigabytes(one.requested_bytes), 6),
            "largest_gb": round(gigabytes(one.largest_bytes), 6),
            "rule": one.rule,
            "too_few_runs": "yes" if one.too_few else "no",
            "never_run": never.get(one.task, 0),
            "size_name": one.size_name,
            "next_gb": " ".join(f"{gigabytes(size):.6f}" for size in one.next_bytes),
            "sized_from": one.sized_from,
        }
        writer.writerow({name: _cell(value) for name, value in (values | about).items()})
    return target.getvalue()


def sizes_json(listing: SizeList, origin: Origin) -> str:
    """Sizes as JSON: `about`, `dataset`, `source`, `settings`, `sizes` (named), `tasks`, `never`, `left_out`."""
    return _json_text(_document_of(listing, origin))


def _document_of(listing: SizeList, origin: Origin) -> dict[str, Any]:
    never = {one.task: one.n_runs for one in listing.never.tasks}
    return {
        "about": list(header_lines(origin, listing)),
        "dataset": {"name": origin.dataset, "hash": origin.dataset_hash},
        "workprof": origin.version,
        "source": listing.source,
        "settings": to_json(listing.settings),
        "sizes": [to_json(size) | {"size_gb": gigabytes(size.size_bytes)} for size in listing.named],
        "tasks": [
            to_json(one)
            | {
                "size_gb": gigabytes(one.size_bytes),
                "next_gb": [gigabytes(size) for size in one.next_bytes],
                "never_run": never.get(one.task, 0),
                "risk": {
                    "n_tested": one.n_tested,
                    "n_failed": one.n_killed,
                    "odds": to_json(one.kill_probability),
                    "low": one.kill_low,
                    "high": one.kill_high,
                    "n_above_in_history": one.n_above,
                },
            }
            for one in listing.sizes
        ],
        "never": to_json(listing.never),
        "left_out": to_json(dict(listing.left_out)),
        "notes": list(listing.notes),
    }


def _json_text(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def _values(one: ListedSize | NamedSize, cap_bytes: float | None) -> dict[str, object]:
    return {
        "size_gb": round(gigabytes(one.size_bytes), 6),
        "size_mib": mebibytes(one.size_bytes, cap_bytes),
        "retry_odds": round(one.kill_probability, 6),
        "retry_odds_low": round(one.kill_low, 6),
        "retry_odds_high": round(one.kill_high, 6),
        "tested_runs": one.n_tested,
        "failed_runs": one.n_killed,
    }


def _cell(value: object) -> object:
    if isinstance(value, float) and value != value:  # noqa: PLR0124  NaN: nothing is known
        return ""
    return spreadsheet_text(value) if isinstance(value, str) else value


KILLED = "[137, 140]"
"""Exit codes of a process that was killed for its memory (128 + SIGKILL) or by its scheduler's limit."""

_PATTERN_SIGN = re.compile(r"[.^$*+?{}\[\]|()!&~-]")


def sizes_nextflow(listing: SizeList, origin: Origin) -> str:
    """Sizes as the text of a configuration file, to be used with `-c FILE`; named sizes as labels.

    Nextflow reads a selector as a pattern, so signs of patterns in a task's name are escaped. Its MB are MiB.
    """
    comments = [f"// {line}" for line in header_lines(origin, listing)]
    retry = (
        "// A killed attempt comes back with the next size listed. Where your pipeline has no rule for failures yet:",
        f"//   errorStrategy = {{ task.exitStatus in {KILLED} ? 'retry' : 'finish' }}",
        f"//   maxRetries = {MOST_RETRIES}",
    )
    body: list[str] = []
    limits = [one.size_bytes for one in listing.named]
    for at, size in enumerate(listing.named):
        memory = _nextflow_sizes(size.size_bytes, tuple(limits[at + 1 :]), listing)
        body += _selector(f"size {size.name}: {odds_line(size)}", f"withLabel: 'size_{size.name}'", memory)
    for one in listing.sizes:
        named = f"size {one.size_name}, " if one.size_name else ""
        about = f"{one_line(one.task)}: {named}{_evidence(one)}"
        memory = _nextflow_sizes(one.size_bytes, one.next_bytes, listing)
        body += _selector(about, f"withName: {groovy_text(literal_pattern(one.task))}", memory)
    return "\n".join([*comments, *retry, "process {", *body, "}", ""])


def _nextflow_sizes(first: float, later: tuple[float, ...], listing: SizeList) -> str:
    """The sizes of all attempts as Groovy."""
    cap = listing.cap_bytes
    sizes = ", ".join(f"{mebibytes(size, cap)}.MB" for size in (first, *later))
    return f"[{sizes}][Math.min(task.attempt, {1 + len(later)}) - 1]" if later else sizes


def _selector(comment: str, selector: str, memory: str) -> tuple[str, ...]:
    return (f"    // {comment}", f"    {selector} {{", f"        memory = {{ {memory} }}", "    }")


def literal_pattern(name: str) -> str:
    """A pattern that only a task of that name matches; a backslash and pattern signs are escaped."""
    return _PATTERN_SIGN.sub(r"\\\g<0>", name.replace("\\", "\\\\"))


def groovy_text(text: str) -> str:
    """A Groovy text in single quotes: nothing is interpolated; every unusual character is written as a code."""
    return "'" + "".join(_groovy_character(character) for character in text) + "'"


_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _groovy_character(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if " " <= character <= "~":
        return character
    code = ord(character)
    if code > 0xFFFF:  # Groovy's \\u takes four digits: two halves make one character
        high, low = divmod(code - 0x10000, 0x400)
        return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
    return f"\\u{code:04x}"


MOST_NAME = 63
_NOT_ALLOWED = re.compile(r"[^a-z0-9]+")
_DIGEST_BYTES = 4


def sizes_kubernetes(listing: SizeList, origin: Origin, kind: str = "Deployment", api_version: str = "apps/v1") -> str:
    """Sizes as YAML documents: one per task, and before them a ConfigMap of the named sizes.

    `kind` is of the patched objects, such as Deployment, StatefulSet or Job.
    """
    comments = [f"# {line}" for line in header_lines(origin, listing)]
    comments.append(f"# The kind {one_line(kind)} and the names are to be adapted to your objects.")
    names = object_names(tuple(one.task for one in listing.sizes))
    shared = _Shared(kind, api_version, f"{origin.dataset} ({origin.dataset_hash})", listing)
    documents = [_document(one, name, shared) for one, name in zip(listing.sizes, names, strict=True)]
    return "\n".join(comments) + "\n" + _config_map(listing) + "".join(documents)


@dataclass(frozen=True)
class _Shared:
    """What all documents of an export say alike."""

    kind: str
    api_version: str
    dataset: str
    listing: SizeList


def _config_map(listing: SizeList) -> str:
    if not listing.named:
        return ""
    return "\n".join(
        [
            "---",
            'apiVersion: "v1"',
            'kind: "ConfigMap"',
            "metadata:",
            '  name: "workprof-memory-sizes"',
            "  annotations:",
            *(f"    {yaml_text(f'workprof/{one.name}')}: {yaml_text(odds_line(one))}" for one in listing.named),
            "data:",
            *(f"  {yaml_text(one.name)}: {yaml_text(_mi(one.size_bytes, listing))}" for one in listing.named),
            "",
        ]
    )


def _mi(size_bytes: float, listing: SizeList) -> str:
    return f"{mebibytes(size_bytes, listing.cap_bytes)}Mi"


def object_names(tasks: tuple[str, ...]) -> tuple[str, ...]:
    """Names by RFC 1123 (a-z, 0-9, '-', at most 63); a digest tells apart tasks that would share one."""
    plain = [_NOT_ALLOWED.sub("-", task.lower()).strip("-") for task in tasks]
    names = []
    for task, name in zip(tasks, plain, strict=True):
        if name and len(name) <= MOST_NAME and plain.count(name) == 1:
            names.append(name)
        else:
            ending = digest(task, size=_DIGEST_BYTES)
            start = name[: MOST_NAME - len(ending) - 1].strip("-") or "task"
            names.append(f"{start}-{ending}")
    return tuple(names)


def _document(one: ListedSize, name: str, shared: _Shared) -> str:
    size = _mi(one.size_bytes, shared.listing)
    annotations = {
        "workprof/task": one.task,
        "workprof/dataset": shared.dataset,
        "workprof/settings": list_settings_line(shared.listing),
        "workprof/risk": odds_line(one),
        "workprof/evidence": one.sized_from,
        "workprof/after-a-kill": ", ".join(_mi(after, shared.listing) for after in one.next_bytes),
        **({"workprof/size": one.size_name} if one.size_name else {}),
    }
    return "\n".join(
        [
            "---",
            f"apiVersion: {yaml_text(shared.api_version)}",
            f"kind: {yaml_text(shared.kind)}",
            "metadata:",
            f"  name: {yaml_text(name)}",
            "  annotations:",
            *(f"    {key}: {yaml_text(value)}" for key, value in annotations.items()),
            "spec:",
            "  template:",
            "    spec:",
            "      containers:",
            f"        - name: {yaml_text(name)}",
            "          resources:",
            "            requests:",
            f"              memory: {yaml_text(size)}",
            "            limits:",
            f"              memory: {yaml_text(size)}",
            "",
        ]
    )


def sizes_slurm(listing: SizeList, origin: Origin) -> str:
    """Sizes as a `job_submit.lua`: a job of a listed name gets the memory of its task per node, in MiB.

    No size is above the limit of a job's partitions: Slurm would refuse the job.
    """
    lines = [f"-- {line}" for line in header_lines(origin, listing)]
    lines += [
        "-- Beside slurm.conf, with JobSubmitPlugins=lua. `mb` is requested at submission; `next_mb` are the sizes to",
        "-- submit again with after OUT_OF_MEMORY, in this order. A job that is not of `scope` is not touched.",
        "local sizes = {",
    ]
    for one in listing.sizes:
        named = f", size = {lua_text(one.size_name)}" if one.size_name else ""
        later = ", ".join(str(mebibytes(size, listing.cap_bytes)) for size in one.next_bytes)
        lines += [
            f"  -- {one_line(one.task)}: {_evidence(one)}",
            f"  [{lua_text(one.task)}] = {{ mb = {mebibytes(one.size_bytes, listing.cap_bytes)}, "
            f"next_mb = {{ {later} }}{named} }},",
        ]
    lines += ["}", "", *lua_scope(origin), "", *LUA_MOST_OF, "", *_LUA_FUNCTIONS]
    return "\n".join([*lines, ""])


_LUA_FUNCTIONS = (
    "function slurm_job_submit(job_desc, part_list, submit_uid)",
    "  local found = job_desc.name ~= nil and sizes[job_desc.name]",
    "  if found and in_scope(job_desc) then",
    '    job_desc.min_mem_per_node = math.min(found.mb, most_of(job_desc, part_list, "max_mem_per_node"))',
    "  end",
    "  return slurm.SUCCESS",
    "end",
    "",
    "function slurm_job_modify(job_desc, job_rec, part_list, modify_uid)",
    "  return slurm.SUCCESS",
    "end",
    "",
    "return slurm.SUCCESS",
)


LUA_MOST_OF = """\
-- the least limit of a job's partitions, or of the default one where it names none; 0 and NO_VAL are no limit
local function most_of(job, part_list, field)
  local most = math.huge
  for name, part in pairs(part_list or {}) do
    local own = part.flag_default == 1
    if job.partition ~= nil then
      own = ("," .. job.partition .. ","):find("," .. name .. ",", 1, true) ~= nil
    end
    local limit = own and part[field]
    if limit and limit > 0 and limit < slurm.NO_VAL then
      most = math.min(most, limit)
    end
  end
  return most
end""".splitlines()
"""The Lua of what a job's partitions allow."""


JOB_FIELDS = {"user": "user_name", "task_name": "name", "group": "account", "workload": "partition"}
"""Column -> the field of a job of Slurm that holds it."""


def lua_scope(origin: Origin) -> tuple[str, ...]:
    """The Lua that tells whether a job is of the scope that was judged; without a value a job has ''."""
    listed = [
        f"  {JOB_FIELDS[name]} = {{ {', '.join(f'[{lua_text(value)}] = true' for value in values)} }},"
        for name, values in of_dataset(origin.dataset_hash).of
        if name in JOB_FIELDS
    ]
    return (
        "local scope = {",
        *listed,
        "}",
        "",
        "local function in_scope(job)",
        "  for column, values in pairs(scope) do",
        '    if not values[job[column] or ""] then',
        "      return false",
        "    end",
        "  end",
        "  return true",
        "end",
    )


def lua_text(text: str) -> str:
    """A Lua text in double quotes, every unusual byte of its UTF-8 as a code of three digits."""
    return '"' + "".join(_lua_byte(byte) for byte in text.encode("utf-8", "replace")) + '"'


def _lua_byte(byte: int) -> str:
    return chr(byte) if 0x20 <= byte <= 0x7E and byte not in (0x22, 0x5C) else f"\\{byte:03d}"


def sizes_slurm_partitions(listing: SizeList, origin: Origin) -> str:
    """Sizes as lines of `slurm.conf`: a partition per named size, else per size that a task has."""
    comments = [f"# {line}" for line in header_lines(origin, listing)]
    comments += [
        "# A partition per size; set Nodes to yours. MaxMemPerNode and DefMemPerNode are MiB. After OUT_OF_MEMORY",
        "# submit again to the next larger partition.",
    ]
    cap = listing.cap_bytes
    tasks: dict[str, list[str]] = {}
    about = {f"workprof_{one.name}": odds_line(one) for one in listing.named}
    limits = {f"workprof_{one.name}": mebibytes(one.size_bytes, cap) for one in listing.named}
    for one in sorted(listing.sizes, key=lambda one: one.size_bytes):
        partition = f"workprof_{one.size_name or mebibytes(one.size_bytes, cap)}"
        limits.setdefault(partition, mebibytes(one.size_bytes, cap))
        tasks.setdefault(partition, []).append(f"#   {one_line(one.task)}: {_evidence(one)}")
    lines = []
    for partition, limit in limits.items():
        lines += [f"# {about[partition]}"] if partition in about else []
        lines += tasks.get(partition, [])
        lines.append(f"PartitionName={partition} Nodes=ALL DefMemPerNode={limit} MaxMemPerNode={limit}")
    return "\n".join([*comments, *lines, ""])


EXPORTS: dict[str, Callable[[SizeList, Origin], str]] = {
    "csv": sizes_csv,
    "json": sizes_json,
    "nextflow": sizes_nextflow,
    "kubernetes": sizes_kubernetes,
    "slurm": sizes_slurm,
    "slurm-partitions": sizes_slurm_partitions,
}
"""Format -> what writes it."""


def exported(to: str, listing: SizeList, origin: Origin) -> bytes:
    """Sizes in a format, as the command and the page's buttons write them."""
    return EXPORTS[to](listing, origin).encode()


def yaml_text(text: str) -> str:
    """A YAML text in double quotes, every unusual character as a code."""
    return '"' + "".join(_yaml_character(character) for character in text) + '"'


def _yaml_character(character: str) -> str:
    if character in '\\"':
        return "\\" + character
    if " " <= character <= "~":
        return character
    if "\ud800" <= character <= "\udfff":  # half a character alone, which no YAML reader takes
        return "\\ufffd"
    return f"\\U{ord(character):08x}"
