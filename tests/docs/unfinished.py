"""Planted needs of runs that were cut short, in docs/results.md: `python -m tests.docs.unfinished`."""

import numpy as np

from tests.forecasts.test_censored import limited_jobs
from workprof.forecasts.censored import completed
from workprof.forecasts.estimates import known_jobs
from workprof.forecasts.history import Past, read_cells

LEVELS = (0.5, 0.8, 0.9)


def sentence():
    off = {"finished runs alone": [], "with the drawn needs": []}
    for seed in range(6):
        jobs, need = limited_jobs(2_000, seed)
        known = known_jobs(jobs, "duration_s")
        logs = np.log(known.target)
        past = Past(read_cells(known.jobs, ("user", "workload")), logs, np.arange(len(logs)))
        level = 4 + 1.5 * jobs["workload"].str[1:].astype(int).to_numpy()  # what is planted of each workload
        wide = (jobs["user"] == "wide").to_numpy()
        truth, drawn = np.quantile((need - level)[wide], LEVELS), completed(past, known.censored, seed).targets
        off["finished runs alone"].append(np.quantile((logs - level)[wide & ~known.censored], LEVELS) - truth)
        off["with the drawn needs"].append(np.quantile((drawn - level)[wide], LEVELS) - truth)
    return ", ".join(f"{name} {' / '.join(f'{x:.2f}' for x in np.mean(own, axis=0))}" for name, own in off.items())


if __name__ == "__main__":
    print(sentence())
