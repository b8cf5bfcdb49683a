"""Figures of nodes in docs/results.md: `python -m tests.docs.nodes [transfer|allocation|search]`."""

import functools
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from tests.memory.traces import BUNDLED
from tests.nodes.transfer_reports import MACHINES, lotaru_reports
from workprof.core.settings import from_environment
from workprof.nodes.allocation import POLICIES, TAREMA, Cluster, makespan
from workprof.nodes.runtime_factors import PUBLISHED_SCORES, published_task_benchmarks
from workprof.nodes.search import WITH_SCORES, WITHOUT, SearchSettings
from workprof.nodes.transfer import TransferSettings, transfer
from workprof.workbench import Workbench

SAMPLE = BUNDLED.parent
OPTIMIZERS = {"cherrypick": "CherryPick", "arrow": "Arrow"}
WEIGHTS = {"price": "per price", "published": "as published"}
TRIALS, SEEDS, ORDERS, DRAWS = 6, 100, 200, 2_000


def three(value):
    return f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.3f}"


def search_row(optimizer, weigh):
    """The row of a search: mean cost ratios, their difference, and that after 2 to 4 trials."""
    with tempfile.TemporaryDirectory() as home, Workbench(from_environment().at(Path(home))) as bench:
        table = bench.ingest(SAMPLE / "configurations.csv").dataset
        runs = bench.ingest(SAMPLE / "configurations.benchmarks.jsonl").dataset
        given = SearchSettings(optimizer, TRIALS, SEEDS, weigh=weigh, runs=runs)
        found = bench.configuration_search(table, given)
    random, without, with_scores = (found.curves[one].mean[-1] for one in ("at random", WITHOUT, WITH_SCORES))
    told = [f"{three(one.mean)} [{three(one.low)}, {three(one.high)}]" for one in found.differences]
    cells = [OPTIMIZERS[optimizer], WEIGHTS[weigh], three(random), three(without), three(with_scores), told[-1]]
    return f"| {' | '.join([*cells, ', '.join(told[1:4])])} |"


PAIRS = tuple((local, target) for local in MACHINES for target in MACHINES if local != target)


@functools.cache
def transfers(history):
    found = {}
    for local, target in PAIRS:
        asked = TransferSettings(local, (target,), history=history)
        found[local, target] = transfer(lotaru_reports(), PUBLISHED_SCORES, asked, published_task_benchmarks())
    return found


METHODS = {"ours": None, "Lotaru-G": "lotaru-g", "Lotaru-A": "lotaru_a"}


def transfer_row(history, pair=None):
    """The row of all pairs, or of one: median and P90 of relative errors by method."""
    results = {pair: transfers(history)[pair]} if pair else transfers(history)
    cells = ["third machine" if history else "none", f"{pair[0]} to {pair[1]}" if pair else "all six"]
    errors = {}
    for name, method in METHODS.items():
        told = [(one.predicted.by_method[method or one.default], one.predicted.measured_s) for one in results.values()]
        errors[name] = np.concatenate([np.abs(predicted - measured) / measured for predicted, measured in told])
    cells.append(f"{len(errors['ours']):,}")
    cells += [", ".join(three(one) for one in np.percentile(values, [50, 90])) for values in errors.values()]
    return f"| {' | '.join(cells)} |"


def allocation_sentence():
    """Makespan of Tarema's allocation over those of the others: mean over orders and 95 % bootstrap interval."""
    key = ["workflow", "task", "sequences"]
    reports = {name: one[one["label"] == "test"].set_index(key) for name, one in lotaru_reports().items()}
    shared = functools.reduce(pd.Index.intersection, (one.index for one in reports.values()))
    runtimes = np.stack([reports[name].loc[shared, "runtime_s"].to_numpy() for name in MACHINES], axis=1)
    published = [PUBLISHED_SCORES[name] for name in MACHINES]
    scores = np.array([[one.cpu, one.memory, one.io] for one in published], dtype=np.float64)
    cluster = Cluster(np.arange(len(MACHINES)), scores, np.full(len(MACHINES), 2))
    used = np.full((len(shared), 3), np.nan)
    used[:, 0] = reports[MACHINES[0]].loc[shared, "cpu_percent"]
    orders = [np.random.default_rng(seed).permutation(len(shared)) for seed in range(ORDERS)]
    took = {
        one: np.array([makespan(runtimes[at], cluster, one, used[at], seed) for seed, at in enumerate(orders)])
        for one in POLICIES
    }
    told = []
    for other in POLICIES[1:]:
        ratios = took[TAREMA] / took[other]
        drawn = np.random.default_rng(0).choice(ratios, (DRAWS, ORDERS)).mean(axis=1)
        low, high = np.quantile(drawn, [0.025, 0.975])
        told.append(f"{three(ratios.mean())} [{three(low)}, {three(high)}] times {other}")
    return f"{len(shared)} tasks, {ORDERS} orders: makespan {', '.join(told)}"


SEARCHES = tuple((optimizer, weigh) for optimizer in OPTIMIZERS for weigh in WEIGHTS)
TRANSFERS = tuple((history, pair) for history in (True, False) for pair in (None, ("n2", "c2"), ("n2", "n1")))
PARTS = {
    "transfer": (transfer_row, TRANSFERS),
    "allocation": (allocation_sentence, ((),)),
    "search": (search_row, SEARCHES),
}

if __name__ == "__main__":
    for name, (printed, rows) in PARTS.items():
        if not sys.argv[1:] or name in sys.argv[1:]:
            for one in rows:
                print(printed(*one), flush=True)
