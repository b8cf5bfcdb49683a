"""The one parser of durations, sizes, amounts and moments: real texts, and random ones against plain code."""

import math
import re
from datetime import UTC, datetime, timedelta, timezone

import duckdb
import numpy as np
import pytest

from workprof.formats import values


def read(sql, texts):
    """Return what one expression makes of many texts."""
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        numbered = connection.execute(
            f"SELECT {sql} FROM (SELECT unnest(?::VARCHAR[]) AS t, unnest(range(?)) AS i) ORDER BY i",
            [texts, len(texts)],
        )
        return [value for (value,) in numbered.fetchall()]


DURATIONS = {
    "1-02:03:04": 93_784.0,
    "08:23:08": 30_188.0,
    "00:00:01.250": 1.25,
    "12:34.5": 754.5,
    "2-03": 183_600.0,
    "1-00:30": 88_200.0,
    "1h 3m 4s": 3_784.0,
    "1d2h": 93_600.0,
    "2 days, 3 hours": 183_600.0,
    "90 min": 5_400.0,
    "90 second(s)": 90.0,
    "500ms": 0.5,
    "3us": 3e-6,
    "1.5h": 5_400.0,
    "PT1H": 3_600.0,
    "P1DT2H3M4.5S": 93_784.5,
    "1 day, 2:03:04": 93_784.0,
    "0 days 02:00:00.500000000": 7_200.5,
    "3 days  00:00:01": 259_201.0,
    "1e3": 1_000.0,
    " 42 ": 42.0,
    "00:10:30,500": 630.5,
    "1.02:03:04": 93_784.0,
    "10 Min. 30 Sek.": 630.0,
    "2 Std. 5 Minuten": 7_500.0,
    "1 Tag": 86_400.0,
    "1,5 h": None,
    "": None,
    "P": None,
    "PT": None,
    "soon": None,
    "4 parsecs": None,
    "1:2:3:4": None,
    "1h 1h": None,
    "4s 3h": None,
    "Unknown": None,
}

SIZES = {
    "4Gn": 4 * 1024**3,
    "2Gc": 2 * 1024**3,
    "64G": 64 * 1024**3,
    "16Gi": 16 * 1024**3,
    "32555630K": 32_555_630 * 1024,
    "2.5 GB": 2.5 * 1024**3,
    "1.5GiB": 1.5 * 1024**3,
    "4gb": 4 * 1024**3,
    "512mb": 512 * 1024**2,
    "16 gib": 16 * 1024**3,
    "4g": 4 * 1024**3,
    "1.5tb": 1.5 * 1024**4,
    "300 MB": 300 * 1024**2,
    "128974848000m": 128_974_848.0,
    "12 kB": 12 * 1024,
    "5 bytes": 5.0,
    "4 Go": 4 * 1024**3,
    "512 Mo": 512 * 1024**2,
    "4 gigabytes": 4 * 1024**3,
    "512 megabytes": 512 * 1024**2,
    "4 GBs": 4 * 1024**3,
    "1024": 1024.0,
    "0": 0.0,
    "": None,
    "G": None,
    "4X": None,
    "1,5 GB": None,
    "4 Gx": None,
}

AMOUNTS = {"500m": 50.0, "1.5": 150.0, "50%": 50.0, "99.8 %": 99.8, "250000000n": 25.0, "100000u": 10.0, "two": None}

MOMENTS = {
    "1716753290": 1_716_753_290.0,
    "2024-05-26T19:54:50Z": 1_716_753_290.0,
    "2024-05-26T21:54:50+02:00": 1_716_753_290.0,
    "2024-05-26 19:54:50.296": 1_716_753_290.296,
    "2024-05-26 19:54:50,296": 1_716_753_290.296,
    "5/26/2024, 7:54:50 PM": 1_716_753_290.0,
    "5/26/2024, 7:54:50.123 PM": 1_716_753_290.0,
    "Sun May 26 2024 21:54:50 GMT+0200 (Central European Summer Time)": 1_716_753_290.0,
    "26.5.2024, 19:54:50": 1_716_753_290.0,
    "26.5.24, 19:54": 1_716_753_240.0,
    "2024-05-26, 19:54:50": 1_716_753_290.0,
    "2024.05.26 19:54:50": 1_716_753_290.0,
    "Sun May 26 21:54:50 CEST 2024": 1_716_753_290.0,
    "Sun 26 May 2024 07:54:50 PM UTC": 1_716_753_290.0,
    "Sun May 26 19:54:50 CST 2024": None,
    "/Date(1716753290296)/": 1_716_753_290.296,
    "26-MAY-24 07.54.50.000000 PM": 1_716_753_290.0,
    "2024-05-26": 1_716_681_600.0,
    "Sun May 26 19:54:50 2024": 1_716_753_290.0,
    "26.05.2024 19:54:50": 1_716_753_290.0,
    "26/May/2024:21:54:50 +0200": 1_716_753_290.0,
    "Sun, 26 May 2024 19:54:50 GMT": 1_716_753_290.0,
    "Sun, 26 May 2024 21:54:50 +0200": 1_716_753_290.0,
    "20240526T195450Z": 1_716_753_290.0,
    "20240526T215450+0200": 1_716_753_290.0,
    "20240526T195450.296": 1_716_753_290.296,
    "20240526T215450+02:00": 1_716_753_290.0,
    "2024-05-26 20:54:50 BST": 1_716_753_290.0,
    **dict.fromkeys(
        ("2024-05-26 21:54:50 +0200", "2024-05-26T21:54:50 +02:00", "2024-05-26 19:54:50 Z"), 1_716_753_290.0
    ),
    "2024-05-26 13:54:50.296 -0600 CST": 1_716_753_290.296,
    "2024-05-26T21:54:50.5CEST": 1_716_753_290.5,
    "2024-05-26 20:54:50 CET": 1_716_753_290.0,
    "2024-05-26 15:54:50 EDT": 1_716_753_290.0,
    "2024-05-26 19:54:50 UTC": 1_716_753_290.0,
    "2024-05-26 21:54:50 Europe/Berlin": 1_716_753_290.0,
    **{f"2024-05-26 19:54:50 {zone}": None for zone in ("CST", "IST", "AST", "SST", "EAST", "VST")},
    "20241326T195450Z": None,
    "05-26-2024 19:54:50": 1_716_753_290.0,
    "26-05-2024 19:54:50": None,
    "05-26-24": None,
    "2024-13-26T19:54:50Z": None,
    "Unknown": None,
}


@pytest.mark.parametrize(
    ("sql", "known"),
    [
        (values.duration("t"), DURATIONS),
        (values.size("t"), SIZES),
        (values.amount("t"), AMOUNTS),
        (values.moment("t"), MOMENTS),
    ],
    ids=["durations", "sizes", "amounts", "moments"],
)
def test_values_as_systems_write_them(sql, known):
    found = dict(zip(known, read(sql, list(known)), strict=True))
    for text, wanted in known.items():
        assert found[text] == (None if wanted is None else pytest.approx(wanted, rel=1e-12)), text


def test_units_bases_and_decimal_commas():
    assert read(values.duration("t", 1e-3), ["50715", "3m"]) == [50.715, 180.0]
    assert read(values.size("t", 1024.0**3), ["4", "4K"]) == [4 * 1024**3, 4096.0]
    assert read(values.size("t", base=1000), ["4G", "4Gi"]) == [4e9, 4 * 1024**3]
    assert read(values.size("t", base=1000, decimal=","), ["1,5 GB"]) == [1.5e9]
    assert read(values.duration("t", decimal=","), ["1,5 h"]) == [5400.0]
    assert read(values.plain("t", ","), ["1,5", "1.5.2", "x"]) == [1.5, None, None]
    assert read(values.per("t"), ["4Gn", "2Gc", "64G", "2000c", "n"]) == ["n", "c", "", "c", ""]


def random_durations(rng, n):
    """Return texts of random durations in every notation, and their seconds."""
    texts, wanted = [], []
    for _ in range(n):
        days, hours, minutes = (int(rng.integers(0, most)) for most in (400, 24, 60))
        seconds = int(rng.integers(0, 60_000)) / 1000
        clock = f"{hours:02d}:{minutes:02d}:{seconds:06.3f}"
        texts += [
            f"{days}-{clock}",
            f"{days}d {hours}h {minutes}m {seconds}s",
            f"P{days}DT{hours}H{minutes}M{seconds}S",
            f"{hours}hours{minutes} mins",
            f"{minutes:02d}:{seconds:06.3f}",
        ]
        short = minutes * 60 + seconds
        whole = days * 86_400 + hours * 3600 + short
        wanted += [whole, whole, whole, hours * 3600 + minutes * 60, short]
    return texts, wanted


def test_random_durations_in_every_notation():
    texts, wanted = random_durations(np.random.default_rng(5), 400)
    np.testing.assert_allclose(read(values.duration("t"), texts), wanted, rtol=1e-12)


def test_random_sizes_and_moments():
    rng = np.random.default_rng(6)
    letters = ("", "K", "M", "G", "T", "P")
    texts, wanted, moments, stamps = [], [], [], []
    for _ in range(400):
        number, power = f"{rng.integers(0, 10**9) / 1000}", int(rng.integers(0, len(letters)))
        unit = letters[power] + str(rng.choice(["", "B", "iB", "i"] if power else ["", "B"]))
        texts.append(f"{number}{rng.choice(['', ' '])}{unit}")
        wanted.append(float(number) * 1024**power)
        at = datetime.fromtimestamp(int(rng.integers(0, 4_000_000_000)), UTC)
        zone = timezone(timedelta(minutes=int(rng.integers(-840, 841))))
        moments.append(at.astimezone(zone).isoformat())
        stamps.append(at.timestamp())
    np.testing.assert_allclose(read(values.size("t"), texts), wanted, rtol=1e-12)
    np.testing.assert_allclose(read(values.moment("t"), moments), stamps)


def test_texts_that_are_no_values_give_nothing_and_no_error():
    rng = np.random.default_rng(7)
    letters = list("0123456789.:-+eEPTDHMSdhmskKMGTinc %,'\"\\ \n\té年µ")
    texts = ["".join(rng.choice(letters, int(rng.integers(0, 12)))) for _ in range(3000)]
    texts += ["9" * 400, "9" * 400 + "d", "1e999", "1e999h", "-" * 300, "0x10", "nan", "inf"]
    for sql in (values.duration("t"), values.size("t"), values.amount("t"), values.moment("t"), values.plain("t")):
        found = read(sql, texts)
        assert len(found) == len(texts)
        for text, value in zip(texts, found, strict=True):
            assert value is None or not math.isfinite(value) or re.search(r"\d", text)
