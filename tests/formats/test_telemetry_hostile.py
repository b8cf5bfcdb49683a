"""Files that are cut, mixed up or made up: each is read or refused in words, never a crash, no line is lost."""

import json
import warnings

import numpy as np
import pytest

from tests.formats.telemetry_files import imported
from tests.formats.test_telemetry_others import PLAIN, WIDE
from tests.formats.test_telemetry_own import TWO_RUNS
from tests.formats.test_telemetry_perf_stat import THREE
from tests.formats.test_telemetry_perfspect import SYSTEM, TABLES
from tests.formats.test_telemetry_prometheus import answer, series
from tests.formats.test_telemetry_sadf import BLOCKS
from workprof.core.errors import WorkprofError
from workprof.formats.measured import TELEMETRY_FORMATS, Measured

pytestmark = pytest.mark.slow

PROMETHEUS = answer(series("x_total", [1, 2, 3], cpu="0"), series("g", ["NaN", 5, 6]), warnings=["w"])
TEXTS = {
    "telemetry": TWO_RUNS,
    "perfspect": SYSTEM,
    "perfspect tables": json.dumps(TABLES),
    "perf-stat": THREE,
    "sadf": BLOCKS,
    "prometheus": PROMETHEUS,
    "psrecord": PLAIN,
    "wide": WIDE.replace("when;", "t;"),
}
JUNK = ("", ",", ";;", "\n\n", '"', "nan", "1e999", "-1", "null", "[", "}", "\x00", "é", "1,5", "9" * 400, "inf", "TS")


def mutated(text, draw):
    """Return a text with a few pieces cut out, put in, or repeated."""
    for _ in range(draw.integers(1, 4)):
        low, high = np.sort(draw.integers(0, len(text) + 1, 2))
        high = min(high, low + 30)
        piece = (draw.choice(JUNK), text[low:high], "")[draw.integers(3)]
        text = text[:low] + str(piece) + text[high if draw.random() < 0.5 else low :]
    return text


@pytest.mark.some(3)
@pytest.mark.parametrize("name", TEXTS)
def test_mutated_files_are_read_or_refused(tmp_path, name):
    draw = np.random.default_rng(sum(name.encode()))
    read = 0
    for _ in range(60):
        text = mutated(TEXTS[name], draw)
        try:
            found = imported(tmp_path, "f.csv", text, name.split()[0])
        except WorkprofError as error:
            assert "f.csv" in str(error) or "mapping" in str(error)
            continue
        assert isinstance(found, Measured)
        assert found.rows_read == len(found.frame) + len({one.line for one in found.rejected})
        assert np.isfinite(found.frame["t"].to_numpy()).all()
        read += 1
    assert read > 0


@pytest.mark.parametrize("format_name", TELEMETRY_FORMATS)
@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "\x00\x00",
        "{}",
        "[]",
        "[1]",
        "null",
        '{"a":',
        "[" * 100_000,
        "a",
        "a,b",
        "a\n1\n",
        "# hostname;\nx",
        "t,t\n1,1\n",
    ],
    ids=range(14),
)
def test_made_up_files_are_refused(tmp_path, format_name, text):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            imported(tmp_path, "f.csv", text, format_name)
        except WorkprofError as error:
            assert len(str(error)) < 600


@pytest.mark.parametrize(
    "data",
    [
        {"resultType": "matrix", "result": [{"metric": [], "values": [[1, "2"]]}]},
        {"resultType": "matrix", "result": [{"metric": {"a": {}}, "values": [[1, "2"], "x", None]}]},
        {"resultType": "matrix", "result": [{"metric": None, "values": {"1": "2"}}, 7]},
        {"resultType": "matrix", "result": [{"metric": {}, "values": [["NaN", "2"], [1e400, "2"]]}]},
        {"resultType": "matrix", "result": {"a": 1}},
        {"resultType": ["matrix"]},
        [],
    ],
)
def test_odd_answers_of_prometheus(tmp_path, data):
    text = json.dumps({"status": "success", "data": data, "warnings": 3, "infos": "odd"})
    try:
        found = imported(tmp_path, "f.json", text, "prometheus")
    except WorkprofError:
        return
    assert np.isfinite(found.frame["t"].to_numpy()).all()


@pytest.mark.parametrize(
    "records",
    [
        [{"Time": "10:00:00", "a": {"b": 1}, "c": [1]}],
        [{"Time": None, "a": "1"}],
        [{"Time": "10:00:00", "a": "1"}, {"Time": "2026-11-21T10:00:01", "a": "2"}],
        [{"Time": "10:00:00"}],
        [{"Time": "10:00:00", "a": True}, {"Time": "10:00:00", "a": "1e999"}],
    ],
)
def test_odd_tables_of_perfspect(tmp_path, records):
    try:
        found = imported(tmp_path, "f.json", json.dumps({"A Telemetry": records}), "perfspect")
    except WorkprofError:
        return
    assert np.isfinite(found.frame["t"].to_numpy()).all()
