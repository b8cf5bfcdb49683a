"""A plan as a Nextflow configuration: one `withName` selector per task, memory x attempt."""

from __future__ import annotations

import re

from workprof.memory.exports.about import Origin, header_lines, mebibytes, one_line, risk_line
from workprof.memory.plans.plans import Plan, PlannedTask

MOST_RETRIES = 3
KILLED = "[137, 140]"
"""Exit codes of a process that was killed for its memory (128 + SIGKILL) or by its scheduler's limit."""

_PATTERN_SIGN = re.compile(r"[.^$*+?{}\[\]|()!&~-]")


def plan_nextflow(plan: Plan, origin: Origin) -> str:
    """Return the plan as the text of a configuration file, to be used with `-c FILE`.

    Nextflow reads a selector as a pattern, so signs of patterns in a task's name are escaped. Its MB are MiB.
    """
    comments = [f"// {line}" for line in header_lines(origin, plan.settings)]
    retry = (
        "// A killed attempt comes back with size x attempt. Where your pipeline has no rule for failures yet, add:",
        f"//   errorStrategy = {{ task.exitStatus in {KILLED} ? 'retry' : 'finish' }}",
        f"//   maxRetries = {MOST_RETRIES}",
    )
    body = [line for task in plan.tasks for line in _selector(task)]
    return "\n".join([*comments, *retry, "process {", *body, "}", ""])


def _selector(task: PlannedTask) -> tuple[str, ...]:
    return (
        f"    // {one_line(task.task)}: {risk_line(task)}",
        f"    withName: {groovy_text(literal_pattern(task.task))} {{",
        f"        memory = {{ {mebibytes(task.size_bytes)}.MB * task.attempt }}",
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
