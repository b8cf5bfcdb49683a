"""Sizes, factors and the one number formatter."""

import math

import pytest

from workprof.core.errors import UnitUnknown
from workprof.core.units import compact, factor, format_bytes, format_duration, format_share, parse_size, saved


@pytest.mark.parametrize(
    ("text", "size"),
    [("2GiB", 2 * 1024**3), ("500MB", 500_000_000), ("1024", 1024), (" 1.5 GiB ", 1610612736), ("1e3 KB", 1_000_000)],
)
def test_sizes(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "GiB", "-1GiB", "2 XB", "two GB", "1..5GB"])
def test_bad_sizes_say_what_to_write(text):
    with pytest.raises(UnitUnknown, match="write a number"):
        parse_size(text)


def test_a_bare_number_takes_the_unit_asked_for():
    assert parse_size("2", bare="GB") == 2_000_000_000


def test_an_unknown_unit_lists_the_known():
    with pytest.raises(UnitUnknown, match="KiB"):
        factor("parsec")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (13, "13 s"),
        (0.25, "0.25 s"),
        (250, "4 min 10 s"),
        (3780, "1 h 03 min"),
        (187_200, "2 d 4 h"),
        (-61, "-1 min 01 s"),
    ],
)
def test_durations(seconds, text):
    assert format_duration(seconds) == text


def test_other_numbers():
    assert format_bytes(1.83e9) == "1.83 GB"
    assert format_bytes(300 * 1024**2) == "315 MB"
    assert format_bytes(float("nan")) == "no data"
    assert [format_bytes(size) for size in (999.6e6, 2.5e15, -4e3, 512)] == ["1 GB", "2,500 TB", "-4 kB", "512 B"]
    assert format_share(0.246) == "24.6 %"
    assert format_share(0.875, 0) == format_share(0.875 - 1e-16, 0) == "88 %"  # 1 - 1/8, and 7 of 8 added up
    assert [format_share(share) for share in (math.nan, math.inf)] == ["no data", "infinite"]
    assert [format_share(share) for share in (2.386, 0.9999, 12.5)] == ["239 %", "100 %", "1,250 %"]
    assert [saved(share) for share in (0.3126, -2.386)] == ["31.3 % less", "239 % more"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (233_173, "233 k"),
        (1_200_000, "1.2 M"),
        (0.0488791, "0.0489"),
        (999.7, "1 k"),
        (999_600, "1 M"),
        (-2782, "-2.78 k"),
        (12, "12"),
        (0, "0"),
        (3e15, "3,000 T"),
        (float("nan"), "no data"),
        (float("inf"), "no data"),
    ],
)
def test_compact_numbers(value, text):
    assert compact(value) == text
