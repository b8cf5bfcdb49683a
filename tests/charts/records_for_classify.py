"""Answers, explanations and scores made by hand: two profiles, no profile, and a hostile value."""

import numpy as np

from tests.charts.records_for_tests import HOSTILE
from workprof.answers.forecasts import Naming
from workprof.forecasts.alternatives import Alternative, Alternatives, AlternativeSettings, Rule
from workprof.forecasts.classifier import ClassifierSettings
from workprof.forecasts.classifier_evaluation import (
    ClassifierEvaluation,
    SplitScores,
    class_scores,
    confusion_of,
    reliability,
)
from workprof.forecasts.estimates import Estimates
from workprof.forecasts.explain import GlobalExplanation, JobExplanation
from workprof.forecasts.predictions import Rules, decide

CLASSES = np.array([-1, 0, 7])
NAMES = {0: f"P0 {HOSTILE}", 7: "P7"}
NAMING, FAITHFUL = Naming(NAMES), Naming(NAMES, "faithful")
SPLITS = {"random": 1.0, "by_job": 0.8, "by_group": 0.6, "by_time": 0.5}


def predictions():
    """Return three rows: an answer, an unsure one, an outlier."""
    probabilities = np.array([[0.02, 0.03, 0.95], [0.1, 0.46, 0.44], [0.9, 0.04, 0.06]])
    rules = Rules(True, 0.6, 10, np.array([50, 40, 30]))
    return decide(probabilities, CLASSES, np.zeros(3, dtype=bool), rules)


def explanation(additive=True):
    contributions = np.array([1.5, -0.75, 0.25])
    return JobExplanation(
        profile=7,
        fields=("user", "task_name", "requested_memory_bytes"),
        values=(HOSTILE, "ps", "2 GiB"),
        states=("unseen", "known", "known"),
        contributions=contributions,
        base=-0.5,
        output=-0.5 + float(contributions.sum()) + (0.0 if additive else 1.0),
        probability=0.8,
        additivity_error=1e-8 if additive else 1.0,
        additive=additive,
        sentences=(f"user = {HOSTILE} (unseen in training) raises the odds of P7 4.5-fold",),
        seconds=0.01,
    )


def estimates(target, point, low, high):
    quantiles = np.array([[low, low, (low + point) / 2, point, (point + high) / 2, high, high]])
    ends = np.array([point]), np.array([low]), np.array([high])
    return Estimates(target, *ends, quantiles, np.array([1]), np.array([12]), "backoff_medians")


def scores(split="random", right=0.9):
    """Return scores of 300 rows of which a share is right; the wrong ones of profile 7 are answered 0."""
    truth = np.repeat(CLASSES, 100)
    answers = truth.copy()
    wrong = np.arange(300) % 100 >= round(100 * right)
    answers[wrong] = np.where(truth[wrong] == 7, 0, -1)
    confusion = confusion_of(truth, answers)
    classes = class_scores(confusion)
    held = reliability(np.full(300, 0.95), answers == truth)
    share = float((answers == truth).mean())
    return SplitScores(
        split=split,
        accuracy=share,
        macro_f1=share - 0.05,
        weighted_f1=share - 0.02,
        abstained_share=float((answers == -1).mean()),
        n_train=900,
        n_test=300,
        train_seconds=1.0,
        n_turns=1,
        profile_accuracy=share,
        answered_accuracy=share,
        forced_accuracy=share,
        forced_macro_f1=share,
        calibration_error=held.error,
        reasons={},
        classes=classes,
        confusion=confusion,
        reliability=held,
        new_users=reliability(np.full(20, 0.5), np.arange(20) < 9),
    )


def evaluation(rights=SPLITS, not_made=None, mode="corrected"):
    splits = {name: scores(name, right) for name, right in rights.items()}
    first = next(iter(splits))
    return ClassifierEvaluation(
        settings=ClassifierSettings(mode=mode),
        splits=splits,
        not_made=not_made or {},
        shown=first,
        classes=splits[first].classes,
        fields=("user", "task_name"),
        n_rows=1_200,
        notes=(),
        train_seconds=1.0,
        seconds=4.0,
    )


def alternatives():
    """Return boosted trees, and rules that are better in one fold of two."""
    kept = (("user", "is", HOSTILE), ("requested_memory_bytes", "at most", 2e9))
    rules = (Rule(kept, 7, 40, 0.9), Rule((), -1, 9, 0.5))
    ours = Alternative("boosted", scores("by_job", 0.8), np.array([0.8, 0.9]), 9_000, 0.01, ())
    other = Alternative("rules", scores("by_job", 0.7), np.array([0.7, 1.0]), 800, 0.02, rules)
    return Alternatives(AlternativeSettings(), (ours, other), 1_200, 900, (), 2.0)


def global_explanation(additive=True, n=60):
    random = np.random.default_rng(0)
    fields = ("user", "requested_memory_bytes")
    positions = np.column_stack([np.full(n, np.nan), random.random(n)])
    return GlobalExplanation(
        n_sampled=n,
        n_rows=5_000,
        seed=3,
        classes=CLASSES,
        fields=fields,
        by_field=np.array([[0.1, 0.4, 0.5], [0.1, 0.1, 0.05]]),
        values=(f"user = {HOSTILE}", "requested_memory_bytes"),
        by_value=np.array([[0.1, 0.3, 0.5], [0.1, 0.1, 0.05]]),
        row_ids=np.arange(1000, 1000 + n),
        chosen=random.choice(CLASSES, n),
        effects=random.normal(0, [[2.0], [0.2]], (n, 2, 3)),
        base=np.zeros(3),
        numbers=np.column_stack([np.full(n, np.nan), np.full(n, 2.0 * 1024**3)]),
        shown=np.array([[HOSTILE[:40], "2 GiB"]] * n),
        positions=positions,
        interactions=np.array([[1.0, 0.2], [0.2, 0.3]]),
        n_interactions=9,
        additivity_error=1e-7 if additive else 0.5,
        additive=additive,
        seconds=1.0,
    )
