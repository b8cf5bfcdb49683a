"""Use of memory within (user, task, request): the generator against the real trace.

tail: the 999-row file, of which 686 rows are shared; runs that know at least five ended ones of their key.
"""

import numpy as np
import pandas as pd
import pytest

from tests.shared_data import PAI_SAMPLE, needs_shared_data
from tests.synthetic.naive_key_memory import LEAST_KNOWN, KeyMemory, key_memory
from tests.synthetic.test_bundled_sample import BUNDLED

LOG_SD = 0.17
OF_LARGEST = (0.58, 0.64)
ABOVE_LARGEST = (0.03, 0.04)
NEEDED = 0.30
"""Of the 999 rows; what two figures are given for lies between them (tail)."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def bundled() -> pd.DataFrame:
    return pd.read_parquet(BUNDLED)


def held_to_the_real_ones(found: KeyMemory) -> None:
    assert found.log_sd == pytest.approx(LOG_SD, abs=0.02)
    assert OF_LARGEST[0] - 0.02 < found.of_largest < OF_LARGEST[1] + 0.02
    assert ABOVE_LARGEST[0] - 0.01 < found.above_largest < ABOVE_LARGEST[1] + 0.01
    assert found.needed == pytest.approx(NEEDED, abs=0.1)


def test_a_trace_by_hand() -> None:
    rows = pd.DataFrame(
        {
            "user": "u",
            "task_name": "worker",
            "plan_mem": 10.0,
            "max_mem": [1.0, 1.0, 2.0, 2.0, 4.0, 2.0, 6.0, 8.0],
            "start_time": [0.0, 0.0, 0.0, 0.0, 0.0, 10.0, 20.0, 20.0],
            "end_time": [9.0, 9.0, 9.0, 9.0, 9.0, 20.0, 30.0, 40.0],
        }
    )
    found = key_memory(rows)
    assert (found.runs, found.of_largest, found.above_largest) == (3, 1.5, pytest.approx(2 / 3))
    assert found.needed == pytest.approx(0.5)
    assert found.log_sd == pytest.approx(np.log([1, 1, 2, 2, 4, 2]).std(ddof=1))


@needs_shared_data
def test_the_shared_rows_have_the_figures_of_the_trace() -> None:
    held_to_the_real_ones(key_memory(pd.read_csv(PAI_SAMPLE)))


def test_the_bundled_sample(bundled: pd.DataFrame) -> None:
    held_to_the_real_ones(key_memory(bundled))


def test_other_seeds(sample: pd.DataFrame) -> None:
    held_to_the_real_ones(key_memory(sample))


def test_some_keys_are_thin_some_vary_widely_some_use_more_than_they_request(bundled: pd.DataFrame) -> None:
    work = bundled["plan_mem"] * (bundled["end_time"] - bundled["start_time"])
    keys = bundled.assign(work=work / work.sum()).groupby(["user", "task_name", "plan_mem"])
    jobs, most, least, share = (
        keys["job_name"].nunique(), keys["max_mem"].max(), keys["max_mem"].min(), keys["work"].sum(),
    )  # fmt: skip
    assert 0.15 < share[(keys.size() <= LEAST_KNOWN) | (jobs == 1)].sum() < 0.45
    assert (most / least)[jobs > 1].max() > 40
    assert ((most / least > 20) & (jobs > 1)).sum() >= 3
    above = most > most.index.get_level_values("plan_mem")
    assert 0.03 < share[above].sum() < 0.2
