"""The verdict on real traces: what it saves and kills, on whole traces and on halves of their users or tasks."""

import functools

import numpy as np
import pytest

from tests.memory.traces import pai, trace
from tests.shared_data import needs_shared_data
from workprof.memory.origins import APPLIED, SUBMISSION, TABLE, Windows
from workprof.memory.resources import resources_of
from workprof.memory.verdict import VerdictSettings, cells_of, figures_of, sizing_of, verdict_of

pytestmark = [needs_shared_data, pytest.mark.slow]

LEAST_SAVED = {
    "pai": {TABLE: 0.48, SUBMISSION: 0.50},
    "iwd": {TABLE: 0.48, SUBMISSION: 0.51},
    "methylseq": {TABLE: 0.42, SUBMISSION: 0.55},
    "rnaseq": {TABLE: 0.03, SUBMISSION: 0.10},
    "eager": {TABLE: 0.05, SUBMISSION: 0.06},
}
MOST_KILLED = {TABLE: 0.02, SUBMISSION: 0.01}
HALVES = 20


def jobs(name):
    return pai() if name == "pai" else trace(name)


@functools.cache
def judged(name, applied):
    return verdict_of({"jobs": jobs(name)}, VerdictSettings(applied=applied)).memory


@pytest.mark.parametrize("applied", APPLIED)
@pytest.mark.parametrize("name", LEAST_SAVED)
def test_a_trace_saves_what_a_better_rule_than_the_plain_one_does(name, applied):
    result = judged(name, applied).judged
    assert result.saved_share >= LEAST_SAVED[name][applied]
    assert result.kills <= MOST_KILLED[applied] * result.n_runs


def half(name, seed):
    table = jobs(name)
    column = "user" if "user" in table.columns else "task_name"
    names = np.sort(table[column].astype(str).unique())
    own = np.random.default_rng(seed).permutation(names)[: max(1, len(names) // 2)]
    return table[table[column].astype(str).isin(own)].reset_index(drop=True)


@functools.cache
def sized(name, seed=None):
    """Return the runs of a trace or of a half of it, and the sizes that the verdict gives them."""
    table = jobs(name) if seed is None else half(name, seed)
    memory = resources_of(table, "peak_rss", 0.0)[0]
    return memory, sizing_of(memory, VerdictSettings())


@pytest.mark.parametrize("applied", APPLIED)
def test_halves_of_users_and_tasks_lose_nothing_and_kill_as_was_said(applied):
    saved, within = [], []
    for name in LEAST_SAVED:
        for seed in range(HALVES):
            memory, sizing = sized(name, seed)
            found = Windows(memory.runs, applied).judge(sizing)
            cells = cells_of(memory.runs, found, np.zeros(len(memory.runs), dtype=np.int64))
            result = figures_of(cells, applied, found.origins)
            saved.append(result.saved_share)
            within.append(result.kill_interval.low <= result.kills <= result.kill_interval.high)
    saved = np.array(saved)
    assert (saved >= 0).mean() >= 0.9
    assert saved.min() >= -0.1
    assert np.mean(within) >= 0.9


def events(key, block, chance, killed):
    """Return keys with a kill in a window: foreseen, and seen."""
    cell = np.unique(key * 4 + block, return_inverse=True)[1]
    spared = np.exp(np.bincount(cell, np.log1p(-np.minimum(chance, 0.999))))
    return (1 - spared).sum(), (np.bincount(cell, killed) > 0).sum()


def test_kills_come_about_as_often_as_foreseen_over_all_traces():
    foreseen = seen = 0.0
    for name in LEAST_SAVED:
        for seed in (None, *range(10)):
            memory, sizing = sized(name, seed)
            for applied in APPLIED:
                found = Windows(memory.runs, applied).judge(sizing)
                key = memory.runs.levels[0][found.first :]
                more = events(key, found.block, found.chance, found.killed)
                foreseen, seen = foreseen + more[0], seen + more[1]
    assert 0.5 <= foreseen / seen <= 2


def test_a_next_window_saves_what_the_interval_says():
    inside = []
    for name in LEAST_SAVED:
        table = jobs(name)
        order = "submit_time_s" if "submit_time_s" in table.columns else "start_time_s"
        table = table.sort_values(order, kind="stable").reset_index(drop=True)
        window = len(table) // 8
        for end in (4, 5, 6, 7):
            known, later = table.iloc[: end * window], table.iloc[: (end + 1) * window]
            said = verdict_of({"jobs": known}, VerdictSettings()).memory
            sizes = {(*row.key.values(), round(row.request * 1e9)): row.size for row in said.rows}
            booked = saved = 0.0
            names = list(said.rows[0].key)
            for run in later.iloc[end * window :].to_dict("records"):
                request, use = run["requested_memory_bytes"], run["peak_memory_bytes"]
                if not (use > 0 and request > 0):
                    continue
                size = min(request, sizes.get((*(run[one] for one in names), round(request)), request / 1e9) * 1e9)
                killed = size < request and size < use
                booked += request * run["duration_s"]
                saved += (request - size - killed * max(request, use)) * run["duration_s"]
            inside.append(said.judged.interval.low <= saved / booked <= said.judged.interval.high)
    assert np.mean(inside) >= 0.75
