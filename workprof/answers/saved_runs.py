"""Tables and sentences of the Runs page: saved results, one of them, two side by side, jobs without a result."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

import pandas as pd

from workprof.core.fields import Leaf, default_of, get, leaves
from workprof.core.records import to_json
from workprof.core.runs import MlflowExport, NumberChange, OpenJob, SettingChange, StoredRun
from workprof.core.units import format_bytes, format_duration, format_share
from workprof.core.words import counted
from workprof.profiles.settings import ProfileSettings

MB = 1e6
SHORT_SETTINGS = 80


def run_label(run: StoredRun) -> str:
    """Return how a run is chosen and linked to: its digits and its step."""
    return f"{run.run} {run.step}"


def run_words(run: StoredRun) -> str:
    """Return how a run is shown in a list: 'Bins of a task · pai_sample · 2026-03-01 12:00 · 0123456789ab'."""
    return f"{_what(run)} · {run.dataset} · {when(run)} · {run.run}"


def export_sentence(done: MlflowExport) -> str:
    """What was written for MLflow, and what was not."""
    more = f", and {counted(done.models, 'model')} within" if done.models else ""
    rest = {
        "there already": done.already_there,
        "without numbers, for they are of an older version": done.without_numbers,
    }
    parts = [f"{counted(done.written, 'result')} written to {done.folder} as runs of MLflow{more}."]
    return " ".join([*parts, *(f"{counted(n, 'result')} {why}." for why, n in rest.items() if n)])


def _what(run: StoredRun) -> str:
    return f"{run.finds[:1].upper()}{run.finds[1:]}"


def recent_line(run: StoredRun) -> str:
    """Return what was found last, in which dataset and when."""
    return f"{_what(run)} · {run.dataset} · {when(run)} UTC"


def changed_words(given: Mapping[str, Any], settings: Any) -> tuple[str, ...]:
    """Return the settings of a document that are not at their class's defaults, as the form has them: 'Bins: 3'."""
    found = ((leaf, _at(given, leaf.path)) for leaf in _leaves(settings))
    usual = _usual(settings)
    return tuple(
        f"{leaf.label.partition(' (')[0]}: {_in_words(leaf, value)}"
        for leaf, value in found
        if value is not MISSING and value != usual[leaf.path]
    )


def _leaves(settings: Any) -> tuple[Leaf, ...]:
    """Return the settings of a class; of a part of a clustering, which declares none, those of the clustering."""
    own = {one.name for one in fields(settings)}
    return leaves(settings) or tuple(leaf for leaf in leaves(ProfileSettings) if leaf.path in own)


def _at(document: Any, path: str) -> Any:
    """Return the value at a path of a document, MISSING where there is none: it is of an older version."""
    for name in path.split("."):
        document = document.get(name, MISSING) if isinstance(document, dict) else MISSING
    return document


@functools.cache
def _usual(settings: Any) -> dict[str, Any]:
    """Return path -> default as documents have it, MISSING for a setting that has to be given."""
    wholes = {one.name: default_of(one) for one in fields(settings)}
    return {leaf.path: to_json(_default(leaf, wholes[leaf.path.partition(".")[0]])) for leaf in _leaves(settings)}


def _default(leaf: Leaf, whole: Any) -> Any:
    rest = leaf.path.partition(".")[2]
    if whole is MISSING:
        return leaf.default
    return get(whole, rest) if rest else whole


_UNITS: dict[str, Callable[[float], str]] = {"bytes": format_bytes, "share": format_share, "s": format_duration}


def _in_words(leaf: Leaf, value: Any) -> str:
    shown = leaf.about.shown
    word = next((word for word, meaning in leaf.about.named.items() if to_json(meaning) == value), None)
    if word is not None:
        return shown.get(word, word)
    if value is None or value in ("", [], {}):
        return leaf.about.empty or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return _UNITS.get(leaf.about.unit, "{:,.6g}".format)(value)
    if isinstance(value, list):
        return ", ".join(_in_words(leaf, one) for one in value)
    if isinstance(value, dict) and is_dataclass(leaf.each):
        return ", ".join(changed_words(value, leaf.each)) or "Default"
    if isinstance(value, dict):
        return ", ".join(f"{name} {_in_words(leaf, one)}" for name, one in value.items())
    return shown.get(value, value)


def run_table(runs: Sequence[StoredRun], settings: Mapping[str, type[Any]]) -> pd.DataFrame:
    """Return one line per run, newest first; of the settings (step -> class) what differs from the defaults."""
    names = ["run", "what", "dataset", "hash", "settings", "seed", "seconds", "created (UTC)", "MB", "pinned"]
    names += ["version", "step"]
    return pd.DataFrame([_line(run, settings.get(run.step)) for run in runs], columns=names)


def _line(run: StoredRun, settings: type[Any] | None) -> dict[str, object]:
    words = ", ".join(changed_words(run.settings, settings)) if settings else ""
    version = run.versions.get("workprof", "unknown")
    return {
        "run": run.run,
        "what": run.finds,
        "dataset": run.dataset,
        "hash": run.dataset_hash[:8],
        "settings": words if len(words) <= SHORT_SETTINGS else words[: SHORT_SETTINGS - 1] + "…",
        "seed": run.seed,
        "seconds": run.seconds or None,
        "created (UTC)": when(run),
        "MB": run.size_bytes / MB,
        "pinned": run.pinned,
        "version": version if run.current else f"{version}, older step",
        "step": run.step,
    }


def when(run: StoredRun) -> str:
    """Return the minute in which a run was made, UTC."""
    return run.created[:16].replace("T", " ")


def stored_sentence(shown: Sequence[StoredRun], all_runs: Sequence[StoredRun]) -> str:
    """Return how much is saved, and how much of it is shown."""
    total = sum(run.size_bytes for run in all_runs)
    pinned = sum(run.pinned for run in all_runs)
    part = "" if len(shown) == len(all_runs) else f"; {len(shown):,} of them are shown"
    return f"{counted(len(all_runs), 'computed result')} saved ({format_bytes(total)}), {pinned:,} pinned{part}."


def run_title(run: StoredRun) -> str:
    """Return what a run found, and of which dataset."""
    return f"{_what(run)} of {run.dataset}"


def run_sentence(run: StoredRun) -> str:
    """Return how a run was computed, in one sentence."""
    draws = f", seed {run.seed}" if run.seed is not None else ""
    made = f"workprof {run.versions.get('workprof', 'unknown')}, Python {run.versions.get('python', 'unknown')}"
    took = f"Computed in {format_duration(run.seconds)}" if run.seconds else "A by-product of another result, computed"
    return f"{took} on {when(run)} UTC with {made}{draws}."


def raw_name(run: StoredRun) -> str:
    """Return the names by which commands and files know a run."""
    return f"Result {run.run} of step {run.step}, dataset {run.dataset_hash[:8]}"


def settings_table(settings: Mapping[str, str]) -> pd.DataFrame:
    """Return settings as path and value."""
    return pd.DataFrame({"setting": list(settings), "value": list(settings.values())}, dtype=str)


def setting_changes_table(changes: Sequence[SettingChange], names: tuple[str, str]) -> pd.DataFrame:
    """Return the settings that differ, a column for each run."""
    lines = [(one.setting, one.before, one.after) for one in changes]
    return pd.DataFrame(lines, columns=["setting", *names])


def number_changes_table(changes: Sequence[NumberChange], names: tuple[str, str]) -> pd.DataFrame:
    """Return the numbers that differ with their difference; a number that one run lacks stays empty."""
    lines = [(one.number, one.before, one.after, one.after - one.before) for one in changes]
    return pd.DataFrame(lines, columns=["number", *names, "difference"])


def comparison_sentence(settings: Sequence[SettingChange], numbers: Sequence[NumberChange], n_equal: int) -> str:
    """Return how two runs differ, in one sentence."""
    n_numbers = len(numbers) + n_equal
    text = f"{counted(len(settings), 'setting')} {'differs' if len(settings) == 1 else 'differ'}"
    if not n_numbers:
        return f"{text}."
    return f"{text}; {len(numbers):,} of {counted(n_numbers, 'number')} ({format_share(len(numbers) / n_numbers)})."


def job_table(jobs: Sequence[OpenJob]) -> pd.DataFrame:
    """Return the jobs that left no result."""
    lines = [(one.state, one.finds, one.dataset, format_duration(one.elapsed_s), one.message, one.step) for one in jobs]
    return pd.DataFrame(lines, columns=["state", "what", "dataset", "after", "message", "step"])
