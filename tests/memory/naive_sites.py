"""A plain rule of sites, the slow way: a quantile of what like runs used that had ended, doubled after a kill."""

import numpy as np

GB, FEWEST, NO_REQUEST_BYTES = 1e9, 3, 32e9


def requests_enforced(jobs):
    """Return GB·h wasted and kills when every run is held to its request and doubled."""
    return _charged(jobs, [(size, 0.0) for size in jobs["requested_memory_bytes"]])


def quantile_of_like_runs(jobs, level, margin, *, by_user):
    """Return GB·h wasted and kills; sizes by the first of (user, task, request), (user, task), (task) with three runs.

    Args:
        jobs: every run counts, in order of its start.
        level: of the quantile, linear between runs.
        margin: times the quantile.
        by_user: False = by the task alone.
    """
    start, end, request, used = (
        jobs[name].to_numpy() for name in ("start_time_s", "end_time_s", "requested_memory_bytes", "peak_memory_bytes")
    )
    task, user = (jobs[name].factorize()[0] for name in ("task_name", "user"))
    sizes = []
    for run in range(len(jobs)):
        ended = (end <= start[run]) & (task == task[run])
        mine = ended & (user == user[run])
        alike = mine & (request == request[run])
        known = [used[rows] for rows in ((alike, mine, ended) if by_user else (ended,))]
        uses = next((one for one in known if len(one) >= FEWEST), None)
        if uses is None:
            sizes.append((request[run] if request[run] > 0 else NO_REQUEST_BYTES, 0.0))
        else:
            sizes.append((margin * np.quantile(uses, level), uses.max()))
    return _charged(jobs, sizes)


def _charged(jobs, sizes):
    wasted, kills = 0.0, 0
    for (first, largest), used, seconds in zip(sizes, jobs["peak_memory_bytes"], jobs["duration_s"], strict=True):
        size = first
        while size < used:
            wasted += size * seconds
            kills += 1
            size = max(2 * size, 1.1 * largest)
        wasted += (size - used) * seconds
    return wasted / 3600 / GB, kills
