"""Traces that went wrong on their way: loaded whole and unchanged, or refused; nothing is left behind, nothing lost."""

import gzip
import io
import json
import math
import tarfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st

from tests.mutations import mutated, mutated_bytes
from tests.store.conftest import alone
from workprof.core.errors import LONGEST, WorkprofError
from workprof.core.settings import Settings
from workprof.core.units import GIB
from workprof.formats.generic import FORMAT
from workprof.store.reports import FieldSource, IngestOptions

pytestmark = pytest.mark.slow

ROWS = 8
CSV = "job_name,task_name,duration_s,status\n" + "".join(f"j{at},ps,{10 * at}.5,Done\n" for at in range(ROWS))
NEXTFLOW = "task_id\tnative_id\tname\tprocess\tstatus\trealtime\tpeak_rss\t%cpu\tsubmit\n" + "".join(
    f"{at}\t{at}\tfoo ({at})\tfoo\tCOMPLETED\t{at}m 3s\t{at}.5 GB\t{at}.8%\t2024-05-26 19:54:5{at}.296\n"
    for at in range(ROWS)
)
JOBS = [{"job_name": f"j{at}", "duration_s": 10.5 * at, "more": [1], "text": "a\u2028b"} for at in range(ROWS)]
JSON_LINES = "".join(json.dumps(job, ensure_ascii=False) + "\n" for job in JOBS)
TELEMETRY = "workload,run,t,cpu%\n" + "".join(f"w,r,{at + 1},{at}.25\n" for at in range(ROWS))
PLAIN = str.maketrans("", "", '"\r\x00')
"""Takes out what makes one line of several, or two of one."""


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ingest")
    with alone(Settings(home=folder / "home", data=folder, memory_limit_bytes=GIB)) as opened:
        yield opened


def loaded_or_refused(store, name, content, options=None):
    """Return the report of a loaded file, None for one that was refused in words and left nothing behind."""
    home = store._database.home.folder
    for earlier in store.datasets():
        store.remove(earlier.hash)
    path = home.parent / name
    path.write_bytes(content)
    try:
        report = store.ingest([path], options or IngestOptions())
    except WorkprofError as error:
        assert 0 < len(str(error)) <= LONGEST + 5
        assert store.datasets() == ()
        assert list((home / "spool").iterdir()) == []
        return None
    assert report.rows > 0
    assert report.rows_read == report.rows + report.rejected
    return report


def number(text):
    """Return a cell's number in the plainest way; NaN = no value, None = no number."""
    if text in FORMAT.nulls:
        return math.nan
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else math.nan


@settings(max_examples=8)
@given(mutated(CSV).map(lambda text: text.translate(PLAIN)))
def test_every_line_of_a_csv_is_a_row_or_refused_and_no_value_changes(store, text):
    report = loaded_or_refused(store, "jobs.csv", text.encode())
    if report is None:
        return
    above = sum(check.count for check in report.checks if check.name == "titles")
    at = [place for place, line in enumerate(text.split("\n"), start=1) if line.removeprefix("\ufeff")][above:]
    lines = [line.split(",") for line in text.removeprefix("\ufeff").split("\n") if line][above:]
    header = [name.strip() for name in lines[0]]
    assert report.rows_read == len(lines) - 1
    refused = set(store.rejects(report.hash)["line"])
    kept = [cells for place, cells in zip(at[1:], lines[1:], strict=True) if place not in refused]
    assert len(kept) == report.rows
    if "job_name" in header:
        names = [cells[header.index("job_name")] for cells in kept]
        found = store.frame(report.hash, ["job_name"], finished_only=False)["job_name"]
        assert [None if pd.isna(name) else name for name in found] == [
            None if name in FORMAT.nulls else name for name in names
        ]
    if "duration_s" in header:
        wanted = [number(cells[header.index("duration_s")]) for cells in kept]
        found = store.frame(report.hash, ["duration_s"], finished_only=False)["duration_s"]
        np.testing.assert_array_equal(found.to_numpy(dtype=float), np.array(wanted, dtype=float))


TEXTS = {
    "trace.txt": NEXTFLOW,
    "jobs.jsonl": JSON_LINES,
    "jobs.json": json.dumps(JOBS, indent=1),
    "runs.csv": TELEMETRY,
}


@pytest.mark.some(2)
@pytest.mark.parametrize("name", TEXTS)
@settings(max_examples=8)
@given(data=st.data())
def test_a_changed_text_is_loaded_or_refused(store, name, data):
    loaded_or_refused(store, name, data.draw(mutated(TEXTS[name])).encode())


@settings(max_examples=8)
@given(mutated(JSON_LINES).filter(lambda text: "\r" not in text))
def test_every_line_of_json_is_a_row_or_refused(store, text):
    report = loaded_or_refused(store, "lines.jsonl", text.encode(), IngestOptions(format="generic"))
    if report is not None and text.removeprefix("\ufeff").lstrip().startswith("{"):
        assert report.rows_read == sum(bool(line.removeprefix("\ufeff").strip()) for line in text.split("\n"))


def parquet():
    target = io.BytesIO()
    names = [f"j{at}" for at in range(ROWS)]
    pq.write_table(pa.table({"job_name": names, "duration_s": np.arange(ROWS) * 1.5}), target, compression="none")
    return target.getvalue()


def tar():
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as archive:
        member = tarfile.TarInfo("../../jobs.csv")
        member.size = len(CSV)
        archive.addfile(member, io.BytesIO(CSV.encode()))
    return target.getvalue()[:2048]


PACKED = {
    "jobs.parquet": parquet(),
    "jobs.csv.gz": gzip.compress(CSV.encode(), mtime=0),
    "jobs.csv.zst": pa.compress(CSV.encode(), codec="zstd", asbytes=True),
    "jobs.tar": tar(),
    "jobs.tar.gz": gzip.compress(tar(), mtime=0),
}


@pytest.mark.parametrize("name", PACKED)
def test_a_packed_file_is_loaded_whole(store, name):
    report = loaded_or_refused(store, name, PACKED[name])
    assert report is not None
    assert (report.rows, report.rejected) == (ROWS, 0)


@pytest.mark.parametrize("name", PACKED)
@settings(max_examples=8)
@given(data=st.data())
def test_changed_bytes_are_loaded_or_refused(store, name, data):
    loaded_or_refused(store, name, data.draw(mutated_bytes(PACKED[name])))


@settings(max_examples=8)
@given(st.one_of(st.binary(max_size=200), st.text(max_size=200).map(lambda text: text.encode("utf-8", "ignore"))))
def test_any_bytes_are_loaded_or_refused(store, content):
    loaded_or_refused(store, "any.csv", content)


CODECS = (
    "utf-16",
    "utf-16-le",
    "latin-1",
    "cp1252",
    "utf-7",
    "base64",
    "rot13",
    "zlib",
    "hex",
    "idna",
    "undefined",
    "no",
)
OPTIONS = st.builds(
    IngestOptions,
    format=st.sampled_from(("auto", "generic", "nextflow", "telemetry", "wide")),
    name=st.text(max_size=8),
    delimiter=st.sampled_from(("", ",", "tab", "\t", ";;", "'", '"', "\n", "é")),
    encoding=st.sampled_from(("", *CODECS)),
    decimal=st.sampled_from(("", ".", ",", "'", "ab")),
    mapping=st.dictionaries(
        st.sampled_from(("duration_s", "job_name", "t", "no")),
        st.builds(
            FieldSource, st.sampled_from(("duration_s", "status", "no'such\"")), st.sampled_from(("", "ms", "B", "x"))
        ),
        max_size=2,
    ),
)


@settings(max_examples=20)
@given(OPTIONS)
def test_any_options_load_or_are_refused(store, options):
    loaded_or_refused(store, "options.csv", CSV.encode(), options)


@settings(max_examples=8)
@given(
    st.lists(
        st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\x00"), max_size=12),
        min_size=1,
        max_size=6,
    )
)
def test_texts_come_through_json_and_an_export_as_they_are(store, texts):
    lines = [json.dumps({"job_name": f"j{at}", "duration_s": at, "text": f"x{text}"}) for at, text in enumerate(texts)]
    report = loaded_or_refused(store, "texts.jsonl", "\n".join(lines).encode())
    assert report is not None
    wanted = [f"x{text}" for text in texts]
    assert store.frame(report.hash, ["text"])["text"].tolist() == wanted
    target = store._database.home.folder.parent / "out.parquet"
    store.export(report.hash, target)
    assert pq.read_table(target).column("text").to_pylist() == wanted
