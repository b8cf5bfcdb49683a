"""One job explained by our classifier against shap's TreeExplainer on the plain one-hot model."""

from tests.benchmarks.measure import Measured, beside, run_side

JOBS = 20

DATA = """
import time
import numpy as np
from tests.forecasts.metadata import sample
from workprof.forecasts.encoder import METADATA_FIELDS
jobs = sample(100_001, 0)
labels = jobs["profile"].to_numpy(dtype=np.int64)
"""

OURS = (
    DATA
    + f"""
from workprof.forecasts.classifier import LoadedClassifier, train_classifier
from workprof.forecasts.classifier import ClassifierSettings
from workprof.forecasts.explain import explain_job
loaded = LoadedClassifier(train_classifier(jobs, labels, ClassifierSettings(fields=METADATA_FIELDS)))
explain_job(loaded, jobs.iloc[[0]])
times, gaps = [], []
for row in range(1, {JOBS} + 1):
    job = jobs.iloc[[row]]
    started = time.perf_counter()
    found = explain_job(loaded, job)
    times.append(time.perf_counter() - started)
    gaps.append(found.additivity_error)
seconds = float(np.median(times))
told = {{"slowest_s": max(times), "gap": max(gaps)}}
"""
)

REFERENCE = (
    DATA
    + f"""
import shap
import xgboost
from sklearn.preprocessing import OneHotEncoder
kept = np.flatnonzero(labels >= 0)
encoder = OneHotEncoder(handle_unknown="ignore").fit(jobs[list(METADATA_FIELDS)])
matrix = encoder.transform(jobs[list(METADATA_FIELDS)])
trees = xgboost.XGBClassifier(base_score=0.5).fit(matrix[kept], labels[kept])
explainer = shap.TreeExplainer(trees)
explainer.shap_values(matrix[kept[:1]])
times = []
for row in range(1, {JOBS} + 1):
    started = time.perf_counter()
    explainer.shap_values(matrix[kept[[row]]])
    times.append(time.perf_counter() - started)
seconds = float(np.median(times))
told = {{}}
"""
)


def run() -> Measured:
    ours, theirs = run_side(OURS), run_side(REFERENCE)
    return beside(
        ours,
        theirs,
        "shap.TreeExplainer on the plain one-hot model",
        note=(
            f"median of {JOBS} jobs, the slowest of ours {float(str(ours.told['slowest_s'])) * 1000:.0f} ms; largest "
            f"gap between the sum and the score {float(str(ours.told['gap'])):.1e}"
        ),
    )
