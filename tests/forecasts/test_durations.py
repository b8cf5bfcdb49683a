"""Observed curves: exact where they claim to be, bands that cover planted truths, nothing dropped unseen."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats
from statsmodels.duration.survfunc import SurvfuncRight

from workprof.answers.durations import ObservedView, durations_answer, group_names, met_words, value_words
from workprof.core.errors import ColumnMissing, NotEnoughData
from workprof.core.records import pack, unpack
from workprof.forecasts.durations import (
    FEWEST_ROWS,
    MOST_GROUPS,
    MOST_POINTS,
    TAIL_POINTS,
    DurationSettings,
    ObservedDurations,
    band_half_width,
    effective_rows,
    observed_durations,
    share_within,
    value_at,
)

LIFELINES = [
    0.857142857142857,
    0.8067226890756299,
    0.7529411764705878,
    0.6901960784313722,
    0.6274509803921566,
    0.5378151260504199,
    0.44817927170868327,
]
ALL = DurationSettings(by="all")


def observed(durations, asked=ALL, **columns):
    return observed_durations({"jobs": pd.DataFrame({asked.target: durations, **columns})}, asked)


def naive_share(durations, limit):
    return sum(1 for value in durations if value <= limit) / len(durations)


def naive_value(durations, share):
    ordered = sorted(durations)
    return next(value for i, value in enumerate(ordered) if (i + 1) / len(ordered) >= share - 1e-12)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 50), min_size=1, max_size=200), st.integers(0, 60), st.floats(0.01, 1))
def test_a_curve_is_the_obvious_count(durations, limit, share):
    curve = observed(np.array(durations, dtype=float)).everything
    assert curve.grid_step == 0
    assert share_within(curve, limit) == pytest.approx(naive_share(durations, limit))
    assert value_at(curve, share) == naive_value(durations, share)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_thinned_curve_keeps_its_tails_and_says_how_exact_it_is(seed):
    durations = np.random.default_rng(seed).lognormal(5, 2, 30_000)
    curve = observed(durations).everything
    ordered = np.sort(durations)
    assert len(curve.points) <= MOST_POINTS
    assert np.array_equal(curve.points[:TAIL_POINTS], ordered[:TAIL_POINTS])
    assert np.array_equal(curve.points[-TAIL_POINTS:], ordered[-TAIL_POINTS:])
    assert curve.shares[-1] == 1
    assert 0 < curve.grid_step < 2 / 1_000
    kept = [naive_share(durations, value) for value in curve.points[::97]]
    assert curve.shares[::97] == pytest.approx(kept)
    for limit in np.quantile(durations, [0.011, 0.3, 0.77, 0.9]):
        assert 0 <= np.mean(durations <= limit) - share_within(curve, limit) <= curve.grid_step + 1e-12


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_every_curve_rises_to_one(seed):
    random = np.random.default_rng(seed)
    durations = np.ceil(random.lognormal(3, 2, random.integers(1, 5_000)))
    curve = observed(durations).everything
    assert (np.diff(curve.points) > 0).all()
    assert (np.diff(curve.shares) > 0).all()
    assert curve.shares[-1] == 1
    assert len(curve.points) <= MOST_POINTS


def test_the_order_of_the_rows_changes_nothing():
    random = np.random.default_rng(3)
    frame = pd.DataFrame({"duration_s": random.lognormal(4, 1, 900), "user": random.choice(list("abc"), 900)})
    asked = DurationSettings(by="user")
    one, two = (observed_durations({"jobs": f}, asked) for f in (frame, frame.sample(frac=1, random_state=1)))
    assert pack(one).document["groups"][0]["name"] == pack(two).document["groups"][0]["name"]
    for first, second in zip(one.groups, two.groups, strict=True):
        assert np.array_equal(first.points, second.points)
        assert np.allclose(first.shares, second.shares)


def misses(truth, draw, asked, draws=300):
    """Return how often the true curve leaves the band somewhere, over planted draws."""
    missed = 0
    for seed in range(draws):
        frame = draw(np.random.default_rng(seed))
        curve = observed_durations({"jobs": frame}, asked).everything
        expected = truth(curve.points)
        before = np.concatenate([[0.0], curve.shares[:-1]])
        gap = max(np.abs(curve.shares - expected).max(), np.abs(before - expected).max())
        missed += gap > curve.band
    return missed / draws


def exponential(values):
    return 1 - np.exp(-values)


def test_the_band_covers_the_planted_curve_of_independent_rows():
    missed = misses(exponential, lambda random: pd.DataFrame({"duration_s": random.exponential(1, 80)}), ALL)
    assert missed <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)


def copies(random, named):
    sizes = random.integers(1, 12, 40)
    durations = np.repeat(random.exponential(1, 40), sizes)
    jobs = np.repeat([f"job{i}" for i in range(40)], sizes)
    return pd.DataFrame({"duration_s": durations, **({"job_name": jobs} if named else {})})


@pytest.mark.slow
def test_rows_of_one_job_are_no_independent_rows():
    with_jobs = misses(exponential, lambda random: copies(random, True), ALL)
    without = misses(exponential, lambda random: copies(random, False), ALL)
    assert with_jobs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)
    assert without > 0.3, "the plain band breaks its promise by far: that is why jobs are counted"


def test_effective_rows_between_one_job_and_every_row():
    assert effective_rows(np.array([1, 1, 1, 1])) == 4
    assert effective_rows(np.array([4])) == 1
    assert effective_rows(np.array([3, 1])) == pytest.approx(16 / 10)
    assert band_half_width(100, 0.95) == pytest.approx(np.sqrt(np.log(40) / 200))
    assert band_half_width(100, 0.99) > band_half_width(100, 0.9)


def test_the_twelve_largest_groups_then_the_others():
    users = np.repeat([f"u{i:02}" for i in range(20)], np.arange(100, 0, -5))
    found = observed(np.arange(1.0, len(users) + 1), DurationSettings(by="user"), user=users)
    assert [group.name for group in found.groups[:MOST_GROUPS]] == [f"u{i:02}" for i in range(MOST_GROUPS)]
    other = found.groups[MOST_GROUPS]
    assert (other.name, other.n_merged, other.n_rows) == ("other", 8, sum(range(5, 45, 5)))
    assert len(found.groups) == MOST_GROUPS + 1
    assert sum(group.n_rows for group in found.groups) == found.n_rows
    assert [group.few for group in found.groups[:-1]] == [False] * MOST_GROUPS


def test_a_group_that_is_called_other_stays_itself():
    found = observed([1.0, 2.0, 3.0], DurationSettings(by="user"), user=["other", "other", "a"])
    assert [(group.name, group.n_merged) for group in found.groups] == [("other", 0), ("a", 0)]


def test_few_rows_and_few_jobs_are_flagged():
    sizes = {"many": 200, "thirty": FEWEST_ROWS, "few": FEWEST_ROWS - 1, "one job": 100}
    users = np.repeat(list(sizes), list(sizes.values()))
    jobs = np.where(users == "one job", "same", [f"j{i}" for i in range(len(users))])
    found = observed(np.ones(len(users)), DurationSettings(by="user"), user=users, job_name=jobs)
    assert {group.name: group.few for group in found.groups} == {
        "many": False,
        "one job": True,
        "thirty": False,
        "few": True,
    }


def test_what_is_left_out_is_counted():
    found = observed([5.0, 0.0, 0.0, -3.0, np.nan, np.inf, 7.0])
    assert (found.n_rows, found.n_zero, found.n_negative, found.n_missing, found.n_left_out) == (2, 2, 1, 2, 5)


STATUS = ["timeout", "CANCELLED by 7", "running", "failed", "oom_killed", "pending"]


def ended(n, seed=0, **columns):
    """Return planted runs of which about two fifths did not finish: need, and when each was cut short."""
    random = np.random.default_rng(seed)
    need, cut = np.ceil(random.lognormal(4, 1, n)), np.ceil(random.lognormal(4.5, 1, n))
    done = need <= cut
    status = np.where(done, "ok", random.choice(STATUS[:3], n))
    return need, pd.DataFrame(
        {"duration_s": np.minimum(need, cut), "finished": done, "status": status.astype(object), **columns}
    )


def naive_kaplan_meier(durations, finished):
    """Return the share at or below each finished value: the product over moments, written out."""
    left, result = 1.0, {}
    for moment in sorted({value for value, done in zip(durations, finished, strict=True) if done}):
        ends = sum(1 for value, done in zip(durations, finished, strict=True) if done and value == moment)
        left *= 1 - ends / sum(1 for value in durations if value >= moment)
        result[moment] = 1 - left
    return result


@pytest.mark.parametrize("seed", range(5))
def test_a_censored_curve_is_the_product_written_out_and_that_of_statsmodels(seed):
    frame = ended(400, seed)[1]
    curve = observed_durations({"jobs": frame}, ALL).everything
    naive = naive_kaplan_meier(frame.duration_s, frame.finished)
    assert curve.points.tolist() == list(naive)
    assert curve.shares == pytest.approx(list(naive.values()), abs=1e-9)
    theirs = SurvfuncRight(frame.duration_s, frame.finished)
    assert np.array_equal(curve.points, theirs.surv_times)
    assert curve.shares == pytest.approx(1 - theirs.surv_prob, abs=1e-9)
    widening = (1 - curve.shares[:-1]) * (1 + 400 * (theirs.surv_prob_se[:-1] / theirs.surv_prob[:-1]) ** 2)
    assert curve.widening[:-1] == pytest.approx(widening, rel=1e-9)
    assert curve.finished.shares[-1] == 1
    assert curve.finished.n_rows == int(frame.finished.sum()) == 400 - curve.n_censored


def test_a_censored_curve_is_that_of_lifelines():
    """`KaplanMeierFitter` of lifelines 0.30.3 (it needs an older pandas, so that its answers stand here)."""
    frame = pd.DataFrame(
        {
            "duration_s": [6.0, 6, 6, 7, 10, 13, 16, 22, 23, 6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35],
            "finished": [True] * 9 + [False] * 12,
            "status": ["done"] * 9 + ["timeout", "cancelled", "running"] * 4,
        }
    )
    curve = observed_durations({"jobs": frame}, ALL).everything
    assert curve.points.tolist() == [6, 7, 10, 13, 16, 22, 23]
    assert 1 - curve.shares == pytest.approx(LIFELINES, abs=1e-9)
    assert value_at(curve, 0.3) == 13
    assert value_at(curve, 0.9) == np.inf
    assert curve.finished is not None
    assert value_at(curve.finished, 0.9) == 23


@pytest.mark.parametrize("seed", range(3))
def test_planted_needs_are_found_that_finished_runs_alone_put_too_low(seed):
    need, frame = ended(20_000, seed)
    curve = observed_durations({"jobs": frame}, ALL).everything
    truth = np.quantile(need, 0.9)
    assert value_at(curve, 0.9) == pytest.approx(truth, rel=0.05)
    assert value_at(curve.finished, 0.9) < 0.75 * truth


@pytest.mark.slow
def test_the_band_of_censored_runs_holds_the_planted_curve():
    missed = 0
    for seed in range(200):
        frame = ended(300, seed)[1]
        curve = observed_durations({"jobs": frame}, ALL).everything
        truth = stats.lognorm.cdf(curve.points, 1, scale=np.exp(4))
        missed += (np.abs(curve.shares - truth) > curve.band * curve.widening).any()
    assert missed / 200 <= 0.075


def test_runs_that_failed_are_left_out_and_counted_and_so_are_all_where_asked():
    frame = pd.DataFrame(
        {"duration_s": [10.0] * 8, "finished": [True, True] + [False] * 6, "status": ["ok", "ok", *STATUS]}
    )
    found = observed_durations({"jobs": frame}, ALL)
    assert (found.n_rows, found.everything.n_censored, found.n_unfinished, found.n_left_out) == (5, 3, 3, 3)
    alone = observed_durations({"jobs": frame}, DurationSettings(by="all", cut_short="left_out"))
    assert (alone.n_rows, alone.everything.n_censored, alone.n_unfinished) == (2, 0, 6)
    assert alone.everything.finished is None
    never = observed_durations({"jobs": frame.assign(duration_s=[10.0] * 2 + [0.0] * 6)}, ALL)
    assert (never.n_rows, never.n_unfinished, never.n_zero) == (2, 6, 0)  # cancelled before they began
    memory = frame.rename(columns={"duration_s": "peak_memory_bytes"})
    asked = DurationSettings(by="all", target="peak_memory_bytes")
    assert observed_durations({"jobs": memory}, asked).n_unfinished == 6


def test_a_run_that_went_on_after_a_kill_is_a_finished_one():
    frame = pd.DataFrame(
        {"duration_s": [3.0, 4.0], "finished": [True, True], "status": ["ok"] * 2, "out_of_memory_kills": [2, 0]}
    )
    found = observed_durations({"jobs": frame}, ALL)
    assert (found.n_rows, found.everything.n_censored) == (2, 0)


def test_a_group_of_which_no_run_finished_is_above_its_longest_run():
    frame = pd.DataFrame(
        {
            "duration_s": [5.0, 9.0, 4.0],
            "finished": [False, False, True],
            "status": ["timeout", "running", "ok"],
            "user": ["a", "a", "b"],
        }
    )
    found = observed_durations({"jobs": frame}, DurationSettings(by="user"))
    assert [value_words(one, "duration_s", 0.5) for one in found.groups] == ["over 9 s", "4 s"]
    assert unpack(ObservedDurations, pack(found)).groups[0].finished is None
    with pytest.raises(NotEnoughData, match="none of 2 runs finished"):
        observed_durations({"jobs": frame[:2]}, ALL)


@pytest.mark.parametrize(("percentile", "limit"), [(80, 3 * 3600), (80, 5400), (40, 600)])
def test_past_the_longest_run_that_was_cut_short_shares_are_bounds(percentile, limit):
    """One of two runs ends at 1 h, the other is cut at 2 h; of `a` none ends, and `b` and `c` end within a minute."""
    users = np.repeat(["whole", "a", "b", "c"], 40)
    durations = np.concatenate([np.tile([3600.0, 7200.0], 20), np.repeat([60.0, 30.0, 40.0], 40)])
    done = np.concatenate([np.tile([True, False], 20), np.repeat([False, True, True], 40)])
    frame = pd.DataFrame({"duration_s": durations, "finished": done, "user": users})
    frame["status"] = np.where(done, "ok", "timeout")
    view = ObservedView(percentile=percentile, limit=limit)
    half = observed_durations({"jobs": frame[:40]}, ALL)
    told, all_of_it = durations_answer(half, (), view), half.everything
    assert all_of_it.longest == told.document["all"]["max"] == 7200
    assert told.document["all"]["within_slo"] == {3 * 3600: None, 5400: 0.5, 600: 0.0}[limit]
    assert told.document["all"]["within_slo_at_least"] == share_within(all_of_it, limit)
    first, last = told.sentence.removesuffix(".").split(". ")
    assert first == (
        "Fewer than 80 % of runs finish within 2 h 00 min"
        if percentile == 80
        else "40 % of runs finish within 1 h 00 min"
    )
    assert last.startswith({3 * 3600: "At least 50.0 % meet", 5400: "50.0 % meet", 600: "0.0 % meet"}[limit])
    by_user = observed_durations({"jobs": frame}, DurationSettings(by="user"))
    words = durations_answer(by_user, group_names(by_user), ObservedView(limit=limit)).sentence
    assert "Of groups known at 80 %, b (30 s) is shortest, c (40 s) longest." in words
    (a,) = (one for one in by_user.groups if one.name == "a")
    assert met_words(a, limit) == "unknown"


def test_groups_of_finished_runs_beside_a_whole_with_others_are_called_so():
    frame = ended(900)[1]
    frame["profile"] = np.where(frame.finished, np.arange(900) % 2, np.nan)
    found = observed_durations({"jobs": frame}, DurationSettings())
    words = durations_answer(found, group_names(found), ObservedView()).sentence
    assert "Of groups of finished runs alone, P" in words


def test_a_true_zero_of_another_target_is_a_measurement():
    asked = DurationSettings(by="all", target="gpu_usage_percent")
    found = observed([0.0, 0.0, 50.0, -1.0], asked)
    assert (found.n_rows, found.n_zero, found.n_negative) == (3, 0, 1)
    assert share_within(found.everything, 0) == pytest.approx(2 / 3)


def test_profiles_outliers_and_rows_that_were_not_clustered():
    profile = [0.0, 0.0, -1.0, np.nan, 12.0]
    found = observed([1.0, 2.0, 3.0, 4.0, 5.0], DurationSettings(), profile=profile)
    assert [group.name for group in found.groups] == ["0", "-1", "12"]
    assert found.n_without_group == 1
    assert found.everything.n_rows == 5


@pytest.mark.parametrize("kind", ["category", "str", "object"])
def test_text_columns_of_every_kind_and_missing_names(kind):
    users = pd.Series(["a", None, "b", "a"], dtype=kind)
    found = observed([1.0, 2.0, 3.0, 4.0], DurationSettings(by="user"), user=users, job_name=users)
    assert [(group.name, group.n_rows) for group in found.groups] == [("a", 2), ("b", 1)]
    assert found.n_without_group == 1


def test_readouts_beyond_the_ends():
    curve = observed([10.0, 20.0]).everything
    assert (share_within(curve, 9.9), share_within(curve, 20), share_within(curve, 1e9)) == (0.0, 1.0, 1.0)
    assert (value_at(curve, 0.0), value_at(curve, 0.5), value_at(curve, 0.51), value_at(curve, 1.0)) == (10, 10, 20, 20)


def test_one_row_and_equal_rows():
    assert observed([3.0]).everything.points.tolist() == [3.0]
    curve = observed(np.full(500, 13.0)).everything
    assert (curve.points.tolist(), curve.shares.tolist()) == ([13.0], [1.0])


def test_the_record_survives_the_cache():
    found = observed([1.0, 2.0, 3.0], DurationSettings(by="user"), user=["a", "a", "b"])
    again = unpack(ObservedDurations, pack(found))
    assert again.groups[0].name == "a"
    assert np.array_equal(again.everything.shares, found.everything.shares)


def test_refusals_say_what_to_do():
    jobs = pd.DataFrame({"duration_s": [0.0, np.nan]})
    with pytest.raises(NotEnoughData, match="none of 2 finished runs"):
        observed_durations({"jobs": jobs}, ALL)
    with pytest.raises(NotEnoughData, match="none of 0 runs finished"):
        observed_durations({"jobs": jobs.iloc[:0]}, ALL)
    with pytest.raises(ColumnMissing, match="choose other groups"):
        observed_durations({"jobs": jobs}, DurationSettings(by="user"))
    with pytest.raises(ColumnMissing, match="another target"):
        observed_durations({"jobs": jobs}, DurationSettings(by="all", target="peak_memory_bytes"))


def test_groups_that_do_not_differ_are_not_called_shortest_and_longest():
    frame = pd.DataFrame({"duration_s": 100.0, "peak_memory_bytes": np.repeat([1e9, 2e9], 40)})
    frame["user"] = np.repeat(["a", "b"], 40)
    said = []
    for target in ("duration_s", "peak_memory_bytes"):
        found = observed_durations({"jobs": frame}, DurationSettings(by="user", target=target))
        said.append(durations_answer(found, group_names(found), ObservedView()).sentence)
    assert said[0] == "80 % of runs finish within 1 min 40 s. No group differs from another at 80 %."
    assert said[1].endswith("The lowest is a (1 GB), the highest b (2 GB).")


def test_the_band_that_is_told_is_that_of_runs_that_were_cut_short():
    """Of exponential times, half of them cut short, the curve is inside it at the cursor in 95 % of the samples."""
    draw, view, inside, plain = np.random.default_rng(0), ObservedView(percentile=80), 0, 0
    for _ in range(200):
        ends, cut = draw.exponential(1, (2, 100))
        frame = pd.DataFrame({"duration_s": np.minimum(ends, cut), "finished": ends <= cut})
        frame["status"] = np.where(frame["finished"], "ok", "cancelled")
        found = observed_durations({"jobs": frame}, ALL)
        curve, band = found.everything, durations_answer(found, (), view).document["all"]["band"]
        before = curve.shares <= 0.8
        off = np.abs(curve.shares - (1 - np.exp(-curve.points)))[before].max()
        inside, plain = inside + (off <= band), plain + (off <= curve.band)
    assert inside >= 190
    assert plain < inside
    whole = observed([1.0, 2.0, 3.0])
    assert durations_answer(whole, (), view).document["all"]["band"] == pytest.approx(whole.everything.band)
