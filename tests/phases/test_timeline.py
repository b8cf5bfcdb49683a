"""One run to look at: the same phases as everywhere else, windows, boundaries by hand, what is said about gaps."""

import numpy as np
import pytest

from tests.charts import records_for_phases as given
from workprof.core.errors import ColumnMissing, NotEnoughData, SettingsError
from workprof.core.fields import read
from workprof.core.progress import silent
from workprof.core.records import pack, unpack
from workprof.phases.changepoints import change_points
from workprof.phases.fingerprints import FingerprintSettings, fingerprint, fit_normaliser, normalised
from workprof.phases.library import LibrarySettings
from workprof.phases.questions import TIMELINE
from workprof.phases.runs import RunListSettings, find_run, run_list, runs_of
from workprof.phases.timeline import DetectSettings, OwnBoundaries, TimelineSettings, detect, one_run

ASKED = FingerprintSettings()


def looked(run="two steps/1", **settings):
    return one_run(given.frames(), TimelineSettings(run, **settings), silent)


@pytest.mark.parametrize("run", ["one step/1", "two steps/3"])
def test_the_whole_run_has_the_fingerprint_of_the_library(run):
    runs = runs_of(given.samples())
    known = fit_normaliser(runs.runs, runs.counters, ASKED)
    expected = fingerprint(runs.runs[find_run(runs, run)], known, ASKED)
    found = looked(run)
    assert found.fingerprint.values == pytest.approx(expected.values)
    assert list(found.fingerprint.starts) == list(expected.starts)
    assert list(found.fingerprint.n_phases) == list(expected.n_phases)
    told = detect(given.frames(), DetectSettings(run))
    for place, counter in enumerate(told.counters):
        assert list(found.boundaries_s(place)) == list(counter.change_points_s)


def test_agreement_is_that_of_the_search():
    runs = runs_of(given.samples())
    known = fit_normaliser(runs.runs, runs.counters, ASKED)
    series = normalised(runs.runs[find_run(runs, "two steps/1")], known, ASKED)
    assert looked().agreement == pytest.approx(change_points(series.for_phases, ASKED.change_points).agreement)


def test_a_window_is_the_search_in_its_samples_with_the_same_normalisation():
    found = looked(from_s=10.0, to_s=24.0)
    runs = runs_of(given.samples())
    known = fit_normaliser(runs.runs, runs.counters, ASKED)
    series = normalised(runs.runs[find_run(runs, "two steps/1")], known, ASKED).for_phases[:, 10:]
    expected = change_points(series, ASKED.change_points)
    assert list(found.fingerprint.starts) == list(expected.starts)
    assert found.start_s == 10
    assert found.end_s == 24
    assert list(found.boundaries_s(0)) == [16.0]
    assert (found.run_from_s, found.run_to_s) == (0, 24)


def test_a_window_is_cut_to_the_run():
    found = looked(from_s=-5.0, to_s=1e6)
    assert (found.start_s, found.end_s) == (0, 24)


def test_boundaries_by_hand_go_before_those_found_and_outside_ones_are_passed_over():
    own = (OwnBoundaries("", (12.0, 500.0)), OwnBoundaries(given.NET, ()))
    found = looked(own=own)
    assert list(found.boundaries_s(found.counters.index(given.CPU))) == [12.0]
    assert list(found.boundaries_s(found.counters.index(given.NET))) == []
    assert found.edited.all()


def test_statistics_of_own_phases_are_those_of_their_samples():
    found = looked(own=(OwnBoundaries(given.CPU, (12.0,)),))
    runs = runs_of(given.samples())
    known = fit_normaliser(runs.runs, runs.counters, ASKED)
    series = normalised(runs.runs[find_run(runs, "two steps/1")], known, ASKED).for_statistics[0]
    assert found.statistic("mean")[0, :2] == pytest.approx([series[:12].mean(), series[12:].mean()])


def test_what_cannot_be_looked_at_is_refused_with_the_next_step():
    with pytest.raises(NotEnoughData, match="lasts from 0 to 24 s"):
        looked(from_s=50.0)
    with pytest.raises(SettingsError, match="an end after its beginning"):
        TimelineSettings(from_s=3.0, to_s=3.0)
    with pytest.raises(SettingsError, match="no counter of this run"):
        looked(own=(OwnBoundaries("nothing", (1.0,)),))
    with pytest.raises(SettingsError, match="finite"):
        OwnBoundaries("", (float("nan"),))
    with pytest.raises(SettingsError, match="there is no run"):
        looked("nobody/1")


@pytest.mark.parametrize(
    "text",
    [
        "3",
        '["ab"]',
        '[{"counter": "a"}]',
        '[{"counter": "a", "at_s": [1], "more": 2}]',
        '[{"counter": "a", "at_s": ["1"]}]',
        '[{"counter": "a", "at_s": [true]}]',
        '[{"$array": "r"}]',
        "[" * 100_000,
    ],
)
def test_boundaries_are_read_from_a_list_of_whole_records(text):
    leaf = next(one for one in TIMELINE.leaves if one.path == "own")
    assert read(leaf, '[{"counter": "", "at_s": [9, 12.5]}]') == (OwnBoundaries("", (9.0, 12.5)),)
    with pytest.raises(SettingsError, match="--own is"):
        read(leaf, text)


def test_constant_missing_and_short_series_are_told():
    gappy = given.samples().copy()
    mine = (gappy["workload"] == "two steps") & (gappy["run"] == "1")
    gappy.loc[mine & (gappy["t"] > 8), given.NET] = np.nan
    found = one_run({"samples": gappy}, TimelineSettings("two steps/1"), silent)
    told = " ".join(found.notes)
    assert f"constant here: one phase: {given.FLAT}" in told
    assert f"missing more than half of their samples here: one phase: {given.NET}" in told
    short = " ".join(looked(from_s=0.0, to_s=3.0).notes)
    assert "3 samples are fewer than two phases of at least 2" in short


def test_a_timeline_can_be_kept():
    found = looked()
    again = unpack(type(found), pack(found))
    assert again.fingerprint.values == pytest.approx(found.fingerprint.values)
    assert again.counters == found.counters
    assert again.notes == found.notes


def test_counters_can_be_named():
    found = looked(library=LibrarySettings(counters=(given.NET,)))
    assert found.counters == (given.NET,)


def test_the_list_of_runs_counts_samples_and_tells_how_runs_ended():
    found = run_list(given.frames(), RunListSettings(), silent)
    assert len(found.runs) == 12
    assert set(found.workloads) == set(given.STEPS)
    assert {line.samples for line in found.runs} == {given.SAMPLES}
    assert [line.status for line in found.runs if line.run == "4"] == ["short"] * 3
    line = next(line for line in found.runs if line.name == "one step/2")
    assert (line.first_s, line.last_s) == (1.0, 24.0)
    unlabelled = run_list({"samples": given.samples().drop(columns=["workload", "status"])}, RunListSettings(), silent)
    assert [line.name for line in unlabelled.runs] == ["1", "2", "3", "4"]
    with pytest.raises(ColumnMissing, match="'run'"):
        run_list({"samples": given.samples().drop(columns="run")}, RunListSettings(), silent)
