"""Inputs of dates and names for models of bins, forward in time: `python -m tests.docs.dates` prints the rows."""

import numpy as np

from tests.docs.what_to_request import TRACES
from workprof.memory.bin_models import NONE, XGBOOST, balanced, bin_scores, default_parameters, train_model
from workprof.memory.bin_search import BinSettings
from workprof.memory.bins import bin_runs, edge_choices, needed_bytes, own_bins
from workprof.memory.model_data import facts_of, fit_encoder

FEWEST = 50
DATED = tuple(name for name in TRACES if name != "rnaseq")
"""No task of rnaseq has so many runs."""

PARTS = ((0.0, 0.5, 0.7), (0.0, 0.7, 1.0))
"""Of a task's runs in order of submission: where training begins and ends, and where the judged runs end."""


def judged(jobs, part, *, dates):
    """Return the judged runs of a task and their u-score, in bins of the training runs."""
    begin, upto, end = (int(share * len(jobs)) for share in part)
    settings, used = BinSettings(k=3), jobs["peak_memory_bytes"].to_numpy()
    edges = edge_choices(bin_runs(jobs.iloc[begin:upto], settings), settings)[-1].edges_bytes
    true = np.minimum(own_bins(edges, needed_bytes(used, settings)), len(edges) - 1)
    true[upto:] = np.minimum(own_bins(edges, used[upto:]), len(edges) - 1)
    facts = facts_of(jobs, dates=dates)
    encoder = fit_encoder(facts.table.iloc[begin:upto], facts.inputs)
    inputs = encoder.encode(facts.table)
    training = balanced(inputs[begin:upto], true[begin:upto], NONE, 0)
    model = train_model(XGBOOST, default_parameters(XGBOOST), training, len(edges))
    predicted = model.scores(inputs[upto:end]).argmax(axis=1)
    return end - upto, bin_scores(true[upto:end], predicted, len(edges)).u_score


def row(name):
    """Return the row of a trace: tasks, then mean u-scores over runs without and with such inputs, in both parts."""
    jobs = TRACES[name]()
    known = jobs[(jobs["requested_memory_bytes"] > 0) & (jobs["peak_memory_bytes"] > 0) & (jobs["duration_s"] > 0)]
    order = "submit_time_s" if "submit_time_s" in known.columns else "start_time_s"
    known = known.sort_values(order, kind="stable")
    tasks = [own.reset_index(drop=True) for _, own in known.groupby("task_name", observed=True) if len(own) >= FEWEST]
    cells = []
    for part in PARTS:
        for dates in (False, True):
            found = np.array([judged(own, part, dates=dates) for own in tasks])
            cells.append(f"{np.average(found[:, 1], weights=found[:, 0]):.1f}")
    return f"| {name} | {len(tasks)} | {' | '.join(cells)} |"


if __name__ == "__main__":
    for one in DATED:
        print(row(one), flush=True)
