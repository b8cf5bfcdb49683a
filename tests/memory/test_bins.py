"""Bins: the search equals brute force under every option, the published tables come out, edited edges are put right."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from tests.memory.traces import task_called, trace
from tests.shared_data import needs_shared_data
from workprof.answers.bins import answer, curve_answer, nodes_sentence
from workprof.core.errors import NotEnoughData, SettingsError
from workprof.core.records import pack, unpack
from workprof.memory.bin_search import BinSettings, best_edges, exhaustive_trials, faithful_bins, needs_of, stride_edges
from workprof.memory.bins import SizedRuns, bins_of, effect_of_edges, improvement_curve
from workprof.memory.usage import usage_curve

GB = 1e9


def table(used_gb, requested_gb=64.0, hours=1.0, **columns):
    n = len(used_gb)
    return pd.DataFrame(
        {
            "peak_memory_bytes": np.asarray(used_gb) * GB,
            "requested_memory_bytes": np.broadcast_to(requested_gb, n) * GB,
            "duration_s": np.broadcast_to(hours, n) * 3600.0,
        }
        | columns
    )


def cost_of(edges, needed, weights):
    """Return the cost of edges by looking at every run; infinite where one fits into none."""
    total = 0.0
    for size, weight in zip(needed, weights, strict=True):
        fitting = [edge for edge in edges if edge >= size]
        total += weight * min(fitting) if fitting else np.inf
    return total


def brute_force(needed, weights, top, k):
    """Return the least cost over every choice of at most k edges on needed sizes, the top as given."""
    inner = sorted({size for size in needed if size < top})
    choices = (chosen for size in range(min(k, len(inner) + 1)) for chosen in itertools.combinations(inner, size))
    return min(cost_of((*chosen, top), needed, weights) for chosen in choices)


def random_case(rng, most_runs=9):
    n = int(rng.integers(1, most_runs + 1))
    jobs = table(
        rng.integers(1, 15, n) + rng.choice([0.0, 0.37]),
        requested_gb=rng.integers(2, 25, n).astype(float) if rng.random() < 0.5 else float(rng.integers(5, 25)),
        hours=rng.choice([0.0, 0.5, 1.0, 7.3], n) + rng.choice([0.0, 0.01]),
        price=rng.choice([0.0, 1.0, 2.5], n),
    )
    settings = BinSettings(
        k=int(rng.integers(1, 6)),
        weight=str(rng.choice(["count", "time", "cost"])),
        top=str(rng.choice(["pinned", "free"])),
        step_bytes=float(rng.choice([0.0, GB, 2.5 * GB])),
        headroom=float(rng.choice([0.0, 0.05, 0.3, 1.0, 5.0, rng.uniform(0, 5)])),
        price_column=str(rng.choice(["", "price"])),
    )
    return jobs, settings


def weights_of(jobs, settings):
    weights = np.ones(len(jobs))
    if settings.weight != "count":
        weights = jobs["duration_s"].to_numpy() / 3600
    if settings.weight == "cost" and settings.price_column:
        weights = weights * jobs["price"].to_numpy()
    return weights if weights.sum() > 0 else np.ones(len(jobs))


def needs_and_top(jobs, settings):
    """Return what every run needs and the top edge, run by run."""
    needed = []
    for use in jobs["peak_memory_bytes"]:
        size = use * (1 + settings.headroom)
        needed.append(math.ceil(size / settings.step_bytes) * settings.step_bytes if settings.step_bytes else size)
    pinned = max(jobs["requested_memory_bytes"].max(), jobs["peak_memory_bytes"].max())
    return needed, max(needed) if settings.top == "free" else max(pinned, *needed)


def judge(jobs, settings):
    """Hold a search against every choice of edges, its figures against counting run by run, its curve against both."""
    needed, top = needs_and_top(jobs, settings)
    weights = weights_of(jobs, settings)
    used, hours = jobs["peak_memory_bytes"].to_numpy(), jobs["duration_s"].to_numpy() / 3600
    requested = jobs["requested_memory_bytes"].to_numpy()
    found = bins_of({"jobs": jobs}, settings)
    edges, effect = found.edges_bytes, found.effect
    assert len(edges) <= settings.k
    assert edges[-1] == top
    best = brute_force(needed, weights, top, settings.k)
    assert effect.weighted_saved_share == pytest.approx(1 - best / (requested @ weights), rel=1e-9, abs=1e-9)
    assert found.search == "exact"

    limits = np.array([min(edge for edge in edges if edge >= size) for size in needed])
    assert (limits >= used * (1 + settings.headroom)).all()
    assert effect.saved_share == pytest.approx(1 - limits.sum() / requested.sum(), rel=1e-9, abs=1e-9)
    assert effect.saved_gb_h == pytest.approx((requested - limits) @ hours / GB, rel=1e-9, abs=1e-9)
    if hours.sum() > 0:
        by_time = 1 - (limits @ hours) / (requested @ hours)
        assert effect.time_based_saved_share == pytest.approx(by_time, rel=1e-9, abs=1e-9)
    assert effect.bin_runs.tolist() == [(limits == edge).sum() for edge in edges]
    least = [min((edge / use - 1 for use in used[limits == edge]), default=np.nan) for edge in edges]
    assert effect.bin_least_headroom == pytest.approx(least, nan_ok=True)
    assert (effect.n_above, effect.n_used_above) == (0, 0)

    curve = improvement_curve({"jobs": jobs}, settings)
    saved = curve.weighted_saved_share
    assert saved[settings.k - 1] == effect.weighted_saved_share
    assert curve.edges_bytes[settings.k - 1] == edges
    assert (np.diff(saved) >= 0).all()
    own = 1 - (np.array(needed) @ weights) / (requested @ weights)
    assert curve.continuous.weighted_saved_share == pytest.approx(own, rel=1e-9, abs=1e-9)
    for name in ("weighted_saved_share", "saved_share", "time_based_saved_share", "optimal_improvement"):
        shares = getattr(curve, name)
        assert np.isnan(shares).all() or (shares <= getattr(curve.continuous, name)).all()
        assert not getattr(curve.continuous, name) > getattr(curve.oracle, name)


@pytest.mark.some(2)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))])
def test_bins_equal_brute_force_under_every_option(seed):
    """1,000 cases: headroom of 0 to 500 %, steps, weights, tops; monotone in k, never above the bound."""
    rng = np.random.default_rng(seed)
    for _ in range(250):
        judge(*random_case(rng))


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(4, 8))
def test_more_bins_equal_brute_force_under_every_option(seed):
    rng = np.random.default_rng(seed)
    for _ in range(2_500):
        judge(*random_case(rng, most_runs=13))


def test_six_times_every_use_costs_more_and_says_so():
    jobs = table([3, 5, 8, 9.2], requested_gb=32.0, hours=[1, 2, 3, 4])
    found = bins_of({"jobs": jobs}, BinSettings(k=4, headroom=5.0))
    assert np.array(found.edges_bytes) / GB == pytest.approx([18, 30, 48, 55.2])
    cost = (1 * 18 + 2 * 30 + 3 * 48 + 4 * 55.2) / 320 - 1
    assert found.effect.time_based_saved_share == pytest.approx(-cost)
    told = answer(found)
    assert told.sentence == f"4 bins cost {cost * 100:.1f} % more than the GB·h that 4 runs request."
    assert "costs more" in told.figures[0].detail
    told = curve_answer(improvement_curve({"jobs": jobs}, BinSettings(headroom=5.0)), 4)
    assert told.sentence == f"4 bins cost {cost * 100:.1f} % more than the requests; no number of bins saves."


@pytest.mark.slow
def test_many_runs_save_more_with_every_bin_and_never_more_than_sizes_of_their_own():
    rng = np.random.default_rng(9)
    jobs = table(rng.lognormal(1, 1, 20_000).clip(0.01, 60), hours=rng.exponential(1, 20_000))
    for headroom in (0.0, 0.05, 1.3, 5.0):
        for weight in ("count", "time"):
            curve = improvement_curve({"jobs": jobs}, BinSettings(weight=weight, headroom=headroom))
            assert (np.diff(curve.weighted_saved_share) > 0).all()
            assert curve.weighted_saved_share[-1] <= curve.continuous.weighted_saved_share


def test_given_edges_hold_a_run_with_its_headroom_or_leave_it_its_request():
    jobs = table([2, 4, 9.6, 9.9, 11], requested_gb=16.0, hours=[1, 1, 2, 3, 4])
    found = bins_of({"jobs": jobs}, BinSettings(edges_bytes=(4.1 * GB, 10.1 * GB), headroom=0.05, step_bytes=GB))
    assert found.effect.bin_runs.tolist() == [1, 2]
    assert (found.effect.n_above, found.effect.n_used_above) == (2, 1)
    assert found.effect.saved_gb_h == pytest.approx(16 * 11 - (4.1 + 10.1 * 3 + 16 * 7))
    assert found.effect.bin_least_headroom == pytest.approx([4.1 / 2 - 1, 10.1 / 9.6 - 1])


@pytest.mark.slow
def test_edges_that_were_written_in_gb_hold_the_runs_that_they_were_made_for():
    rng = np.random.default_rng(4)
    for _ in range(300):
        jobs = table(rng.lognormal(1, 1, 30))
        settings = BinSettings(k=4, headroom=float(rng.choice([0.0, 0.05, 0.7])))
        found = bins_of({"jobs": jobs}, settings)
        again = tuple(float(f"{edge / GB!r}") * GB for edge in found.edges_bytes)
        given = bins_of({"jobs": jobs}, BinSettings(edges_bytes=again, headroom=settings.headroom))
        assert given.effect.bin_runs.tolist() == found.effect.bin_runs.tolist()


def test_a_pinned_top_that_is_too_small_for_the_headroom_grows_and_says_so():
    jobs = table([2, 9], requested_gb=10.0)
    found = bins_of({"jobs": jobs}, BinSettings(k=1, top="pinned", headroom=0.5))
    assert found.edges_bytes == (13.5 * GB,)
    assert found.effect.n_above == 0
    assert found.effect.time_based_saved_share == pytest.approx(-0.35)
    assert "13.5 GB in place of the 10 GB" in found.messages[0]
    assert bins_of({"jobs": jobs}, BinSettings(k=1, top="pinned", headroom=0.1)).messages == ()


@pytest.mark.slow
def test_every_smaller_number_comes_with_the_largest():
    rng = np.random.default_rng(5)
    for _ in range(200):
        sizes, weights = rng.integers(1, 12, 9).astype(float), rng.choice([0.0, 1.0, 3.0], 9)
        top = None if rng.random() < 0.5 else 14.0
        for k, choice in enumerate(best_edges(needs_of(sizes, weights, top), 6), start=1):
            assert choice.cost == pytest.approx(brute_force(sizes.tolist(), weights, top or sizes.max(), k))
            assert cost_of(choice.edges_bytes, sizes, weights) == pytest.approx(choice.cost)


@pytest.mark.slow
def test_stride_search_equals_trying_every_combination():
    rng = np.random.default_rng(6)
    for _ in range(1000):
        n, k, top, stride = int(rng.integers(1, 9)), int(rng.integers(1, 5)), 16.0, float(rng.choice([1.0, 2.0, 3.0]))
        used, weights = rng.uniform(0.5, 15, n), rng.choice([0.0, 1.0, 2.0], n)
        inner = np.arange(stride, top, stride)
        trials = [(*chosen, top) for chosen in itertools.combinations(inner, min(k - 1, len(inner)))]
        if len(inner) >= k - 1:
            assert len(trials) == exhaustive_trials(stride, top, k)
        best = min(cost_of(edges, used, weights) for edges in trials)
        found = stride_edges(used, weights, stride, top, k)[-1]
        assert cost_of(found.edges_bytes, used, weights) == pytest.approx(best)
        assert all(edge % stride == 0 for edge in found.edges_bytes[:-1])


@pytest.mark.parametrize(
    ("k", "edges", "cost", "saved"),
    [(2, [10, 64], 134, 73.8), (3, [3, 10, 64], 99, 80.7), (4, [3, 10, 30, 64], 65, 87.3)],
)
def test_the_worked_example(k, edges, cost, saved):
    """the top above every use is an edge of its own and forbids none on the largest use."""
    jobs = table([1, 1, 2, 2, 3, 9, 10, 30])
    found = bins_of({"jobs": jobs}, BinSettings(k=k, weight="count", top="pinned", headroom=0.0))
    assert np.array(found.edges_bytes) / GB == pytest.approx(edges)
    assert found.optimal_improvement == pytest.approx(1 - cost / (8 * 64))
    assert round(found.optimal_improvement * 100, 1) == saved


PUBLISHED = [
    ("methylseq", "BISMARK_DEDUPLICATE", 2, (67.1, 50.0), (68.7, 51.4), (82.0, 59.0)),
    ("methylseq", "BISMARK_DEDUPLICATE", 3, (80.8, 57.4), (82.0, 59.0), (83.8, 60.9)),
    ("methylseq", "BISMARK_DEDUPLICATE", 4, (82.5, 59.3), (83.8, 60.9), (84.7, 62.0)),
    ("methylseq", "BISMARK_METHYLATIONEXTRACTOR", 2, (93.8, 93.8), (95.3, 94.9), (98.2, 96.1)),
    ("methylseq", "BISMARK_METHYLATIONEXTRACTOR", 4, (96.4, 95.2), (98.5, 96.7), (98.7, 96.9)),
    ("eager", "markduplicates", 3, (63.7, 63.8), (64.5, 64.7), (65.4, 65.3)),
    ("eager", "damageprofiler", 2, (19.7, 13.0), (20.4, 14.9), (21.4, 15.9)),
]


@needs_shared_data
@pytest.mark.parametrize(("workflow", "last_part", "k", "stride", "pinned", "free"), PUBLISHED)
def test_the_measured_table(workflow, last_part, k, stride, pinned, free):
    """improvement in per cent by count (by time), peak_rss."""
    jobs = trace(workflow)
    task = task_called(jobs, last_part)
    for search, top, expected in (("stride", "pinned", stride), ("exact", "pinned", pinned), ("exact", "free", free)):
        settings = BinSettings(task=task, k=k, weight="count", top=top, headroom=0.0, search=search)
        by_count = bins_of({"jobs": jobs}, settings)
        by_time = bins_of({"jobs": jobs}, BinSettings(task=task, k=k, top=top, headroom=0.0, search=search))
        found = by_count.optimal_improvement, by_time.time_based_optimal_improvement
        assert tuple(round(share * 100, 1) for share in found) == expected


@needs_shared_data
def test_count_and_time_choose_different_edges():
    jobs = trace("methylseq")
    task = task_called(jobs, "BISMARK_DEDUPLICATE")
    settings = [BinSettings(task=task, k=2, top="pinned", headroom=0.0, weight=weight) for weight in ("count", "time")]
    lower = [bins_of({"jobs": jobs}, chosen).edges_bytes[0] / GB for chosen in settings]
    assert [round(edge, 1) for edge in lower] == [5.6, 37.6]


def test_faithful_settings_are_the_published_way():
    jobs = table([12, 31, 33, 95], requested_gb=100.0)
    found = bins_of({"jobs": jobs}, BinSettings(**(vars(faithful_bins(k=3)) | {"stride_bytes": 10 * GB})))
    assert np.array(found.edges_bytes) / GB == pytest.approx([20, 40, 100])
    assert (found.search, found.n_trials) == ("stride", 36.0)
    assert bins_of({"jobs": jobs}, faithful_bins(k=3)).stride_bytes == 100 * GB / 32


def test_edited_edges_are_put_right_and_runs_above_the_top_keep_their_request():
    runs = SizedRuns(np.array([1.0, 2.0, 5.0, 9.0]) * GB, np.full(4, 10.0) * GB, np.array([1.0, 1.0, 2.0, 4.0]))
    effect = effect_of_edges(runs, (6 * GB, 2 * GB, 2 * GB))
    assert effect.edges_bytes == (2 * GB, 6 * GB)
    assert len(effect.messages) == 2
    assert effect.bin_runs.tolist() == [2, 1]
    assert (effect.n_above, effect.above_share, effect.above_hours_share) == (1, 0.25, 0.5)
    assert effect.optimal_improvement == pytest.approx(1 - (2 + 2 + 6 + 10) / 40)
    assert effect.time_based_optimal_improvement == pytest.approx(1 - (2 + 2 + 12 + 40) / 80)
    assert effect.saved_gb_h == pytest.approx(80 - 56)
    assert effect.bin_used_share == pytest.approx([3 / 4, 5 / 6])


def test_two_baselines_where_requests_differ():
    """One static request for all flatters: the shares of what was requested say what is really saved."""
    effect = effect_of_edges(SizedRuns(np.array([4.0, 4.0]) * GB, np.array([5.0, 15.0]) * GB, np.ones(2)), (4 * GB,))
    assert effect.optimal_improvement == pytest.approx(1 - 8 / 30)
    assert effect.saved_share == pytest.approx(1 - 8 / 20)


def test_requests_below_the_use_are_counted_and_the_baseline_covers_them():
    found = bins_of({"jobs": table([8, 4], requested_gb=5.0)}, BinSettings(top="pinned"))
    assert found.static_bytes == 8 * GB
    assert found.edges_bytes[-1] == pytest.approx(8.4 * GB)
    assert found.effect.n_over_request == 1
    assert (
        bins_of({"jobs": table([8, 4], requested_gb=5.0)}, BinSettings(top="pinned", headroom=0.0)).edges_bytes[-1]
        == 8 * GB
    )


def test_runs_without_a_request_are_left_out_or_get_a_flat_one():
    jobs = table([1, 2, 3], requested_gb=np.array([4.0, np.nan, 8.0]))
    assert bins_of({"jobs": jobs}, BinSettings()).left_out["no request"] == 1
    assert bins_of({"jobs": jobs}, BinSettings(request_bytes=8 * GB)).effect.n_runs == 3
    with pytest.raises(NotEnoughData, match="give one that stands for all"):
        bins_of({"jobs": jobs.drop(columns="requested_memory_bytes")}, BinSettings())


def test_runs_of_no_time_fall_back_to_counting_and_say_so():
    found = bins_of({"jobs": table([1, 2], hours=0.0)}, BinSettings(k=1))
    assert "every run counts as one" in found.messages[0]
    assert np.isnan(found.time_based_optimal_improvement)
    assert found.optimal_improvement == pytest.approx(1 - 2.1 / 64)


def test_more_bins_save_more_and_no_bins_at_all_save_most():
    rng = np.random.default_rng(8)
    jobs = table(rng.lognormal(1, 1, 300).clip(0.1, 60), hours=rng.exponential(1, 300))
    for weight, name in (("count", "optimal_improvement"), ("time", "time_based_optimal_improvement")):
        curve = improvement_curve({"jobs": jobs}, BinSettings(weight=weight, headroom=0.0))
        saved = getattr(curve, name)
        assert (np.diff(saved) >= 0).all()
        assert saved[-1] <= getattr(curve.continuous, name) <= getattr(curve.oracle, name)
        alone = bins_of({"jobs": jobs}, BinSettings(k=4, weight=weight, headroom=0.0))
        assert alone.edges_bytes == curve.edges_bytes[3]
    with_headroom = improvement_curve({"jobs": jobs}, BinSettings(headroom=0.2))
    assert with_headroom.continuous.saved_share < with_headroom.oracle.saved_share


def test_headroom_scales_free_edges_and_leaves_a_pinned_top():
    jobs = table([1, 2, 9, 30])
    bare = bins_of({"jobs": jobs}, BinSettings(headroom=0.0)).edges_bytes
    assert bins_of({"jobs": jobs}, BinSettings(headroom=0.1)).edges_bytes == pytest.approx(np.array(bare) * 1.1)
    assert bins_of({"jobs": jobs}, BinSettings(headroom=0.1, top="pinned")).edges_bytes[-1] == 64 * GB


def test_records_come_back_from_their_stored_form():
    found = bins_of({"jobs": table([1, 2, 9, 30])}, BinSettings(step_bytes=GB))
    again = unpack(type(found), pack(found))
    assert again.edges_bytes == found.edges_bytes
    assert again.effect.bin_runs.tolist() == found.effect.bin_runs.tolist()
    assert again.settings == found.settings


def test_the_usage_curve_keeps_the_tail():
    used = np.random.default_rng(0).permutation(np.arange(1.0, 50_001.0))
    curve = usage_curve(used, np.ones(50_000))
    assert len(curve.used_bytes) <= 2_000
    assert curve.used_bytes[-250:].tolist() == list(np.arange(49_751.0, 50_001.0))
    assert curve.share[-1] == curve.hours_share[-1] == 1.0


@pytest.mark.parametrize(
    "wrong",
    [
        {"k": 0},
        {"k": 9},
        {"weight": "size"},
        {"top": "open"},
        {"search": "fast"},
        {"headroom": -0.1},
        {"headroom": 5.1},
        {"step_bytes": -1},
    ],
)
def test_settings_out_of_bounds_are_refused(wrong):
    with pytest.raises(SettingsError):
        BinSettings(**wrong)


@pytest.mark.parametrize("edges", [(0.0, 1e9), (float("nan"),), (float("inf"),), (-1.0,)])
def test_edges_that_are_no_sizes_are_refused(edges):
    with pytest.raises(SettingsError, match="above 0"):
        bins_of({"jobs": table([1.0])}, BinSettings(edges_bytes=edges))


def test_a_stride_far_too_small_is_refused():
    with pytest.raises(SettingsError, match="take a larger stride"):
        bins_of({"jobs": table([1.0])}, BinSettings(search="stride", stride_bytes=1.0))


def test_one_run_and_one_size():
    assert bins_of({"jobs": table([7.0])}, BinSettings(k=8, headroom=0.0)).edges_bytes == (7 * GB,)
    assert bins_of({"jobs": table([7.0] * 50)}, BinSettings(k=8, headroom=0.0, top="pinned")).edges_bytes == (
        7 * GB,
        64 * GB,
    )


def test_nodes_are_counted_by_what_the_runs_hold_at_once():
    """Two runs of 60 GB use 10 and overlap for an hour; a third of 60 GB uses 30, alone. One of no known time counts
    in the saving alone."""
    start_h = [0.0, 1.0, 9.0, np.nan]
    jobs = table([10.0, 10.0, 30.0, 10.0], 60.0, 2.0, start_time_s=np.asarray(start_h) * 3600)
    result = bins_of({"jobs": jobs}, BinSettings(k=2, headroom=0.0, step_bytes=0.0))
    held = result.at_once
    assert (held.requested_peak, held.peak) == pytest.approx((120, 30))
    assert result.edges_bytes == pytest.approx((10 * GB, 30 * GB))
    assert nodes_sentence(result) == "Nodes of 64 GB at the peak: at least 2 as requested, at least 1 with the bins."
    saved = 2 * (50 + 50 + 30 + 50)
    assert nodes_sentence(result, 30.0, 0.5).startswith(
        "Nodes of 30 GB at the peak: at least 4 as requested, at least 1"
    )
    assert "at least 1 with the bins. The largest request (60 GB) fits no such node." in nodes_sentence(result, 30.0)
    assert nodes_sentence(result, 30.0, 0.5).endswith(f"The bins save {saved / 2:g} USD.")
    worse = bins_of({"jobs": jobs}, BinSettings(edges_bytes=(100 * GB,)))
    assert nodes_sentence(worse, 64.0, 1.0).endswith("The bins cost 320 USD more.")
    untimed = bins_of({"jobs": jobs.drop(columns="start_time_s")}, BinSettings(k=2))
    assert math.isnan(untimed.at_once.peak) and "no times" in nodes_sentence(untimed)
