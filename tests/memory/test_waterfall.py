"""From now to planned: the steps add up to the replayed charge, and each is what counting run by run gives."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tests.memory.naive_replay import try_one_by_one
from workprof.core.units import GB
from workprof.memory.bin_models import PredictorSettings, faithful_predictor
from workprof.memory.bin_search import BinSettings
from workprof.memory.models import train_predictors
from workprof.memory.retry import RetrySettings, Sizes

SETTINGS = PredictorSettings(bins=BinSettings(task="t", k=3), models=("svm",), sampling=("none", "weighted"), trials=0)


def jobs(n=160, right=0.7):
    """Return runs of three sizes whose group tells the size of some; the others are told at random."""
    random = np.random.default_rng(7)
    group = random.choice(["small", "middle", "large"], n, p=[0.6, 0.3, 0.1])
    base = pd.Series(group).map({"small": 1.0, "middle": 6.0, "large": 30.0}).to_numpy()
    told = np.where(random.random(n) < right, group, random.permutation(group))
    return pd.DataFrame(
        {
            "task_name": "t",
            "group": told,
            "requested_memory_bytes": random.choice([16.0, 40.0, 64.0], n) * GB,
            "peak_memory_bytes": base * random.uniform(0.6, 1.0, n) * GB,
            "duration_s": random.uniform(600, 7200, n),
        }
    )


CASES = {
    "default": SETTINGS,
    "pinned": replace(SETTINGS, bins=replace(SETTINGS.bins, top="pinned", headroom=0.3)),
    "steps": replace(SETTINGS, bins=replace(SETTINGS.bins, step_bytes=2.0 * GB, headroom=0.2)),
    "given": replace(SETTINGS, bins=replace(SETTINGS.bins, edges_bytes=(0.9 * GB, 5.0 * GB, 20.0 * GB))),
    "faithful": replace(faithful_predictor("t", 3), models=("svm",), sampling=("none",), trials=0),
    "max seen": replace(SETTINGS, retry=RetrySettings(rule="max_seen", time_to_failure=0.4)),
    "double": replace(SETTINGS, retry=RetrySettings(rule="double"), failure_price_gb_h=5.0),
    "cap": replace(SETTINGS, retry=RetrySettings(cap_bytes=18.0 * GB)),
    "no retry": replace(SETTINGS, retry=RetrySettings(max_retries=0)),
}


def every(found):
    return (*found.models, *found.cheapest, found.constant, found.cheapest_constant)


def steps_one_by_one(table, found, predicted, edges):
    """Return the steps by following every test run on its own."""
    asked, bins = found.settings.retry, found.settings.bins
    learned = table.drop(index=table.index[found.test_rows])["peak_memory_bytes"].max()
    told = dict.fromkeys(("now", "bins", "margin", "model", "retries", "planned", "used"), 0.0)
    ends = {"too_large": 0, "failed": 0, "unfinished": 0}
    for place, row in enumerate(table.iloc[found.test_rows].to_dict("records")):
        use, hours = row["peak_memory_bytes"], row["duration_s"] / 3600
        own_bin = next((b for b, edge in enumerate(edges) if edge >= use), len(edges) - 1)
        bare = edges[own_bin]
        if not bins.edges_bytes and not (bins.top == "pinned" and own_bin == len(edges) - 1):
            bare = bare / (1 + bins.headroom)
        own = max(use, min(edges[own_bin], asked.cap_bytes or np.inf))
        ideal = min(own, max(use, bare))
        ran = try_one_by_one([use], [hours], sizes(edges, predicted[place], learned, asked.rule), asked)
        charged, failures = ran["charged"][0], ran["failures"][0]
        told["now"] += row["requested_memory_bytes"] / GB * hours
        told["bins"] += (ideal - row["requested_memory_bytes"]) / GB * hours
        told["margin"] += (own - ideal) / GB * hours
        told["retries" if failures else "model"] += charged - own / GB * hours
        told["planned"] += charged
        told["used"] += use / GB * hours
        ends["failed"] += failures > 0
        ends["too_large"] += not failures and charged > own / GB * hours * (1 + 1e-9)
        ends["unfinished"] += ran["never_fit"] + ran["given_up"]
    return told, ends


def sizes(edges, start, learned, rule):
    steps = {"max_seen": [learned], "double": []}.get(rule, list(edges))
    return Sizes(np.array([edges[start]]), np.array([steps]).reshape(1, -1))


@pytest.mark.parametrize("name", CASES)
def test_every_step_is_that_of_counting_run_by_run(name):
    table = jobs()
    found = train_predictors({"jobs": table}, CASES[name])
    for model in every(found):
        steps = model.waterfall
        told, ends = steps_one_by_one(table, found, model.predicted, found.edges_bytes.tolist())
        figures = {key: getattr(steps, f"{key}_gb_h") for key in told}
        assert figures == pytest.approx(told, rel=1e-9, abs=1e-9)
        assert {key: getattr(steps, f"n_{key}") for key in ends} == ends
        change = steps.bins_gb_h + steps.margin_gb_h + steps.model_gb_h + steps.retries_gb_h
        assert steps.now_gb_h + change == pytest.approx(model.charged_gb_h, rel=1e-12)
        assert steps.planned_gb_h == model.charged_gb_h
        assert 1 - steps.planned_gb_h / steps.now_gb_h == pytest.approx(model.saved_share)
        assert steps.margin_gb_h >= 0


def test_a_fact_that_tells_every_bin_leaves_no_error():
    found = train_predictors({"jobs": jobs(right=1.0)}, SETTINGS)
    for model in found.models:
        assert model.accuracy == 1.0
        assert (model.waterfall.model_gb_h, model.waterfall.n_too_large) == (0.0, 0)
        above = model.waterfall.n_failed  # runs above the top edge: it was made from other runs
        assert model.failures == above
        assert (model.waterfall.retries_gb_h > 0) == (above > 0)


def test_without_headroom_there_is_no_margin_and_more_of_it_costs_more():
    shares = (0.0, 0.05, 0.5)
    bins = [replace(SETTINGS.bins, headroom=share) for share in shares]
    found = [train_predictors({"jobs": jobs()}, replace(SETTINGS, bins=one)).constant.waterfall for one in bins]
    margins = [steps.margin_gb_h for steps in found]
    assert margins[0] == 0.0
    assert margins == sorted(margins)
    assert len({steps.now_gb_h for steps in found}) == 1


def test_without_requests_the_largest_use_stands_for_them():
    table = jobs().drop(columns="requested_memory_bytes")
    found = train_predictors({"jobs": table}, SETTINGS)
    hours = table["duration_s"].iloc[found.test_rows].sum() / 3600
    assert found.constant.waterfall.now_gb_h == pytest.approx(table["peak_memory_bytes"].max() / GB * hours)
