"""What every export says of itself: dataset, settings, risk."""

from __future__ import annotations

from dataclasses import dataclass

from workprof.memory.plans.plans import KEPT, PlannedTask, PlanSettings
from workprof.units import GB, MIB

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
    if settings.sizes_bytes:
        words.append(f"{len(settings.sizes_bytes)} size(s) given by hand")
    return ", ".join(words)


def risk_line(task: PlannedTask) -> str:
    """Return the odds of a retry in words."""
    risk = task.risk
    if task.rule == KEPT:
        return f"no advice, the request stays: only {task.n} run(s)"
    if not risk.n_tested:
        return f"odds of a retry unknown: {task.n} run(s), none could be tested"
    text = (
        f"odds of a retry {risk.odds:.1%} (95 % interval {risk.low:.1%} to {risk.high:.1%}, "
        f"{risk.n_failed} of {risk.n_tested} tested runs)"
    )
    return text + f"; only {task.n} runs, too few to rely on" if task.too_few else text


def header_lines(origin: Origin, settings: PlanSettings) -> tuple[str, ...]:
    """Return the lines at the top of an export, without a comment sign."""
    return (
        f"Memory advised by workprof {one_line(origin.version)}",
        f"Dataset: {one_line(origin.dataset)} ({one_line(origin.dataset_hash)})",
        f"Settings: {settings_line(settings)}",
        "Risk: each part of the history was tried with a size chosen from the parts before it",
    )


def mebibytes(size_bytes: float) -> int:
    """Return whole MiB that hold a size."""
    return int(-(-size_bytes // MIB))


def gigabytes(size_bytes: float) -> float:
    """Return GB (1e9 bytes)."""
    return size_bytes / GB
