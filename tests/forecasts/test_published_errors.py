"""The published quantiles: recomputed from the published file, and drawn with their true unit."""

import numpy as np
import pandas as pd
import pytest

from tests.shared_data import FOLDER, needs_shared_data
from workprof.forecasts.errors import DURATION_999, LEVELS, PUBLISHED_ERRORS, published_errors
from workprof.forecasts.estimates import TARGETS

RECOMPUTED = [line for line in PUBLISHED_ERRORS if line.n_rows == 10_000]


@pytest.fixture(scope="module")
def rows():
    return pd.read_csv(FOLDER / "pai" / "rmse_10000.csv", index_col=0)


def rounding(printed, digits):
    """Return half of the last printed digit's worth."""
    return 0.501 * 10.0 ** (np.floor(np.log10(printed)) - digits + 1) if printed else 1e-12


@needs_shared_data
def test_the_file_holds_the_four_columns_and_nothing_else(rows):
    assert list(rows.columns) == [line.name for line in RECOMPUTED]
    assert len(rows) == 10_000
    assert np.isfinite(rows.to_numpy()).all()


@needs_shared_data
@pytest.mark.parametrize("line", RECOMPUTED, ids=lambda line: line.name)
def test_every_quantile_is_that_of_the_file(rows, line):
    found = np.quantile(rows[line.name], LEVELS)
    for level, printed, value in zip(LEVELS, line.quantiles, found, strict=True):
        digits = 2 if level == 1 else 3  # a maximum is one row: printed with fewer
        assert value == pytest.approx(printed, abs=rounding(printed, digits))


@needs_shared_data
@pytest.mark.parametrize("line", RECOMPUTED, ids=lambda line: line.name)
def test_every_share_is_that_of_the_file(rows, line):
    errors = rows[line.name].to_numpy()
    for limit, share in zip(line.limits, line.within, strict=True):
        assert np.mean(errors <= limit) == pytest.approx(share, abs=5.1e-4)
    assert np.mean(errors == 0) == pytest.approx(line.zero_share, abs=5.1e-4)


@needs_shared_data
def test_the_free_pass_is_as_wide_as_the_true_zeros_of_the_sample(rows):
    gpu = pd.read_csv(FOLDER / "pai" / "pai_sample_dev.csv")["gpu_wrk_util"]
    assert np.mean(rows["GPU"] == 0) == pytest.approx((gpu == 0).mean(), abs=0.01)


def test_every_line_has_a_target_and_rises():
    for line in PUBLISHED_ERRORS:
        assert line.target in TARGETS
        assert list(line.quantiles) == sorted(line.quantiles)
        assert list(line.within) == sorted(line.within)
        assert len(line.limits) == len(line.within)


def test_points_change_the_unit_and_nothing_else():
    ratio, percent = DURATION_999.points("ratio"), DURATION_999.points("percent")
    assert np.array(ratio) * [100, 1] == pytest.approx(np.array(percent))
    assert (5.0, 0.804) in ratio
    for line in PUBLISHED_ERRORS:
        shares = [share for _, share in line.points("ratio")]
        assert shares == sorted(shares), "quantiles and shares of one table agree"


def test_the_headline_reads_80_percent_within_five_times_not_five_percent():
    within = dict(zip(DURATION_999.limits, DURATION_999.within, strict=True))
    assert within[5.0] > 0.8
    assert within[0.05] < 0.02


def test_duration_has_two_lines_and_the_others_one():
    assert {name: len(published_errors(name)) for name in TARGETS} == {
        "duration_s": 2,
        "peak_memory_bytes": 1,
        "cpu_usage_percent": 1,
        "gpu_usage_percent": 1,
    }
