import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.shared_data import PAI_SAMPLE, needs_shared_data
from workprof.core.errors import SettingsError
from workprof.synthetic.pai import BLOCK_ROWS, pai_sample_tables, write_pai_sample
from workprof.synthetic.pai_behaviours import MEMORY_STEP, SAMPLE_COLUMNS
from workprof.synthetic.pai_jobs import largest_remainder
from workprof.synthetic.report import block_sizes

METADATA = ["user", "group", "workload", "task_name", "plan_cpu", "plan_mem", "plan_gpu", "inst_num"]

TRUTH_COLUMNS = ("truth_profile", "truth_identifiable", "truth_template", "truth_spike", "truth_outlier")


def test_columns_are_the_published_ones_then_the_truth(sample: pd.DataFrame) -> None:
    assert tuple(sample.columns[:-1]) == SAMPLE_COLUMNS + TRUTH_COLUMNS


@needs_shared_data
def test_columns_and_types_equal_the_published_file(sample: pd.DataFrame) -> None:
    published = pd.read_csv(PAI_SAMPLE)
    assert tuple(published.columns) == SAMPLE_COLUMNS
    for name in SAMPLE_COLUMNS:
        assert sample[name].dtype.kind == published[name].dtype.kind, name


def test_report_counts_what_was_written(tmp_path: Path) -> None:
    told: list[float | None] = []
    path = tmp_path / "new" / "sample.parquet"
    report = write_pai_sample(path, 5_000, seed=3, progress=lambda fraction, _: told.append(fraction))
    assert (report.path, report.rows, report.tables) == (path, 5_000, {"sample.parquet": 5_000})
    assert report.bytes == path.stat().st_size
    assert pq.read_metadata(path).num_rows == 5_000
    assert told[-1] == 1.0


def test_same_seed_same_rows_other_seed_other_rows() -> None:
    first, again, other = (pa.concat_tables(pai_sample_tables(2_000, seed)) for seed in (5, 5, 6))
    assert first.equals(again)
    assert not first.equals(other)


@pytest.mark.slow
def test_rows_do_not_depend_on_how_they_are_taken(tmp_path: Path) -> None:
    rows = BLOCK_ROWS * 3 // 2 + 1
    path = tmp_path / "sample.parquet"
    write_pai_sample(path, rows, seed=2)
    tables = list(pai_sample_tables(rows, seed=2))
    assert [table.num_rows for table in tables] == block_sizes(rows, BLOCK_ROWS)
    assert pq.read_table(path).equals(pa.concat_tables(tables))
    assert len(tables) == 2


@pytest.mark.slow
def test_no_name_repeats_across_blocks() -> None:
    rows = pa.concat_tables(pai_sample_tables(BLOCK_ROWS * 3 // 2 + 1, seed=2)).to_pandas()
    assert rows["worker_name"].is_unique
    assert rows["inst_name"].is_unique
    of_a_job = ["inst_id", "user", "group", "workload", "truth_template"]
    assert rows.groupby("job_name")[of_a_job].nunique().max().max() == 1
    assert rows["index"].tolist() == list(range(len(rows)))


@pytest.mark.parametrize("rows", [1, 2, 7, 26, 99, 1_000])
def test_any_number_of_rows(rows: int) -> None:
    assert sum(table.num_rows for table in pai_sample_tables(rows, seed=0)) == rows


@pytest.mark.parametrize(("rows", "seed"), [(0, 0), (-5, 0), (10, -1), (True, 0), (1.5, 0)])
def test_bad_settings_are_refused(tmp_path: Path, rows: int, seed: int) -> None:
    with pytest.raises(SettingsError, match="give a whole number"):
        write_pai_sample(tmp_path / "sample.parquet", rows, seed=seed)
    assert not list(tmp_path.iterdir())


def test_an_interrupted_file_is_not_left_behind(tmp_path: Path) -> None:
    def stop(fraction: float | None, message: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_pai_sample(tmp_path / "sample.parquet", 1_000, progress=stop)
    assert not list(tmp_path.iterdir())


def test_block_sizes_add_up() -> None:
    for rows in (1, 99_999, 100_001, 150_001, 1_234_567):
        sizes = block_sizes(rows, BLOCK_ROWS)
        assert sum(sizes) == rows
        assert max(sizes) <= 1.5 * BLOCK_ROWS


def test_largest_remainder_reproduces_the_published_strata() -> None:
    # N_k of the full table and n_k of the sample, both printed by the authors' notebook.
    full = np.array([10_940_142, 9_128_957, 4_888_371, 10_781_289, 13_537, 60_863, 849_626, 11_768, 15_632])
    drawn = [29_818, 24_881, 13_323, 29_385, 37, 166, 2_316, 32, 43]
    assert np.abs(largest_remainder(full.astype(float), 100_001) - drawn).max() <= 1


def test_values_are_possible(sample: pd.DataFrame) -> None:
    assert (sample["status"] == "Terminated").all()
    assert (sample["avg_mem"] <= sample["max_mem"]).all()
    assert (sample["avg_gpu_wrk_mem"] <= sample["max_gpu_wrk_mem"]).all()
    assert (sample["end_time"] > sample["start_time"]).all()
    for name in ("plan_mem", "max_mem"):
        steps = sample[name] / MEMORY_STEP
        assert (steps == steps.round()).all(), name
    sensors = sample[list(SAMPLE_COLUMNS[-10:])]
    assert (sensors >= 0).all(axis=None)
    assert np.isfinite(sensors).all(axis=None)


def test_null_only_where_no_gpu_was_asked_for(sample: pd.DataFrame) -> None:
    empty = sample.columns[sample.isna().any()].tolist()
    assert empty == ["plan_gpu", "gpu_type"]
    assert sample.loc[sample["task_name"] == "ps", "plan_gpu"].isna().all()
    assert (sample["plan_gpu"].isna() == sample["gpu_type"].isna()).all()
    assert (sample.loc[sample["plan_gpu"].isna(), "task_name"].isin(["ps", "evaluator", "OssToVolumeWorker"])).all()


def test_rows_of_a_task_fit_its_instances(sample: pd.DataFrame) -> None:
    tasks = sample.groupby(["job_name", "task_name"])
    assert (tasks.size() <= tasks["inst_num"].first()).all()
    shared = ["inst_num", "start_time", "end_time", "plan_cpu", "plan_mem", "plan_gpu", "truth_spike"]
    assert tasks[shared].nunique().max().max() == 1
    assert sample.groupby("job_name")["start_time"].nunique().max() == 1


def test_identifiable_means_that_metadata_determine_the_profile(sample: pd.DataFrame) -> None:
    known = sample[sample["truth_identifiable"]]
    assert known.groupby(METADATA, dropna=False)["truth_profile"].nunique().max() == 1
    assert (known["truth_profile"] >= 0).all()
    hidden = sample[~sample["truth_identifiable"] & (sample["truth_profile"] >= 0)]
    assert set(hidden["truth_profile"]) == {5, 6, 22, 23, 24, 25}


@pytest.mark.parametrize("pair", [(22, 23), (24, 25), (5, 6)])
def test_hidden_pairs_share_their_metadata(sample: pd.DataFrame, pair: tuple[int, int]) -> None:
    cells = [set(rows[METADATA].fillna(-1).itertuples(index=False)) for _, rows in
             sample[sample["truth_profile"].isin(pair)].groupby("truth_profile")]  # fmt: skip
    assert len(cells) == 2
    assert len(cells[0] & cells[1]) >= 0.5 * min(map(len, cells))


def test_a_template_shows_one_behaviour_per_task(sample: pd.DataFrame) -> None:
    regular = sample[sample["truth_identifiable"]]
    assert regular.groupby(["truth_template", "task_name"])["truth_profile"].nunique().max() == 1
    assert sample.groupby("truth_template")["group"].nunique().max() == 1


def test_outliers_are_a_quarter_and_of_two_kinds(sample: pd.DataFrame) -> None:
    outlier = sample["truth_profile"] == -1
    assert outlier.mean() == pytest.approx(0.246, abs=0.001)  # 24.6 % in the published clustering
    assert ((sample["truth_outlier"] == "no") == ~outlier).all()
    assert sample["truth_outlier"].value_counts(normalize=True)["stray instance"] == pytest.approx(0.049, abs=0.005)
    assert not sample.loc[outlier, "truth_identifiable"].any()


@pytest.mark.soak
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of a process is read from /proc")
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    # ru_maxrss would count the parent's peak too: it survives the start of another program.
    code = (
        "import sys; from pathlib import Path; from workprof.synthetic.pai import write_pai_sample;"
        "write_pai_sample(Path(sys.argv[1]), int(sys.argv[2]));"
        "print(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1])"
    )
    peaks = []
    for rows in (200_000, 1_000_000):
        arguments = [sys.executable, "-c", code, str(tmp_path / "sample.parquet"), str(rows)]
        peaks.append(int(subprocess.run(arguments, check=True, capture_output=True, text=True).stdout) / 1024)
    assert max(peaks) < 600  # MiB; 10 million rows take 310
    assert peaks[1] < 1.3 * peaks[0]
