"""Tables II to IV of the paper: ours, in its form, with its figures beside them.

Source: Hossain et al., "CWD: A Machine Learning based Approach to Detect Unknown Cloud Workloads".
"""

from __future__ import annotations

import pandas as pd

from workprof.phases.evaluation import Evaluation

TABLE_TWO = {"accuracy": 0.93, "precision": 0.95, "recall": 0.93, "f1": 0.93}
TABLE_THREE = (
    "MongoDB-ycsb is nearest to WordPress (67 %) and MySQL (33 %), Bayesian inference to AI-benchmark (100 %)."
)
TABLE_FOUR = {
    "Redis": (211.90, 52.74, 28.06, 6.41),
    "AI-benchmark": (131.07, 52.66, 19.93, 7.33),
    "MySQL": (181.94, 65.53, 23.51, 8.45),
    "MongoDB-ycsb": (166.23, 73.30, 23.19, 9.18),
    "WordPress": (145.25, 64.47, 20.21, 6.94),
    "Bayesian": (181.60, 46.69, 27.93, 6.32),
}
"""DTW mean and sd, Euclidean mean and sd, of hardware and software counters on another machine."""


def known_table(found: Evaluation) -> pd.DataFrame:
    """Return precision, recall and F1 of every workload, the weakest first, then all of them and the published ones."""
    if found.known is None:
        return pd.DataFrame()
    lines = [
        {"workload": one.workload, "precision": one.precision, "recall": one.recall, "f1": one.f1, "runs": one.support}
        for one in sorted(found.known.per_class, key=lambda one: one.f1)
    ]
    means = {"precision": found.known.precision, "recall": found.known.recall, "f1": found.known.f1}
    published = {name: TABLE_TWO[name] for name in means}
    return pd.DataFrame(
        [
            *lines,
            {"workload": "mean of these", **means, "runs": found.known.n_test},
            {"workload": "published (6 workloads, Table II)", **published, "runs": None},
        ]
    )


def unknown_table(found: Evaluation) -> pd.DataFrame:
    """Return the share that is rejected of every unknown workload, and what it is nearest to."""
    return pd.DataFrame(
        {
            "workload": one.workload,
            "rejected_share": one.rejected_share,
            "answers": one.n,
            "nearest": ", ".join(
                f"{name} {share * 100:.0f} %" for name, share in sorted(one.nearest.items(), key=lambda item: -item[1])
            ),
        }
        for one in sorted(found.unknown, key=lambda one: one.rejected_share)
    )


def inner_table(found: Evaluation) -> pd.DataFrame:
    """Return the distances among the runs of each workload, with the published ones below."""
    ours = [
        {
            "workload": one.workload,
            "dtw_mean": one.dtw_mean,
            "dtw_sd": one.dtw_std,
            "euclidean_mean": one.ed_mean,
            "euclidean_sd": one.ed_std,
            "pairs": one.n_pairs,
        }
        for one in found.distances
    ]
    names = ("dtw_mean", "dtw_sd", "euclidean_mean", "euclidean_sd")
    published = [
        {"workload": f"published: {name}", **dict(zip(names, figures, strict=True)), "pairs": None}
        for name, figures in TABLE_FOUR.items()
    ]
    return pd.DataFrame([*ours, *published])
