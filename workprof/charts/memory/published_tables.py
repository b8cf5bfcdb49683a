"""Tables 7 to 11 of the thesis for any task: models, samplings, and the binnings with estimate and replay."""

from __future__ import annotations

import pandas as pd

from workprof.memory.model_tables import PredictorTables
from workprof.units import GB


def best_models_table(found: PredictorTables) -> pd.DataFrame:
    """Return Tables 7 and 8: per number of bins and model the sampling with the lowest u-score; shares in per cent."""
    rows = [
        {"bins": one.k, "model": one.model, "over_sampling": one.sampling, "accuracy": 100 * one.accuracy}
        | {"u_score": one.u_score}
        for one in found.models
    ]
    return pd.DataFrame(rows)


def samplings_table(found: PredictorTables) -> pd.DataFrame:
    """Return Tables 9 and 10: the u-score of every model and sampling."""
    rows = [
        {"bins": one.k, "model": one.model, "over_sampling": one.sampling, "done": one.done, "u_score": one.u_score}
        for one in found.samplings
    ]
    return pd.DataFrame(rows)


def binnings_table(found: PredictorTables) -> pd.DataFrame:
    """Return Table 11 with the replay beside it; shares in per cent, edges in GB."""
    rows = [
        {
            "bins": one.k,
            "edges_gb": ", ".join(f"{edge / GB:.3g}" for edge in one.edges_bytes),
            "model": one.model,
            "optimal": 100 * one.optimal_improvement,
            "accuracy": 100 * one.accuracy,
            "u_rate": 100 * one.u_rate,
            "u_rate_low": 100 * one.u_rate_interval.low,
            "u_rate_high": 100 * one.u_rate_interval.high,
            "estimated": 100 * one.estimated_improvement,
            "replayed": 100 * one.replayed_improvement,
        }
        for one in found.binnings
    ]
    return pd.DataFrame(rows)


def binnings_sentence(found: PredictorTables) -> str:
    """Return which number of bins the estimate and the replay prefer."""
    if found.best_k_by_estimate == found.best_k_by_replay:
        return f"Estimate and replay both prefer {found.best_k_by_replay} bins."
    return (
        f"The thesis' estimate prefers {found.best_k_by_estimate} bins, the replay {found.best_k_by_replay}: trust the "
        "replay, which charges what a failure costs."
    )
