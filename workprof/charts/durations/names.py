"""What the predictors are called, and which of them are baselines."""

from __future__ import annotations

from dataclasses import dataclass

from workprof.forecasts.estimate_evaluation import EstimateEvaluation


@dataclass(frozen=True)
class Predictor:
    """A predictor in words."""

    label: str
    meaning: str
    baseline: bool = False


PREDICTORS = {
    "combined": Predictor("combined (ours)", "the three below, weighted on validation rows"),
    "recent": Predictor("recent history", "past jobs of the same group and task, the newest first"),
    "forest": Predictor("forest", "a quantile forest on metadata, plan and history"),
    "boosted": Predictor("boosted", "boosted trees on metadata, plan and history"),
    "global_mean": Predictor("mean of all jobs", "one value for every job", baseline=True),
    "global_median": Predictor("median of all jobs", "one value for every job", baseline=True),
    "user_median": Predictor("median per user", "of the user's past jobs", baseline=True),
    "backoff_medians": Predictor(
        "back-off medians", "the first of group, user and workload with a past", baseline=True
    ),
    "boosted_plain": Predictor("plain boosting", "XGBoost with its defaults on metadata and plan", baseline=True),
    "profile_mean": Predictor("profile mean (published)", "mean of the predicted profile", baseline=True),
    "profile_median": Predictor("profile median", "median of the predicted profile", baseline=True),
    "profile_q05": Predictor("profile 5th percentile", "promises too little by design", baseline=True),
    "profile_iqr": Predictor("profile quartile width", "a width, published as if it were a level", baseline=True),
    "profile_skew_adaptive": Predictor("profile by skewness", "median or 5th percentile", baseline=True),
}


def label(name: str) -> str:
    """Return what a predictor is called."""
    return PREDICTORS[name].label if name in PREDICTORS else name.replace("_", " ")


def shown(found: EstimateEvaluation, *, baselines: bool) -> tuple[str, ...]:
    """Return the predictors to show, the best last (it is drawn over the others); the best is never hidden."""
    others = [name for name in found.predictors if name != found.best]
    kept = [name for name in others if baselines or not (name in PREDICTORS and PREDICTORS[name].baseline)]
    return (*kept, found.best)


def flag(found: EstimateEvaluation, name: str) -> str:
    """Return 'best' for the predictor that validation chose, 'the paper's' for the one of faithful mode, else ''."""
    if name != found.best:
        return ""
    return "best" if found.settings.mode == "corrected" else "the paper's"


def is_baseline(name: str) -> bool:
    """Return whether a predictor only serves for comparison."""
    return name in PREDICTORS and PREDICTORS[name].baseline
