"""A plan as a text for other programs: a table, JSON, a Nextflow configuration, Kubernetes patches.

Every text names the dataset, the settings and the risk, and no name from a trace can leave its quotes.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from dataclasses import dataclass

from workprof.core.records import digest, to_json
from workprof.core.text import spreadsheet_text
from workprof.core.units import GB, MIB
from workprof.memory.plan import KEPT, RECOMMENDED, NeverRun, Plan, PlannedTask, PlanSettings

MOST_CHARACTERS = 200


@dataclass(frozen=True)
class Origin:
    """Where a plan comes from.

    Attributes:
        dataset: name.
        dataset_hash: of its content.
        version: of workprof.
    """

    dataset: str
    dataset_hash: str
    version: str


def one_line(text: str) -> str:
    """Return a text that cannot leave a comment line: control characters and other line ends become spaces.

    Backslashes become slashes: some readers of Groovy turn the code of a line end into one even there.
    """
    shown = "".join(character if character.isprintable() else " " for character in text.replace("\\", "/"))
    return shown if len(shown) <= MOST_CHARACTERS else shown[: MOST_CHARACTERS - 3] + "..."


def settings_line(settings: PlanSettings) -> str:
    """Return the settings of a plan in words."""
    words = [f"rule {settings.rule}"]
    if settings.rule == "percentile":
        words[0] += f" {settings.percentile:g}"
    words += [
        f"headroom {settings.headroom:g}",
        f"step {settings.step_bytes / MIB:g} MiB",
        f"floor {settings.floor_bytes / MIB:g} MiB",
        f"sized for {settings.target}",
    ]
    if settings.rule == "class_sizes":
        words.append(
            f"limits {settings.classes.limits} {settings.classes.light_gb:g}/{settings.classes.moderate_gb:g} GB"
        )
    if settings.cap_bytes is not None:
        words.append(f"cap {settings.cap_bytes / GB:g} GB")
    if settings.sizes_bytes and settings.rule != RECOMMENDED:
        words.append(f"{len(settings.sizes_bytes)} size(s) given by hand")
    return ", ".join(words)


def risk_line(task: PlannedTask) -> str:
    """Return the odds of a retry in words."""
    risk = task.risk
    if task.rule == KEPT:
        few = f": only {task.n} run(s)" if task.too_few else f", after {task.n} runs"
        return f"no advice, the request stays{few}"
    if not risk.n_tested:
        return f"odds of a retry unknown: {task.n} run(s), none could be tested"
    text = (
        f"odds of a retry {risk.odds:.1%} (95 % interval {risk.low:.1%} to {risk.high:.1%}, "
        f"{risk.n_failed} of {risk.n_tested} tested runs)"
    )
    return text + f"; only {task.n} runs, too few to rely on" if task.too_few else text


def never_line(never: NeverRun) -> str:
    """Return how many runs a cap rules out, in words; '' where it rules out none."""
    if not never.n_runs:
        return ""
    return (
        f"{never.n_runs} of {never.n_all} runs use more than the cap of {never.cap_gb:g} GB and can never run: "
        f"{never.used_gb_h:.4g} GB h of {len(never.tasks)} task(s), the largest {never.largest_gb:.4g} GB "
        f"({one_line(never.worst_task)})"
    )


def header_lines(origin: Origin, plan: Plan) -> tuple[str, ...]:
    """Return the lines at the top of an export, without a comment sign; first what can never run."""
    settings, never = plan.settings, never_line(plan.never)
    return (
        *((never,) if never else ()),
        f"Memory advised by workprof {one_line(origin.version)}",
        f"Dataset: {one_line(origin.dataset)} ({one_line(origin.dataset_hash)})",
        f"Settings: {settings_line(settings)}",
        "Risk: each part of the history was tried with a size chosen from the parts before it",
    )


def mebibytes(size_bytes: float, cap_bytes: float | None = None) -> int:
    """Return whole MiB that hold a size, as far as a cap allows."""
    return int(min(-(-size_bytes // MIB), math.inf if cap_bytes is None else cap_bytes // MIB))


def gigabytes(size_bytes: float) -> float:
    """Return GB (1e9 bytes)."""
    return size_bytes / GB


COLUMNS = (
    "task",
    "runs",
    "size_gb",
    "size_mib",
    "requested_gb",
    "largest_gb",
    "class",
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
)


def plan_csv(plan: Plan, origin: Origin) -> str:
    """Return the plan as CSV: a header row, one row per task, dataset and settings in every row.

    A text that a spreadsheet would run as a formula gets an apostrophe in front.
    """
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(COLUMNS)
    about = (origin.dataset, origin.dataset_hash, settings_line(plan.settings))
    never = {one.task: one.n_runs for one in plan.never.tasks}
    for task in plan.tasks:
        values = _values(task, plan.settings.cap_bytes)
        writer.writerow([_cell(value) for value in (*values, never.get(task.task, 0), *about)])
    return target.getvalue()


def plan_json(plan: Plan, origin: Origin) -> str:
    """Return the plan as one JSON document: `about`, `dataset`, `settings`, `tasks`, `never`, `left_out`."""
    document = {
        "about": list(header_lines(origin, plan)),
        "dataset": {"name": origin.dataset, "hash": origin.dataset_hash},
        "workprof": origin.version,
        "settings": to_json(plan.settings),
        "tasks": [to_json(task) | {"size_gb": gigabytes(task.size_bytes)} for task in plan.tasks],
        "never": to_json(plan.never),
        "left_out": to_json(plan.left_out),
        "notes": list(plan.notes),
    }
    return json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def _values(task: PlannedTask, cap_bytes: float | None) -> tuple[object, ...]:
    risk = task.risk
    return (
        task.task,
        task.n,
        round(gigabytes(task.size_bytes), 6),
        mebibytes(task.size_bytes, cap_bytes),
        round(gigabytes(task.requested_bytes), 6),
        round(gigabytes(task.largest_bytes), 6),
        task.size_class,
        task.rule,
        round(risk.odds, 6),
        round(risk.low, 6),
        round(risk.high, 6),
        risk.n_tested,
        risk.n_failed,
        "yes" if task.too_few else "no",
    )


def _cell(value: object) -> object:
    if isinstance(value, float) and value != value:  # noqa: PLR0124  NaN: nothing is known
        return ""
    return spreadsheet_text(value) if isinstance(value, str) else value


MOST_RETRIES = 3
KILLED = "[137, 140]"
"""Exit codes of a process that was killed for its memory (128 + SIGKILL) or by its scheduler's limit."""

_PATTERN_SIGN = re.compile(r"[.^$*+?{}\[\]|()!&~-]")


def plan_nextflow(plan: Plan, origin: Origin) -> str:
    """Return the plan as the text of a configuration file, to be used with `-c FILE`.

    Nextflow reads a selector as a pattern, so signs of patterns in a task's name are escaped. Its MB are MiB.
    """
    comments = [f"// {line}" for line in header_lines(origin, plan)]
    retry = (
        "// A killed attempt comes back with size x attempt. Where your pipeline has no rule for failures yet, add:",
        f"//   errorStrategy = {{ task.exitStatus in {KILLED} ? 'retry' : 'finish' }}",
        f"//   maxRetries = {MOST_RETRIES}",
    )
    body = [line for task in plan.tasks for line in _selector(task, plan.settings.cap_bytes)]
    return "\n".join([*comments, *retry, "process {", *body, "}", ""])


def _selector(task: PlannedTask, cap_bytes: float | None) -> tuple[str, ...]:
    size = f"{mebibytes(task.size_bytes, cap_bytes)}.MB * task.attempt"
    if cap_bytes is not None:
        size = f"[{size}, {mebibytes(cap_bytes, cap_bytes)}.MB].min()"
    return (
        f"    // {one_line(task.task)}: {risk_line(task)}",
        f"    withName: {groovy_text(literal_pattern(task.task))} {{",
        f"        memory = {{ {size} }}",
        "    }",
    )


def literal_pattern(name: str) -> str:
    """Return a pattern that only a task of that name matches; a backslash and pattern signs are escaped."""
    return _PATTERN_SIGN.sub(r"\\\g<0>", name.replace("\\", "\\\\"))


def groovy_text(text: str) -> str:
    """Return a Groovy text in single quotes: nothing is interpolated; every unusual character is written as a code."""
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


def plan_kubernetes(plan: Plan, origin: Origin, kind: str = "Deployment", api_version: str = "apps/v1") -> str:
    """Return the plan as YAML documents, one per task.

    Args:
        plan: sizes and risk.
        origin: where the plan comes from.
        kind: of the patched objects, such as Deployment, StatefulSet or Job.
        api_version: of that kind.
    """
    comments = [f"# {line}" for line in header_lines(origin, plan)]
    comments.append(f"# The kind {one_line(kind)} and the names are to be adapted to your objects.")
    names = object_names(tuple(task.task for task in plan.tasks))
    about = f"{origin.dataset} ({origin.dataset_hash})"
    shared = _Shared(kind, api_version, about, settings_line(plan.settings), plan.settings.cap_bytes)
    documents = [_document(task, name, shared) for task, name in zip(plan.tasks, names, strict=True)]
    return "\n".join(comments) + "\n" + "".join(documents)


@dataclass(frozen=True)
class _Shared:
    """What all documents of an export say alike."""

    kind: str
    api_version: str
    dataset: str
    settings: str
    cap_bytes: float | None


def object_names(tasks: tuple[str, ...]) -> tuple[str, ...]:
    """Return names by RFC 1123 (a-z, 0-9, '-', at most 63); a digest tells apart tasks that would share one."""
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


def _document(task: PlannedTask, name: str, shared: _Shared) -> str:
    size = f"{mebibytes(task.size_bytes, shared.cap_bytes)}Mi"
    annotations = {
        "workprof/task": task.task,
        "workprof/dataset": shared.dataset,
        "workprof/settings": shared.settings,
        "workprof/risk": risk_line(task),
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


def yaml_text(text: str) -> str:
    """Return a YAML text in double quotes, every unusual character as a code."""
    return '"' + "".join(_yaml_character(character) for character in text) + '"'


def _yaml_character(character: str) -> str:
    if character in '\\"':
        return "\\" + character
    if " " <= character <= "~":
        return character
    if "\ud800" <= character <= "\udfff":  # half a character alone, which no YAML reader takes
        return "\\ufffd"
    return f"\\U{ord(character):08x}"
