"""Runs with planted phases, and the records that the methods make of them."""

import dataclasses
import functools

import numpy as np
import pandas as pd

from tests.charts.records_for_tests import HOSTILE
from workprof.core.progress import silent
from workprof.core.stats import wilson
from workprof.phases.evaluation import ClassFigures, Curve, Evaluation, InnerDistances, KnownFigures, UnknownFigures
from workprof.phases.library import LibraryEdits, LibrarySettings, LibraryViewSettings, library_view
from workprof.phases.matching import KnownMatchSettings, Verdict, match_known
from workprof.phases.timeline import AlignmentSettings, TimelineSettings, aligned_runs, one_run

SAMPLES = 24
STEPS = {"one step": (10,), "two steps": (8, 16), HOSTILE: ()}
LEVELS = {"one step": (10.0, 60.0), "two steps": (30.0, 90.0, 5.0), HOSTILE: (45.0,)}
CPU, NET, FLAT, ODD = "app.cpu%", "app.rx_kb/s", "app.flat", f"{HOSTILE}_mb"
COUNTERS = (CPU, NET, FLAT, ODD)
RUNS = 4


@functools.cache
def samples():
    """Return four runs of each of three workloads; two counters share their steps, one is constant, one is noise."""
    return pd.concat([_run(workload, run) for workload in STEPS for run in range(1, RUNS + 1)], ignore_index=True)


def _run(workload, run):
    random = np.random.default_rng([list(STEPS).index(workload), run])
    t = np.arange(1, SAMPLES + 1, dtype=float)
    cpu = _levels(workload, LEVELS[workload]) + random.normal(0, 1, SAMPLES)
    return pd.DataFrame(
        {
            "workload": workload,
            "run": str(run),
            "t": t,
            "status": "short" if run == RUNS else "complete",
            CPU: cpu,
            NET: 100 * cpu + random.normal(0, 50, SAMPLES),
            FLAT: 7.0,
            ODD: random.normal(500, 5, SAMPLES),
        }
    )


def _levels(workload, levels):
    edges = [0, *STEPS[workload], SAMPLES]
    pairs = zip(edges[:-1], edges[1:], levels, strict=True)
    return np.concatenate([np.full(end - first, level) for first, end, level in pairs])


def frames(**changes):
    return {"samples": samples().assign(**changes)}


@functools.cache
def timeline(run="two steps/1", **settings):
    return one_run(frames(), TimelineSettings(run, **settings), silent)


@functools.cache
def match(run="one step/1", edits=None):
    """Return a match by distance and threshold: what decides where the verdict is as published."""
    settings = KnownMatchSettings(run, edits or LibraryEdits(), "", LibrarySettings(mode="faithful"))
    return match_known(frames(), settings, silent)


def scored_match():
    """Return the same match with a verdict as the pair model gives it."""
    scores = {"one step": -1.5, "two steps": 4.0, HOSTILE: 6.0}
    verdict = Verdict("one step", "one step", -1.5, 0.5, 0.4, 0.3, True, "unlikeness -1.50 is within the limit 0.50")
    return dataclasses.replace(match(), scores=scores, verdict=verdict)


@functools.cache
def library(edits=None):
    return library_view(frames(), LibraryViewSettings(edits or LibraryEdits()), silent)


@functools.cache
def aligned():
    return aligned_runs(frames(), AlignmentSettings("one step/1", "two steps/1"), silent)


def known_figures():
    names = ("one step", "two steps", HOSTILE)
    return KnownFigures(
        accuracy=22 / 24,
        accuracy_sd=0.05,
        accuracy_interval=wilson(11, 12),
        accuracy_with_rejections=20 / 24,
        precision=0.93,
        recall=0.92,
        f1=0.92,
        per_class=tuple(ClassFigures(name, 0.9, f1, f1, 8) for name, f1 in zip(names, (0.9, 0.8, 1.0), strict=True)),
        workloads=names,
        confusion=np.array([[7, 1, 0], [1, 7, 0], [0, 0, 8]], dtype=np.int64),
        n_splits=8,
        n_test=24,
        learners={"pair_model": 22 / 24, "boosted_fingerprints": 0.8, "nearest_ed": 0.75, "nearest_dtw": 0.7},
        n_truncated=1,
    )


def evaluation(known=True, unknown=True, mode="corrected"):
    """Return a made-up evaluation: its numbers are what the figures must show."""
    c = np.linspace(-1, 3, 9)
    curves = tuple(
        Curve(measure, c, np.linspace(1.0, 0.2, 9), np.linspace(0.6, 0.0, 9)) for measure in ("pair_model", "ed")
    )
    return Evaluation(
        mode=mode,
        counters=COUNTERS,
        known=known_figures() if known else None,
        baselines={"majority": 0.33, "nearest_means": 0.75, "boosted_means": 0.5},
        c=1.25,
        unknown=(
            UnknownFigures("one step", {"two steps": 0.75, HOSTILE: 0.25}, 0.75, 4),
            UnknownFigures(HOSTILE, {"one step": 1.0}, 0.5, 4),
        )
        if unknown
        else (),
        rejected_share=0.625 if unknown else float("nan"),
        rejected_interval=wilson(1.25, 2) if unknown else wilson(0, 0),
        false_reject_share=0.1 if unknown else float("nan"),
        false_reject_interval=wilson(2, 20) if unknown else wilson(0, 0),
        curves=curves if unknown else (),
        distances=(InnerDistances("one step", 20.0, 5.0, 3.0, 0.5, 6), InnerDistances(HOSTILE, *[float("nan")] * 4, 0)),
        notes=("a note",),
        seconds=12.0,
    )
