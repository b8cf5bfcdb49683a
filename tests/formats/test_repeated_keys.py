"""A key that stands twice in one JSON object: the last value counts, the row is kept, and people are told how many."""

import json
from collections import Counter

import pytest
from hypothesis import given, settings, strategies as some

from tests.formats.telemetry_files import imported
from tests.store.conftest import alone
from workprof.core.settings import Settings
from workprof.core.units import GIB
from workprof.formats.benchmarks import read_benchmarks
from workprof.formats.json_documents import CHUNK_BYTES
from workprof.formats.repeated_keys import MOST_NAMES, NAME, RepeatedKeys
from workprof.store.json_rows import json_rows
from workprof.store.reports import IngestOptions

KEYS = ("job_name", "duration_s", "a", "b", "ü")


class Pairs(list):
    """An object as its pairs: keys may repeat."""


def written(value):
    """Return the JSON text of a value; `Pairs` are an object."""
    if isinstance(value, Pairs):
        return "{" + ", ".join(f"{json.dumps(key)}: {written(inner)}" for key, inner in value) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    return json.dumps(value)


def repeats(value):
    """Return every key that stands more than once in an object, of the whole tree."""
    inner = [one for _, one in value] if isinstance(value, Pairs) else value if isinstance(value, list) else []
    found = [key for one in inner for key in repeats(one)]
    times = Counter(key for key, _ in value) if isinstance(value, Pairs) else {}
    return found + [key for key, count in times.items() if count > 1]


def objects(inner):
    return some.lists(some.tuples(some.sampled_from(KEYS), inner), max_size=4).map(Pairs)


ROW = objects(
    some.recursive(
        some.none() | some.booleans() | some.integers() | some.text(max_size=3),
        lambda inner: some.lists(inner, max_size=2) | objects(inner),
        max_leaves=4,
    )
)


def counted(path):
    repeated = RepeatedKeys()
    rows = [found.row for found in json_rows(path, path.name, repeated)]
    return rows, repeated


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("json")


@pytest.mark.slow
@given(rows=some.lists(ROW | some.just(7), min_size=1, max_size=5), as_array=some.booleans())
@settings(max_examples=200, deadline=None)
def test_every_row_with_a_repeated_key_is_counted_once_and_its_last_value_is_read(folder, rows, as_array):
    texts = [written(row) for row in [*rows, Pairs([("job_name", "x")])]]  # an array of numbers alone is none of ours
    lines = texts[-1:] + texts[:-1]
    path = folder / "rows.json"
    path.write_text("[" + ",\n".join(lines) + "]" if as_array else "\n".join(lines), encoding="utf-8")
    read, repeated = counted(path)
    assert read == [value if isinstance(value, dict) else None for value in map(json.loads, lines)]
    assert repeated.rows == sum(bool(repeats(row)) for row in rows)
    told = {key for row in rows for key in repeats(row)}
    assert all(f"{key} (" in check.message for check in repeated.checks() for key in told)
    assert bool(repeated.checks()) == bool(told)


def test_a_row_that_is_read_twice_since_a_chunk_ended_in_it_counts_once(folder):
    filler = "x" * (CHUNK_BYTES // 3)
    rows = [Pairs([("job_name", f"j{at}"), ("text", filler), ("job_name", f"k{at}")]) for at in range(7)]
    path = folder / "long.json"
    path.write_text(written(rows), encoding="utf-8")
    read, repeated = counted(path)
    assert [row["job_name"] for row in read] == [f"k{at}" for at in range(7)]
    assert repeated.rows == 7
    assert "job_name (7)" in repeated.checks()[0].message


@pytest.fixture(scope="module")
def store(folder):
    with alone(Settings(home=folder / "home", data=folder, memory_limit_bytes=GIB)) as opened:
        yield opened


@pytest.mark.slow
@pytest.mark.parametrize("as_array", [False, True])
def test_the_ingest_keeps_the_rows_and_tells(store, folder, as_array):
    twice = '{"job_name": "a", "duration_s": 1, "duration_s": 2, "extra": {"x": 1, "x": 2}}'
    lines = [twice, '{"job_name": "b", "duration_s": 3}', twice.replace('"a"', '"c"')]
    path = folder / f"jobs{as_array}.json"
    path.write_text(f"[{','.join(lines)}]" if as_array else "\n".join(lines), encoding="utf-8")
    report = store.ingest([path], IngestOptions())
    assert (report.rows_read, report.rows, report.rejected) == (3, 3, 0)
    assert store.frame(report.hash, ["duration_s"])["duration_s"].tolist() == [2, 3, 2]
    (check,) = [check for check in report.checks if check.name == NAME]
    assert (check.level, check.count) == ("warning", 2)
    assert check.message == (
        "2 rows with a key that stands there more than once; its last value counts: duration_s (2), x (2)"
    )
    assert store.report(report.hash).checks == report.checks


def test_many_names_and_long_ones_stay_within_bounds(folder):
    path = folder / "many.json"
    rows = [Pairs([(name, 1), (name, 2)]) for name in ("k" * 500, *map(str, range(2 * MOST_NAMES)))]
    path.write_text("\n".join(map(written, rows)), encoding="utf-8")
    _, repeated = counted(path)
    (check,) = repeated.checks()
    assert repeated.rows == check.count == 2 * MOST_NAMES + 1
    assert len(check.message) < 500
    assert check.message.endswith(" and 995 or more others")


def test_half_a_character_as_a_key_can_be_shown(folder):
    path = folder / "half.json"
    path.write_text('{"\\ud800": 1, "\\ud800": 2}', encoding="utf-8")
    (check,) = counted(path)[1].checks()
    assert check.message.encode()
    assert "(1)" in check.message


RUN = '{"node": "a", "benchmark": "cpu-sysbench", "argv": [], "started": 1, "stdout": "", "rc": 1, "rc": 0}'


def test_benchmark_runs(tmp_path):
    path = tmp_path / "runs.jsonl"
    once, refused = RUN.replace(', "rc": 1', ""), '{"rc": 1, "rc": 2}'
    path.write_text(f"{RUN}\n{once}\n{refused}\n", encoding="utf-8")
    measured = read_benchmarks(path)
    (check,) = [check for check in measured.checks if check.name == NAME]
    assert measured.frame["rc"].tolist() == [0, 0]
    assert len(measured.rejected) == 1
    assert (check.count, check.message.split(";")[1]) == (1, " its last value counts: rc (1)")


def test_counters_of_other_tools(tmp_path):
    points = '[[1764174327, "1"], [1764174328, "2"]]'
    series = f'{{"metric": {{"__name__": "g"}}, "values": [], "values": {points}}}'
    answer = f'{{"status": "success", "data": {{"resultType": "matrix", "result": [{series}]}}}}'
    frame = '{"Metrics": [{"Name": "CPI", "Value": %s}, {"Name": "CPI", "Value": 9}], "Timestamp": 10000000%s}'
    table = '{"CPU Telemetry": [{"Time": "00:00:01", "x": 1, "x": 2}, {"Time": "00:00:02", "x": 3}]}'
    texts = {
        "prom.json": (answer, 1, "values (1)"),
        "metrics.json": ("\n".join(frame % (at, at) for at in range(10, 13)), 3, "CPI (3)"),
        "tables.json": (table, 1, "x (1)"),
    }
    for name, (text, count, keys) in texts.items():
        (check,) = [check for check in imported(tmp_path, name, text).checks if check.name == NAME]
        assert check.count == count
        assert check.message.endswith(f"its last value counts: {keys}")
