"""Parquet: what the footer promises is bounded before it is read, and what it gets wrong is refused."""

import struct
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from workprof.core.errors import SettingsError, TraceError, WorkprofError
from workprof.core.settings import from_environment
from workprof.store.reports import IngestOptions
from workprof.store.trace_store import TraceStore

pytestmark = pytest.mark.slow

ROWS = 1000
GROUP = 1_000_000


def thrift(number):
    """Return a number as the footer writes it: zigzag, seven bits a byte."""
    number, found = number * 2, b""
    while number > 127:
        found, number = found + bytes([number & 127 | 128]), number >> 7
    return found + bytes([number])


def expanding(path, groups):
    """Write a file of a few kilobytes a million rows."""
    names = pa.DictionaryArray.from_arrays(pa.array(np.zeros(GROUP, np.int32)), ["a"])
    table = pa.table({"job_name": names, "duration_s": np.ones(GROUP)})
    with pq.ParquetWriter(path, table.schema, compression="zstd") as writer:
        for _ in range(groups):
            writer.write_table(table, row_group_size=GROUP)
    return path


@pytest.mark.some(1)
@pytest.mark.parametrize("rows", [25, 120])
def test_a_small_file_of_many_rows_is_refused_before_it_is_read(store, tmp_path, rows):
    path = expanding(tmp_path / "bomb.parquet", rows)
    assert path.stat().st_size < 2_000_000
    with pytest.raises(TraceError, match=rf"{rows},000,000 rows.*compression bomb.*WORKPROF_EXPANSION_LIMIT"):
        store.ingest([path], IngestOptions())
    with pytest.raises(TraceError, match="compression bomb"):
        store.suggest(path, IngestOptions())
    packed = tmp_path / "bomb.parquet.zst"
    packed.write_bytes(pa.compress(path.read_bytes(), codec="zstd", asbytes=True))
    with pytest.raises(TraceError, match="compression bomb"):
        store.ingest([packed], IngestOptions())
    assert store.datasets() == ()


def test_nulls_do_not_hide_rows_and_take_no_place_themselves(store, tmp_path):
    table = pa.table({"job_name": pa.nulls(GROUP, pa.string()), "duration_s": pa.nulls(GROUP, pa.float64())})
    for name, groups in (("many", 40), ("few", 10)):
        with pq.ParquetWriter(tmp_path / f"{name}.parquet", table.schema) as writer:
            for _ in range(groups):
                writer.write_table(table, row_group_size=GROUP)
    with pytest.raises(TraceError, match="compression bomb"):
        store.ingest([tmp_path / "many.parquet"], IngestOptions())
    assert store.suggest(tmp_path / "few.parquet", IngestOptions()).columns == ("job_name", "duration_s")


@pytest.mark.soak
def test_one_long_text_for_every_row_is_refused(store, tmp_path):
    rows = 20_000
    texts = {"short": "x" * 100, "long": "x" * 100_000}
    for name, text in texts.items():
        column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), [text])
        table = pa.table({"job_name": column, "duration_s": np.arange(rows) * 1.0})
        pq.write_table(table, tmp_path / f"{name}.parquet", compression="zstd")
    with pytest.raises(TraceError, match="compression bomb"):
        store.ingest([tmp_path / "long.parquet"], IngestOptions())
    assert store.ingest([tmp_path / "short.parquet"], IngestOptions()).rows == rows


@pytest.mark.slow
def test_the_limit_is_a_setting(settings, tmp_path):
    path = expanding(tmp_path / "bomb.parquet", 12)
    with TraceStore(replace(settings, expansion_limit=10_000)) as store:
        assert store.ingest([path], IngestOptions()).rows == 12 * GROUP


@pytest.mark.parametrize("value", ["0", "-1", "x", "1.5", "9" * 20])
def test_a_limit_that_is_none_is_refused(value):
    with pytest.raises(SettingsError, match="WORKPROF_EXPANSION_LIMIT"):
        from_environment({"WORKPROF_EXPANSION_LIMIT": value})
    assert from_environment({"WORKPROF_EXPANSION_LIMIT": ""}).expansion_limit == 100
    assert from_environment({"WORKPROF_EXPANSION_LIMIT": "500"}).expansion_limit == 500


@pytest.mark.some(1)
@pytest.mark.parametrize("promised", [900, 1001, 4000, 8000])
def test_a_footer_that_lies_is_refused(store, tmp_path, promised):
    honest = tmp_path / "honest.parquet"
    columns = {"job_name": [f"j{at}" for at in range(ROWS)], "duration_s": np.arange(ROWS) * 1.5}
    pq.write_table(pa.table(columns), honest, row_group_size=ROWS // 2, write_statistics=False)
    content = honest.read_bytes()
    start = len(content) - 8 - struct.unpack("<I", content[-8:-4])[0]
    for told, lie in ((ROWS, promised), (ROWS // 2, promised - ROWS // 2)):
        place, found = content.find(thrift(told), start), 0
        while place >= 0 and len(thrift(told)) == len(thrift(lie)):
            path = tmp_path / f"lie{told}_{place}.parquet"
            path.write_bytes(content[:place] + thrift(lie) + content[place + len(thrift(lie)) :])
            try:
                report = store.ingest([path], IngestOptions(duplicates="keep"))
            except WorkprofError:
                found += 1
            else:
                assert report.rows == ROWS  # a byte of something else
                store.remove(report.hash)
            place = content.find(thrift(told), place + 1)
        assert found
    assert store.ingest([honest], IngestOptions()).rows == ROWS
