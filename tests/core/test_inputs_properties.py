"""What a browser user names stays inside the data folder and the home, whatever the name; pipes keep nobody waiting."""

import io
import os
import re
import tarfile

import pytest
from hypothesis import given, settings, strategies as st

from tests.store.conftest import alone
from workprof.core.errors import SettingsError, WorkprofError
from workprof.core.settings import Settings
from workprof.core.units import GIB
from workprof.inputs import LONGEST_STEM, SUFFIXES, chosen_file, discard, listed_files, safe_name, spool_upload
from workprof.store.reports import IngestOptions

CROOKED = (
    "..",
    "../..",
    "/",
    "/etc/passwd",
    "~",
    ".",
    "",
    "a/../../x",
    "..\\..\\x",
    "\x00",
    "a\x00b",
    "a\nb",
    "x" * 5_000,
    "/dev/zero",
)
NAMES = st.one_of(
    st.text(max_size=40),
    st.sampled_from(CROOKED),
    st.lists(st.sampled_from(("..", "in", "/", "a.csv", "out", "\\", "pipe.csv")), max_size=5).map("/".join),
)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A data folder with what it may hold and what leads out of it."""
    folder = tmp_path_factory.mktemp("around") / "data"
    (folder / "in").mkdir(parents=True)
    (folder / "tables").mkdir()
    outside = folder.parent / "secret.csv"
    outside.write_text("job_name,duration_s\nsecret,1\n")
    for place in (folder / "good.csv", folder / "in" / "a.csv", folder / "tables" / "pai_job_table.csv"):
        place.write_text("job_name,duration_s\na,1\n")
    (folder / "link.csv").symlink_to(outside)
    (folder / "out").symlink_to(folder.parent)
    (folder / "device.csv").symlink_to("/dev/zero")
    (folder / "tables" / "pai_task_table.csv").symlink_to(outside)
    (folder / "ring.csv").symlink_to("ring.csv")
    os.mkfifo(folder / "pipe.csv")
    os.mkfifo(folder / "pipe.csv.partial")
    (folder / "run.csv.partial").symlink_to(outside)
    (folder / "new\nline.csv").write_text("a\n")
    (folder / os.fsdecode(b"no\xff.csv")).write_text("a\n")
    return folder


def test_only_files_inside_are_listed(data):
    assert listed_files(data) == ("good.csv", "in/a.csv", "tables", "tables/pai_job_table.csv")


@pytest.mark.parametrize(
    "name",
    [
        "../secret.csv",
        "link.csv",
        "out/secret.csv",
        "out",
        "device.csv",
        "pipe.csv",
        "ring.csv",
        "/etc/passwd",
        "tables",
        *CROOKED[:3],
    ],
)
def test_what_leads_out_is_refused(data, name):
    with pytest.raises(SettingsError, match="data folder"):
        chosen_file(data, name)


@pytest.mark.slow
@given(NAMES)
def test_whatever_is_chosen_is_inside(data, name):
    try:
        found = chosen_file(data, name)
    except SettingsError as error:
        assert "data folder" in str(error)
        return
    assert found.is_relative_to(data.resolve())
    assert found.is_file() or found.is_dir()


@pytest.mark.slow
@given(NAMES)
def test_a_name_of_ours_is_a_plain_name(given_name):
    name = safe_name(given_name)
    assert re.fullmatch(r"[A-Za-z0-9_-]+(\.[a-z]+){0,2}", name)
    assert len(name) <= LONGEST_STEM + 2 * max(map(len, SUFFIXES))


@pytest.mark.slow
@settings(max_examples=40)
@given(NAMES, st.binary(max_size=20))
def test_an_upload_lands_inside_the_home(tmp_path_factory, given_name, content):
    home = tmp_path_factory.getbasetemp() / "uploads"
    spooled = spool_upload(io.BytesIO(content), given_name, home)
    assert spooled.path.resolve().is_relative_to((home / "spool").resolve())
    assert spooled.path.read_bytes() == content
    discard(spooled)
    assert not spooled.folder.exists()


@pytest.fixture(scope="module")
def store(data):
    with alone(Settings(home=data.parent / "home", data=data, memory_limit_bytes=GIB)) as opened:
        yield opened


@pytest.mark.parametrize("name", ["pipe.csv", "device.csv", "ring.csv"])
def test_a_pipe_a_device_and_a_ring_keep_nobody_waiting(store, data, name):
    for options in (IngestOptions(), IngestOptions(format="telemetry"), IngestOptions(format="benchmarks")):
        with pytest.raises(WorkprofError, match=name):
            store.ingest([data / name], options)


def test_the_members_of_an_archive_write_nothing_outside(store, data):
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as archive:
        for name in ("../../escaped.csv", "/tmp/escaped.csv"):
            member = tarfile.TarInfo(name)
            member.size = 25
            archive.addfile(member, io.BytesIO(b"job_name,duration_s\na,1\nb"))
        link = tarfile.TarInfo("link.csv")
        link.type, link.linkname = tarfile.SYMTYPE, "../../secret.csv"
        archive.addfile(link)
    (data.parent / "packed.tar.gz").write_bytes(target.getvalue())
    before = {path for path in data.parent.rglob("*") if "home" not in path.parts}
    report = store.ingest([data.parent / "packed.tar.gz"], IngestOptions())
    assert (report.rows, report.rejected) == (1, 1)
    assert {path for path in data.parent.rglob("*") if "home" not in path.parts} == before
    store.remove(report.hash)


def test_an_archive_that_begins_with_a_link_is_not_followed(store, data):
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as archive:
        link = tarfile.TarInfo("jobs.csv")
        link.type, link.linkname = tarfile.SYMTYPE, str(data.parent / "secret.csv")
        archive.addfile(link)
    (data.parent / "links.tar").write_bytes(target.getvalue())
    with pytest.raises(WorkprofError, match=r"links\.tar"):
        store.ingest([data.parent / "links.tar"], IngestOptions())


@pytest.mark.slow
@settings(max_examples=30)
@given(NAMES)
def test_a_dataset_of_any_name_is_a_row_and_no_path(store, data, name):
    for earlier in store.datasets():
        store.remove(earlier.hash)
    try:
        report = store.ingest([data / "good.csv"], IngestOptions(name=name))
    except WorkprofError:
        return
    assert "/" not in report.dataset and not report.dataset.startswith(".")
    assert report.dataset.isprintable() and 0 < len(report.dataset) <= 200
