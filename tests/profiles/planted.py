"""Small data sets whose truth is known."""

import numpy as np
import pandas as pd

from workprof.profiles.settings import SENSORS10


def blobs(n_rows, n_dims=4, n_groups=5, noise_share=0.2, seed=0):
    """Return points and truth: round groups of unequal size and scatter, and uniform noise (-1)."""
    rng = np.random.default_rng(seed)
    centres = rng.permutation(np.eye(n_groups, n_dims) * 12 + rng.normal(size=(n_groups, n_dims)))
    truth = rng.choice(n_groups, n_rows, p=np.arange(1, n_groups + 1) / np.arange(1, n_groups + 1).sum())
    points = centres[truth] + rng.normal(size=(n_rows, n_dims)) * rng.uniform(0.3, 1.0, n_groups)[truth][:, None]
    noise = rng.random(n_rows) < noise_share
    points[noise] = rng.uniform(-15, 25, size=(int(noise.sum()), n_dims))
    return points, np.where(noise, -1, truth)


def awkward_points():
    """Return name -> points on which searches go wrong: duplicates, ties, lines, huge numbers, very few rows."""
    rng = np.random.default_rng(1)
    return {
        "blobs": blobs(700)[0],
        "plane": rng.normal(size=(600, 2)),
        "grid of ties": np.round(rng.normal(size=(600, 2))),
        "all equal": np.ones((300, 3)),
        "half equal": np.where(rng.random((500, 1)) < 0.5, 0.0, rng.normal(size=(500, 3))),
        "one column counts": rng.normal(size=(400, 5)) * np.array([1, 1e9, 1, 1, 1]),
        "line": np.column_stack([np.arange(300.0), np.zeros(300)]),
        "two rows": np.array([[0.0, 1.0], [3.0, 5.0]]),
        "three rows": np.array([[0.0, 1.0], [3.0, 5.0], [0.0, 1.0]]),
    }


def job_table(n_rows=900, seed=0):
    """Return a job table of three kinds of jobs and noise, with metadata that follows the kind, and the truth."""
    rng = np.random.default_rng(seed)
    points, truth = blobs(n_rows, n_dims=len(SENSORS10), n_groups=3, noise_share=0.15, seed=seed)
    jobs = pd.DataFrame(np.exp(0.3 * points), columns=list(SENSORS10))
    kind = np.where(truth < 0, rng.integers(0, 3, n_rows), truth)
    jobs["workload"] = np.array(["bert", "ctr", "inception"])[kind]
    jobs["task_name"] = np.array(["worker", "ps", "worker"])[kind]
    jobs["user"] = [f"u{i}" for i in rng.integers(0, 9, n_rows)]
    jobs["group"] = [f"g{i}" for i in rng.integers(0, 40, n_rows)]
    jobs["job_name"] = [f"j{i}" for i in rng.permutation(n_rows)]
    jobs["start_time_s"] = rng.uniform(0, 40 * 86_400, n_rows)
    jobs["duration_s"] = np.where(kind == 1, 13.0, rng.lognormal(6, 1, n_rows))
    jobs["row_id"] = np.arange(n_rows) + 1000
    jobs["truth_profile"] = truth
    return jobs
