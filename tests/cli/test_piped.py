"""Any kind of file through a pipe: `cat FILE | workprof ingest -`, and what stdin must not be."""

import gzip
import io
import json
import os
import subprocess
import sys

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from workprof.core.units import KIB

ROWS = [{"job_name": f"job {at}", "duration_s": at + 0.5, "user": "u"} for at in range(40)]


def workbook():
    made, content = openpyxl.Workbook(), io.BytesIO()
    for row in (list(ROWS[0]), *(list(row.values()) for row in ROWS)):
        made.active.append(row)
    made.save(content)
    return content.getvalue()


def parquet():
    content = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(ROWS), content)
    return content.getvalue()


CSV = "\n".join([",".join(ROWS[0]), *(",".join(map(str, row.values())) for row in ROWS)]).encode() + b"\n"
PIPED = {
    "csv": CSV,
    "gzip": gzip.compress(CSV),
    "json": json.dumps({"jobs": ROWS}).encode(),
    "xlsx": workbook(),
    "parquet": parquet(),
}


COMMAND = [sys.executable, "-m", "workprof"]


def ingest(home, content, *arguments, most_kib=0):
    """Pipe bytes into an ingest, no file of which may grow beyond `most_kib`, where that is given."""
    narrow = ["bash", "-c", f'ulimit -f {most_kib}; exec "$@"', "narrow"] if most_kib else []
    command = [*narrow, *COMMAND, "--home", str(home), "ingest", *arguments, "--json"]
    return subprocess.run(command, input=content, capture_output=True, timeout=120, check=False)


@pytest.mark.some(2)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *(("-", kind) for kind in PIPED),
        *(pytest.param("/dev/stdin", kind, marks=[] if kind == "csv" else pytest.mark.soak) for kind in PIPED),
    ],
)
def test_every_kind_of_file_comes_through_a_pipe(tmp_path, kind, name):
    done = ingest(tmp_path / "home", PIPED[kind], name, "--name", "piped")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["dataset"], report["rows"], report["rejected"]) == ("piped", 40, 0)
    assert not list((tmp_path / "home" / "spool").iterdir())


@pytest.mark.slow
def test_a_pipe_without_a_name_is_called_stdin_and_an_empty_one_is_refused(tmp_path):
    report = json.loads(ingest(tmp_path / "home", CSV, "-").stdout)
    assert report["dataset"] == "stdin"
    empty = ingest(tmp_path / "home", b"", "-")
    assert empty.returncode == 2
    assert b"the file is empty" in empty.stderr


def test_a_pipe_named_twice_is_refused(workprof):
    twice = workprof("ingest", "-", "-")
    assert twice.status == 2
    assert "can be named once" in twice.err


@pytest.mark.slow
def test_a_terminal_is_not_read(tmp_path):
    leader, follower = os.openpty()
    try:
        done = subprocess.run(
            [*COMMAND, "--home", str(tmp_path / "home"), "ingest", "-"],
            stdin=follower,
            capture_output=True,
            timeout=120,
            check=False,
        )
    finally:
        os.close(leader)
        os.close(follower)
    assert done.returncode == 2
    assert b"cat FILE | workprof ingest -" in done.stderr


@pytest.mark.slow
def test_a_full_disk_is_told_and_nothing_is_left(tmp_path):
    done = ingest(tmp_path / "home", CSV + b"a,1,u\n" * 4_000_000, "-", most_kib=8 * KIB)
    assert done.returncode not in (0, 1), done.stderr
    assert b"what was piped was not loaded: no room on the disk of" in done.stderr
    assert not list((tmp_path / "home" / "spool").iterdir())


@pytest.mark.slow
def test_who_reads_the_output_may_have_enough_of_it_and_need_not_know_each_character(tmp_path):
    ingest(tmp_path, CSV.replace(b",u\n", ",Jürgen\n".encode()), "-", "--name", "runs")
    listed = [*COMMAND, "durations", "runs", "--by", "user", "--home", str(tmp_path)]
    ascii_alone = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(listed, env=ascii_alone, capture_output=True, check=False)
    assert (done.returncode, b"J\\xfcrgen" in done.stdout) == (0, True), done.stderr
    for further in ([], ["--csv"], ["--parquet"]):
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run([*listed, *further], stdout=write, stderr=subprocess.PIPE, check=False)
        os.close(write)
        assert (done.returncode, b"Traceback" in done.stderr) == (0, False), further
