"""Bins of a profile: those of its rows cut out by hand, what they waste, and every reason why there are none."""

import numpy as np
import pandas as pd
import pytest

from workprof.answers.bins import profile_answer
from workprof.core.errors import ColumnMissing, NotEnoughData, SettingsError
from workprof.core.records import canonical_json, pack, to_json, unpack
from workprof.memory.bin_search import BinSettings
from workprof.memory.bins import (
    LEAST_RUNS,
    PROFILE_COLUMN,
    ProfileBins,
    ProfileBinSettings,
    bins_of,
    improvement_curve,
    profile_bins_of,
    profile_curve_of,
)

GB = 1e9


def jobs():
    """Return three profiles of 60, 30 and 5 rows over two tasks, ten outliers, and five rows that no clustering saw."""
    random = np.random.default_rng(3)
    labels = np.repeat([0.0, 1.0, 2.0, -1.0, np.nan], [60, 30, 5, 10, 5])
    n = len(labels)
    use = np.select([labels == 0, labels == 1], [4.0, 30.0], 10.0) * random.uniform(0.5, 1.5, n)
    return pd.DataFrame(
        {
            PROFILE_COLUMN: labels,
            "task_name": np.where(random.random(n) < 0.3, "align", "sort"),
            "peak_memory_bytes": use * GB,
            "requested_memory_bytes": random.choice([16.0, 64.0], n) * GB,
            "duration_s": random.uniform(60, 7200, n),
            "price": random.uniform(1, 2, n),
        }
    ).sample(frac=1.0, random_state=1, ignore_index=True)


def without_time(record):
    return {name: value for name, value in to_json(record).items() if name != "seconds"}


@pytest.mark.parametrize(
    "bins",
    [
        BinSettings(),
        BinSettings(k=5, weight="count", top="pinned", headroom=0.2, step_bytes=0.5 * GB),
        BinSettings(weight="cost", price_column="price", search="stride"),
        BinSettings(edges_bytes=(5.0 * GB, 2.0 * GB)),
    ],
    ids=["default", "count", "cost", "given"],
)
@pytest.mark.parametrize("profile", [0, 1])
def test_they_are_those_of_the_rows_cut_out_by_hand(profile, bins):
    table = jobs()
    own = table[table[PROFILE_COLUMN] == profile].drop(columns=PROFILE_COLUMN)
    settings = ProfileBinSettings(profile, bins)
    found = profile_bins_of({"jobs": table}, settings)
    assert without_time(found.bins) == without_time(bins_of({"jobs": own}, bins))
    curve = profile_curve_of({"jobs": table}, settings)
    assert without_time(curve) == without_time(improvement_curve({"jobs": own}, bins))


def test_what_the_runs_waste_is_counted_one_by_one():
    table = jobs()
    table.loc[table.index[table[PROFILE_COLUMN] == 0][:4], "requested_memory_bytes"] = np.nan
    found = profile_bins_of({"jobs": table}, ProfileBinSettings(0))
    asked, used, wasted, tasks = 0.0, 0.0, 0.0, {}
    for row in table.to_dict("records"):
        if row[PROFILE_COLUMN] == 0 and row["requested_memory_bytes"] > 0:
            hours = row["duration_s"] / 3600
            asked += row["requested_memory_bytes"] / GB * hours
            used += row["peak_memory_bytes"] / GB * hours
            wasted += max(row["requested_memory_bytes"] - row["peak_memory_bytes"], 0.0) / GB * hours
            tasks[row["task_name"]] = tasks.get(row["task_name"], 0) + 1
    assert (found.requested_gb_h, found.used_gb_h, found.wasted_gb_h) == pytest.approx((asked, used, wasted))
    assert {one.task: one.n_runs for one in found.tasks} == tasks
    assert [one.n_runs for one in found.tasks] == sorted(tasks.values(), reverse=True)
    assert (found.n_rows, found.bins.effect.n_runs, found.n_not_clustered, found.too_few) == (60, 56, 5, False)
    assert found.bins.left_out["no request"] == 4


def test_killed_runs_of_its_tasks_are_counted_beside_it():
    whole = jobs()
    gone = pd.DataFrame({"task_name": ["align", "align", "sort", "other", None]})
    found = profile_bins_of({"jobs": whole, "killed": gone}, ProfileBinSettings(0))
    assert found.n_killed == 3
    assert any(note.startswith("3 runs of these tasks killed for memory") for note in profile_answer(found).notes)
    assert not profile_bins_of({"jobs": whole}, ProfileBinSettings(0)).n_killed


def test_few_runs_are_said_and_too_few_refused():
    found = profile_bins_of({"jobs": jobs()}, ProfileBinSettings(1))
    assert found.too_few
    for ask in (profile_bins_of, profile_curve_of):
        with pytest.raises(
            NotEnoughData, match=f"5 of the 5 runs of profile 2 have a request.* bins need {LEAST_RUNS}"
        ):
            ask({"jobs": jobs()}, ProfileBinSettings(2))


def test_an_unknown_profile_names_those_that_are_there():
    with pytest.raises(SettingsError, match="no profile 3; this clustering has profiles 0 to 2"):
        profile_bins_of({"jobs": jobs()}, ProfileBinSettings(3))
    outliers = jobs().assign(**{PROFILE_COLUMN: -1})
    with pytest.raises(SettingsError, match="only outliers"):
        profile_curve_of({"jobs": outliers}, ProfileBinSettings(0))


def test_without_requests_one_size_for_all_takes_their_place():
    table = jobs().drop(columns="requested_memory_bytes")
    with pytest.raises(NotEnoughData, match="0 of the 60 runs of profile 0 have a request"):
        profile_bins_of({"jobs": table}, ProfileBinSettings(0))
    found = profile_bins_of({"jobs": table}, ProfileBinSettings(0, BinSettings(request_bytes=64.0 * GB)))
    assert found.bins.effect.n_runs == 60


def test_without_a_use_of_memory_the_column_is_named():
    with pytest.raises(ColumnMissing, match="peak_memory_bytes"):
        profile_bins_of({"jobs": jobs().drop(columns="peak_memory_bytes")}, ProfileBinSettings(0))


def test_outliers_and_tasks_are_no_profile():
    with pytest.raises(SettingsError, match="profile is -1"):
        ProfileBinSettings(-1)
    with pytest.raises(SettingsError, match="leave the task 'sort' out"):
        ProfileBinSettings(0, BinSettings(task="sort"))


def test_the_record_is_kept_and_read_again():
    found = profile_bins_of({"jobs": jobs()}, ProfileBinSettings(0))
    again = unpack(ProfileBins, pack(found))
    assert to_json(again) == to_json(found)
    assert canonical_json(again.settings) == canonical_json(ProfileBinSettings(0))
