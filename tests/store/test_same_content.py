"""What makes two traces the same dataset: what the files hold and how it is read, not how they are packed or called."""

import gzip
import io
import tarfile

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from workprof.core.errors import SettingsError
from workprof.store.reports import IngestOptions
from workprof.synthetic.pai import write_pai_sample
from workprof.synthetic.pai_tables import write_pai_tables

pytestmark = pytest.mark.slow

GOOD = "job_name,duration_s\n" + "".join(f"j{i},{i}\n" for i in range(100))
TRACE = "task_id,native_id,name,status,realtime\n1,7,a,COMPLETED,1000\n2,8,b,COMPLETED,2000\n"


def zstd(content):
    return pa.compress(content, codec="zstd", asbytes=True)


def tar_gz(content):
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as archive:
        member = tarfile.TarInfo("member.csv")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return target.getvalue()


PACKED = {"a.csv": bytes, "a.csv.gz": gzip.compress, "a.csv.zst": zstd, "a.tar.gz": tar_gz}


@pytest.mark.some(2)
@pytest.mark.parametrize("first", PACKED)
def test_packed_or_plain_it_is_one_dataset(store, write, first):
    loaded = store.ingest([write(first, PACKED[first](GOOD.encode()))], IngestOptions())
    for name, pack in PACKED.items():
        again = store.ingest([write(f"again-{name}", pack(GOOD.encode()))], IngestOptions())
        assert (again.already_loaded, again.hash, again.dataset) == (True, loaded.hash, loaded.dataset)
        other = GOOD.replace("j7,7", "j7,8")
        assert not store.ingest([write(f"other-{name}", pack(other.encode()))], IngestOptions()).already_loaded
        store.remove(store.datasets()[0].name)
    assert len(store.datasets()) == 1


def test_a_packed_parquet_file_is_its_content(store, tmp_path, write):
    pq.write_table(pa.table({"job_name": ["a"], "duration_s": [1.0]}), tmp_path / "p.parquet")
    store.ingest([tmp_path / "p.parquet"], IngestOptions())
    packed = write("p.parquet.gz", gzip.compress((tmp_path / "p.parquet").read_bytes()))
    assert store.ingest([packed], IngestOptions(format="generic")).already_loaded


def test_lines_set_aside_and_line_ends_still_count(store, write):
    long = GOOD + "x,1" + "1" * 600_000 + "\n"
    texts = [GOOD, long, long.replace("1\n", "2\n"), GOOD.replace("\n", "\r\n"), GOOD + "z,1\r\n"]
    for at, text in enumerate(texts):
        packed = write(f"{at}.csv.gz", gzip.compress(text.encode()))
        assert not store.ingest([packed], IngestOptions()).already_loaded
    assert len(store.datasets()) == len(texts)


def test_packed_tables_are_the_tables(store, tmp_path):
    folder = tmp_path / "tables"
    write_pai_tables(folder, 60, 5)
    plain = store.ingest([folder], IngestOptions())
    sensors = folder / "pai_sensor_table.csv"
    (folder / "pai_sensor_table.csv.zst").write_bytes(zstd(sensors.read_bytes()))
    sensors.unlink()
    again = store.ingest([folder], IngestOptions())
    assert again.already_loaded and again.hash == plain.hash
    assert not store.ingest([folder], IngestOptions(join="faithful")).already_loaded


@pytest.mark.parametrize(("option", "options"), [("join", {"join": "faithful"}), ("grain", {"aggregation": "job"})])
@pytest.mark.parametrize(
    ("form", "content"), [("generic", GOOD), ("nextflow", TRACE), ("auto", GOOD), ("pai-sample", GOOD)]
)
def test_a_join_is_refused_where_there_is_none(store, write, option, options, form, content):
    with pytest.raises(SettingsError, match=rf"{option} .* belongs to format pai-tables.*leave {option} at"):
        store.ingest([write("a.csv", content)], IngestOptions(format=form, **options))
    assert store.datasets() == ()


@pytest.mark.parametrize("form", ["pai-sample", "nextflow"])
def test_a_trace_of_a_known_format_packed(store, write, tmp_path, form):
    if form == "pai-sample":
        write_pai_sample(tmp_path / "sample.parquet", 300, seed=4)
        content = pd.read_parquet(tmp_path / "sample.parquet").to_csv(index=False).encode()
    else:
        content = TRACE.encode()
    plain = store.ingest([write("trace.csv", content)], IngestOptions())
    assert plain.format == form
    again = store.ingest([write("trace.csv.zst", zstd(content))], IngestOptions())
    assert again.already_loaded and again.hash == plain.hash
