"""A server with Prometheus' API as a source: rows are those of a file of the same series, whatever happens between."""

import dataclasses
import json

import pytest

from tests.refresh.conftest import rows_of
from tests.refresh.planted import BEGIN, GIB, STEP, Pod, pods, prometheus, series_of
from workprof.sources import prometheus as api
from workprof.sources.api import Refused, SourceUnreachable
from workprof.sources.source import Credentials, Source
from workprof.store.reports import IngestOptions

pytestmark = pytest.mark.slow

HOUR = 3600
END = 7 * HOUR


@pytest.fixture
def every():
    return pods(6, 4)


def source(server, name="prod", **more):
    return Source(name=name, kind="prometheus", address=server.url, since_s=1.0 * END, **more)


def refreshed(bench, server, *moments, name="prod"):
    result = []
    for moment in moments:
        server.now = moment
        result.append(bench.refresh(name, now_s=BEGIN + moment + STEP))
    return result


def from_a_file(bench, every, folder, end):
    """The dataset of the answers to the same queries over the whole time, saved as files."""
    paths = []
    for name in {metric for metric, _, _ in series_of(every)}:
        result = []
        for metric, labels, value in series_of(every):
            if metric == name:
                points = [[at, str(value(at))] for at in range(BEGIN, BEGIN + end + 1, STEP) if value(at) is not None]
                if name == "kube_pod_status_phase":
                    points = [each for each in points if each[1] == "1"]
                if points:
                    result.append({"metric": {"__name__": metric, **labels}, "values": points})
        path = folder / f"{name}.json"
        path.write_text(json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}}))
        paths.append(path)
    bench.ingest(sorted(paths), IngestOptions(format="prometheus-pods", name="file"))


def test_rows_are_those_of_a_file_of_the_same_series(bench, tmp_path, every):
    from_a_file(bench, every, tmp_path, END)
    with prometheus(every) as server:
        bench.add_source(source(server))
        done = refreshed(bench, server, 2 * HOUR, 3 * HOUR, 3 * HOUR, END)
    assert rows_of(bench, "prod") == rows_of(bench, "file")
    assert done[-1].rows == len(every)
    assert not done[2].new
    assert done[1].changed  # pods that ran then


def test_a_gap_of_one_pod_loses_nothing_of_its_run(bench, monkeypatch):
    long, other = (Pod(f"{task}-0", task, 60, 6 * HOUR, 4 * GIB, GIB) for task in ("long", "other"))
    with prometheus([long, other]) as server:
        told = server.range

        def with_a_gap(*query):
            status, answer = told(*query)
            for one in answer["data"]["result"]:
                if one["metric"]["pod"] == "long-0":  # its largest use is before
                    used = "memory_working" in one["metric"]["__name__"]
                    one["values"] = [
                        [at, "1" if used and at > BEGIN + 3 * HOUR else value]
                        for at, value in one["values"]
                        if not BEGIN + 2 * HOUR <= at < BEGIN + 4 * HOUR
                    ]
            answer["data"]["result"] = [one for one in answer["data"]["result"] if one["values"]]
            return status, answer

        monkeypatch.setattr(server, "range", with_a_gap)
        bench.add_source(source(server))
        bench.add_source(source(server, "once"))
        refreshed(bench, server, 2 * HOUR, 3.5 * HOUR, END)
        refreshed(bench, server, END, name="once")
    assert rows_of(bench, "prod") == rows_of(bench, "once")
    assert bench.preview("prod", 9)["peak_memory_bytes"].tolist() == [GIB, GIB]


def test_points_that_come_late_are_read(bench):
    long, late = Pod("long-0", "long", 60, 6 * HOUR, 4 * GIB, GIB), Pod("late-0", "late", 6600, 6900, 4 * GIB, GIB)
    with prometheus([long, late], now=6000) as server:
        bench.add_source(source(server))
        bench.add_source(source(server, "once"))
        bench.refresh("prod", now_s=BEGIN + 2 * HOUR)
        refreshed(bench, server, 3 * HOUR)
        refreshed(bench, server, 3 * HOUR, name="once")
    assert rows_of(bench, "prod") == rows_of(bench, "once")
    assert bench.source("prod").last.rows == 2


@pytest.mark.soak
def test_one_refresh_is_as_good_as_many(bench, every):
    with prometheus(every) as server:
        bench.add_source(source(server))
        bench.add_source(source(server, "once"))
        refreshed(bench, server, *(hour * HOUR for hour in range(1, 8, 3)))
        refreshed(bench, server, END, name="once")
    assert rows_of(bench, "prod") == rows_of(bench, "once")


def test_a_gap_of_all_points_loses_nothing_of_a_run(bench):
    long = Pod("long-0", "long", 60, 6 * HOUR, 4 * GIB, GIB)
    with prometheus([long], silent=(2 * HOUR, 5 * HOUR)) as server:
        bench.add_source(source(server))
        bench.add_source(source(server, "once"))
        refreshed(bench, server, *(hour * HOUR for hour in (1, 3, 4, 6, 7)))
        refreshed(bench, server, END, name="once")
    assert rows_of(bench, "prod") == rows_of(bench, "once")


def test_a_gap_of_what_pods_are_doubles_no_run(bench):
    """Its start, owner and request are told once kube-state-metrics answers again."""
    began = Pod("sort-0", "sort", 2 * HOUR + 77, 5 * HOUR, 4 * GIB, GIB)
    with prometheus([began, *pods(6)], silent=(2 * HOUR, 4 * HOUR), silent_of="kube_") as server:
        bench.add_source(source(server))
        bench.add_source(source(server, "once"))
        refreshed(bench, server, *(hour * HOUR for hour in (3, 6, 7)))
        refreshed(bench, server, END, name="once")
    assert rows_of(bench, "prod") == rows_of(bench, "once")


def test_windows_get_smaller_until_the_server_answers(bench, every):
    with prometheus(every, most_points=200) as server:
        bench.add_source(source(server))
        done = refreshed(bench, server, END)
    assert done[0].rows == len(every)
    sizes = {round((float(one["end"]) - float(one["start"])) / STEP) + 1 for one in server.asked}
    assert min(sizes) <= 200 < END / STEP


FAULTS = {
    "warn": "answered in part",
    "break": "broke off|cannot be reached",
    b"<html>login</html>": "no whole JSON",
    b'{"status": "success", "data": {}}': "no result of query_range",
    403: "check the token or password",
}


def test_an_answer_that_is_none_changes_nothing(bench, every):
    with prometheus(every) as server:
        bench.add_source(source(server))
        refreshed(bench, server, 3 * HOUR)
        before = rows_of(bench, "prod")
        for fault, words in FAULTS.items():
            server.faults = [None] * 3 + [fault] * 6
            with pytest.raises(SourceUnreachable, match=words):
                refreshed(bench, server, END)
            assert rows_of(bench, "prod") == before
            assert bench.source("prod").failed.error
        server.faults = []
        refreshed(bench, server, END)
        bench.add_source(source(server, "once"))
        refreshed(bench, server, END, name="once")
    assert rows_of(bench, "prod") == rows_of(bench, "once")


def test_a_server_that_is_busy_is_tried_again_and_nothing_is_fetched_twice(bench, every):
    with prometheus(every) as server:
        bench.add_source(source(server))
        server.faults += [503, 429, None, 503]
        refreshed(bench, server, END)
        asked = [(one["query"], one["start"]) for one in server.asked]
        assert len(asked) - len(set(asked)) == 3
        assert bench.source("prod").last.rows == len(every)


def test_a_fetch_that_failed_goes_on_behind_its_last_window(bench, every):
    with prometheus(every) as server:
        bench.add_source(source(server))
        server.faults += [None] * 10 + [403]
        with pytest.raises(Refused):
            refreshed(bench, server, END)
        before = {(one["query"], one["start"]) for one in server.asked[:10]}
        server.asked.clear()
        refreshed(bench, server, END)
        assert not before & {(one["query"], one["start"]) for one in server.asked}


def test_metrics_of_other_names_and_labels_are_queried(bench, every):
    with prometheus(every) as server:
        other = source(server, selector='namespace="lab"', metrics={"kube_pod_owner": "owners"})
        bench.add_source(other)
        refreshed(bench, server, HOUR * 6)
    queries = {one["query"] for one in server.asked}
    assert 'owners{namespace="lab"}' in queries
    assert 'container_memory_working_set_bytes{container!="",container!="POD",namespace="lab"}' in queries
    assert 'kube_pod_status_phase{namespace="lab"} == 1' in queries


def test_a_server_without_pods_says_what_to_look_at(bench):
    with prometheus([]) as server:
        bench.add_source(source(server))
        with pytest.raises(SourceUnreachable, match="none of 23 metrics has a series; check the selector"):
            refreshed(bench, server, END)
    assert len(api.QUERIES) == 23


def test_secrets_are_sent_and_nowhere_else(bench, every, tmp_path, monkeypatch):
    secret = "s3cr3t-0123456789"
    monkeypatch.setenv("PROM_TOKEN", secret)
    key = tmp_path / "org"
    key.write_text("tenant-77\n")
    key.chmod(0o600)
    named = Credentials(token="env:PROM_TOKEN", headers={"X-Scope-OrgID": f"file:{key}"})
    with prometheus(every) as server:
        bench.add_source(source(server, credentials=named))
        refreshed(bench, server, END)
        server.faults += [403]
        with pytest.raises(SourceUnreachable) as told:
            refreshed(bench, server, END + HOUR)
    assert server.headers[0]["Authorization"] == f"Bearer {secret}"
    assert server.headers[0]["X-Scope-OrgID"] == "tenant-77"
    bench.close()
    kept = b"".join(path.read_bytes() for path in (tmp_path / "home").rglob("*") if path.is_file())
    for each in (secret, "tenant-77"):
        assert each.encode() not in kept
        assert each not in str(told.value)


def test_points_of_pods_that_ended_are_not_kept(bench, every, tmp_path):
    with prometheus(every) as server:
        bench.add_source(dataclasses.replace(source(server), overlap_s=600.0))
        refreshed(bench, server, 9 * HOUR, 24 * HOUR)
        kept = list((tmp_path / "home" / "sources" / "prod").iterdir())
        assert [path.name for path in kept] == ["lock"]
