"""A recording in progress: followed sample by sample, damaged lines, gaps, its end, and libraries changed by hand."""

import dataclasses
import functools
import math

import numpy as np
import pytest

from tests.charts import records_for_phases as given
from workprof.answers.recognition import live_figures, live_sentence
from workprof.charts.phases.matches import first_of_each_source, live_chart
from workprof.core.errors import ColumnMissing, NotEnoughData
from workprof.core.progress import silent
from workprof.core.records import pack, unpack
from workprof.core.settings import from_environment
from workprof.phases.library import LibraryEdits, LibrarySettings, RunLabel, relabelled
from workprof.phases.live import LiveRun, LiveSettings, detector_from, live_library
from workprof.phases.matching import KnownMatchSettings, MatchRunSettings, match_known, match_run
from workprof.workbench import Workbench
from workprof.workbench.recordings import MOST_CAUGHT_UP, Following, counters_of, recordings

RUN = "workload == 'two steps' and run == '4'"
BY_DISTANCE = LibrarySettings(given.COUNTERS, mode="faithful")


@functools.cache
def known(library=BY_DISTANCE):
    rest = given.samples().query(f"not ({RUN})")
    return live_library({"samples": rest}, LiveSettings(library), silent)


def mine():
    return given.samples().query(RUN)


def followed(samples):
    run = LiveRun(known(), None, "two steps", "4")
    for t, values in zip(samples["t"], samples[list(given.COUNTERS)].to_numpy(), strict=True):
        run.take(t, values)
    return run.view()


def write(path, samples, columns=None):
    columns = ["workload", "run", "t", *(columns or given.COUNTERS)]
    samples[columns].to_csv(path, index=False, lineterminator="\n")
    return path


def test_the_planted_steps_are_seen_and_the_workload_is_the_nearest():
    view = followed(mine())
    cpu = view.counters.index(given.CPU)
    assert view.n_ticks == given.SAMPLES
    assert [round(at) for at in view.changes_s[cpu]] == [8, 16]
    assert view.changes_s[view.counters.index(given.FLAT)] == ()
    assert view.match.verdict.nearest == "two steps"
    assert view.from_s == 0


def test_the_first_samples_are_too_few_to_compare():
    view = followed(mine().head(5))
    assert view.match is None
    assert "too early" in live_sentence(view)


def test_missed_steps_are_counted_and_not_scored():
    samples = mine()
    view = followed(samples[~samples["t"].between(11, 13)])
    assert view.n_missed == 3
    assert view.n_ticks == given.SAMPLES
    assert np.isnan(view.recorded[:, 10:13]).all()
    assert [round(at) for at in view.changes_s[view.counters.index(given.CPU)]] == [8, 16]


def test_only_the_last_two_minutes_are_shown():
    run = LiveRun(known(), None, "a", "b")
    for t in range(1, 201):
        run.take(float(t), np.array([10.0, 1000.0, 7.0, 500.0]))
    view = run.view(rematch=False)
    assert view.n_ticks == 200
    assert len(view.t_s) == 120
    assert view.t_s[-1] == 200
    assert view.match is None


def test_a_file_is_followed_as_it_grows_and_until_it_is_gone(tmp_path):
    path = write(tmp_path / "a.csv.partial", mine().head(10))
    following = Following(path, known())
    assert following.advance().n_ticks == 10
    whole = write(tmp_path / "whole.csv", mine()).read_text()
    grown = path.read_text()
    path.write_text(whole[: len(grown) + 17])  # in the middle of a line
    assert following.advance().n_ticks == 10
    path.write_text(whole)
    view = following.advance()
    assert view.n_ticks == given.SAMPLES
    assert view.recorded == pytest.approx(followed(mine()).recorded, rel=1e-6)
    assert not following.ended
    path.unlink()
    assert following.advance(view).n_ticks == given.SAMPLES
    assert following.ended


def test_damaged_lines_are_counted_and_empty_cells_are_missing(tmp_path):
    path = write(tmp_path / "a.csv.partial", mine().head(10))
    with path.open("a") as stream:
        stream.write("two steps,4,11\ntwo steps,4,soon,1,2,3,4\ntwo steps,4,11,,inf,7,x\n")
    following = Following(path, known())
    view = following.advance()
    assert following.damaged == 2
    assert view.n_ticks == 11
    assert np.isnan(view.recorded[:, -1]).sum() == 3


def test_a_long_recording_is_followed_from_its_last_samples(tmp_path):
    lines = [f"a,b,{t},10,1000,7,500" for t in range(1, MOST_CAUGHT_UP + 51)]
    path = tmp_path / "long.csv.partial"
    path.write_text("\n".join([",".join(("workload", "run", "t", *given.COUNTERS)), *lines]) + "\n")
    following = Following(path, known())
    view = following.advance(rematch=False)
    assert following.skipped == 50
    assert view.n_ticks == MOST_CAUGHT_UP
    assert view.from_s == 50


def test_recordings_are_those_of_the_data_folder_and_of_the_home(tmp_path, monkeypatch):
    data, home = tmp_path / "data", tmp_path / "home"
    for folder in (data, home):
        folder.mkdir()
    monkeypatch.setenv("WORKPROF_DATA", str(data))
    monkeypatch.setenv("WORKPROF_HOME", str(home))
    for path in (data / "a.csv.partial", home / "b.csv.partial", data / "c.csv", data / "d.csv.whole.partial"):
        write(path, mine())
    (data / "e.csv.partial").symlink_to(tmp_path / "elsewhere")
    settings = from_environment()
    assert set(recordings(settings)) == {"a.csv.partial", "b.csv.partial"}
    assert counters_of(recordings(settings)["a.csv.partial"]) == given.COUNTERS
    (data / "a.csv.partial").write_text("a,b,c\n")
    with pytest.raises(ColumnMissing, match="is no recording"):
        counters_of(data / "a.csv.partial")


def test_a_live_library_can_be_kept_and_its_chart_says_what_is_provisional():
    again = unpack(type(known()), pack(known()))
    assert again.noise_sd == pytest.approx(known().noise_sd)
    assert again.limits is None
    assert math.isinf(again.limit)
    view = followed(mine())
    chart = live_chart(view, first_of_each_source(view.counters))
    assert "provisional" in chart.note
    whole = live_chart(view, first_of_each_source(view.counters), ended=True).figure
    ends = [figure.layout.xaxis.range[1] for figure in (whole, chart.figure)]
    assert ends[0] == view.t_s[-1] < ends[1]  # what has ended needs no room for more
    dashes = {shape.line.dash for shape in chart.figure.layout.shapes}
    assert dashes == {"dot"}
    assert {line.label: line.value for line in live_figures(view)}["Recorded"] == "24 s"
    assert first_of_each_source(("cpu.a", "cpu.b", "net.c"), 3) == ("cpu.a", "net.c", "cpu.b")


@pytest.mark.slow
def test_the_detector_of_a_kept_library_answers_as_the_one_that_set_its_limit():
    library = known(dataclasses.replace(BY_DISTANCE, mode="corrected"))
    kept = unpack(type(library), pack(library))
    run = LiveRun(kept, detector_from(kept), "two steps", "4")
    for t, values in zip(mine()["t"], mine()[list(given.COUNTERS)].to_numpy(), strict=True):
        run.take(t, values)
    found = run.view().match
    whole = match_known(given.frames(), KnownMatchSettings("two steps/4", library=library.library.settings), silent)
    assert found.verdict.nearest == whole.verdict.nearest == "two steps"
    assert found.verdict.limit == pytest.approx(whole.verdict.limit)


def test_labels_by_hand_leave_out_rename_and_keep_runs_apart():
    samples = given.samples()
    assert relabelled(samples, LibraryEdits()) is samples
    edits = LibraryEdits((RunLabel("one step", "1", ""), RunLabel("one step", "2", "two steps")))
    changed = relabelled(samples, edits)
    assert len(changed) == len(samples) - given.SAMPLES
    runs = set(zip(changed["workload"], changed["run"], strict=True))
    assert ("two steps", "one step/2") in runs
    assert ("one step", "1") not in runs
    assert len(runs) == 11
    every = tuple(RunLabel(*key, "") for key in set(zip(samples["workload"], samples["run"], strict=True)))
    with pytest.raises(NotEnoughData, match="every run is excluded"):
        relabelled(samples, LibraryEdits(every))


def test_a_run_is_never_matched_with_itself():
    found = given.match("one step/1")
    assert ("one step", "1") not in {(line.workload, line.run) for line in found.matches}
    single = {"samples": given.samples().query("workload == 'one step' and run == '1'")}
    with pytest.raises(NotEnoughData, match="only run"):
        match_known(single, KnownMatchSettings("one step/1"), silent)
    with pytest.raises(NotEnoughData, match="one step/1 is the only run; a match needs others"):
        match_run(single, MatchRunSettings("one step/1"))


def test_a_library_may_come_from_another_dataset():
    frames = {"samples": given.samples().query(RUN), "train": given.samples().query(f"not ({RUN})")}
    settings = KnownMatchSettings("two steps/4", library=LibrarySettings(mode="faithful"))
    assert match_known(frames, settings, silent).verdict.nearest == "two steps"


@pytest.mark.slow
def test_a_recorded_run_is_replayed_as_it_would_have_been_followed(tmp_path):
    given.samples().to_csv(tmp_path / "runs.csv", index=False)
    with Workbench(from_environment({"WORKPROF_HOME": str(tmp_path / "home")})) as bench:
        dataset = bench.ingest([tmp_path / "runs.csv"]).hash
        line = next(one for one in bench.phase_runs(dataset).runs if one.name == "two steps/4")
        replayed = bench.replayed_run(dataset, line, known())
    one = LiveRun(known(), detector_from(known()), "two steps", "4")
    for t, values in zip(mine()["t"], mine()[list(given.COUNTERS)].to_numpy(), strict=True):
        one.take(t, values)
    assert replayed.n_ticks == given.SAMPLES
    assert replayed.changes_s == one.view().changes_s
    assert replayed.match.verdict == one.view().match.verdict
