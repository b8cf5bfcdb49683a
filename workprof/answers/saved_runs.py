"""Tables and sentences of the Runs page: saved results, one of them, two side by side, jobs without a result."""

from collections.abc import Mapping, Sequence

import pandas as pd

from workprof.core.runs import MlflowExport, NumberChange, OpenJob, SettingChange, StoredRun
from workprof.core.units import format_bytes, format_duration, format_share
from workprof.core.words import counted

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


def run_table(runs: Sequence[StoredRun]) -> pd.DataFrame:
    """Return one line per run, newest first; of the settings what differs from the step's defaults."""
    names = ["run", "what", "dataset", "hash", "settings", "seed", "seconds", "created (UTC)", "MB", "pinned"]
    names += ["version", "step"]
    return pd.DataFrame([_line(run) for run in runs], columns=names)


def _line(run: StoredRun) -> dict[str, object]:
    words = ", ".join(f"{name}: {value}" for name, value in run.changed_words.items())
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
