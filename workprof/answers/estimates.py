"""What is said of predictors: their names, and which one gives the best guess and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workprof.core.words import label as target_words, listed
from workprof.forecasts.choice import SIMPLE
from workprof.forecasts.estimate_evaluation import EstimateEvaluation


@dataclass(frozen=True)
class Predictor:
    """A predictor in words."""

    label: str
    meaning: str
    baseline: bool = False


PREDICTORS = {
    "chosen": Predictor("workprof", "what validation runs inside the training part chose"),
    "combined": Predictor("combination", "history within bounds around the trees, the mean of 20 rules"),
    "recent": Predictor("recent history", "past runs of the same group and task, the newest first"),
    "forest": Predictor("forest", "a quantile forest on metadata, plan and history"),
    "boosted": Predictor("boosted", "boosted trees on metadata, plan and history"),
    "boosted_slow": Predictor("slow boosting", "boosted trees in small steps on metadata and plan"),
    "global_mean": Predictor("mean of all runs", "one value for every run", baseline=True),
    "global_median": Predictor("median of all runs", "one value for every run", baseline=True),
    "user_median": Predictor("median per user", "of the user's past runs", baseline=True),
    "backoff_medians": Predictor(
        "back-off medians", "the first of group, user and workload with a past", baseline=True
    ),
    "boosted_plain": Predictor("plain boosting", "XGBoost with its defaults on metadata and plan", baseline=True),
    "profile_mean": Predictor("profile mean (published)", "mean of the predicted profile", baseline=True),
    "profile_median": Predictor("profile median", "median of the predicted profile", baseline=True),
    "profile_q05": Predictor("profile 5th percentile", "under-predicts by design", baseline=True),
    "profile_iqr": Predictor("profile quartile width", "a width, published as if it were a level", baseline=True),
    "profile_skew_adaptive": Predictor("profile by skewness", "median or 5th percentile", baseline=True),
}


def label(name: str) -> str:
    """Return what a predictor is called."""
    return PREDICTORS[name].label if name in PREDICTORS else name.replace("_", " ")


def choice_words(result: EstimateEvaluation) -> str:
    """Return which predictors the folds chose and why; empty as published, where nothing is chosen."""
    if not result.chosen:
        return ""
    folds = sum(result.chosen.values())
    counts = [label(name) + (f" ({n} of {folds} folds)" if folds > 1 else "") for name, n in result.chosen.items()]
    over, name = result.over_best, next(iter(result.chosen))
    is_simple = name in SIMPLE
    rival = next((other for other in over if (other in SIMPLE) != is_simple), name)
    kept = " Nothing that learns beats this simple rule." if is_simple and over[name] <= over[rival] else ""
    return (
        f"Chosen on validation runs inside the training part: {listed(counts)}.{kept} "
        f"Errors there at p50, p80 and p90 average {over[name]:.2f} times the best single predictor's for "
        f"{label(name)}, {over[rival]:.2f} times for {label(rival)}."
    )


def best_guess_words(predictors: Mapping[str, str]) -> str:
    """What gives the best guess of each target, as validation runs chose; empty without any."""
    targets: dict[str, list[str]] = {}
    for target, name in predictors.items():
        targets.setdefault(label(name), []).append(target_words(target))
    named = [f"{name} ({', '.join(of)})" for name, of in targets.items()]
    return f"best guess by {listed(named)}" if named else ""
