"""Samples on a grid: uneven, doubled, missing, slow, absent; which counters and which run are meant."""

import numpy as np
import pandas as pd
import pytest

from tests.phases.planted_runs import COUNTERS, planted
from workprof.core.errors import ColumnMissing, NoRows, SettingsError
from workprof.phases.fingerprints import FingerprintSettings, fit_normaliser, normalised
from workprof.phases.matching import MatchRunSettings, match_run
from workprof.phases.runs import SYSTEM72, counters_in, find_run, runs_of

PLAIN = FingerprintSettings(log=False)


def table(t, values, **more):
    return pd.DataFrame({"workload": "w", "run": "1", "t": t, "a": values} | more)


def only(frame, counters=("a",)):
    return runs_of(frame, counters).runs[0]


def test_even_samples_stay_as_they_are():
    run = only(table([1, 2, 3.001, 4], [1.0, 2, 3, 4]))
    assert np.asarray(run.values).tolist() == [[1, 2, 3, 4]]
    assert (run.start_s, run.notes, run.n_filled) == (0, (), 0)


def test_doubled_times_become_their_mean_and_are_told():
    run = only(table([1, 2, 2, 3], [1.0, 2, 4, 5]))
    assert np.asarray(run.values).tolist() == [[1, 3, 5]]
    assert "share a step" in run.notes[0]


def test_short_gaps_keep_the_value_before_and_long_ones_stay_missing():
    t = [1, 2, 6, 7, 8, 9, 14]
    run = only(table(t, [float(one) for one in t]))
    assert np.asarray(run.values)[0, :9].tolist() == [1, 2, 2, 2, 2, 6, 7, 8, 9]
    assert np.isnan(np.asarray(run.values)[0, 9:13]).all()
    assert run.n_filled == 3
    assert any("have no sample" in note for note in run.notes)


def test_the_order_of_the_rows_does_not_matter():
    even = table(np.arange(1, 9), np.arange(8.0))
    assert np.array_equal(only(even).values, only(even.sample(frac=1, random_state=1)).values)


def test_slow_samples_make_a_slow_grid():
    found = runs_of(table([5, 10, 15, 20], [1.0, 2, 3, 4]), ("a",))
    assert found.step_s == 5
    assert np.asarray(found.runs[0].values).tolist() == [[1, 2, 3, 4]]
    assert "5 s apart" in found.notes[0]


def test_the_step_of_runs_that_are_sampled_unlike_is_one_that_a_run_has():
    quick, slow = table(np.arange(1, 61), np.arange(60.0)), table(np.arange(10, 61, 10), np.arange(6.0), run="2")
    found = runs_of(pd.concat([quick, slow]), ("a",))
    assert found.step_s == 10
    assert np.asarray(found.runs[0].values).tolist() == [[4.5, 14.5, 24.5, 34.5, 44.5, 54.5]]
    assert np.asarray(found.runs[1].values).tolist() == [[0, 1, 2, 3, 4, 5]]
    assert not any("uneven" in note for run in found.runs for note in run.notes)


def test_a_step_of_two_and_a_half_seconds_invents_no_sample():
    found = runs_of(table(2.5 * np.arange(1, 9) + 0.003, np.arange(8.0)), ("a",))
    assert (found.step_s, found.runs[0].n_filled, found.runs[0].notes) == (2.5, 0, ())
    assert np.asarray(found.runs[0].values).tolist() == [list(range(8))]


def test_steps_without_any_sample_are_no_missing_values_of_a_counter():
    """A clock that jumped by two hours in one run would else drop every counter of all runs."""
    samples = planted(2, 3, seed=1)
    jumped = (samples["workload"] == "w0") & (samples["run"].astype(str) == "1") & (samples["t"] > 15)
    samples.loc[jumped, "t"] += 7200
    found = runs_of(samples)
    normaliser = fit_normaliser(found.runs, found.counters, PLAIN)
    assert (normaliser.dropped, normaliser.counters) == ((), COUNTERS)
    assert any("7200 steps of 1 s have no sample" in note for note in found.runs[0].notes)


def test_quick_samples_are_averaged_in_the_second_that_they_end_in():
    run = only(table(np.arange(1, 41) / 10, np.repeat([1.0, 2, 3, 4], 10)))
    assert np.asarray(run.values).tolist() == [[1, 2, 3, 4]]


def test_one_sample_is_one_step():
    run = only(table([1], [7.0]))
    assert np.asarray(run.values).tolist() == [[7]]
    assert "one sample only" in run.notes[-1]


def test_samples_without_a_time_are_counted():
    assert runs_of(table([1, 2, None], [1.0, 2, 3]), ("a",)).n_dropped == 1
    with pytest.raises(NoRows, match="no sample has a time"):
        runs_of(table([None, None], [1.0, 2]), ("a",))


def test_an_absent_counter_is_missing_throughout():
    found = runs_of(table([1, 2], [1.0, 2]), ("a", "b"))
    assert np.isnan(np.asarray(found.runs[0].values)[1]).all()
    assert "absent" in found.notes[0]
    with pytest.raises(ColumnMissing, match="none of 1 counters"):
        runs_of(table([1, 2], [1.0, 2]), ("b",))
    with pytest.raises(ColumnMissing, match="'run'"):
        runs_of(pd.DataFrame({"t": [1], "a": [1]}))


def test_broken_times_are_refused():
    with pytest.raises(SettingsError, match="spans"):
        runs_of(table([1, 2, 3, 1.7e9], [1.0, 2, 3, 4]), ("a",))


def test_which_counters_are_used():
    frame = table([1], [1.0], **{"proc.threads": 3, "text": "x"})
    assert counters_in(frame) == ("a",)
    known = table([1], [1.0], **{SYSTEM72[1]: 1.0, SYSTEM72[0]: 2.0})
    assert counters_in(known) == SYSTEM72[:2]
    assert set(counters_in(known, everything=True)) == {"a", *SYSTEM72[:2]}


def test_runs_are_found_by_name():
    found = runs_of(planted(2, 2), COUNTERS)
    assert found.runs[find_run(found, "w1/2")].name == "w1/2"
    assert find_run(found, "") == 0
    with pytest.raises(SettingsError, match="2 runs are called '1'"):
        find_run(found, "1")
    with pytest.raises(SettingsError, match="no run 'w9/1'"):
        find_run(found, "w9/1")


def test_training_runs_set_mean_and_deviation():
    runs = runs_of(planted(3, 2), COUNTERS)
    known = fit_normaliser(runs.runs, COUNTERS, PLAIN)
    values = np.concatenate([normalised(run, known, PLAIN).for_statistics for run in runs.runs], axis=1)
    assert np.allclose(values.mean(axis=1), 0)
    assert np.allclose(values.std(axis=1), 1)


def test_constant_missing_and_mostly_missing_counters():
    frame = table(np.arange(1, 21), np.arange(20.0), b=3.0, c=[np.nan] * 10 + [1.0] * 10)
    runs = runs_of(frame, ("a", "b", "c"))
    known = fit_normaliser(runs.runs, runs.counters, PLAIN)
    assert (known.counters, known.dropped, known.constant) == (("a", "b"), ("c",), ("b",))
    assert (normalised(runs.runs[0], known, PLAIN).for_phases[1] == 0).all()
    lacking = runs_of(table([1, 2], [1.0, 2]), ("a", "b", "c")).runs[0]
    found = normalised(lacking, known, PLAIN)
    assert found.missing == ("b",)
    assert (found.for_statistics[1] == 0).all()


def test_the_readings_of_the_formula():
    run = only(table(np.arange(1, 31), np.repeat([0.0, 1], 15)))
    known = fit_normaliser([run], ("a",), PLAIN)
    literal = FingerprintSettings(normalise="run", absolute=True, log=False)
    assert np.allclose(normalised(run, known, literal).for_phases, 1)  # the step is gone: why |z| is not the default
    mixed = normalised(run, fit_normaliser([run, run], ("a",), PLAIN), FingerprintSettings("mixed", log=False))
    assert np.allclose(mixed.for_phases, mixed.for_statistics)


def test_counters_of_ones_own_beside_those_of_system72_are_told_where_they_are_not_compared():
    samples = planted().rename(columns=dict(zip(COUNTERS, SYSTEM72, strict=False)))
    own = samples.assign(**{"app.queue": 1.0, "cpu.nice%": 1.0, "empty": np.nan})
    told = [note for note in runs_of(own).notes if "not compared" in note]
    assert told == ["1 further counter not compared beside those of system72: app.queue; `all` as counters takes them"]
    assert not [note for note in runs_of(samples).notes if "not compared" in note]
    assert not [note for note in runs_of(own, ("app.queue",)).notes if "not compared" in note]
    assert told[0] in match_run({"samples": own}, MatchRunSettings(runs_of(own).runs[0].name)).notes
