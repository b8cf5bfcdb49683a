"""What every estimate is held against: constants, medians, a plain boosted regression."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from workprof.arrays import Floats
from workprof.profiles.estimation.boosting import TREE_THREADS
from workprof.profiles.estimation.cells import Cells, Past, backoff_medians
from workprof.profiles.estimation.design import encode, learn_vocabulary
from workprof.profiles.estimation.target import LogScale
from workprof.profiles.features import draw_rows

if TYPE_CHECKING:
    import pandas as pd

BASELINES = ("global_mean", "global_median", "user_median", "backoff_medians", "boosted_plain")
BOOSTED_ROWS = 20_000


def baselines(
    past_jobs: pd.DataFrame, past: Past, jobs: pd.DataFrame, asked: Cells, scale: LogScale, fields: tuple[str, ...]
) -> dict[str, Floats]:
    """Return name -> (n_rows,) predictions in the target's unit.

    Args:
        past_jobs: the training rows.
        past: their cells and log targets.
        jobs: the rows that are asked about.
        asked: their cells.
        scale: of the target.
        fields: submit-time fields in use.
    """
    n_rows, known = len(jobs), scale.from_log(past.targets)
    plain = Past(past.cells, known, past.units)
    found = {
        "global_mean": np.full(n_rows, known.mean()),
        "global_median": np.full(n_rows, np.median(known)),
        "backoff_medians": backoff_medians(plain, asked),
        "boosted_plain": scale.from_log(_boosted_plain(past_jobs, past, jobs, fields)),
    }
    if "user" in fields:
        found["user_median"] = _user_medians(past_jobs, known, jobs)
    return {name: found[name] for name in BASELINES if name in found}


def _user_medians(past_jobs: pd.DataFrame, known: Floats, jobs: pd.DataFrame) -> Floats:
    import pandas as pd  # noqa: PLC0415

    medians = pd.Series(known).groupby(past_jobs["user"].to_numpy()).median()
    found = jobs["user"].map(medians).fillna(float(np.median(known)))
    return np.array(found, dtype=np.float64)


def _boosted_plain(past_jobs: pd.DataFrame, past: Past, jobs: pd.DataFrame, fields: tuple[str, ...]) -> Floats:
    """Return log predictions of XGBoost with its defaults on metadata and plan, without time and history."""
    import xgboost  # noqa: PLC0415  heavy

    vocabulary = learn_vocabulary(past_jobs, past.targets, fields)
    rows = draw_rows(len(past_jobs), BOOSTED_ROWS, 0)
    timeless = 2  # encode() begins with two columns of time
    design = encode(past_jobs.iloc[rows], vocabulary, np.zeros(len(rows)))[:, timeless:]
    model = xgboost.train(
        {"nthread": TREE_THREADS, "tree_method": "hist"}, xgboost.DMatrix(design, past.targets[rows]), 100
    )
    wanted = encode(jobs, vocabulary, np.zeros(len(jobs)))[:, timeless:]
    found: Floats = model.predict(xgboost.DMatrix(wanted)).astype(np.float64)
    return found
