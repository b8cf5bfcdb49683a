"""Train, evaluate and explain on 15,000 runs: our whole answer against a plain scikit-learn / XGBoost / shap script.

Both give the same figures: a classifier of the profiles from submit-time metadata and the requests, its accuracy and
macro-F1 on a random fifth, every job and group once (five folds each) and the last 30 % of the runs; of duration and
peak memory, tested on ten folds by job, the relative errors of medians (of all, by user, by task of a user), plain
boosting, boosted quantiles and a quantile forest, each of the last two with an interval; mean |SHAP| of the classifier
over 1,000 runs. Ours also combines the predictors, with rules that are chosen inside the training rows; the script
does not.

The plain script does what a competent data scientist writes: one-hot of every value, XGBoost's defaults,
scikit-learn's random forest with the quantiles of Meinshausen 2006 from its leaves, intervals made to cover on held-out
jobs (split conformal), shap.TreeExplainer. BENCH_ROWS sets another size.
"""

import os

from tests.benchmarks.measure import Measured, beside, run_side

ROWS = 15_000

DATA = """
import os
import time
import numpy as np
from tests.forecasts.metadata import sample
from workprof.forecasts.encoder import METADATA_FIELDS, PLAN_FIELDS
from workprof.forecasts.splits import SPLITS, make_folds
jobs = sample({rows}, 0).rename(columns={{"max_mem": "peak_memory_bytes"}})
labels = jobs["profile"].to_numpy(dtype=np.int64)
targets = ("duration_s", "peak_memory_bytes")
"""

OURS = """
from workprof.forecasts.classifier import ClassifierSettings, LoadedClassifier, train_classifier
from workprof.forecasts.classifier_evaluation import evaluate_classifier
from workprof.forecasts.estimate_evaluation import run_evaluation
from workprof.forecasts.estimates import EstimateEvaluationSettings, EstimateSettings
from workprof.forecasts.explain import explain_all
settings = ClassifierSettings()
train_classifier(jobs[:2_000], labels[:2_000], settings)  # imports
took = {{}}
started = last = time.perf_counter()
def lap(name):
    global last
    now = time.perf_counter()
    took[name], last = round(now - last, 2), now
model = train_classifier(jobs, labels, settings)
lap("train")
found = evaluate_classifier({{"jobs": jobs}}, settings)
lap("evaluate")
for target in targets:
    asked = EstimateEvaluationSettings(EstimateSettings(target=target, split="by_job"))
    errors = run_evaluation({{"jobs": jobs}}, asked)
    lap(target)
explained = explain_all(LoadedClassifier(model), jobs, 1_000)
lap("explain")
seconds = time.perf_counter() - started
told = took | {{"f1": found.splits["by_group"].forced_macro_f1, "accuracy": found.splits["by_group"].forced_accuracy}}
"""

REFERENCE = """
import pandas as pd
import shap
import xgboost
from scipy.sparse import csr_matrix, hstack
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import accuracy_score, f1_score
from sklearn.preprocessing import OneHotEncoder
names, plan = list(METADATA_FIELDS), list(PLAN_FIELDS)
def encoded(train, test):
    encoder = OneHotEncoder(handle_unknown="ignore").fit(jobs.iloc[train][names])
    part = lambda rows: hstack([encoder.transform(jobs.iloc[rows][names]),
                                csr_matrix(jobs.iloc[rows][plan].to_numpy(dtype=np.float64))]).tocsr()
    return part(train), part(test)
def classified(train, test):
    known, target = np.unique(labels[train], return_inverse=True)
    learned, asked = encoded(train, test)
    trees = xgboost.XGBClassifier(base_score=0.5).fit(learned, target)
    return trees, known[trees.predict(asked)] if len(test) else None, learned
classified(np.arange(1_000), np.arange(100))  # imports
took = {{}}
started = last = time.perf_counter()
def lap(name):
    global last
    now = time.perf_counter()
    took[name], last = round(now - last, 2), now
trees, _, matrix = classified(np.arange(len(jobs)), np.arange(1))
lap("train")
scores = {{}}
for split in SPLITS:
    folds = make_folds(jobs, split, 5, 0)[: 1 if split == "random" else 5]
    said = [(labels[fold.test], classified(fold.train, fold.test)[1]) for fold in folds]
    truth, best = (np.concatenate(part) for part in zip(*said))
    inside = truth >= 0
    scores[split] = accuracy_score(truth[inside], best[inside]), f1_score(truth[inside], best[inside], average="macro")
lap("evaluate")
levels = np.array([0.05, 0.5, 0.95])
def boosted(learned, known, asked):
    booster = xgboost.XGBRegressor(objective="reg:quantileerror", quantile_alpha=levels)
    return booster.fit(learned, known).predict(asked)
def forest(learned, known, asked):
    for matrix in (learned, asked):
        matrix.data = np.nan_to_num(matrix.data, nan=-1.0)  # scikit-learn takes no missing values in sparse matrices
    trees = RandomForestRegressor(n_estimators=100, min_samples_leaf=3, n_jobs=-1, random_state=0).fit(learned, known)
    leaves, order = trees.apply(learned), np.argsort(known)
    found = []
    for own in trees.apply(asked):  # each run weighs by how often it shares a leaf, and with how many
        shares = leaves == own
        weights = (shares / shares.sum(axis=0)).sum(axis=1)[order].cumsum()
        found.append(known[order][np.searchsorted(weights, levels * weights[-1]).clip(max=len(known) - 1)])
    return np.array(found)
for target in targets:
    value = np.log1p(jobs[target].to_numpy(dtype=np.float64))
    covered, errors = {{}}, {{}}
    def said(name, log, fold):
        errors.setdefault(name, []).append(np.abs(np.expm1(log) / np.expm1(value[fold.test]) - 1))
    for fold in make_folds(jobs, "by_job", 10, 0):
        inner = make_folds(jobs.iloc[fold.train], "by_job", 5, 0)[0]
        learn, hold = fold.train[inner.train], fold.train[inner.test]
        past, asked = jobs.iloc[fold.train].assign(value=value[fold.train]), jobs.iloc[fold.test]
        said("median", np.full(len(fold.test), past["value"].median()), fold)
        for by in (["user"], ["user", "task_name"]):
            found = asked[by].merge(past.groupby(by)["value"].median().reset_index(), how="left", on=by)["value"]
            said(" and ".join(by), found.fillna(past["value"].median()).to_numpy(), fold)
        said("boosting", xgboost.XGBRegressor().fit(encoded(fold.train, hold)[0], value[fold.train]).predict(
            encoded(fold.train, fold.test)[1]), fold)
        for name, model in (("boosted quantiles", boosted), ("forest", forest)):
            learned, held = encoded(learn, hold)
            low, _, high = model(learned, value[learn], held).T
            margin = np.quantile(np.maximum(low - value[hold], value[hold] - high), 0.9)
            learned, tested = encoded(fold.train, fold.test)
            low, middle, high = model(learned, value[fold.train], tested).T
            inside = (low - margin <= value[fold.test]) & (value[fold.test] <= high + margin)
            covered.setdefault(name, []).append(inside)
            said(name, middle, fold)
    lap(target)
drawn = np.random.default_rng(0).permutation(len(jobs))[:1_000]
values = shap.TreeExplainer(trees).shap_values(matrix[drawn])
means = np.abs(values).mean(axis=0)
lap("explain")
seconds = time.perf_counter() - started
told = took | {{"f1": scores["by_group"][1], "accuracy": scores["by_group"][0]}}
"""


def run() -> Measured:
    rows = int(os.environ.get("BENCH_ROWS", ROWS))
    ours, theirs = (run_side((DATA + code).format(rows=rows)) for code in (OURS, REFERENCE))

    def steps(told: dict[str, object]) -> str:
        return ", ".join(f"{name} {value}" for name, value in told.items() if name not in ("f1", "accuracy"))

    return beside(
        ours,
        theirs,
        "sklearn's one-hot, xgboost's defaults and shap in a plain script",
        note=(
            f"{rows:,} runs; seconds of ours: {steps(ours.told)}; of the script: {steps(theirs.told)}; "
            f"macro-F1 by group {float(str(ours.told['f1'])):.3f} and {float(str(theirs.told['f1'])):.3f}"
        ),
    )
