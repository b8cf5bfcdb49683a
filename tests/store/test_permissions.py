"""What a home holds is for its owner alone, whatever the umask; one open to others is told, with the command."""

import gzip
import os
import shlex
import stat
import subprocess
import time
from io import BytesIO
from pathlib import Path

import pytest

from tests.core.steps_for_tests import Asked
from tests.core.test_jobs import ROOT, STEP, frames
from workprof.cache import ResultCache
from workprof.cli import main
from workprof.cli.serve import _announce
from workprof.inputs import spool_upload
from workprof.jobs import Jobs
from workprof.steps import Request
from workprof.store.home import open_to_others
from workprof.store.reports import IngestOptions
from workprof.store.trace_store import TraceStore

pytestmark = pytest.mark.slow

ROWS = "job_name,duration_s\n" + "".join(f"j{i},{i}\n" for i in range(3000)) + "bad,x\n"


@pytest.fixture(params=[0o000, 0o022], ids=oct, autouse=True)
def umask(request):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def below(folder: Path) -> list[Path]:
    """Return every file and folder; what goes away meanwhile may be missing."""
    return [Path(place) / name for place, folders, files in os.walk(folder) for name in (*folders, *files)]


def open_ones(folder: Path) -> list[str]:
    """Return what others may read, write or enter; a hard link has the rights of the user's own file."""
    found = []
    for path in (folder, *below(folder)):
        try:
            told = path.stat()
        except FileNotFoundError:
            continue  # a job that has ended takes its files away
        if told.st_mode & 0o077 and not (path.is_file() and told.st_nlink > 1):
            found.append(f"{path.relative_to(folder)} {stat.S_IMODE(told.st_mode):04o}")
    return found


def test_a_home_and_all_that_is_made_in_it_is_its_owners_alone(settings, write):
    seen = []

    def look(fraction, message):
        seen.extend(open_ones(settings.home))

    with TraceStore(settings) as store, store.writing():
        for name, content in (
            ("a.csv", ROWS),
            ("b.csv.gz", gzip.compress((ROWS + "more,1\n").encode())),
            ("c.json", '{"job_name": "a", "duration_s": 1}\n{"job_name": "b", "duration_s": "x"}\n'),
        ):
            report = store.ingest([write(name, content)], IngestOptions(format="generic"), look)
            assert report.rejected == 1
            look(1.0, "loaded")
        assert len(list((settings.home / "rejects").iterdir())) == 3
        assert (settings.home / "workprof.duckdb.wal").exists()
        store.sample("a", "job_name", 5, "few")
        upload = spool_upload(BytesIO(ROWS.encode()), "up.csv", settings.home)
        assert upload.path.is_file()
        look(1.0, "uploaded")
    look(1.0, "closed")
    assert seen == []
    assert stat.S_IMODE(settings.home.stat().st_mode) == 0o700
    assert stat.S_IMODE((settings.home / "workprof.duckdb").stat().st_mode) == 0o600


def test_results_and_the_files_of_their_jobs_are_their_owners_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    home = tmp_path / "home"
    home.mkdir(0o700)
    cache = ResultCache(home / "cache", memory_bytes=10**6, disk_bytes=10**7)
    jobs = Jobs(cache, home / "jobs")
    asked, seen, names = Asked(seconds=1.0), [], set()
    key = STEP.key("d" * 32, asked)
    jobs.start(Request(STEP, "dataset", asked, key), frames)
    while jobs.view(key).active:
        seen += open_ones(home)
        names |= {path.name for path in below(home)}
        time.sleep(0.002)  # the result's own files are there for a moment alone
    assert jobs.view(key).state == "done"
    assert cache.pin(key, True)
    assert {"jobs.arrow", "request.json", "stderr.txt", "arrays.npz", "check.json"} <= names
    assert seen + open_ones(home) == []


def test_an_export_has_the_rights_of_any_file_of_the_user(settings, write, tmp_path, umask):
    with TraceStore(settings) as store:
        store.ingest([write("a.csv", ROWS)], IngestOptions())
        for name in ("out.csv", "out.parquet", "out.schema.json"):
            store.export("a", tmp_path / name)
            assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o666 & ~umask


def test_a_home_that_is_open_is_told_with_the_command_that_closes_it(settings, write, capsys):
    with TraceStore(settings) as store:
        store.ingest([write("a.csv", ROWS)], IngestOptions())
    assert open_to_others(settings.home) == ""
    settings.home.chmod(0o755)
    (settings.home / "workprof.duckdb").chmod(0o644)
    told = open_to_others(settings.home)
    assert "(its folder 0755, workprof.duckdb 0644)" in told
    _announce(8501, settings)
    assert capsys.readouterr().err.count(told) == 1
    subprocess.run(shlex.split(told.partition("to close it: ")[2]), check=True)
    assert open_to_others(settings.home) == ""
    assert open_ones(settings.home) == []
    _announce(8501, settings)
    assert "open to other users" not in capsys.readouterr().err


def test_the_list_of_datasets_tells_it_and_nothing_else_does(settings, write, capsys):
    settings.home.mkdir(mode=0o755)
    settings.home.chmod(0o755)
    path = write("a.csv", ROWS)
    with pytest.raises(SystemExit, match="0"):
        main(["--home", str(settings.home), "ingest", str(path)])
    assert "chmod" not in capsys.readouterr().err
    with pytest.raises(SystemExit, match="0"):
        main(["--home", str(settings.home), "datasets", "--json"])
    shown = capsys.readouterr()
    assert shown.err.count("chmod -R go-rwx") == 1
    assert shown.out.startswith("[{")
