"""Stratified samples: exactly the rows asked for, in the shares of the whole, missing values a stratum of their own."""

from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from workprof.core.errors import ColumnMissing, NotEnoughData, SettingsError
from workprof.store.frames import shares
from workprof.store.reports import IngestOptions

pytestmark = pytest.mark.slow

PUBLISHED = {  # workload: (rows after the cross join, rows in the paper's sample)
    "bert": (10_940_142, 29_818),
    "ctr": (9_128_957, 24_881),
    "graphlearn": (4_888_371, 13_323),
    "inception": (10_781_289, 29_385),
    "nmt": (13_537, 37),
    "resnet": (60_863, 166),
    "rl": (849_626, 2_316),
    "vgg": (11_768, 32),
    "xlnet": (15_632, 43),
}

COUNTS = st.dictionaries(st.none() | st.text(max_size=3), st.integers(1, 10**6), min_size=1, max_size=30)


def published_sizes(counts, rows):
    """The paper's rounding, each stratum by itself."""
    total = sum(counts.values())
    return {value: round(count / total * rows) for value, count in counts.items()}


def test_the_papers_rounding_gives_its_table_and_ours_differs_by_its_surplus():
    counts = {name: rows for name, (rows, _) in PUBLISHED.items()}
    theirs, ours = published_sizes(counts, 100_000), shares(counts, 100_000, 0)
    assert theirs == {name: drawn for name, (_, drawn) in PUBLISHED.items()}
    assert (sum(theirs.values()), sum(ours.values())) == (100_001, 100_000)
    assert sum(abs(theirs[name] - ours[name]) for name in counts) == 1


@given(COUNTS, st.floats(0, 1), st.integers(0, 5))
def test_sizes_add_up_and_are_within_one_row_of_the_share(counts, part, seed):
    total = sum(counts.values())
    rows = max(1, int(total * part))
    sizes = shares(counts, rows, seed)
    assert sum(sizes.values()) == rows
    for value, count in counts.items():
        assert 0 <= sizes[value] <= count
        assert abs(sizes[value] - Fraction(count * rows, total)) < 1
    assert shares(counts, total, seed) == counts


def test_the_largest_remainders_get_what_is_left():
    counts = {"a": 341, "b": 341, "c": 318}  # shares of 10: 3.41, 3.41, 3.18
    sizes = shares(counts, 10, 0)
    assert sizes["c"] == 3 and sorted([sizes["a"], sizes["b"]]) == [3, 4]
    assert sum(published_sizes(counts, 10).values()) == 9
    assert {shares(counts, 10, seed)["a"] for seed in range(20)} == {3, 4}


@pytest.fixture
def loaded(store, write):
    values = ["NULL", "", "x", "x", "y"]
    rows = "".join(f"{i % 7},j{i},{values[i % 5]},{'Failed' if i % 4 == 3 else 'ok'},{i}\n" for i in range(400))
    mapped = write("jobs.csv", "size,job_name,kind_,status,duration_s\n" + rows)
    store.ingest([mapped], IngestOptions(format="generic"))
    return store


@pytest.mark.parametrize("by", ["kind_", "size", "job_name"])
def test_the_sample_has_exactly_the_rows_asked_for(loaded, by):
    for rows in (1, 100, 300):
        exactly(loaded, rows, by)
        loaded.remove("s")


def exactly(loaded, rows, by):
    report = loaded.sample("jobs", by, rows, "s", seed=1)
    assert report.rows == rows == loaded.dataset("s").rows == len(loaded.frame("s", []))
    assert sum(stratum.rows_out for stratum in report.strata) == rows
    assert sum(stratum.rows_in for stratum in report.strata) == loaded.dataset("jobs").finished_rows
    drawn = loaded.frame("s", [by])[by].astype(object).where(lambda column: column.notna(), None).value_counts()
    told = {stratum.value: stratum.rows_out for stratum in report.strata if stratum.rows_out}
    if by == "size":
        assert {float(value): count for value, count in told.items()} == drawn.to_dict()
    elif by == "job_name":
        assert set(told) == set(drawn.index)


def test_missing_values_and_texts_that_read_alike_are_strata_of_their_own(store, write):
    rows = "".join(f"j{i},{'' if i % 4 == 0 else 'n' if i % 4 == 1 else 'm'},{i}\n" for i in range(200))
    path = write("pai.csv", "job_name,kind_,duration_s\n" + rows)
    store.ingest([path], IngestOptions())
    with (
        store.writing(),
        store._database.cursor() as cursor,
    ):  # no format keeps the text NULL; a Parquet file may hold it
        table = f'"rows_{store.dataset("pai").hash}"'
        cursor.execute(f"UPDATE {table} SET kind_ = 'NULL' WHERE kind_ = 'n'")
    report = store.sample("pai", "kind_", 100, "s")
    assert {s.value: (s.rows_in, s.rows_out) for s in report.strata} == {
        "NULL": (50, 25),
        "NULL (no value)": (50, 25),
        "m": (100, 50),
    }
    kinds = store.frame("s", ["kind_"])["kind_"]
    assert (int(kinds.isna().sum()), int((kinds == "NULL").sum()), int((kinds == "m").sum())) == (25, 25, 50)


def test_more_rows_than_there_are_or_none_are_refused(loaded):
    for rows in (0, -3, 301):
        with pytest.raises(SettingsError, match=r"at most 300|at least 1"):
            loaded.sample("jobs", "size", rows, "s")
    assert [dataset.name for dataset in loaded.datasets()] == ["jobs"]


def test_an_unknown_column_is_named(loaded):
    with pytest.raises(ColumnMissing, match="no column 'colour'; it has job_name"):
        loaded.sample("jobs", "colour", 5, "s")


def test_columns_that_take_more_than_the_memory_limit_are_refused(store, tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("job_name,duration_s\n" + "".join(f"a{i},{i}\n" for i in range(1_000)))
    store.ingest([path], IngestOptions())
    store.memory_limit_bytes = 1_000 * (8 + 4 + 8)
    assert len(store.frame("long", ["job_name", "duration_s"])) == 1_000
    store.memory_limit_bytes -= 1
    with pytest.raises(
        NotEnoughData, match=r"2 columns of 1,000 runs of long take .*WORKPROF_MEMORY_LIMIT is .*sample"
    ):
        store.frame("long", ["job_name", "duration_s"])
