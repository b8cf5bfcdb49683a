"""No room on the disk: a refusal that says what, how much is free and what to do; nothing half there; then it works.

Two disks: one on which no file may grow beyond a size (every machine has that), and a real one of some megabytes that
is filled to the last byte (where a file system may be mounted).
"""

import gzip
import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.faults.forked import Forks
from tests.faults.soundness import bytes_below, check_cache, lines_of, reopened, rows_hash
from tests.faults.squares import ROOT_STEP, STEP, Roots, Squares
from tests.faults.works import settings_of, write_trace
from workprof.core.errors import DiskFull
from workprof.store.reports import IngestOptions, ProfileNote
from workprof.store.trace_store import TraceStore

pytestmark = pytest.mark.soak

ROOM = r"no room on the disk of .*\(.* free\); free some space, or "
MOUNTED_MB = 96
NOTES = 60


@dataclass
class Disk:
    """A folder on a disk that can be made narrow, and the processes that use it."""

    folder: Path
    forks: Forks
    mounted: bool
    outputs: Path

    @property
    def home(self):
        return self.folder / "home"

    def run(self, *arguments, room=None):
        """Run a command; with `room` bytes left, or for a disk that is not our own in any file."""
        full = self.folder / "full"
        if self.mounted and room is not None:
            with full.open("wb") as stream:
                stream.write(b"\0" * max(0, shutil.disk_usage(self.folder).free - room))
        most = None if self.mounted else room
        try:
            ended = self.forks.workprof(self.outputs, *arguments, "--home", self.home, most_bytes=most)
        finally:
            full.unlink(missing_ok=True)
        assert "Traceback" not in ended.err
        return ended


@pytest.fixture
def mounted(tmp_path, forks):
    folder = tmp_path / "mounted"
    folder.mkdir()
    try:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={MOUNTED_MB}m", "tmpfs", str(folder)]
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no file system may be mounted here ({error}); the limited disk is tested")
    try:
        yield Disk(folder, forks, True, tmp_path / "outputs")
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture
def limited(tmp_path, forks):
    (tmp_path / "limited").mkdir()
    return Disk(tmp_path / "limited", forks, False, tmp_path / "outputs")


@pytest.fixture(params=["limited", "mounted"])
def disk(request):
    return request.getfixturevalue(request.param)


@pytest.fixture
def kept(disk):
    """The disk with a dataset in its home."""
    assert disk.run("ingest", write_trace(disk.folder / "kept.csv", 2000)).status == 0
    return disk


def tree(folder):
    return {name: hashed for name, hashed in bytes_below(folder).items() if name != "home/lock"}


def refused(ended, what):
    """Check the words and the status of a refusal for lack of room."""
    assert ended.status == 2, ended.err
    assert ended.out == ""
    (line,) = [line for line in ended.err.splitlines() if line]
    assert re.match(rf"workprof: .*{what}.*: {ROOM}", line), line


def test_an_ingest_leaves_nothing_and_succeeds_later(kept):
    with TraceStore(settings_of(kept.home)) as store:
        wanted = {"kept": rows_hash(store, "kept")}
    trace = write_trace(kept.folder / "big.csv")
    before = bytes_below(kept.home / "rejects")
    for room in (100, 20_000, 100_000):
        refused(kept.run("ingest", trace, room=room), "big.csv was not loaded")
        assert reopened(settings_of(kept.home), wanted) == {"kept"}
        assert bytes_below(kept.home / "rejects") == before
    assert json.loads(kept.run("ingest", trace, "--json").out)["rows"] == 20_000


def test_an_unpacked_input_is_refused_before_it_fills_the_disk(kept):
    packed = kept.folder / "packed.csv.gz"
    packed.write_bytes(gzip.compress(write_trace(kept.folder / "plain.csv", 5000).read_bytes()))
    refused(kept.run("ingest", packed, room=10_000), "packed.csv.gz was not loaded")
    assert list((kept.home / "spool").iterdir()) == []
    (kept.folder / "plain.csv").unlink()
    assert kept.run("ingest", packed).status == 0


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_an_export_is_whole_or_not_there(kept, suffix):
    place = kept.folder / f"out.{suffix}"
    before = tree(kept.folder)
    refused(kept.run("export", "kept", "-o", place, room=500), f"out.{suffix} was not written")
    assert tree(kept.folder) == before
    assert kept.run("export", "kept", "-o", place).status == 0
    assert place.stat().st_size > 500


def test_a_result_that_cannot_be_kept_is_shown_all_the_same(kept):
    question = ("memory", "replay", "kept", "--policies", "p95", "--json")
    without = kept.run(*question, room=3000)
    assert without.status == 0, without.err
    assert "is shown, but could not be kept: no room on the disk of" in without.err
    assert [path for path in (kept.home / "cache").rglob("*") if path.is_file()] == []
    again = kept.run(*question)
    assert "could not be kept" not in again.err
    ours, kept_ours = (json.loads(ended.out)["policies"]["p95"] for ended in (without, again))
    assert ours["wasted_gb_h"] == kept_ours["wasted_gb_h"]
    assert list((kept.home / "cache").glob("??/*/record.json")) != []


def starved(disk, log, room, seed):
    """Run a job with so little room, then with room again; return what was told."""
    assert disk.run("ingest", write_trace(disk.folder / "kept.csv", 300)).status == 0
    asked = {"seed": seed, "room": room, "filler": str(disk.folder / "full") if disk.mounted else ""}
    assert disk.forks.reap(disk.forks.start("starved", disk.home, log, json.dumps(asked))) == 0, lines_of(log)
    assert list((disk.home / "jobs").iterdir()) == []
    return lines_of(log)


def test_a_job_says_that_its_data_had_no_room(disk, tmp_path):
    told = starved(disk, tmp_path / "log", 500, 1)
    (failed,) = [line for line in told if line.startswith("failed: ")]
    assert "no room on the disk of" in failed
    assert told[-4:-1] == ["in memory: None", "told: ", "told then: "]
    assert disk.forks.reap(disk.forks.start("job", disk.home, tmp_path / "again", 1)) == 0
    assert lines_of(tmp_path / "again")[-2:] == ["done: done", "ended"]


def test_a_result_of_a_job_that_finds_no_room_is_shown_and_kept_once_there_is_some(disk, tmp_path):
    told = starved(disk, tmp_path / "log", 100_000, 2)
    assert [line for line in told if line.startswith(("done", "in memory", "told then"))] == [
        "done: done",
        "in memory: 2",
        "told then: ",
    ]
    (said,) = [line for line in told if line.startswith("told: ")]
    assert re.search(rf"the result of test\.\w+ is shown, but could not be kept: {ROOM}", said), said
    assert "in this process's memory alone" in said
    check_cache(disk.home, {STEP.name: Squares, ROOT_STEP.name: Roots})
    kept = {json.loads(path.read_text(encoding="utf-8"))["step"] for path in disk.home.glob("cache/??/*/about.json")}
    assert kept == {STEP.name, ROOT_STEP.name}


def test_a_report_is_whole_or_not_there(kept):
    place = kept.folder / "report.html"
    before = {path.name for path in kept.folder.iterdir()}
    refused(
        kept.run("report", "kept", "-o", place, "--sections", "data", room=1_000_000), "report.html was not written"
    )
    assert {path.name for path in kept.folder.iterdir()} == before
    assert kept.run("report", "kept", "-o", place, "--sections", "data").status == 0
    assert place.read_text(encoding="utf-8").rstrip().endswith("</html>")


def test_notes_and_names_are_refused_in_a_running_process_which_goes_on(mounted):
    """The connection survives a commit for which there was no room."""
    trace, full = write_trace(mounted.folder / "kept.csv", 300), mounted.folder / "full"

    def write_many(store):
        for number in range(NOTES):
            store.set_note("clustering", ProfileNote(number, "name", "note" * 2000))

    with TraceStore(settings_of(mounted.home)) as store:
        store.ingest([trace], IngestOptions())
        with full.open("wb") as stream:
            stream.write(b"\0" * shutil.disk_usage(mounted.folder).free)
        with pytest.raises(DiskFull, match=f"nothing was changed: {ROOM}"):
            write_many(store)
        assert len(store.preview("kept", 1000)) == 300
        full.unlink()
        write_many(store)
        assert len(store.notes("clustering")) == NOTES
    with TraceStore(settings_of(mounted.home)) as store:
        assert len(store.notes("clustering")) == NOTES
