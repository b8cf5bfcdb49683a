import numpy as np
import pandas as pd
import pytest

from workprof.profiles.metadata import REST, count_values, heatmap, value_codes
from workprof.profiles.names import typical_names
from workprof.profiles.summary import RowResults, arrivals, duration_shape, feature_spread, summarise

SPREAD_FEATURES = ("cpu_usage_percent", "peak_memory_bytes")


def cards_of(jobs, labels, offset=0.0):
    labels = np.asarray(labels, dtype=np.int64)
    values = np.column_stack([labels * 1.0, np.arange(len(labels)) * 1e9])
    spread = feature_spread(values, values, labels, SPREAD_FEATURES)
    rows = RowResults(labels, labels * 0.1, np.where(labels < 0, np.nan, labels * 0.2))
    summary = summarise(jobs, rows, spread, offset)
    return {card.profile: card for card in summary.cards}, summary


def small_table():
    return pd.DataFrame(
        {
            "workload": ["bert"] * 6 + ["ctr", None],
            "task_name": ["worker"] * 5 + ["ps", "ps", "ps"],
            "job_name": ["a"] * 4 + ["b", "c", "d", "e"],
            "user": ["u"] * 8,
            "start_time_s": [0.0, 3600, 86_400, np.nan, 0, 0, 0, 0],
            "duration_s": [13.0] * 6 + [100.0, 72_848.0],
        }
    )


def test_cards():
    cards, summary = cards_of(small_table(), [0, 0, 0, 0, 0, 0, -1, -1])
    assert [card.profile for card in summary.cards] == [-1, 0]
    first = cards[0]
    assert (first.size, first.share) == (6, 0.75)
    assert first.purity == pytest.approx(5 / 6)
    assert first.job_purity == pytest.approx(4 / 6)
    assert (first.n_users, first.n_groups, first.n_jobs) == (1, 0, 3)
    assert (first.spike_s, first.spike_share) == (13.0, 1.0)
    assert first.arrivals_by_hour[:2].tolist() == [4, 1]
    assert first.arrivals_by_weekday.tolist() == [0, 0, 0, 4, 1, 0, 0]
    top = {item.field: item for item in reversed(first.top_metadata)}
    assert (top["task_name"].value, top["task_name"].rows, top["task_name"].share) == (
        "worker",
        5,
        pytest.approx(5 / 6),
    )
    assert first.takeaway.startswith("Profile 0: 6 rows (75.0 %); mostly bert/worker. 100 % of the runs last 13 s")
    assert cards[-1].takeaway.startswith("Outliers: 2 rows")
    assert np.isnan(cards[-1].silhouette_clustered)


def test_labels_name_one_job_and_one_cell():
    jobs = small_table()
    cards, _ = cards_of(jobs, [0, 0, 0, 0, 1, 1, 1, 1])
    assert cards[0].labels == ("one job", "one metadata cell")
    assert cards[1].labels == ("heavy tail",)


def test_what_is_not_given_is_no_value():
    jobs = pd.DataFrame({"job_name": [None, None, "a", "a", "a", None], "workload": [None] * 5 + ["w"], "user": "u"})
    cards, _ = cards_of(jobs.assign(task_name=[None, None, *["t"] * 4]), [0, 0, 1, 1, 1, 1])
    assert [cards[at].labels for at in (0, 1)] == [(), ()]
    assert [(cards[at].n_jobs, cards[at].n_users) for at in (0, 1)] == [(0, 1), (1, 1)]
    assert np.isnan([cards[0].job_purity, cards[0].purity]).all()
    assert (cards[1].job_purity, cards[1].purity) == (0.75, 0.75)


def test_a_name_keeps_its_first_slash():
    jobs = pd.DataFrame({"task_name": ["/opt/bin/sort", "opt/bin/sort", "/", None], "user": ["/a", "", "b", "c"]})
    assert value_codes(jobs, ("task_name",))[1] == ("/", "/opt/bin/sort", "not given", "opt/bin/sort")
    expected = ["/a//opt/bin/sort", "/opt/bin/sort", "b//", "c/not given"]
    assert sorted(value_codes(jobs, ("user", "task_name"))[1]) == expected


def test_without_metadata():
    cards, summary = cards_of(pd.DataFrame({"x": range(4)}), [0, 0, 1, 1])
    assert np.isnan(cards[0].purity)
    assert np.isnan(cards[0].duration_quantiles_s).all()
    assert cards[0].arrivals_by_hour.sum() == 0
    assert summary.heatmaps == ()


def test_heatmap_counts_every_row():
    jobs = pd.DataFrame({"user": [f"u{i % 50}" for i in range(500)]})
    groups = np.arange(500) % 3
    counts = count_values(jobs, ("user",), groups, 3)
    shown = heatmap(counts, np.arange(3))
    assert shown.counts.shape == (3, 31)
    assert shown.values[-1] == REST  # noqa: PD011  a record, no frame
    assert shown.counts.sum(axis=1).tolist() == np.bincount(groups).tolist()


def test_counts_equal_pandas():
    rng = np.random.default_rng(0)
    jobs = pd.DataFrame({"a": rng.choice(["x", "y", None], 300), "b": rng.choice(["1", "2"], 300)})
    groups = rng.integers(0, 4, 300)
    counts = count_values(jobs, ("a", "b"), groups, 4)
    texts = jobs["a"].fillna("not given") + "/" + jobs["b"]
    expected = pd.crosstab(groups, texts)
    for group, value, rows in zip(counts.group, counts.value, counts.rows, strict=True):
        assert expected.loc[group, counts.texts[value]] == rows
    assert counts.rows.sum() == 300
    assert all(np.all(np.diff(counts.rows[a:b]) <= 0) for a, b in zip(counts.first[:-1], counts.first[1:], strict=True))


@pytest.mark.parametrize(("offset", "hour", "weekday"), [(0, 20, 3), (8 * 3600, 4, 4)])
def test_the_time_zone_moves_arrivals(offset, hour, weekday):
    hours, weekdays = arrivals(np.array([20 * 3600.0]), np.array([0]), 1, offset)
    assert (int(hours.argmax()), int(weekdays.argmax())) == (hour, weekday)


def test_shapes_of_durations():
    spike = duration_shape(np.concatenate([np.full(72, 13.0), np.geomspace(20, 72_848, 28)]))
    assert spike.has_spike
    assert spike.has_heavy_tail
    smooth = duration_shape(np.random.default_rng(0).normal(1000, 100, 500))
    assert not smooth.has_spike
    assert not duration_shape(np.linspace(6.1, 6.4, 100)).has_spike, "within one second, and none repeats"
    assert not smooth.has_heavy_tail
    assert np.isnan(duration_shape(np.array([np.nan])).quantiles_s).all()


def test_boxes():
    values = np.array([[0.0], [1], [2], [3], [100], [5], [6]])
    labels = np.array([0, 0, 0, 0, 0, 1, 1])
    spread = feature_spread(values, np.where(values == 1, np.nan, values), labels, ("f",))
    assert spread.profiles.tolist() == [0, 1]
    assert (spread.q1[0, 0], spread.median[0, 0], spread.q3[0, 0]) == (1.5, 2.5, 27.25)  # what is missing has no part
    assert (spread.lower[0, 0], spread.upper[0, 0]) == (0, 3)
    assert spread.raw_median[0, 0] == 2.5
    assert spread.mean[1, 0] == 5.5


def test_what_stands_in_for_missing_values_is_said_of_no_profile():
    draw = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 40)
    raw = np.column_stack([draw.normal(labels, 0.1), draw.normal(5 * labels, 0.1), draw.normal(0, 0.1, 120)])
    raw[labels == 2, 2] += 4
    filled = np.where((labels == 0)[:, None] & [False, False, True], 2.0, raw)  # the middle of all
    raw[labels == 0, 2] = np.nan
    jobs = pd.DataFrame({"row_id": np.arange(120)})
    spread = feature_spread(filled, raw, labels, ("cpu_usage_percent", "peak_memory_bytes", "read_bytes"))
    assert np.isnan([spread.median[0, 2], spread.std[0, 2], spread.upper[0, 2]]).all()
    cards = summarise(jobs, RowResults(labels, np.zeros(120), np.zeros(120)), spread).cards
    assert "read" not in cards[0].takeaway
    assert "nan" not in " ".join(card.takeaway for card in cards)
    assert "read" not in typical_names(cards, spread)[0]
    assert "read-heavy" in typical_names(cards, spread)[2]
