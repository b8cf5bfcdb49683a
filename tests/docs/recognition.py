"""Recognition in docs/results.md: `python -m tests.docs.recognition [steps|evaluation|trees|rounds]`.

The limit is judged on whole rounds of recordings: the runs of a round were made one after the other, and none of it is
known when its runs are recognised.
"""

import sys

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesClassifier

from tests.phases.test_changepoints_planted import planted, right_share
from tests.shared_data import FOLDER
from workprof.phases.changepoints import ChangePointSettings, change_points
from workprof.phases.evaluation import EvaluationSettings, _left_out, evaluate, false_reject_share, unknown_figures
from workprof.phases.fingerprints import RenormalisedRuns
from workprof.phases.library import faithful_library
from workprof.phases.runs import runs_of
from workprof.phases.trials import Split, stratified_splits

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
SEEDS = range(8)
N_TREES = 300
KNOWN_REJECTED = 0.075
DILATIONS = (1, 2, 4)
N_KERNELS = 2_000


def summaries(runs):
    """Return (n_runs, n_counters * 6): quantiles and lag-1 autocorrelation of each counter."""
    rows = []
    for run in runs:
        values = np.nan_to_num(run.values)
        off = values - values.mean(axis=1, keepdims=True)
        power = (off**2).sum(axis=1)
        lag = np.divide((off[:, 1:] * off[:, :-1]).sum(axis=1), power, out=np.zeros(len(off)), where=power > 0)
        rows.append(np.concatenate([*np.quantile(values, LEVELS, axis=1), lag]))
    return np.array(rows)


def convolved(runs, seed=0):
    """Return (n_runs, N_KERNELS): shares of positive values after random dilated kernels (Dempster et al., KDD 2021).

    As MiniRocket has them: nine weights of -1, three of them 2, and a bias that is a quantile of a run's own output.
    Ours draws counter, kernel, dilation, bias and its run for each feature; counters are in units of all runs.
    """
    draw = np.random.default_rng(seed)
    values = [np.nan_to_num(run.values) for run in runs]
    every = np.concatenate(values, axis=1)
    scale = np.where(every.std(axis=1) > 0, every.std(axis=1), 1.0)[:, None]
    values = [(one - every.mean(axis=1, keepdims=True)) / scale for one in values]
    features = np.empty((len(runs), N_KERNELS))
    for at in range(N_KERNELS):
        weights = np.full(9, -1.0)
        weights[draw.choice(9, 3, replace=False)] = 2.0
        kernel = np.zeros(8 * (step := int(draw.choice(DILATIONS))) + 1)
        kernel[::step] = weights
        counter = int(draw.integers(len(every)))
        out = [np.convolve(one[counter], kernel, "same") for one in values]
        bias = np.quantile(out[draw.integers(len(out))], draw.random())
        features[:, at] = [np.mean(one > bias) for one in out]
    return features


def judged(features, workloads, seeds=SEEDS):
    """Return shares: right answers on known runs, and unknown runs rejected where KNOWN_REJECTED of known ones are.

    The limit lies where it suits the tested known runs, which no limit of the training runs can do better.
    """
    right, known, unknown = [], [], {}
    for seed in seeds:
        for split in stratified_splits(workloads, 2, 0.3, seed):
            for left in np.unique(workloads):
                train = split.train[workloads[split.train] != left]
                trees = ExtraTreesClassifier(N_TREES, random_state=seed).fit(features[train], workloads[train])
                tested = split.test[workloads[split.test] != left]
                chances = trees.predict_proba(features[tested])
                right += (trees.classes_[chances.argmax(axis=1)] == workloads[tested]).tolist()
                known += chances.max(axis=1).tolist()
                own = trees.predict_proba(features[workloads == left]).max(axis=1)
                unknown.setdefault(left, []).extend(own)
    limit = np.quantile(known, KNOWN_REJECTED)
    return np.mean(right), np.mean([np.mean(np.array(own) < limit) for own in unknown.values()])


FEATURES = {"quantiles and lag-1": summaries, "MiniRocket-like": convolved}


def row(name):
    """Return the row of extra trees on these features, on the recordings of known workloads."""
    runs = recordings().runs
    right, rejected = judged(FEATURES[name](runs), np.array([run.workload for run in runs]))
    return f"| extra trees, {name} | {' | '.join(percents(right, rejected))} |"


def recordings():
    return runs_of(pd.read_csv(FOLDER / "telemetry" / "runs.csv"), ())


def round_row():
    """Return the row of our limit at its default: every round left out, and every workload out of each in turn."""
    runs, settings = recordings(), EvaluationSettings()
    rounds = np.array([int(run.run) for run in runs.runs])
    splits = [Split(np.flatnonzero(rounds != one), np.flatnonzero(rounds == one)) for one in np.unique(rounds)]
    fingerprints = RenormalisedRuns(runs, settings.library.fingerprints)
    trials = _left_out(runs, fingerprints, tuple(splits), settings, lambda share, words: None)
    known = [right for trial in trials for right, _ in trial.known_right_and_rejected()]
    unknown = np.mean([one.rejected_share for one in unknown_figures(trials)])
    cells = percents(np.mean(known), false_reject_share(trials), unknown)
    return f"| {settings.library.match.false_rejects:.2f} | {' | '.join(cells)} |".replace("| 0.", "| .")


def percents(*shares):
    return [f"{one:.1%}".replace("%", " %") for one in shares]


SETTINGS = {"default": EvaluationSettings, "as published": lambda: EvaluationSettings(faithful_library())}


def evaluation_row(mode):
    """Return the row of `workprof phases evaluate`: right, known runs called unknown, unknown runs rejected."""
    found = evaluate({"samples": pd.read_csv(FOLDER / "telemetry" / "runs.csv")}, SETTINGS[mode]())
    shares = percents(found.known.accuracy, found.false_reject_share, found.rejected_share)
    return f"| {mode} | {' | '.join(shares)} |"


DRAWS = {30: 2_000, 300: 2_000, 3_600: 500}


def step_row(n_samples):
    """Return the row of drawn series: noise in which a change is seen, one and two steps found where they are."""
    draws = DRAWS[n_samples]
    cuts = [[n_samples * (i + 1) // (steps + 1) for i in range(steps)] for steps in (1, 2)]
    seen = np.mean(change_points(planted(n_samples, [], 3, draws)).n_phases > 1)
    right = [right_share(change_points(planted(n_samples, own, seed, draws)), own) for seed, own in enumerate(cuts, 1)]
    return f"| {n_samples:,} | {' | '.join(percents(seen, *right))} |"


def noise_as_published():
    """Return the share of drawn noise of 30 samples in which the published priors see a change."""
    found = change_points(planted(30, [], 3, DRAWS[30]), ChangePointSettings(mode="faithful"))
    return percents(np.mean(found.n_phases > 1))[0]


PARTS = {
    "steps": lambda: [*map(step_row, DRAWS), noise_as_published()],
    "evaluation": lambda: map(evaluation_row, SETTINGS),
    "trees": lambda: map(row, FEATURES),
    "rounds": lambda: [round_row()],
}

if __name__ == "__main__":
    for name, printed in PARTS.items():
        if not sys.argv[1:] or name in sys.argv[1:]:
            for one in printed():
                print(one, flush=True)
