"""The replay by finished runs written plainly: each run in order of its start, who has ended by then, the rule."""

import numpy as np

from tests.memory import naive_replay as naive, naive_sizing


def in_order_of_start(jobs):
    """Return task -> [(use, hours, request, input, start, end)], in order of start; runs without a clock last."""
    tasks = {}
    for row in jobs.to_dict("records"):
        hours, start, end = row["duration_s"] / 3600, row["start_time_s"], row["end_time_s"]
        if np.isnan(start):
            start = row["submit_time_s"]
        if np.isnan(start):
            start = end - row["duration_s"]
        if not end >= start:
            end = start + row["duration_s"]
        run = (row["peak_memory_bytes"], hours, row["requested_memory_bytes"], row["input_bytes"], start, end)
        tasks.setdefault(row["task_name"], []).append(run)
    for runs in tasks.values():
        runs.sort(key=lambda run: (np.inf,) if np.isnan(run[4]) else (run[4], run[5], run[1], run[0], run[2]))
    return tasks


def peers_of(runs, i):
    """Return the places of the runs that run i knows, in the order in which they ended."""
    start = runs[i][4]
    if np.isnan(start):
        known = list(range(i))
    else:
        known = [j for j in range(len(runs)) if runs[j][5] < start or (runs[j][5] == start and runs[j][4] < start)]
    key = lambda j: (np.inf, 0.0) if np.isnan(runs[j][5]) else (runs[j][5], runs[j][4])  # noqa: E731
    return sorted(known, key=key)


def plain(rule):
    return lambda used, hours, inputs, at: rule(used, hours)


RULES = {
    "p95": plain(lambda used, hours: np.quantile(used, 0.95)),
    "vpa": plain(lambda used, hours: 1.15 * np.quantile(used, 0.9)),
    "krr": plain(lambda used, hours: 1.15 * used.max()),
    "tovar": plain(naive.tovar_size),
    "min_waste": plain(lambda used, hours: naive.min_waste_size(used, hours, np.ones(len(used)))),
    "local_min_waste": lambda used, hours, inputs, at: naive.min_waste_size(
        used, hours, naive.local_weights(inputs, at)
    ),
}


def first_sizes(jobs, rule, cold_runs):
    """Return task -> first allocations, in order of start."""
    found = {}
    for task, runs in in_order_of_start(jobs).items():
        found[task] = []
        for i, run in enumerate(runs):
            known = peers_of(runs, i)
            if len(known) < cold_runs:
                found[task].append(run[2])
                continue
            used, hours, inputs = (np.array([runs[j][k] for j in known]) for k in (0, 1, 3))
            found[task].append(rule(used, hours, inputs, run[3]))
    return found


def witt_sizes(jobs, cold_runs):
    """Return the same of Witt-LR: the error of a prediction counts from the end of its run on."""
    found = {}
    for task, runs in in_order_of_start(jobs).items():
        found[task], predictions = [], {}
        for i, run in enumerate(runs):
            known = peers_of(runs, i)
            if len(known) < cold_runs:
                found[task].append(run[2])
                continue
            used, inputs = (np.array([runs[j][k] for j in known]) for k in (0, 3))
            errors = [(runs[j][0] - predictions[j]) / runs[j][0] for j in known if j in predictions]
            predictions[i], size = naive.line_with_spread(inputs, used, run[3], errors)
            found[task].append(size)
    return found


def mean_run(jobs, moment_s):
    """Return bytes x hours of the mean run, of all tasks, that had ended by a moment; one of no time began before."""
    ended = [
        use * hours
        for runs in in_order_of_start(jobs).values()
        for use, hours, _, _, start, end in runs
        if end < moment_s or (end == moment_s and start < moment_s)
    ]
    return np.mean(ended) if ended else 0.0


def workprof_sizes(runs, s):
    """Return the first allocations of our policy: picks are made at a run's start, and judged when it is known."""
    n_first, told = int(runs.known_at[0]), {}
    for j in range(n_first):
        others = np.array([k for k in range(n_first) if k != j])
        told[j] = naive_sizing.picks_of(runs, others, j, s, runs.mean_runs[0])
    judged, out = dict.fromkeys(range(n_first), runs.mean_runs[0]), []
    for place, n, mean in zip(runs.sized.tolist(), runs.known_at.tolist(), runs.mean_runs.tolist(), strict=True):
        for j in range(n_first, n):
            judged.setdefault(j, mean)
            if j not in told:
                told[j] = naive_sizing.picks_of(runs, np.arange(j), j, s, mean)
        known = [(j, told[j], judged[j]) for j in range(n)]
        told[place] = naive_sizing.picks_of(runs, np.arange(n), place, s, mean)
        out.append(naive_sizing.chosen(told[place][0], known, runs, s))
    return np.array(out)
