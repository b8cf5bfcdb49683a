"""workprof's own recordings: what is kept, what is refused with its line, what is counted."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.formats.telemetry_files import checks, imported
from tests.shared_data import FOLDER, needs_shared_data
from workprof.core.errors import ColumnMissing, NoRows, SettingsError, TraceError
from workprof.formats.declare import Unreadable
from workprof.formats.telemetry import read, sniffed
from workprof.formats.telemetry.own import RecordingFile, outcomes_of
from workprof.phases.runs import SYSTEM72

TWO_RUNS = """
    workload,run,t,cpu.user%,mem.MemFree_mb
    redis,1,1.004,46.9697,100
    redis,1,2,48,101
    redis,1,3.001,47,
    "web, small",a,1,1e3,5
    """


def test_rows_are_taken_as_they_are(tmp_path):
    found = imported(tmp_path, "runs.csv", TWO_RUNS)
    assert found.kind == "telemetry"
    assert list(found.frame.columns) == ["workload", "run", "t", "status", "cpu.user%", "mem.MemFree_mb"]
    assert found.frame["t"].tolist() == [1.004, 2.0, 3.001, 1.0]
    assert found.frame["workload"].tolist() == ["redis"] * 3 + ["web, small"]
    assert found.frame["cpu.user%"].tolist() == [46.9697, 48, 47, 1000]
    assert found.frame["status"].isna().all()
    assert (found.rows_read, found.rejected) == (4, ())
    assert checks(found) == {"runs": 2, "one_sample_runs": 1, "empty_cells": 1}


def test_lines_that_are_no_row_are_set_aside_with_their_number(tmp_path):
    found = imported(
        tmp_path,
        "runs.csv",
        """
        workload,run,t,a,b

        x,1,1,2,3
        x,1,2,2
        x,1,3,2,many
        x,1,4,2,3,4
        ,1,5,2,3
        x,1,,2,3
        x,1,6,1_0,3
        x,1,7,5,6
        x,1,8""",
    )
    assert found.frame["t"].tolist() == [1, 7]
    assert [(one.line, one.column, one.reason) for one in found.rejected] == [
        (4, "", "too few fields"),
        (5, "b", "not a number"),
        (6, "", "too many fields"),
        (7, "", "no workload, run or time"),
        (8, "", "no workload, run or time"),
        (9, "a", "not a number"),
        (11, "", "too few fields"),
    ]
    assert found.rejected[1] == Unreadable(5, "b", "many", "not a number")
    assert found.rows_read == 9


def test_what_is_particular_about_the_samples_is_counted(tmp_path):
    rows = [(1, 5), (2, 6), (2, 6), (2, 7), (9, "Inf"), (3, "NaN")]
    text = "workload,run,t,a,b\n" + "".join(f"x,1,{t},{a},\n" for t, a in rows)
    found = imported(tmp_path, "runs.csv", text)
    assert found.frame["t"].tolist() == [1, 2, 2, 2, 3, 9]
    assert list(found.frame.columns) == ["workload", "run", "t", "status", "a"]
    assert np.isnan(found.frame["a"].to_numpy()).tolist() == [False] * 4 + [True] * 2
    assert checks(found) == {
        "runs": 1, "holes": 1, "duplicates": 1, "repeated_times": 1, "out_of_order": 1, "infinite": 1,
        "empty_cells": 2, "empty_columns": 1,
    }  # fmt: skip


def test_a_second_recording_of_the_same_name_is_another_run(tmp_path):
    text = "workload,run,t,a\n" + "".join(f"x,1,{t},{a}\n" for t, a in ((1, 1), (2, 2), (1.001, 3), (2, 4), (1, 5)))
    found = imported(tmp_path, "runs.csv", text)
    assert found.frame["run"].tolist() == ["1", "1", "1-2", "1-2", "1-3"]
    assert found.frame["a"].tolist() == [1, 2, 3, 4, 5]
    assert checks(found) == {"repeated_runs": 2, "runs": 3, "one_sample_runs": 1}


def test_each_run_has_holes_of_its_own_interval(tmp_path):
    text = "workload,run,t,a\n" + "".join(f"x,{run},{run * at},1\n" for run in (1, 5) for at in (1, 2, 3, 4, 6))
    assert checks(imported(tmp_path, "runs.csv", text)) == {"runs": 2, "holes": 2}


@pytest.mark.parametrize("line", ['x,1,1,"1,5",2', 'x,1,"1,0",1,2'], ids=["value", "time"])
def test_decimal_commas_are_refused_by_name(tmp_path, line):
    with pytest.raises(TraceError, match=r"runs\.csv, line 2, column \w+: '1,[05]' has a decimal comma.*LC_ALL=C"):
        imported(tmp_path, "runs.csv", f"workload,run,t,a,b\n{line}\n")


def test_unquoted_decimal_commas_are_told_from_the_width(tmp_path):
    with pytest.raises(TraceError, match=r"more fields than the header.*decimal commas"):
        imported(tmp_path, "runs.csv", "workload,run,t,a,b\nx,1,1,0,5,1,2,5\nx,1,2,0,5,1,2,5\n")


@pytest.mark.parametrize("text", ["", "\n\n"], ids=["nothing", "blank lines"])
def test_an_empty_file_is_refused(tmp_path, text):
    path = tmp_path / "runs.csv"
    path.write_text(text)
    with pytest.raises(TraceError, match=r"runs\.csv is empty"):
        read(path, "telemetry", {}, "runs.csv")


def test_a_header_alone_has_no_sample(tmp_path):
    with pytest.raises(NoRows, match="no sample in it"):
        imported(tmp_path, "runs.csv", "workload,run,t,a\n")
    with pytest.raises(NoRows, match="no line became a sample; line 2: not a number"):
        imported(tmp_path, "runs.csv", "workload,run,t,a\nx,1,1,what\n")


def test_another_csv_is_sent_to_the_wide_format(tmp_path):
    with pytest.raises(ColumnMissing, match=r"column workload is missing.*--format wide"):
        imported(tmp_path, "other.csv", "time,a\n1,2\n", "telemetry")
    with pytest.raises(SettingsError, match="format 'sar' is not known"):
        imported(tmp_path, "other.csv", "time,a\n1,2\n", "sar")


def test_header_names_that_differ_in_nothing_are_told_apart(tmp_path):
    found = imported(tmp_path, "runs.csv", "workload,run,t,a,A,,a\nx,1,1,1,2,3,4\nx,1,2,1,2,3,4\n")
    assert list(found.frame.columns[4:]) == ["a", "A_2", "column_6", "a_3"]


def test_how_a_run_ended_is_told_by_the_file_beside_it(tmp_path):
    outcomes = tmp_path / "runs.runs.jsonl"
    told = [
        {"workload": "redis", "run": "1", "status": "short"},
        {"workload": "web, small", "run": "a", "status": "odd"},
    ]
    outcomes.write_text("".join(f"{json.dumps(one)}\n" for one in told) + "broken\n[]\n")
    path = tmp_path / "runs.csv"
    imported(tmp_path, "runs.csv", TWO_RUNS)
    found = read(path, "telemetry", {}, "runs.csv", outcomes)
    assert found.frame["status"].iloc[:3].tolist() == ["short"] * 3
    assert pd.isna(found.frame["status"].iloc[3])
    assert checks(found)["short_runs"] == 1


def test_the_last_run_of_an_unfinished_file_failed(tmp_path):
    found = imported(tmp_path, "runs.csv.partial", TWO_RUNS)
    assert found.frame["status"].iloc[3] == "failed"
    assert found.frame["status"].iloc[:3].isna().all()


def test_a_recording_that_was_written_is_read_back(tmp_path):
    path = tmp_path / "runs.csv"
    values = np.random.default_rng(0).lognormal(3, 4, (40, 3))
    values[3, 1] = np.nan
    for run in ("1", "2"):
        file = RecordingFile(path, 'a "name", with commas', run, append=True)
        file.begin(("cpu.user%", "x:y/s"))
        for at, row in enumerate(values):
            file.write(at + 1.0004, row[:2])
        assert file.partial.is_file()
        file.finish(("perf.z/s",), values[:39, 2:])
        file.write_outcome({"workload": 'a "name", with commas', "run": run, "status": "complete"})
    assert sorted(one.name for one in tmp_path.iterdir()) == ["runs.csv", "runs.runs.jsonl"]
    found = read(path, "telemetry", {}, path.name, outcomes_of(path)).frame
    assert found["status"].unique().tolist() == ["complete"]
    assert found["run"].tolist() == ["1"] * 40 + ["2"] * 40
    expected = values.copy()
    expected[39, 2] = np.nan
    np.testing.assert_allclose(found.iloc[:40, 4:].to_numpy(), expected, rtol=5e-6)
    assert found["t"].iloc[:40].tolist() == [float(at + 1) for at in range(40)]


def test_a_run_is_not_appended_twice(tmp_path):
    (tmp_path / "runs.csv").write_text("workload,run,t,a\nx,1,1,2\n")
    with pytest.raises(SettingsError, match="holds run '1' of 'x' already"):
        RecordingFile(tmp_path / "runs.csv", "x", "1", append=True)
    assert [one.name for one in tmp_path.iterdir()] == ["runs.csv"]


def test_an_appended_run_is_laid_onto_the_columns_of_its_own(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text("workload,run,t,a,b\nx,1,1,2,3\n")
    file = RecordingFile(path, "x", "2", append=True)
    file.begin(("b", "c"))
    file.write(1, (30, 40))
    file.finish((), np.zeros((1, 0)))
    assert path.read_text() == "workload,run,t,b,c\nx,1,1,3,\nx,2,1,30,40\n"


def test_the_bundled_recordings():
    path = Path(__file__).resolve().parents[2] / "data" / "sample" / "telemetry.csv"
    assert path.stat().st_size < 1_500_000
    found = read(path, "telemetry", {}, path.name)
    assert found.rejected == ()
    runs = found.frame.groupby(["workload", "run"]).size()
    assert runs.groupby("workload").size().ge(3).all()
    assert len(runs.groupby("workload")) >= 5
    assert runs.between(20, 30).all()
    assert set(found.frame.columns[4:]) <= {*SYSTEM72, "proc.cpu_user%", "proc.cpu_sys%", "proc.rss_mb", "proc.threads"}
    assert {"empty_cells", "holes"}.isdisjoint(checks(found))


@needs_shared_data
def test_the_shared_recordings_round_trip(tmp_path):
    path = FOLDER / "telemetry" / "runs.csv"
    assert sniffed(path.read_text()[:1000]) == "telemetry"
    found = read(path, "telemetry", {}, "runs.csv")
    plain = pd.read_csv(path, dtype={"run": str})
    assert (len(found.frame), found.rejected) == (1560, ())
    assert checks(found) == {"runs": 52}
    pd.testing.assert_frame_equal(found.frame.drop(columns="status"), plain, check_dtype=False)


@pytest.mark.soak
def test_a_day_of_72_counters_is_read(tmp_path):
    counters = np.random.default_rng(0).normal(size=(86_400, 72)).astype(np.float32)
    frame = pd.DataFrame(counters, columns=[f"c{at}" for at in range(72)])
    frame.insert(0, "t", np.arange(1, 86_401))
    frame.insert(0, "run", "1")
    frame.insert(0, "workload", "day")
    path = tmp_path / "day.csv"
    frame.to_csv(path, index=False, float_format="%.6g")
    found = read(path, "telemetry", {}, "day.csv")
    np.testing.assert_allclose(found.frame.iloc[:, 4:].to_numpy(), counters, rtol=1e-5)


def test_a_status_that_is_none_of_ours_is_told(tmp_path):
    found = imported(tmp_path, "r.csv", "workload,run,t,a,status\nw,1,1,5,complete\nw,1,2,6,odd\nw,1,3,6,\n")
    assert checks(found)["unknown_statuses"] == 1


def test_a_file_without_a_last_line_end_may_be_cut(tmp_path):
    text = "workload,run,t,a\nw,1,1,5\nw,1,2,12"
    assert checks(imported(tmp_path, "r.csv", text))["no_line_end"] == 1
    assert "no_line_end" not in checks(imported(tmp_path, "r.csv", f"{text}34\n"))
