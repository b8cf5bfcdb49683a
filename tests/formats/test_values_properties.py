"""Sizes, durations, moments and shares: read as they were written, refused in words, or left as they are."""

import math
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.mutations import NUMBERS, mutated
from workprof.core import units
from workprof.core.errors import SettingsError, TraceError, UnitUnknown
from workprof.core.fields import check_value, read
from workprof.formats.telemetry.times import seconds_of
from workprof.nodes.questions import RANK

pytestmark = pytest.mark.slow

AMOUNTS = st.decimals(min_value=0, max_value=10**9, places=3, allow_nan=False).map(str)
MOMENTS = st.datetimes(datetime(1971, 1, 1), datetime(2199, 1, 1), timezones=st.just(UTC))
SINCE = RANK.leaf("since_s")
PRICES = RANK.leaf("prices_per_h")
ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(AMOUNTS, st.sampled_from(sorted(units.MEMORY_FACTORS)))
def test_a_size_is_its_number_times_its_unit(amount, unit):
    assert units.parse_size(f" {amount} {unit} ") == round(float(amount) * units.MEMORY_FACTORS[unit])


@given(st.one_of(st.text(max_size=20), mutated("2.5GiB"), st.sampled_from(NUMBERS)))
def test_any_other_size_is_refused_with_its_text(text):
    try:
        found = units.parse_size(text)
    except UnitUnknown as error:
        assert repr(text)[:100] in str(error)
    else:
        assert found >= 0


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_every_number_has_words(value):
    for words in (units.format_bytes(value), units.format_duration(value), units.format_count(value)):
        assert words == "no data" or math.isfinite(value)


@given(MOMENTS, ZONES)
def test_a_moment_is_the_same_in_every_zone(at, zone):
    whole = at.replace(microsecond=at.microsecond // 1000 * 1000)
    text = whole.astimezone(zone).isoformat(sep=" ", timespec="milliseconds")
    np.testing.assert_allclose(seconds_of([text], "f.csv"), [whole.timestamp()], atol=1e-3)
    assert read(SINCE, text) == pytest.approx(whole.timestamp())


LINES = ("10:00:00", "10:00:01", "2024-05-26T10:00:00Z", "1764174327.5", "3")


@given(st.lists(st.one_of(st.sampled_from(LINES), st.sampled_from(LINES).flatmap(mutated)), min_size=1, max_size=4))
def test_times_are_finite_or_refused(texts):
    try:
        found = seconds_of(texts, "f.csv")
    except TraceError as error:
        assert "f.csv" in str(error)
    else:
        assert found.shape == (len(texts),) and np.isfinite(found).all()


@given(st.lists(st.integers(0, 86_399), min_size=1, max_size=5))
def test_clock_times_go_on_after_midnight(seconds):
    texts = [f"{at // 3600:02d}:{at // 60 % 60:02d}:{at % 60:02d}" for at in seconds]
    found = seconds_of(texts, "f.csv")
    np.testing.assert_array_equal(found % 86_400, seconds)
    steps = np.diff(found)
    assert (steps > -43_201).all() or (steps < 43_201).all()  # the oldest first, or the newest


@pytest.mark.parametrize("text", ["25:61:00", "10:60:00", "10:00:61", "1:2:3"])
def test_a_clock_that_no_clock_shows(text):
    with pytest.raises(TraceError, match=r"f\.csv"):
        seconds_of([text], "f.csv")


PAIRS = "cpu=1,disk=2.5,n 1=0"


@given(st.one_of(mutated(PAIRS), st.text("a1=,.-einf ", max_size=20)))
def test_numbers_by_name_are_finite_or_refused(text):
    try:
        found = read(PRICES, text)
        check_value(PRICES, found)
    except SettingsError as error:
        assert "prices" in str(error)
    else:
        assert all(map(math.isfinite, found.values()))


@given(st.one_of(mutated("2026-01-31T08:00"), mutated("1764174327"), st.text(max_size=20)))
def test_a_moment_is_finite_or_refused(text):
    try:
        found = read(SINCE, text)
        check_value(SINCE, found)
    except SettingsError as error:
        assert "since" in str(error)
    else:
        assert found is None or math.isfinite(found)
