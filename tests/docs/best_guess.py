"""Errors of the best guess in docs/results.md: `python -m tests.docs.best_guess`, with `eager` those of one trace."""

import functools
import sys
import tempfile
from pathlib import Path

import numpy as np

from tests.memory.traces import NAMES
from tests.shared_data import FOLDER, PAI_SAMPLE
from workprof.answers.estimates import label
from workprof.core.settings import from_environment
from workprof.forecasts.estimate_evaluation import evaluate_estimates
from workprof.forecasts.estimates import TARGETS, EstimateSettings
from workprof.forecasts.questions import LEARNED
from workprof.workbench import Workbench

WORDS = dict(zip(TARGETS, ("duration", "memory", "CPU", "GPU"), strict=True))
FILES = {"PAI": PAI_SAMPLE, **{name: FOLDER / "nextflow" / f"trace_{name}.csv" for name in NAMES}}


@functools.cache
def jobs_of(name):
    """Return the finished runs of a trace, as `workprof estimate evaluate` reads them."""
    with tempfile.TemporaryDirectory() as home, Workbench(from_environment().at(Path(home))) as bench:
        dataset = bench.ingest(FILES[name]).dataset
        return bench.frames_of(bench._jobs_of(dataset), LEARNED)()["jobs"]


SIMPLE = ("recent", "backoff_medians", "user_median", "global_median")
ROWS = tuple(
    (name, split, target)
    for split, names in (("by_job", ("PAI",)), ("by_time", FILES))
    for name in names
    for target in TARGETS
    if name == "PAI" or target != "gpu_usage_percent"
)


def errors_of(result, name):
    error = result.predictors[name].ratio_error
    return np.array([error.p50, error.p80, error.p90])


def written(errors):
    return " / ".join("∞" if np.isinf(one) else f"{one:.3f}".removeprefix("0") for one in errors)


def over_simple(result):
    """Return the mean of the three errors, each over the smallest of the simple rules'; infinite ones are equal."""
    best = np.min([errors_of(result, name) for name in SIMPLE if name in result.predictors], axis=0)
    ours = errors_of(result, "chosen")
    with np.errstate(invalid="ignore"):
        return float(np.where(ours == best, 1.0, ours / best).mean())


def row(name, split, target):
    """Return the row of a trace, a split and a target: what was chosen, its errors, and those of other predictors."""
    found = evaluate_estimates({"jobs": jobs_of(name)}, EstimateSettings(target=target, split=split))
    folds = sum(found.chosen.values())
    chosen = ", ".join(label(one) + (f" {n}" if folds > 1 else "") for one, n in found.chosen.items())
    cells = [name, WORDS[target], split.replace("_", " "), chosen]
    cells += [f"**{written(errors_of(found, 'chosen'))}**"]
    cells += [written(errors_of(found, other)) for other in ("combined", "recent", "backoff_medians", "boosted_plain")]
    under = f"{found.predictors['chosen'].under_predicted_share:.0%}".replace("%", " %")
    over, covered = f"{over_simple(found):.2f}".removeprefix("0"), f"{found.interval.coverage:.3f}".removeprefix("0")
    return f"| {' | '.join([*cells, over, under, covered])} |"


if __name__ == "__main__":
    for one in ROWS:
        if {*sys.argv[1:]} <= {*one}:
            print(row(*one), flush=True)
