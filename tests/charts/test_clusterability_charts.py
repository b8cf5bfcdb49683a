"""Figures of clusterability: the convention in words, published values apart and marked, readings never by colour."""

import math
from dataclasses import replace

import numpy as np

from tests.charts.records_for_tests import HOSTILE
from workprof.answers.profiles import stability_answer
from workprof.charts.clusterability import CONVENTION, baseline_dots, hopkins_line, stability_bars
from workprof.charts.shapes import headlines
from workprof.profiles.baseline import Baseline, BaselineSettings, LabelSilhouette
from workprof.profiles.hopkins import Hopkins, HopkinsSettings
from workprof.profiles.stability import ProfileStability, Stability, StabilitySettings, stability_reading

PUBLISHED = {"euclidean": 0.17, "cosine": 0.03, "manhattan": 0.21}
NAMES = {0: "P0", 1: f"P1 {HOSTILE}", 2: "P2", 3: "P3"}


def hopkins(value=0.11, reading="clustered"):
    draws = value + np.linspace(-0.01, 0.01, 5)
    return Hopkins(
        settings=HopkinsSettings(),
        hopkins=value,
        hopkins_sd=0.008,
        hopkins_power=1e-6,
        hopkins_power_sd=1e-7,
        draws=draws,
        draws_power=draws / 1e5,
        uniform_low=0.48,
        uniform_high=0.52,
        reading=reading,
        n_rows=5_000,
        n_sampled=500,
        n_dims=10,
        n_duplicates=0,
        resamples=5,
        seed=0,
        features=("a", "b"),
        notes=("The published 0.0033 (other rows, 17 features) is not verified.",),
        seconds=0.1,
    )


def label(by, euclidean, published=None, **more):
    return LabelSilhouette(by, euclidean, euclidean / 2, euclidean + 0.01, n_rows=90, published=published or {}, **more)


def baseline(profiles=True, values=(0.13, -0.01)):
    beside = label("profile", 0.64, n_outliers=10), label("profile", 0.5, n_outliers=10)
    return Baseline(
        settings=BaselineSettings(),
        labels=(
            label("workload", values[0], PUBLISHED),
            label("workload,task_name", values[1]),
            LabelSilhouette("user", reason="the table has no column user"),
        ),
        profiles=beside[0] if profiles else None,
        profiles_published=beside[1] if profiles else None,
        n_rows=100,
        features=("a", "b"),
        notes=("user has no silhouette: the table has no column user.",),
        seconds=0.1,
    )


def stability(values=(0.95, 0.8, 0.65, 0.2)):
    each = tuple(
        ProfileStability(i, 100 - i, mean, mean, mean - 0.01, mean, mean + 0.02, 0.1, stability_reading(mean))
        for i, mean in enumerate(values)
    )
    return Stability(
        settings=StabilitySettings(resamples=4),
        adjusted_rand=0.9,
        adjusted_rands=np.full(4, 0.9),
        shared_share=0.7,
        per_profile=each,
        jaccards=np.tile(values, (4, 1)),
        n_found=np.array([3, 4, 4, 5]),
        n_rows=400,
        n_resampled=320,
        min_cluster_size=20,
        min_samples=20,
        notes=("Each of 4 resamples holds 320 of 400 rows.",),
        seconds=0.1,
    )


EVERY = {
    "hopkins": hopkins_line(hopkins()),
    "baseline": baseline_dots(baseline()),
    "stability": stability_bars(stability(), NAMES),
}


def test_hopkins_says_its_convention_and_that_the_published_value_is_not_verified():
    chart = EVERY["hopkins"]
    assert "near 0 = clusterable, 0.5 = no more structure than uniform" in CONVENTION
    assert "0.0033" in chart.note
    assert "not verified" in chart.note
    assert any("published 0.0033, not verified" in note.text for note in chart.figure.layout.annotations)
    assert chart.takeaway == (
        "Hopkins 0.110 ± 0.008: the runs are far from uniform: they lie in one dense group or in several."
    )


def test_hopkins_without_structure_says_so():
    assert "no more clustered than uniform" in hopkins_line(hopkins(0.5, "no sign of clusters")).takeaway


def test_the_baseline_puts_the_profiles_first_and_the_published_values_hollow():
    chart = EVERY["baseline"]
    assert next(iter(chart.data["label"])).startswith("profiles")
    hollow = [trace for trace in chart.figure.data if str(trace.marker.symbol).endswith("-open")]
    assert len(hollow) == 3
    assert "not verified" in chart.note
    assert chart.takeaway.startswith("The profiles separate behaviour better than metadata labels")


def test_the_baseline_says_when_a_label_does_better_and_when_there_is_none():
    assert "no better than" in baseline_dots(baseline(values=(0.9, 0.1))).takeaway
    assert "about as well as" in baseline_dots(baseline(values=(0.638, 0.1))).takeaway
    sampled = replace(baseline(), labels=(label("workload", 0.6, standard_errors={"euclidean": 0.03}),))
    assert "about as well as" in baseline_dots(sampled).takeaway
    assert baseline_dots(baseline(profiles=False)).takeaway.startswith("The best label, workload")
    assert "No metadata label" in baseline_dots(baseline(values=(math.nan, math.nan))).takeaway


def test_stability_stands_least_stable_first_with_a_word_for_each():
    chart = EVERY["stability"]
    assert list(chart.data["reading"]) == ["not to be trusted", "doubtful", "stable", "highly stable"]
    words = next(trace for trace in chart.figure.data if trace.type == "scatter").text
    assert list(words) == ["0.20 not to be trusted", "0.65 doubtful", "0.80 stable", "0.95 highly stable"]
    assert chart.takeaway == "2 of 4 profiles come back stable in 4 resamples; P3 should not be trusted."


def test_stability_without_a_profile_is_told():
    assert "no profile" in stability_bars(stability(()), NAMES).takeaway


def test_stability_figures_carry_their_meaning():
    shown = headlines(stability_answer(stability()))
    assert shown[0].value == "2 of 4"
    assert all(item.meaning for item in shown)
