"""Figures of nodes in docs/results.md: `python -m tests.docs.nodes [transfer|allocation|search]`.

Those of docs/nodes.md: `history`, `steady`, `metrics`.
"""

import functools
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from tests.memory.traces import BUNDLED
from tests.nodes.makespans import POLICIES, TAREMA, makespan
from tests.nodes.transfer_reports import MACHINES, lotaru_reports
from workprof.core.settings import from_environment
from workprof.formats.benchmarks import read_benchmarks
from workprof.nodes.allocation import Cluster
from workprof.nodes.detection import detect_degradation
from workprof.nodes.detection_data import LOGISTIC, DetectSettings
from workprof.nodes.history import HistorySettings, verdicts
from workprof.nodes.runtime_factors import PUBLISHED_SCORES, published_task_benchmarks
from workprof.nodes.search import WITH_SCORES, WITHOUT, SearchSettings
from workprof.nodes.transfer import TransferSettings, transfer
from workprof.synthetic.benchmarks import BenchmarkTraceSettings, write_benchmark_trace
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


def history_row(share):
    """The row of a planted drop: when it is confirmed, the way back, and returns while it lasts, of 150 nodes."""
    rng, found, back, flips = np.random.default_rng(7), [], [], 0
    for _ in range(150):
        level = np.repeat([0.0, np.log(1 - share), 0.0], (12, 12, 15))
        state = verdicts(rng.normal(level, 0.02), HistorySettings(), 6)[1]
        during, after = state[12:24], state[24:]
        found.append(np.argmax(during == 2) + 1 if (during == 2).any() else np.inf)
        back += [np.argmax(after == 0) + 1] if during[-1] == 2 and not after.all() else []
        flips += int((np.diff(during) < 0).sum())
    seen = np.isfinite(found)
    soon = [f"{np.quantile(np.array(found)[seen], at):.0f}" for at in (0.5, 0.9)]
    ways = [f"{np.quantile(back, at):.0f}" for at in (0.5, 0.9)]
    return f"| {share:.0%} | {seen.mean():.0%} | {', '.join(soon)} | {', '.join(ways)} | {flips} |"


DROPS = (0.1, 0.15, 0.2, 0.3)
NOISES = {
    "normal": lambda rng, n: rng.normal(0, 0.02, n),
    "Laplace": lambda rng, n: rng.laplace(0, 0.02, n),
    "t with 4 degrees of freedom": lambda rng, n: 0.02 * rng.standard_t(4, n),
    "a bad tail (gamma, shape 2)": lambda rng, n: -rng.gamma(2, 0.015, n),
}


def steady_row(noise):
    """The row of steady nodes: share of reports of six benchmarks that need another run, and that exclude."""
    rng, reports, nodes, drop = np.random.default_rng(5), 30, 60, 0.0
    counts = np.zeros(2)
    for _ in range(nodes):
        own = [verdicts(NOISES[noise](rng, reports), HistorySettings(least_drop_share=drop), 6)[1] for _ in range(6)]
        begun = [[(one == state) & (np.roll(one, 1) != state) for one in own] for state in (1, 2)]
        counts += [np.any(one, axis=0).sum() for one in begun]
    asked, excluded = counts / (nodes * reports)
    return f"| {noise} | {asked:.2%} | {excluded:.2%} |"


SERIES = {
    **dict.fromkeys(("memory_used", "memory_swap"), ("memory",)),
    "cpu_busy": ("cpu", "memory"),
    **dict.fromkeys(("disk_read_util", "disk_write_util", "disk_io_util", "disk_write_bytes"), ("disk",)),
    **dict.fromkeys(("network_in_bytes", "network_out_bytes"), ("network",)),
    **dict.fromkeys(("disk_read_bytes", "filesystem_util", "network_in_errors", "network_out_errors"), ()),
}
"""Perona's 13 series of a node -> benchmarks that load them, and whose stress they show."""


def changes_of(line, seen, background, rng):
    """39 changes of a node's series from before a run into it: 10th, 50th, 90th percentile; stress shows by 35 %."""
    found = {}
    for name, aspects in SERIES.items():
        background[name] = max(0.0, 0.8 * background[name] + 0.15 * rng.standard_normal())
        own = line["benchmark"].split("-")[0] in aspects
        during = (1 + 3 * own) * (1 + 0.35 * own * (seen and bool(line["stressed"])))
        for place, away in ((10, -1.28), (50, 0.0), (90, 1.28)):
            noise = np.exp(0.15 * away + 0.12 * rng.standard_normal(2))
            level = (1 + background[name]) * np.array([1.0, during]) * noise
            found[f"{name}_p{place}_change"] = float(level[1] / level[0])
    return found


def metrics_row(seed):
    """The row of faint stress, half of it seen in the node's metrics: F1 and PR-AUC without them and with them."""
    rng, figures = np.random.default_rng(seed + 99), []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.jsonl"
        write_benchmark_trace(path, BenchmarkTraceSettings(seed=seed, repeat=20, intensity=(0.05, 0.25)))
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        loads = {line["node"]: dict.fromkeys(SERIES, 0.0) for line in lines}
        more = [changes_of(line, rng.random() < 0.5, loads[line["node"]], rng) for line in lines]
        for added in ([{}] * len(lines), more):
            both = [line | {"host": line["host"] | one} for line, one in zip(lines, added, strict=True)]
            path.write_text("".join(json.dumps(line) + "\n" for line in both))
            settings = DetectSettings(detector=LOGISTIC, epochs=2)
            found = detect_degradation({"runs": read_benchmarks(path).frame}, settings).detectors[LOGISTIC]
            figures += [three(found.f1_anomalous), three(found.pr_auc)]
    return f"| {seed} | {figures[0]} | {figures[2]} | {figures[1]} | {figures[3]} |"


SEARCHES = tuple((optimizer, weigh) for optimizer in OPTIMIZERS for weigh in WEIGHTS)
TRANSFERS = tuple((history, pair) for history in (True, False) for pair in (None, ("n2", "c2"), ("n2", "n1")))
PARTS = {
    "transfer": (transfer_row, TRANSFERS),
    "allocation": (allocation_sentence, ((),)),
    "search": (search_row, SEARCHES),
    "history": (history_row, tuple((one,) for one in DROPS)),
    "steady": (steady_row, tuple((one,) for one in NOISES)),
    "metrics": (metrics_row, ((0,), (1,), (2,))),
}

if __name__ == "__main__":
    for name, (printed, rows) in PARTS.items():
        if not sys.argv[1:] or name in sys.argv[1:]:
            for one in rows:
                print(printed(*one), flush=True)
