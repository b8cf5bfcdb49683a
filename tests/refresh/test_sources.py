"""What a source may be, where secrets may stand, files, tables and pods as sources, and the command."""

import http.server
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime

import duckdb
import numpy as np
import pandas as pd
import pytest

from tests.command_line import run_here
from tests.formats.one_of_each import FILES
from tests.refresh.conftest import rows_of
from tests.refresh.planted import BEGIN, jobs, pods, prometheus, sacct
from workprof.answers.sources import refresh_sentence
from workprof.core.errors import Cancelled, HomeBusy, SettingsError, WorkprofError
from workprof.core.roles import SOURCE
from workprof.core.units import HOUR_S
from workprof.forecasts.durations import DurationSettings
from workprof.memory.assessment import AssessmentSettings
from workprof.profiles.settings import ProfileSettings
from workprof.sources.refresh import refresh
from workprof.sources.source import Credentials, Source, seconds_of, secret
from workprof.store.refreshing import ROWS_AT_ONCE
from workprof.store.reports import IngestOptions, ProfileNote
from workprof.store.trace_store import TraceStore

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"kind": "grafana"}, "use one of prometheus, slurm"),
        ({"kind": "prometheus", "address": "prometheus:9090"}, "give http://HOST:PORT"),
        ({"kind": "prometheus", "address": "http://me:pw@host"}, "holds a name or a password"),
        ({"kind": "slurm", "address": "-oProxyCommand=id"}, "give HOST or USER@HOST"),
        ({"kind": "files"}, "needs an address"),
        ({"kind": "prometheus", "address": "http://host", "step_s": 0.0}, "--step is 0 s"),
        *(({"kind": "slurm", "name": name}, "cannot be used") for name in ("..", "/tmp/x", "../x", "a?b", "deadbeef")),
    ],
)
def test_a_source_that_cannot_be_is_refused(given, words):
    with pytest.raises(SettingsError, match=words):
        Source(**{"name": "x"} | given)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"kind": "slurm", "selector": "partition=gpu"}, "--selector is not used by --from slurm; leave it out"),
        ({"kind": "kubernetes", "credentials": Credentials(user="me")}, "--user .* kubernetes; use --url with it"),
        ({"kind": "files", "address": "/x", "since_s": 9.0}, "--since is not used by --from files"),
        ({"kind": "slurm", "options": IngestOptions(format="swf")}, "--format or --map is not used by --from slurm"),
    ],
)
def test_an_option_that_a_source_does_not_use_is_refused(bench, given, words):
    with pytest.raises(SettingsError, match=words):
        bench.add_source(Source(**{"name": "x"} | given))
    assert bench.sources() == ()


@pytest.mark.parametrize("document", ["{}", "no json", '{"name": "NAME", "kind": "slurm"}'])
def test_a_source_that_cannot_be_read_can_be_removed_and_nothing_but_its_own(bench, tmp_path, document):
    beside = tmp_path / "beside"
    beside.mkdir()
    name = str(beside)  # as an earlier version let one be added
    bench.add_source(Source("here", "slurm"))
    with bench._store._database.writing(SOURCE, name), bench._store._database.transaction() as cursor:
        cursor.execute("UPDATE sources SET name = ?, source = ?", [name, document.replace("NAME", name)])
    with pytest.raises(SettingsError, match="remove it and add it again"):
        bench.source(name)
    assert bench.remove_source(name).kind == "unreadable"
    assert beside.is_dir()
    with pytest.raises(SettingsError, match="no source is called"):
        bench.source(name)


def test_a_secret_is_never_given_itself(tmp_path, monkeypatch):
    with pytest.raises(SettingsError, match="never kept or given on the command line") as told:
        Credentials(token="abc123")
    assert "abc123" not in str(told.value)
    monkeypatch.delenv("NOT_SET", raising=False)
    with pytest.raises(SettingsError, match="NOT_SET is not set"):
        secret("env:NOT_SET")
    path = tmp_path / "token"
    path.write_text("abc123\n")
    path.chmod(0o644)
    with pytest.raises(SettingsError, match="chmod 600") as told:
        secret(f"file:{path}")
    assert "abc123" not in str(told.value)
    path.chmod(0o600)
    assert secret(f"file:{path}") == "abc123"


def test_spans_are_read_in_words_of_prometheus():
    assert [seconds_of(text, "") for text in ("", "90s", "15m", "1.5h", "2d", "1w")] == [
        *(0, 90, 900, 5400, 172_800, 604_800),
    ]
    with pytest.raises(SettingsError, match="--every is 'daily'"):
        seconds_of("daily", "--every")
    assert seconds_of("0d", "--since") == 0
    with pytest.raises(SettingsError, match="--keep is '0d', which is no time; leave it out"):
        seconds_of("0d", "--keep", positive=True)


def table(path, rows):
    lines = [f"j{n},align,{1_700_000_000 + n},{60 + n},{(n + 1) * 1000000}" for n in rows]
    path.write_text("\n".join(["job_name,task_name,start_time_s,duration_s,peak_memory_bytes", *lines]) + "\n")


def test_files_that_are_new_or_grew_are_read_and_the_dataset_is_what_they_hold(bench, tmp_path):
    folder = tmp_path / "traces"
    folder.mkdir()
    table(folder / "a.csv", range(30))
    bench.add_source(Source(name="all", kind="files", address=str(folder)))
    first = bench.refresh("all")
    quiet = bench.refresh("all")
    assert (first.rows, first.new) == (30, 30) and (quiet.rows, quiet.new, quiet.dataset) == (30, 0, first.dataset)
    assert refresh_sentence(quiet) == "Nothing new came from all; it has 30 runs."
    table(folder / "a.csv", range(45))
    grown = bench.refresh("all")
    assert (grown.rows, grown.new, grown.changed) == (45, 15, 0)
    bench.ingest(folder / "a.csv", IngestOptions(name="once"))
    assert rows_of(bench, "all") == rows_of(bench, "once")
    (folder / "a.csv").unlink()
    with pytest.raises(Exception, match="no file is there"):
        bench.refresh("all")
    assert bench.dataset("all").rows == 45


def test_what_rows_show_is_counted_once_over_all_files(bench, tmp_path):
    """Two files say that a run is running, and a third how it ended."""
    head = "job_name,status,start_time_s,end_time_s\n"
    for name, rows in (("a", "j1,RUNNING,1e5,\nj2,COMPLETED,1e5,2e5\n"), ("b", "j1,RUNNING,1e5,\n")):
        (tmp_path / f"{name}.csv").write_text(head + rows)
    (tmp_path / "c.csv").write_text(f"{head}j1,FAILED,1e5,3e5\nj3,COMPLETED,1e5,2e5\n")
    bench.add_source(Source("jobs", "files", f"{tmp_path}/*.csv"))
    bench.refresh("jobs")
    told = [(one.name, one.count) for one in bench.ingest_report("jobs").checks]
    assert [one for one in told if one[0] in ("running", "not finished")] == [("not finished", 1)]


HEAD = "job_name,start_time_s,end_time_s"


def test_runs_and_columns_that_files_do_not_tell_any_more_are_said(bench, tmp_path):
    path = tmp_path / "jobs.csv"
    bench.add_source(Source("jobs", "files", str(path)))
    rows = [f"j{at},{at}e5,{at}.1e5" for at in range(1, 9)]
    path.write_text("\n".join([f"{HEAD},peak_memory_bytes", *(f"{row},{at}e9" for at, row in enumerate(rows, 1))]))
    bench.refresh("jobs")
    path.write_text("\n".join([HEAD, *rows[3:], "k1,1e5,1.1e5", "k2,1e5,1.1e5"]))
    told = bench.refresh("jobs")
    assert (told.rows, told.new, told.changed, told.gone) == (7, 2, 0, 3)
    assert refresh_sentence(told) == "jobs has 7 runs: 2 new, 3 gone. It no longer has peak_memory_bytes."
    path.write_text("\n".join([HEAD, *rows[3:]]))
    assert refresh_sentence(bench.refresh("jobs")) == "jobs has 5 runs: 0 new, 2 gone."


def test_a_run_that_grew_old_is_none_that_changed(bench, tmp_path):
    path = tmp_path / "jobs.csv"
    bench.add_source(Source("jobs", "files", str(path), keep_s=3e5))
    path.write_text(HEAD + "".join(f"\nj{day},{day}e5,{day}.1e5" for day in (1, 2, 3)))
    bench.refresh("jobs", now_s=3.2e5)
    path.write_text(HEAD + "".join(f"\nj{day},{day}e5,{day}.1e5" for day in range(1, 7)))
    told = bench.refresh("jobs", now_s=6.2e5)
    assert (told.rows, told.new, told.changed, told.gone, told.expired) == (3, 3, 0, 0, 3)


def test_files_are_in_order_of_the_numbers_in_their_names(bench, tmp_path):
    for name, ended in (("run-9", 2), ("run-10", 3)):
        (tmp_path / f"{name}.csv").write_text(f"{HEAD}\nj1,1e5,{ended}e5\nj2,1e5,2e5\n")
    bench.add_source(Source("jobs", "files", f"{tmp_path}/run-*.csv"))
    bench.refresh("jobs")
    assert sorted(bench.preview("jobs", 9)["end_time_s"]) == [2e5, 3e5]


def test_files_whose_runs_have_no_names_say_what_may_count_twice(tmp_path):
    for name, first in (("a", 1), ("b", 3)):
        rows = "".join(f"ann,sort,{at}e5,{at}.1e5\n" for at in range(first, first + 4))
        (tmp_path / f"{name}.csv").write_text("user,task_name,start_time_s,end_time_s\n" + rows)
    home = tmp_path / "home"
    run_here("source", "add", "jobs", "--from", "files", "--path", f"{tmp_path}/*.csv", home=home)
    done = run_here("refresh", "jobs", home=home)
    assert "2 rows are alike in several files: without job_name and start_time_s" in done.err, done.err + done.out


def test_a_refresh_that_is_cancelled_has_not_failed(bench, tmp_path):
    table(tmp_path / "a.csv", range(40))
    bench.add_source(Source("all", "files", str(tmp_path / "a.csv")))

    def stop(_fraction, message):
        if message == "taking rows in":
            raise Cancelled("cancelled")

    with pytest.raises(Cancelled):
        bench.refresh("all", stop)
    assert bench.source("all").failed is None
    assert bench.refreshes("all") == ()
    assert bench.refresh("all").new == 40


def test_who_looks_meanwhile_sees_the_rows_of_before_and_may_write(bench, tmp_path):
    """The rows as they will be have a home of their own, in which what pages show first is computed."""
    trace, seen = tmp_path / "runs.csv", []
    table(trace, range(30))
    source = Source(name="all", kind="files", address=str(trace))
    bench.add_source(source)
    bench.refresh("all")
    table(trace, range(45))
    others = subprocess.Popen(
        [sys.executable, "-c", MEANWHILE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=os.environ | {"WORKPROF_HOME": str(bench.settings.home)},
    )  # fmt: skip

    def compute(passing, hashed):
        with TraceStore(passing) as own:
            seen.append((own.dataset(hashed).rows, bench.dataset("all").rows))
        seen.append(json.loads(others.communicate("now\n", timeout=60)[0]))

    with TraceStore(bench.settings) as store:
        grown = refresh(store, source, compute, bench.settings)
    assert seen[0] == (45, 30)
    assert seen[1] == [30, ["meanwhile"]]
    assert (bench.dataset("all").hash, bench.dataset("all").rows) == (grown.dataset, 45)
    assert "meanwhile" in bench.scopes()


@pytest.mark.soak
def test_many_rows_come_in_turns_and_are_those_of_one_import(bench, tmp_path):
    trace, count = tmp_path / "runs.csv", 2 * ROWS_AT_ONCE + 7
    table(trace, range(count))
    bench.add_source(Source(name="all", kind="files", address=str(trace)))
    assert bench.refresh("all").rows == count
    bench.ingest(trace, IngestOptions(name="once"))
    for first in range(0, count, 100_000):
        pd.testing.assert_frame_equal(*(bench.preview(name, 100_000, first) for name in ("all", "once")))


MEANWHILE = """
import json, sys
from workprof.core.settings import from_environment
from workprof.store.trace_store import TraceStore
sys.stdin.readline()
with TraceStore(from_environment()) as store:
    rows = store.dataset("all").rows
    store.save_scope("meanwhile", "task_name=align")
    print(json.dumps([rows, list(store.scopes())]))
"""


@pytest.mark.parametrize("further", [pytest.param(0, marks=pytest.mark.soak), 30])
def test_names_of_profiles_come_along(bench, tmp_path, further):
    """Two groups far apart; newer runs stand before all others, and may make the smaller group the larger one."""
    trace, draw = tmp_path / "runs.csv", np.random.default_rng(1)

    def write(first, small, large):
        head = "job_name,task_name,user,start_time_s,duration_s,peak_memory_bytes,cpu_usage_percent"
        kinds = [("small", 60, 1e9)] * small + [("large", 9000, 90e9)] * large
        lines = [
            f"{first}-{n},{kind},{'ann' if n % 5 else 'bo'},{1_700_000_000 - 1000 * first + n},"
            f"{s * draw.uniform(0.9, 1.1):.3f},"
            f"{b * draw.uniform(0.9, 1.1):.0f},{s / 100 * draw.uniform(0.9, 1.1):.3f}"
            for n, (kind, s, b) in enumerate(kinds)
        ]
        with trace.open("a") as stream:
            stream.write("\n".join([] if first else [head]) + ("" if first else "\n") + "\n".join(lines) + "\n")

    write(0, 60, 90)
    bench.add_source(Source(name="all", kind="files", address=str(trace)))
    bench.refresh("all")
    asked = [("all", ProfileSettings()), ("all", ProfileSettings(min_cluster_size=20))]
    asked.append(("all?user=ann", ProfileSettings(min_cluster_size=20)))
    for part, settings in asked:
        fit = bench.profiles(part, settings)
        by_task = {card.top_metadata[0].value: card.profile for card in fit.cards if card.profile >= 0}
        assert {*by_task} == {"small", "large"}
        for task, profile in by_task.items():
            bench.set_profile_note(part, settings, ProfileNote(profile, f"our {task} ones", ""))
    write(1, 10 + further, 2)
    bench.refresh("all")
    for part, settings in asked:
        names = bench.profile_notes(part, settings)
        cards = bench.profiles.cached(part, settings).result.cards
        now = {card.profile: card.top_metadata[0].value for card in cards if card.profile >= 0}
        assert {profile: note.name for profile, note in names.items()} == {
            profile: f"our {task} ones" for profile, task in now.items()
        }


@pytest.mark.parametrize("most", [200_000, 100])
def test_what_changed_is_there_after_a_refresh(bench, tmp_path, monkeypatch, most):
    """Home need not wait: three weeks of runs are compared while the source is refreshed; of many right after."""
    monkeypatch.setattr("workprof.workbench.sources.CHANGES_ROWS", most)
    folder = tmp_path / "traces"
    folder.mkdir()
    lines = [f"j{n},align,{1_700_000_000 + 3600 * n},60,1000000,2000000" for n in range(24 * 21)]
    head = "job_name,task_name,start_time_s,duration_s,peak_memory_bytes,requested_memory_bytes"
    (folder / "a.csv").write_text("\n".join([head, *lines]) + "\n")
    bench.add_source(Source(name="all", kind="files", address=str(folder)))
    done = bench.refresh("all")
    found = bench.changes.cached(done.dataset).result
    assert bench.verdict.cached(done.dataset).result is not None
    assert bench.over_time.cached(done.dataset).result is not None
    assert found is not None
    assert found.periods == ("2023-11-20..2023-11-26", "2023-11-27..2023-12-03")


def test_files_of_one_format_are_one_dataset_and_a_run_told_again_counts_once(bench, tmp_path):
    folder = tmp_path / "traces"
    folder.mkdir()
    table(folder / "a.csv", range(30))
    table(folder / "b.csv", range(20, 50))
    with (folder / "b.csv").open("a") as file:
        file.write("j90,align,soon,60,1\n")
    shutil.copy(folder / "a.csv", folder / "a2.csv")
    bench.add_source(Source(name="all", kind="files", address=str(folder / "*.csv")))
    told = bench.refresh("all")
    assert (told.rows, told.new, told.rejected) == (50, 50, 1)
    report = bench.ingest_report("all")
    assert next(one.count for one in report.checks if one.name == "told again") == 10
    assert (report.rows, report.rows_read, report.rejected) == (50, 51, 1)
    table(tmp_path / "once.csv", range(50))
    bench.ingest(tmp_path / "once.csv", IngestOptions(name="once"))
    assert rows_of(bench, "all") == rows_of(bench, "once")
    assert not bench.refresh("all").new
    (folder / "c.csv").write_text(
        "job_name,task_name,start_time_s,duration_s,peak_memory_bytes\nj3,sort,1700000003,9,7\n"
    )
    changed = bench.refresh("all")
    assert (changed.rows, changed.new, changed.changed) == (50, 0, 1)


def test_runs_of_one_name_of_which_one_lasts_over_the_other_all_stay(bench, tmp_path):
    path = tmp_path / "a.csv"
    for refreshed, (began, ended) in enumerate([(12, 13), (10, 15), (11, 14)], start=1):
        text = f"job_name,user,uid,start,end\ntrain,ann,1001,2026-01-05 {began}:00:00,2026-01-05 {ended}:00:00\n"
        (tmp_path / f"{began}.csv").write_text(text)
        path.write_text(text)
        for name, address in (("one", path), ("all", f"{tmp_path}/1*.csv")):
            if refreshed == 1:
                bench.add_source(Source(name=name, kind="files", address=str(address)))
            assert bench.refresh(name).rows == (refreshed if name == "all" else 1)


def test_jobs_of_an_array_that_waited_in_an_earlier_file_are_there_once(bench, tmp_path):
    head, day = "JobID|State|Submit|Start|End\n", "2026-01-05T"
    done = "".join(f"7_{at}|COMPLETED|{day}09:00:00|{day}1{at}:00:00|{day}1{at}:30:00\n" for at in (1, 2))
    waits = "".join(f"{name}|PENDING|{day}09:00:00|Unknown|Unknown\n" for name in ("7_[1-2]", "8_[1-2]"))
    for name, text in (("a.txt", waits), ("b.txt", done)):
        (tmp_path / name).write_text(head + text)
    bench.add_source(Source(name="all", kind="files", address=f"{tmp_path}/*.txt"))
    bench.refresh("all")
    assert sorted(bench.preview("all", 10)["job_name"]) == ["7_1", "7_2", "8_[1-2]"]


def test_runs_of_files_that_stay_the_same_grow_old(bench, tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text(
        "job_name,start_time_s,end_time_s\n" + "".join(f"j{day},{day}e5,{day}.1e5\n" for day in range(1, 5))
    )
    bench.add_source(Source("jobs", "files", str(path), keep_s=3e5))
    assert [bench.refresh("jobs", now_s=moment).rows for moment in (4.2e5, 4.2e5, 5.2e5, 5.2e5)] == [3, 3, 2, 2]
    assert bench.dataset("jobs").rows == 2


def test_runs_without_an_end_are_told_where_they_should_grow_old(bench, tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text("job_name,duration_s\n" + "".join(f"j{at},{at}\n" for at in range(1, 5)))
    bench.add_source(Source("jobs", "files", str(path), keep_s=3e5))
    assert bench.refresh("jobs").rows == 4
    assert [one.count for one in bench._store.report("jobs").checks if one.name == "no end"] == [4]


def test_files_of_two_formats_or_units_change_nothing(bench, tmp_path):
    folder = tmp_path / "traces"
    folder.mkdir()
    table(folder / "a.csv", range(30))
    bench.add_source(Source(name="all", kind="files", address=str(folder)))
    assert bench.refresh("all").rows == 30
    (folder / "b.csv").write_bytes(FILES["sacct"].content)
    with pytest.raises(WorkprofError, match=r"have one format, and a\.csv is generic, b\.csv is slurm"):
        bench.refresh("all")
    (folder / "b.csv").write_text("job_name,task_name,start_time_s,duration_s,peak_memory_bytes,shelf\nj1,a,3,1,2,7\n")
    (folder / "c.csv").write_text("job_name,task_name,start_time_s,duration_s,peak_memory_bytes,shelf\nj2,a,3,1,2,n7\n")
    with pytest.raises(WorkprofError, match=r"column 'shelf' held numbers and holds texts"):
        bench.refresh("all")
    assert bench.dataset("all").rows == 30


def test_a_folder_with_a_stray_file_is_refused_with_the_pattern_that_leaves_it_out(bench, tmp_path):
    folder = tmp_path / "traces"
    folder.mkdir()
    table(folder / "a.csv", range(30))
    (folder / "notes.txt").write_text("hello notes\n")
    bench.add_source(Source("all", "files", str(folder)))
    with pytest.raises(WorkprofError, match=r"notes\.txt: .*such as --path '(.*)'") as told:
        bench.refresh("all")
    bench.add_source(Source("some", "files", str(told.value).split("'")[-2]))
    assert bench.refresh("some").rows == 30


def test_a_table_of_an_engine_is_pulled_again(bench, tmp_path):
    path = tmp_path / "trace.duckdb"
    table(tmp_path / "rows.csv", range(40))
    with duckdb.connect(path) as other:
        other.execute(f"CREATE TABLE runs AS FROM read_csv('{tmp_path / 'rows.csv'}')")
    bench.add_source(Source(name="pulled", kind="pull", address=str(path), table="runs"))
    assert bench.refresh("pulled").new == 40
    with duckdb.connect(path) as other:
        other.execute("DELETE FROM runs WHERE job_name = 'j3'")
    assert bench.refresh("pulled").rows == 39


def pod(name, phase, restarts=0, namespace="lab", job=""):
    state = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}
    if phase == "Succeeded":
        state = {
            "terminated": {"startedAt": "2026-01-01T00:00:00Z", "finishedAt": "2026-01-01T01:00:00Z", "exitCode": 0}
        }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": f"uid-{namespace}-{name}",
            "ownerReferences": [{"kind": "Job", "name": job, "controller": True}] if job else [],
            "creationTimestamp": "2026-01-01T00:00:00Z",
        },
        "spec": {"containers": [{"name": "main", "resources": {"requests": {"memory": "1Gi", "cpu": "1"}}}]},
        "status": {
            "phase": phase,
            "startTime": "2026-01-01T00:00:00Z",
            "containerStatuses": [{"name": "main", "restartCount": restarts, "state": state}],
        },
    }


class Cluster(http.server.BaseHTTPRequestHandler):
    pods = ()

    def log_message(self, *_):
        pass

    def do_GET(self):
        path, _, query = self.path.partition("?")
        first = 0 if "continue" not in query else 2
        more = {"continue": "next"} if first + 2 < len(self.pods) else {}
        body = json.dumps(
            {"kind": "PodList", "metadata": more, "items": self.pods[first : first + 2 if not first else None]}
        )
        self.send_response(200 if path == "/api/v1/pods" else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())


def test_pods_that_went_stay_as_last_seen(bench):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Cluster)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        address = f"http://127.0.0.1:{server.server_port}"
        bench.add_source(Source(name="pods", kind="kubernetes", address=address))
        Cluster.pods = [pod(f"p{n}", "Running") for n in range(3)]
        assert bench.refresh("pods").rows == 3
        Cluster.pods = [pod("p0", "Succeeded"), pod("p9", "Running")]
        done = bench.refresh("pods")
    finally:
        server.shutdown()
        server.server_close()
    assert (done.rows, done.new, done.changed) == (4, 1, 1)
    rows = bench.preview("pods", 10)
    assert sorted(rows["status"].str.lower()) == ["running", "running", "running", "succeeded"]


def test_a_pod_runs_until_the_last_list_with_it_was_taken_and_is_there_once(told, bench):
    source, ran, went = Source(name="pods", kind="kubernetes"), pod("web-0", "Running"), pod("web-1", "Running")
    started = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
    told(source, json.dumps({"items": [ran, went, pod("job", "Succeeded")]}), started + 10 * HOUR_S)
    done = told(source, json.dumps({"items": [ran]}), started + 30 * HOUR_S)
    assert (done.rows, done.new, done.changed) == (3, 0, 1)
    lasted = bench.preview("pods", 10).set_index("job_name")["duration_s"] / HOUR_S
    assert lasted.to_dict() == {"web-0": 30, "web-1": 10, "job": 1}
    assert told(source, json.dumps({"items": [pod("web-0", "Succeeded")]}), started + 40 * HOUR_S).changed == 1
    assert bench.preview("pods", 10)["duration_s"].sum() == 12 * HOUR_S


def test_pods_and_tasks_keep_their_names_when_namesakes_come_and_go(told, bench):
    first, namesake = (pod("redis-0", "Running", namespace=each, job="redis") for each in "ab")
    source = Source(name="pods", kind="kubernetes")
    for listed in ([first, namesake], [namesake], [first], [pod("redis-1", "Running", namespace="c", job="redis")]):
        told(source, json.dumps({"items": listed}), BEGIN)
    rows = bench.preview("pods", 10)[["namespace", "job_name", "task_name"]]
    assert sorted(map(tuple, rows.to_numpy())) == [
        ("a", "redis-0", "a/redis"),
        ("b", "b/redis-0", "b/redis"),
        ("c", "redis-1", "redis"),
    ]
    late = [pod("redis-0", "Running", namespace=each, job="redis") for each in "cd"]
    told(source, json.dumps({"items": late}), BEGIN)
    rows = bench.preview("pods", 10)[["namespace", "job_name", "task_name"]]
    assert {("c", "c/redis-0", "redis"), ("d", "d/redis-0", "d/redis")} < set(map(tuple, rows.to_numpy()))


def test_a_source_that_begins_to_tell_its_cluster_doubles_no_pod_and_no_task(told, bench):
    source, later = Source(name="pods", kind="kubernetes"), "redis-1"
    before, after, new = (pod(name, "Running", job="redis") for name in ("redis-0", "redis-0", later))
    for each in (after, new):
        each["metadata"]["clusterName"] = "prod"
    for listed in ([before], [after], [after, new]):
        told(source, json.dumps({"items": listed}), BEGIN)
    rows = bench.preview("pods", 10)[["cluster", "job_name", "task_name"]]
    assert sorted(map(tuple, rows.to_numpy())) == [("prod", "redis-0", "redis"), ("prod", later, "redis")]


def test_a_container_stays_its_task_when_a_sidecar_comes_or_goes(told, bench):
    source = Source(name="pods", kind="kubernetes")
    pods = [pod(f"redis-{at}", "Running", job="redis") for at in range(3)]
    pods[1]["spec"]["containers"].append({"name": "proxy"})
    for each in pods:
        told(source, json.dumps({"items": [each]}), BEGIN)
    rows = bench.preview("pods", 10)[["job_name", "container", "task_name"]]
    assert sorted(map(tuple, rows.to_numpy())) == [
        ("redis-0", "main", "redis"),
        ("redis-1", "main", "redis"),
        ("redis-1", "proxy", "redis/proxy"),
        ("redis-2", "main", "redis"),
    ]


def test_a_pod_that_is_made_again_keeps_its_earlier_life(told, bench):
    source, old, new = Source(name="pods", kind="kubernetes"), pod("web-0", "Running"), pod("web-0", "Running")
    new["metadata"]["uid"], new["status"]["startTime"] = "uid-2", "2026-01-05T00:00:00Z"
    waits = pod("late-0", "Pending")
    waits["status"] = {"phase": "Pending"}
    for listed in ([old, waits], [new, pod("late-0", "Running")], [new]):
        told(source, json.dumps({"items": listed}), BEGIN)
    rows = bench.preview("pods", 10)
    assert sorted(zip(rows["job_name"], rows["uid"], rows["status"], strict=True)) == [
        ("late-0", "uid-lab-late-0", "Running"),
        ("web-0", "uid-2", "Running"),
        ("web-0", "uid-lab-web-0", "Running"),
    ]


def test_the_command_adds_lists_refreshes_and_removes(tmp_path, on_path):
    place, fault = sacct(tmp_path, jobs())
    on_path(place)

    def run(*words):
        return run_here(*words, home=tmp_path / "home")

    since = f"{int(time.time() - BEGIN) + 100}s"
    assert run("source", "add", "cl", "--from", "slurm", "--every", "1h", "--since", since).status == 0
    done = run("refresh", "cl", "--json")
    assert done.json["refreshes"][0] | {"new": 60, "runs": 60, "rows": 60} == done.json["refreshes"][0]
    assert done.json | {"dataset": "cl", "rows": 60, "new": 60, "changed": 0, "rejected": 0} == done.json
    assert "cl has 60 runs" in done.json["sentence"]
    listed = run("source", "list", "--json").json["sources"]
    assert (listed[0]["source"], listed[0]["runs"], listed[0]["every_s"]) == ("cl", 60, 3600)
    fault.touch()
    failed = run("refresh")
    assert failed.status == 2
    assert "its rows are as they were" in failed.out
    assert "Connection refused" in run("source", "show", "cl").out
    assert run("source", "remove", "cl").status == 0
    assert run("source", "list", "--json").json["sources"] == []
    assert run("datasets", "--json").json[0]["dataset"] == "cl"


def test_two_refreshes_of_one_source_do_not_meet(bench, tmp_path, on_path):
    place, _ = sacct(tmp_path, jobs())
    on_path(place)
    bench.add_source(Source(name="cl", kind="slurm", since_s=3e5))
    refused = []

    def again(_, message):
        if message == "asking sacct" and not refused:
            with pytest.raises(HomeBusy, match="being refreshed already") as told:
                bench.refresh("cl")
            refused.append(told)

    bench.refresh("cl", again, now_s=BEGIN + 90_000)
    assert refused


REFRESH = """
import sys
from workprof.core.settings import from_environment
from workprof.workbench import Workbench
with Workbench(from_environment()) as bench:
    bench.refresh("prod", now_s=float(sys.argv[1]))
"""


@pytest.mark.parametrize("kills", [3, pytest.param(10, marks=pytest.mark.soak)])
def test_a_refresh_that_is_killed_loses_and_doubles_nothing(bench, tmp_path, kills):
    every, end = pods(9, 3), 6 * 3600
    home = bench.settings.home
    with prometheus(every) as server:
        for name in ("prod", "once"):
            bench.add_source(Source(name=name, kind="prometheus", address=server.url, since_s=6.0 * 3600))
        bench.refresh("once", now_s=BEGIN + end)
        for number in range(kills + 1):
            server.asked.clear()
            child = subprocess.Popen(
                [sys.executable, "-c", REFRESH, str(BEGIN + end)], env=os.environ | {"WORKPROF_HOME": str(home)}
            )
            if number == kills:
                assert child.wait(120) == 0
                break
            until = time.monotonic() + 60
            while len(server.asked) < 1 + number * 3 and child.poll() is None and time.monotonic() < until:
                time.sleep(0.01)
            time.sleep(0.05 * number)
            child.send_signal(signal.SIGKILL)
            child.wait()
    assert rows_of(bench, "prod") == rows_of(bench, "once")


ONLY = """
import sys
allowed, tried = int(sys.argv[1]), []
def watch(event, arguments):
    if event in ("socket.connect", "socket.sendto") and isinstance(arguments[1], tuple):
        if arguments[1][:2] != ("127.0.0.1", allowed):
            tried.append(arguments[1])
            raise PermissionError(f"forbidden: {arguments[1]}")
    if event in ("socket.getaddrinfo", "socket.gethostbyname") and arguments[0] not in ("127.0.0.1", None, ""):
        tried.append(arguments[0])
        raise PermissionError(f"forbidden: {arguments[0]}")
sys.addaudithook(watch)
from workprof.cli.main import main
from workprof.core.settings import from_environment
from workprof.workbench import Workbench
with Workbench(from_environment()) as bench:
    print(bench.refresh("prod", now_s=float(sys.argv[2])))
for words in (["memory", "plan", "prod"], ["memory", "ledger", "prod"], ["source", "list"]):
    try:
        main(words)
    except SystemExit as end:
        assert not end.code, words
assert not tried, tried
"""


def test_nothing_but_the_source_is_ever_tried(bench, tmp_path):
    with prometheus(pods()) as server:
        span = Source(name="prod", kind="prometheus", address=server.url, since_s=12 * 3600.0)
        bench.add_source(span)
        bench.close()
        home = str(bench.settings.home)
        done = subprocess.run(
            [sys.executable, "-c", ONLY, server.url.rsplit(":", 1)[1], str(BEGIN + 12 * 3600)],
            env=os.environ | {"WORKPROF_HOME": home},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "rows=12" in done.stdout


def test_what_was_found_before_a_refresh_is_kept_and_says_of_when(bench, tmp_path):
    folder, asked = tmp_path / "traces", AssessmentSettings(request_bytes=1e9)
    folder.mkdir()
    table(folder / "a.csv", range(40))
    bench.add_source(Source("all", "files", str(folder)))
    bench.refresh("all")
    found = bench.assessment("all", asked)
    assert bench.assessment.before_refresh("all", asked) is None
    bench.refresh("all")  # brings nothing
    table(folder / "b.csv", range(40, 50))
    bench.refresh("all")
    assert bench.assessment.cached("all", asked).result is None
    before, when = bench.assessment.before_refresh("all", asked)
    assert (before.n_runs, when) == (found.n_runs, bench.refreshes("all")[0].started)
    assert bench.assessment.before_refresh("all", AssessmentSettings()) is None
    table(folder / "c.csv", range(50, 60))
    bench.refresh("all")
    assert bench.assessment.before_refresh("all", asked)[1] == when


def test_no_answer_is_of_rows_before_and_after_a_refresh(bench, tmp_path, monkeypatch):
    folder = tmp_path / "traces"
    folder.mkdir()
    table(folder / "a.csv", range(40))
    bench.add_source(Source("all", "files", str(folder)))
    bench.refresh("all")
    before, read = bench.dataset("all"), bench._store.frame
    parts = bench._store.long_table("all", ("duration_s",))

    def late(*given, **more):
        monkeypatch.undo()
        table(folder / "b.csv", range(40, 50))
        bench.refresh("all")
        return read(*given, **more)

    monkeypatch.setattr(bench._store, "frame", late)
    with pytest.raises(HomeBusy, match="refreshed meanwhile; ask again"):
        bench.observed_durations("all", DurationSettings(by="task_name"))
    with pytest.raises(HomeBusy, match="refreshed or removed meanwhile"):
        next(parts.parts(["duration_s"]))
    assert not [one for one in bench.runs() if one.step.startswith("profiles.durations")]
    assert bench.dataset(before.hash).rows == 50  # a link goes on
    assert bench.observed_durations("all", DurationSettings(by="task_name")).everything.n_rows == 50
