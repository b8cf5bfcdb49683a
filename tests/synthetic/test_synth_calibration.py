"""Marginals of the synthetic sample against published ones, with the tolerance each can be held to.

sample: the published 100,001-row sample (metadata, sizes, mix); tail: the 999-row file (values and their spread,
recurrence). The two are different populations: where they disagree on metadata the sample wins.
"""

import numpy as np
import pandas as pd
import pytest

from workprof.synthetic.pai_behaviours import HOURLY_WEIGHTS, TIME_ZONE_S

# stratum sizes of the sample, round(N_k / N * 100,000)
WORKLOAD_ROWS = {
    "bert": 29_818,
    "ctr": 24_881,
    "graphlearn": 13_323,
    "inception": 29_385,
    "nmt": 37,
    "resnet": 166,
    "rl": 2_316,
    "vgg": 32,
    "xlnet": 43,
}

PROFILE_ROWS = (2_101, 5_751, 836, 3_043, 717, 735, 340, 737, 12_522, 11_612, 648, 302, 5_501, 2_287, 686, 777, 1_943,
                567, 585, 2_072, 2_128, 395, 1_891, 7_474, 1_994, 7_754)  # fmt: skip

TAIL_QUANTILES = {  # p5, p50, p95 of the 999-row file
    "duration": (13, 417, 10_159),
    "inst_num": (1, 10, 25),
    "cpu_usage": (42, 114, 665),
    "gpu_wrk_util": (0.09, 9.0, 55.8),
    "avg_mem": (0.72, 2.41, 6.98),
    "max_mem": (1.67, 3.17, 14.2),
    "avg_gpu_wrk_mem": (0.20, 0.50, 2.65),
    "max_gpu_wrk_mem": (0.25, 0.75, 5.53),
    "read": (1.2e6, 3.6e7, 1.2e9),
    "write": (2.2e5, 2.4e6, 1.9e7),
    "read_count": (383, 4_184, 24_201),
    "write_count": (141, 1_536, 11_496),
}

TAIL_LOG_SD = {
    "duration": 2.10, "cpu_usage": 0.99, "gpu_wrk_util": 1.47, "avg_mem": 0.67, "max_mem": 0.66,
    "avg_gpu_wrk_mem": 0.87, "max_gpu_wrk_mem": 0.97, "read": 2.33, "write": 1.29, "read_count": 1.30,
    "write_count": 1.49,
}  # fmt: skip


@pytest.fixture(scope="module")
def tasks(sample: pd.DataFrame) -> pd.DataFrame:
    """One row per (job, task), in random order."""
    return sample.sample(frac=1, random_state=0).drop_duplicates(["job_name", "task_name"])


@pytest.fixture(scope="module")
def one_per_job(tasks: pd.DataFrame) -> pd.DataFrame:
    """One row per job, as nearly in the 999-row file (999 rows of 942 jobs)."""
    return tasks.drop_duplicates("job_name")


def share(rows: pd.Series, value: object) -> float:
    return float((rows == value).mean())


def test_workloads_are_the_published_strata(sample: pd.DataFrame) -> None:
    for workload, rows in WORKLOAD_ROWS.items():
        assert abs(share(sample["workload"], workload) * 30_000 - rows * 30_000 / 100_001) <= 6, workload


def test_profiles_have_the_published_sizes(sample: pd.DataFrame) -> None:
    sizes = sample["truth_profile"].value_counts()
    for profile, rows in enumerate(PROFILE_ROWS):  # 8 of profile 9 are exceptional rows of another cell
        assert abs(sizes[profile] - rows * 30_000 / 100_001) <= 4, profile


@pytest.mark.parametrize(
    ("task", "rows"), [("worker", 50_125), ("ps", 46_116), ("evaluator", 3_495), ("PyTorchWorker", 193)]
)
def test_tasks_have_the_published_shares(sample: pd.DataFrame, task: str, rows: int) -> None:
    assert share(sample["task_name"], task) == pytest.approx(rows / 100_001, rel=0.08)


def test_ten_users_submit_nearly_everything(sample: pd.DataFrame) -> None:
    users = sample["user"].value_counts(normalize=True)
    assert users.head(10).sum() == pytest.approx(0.936, abs=0.015)
    published = np.array([27_531, 22_873, 17_288, 10_513, 5_515]) / 100_001
    assert np.abs(users.head(5).to_numpy() - published).max() < 0.015


def test_two_groups_dwarf_the_others(sample: pd.DataFrame) -> None:
    groups = sample["group"].value_counts(normalize=True)
    assert groups.iloc[0] == pytest.approx(0.149, abs=0.04)
    assert groups.iloc[1] == pytest.approx(0.079, abs=0.04)
    assert groups.iloc[2] < 0.04  # 1.8 % of 100,001 rows; single large jobs weigh more in 30,000


@pytest.mark.parametrize("column", TAIL_QUANTILES)
def test_values_are_of_the_published_order(sample: pd.DataFrame, column: str) -> None:
    # inst_num: jobs of the sample are large, those of the tail file small; p95 is held to the trace instead.
    low, middle, high = sample[column].quantile([0.05, 0.5, 0.95])
    expected = TAIL_QUANTILES[column]
    assert middle == pytest.approx(expected[1], rel=1.5)
    assert 0.2 < low / expected[0] < 5
    assert 0.2 < high / expected[2] < (12 if column == "inst_num" else 5)


@pytest.mark.parametrize("column", TAIL_LOG_SD)
def test_values_spread_as_published(sample: pd.DataFrame, column: str) -> None:
    # inception (14 GiB) is 29 % of this sample and 10 % of the tail file, hence the wider memory columns.
    logs = np.log(sample.loc[sample[column] > 0, column])
    assert 0.75 < logs.std() / TAIL_LOG_SD[column] < 1.7


def test_zeros_are_as_rare_as_published(sample: pd.DataFrame) -> None:
    assert share(sample["gpu_wrk_util"], 0) == pytest.approx(0.039, abs=0.01)
    assert share(sample["max_gpu_wrk_mem"], 0) == pytest.approx(0.011, abs=0.005)
    assert ((sample["max_gpu_wrk_mem"] == 0) <= (sample["gpu_wrk_util"] == 0)).all()


def test_mean_over_peak_memory(sample: pd.DataFrame) -> None:
    main = (sample["avg_mem"] / sample["max_mem"]).quantile([0.05, 0.5, 0.95])
    assert np.abs(main.to_numpy() - [0.30, 0.76, 0.93]).max() < 0.06
    gpu = (sample["avg_gpu_wrk_mem"] / sample["max_gpu_wrk_mem"]).quantile([0.05, 0.5, 0.95])
    assert np.abs(gpu.to_numpy() - [0.32, 0.94, 1.0]).max() < 0.06


def test_bytes_per_read(sample: pd.DataFrame) -> None:
    per_read = (sample["read"] / sample["read_count"]).quantile([0.1, 0.5, 0.9]).to_numpy()
    assert np.abs(np.log(per_read / [3_000, 14_500, 59_700])).max() < np.log(2)


def test_the_13_second_spike_is_in_ctr_servers(sample: pd.DataFrame) -> None:
    # tail: 131 of 999 rows are exactly 13 s and 28 are 14 s, almost all of the 222 ctr/ps rows.
    servers = sample[(sample["workload"] == "ctr") & (sample["task_name"] == "ps")]
    assert servers["duration"].quantile(0.1) == 13
    assert share(servers["duration"], 13) == pytest.approx(131 / 222, abs=0.12)
    assert servers["duration"].quantile(0.9) > 300
    exact = sample[sample["duration"] == 13]
    assert (exact["task_name"] == "ps").mean() > 0.75
    assert exact["truth_spike"].mean() > 0.9
    assert share(sample["duration"], 14) / share(sample["duration"], 13) == pytest.approx(28 / 131, abs=0.12)


@pytest.mark.parametrize(
    ("left", "right", "published"),
    [
        ("duration", "plan_cpu", 0.40),
        ("duration", "plan_gpu", -0.37),
        ("duration", "write", -0.42),
        ("read", "read_count", 0.90),
        ("read_count", "write_count", 0.96),
        ("avg_mem", "max_mem", 0.86),
        ("cpu_usage", "read", 0.74),
        ("plan_mem", "plan_gpu", 0.72),
        ("plan_mem", "read", -0.77),
    ],
)
def test_correlations_have_the_published_sign(tasks: pd.DataFrame, left: str, right: str, published: float) -> None:
    measured = tasks[[left, right]].corr("spearman").iloc[0, 1]
    assert np.sign(measured) == np.sign(published)
    assert abs(measured) > 0.03
    assert abs(measured) <= abs(published) + 0.12


def repeated_share(rows: pd.DataFrame, keys: list[str]) -> float:
    sizes = rows.groupby(keys, dropna=False)["duration"].transform("size")
    return float((sizes >= 2).mean())


def explained(rows: pd.DataFrame, keys: list[str]) -> float:
    logs = np.log(rows["duration"])
    means = rows.assign(logs=logs).groupby(keys, dropna=False)["logs"].transform("mean")
    return float(1 - ((logs - means) ** 2).sum() / ((logs - logs.mean()) ** 2).sum())


def variation(rows: pd.DataFrame, keys: list[str]) -> pd.Series:
    groups = rows.groupby(keys, dropna=False)["duration"].agg(["size", "mean", "std"])
    repeated = groups[groups["size"] >= 2]
    return repeated["std"] / repeated["mean"]


def test_groups_recur_as_published(one_per_job: pd.DataFrame) -> None:
    assert repeated_share(one_per_job, ["group"]) == pytest.approx(0.395, abs=0.08)
    assert repeated_share(one_per_job, ["group", "task_name"]) == pytest.approx(0.315, abs=0.08)


def test_runs_of_a_group_vary_as_published(one_per_job: pd.DataFrame) -> None:
    within = variation(one_per_job, ["group", "task_name"])
    assert within.median() == pytest.approx(0.07, abs=0.08)
    assert 0.6 < within.quantile(0.9) < 1.4
    assert variation(one_per_job, ["user"]).median() == pytest.approx(1.09, abs=0.3)


def test_metadata_explain_durations_in_the_published_order(one_per_job: pd.DataFrame) -> None:
    bundle = ["user", "task_name", "plan_cpu", "plan_mem", "plan_gpu", "inst_num"]
    user, cell, plan, group = (
        explained(one_per_job, keys)
        for keys in (["user"], ["user", "workload", "task_name"], bundle, ["group", "task_name"])
    )
    assert user < cell < plan < group
    assert cell == pytest.approx(0.58, abs=0.12)
    assert plan == pytest.approx(0.80, abs=0.12)
    assert group == pytest.approx(0.97, abs=0.05)


def test_plans_exceed_usage_as_in_the_corrected_join(tasks: pd.DataFrame) -> None:
    assert (tasks["plan_cpu"] > tasks["cpu_usage"]).mean() == pytest.approx(0.845, abs=0.06)
    assert (tasks["plan_mem"] > tasks["avg_mem"]).mean() == pytest.approx(0.959, abs=0.03)
    with_gpu = tasks[tasks["plan_gpu"].notna()]
    assert (with_gpu["plan_gpu"] > with_gpu["gpu_wrk_util"]).mean() == pytest.approx(0.98, abs=0.02)


def test_jobs_arrive_by_day(one_per_job: pd.DataFrame) -> None:
    hour = ((one_per_job["start_time"] + TIME_ZONE_S) // 3600 % 24).astype(int)
    counted = hour.value_counts().reindex(range(24)).to_numpy()
    expected = np.array(HOURLY_WEIGHTS) / sum(HOURLY_WEIGHTS) * len(hour)
    assert np.abs((counted - expected) / np.sqrt(expected)).max() < 4.5
    assert counted[2:6].sum() < 0.6 * counted[14:18].sum()
    span = one_per_job["start_time"].max() - one_per_job["start_time"].min()
    assert span / 86_400 == pytest.approx(49.9, abs=0.5)


def test_hosts_follow_the_workload(sample: pd.DataFrame) -> None:
    hosts = sample.groupby("workload")["gpu_type_machine_spec"].value_counts(normalize=True)
    assert hosts["ctr", "T4"] == pytest.approx(0.98, abs=0.02)
    assert hosts["bert", "T4"] == pytest.approx(0.82, abs=0.07)
    assert hosts["inception", "MISC"] == pytest.approx(0.93, abs=0.05)
    asked = sample.dropna(subset="gpu_type")
    assert (asked["gpu_type"] == asked["gpu_type_machine_spec"]).mean() == pytest.approx(701 / 705, abs=0.02)


def test_metadata_are_many(sample: pd.DataFrame) -> None:
    # 21,547 values at 100,001 rows in the published encoder; ours reach about 11,700 there.
    assert sum(sample[name].nunique() for name in ("job_name", "user", "group")) > 3_000
