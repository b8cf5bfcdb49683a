"""A small world whose jobs are known: four kinds of them, a loop that follows them, and drift where it is planted."""

import numpy as np
import pandas as pd

from workprof.core.units import DAY_S
from workprof.forecasts.estimates import Estimates
from workprof.forecasts.feedback.assignment import fit_assigner, job_units, new_rows
from workprof.forecasts.feedback.loop import FeedbackSettings, observe
from workprof.forecasts.feedback.model import FeedbackModel, acquires_of
from workprof.forecasts.feedback.windows import ProfileReference, sketch, start
from workprof.forecasts.forecaster import ForecasterSettings, Forecasts
from workprof.forecasts.predictions import Predictions
from workprof.forecasts.weighted_samples import effective_size
from workprof.profiles.features import prepare
from workprof.profiles.settings import SENSORS10

TARGET = "duration_s"
KINDS = 4
LEVELS = np.random.default_rng(99).normal(0, 2, (KINDS, len(SENSORS10)))
MEDIANS = np.array([30.0, 300.0, 3000.0, 900.0])
SPREAD = 0.5
NAMES = tuple(str(one) for one in range(-1, KINDS))


def jobs_of(n_rows, seed, factors=(1.0,) * KINDS, far_share=0.0, first_day=0.0, job_size=1):
    """Return finished jobs: features around their kind, durations around its median times a planted factor."""
    rng = np.random.default_rng(seed)
    n_jobs = -(-n_rows // job_size)
    kind = np.repeat(rng.integers(0, KINDS, n_jobs), job_size)[:n_rows]
    need = np.repeat(rng.normal(0, SPREAD, n_jobs), job_size)[:n_rows]
    logs = LEVELS[kind] + rng.normal(0, 0.15, (n_rows, len(SENSORS10)))
    far = rng.random(n_rows) < far_share
    logs[far] = rng.normal(0, 1, (int(far.sum()), len(SENSORS10))) + 9
    jobs = pd.DataFrame(np.exp(logs) * 100, columns=list(SENSORS10))
    jobs["job_name"] = [f"s{seed}j{i // job_size}" for i in range(n_rows)]
    jobs[TARGET] = MEDIANS[kind] * np.array(factors)[kind] * np.exp(need)
    jobs["start_time_s"] = (first_day + np.sort(rng.uniform(0, 5, n_rows))) * DAY_S
    jobs["kind"] = kind
    return jobs


def model_of(n_rows=2_000, seed=0, job_size=1):
    """Return what finished jobs are compared with, as if estimates were the medians of the kinds."""
    jobs = jobs_of(n_rows, seed, job_size=job_size)
    settings = ForecasterSettings()
    prepared = prepare(jobs, settings.classifier.profiles)
    units, labels = job_units(jobs), jobs["kind"].to_numpy(dtype=np.int64)
    filing, filed = fit_assigner(prepared, labels, units)
    logs = np.log(jobs[TARGET].to_numpy())
    errors = logs - np.log(MEDIANS[labels])
    profiles = {
        name: ProfileReference(
            int((filed == int(name)).sum()),
            (sketch(logs[filed == int(name)], units[filed == int(name)]),),
            (sketch(errors[filed == int(name)], units[filed == int(name)]),),
        )
        for name in NAMES
    }
    return FeedbackModel(
        settings=settings,
        filing=filing,
        targets=(TARGET,),
        floors={TARGET: 1e-3},
        profiles=profiles,
        n_rows=n_rows,
        effective_rows=effective_size(np.ones(n_rows), units),
        outlier_share=float((filed == -1).mean()),
        n_clusters=KINDS,
        acquires=acquires_of(prepared.points, filed, filing.metric, KINDS, 26),
        overall={TARGET: sketch(errors, units).points},
        seconds=0.0,
    )


def forecasts_of(jobs, predicted=None):
    """Return what was said of jobs: the median of the predicted kind, and an interval that covers 90 %."""
    kind = jobs["kind"].to_numpy(dtype=np.int64) if predicted is None else predicted
    point, wide = MEDIANS[kind], np.exp(1.645 * SPREAD)
    n = len(jobs)
    profiles = Predictions(
        classes=np.arange(KINDS),
        probabilities=np.full((n, KINDS), 1 / KINDS),
        profile=kind,
        best=kind,
        probability=np.ones(n),
        abstained=np.zeros(n, dtype=bool),
        reason=np.zeros(n, dtype=np.int64),
        reasons=("",),
        top=kind[:, None],
        top_probability=np.ones((n, 1)),
    )
    quantiles = point[:, None] * np.exp(SPREAD * np.array([-1.645, -1.282, -0.674, 0, 0.674, 1.282, 1.645]))
    nothing = np.zeros(n, dtype=np.int64)
    return Forecasts(
        profiles, {TARGET: Estimates(TARGET, point, point / wide, point * wide, quantiles, nothing, nothing, "recent")}
    )


def seen(state, model, jobs, settings=None, predicted=None):
    """Return the state after some jobs, and what they showed."""
    rows = new_rows(jobs, state.files, state.seen)
    mine = None if predicted is None else predicted[: len(rows.jobs)]
    return observe(state, model, rows, forecasts_of(rows.jobs, mine), settings or FeedbackSettings(), "2026-01-01")


def begun(model):
    return start(model, "2026-01-01")
