"""The rows of a verdict as texts for other programs: CSV, JSON, Nextflow, Kubernetes, Slurm.

Only rows that lower or raise change anything; CSV and JSON list what is kept, too. Rows that were declined, or are
never touched, are in none of them.
"""

import csv
import io
import itertools
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from workprof.answers.decisions import note_words, state_words, who_words
from workprof.answers.verdict import key_words, notes, rate_words, sentence, why
from workprof.core.errors import SettingsError
from workprof.core.fields import differences, write
from workprof.core.records import to_json
from workprof.core.text import spreadsheet_text
from workprof.core.units import GB, MIB, number, parse_size
from workprof.core.words import counted, label
from workprof.memory.exports import (
    JOB_FIELDS,
    KILLED,
    LUA_MOST_OF,
    MOST_OF_A_NOTE,
    Origin,
    groovy_text,
    literal_pattern,
    lua_scope,
    lua_text,
    mebibytes,
    object_names,
    one_line,
    scope_lines,
    yaml_text,
)
from workprof.memory.resources import COARSE, CPU, GPU, KEY_COLUMNS, MEMORY, OWNER_KIND, PER_CPU, TIME
from workprof.memory.verdict import ResourceVerdict, Verdict
from workprof.memory.verdict_rows import KEEP, LOWER, RAISE, VerdictRow
from workprof.memory.verdict_sizes import REQUEST


def exported(to: str, verdict: Verdict, origin: Origin) -> bytes:
    """Return the rows in a format, as command, page and library write them.

    Raises SettingsError where the format names something that the rows have not.
    """
    return EXPORTS[to](verdict, origin).encode()


def header_lines(verdict: Verdict, origin: Origin) -> tuple[str, ...]:
    """Return the lines at the top of an export, without a comment sign."""
    return (
        one_line(sentence(verdict), MOST_OF_A_NOTE),
        f"Requests advised by workprof {one_line(origin.version)}",
        f"Dataset: {one_line(origin.dataset)} ({one_line(origin.dataset_hash)})",
        *scope_lines(origin),
        *((one_line(origin.note, MOST_OF_A_NOTE),) if origin.note else ()),
        f"Settings: {settings_line(verdict)}",
        *(one_line(note, MOST_OF_A_NOTE) for note in notes(verdict)),
    )


def settings_line(verdict: Verdict) -> str:
    """Return the settings that differ from the defaults, in words."""
    changed = differences(type(verdict.settings)(), verdict.settings).items()
    words = ", ".join(f"{leaf.path} {write(leaf, value)}" for leaf, value in changed)
    return one_line(words or "defaults", MOST_OF_A_NOTE)


def listed_rows(one: ResourceVerdict) -> tuple[VerdictRow, ...]:
    """Return the rows of a resource that CSV and JSON list: those that name a key and are not left out."""
    return tuple(row for row in one.rows if row.by and row.would is None)


def rows_in(verdict: Verdict, resource: str) -> tuple[VerdictRow, ...]:
    """Return the rows of a resource that name a key; none where the trace has not the resource.

    Those that are left out keep their requests: what shares a size with them holds these.
    """
    found = next((one for one in verdict.resources if one.resource == resource), None)
    return () if found is None else tuple(row for row in found.rows if row.by)


def n_rows(verdict: Verdict) -> int:
    """Return the rows of all resources that are listed."""
    return sum(len(listed_rows(one)) for one in verdict.resources)


def n_left_out(verdict: Verdict) -> int:
    """Return the rows of all resources that are left out by decision."""
    return sum(row.would is not None for one in verdict.resources for row in one.rows)


def in_bytes(gigabytes: float) -> int:
    """Return whole bytes of GB (1e9 bytes)."""
    return round(gigabytes * GB)


def risk(row: VerdictRow, resource: str) -> str:
    """Return the kills of the next 1,000 runs in words; of CPU and GPU, for how many it is too small."""
    if resource in (CPU, GPU):
        return f"too small for {rate_words(row)} of the next 1,000 runs"
    return f"{rate_words(row)} kills in the next 1,000 runs"


def evidence(row: VerdictRow, one: ResourceVerdict) -> str:
    """Return why a row says what it says, and its risk, on one line."""
    text = one_line(why(row, one.resource, one.unit), MOST_OF_A_NOTE)
    accepted = f"; {who_words(row.decision)}" if row.accepted and row.decision is not None else ""
    return text if row.action == KEEP else one_line(f"{text}; {risk(row, one.resource)}{accepted}", MOST_OF_A_NOTE)


FIGURES = (
    *("per_request", "resource", "action", "request_bytes", "size_bytes", "retry_bytes", "request", "size", "retry"),
    *("unit", "runs", "saved", "kills_per_1000_low", "kills_per_1000_high", "why", "decision", "note", "dataset"),
    *("dataset_hash", "settings"),
)
"""Columns of the CSV file after those of the key; `per_request`: the row holds for runs of that request alone."""


def sizes_csv(verdict: Verdict, origin: Origin) -> str:
    """Return a header row and a row per key; a text that a spreadsheet would run gets an apostrophe in front."""
    keys = [name for name in KEY_COLUMNS if any(name in row.key for one in verdict.resources for row in one.rows)]
    target = io.StringIO()
    writer = csv.DictWriter(
        target, [*keys, *FIGURES], restval="", lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC, extrasaction="ignore"
    )
    writer.writeheader()
    about = {"dataset": origin.dataset, "dataset_hash": origin.dataset_hash, "settings": settings_line(verdict)}
    for one in verdict.resources:
        for row in listed_rows(one):
            told = row.key | _figures(row, one) | about
            writer.writerow({name: _cell(value) for name, value in told.items()})
    return target.getvalue()


def _figures(row: VerdictRow, one: ResourceVerdict) -> dict[str, Any]:
    result = {
        "per_request": "yes" if REQUEST in row.by else "no",
        "resource": one.resource,
        "action": row.action,
        "request": row.request,
        "size": row.size,
        "retry": list(row.retry),
        "unit": one.unit,
        "runs": row.n_runs,
        "saved": row.saved,
        "kills_per_1000_low": row.kills_per_1000.low,
        "kills_per_1000_high": row.kills_per_1000.high,
        "why": why(row, one.resource, one.unit),
        "decision": state_words(row),
        "note": note_words(row),
    }
    if one.resource != MEMORY:
        return result
    return result | {
        "request_bytes": in_bytes(row.request),
        "size_bytes": in_bytes(row.size),
        "retry_bytes": [in_bytes(size) for size in row.retry],
    }


def _cell(value: object) -> object:
    if isinstance(value, list):
        return " ".join(f"{one}" if isinstance(one, int) else f"{one:.9g}" for one in value)
    return spreadsheet_text(value) if isinstance(value, str) else value


def sizes_json(verdict: Verdict, origin: Origin) -> str:
    """Return `about`, `dataset`, `workprof`, `settings`, and `rows` as the CSV file has them."""
    document = {
        "about": list(header_lines(verdict, origin)),
        "dataset": {"name": origin.dataset, "hash": origin.dataset_hash},
        "workprof": origin.version,
        "settings": to_json(verdict.settings),
        "rows": [to_json(row.key | _figures(row, one)) for one in verdict.resources for row in listed_rows(one)],
    }
    return json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


@dataclass(frozen=True)
class Shared:
    """One size for all rows of what can hold one request alone: the largest of theirs."""

    size: float
    request: float  # the largest of them
    retry: tuple[float, ...]
    rows: tuple[VerdictRow, ...]

    @property
    def action(self) -> str:
        """Lower, keep or raise: beside the largest request."""
        return KEEP if self.size == self.request else LOWER if self.size < self.request else RAISE


def shared(rows: Iterable[VerdictRow]) -> Shared:
    """Return the size that no row of some is above; retries are the largest of theirs, rising."""
    rows = tuple(rows)
    attempts = [max(sizes) for sizes in zip(*((row.size, *row.retry) for row in rows), strict=False)]
    first, *later = itertools.accumulate(attempts, max)
    rising = tuple(size for before, size in itertools.pairwise((first, *later)) if size > before)
    return Shared(first, max(row.request for row in rows), rising, rows)


def by_name(rows: Iterable[VerdictRow], *names: str) -> dict[tuple[str, ...], list[VerdictRow]]:
    """Return rows by the values of some columns of their key; those that lack the last of them are left out."""
    result: dict[tuple[str, ...], list[VerdictRow]] = {}
    for row in rows:
        if names[-1] in row.key:
            result.setdefault(tuple(row.key.get(name, "") for name in names), []).append(row)
    return result


def _need(name: str, what: str, to: str, verdict: Verdict) -> None:
    if not any(name in row.key for one in verdict.resources for row in one.rows):
        held = [one for one in KEY_COLUMNS if any(one in row.key for row in verdict.memory.rows)]
        raise SettingsError(
            f"{to} names {what}, and these rows are by {', '.join(held) or 'request alone'}; take csv or json"
        )


def _not_named(verdict: Verdict, resources: tuple[str, ...], name: str = "") -> Iterator[str]:
    """Yield a line per changed row that has no value of a column, and one per resource that a format has not."""
    for one in verdict.resources:
        changed = [row for row in rows_in(verdict, one.resource) if row.action != KEEP]
        if one.resource in resources:
            for row in changed:
                if name and name not in row.key:
                    about = f"{row.action} {number(row.request)} to {number(row.size)} {one.unit}, {evidence(row, one)}"
                    known = f"a {label(name)}{f' ({key_words(row)})' if row.key else ''}"
                    yield one_line(f"Not in this file, without {known}: {about}.", MOST_OF_A_NOTE)
        elif changed:
            yield f"Not in this file: {counted(len(changed), 'row')} of {label(one.resource)}. CSV and JSON have them."


def _one_size(groups: Iterable[list[VerdictRow]], of: str) -> Iterator[str]:
    """Yield a line where a row gets more than its size, as what it is of has one size for several rows."""
    n = 0
    for rows in groups:
        found = shared(rows)
        n += sum(row.size < found.size and (row.action, found.action) != (KEEP, KEEP) for row in rows)
    if n:
        yield (
            f"Larger sizes than their own for {counted(n, 'row')}: a {of} has one size, the largest of its rows. "
            "So this file saves less than is said above; CSV and JSON have each row."
        )


def sizes_nextflow(verdict: Verdict, origin: Origin) -> str:
    """Return a configuration file, to be used with `-c FILE`: a selector per process whose request changes.

    A process has one size: the largest of its rows. Nextflow reads a selector as a pattern, so signs of patterns in a
    name are escaped. Its MB are MiB.
    """
    _need("task_name", "processes", "nextflow", verdict)
    of = {one.resource: by_name(rows_in(verdict, one.resource), "task_name") for one in verdict.resources}
    body: list[str] = []
    kept = 0
    for process in dict.fromkeys(itertools.chain.from_iterable(of.values())):
        lines = []
        for one in verdict.resources:
            rows = of[one.resource].get(process, [])
            found = shared(rows) if rows else None
            if found is not None and found.action != KEEP:
                lines += [f"        // {evidence(row, one)}" for row in rows if row.action != KEEP]
                lines.append(f"        {_DIRECTIVES[one.resource](found)}")
        kept += not lines
        if lines:
            selector = f"    withName: {groovy_text(literal_pattern(process[0]))} {{"
            body += [f"    // {one_line(process[0])}", selector, *lines, "    }"]
    return "\n".join(
        [
            *(f"// {line}" for line in header_lines(verdict, origin)),
            f"// {kept} other process(es) keep their requests.",
            *(f"// {line}" for line in _one_size((rows for one in of.values() for rows in one.values()), "process")),
            *(f"// {line}" for line in _not_named(verdict, tuple(_DIRECTIVES), "task_name")),
            "// A killed attempt comes back with the next size. Where your pipeline has no rule for failures yet:",
            f"//   errorStrategy = {{ task.exitStatus in {KILLED} ? 'retry' : 'finish' }}",
            "//   maxRetries = 2",
            "process {",
            *body,
            "}",
            "",
        ]
    )


def _by_attempt(sizes: Iterable[str]) -> str:
    told = list(sizes)
    return f"[{', '.join(told)}][Math.min(task.attempt, {len(told)}) - 1]" if len(told) > 1 else told[0]


_DIRECTIVES: dict[str, Callable[[Shared], str]] = {
    MEMORY: lambda one: (
        f"memory = {{ {_by_attempt(f'{mebibytes(in_bytes(size))}.MB' for size in (one.size, *one.retry))} }}"
    ),
    CPU: lambda one: f"cpus = {_whole(one.size)}",
    GPU: lambda one: f"accelerator = {_whole(one.size)}",
    TIME: lambda one: f"time = {{ {_by_attempt(f'{_whole(60 * size)}.min' for size in (one.size, *one.retry))} }}",
}
"""Resource -> its directive of Nextflow."""


def _whole(amount: float) -> int:
    """Return the whole number that holds an amount, but for what rounding adds."""
    return max(1, math.ceil(amount - 1e-9))


TEMPLATES = {
    "Deployment": ("apps/v1", ("spec", "template", "spec")),
    "StatefulSet": ("apps/v1", ("spec", "template", "spec")),
    "DaemonSet": ("apps/v1", ("spec", "template", "spec")),
    "ReplicaSet": ("apps/v1", ("spec", "template", "spec")),
    "Job": ("batch/v1", ("spec", "template", "spec")),
    "CronJob": ("batch/v1", ("spec", "jobTemplate", "spec", "template", "spec")),
    "Rollout": ("argoproj.io/v1alpha1", ("spec", "template", "spec")),
    "Pod": ("v1", ("spec",)),
}
"""Kind -> the version of its API, and where it holds its containers."""
USUAL_KIND = "Deployment"
INIT = "init_container"
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")


def sizes_kubernetes(verdict: Verdict, origin: Origin) -> str:
    """Return a patch per workload that changes, as YAML documents, with all its containers; limits are the requests."""
    rows = [*rows_in(verdict, MEMORY), *rows_in(verdict, CPU)]
    names = _OF_WORKLOAD if any("workload" in row.key for row in rows) else ("task_name",)
    _need(names[-1], "containers", "kubernetes", verdict)
    memory, cpu = (by_name(rows_in(verdict, name), *names) for name in (MEMORY, CPU))
    documents: list[str] = []
    kept: list[str] = []
    groups: list[list[VerdictRow]] = []
    places = tuple(dict.fromkeys((*memory, *cpu)))
    for place, made in zip(places, object_names(tuple(place[-1] for place in places)), strict=True):
        found = _Workload(place, made, memory.get(place, []), cpu.get(place, []))
        groups += [list(one.rows) for held in (found.memory, found.cpu) for one in held.values()]
        if not found.changes:
            kept.append(found.name)
        elif found.kind and found.kind not in TEMPLATES:
            sizes = "; ".join(
                f"{container[1]} {', '.join(found.sizes(container).values())}"
                for container in found.containers
                if found.sizes(container)
            )
            documents.append(f"# {one_line(f'{found.kind} {found.name}: no patch of this kind; {sizes}', 1_000)}\n")
        else:
            documents.append("\n".join(["---", *found.lines(verdict, origin), ""]))
    comments = [f"# {line}" for line in header_lines(verdict, origin)]
    comments.append(f"# {len(kept)} other workload(s) keep their requests.")
    comments += [f"# {line}" for line in _one_size(groups, "container")]
    comments += [f"# {line}" for line in _not_named(verdict, (MEMORY, CPU), names[-1])]
    if any(row.action != KEEP and OWNER_KIND not in row.told and names[-1] in row.key for row in rows):
        comments.append(f"# Where the trace does not say what made a pod, the kind is {USUAL_KIND}: set it to yours.")
    return "\n".join(comments) + "\n" + "".join(documents)


_OF_WORKLOAD = ("cluster", "namespace", "workload")


class _Workload:
    """The rows of one workload of Kubernetes; `made` is its name where an object may not have its own."""

    def __init__(self, place: tuple[str, ...], made: str, memory: list[VerdictRow], cpu: list[VerdictRow]) -> None:
        self._made = made
        self.cluster, self.namespace, self.name = place if len(place) == 3 else ("", "", place[0])
        self.kind = next((row.told[OWNER_KIND] for row in (*memory, *cpu) if OWNER_KIND in row.told), "")
        self.memory, self.cpu = self._by_container(memory), self._by_container(cpu)
        self.containers = tuple(dict.fromkeys((*self.memory, *self.cpu)))

    def _by_container(self, rows: list[VerdictRow]) -> dict[tuple[bool, str], Shared]:
        grouped: dict[tuple[bool, str], list[VerdictRow]] = {}
        for row in rows:
            name = row.key.get("container") or self._container
            grouped.setdefault((INIT in row.told, name), []).append(row)
        return {container: shared(own) for container, own in grouped.items()}

    @property
    def object_name(self) -> str:
        """Its name where an object may have it, else one made of it."""
        return self.name if _NAME.fullmatch(self.name) else self._made

    @property
    def _container(self) -> str:
        """The name of its container where that is not known: without points, as those of objects may have."""
        return self.name if object_names((self.name,)) == (self.name,) else self._made

    @property
    def changes(self) -> bool:
        """Whether any request does."""
        return any(map(self.sizes, self.containers))

    def sizes(self, container: tuple[bool, str]) -> dict[str, str]:
        """Return resource -> what a container requests from now on, where that changes."""
        memory, cpu = self.memory.get(container), self.cpu.get(container)
        return {
            **({MEMORY: _mi(memory.size)} if memory is not None and memory.action != KEEP else {}),
            **({CPU: f"{_whole(1000 * cpu.size)}m"} if cpu is not None and cpu.action != KEEP else {}),
        }

    def lines(self, verdict: Verdict, origin: Origin) -> Iterator[str]:
        """Yield its YAML."""
        version, path = TEMPLATES[self.kind or USUAL_KIND]
        notes_of = {
            "workprof/dataset": f"{origin.dataset} ({origin.dataset_hash})",
            **({"workprof/cluster": self.cluster} if self.cluster else {}),
            **({"workprof/workload": self.name} if self.name != self.object_name else {}),
        }
        of = {one.resource: one for one in verdict.resources}
        for container in self.containers:
            why_changed = [
                evidence(row, of[resource])
                for resource, held in ((MEMORY, self.memory), (CPU, self.cpu))
                if container in held
                for row in held[container].rows
                if row.action != KEEP
            ]
            if why_changed:
                notes_of[_about("why", container[1])] = "; ".join(why_changed)
            if MEMORY in self.sizes(container):
                retry = ", ".join(_mi(size) for size in self.memory[container].retry)
                notes_of[_about("after-a-kill", container[1])] = retry
        yield f"apiVersion: {yaml_text(version)}"
        yield f"kind: {yaml_text(self.kind or USUAL_KIND)}"
        yield "metadata:"
        yield f"  name: {yaml_text(self.object_name)}"
        if self.namespace:
            yield f"  namespace: {yaml_text(self.namespace)}"
        yield "  annotations:"
        yield from (f"    {yaml_text(key)}: {yaml_text(value)}" for key, value in notes_of.items())
        for depth, name in enumerate(path):
            yield f"{'  ' * depth}{name}:"
        indent = "  " * len(path)
        for of_init, word in ((True, "initContainers"), (False, "containers")):
            own = [name for init, name in self.containers if init == of_init]
            if own:
                yield f"{indent}{word}:"
            for name in own:
                yield f"{indent}  - name: {yaml_text(name)}"
                yield from (f"{indent}    {line}" for line in self._resources((of_init, name)))

    def _resources(self, container: tuple[bool, str]) -> Iterator[str]:
        requests = self.sizes(container)
        limits = {name: size for name, size in requests.items() if name == MEMORY}
        for word, told in (("requests", requests), ("limits", limits)):
            if told:
                yield from (["resources:"] if word == "requests" else [])
                yield f"  {word}:"
                yield from (f"    {name}: {yaml_text(size)}" for name, size in told.items())


def _about(word: str, container: str) -> str:
    """Return the name of an annotation about a container: Kubernetes takes 63 characters behind the slash."""
    return f"workprof/{object_names((f'{word}-{container}',))[0]}"


def _mi(size: float) -> str:
    return f"{mebibytes(in_bytes(size))}Mi"


def sizes_slurm(verdict: Verdict, origin: Origin) -> str:
    """Return a `job_submit.lua`: a job gets the size of the finest key that a row has of it."""
    if not any({"task_name", "user"} & row.key.keys() for row in verdict.memory.rows):
        _need("task_name", "jobs", "slurm", verdict)
    lines = [f"-- {line}" for line in header_lines(verdict, origin)]
    lines += [
        "-- Beside slurm.conf, with JobSubmitPlugins=lua. `keys`: the columns of a job, the finest first. A row counts",
        "-- for the MiB requested per node (n) or per CPU (c); without a number, for any request. A job that names no",
        "-- account or partition has none. `size` is in the unit of the request; `retry` are the sizes to submit again",
        "-- with after OUT_OF_MEMORY. `times` are minutes (t). A job that is not of `scope` is not touched.",
        *(f"-- {line}" for line in _not_named(verdict, (MEMORY, TIME))),
        "",
    ]
    for name, resource in (("sizes", MEMORY), ("times", TIME)):
        one = next((one for one in verdict.resources if one.resource == resource), None)
        lines += [f"local {name} = {{", *(["  keys = {},"] if one is None else _lua_rows(one)), "}", ""]
    return "\n".join([*lines, *lua_scope(origin), "", *LUA_MOST_OF, "", *_LUA_FUNCTIONS, ""])


SEPARATOR = "\n"
"""Between the parts of a key in Lua; a name of a user has no line end."""


def _lua_rows(one: ResourceVerdict) -> Iterator[str]:
    keys = []
    for by in one.levels:
        fields = (*(JOB_FIELDS[name] for name in _lua_columns(by)), *((REQUEST,) if REQUEST in by else ()))
        keys.append(f"{{ {', '.join(map(lua_text, fields))} }}")
    yield f"  keys = {{ {', '.join(keys)} }},"
    listed = {id(row) for row in _lua_listed(one)}
    entries: dict[str, list[tuple[VerdictRow, list[int]]]] = {}
    for row in (row for row in one.rows if row.by):
        factor, letter = _lua_unit(row, one.resource)
        key = SEPARATOR.join(
            [
                *(f"{JOB_FIELDS[name]}={row.key.get(name, '')}" for name in _lua_columns(row.by)),
                f"{letter}{round(row.request * factor)}" if REQUEST in row.by else letter,
            ]
        )
        sizes = [math.ceil(size * factor * (1 - 1e-12)) for size in (row.size, *row.retry)]
        entries.setdefault(key, []).append((row, sizes))
    for key, alike in entries.items():
        if not any(id(row) in listed for row, _ in alike):
            continue
        # requests that Slurm cannot tell apart, as of 4 and of 32 CPUs: none is touched, or the larger size
        chosen, sizes = max(alike, key=lambda one: (one[0].would is not None, one[1][0]))
        for row, _ in alike:
            if row is chosen or row.action != KEEP:
                yield f"  -- {one_line(key_words(row))}: {evidence(row, one)}"
        later = ", ".join(map(str, sizes[1:]))
        about = f"action = {lua_text(chosen.action)}, size = {sizes[0]}, retry = {{ {later} }}"
        yield f"  [{lua_text(key)}] = {{ {about} }},"


def _lua_columns(by: Iterable[str]) -> list[str]:
    """Return the columns of a key that Slurm knows of a job."""
    return [name for name in (("user", "task_name") if "task_name" in by else COARSE) if name in by]


def _lua_listed(one: ResourceVerdict) -> list[VerdictRow]:
    """Return rows that change or are left out, and the kept ones whose jobs a coarser of these would take."""
    rows = [row for row in one.rows if row.by]
    listed = [row for row in rows if row.action != KEEP or row.would is not None]
    told = {id(row) for row in listed}
    for fine, coarse in itertools.combinations(one.levels, 2):
        common = [name for name in coarse if name in fine]
        taken = {_values(row, common) for row in listed if row.by == coarse}
        told |= {id(row) for row in rows if row.by == fine and _values(row, common) in taken}
    return [row for row in rows if id(row) in told]


def _values(row: VerdictRow, names: list[str]) -> tuple[str | int, ...]:
    """Return the values of some columns of a key; a request in whole MiB."""
    return tuple(round(row.request * GB / MIB) if name == REQUEST else row.key.get(name, "") for name in names)


def _lua_unit(row: VerdictRow, resource: str) -> tuple[float, str]:
    """Return what one unit of a row is in Slurm's, and the letter of the request: per node, or per CPU if known so."""
    if resource == TIME:
        return 60.0, "t"
    asked = row.told.get(PER_CPU, "")
    if asked.endswith("c") and REQUEST in row.by and row.request > 0:
        return _mebibytes_of(asked[:-1]) / row.request, "c"
    return GB / MIB, "n"


def _mebibytes_of(text: str) -> float:
    """Return the MiB of a size as Slurm prints it; a bare number is in MiB, K, M, G, T are powers of 1024."""
    return parse_size(f"{text}iB" if text[-1:].isalpha() else f"{text}MiB") / MIB


_LUA_FUNCTIONS = """\
-- the row of the finest key, with the request or of any
local function entry_of(entries, job, unit, asked)
  for _, columns in ipairs(entries.keys) do
    local parts, last = {}, unit
    for _, column in ipairs(columns) do
      if column == "request" then
        last = unit .. string.format("%d", asked)
      else
        parts[#parts + 1] = column .. "=" .. (job[column] or "")
      end
    end
    parts[#parts + 1] = last
    local found = entries[table.concat(parts, "\\n")]
    if found then
      return found
    end
  end
end

-- a size to lower to is never above what is asked, one to raise to never below, nor above `most` by itself; one that is
-- left out stays, as does 0, all memory of a node
local function size_of(entry, asked, most)
  if entry.action == "keep" or asked == 0 then
    return asked
  end
  if entry.action == "lower" then
    return math.min(entry.size, asked)
  end
  return math.max(math.min(entry.size, most), asked)
end

function slurm_job_submit(job_desc, part_list, submit_uid)
  if not in_scope(job_desc) then
    return slurm.SUCCESS
  end
  local per_node, per_cpu = job_desc.min_mem_per_node, job_desc.min_mem_per_cpu
  if per_cpu ~= nil then
    local found = entry_of(sizes, job_desc, "c", per_cpu)
    if found then
      job_desc.min_mem_per_cpu = size_of(found, per_cpu, most_of(job_desc, part_list, "max_mem_per_cpu"))
    end
  elseif per_node ~= nil then
    local found = entry_of(sizes, job_desc, "n", per_node)
    if found then
      job_desc.min_mem_per_node = size_of(found, per_node, most_of(job_desc, part_list, "max_mem_per_node"))
    end
  end
  local minutes = job_desc.time_limit
  if minutes ~= nil and minutes < slurm.NO_VAL then
    local found = entry_of(times, job_desc, "t", minutes)
    if found then
      job_desc.time_limit = size_of(found, minutes, most_of(job_desc, part_list, "max_time"))
    end
  end
  return slurm.SUCCESS
end

function slurm_job_modify(job_desc, job_rec, part_list, modify_uid)
  return slurm.SUCCESS
end

return slurm.SUCCESS""".splitlines()


def sizes_slurm_partitions(verdict: Verdict, origin: Origin) -> str:
    """Return lines of `slurm.conf`: a partition per size that a row lowers or raises to."""
    limits: dict[int, list[str]] = {}
    for row in sorted(rows_in(verdict, MEMORY), key=lambda row: row.size):
        if row.action != KEEP:
            own = limits.setdefault(mebibytes(in_bytes(row.size)), [])
            own.append(f"#   {one_line(key_words(row))}: {evidence(row, verdict.memory)}")
    lines = [f"# {line}" for line in header_lines(verdict, origin)]
    lines += [
        "# A partition per size; set Nodes to yours. MaxMemPerNode and DefMemPerNode are MiB. After OUT_OF_MEMORY",
        "# submit again to the next larger partition.",
        *(f"# {line}" for line in _not_named(verdict, (MEMORY,))),
    ]
    for limit, about in limits.items():
        lines += [*about, f"PartitionName=workprof_{limit} Nodes=ALL DefMemPerNode={limit} MaxMemPerNode={limit}"]
    return "\n".join([*lines, ""])


EXPORTS: Mapping[str, Callable[[Verdict, Origin], str]] = {
    "csv": sizes_csv,
    "json": sizes_json,
    "nextflow": sizes_nextflow,
    "kubernetes": sizes_kubernetes,
    "slurm": sizes_slurm,
    "slurm-partitions": sizes_slurm_partitions,
}
"""Format -> what writes it."""

NEEDS: Mapping[str, frozenset[str]] = {
    "nextflow": frozenset({"task_name"}),
    "kubernetes": frozenset({"task_name", "workload"}),
    "slurm": frozenset({"task_name", "user"}),
}
"""Format -> columns of which the keys must have one."""


def formats_of(verdict: Verdict) -> tuple[str, ...]:
    """Return the formats that can name these rows."""
    held = frozenset(name for one in verdict.resources for row in one.rows for name in row.key)
    return tuple(to for to in EXPORTS if to not in NEEDS or NEEDS[to] & held)
