"""What a reader of benchmark runs must know about them, counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workprof.formats.measured import Check

if TYPE_CHECKING:
    import pandas as pd

KNOWN = ("cpu-sysbench", "disk-fio", "disk-ioping", "memory-sysbench", "network-iperf3", "network-qperf")
"""The benchmarks whose output workprof reads."""

HISTORY_RUNS = 4
"""A run is judged against three earlier ones of its node and benchmark."""


def checks_of(runs: pd.DataFrame) -> tuple[Check, ...]:
    """Return the findings about a table of runs, those that found nothing left out."""
    if runs.empty:
        return ()
    found = (*_of_outcomes(runs), *_of_labels(runs), *_of_history(runs))
    return tuple(check for check in found if check.count)


def _of_outcomes(runs: pd.DataFrame) -> tuple[Check, ...]:
    failed = runs["rc"].notna() & (runs["rc"] != 0)
    empty = ~failed & (runs["stdout"].str.strip() == "")
    backwards = runs["finished_s"] < runs["started_s"]
    open_end = runs["finished_s"].isna()
    strange = ~runs["benchmark"].isin(KNOWN)
    return (
        _warning("failed_runs", failed, "runs ended with a status other than 0; they have no values"),
        _warning("empty_output", empty, "runs ended well and printed nothing; they have no values"),
        _warning("ends_before_start", backwards, "runs end before they start; check the clock of the node"),
        _warning("no_end", open_end, "runs have no time at which they ended"),
        _warning("unknown_benchmark", strange, f"runs are of none of {', '.join(KNOWN)}; they have no values"),
    )


def _of_labels(runs: pd.DataFrame) -> tuple[Check, ...]:
    unlabelled = int(runs["stressed"].isna().sum())
    told = "runs do not tell whether they were stressed; without labels a run gets a p-value, not a probability"
    repeated = runs.duplicated()
    return (
        Check("stressed_unknown", "info", unlabelled, f"{unlabelled:,} {told}"),
        _warning("duplicates", repeated, "rows repeat an earlier row; they are kept"),
    )


def _of_history(runs: pd.DataFrame) -> tuple[Check, ...]:
    counts = runs.drop_duplicates().groupby(["node", "benchmark"]).size()
    single, few = int((counts == 1).sum()), int((counts < HISTORY_RUNS).sum())
    told = f"{few:,} of {len(counts):,} node and benchmark pairs have fewer than {HISTORY_RUNS} runs"
    alone = f"{single:,} of {len(counts):,} node and benchmark pairs have one run only: no interval and no rank"
    return (Check("one_run", "warning", single, alone), Check("few_runs", "info", few, f"{told}: none can be judged"))


def _warning(name: str, where: pd.Series, told: str) -> Check:
    count = int(where.sum())
    return Check(name, "warning", count, f"{count:,} {told}")
