"""sacct as a source: refreshes at any moments end in what one import of the whole gives."""

import dataclasses

import pytest

from tests.refresh.conftest import rows_of
from tests.refresh.planted import BEGIN, jobs, sacct
from workprof.core.errors import DatasetUnknown, SettingsError
from workprof.formats import FORMATS
from workprof.sources.api import SourceUnreachable
from workprof.sources.source import Source

pytestmark = pytest.mark.slow

END = 200_000


@pytest.fixture
def source():
    return Source(name="cluster", kind="slurm", since_s=300_000.0, overlap_s=600.0)


@pytest.fixture
def fault(bench, tmp_path, on_path, source):
    """A cluster of which a source is kept; where the path is a file, its sacct fails."""
    place, switch = sacct(tmp_path, jobs())
    on_path(place)
    bench.add_source(source)
    return switch


def at(bench, *moments):
    return [bench.refresh("cluster", now_s=BEGIN + moment) for moment in moments]


def test_refreshes_end_in_what_one_import_gives(bench, fault, source):
    done = at(bench, 20_000, 60_000, 60_000, END)
    assert done[2].new == done[2].changed == 0
    assert sum(one.new for one in done) == done[-1].rows == 60
    assert done[1].changed  # jobs that waited or ran have ended since
    once = dataclasses.replace(source, name="once")
    bench.add_source(once)
    bench.refresh("once", now_s=BEGIN + END)
    assert rows_of(bench, "cluster") == rows_of(bench, "once")
    assert bench.dataset("cluster").hash != bench.dataset("once").hash


def test_runs_grow_old_though_nothing_new_comes(bench, told, source):
    heading = "JobID|JobName|State|Start|End|Elapsed\n"
    text = heading + "".join(f"{day}|a|COMPLETED|{day * 86_400 - 60}|{day * 86_400}|00:01:00\n" for day in (101, 102))
    source = dataclasses.replace(source, keep_s=10 * 86_400.0)
    days = ((text, 103), (heading, 104), (heading, 111.5), (heading, 111.5))
    done = [told(source, lines, day * 86_400) for lines, day in days]
    assert [(one.rows, one.new, one.expired) for one in done] == [(2, 2, 0), (2, 0, 0), (1, 0, 1), (1, 0, 0)]
    assert bench._store.frame("cluster", ["job_name"])["job_name"].tolist() == ["102"]
    assert bench.source("cluster").last.changed == 0


def test_a_failure_leaves_the_last_good_state_and_says_why(bench, fault):
    at(bench, 50_000)
    before = rows_of(bench, "cluster")
    fault.touch()
    with pytest.raises(SourceUnreachable, match="Connection refused"):
        at(bench, 90_000)
    status = bench.source("cluster")
    assert rows_of(bench, "cluster") == before
    assert "Connection refused" in status.failed.error
    assert (status.failures, status.wait_s(60.0)) == (1, 120.0)
    assert status.last.rows == len(before[0])
    fault.unlink()
    at(bench, 90_000)
    assert bench.source("cluster").failed is None


def test_runs_that_ended_long_ago_go(bench, tmp_path, on_path, source):
    place, _ = sacct(tmp_path, jobs())
    on_path(place)
    bench.add_source(dataclasses.replace(source, keep_s=50_000.0))
    at(bench, 60_000)
    last = at(bench, 110_000)[0]
    every = [one for one in jobs() if one.submit <= 110_000]
    gone = [one for one in every if one.end < 60_000]
    assert last.expired > 0
    assert last.rows == len(every) - len(gone)


def test_scenarios_and_decisions_stay_with_the_dataset(bench, fault, source):
    at(bench, 50_000)
    for part in ("cluster", "cluster?user=ann"):
        bench._store.save_scenario(bench.dataset(part).hash, "mine", "2026-01-01", source)
    at(bench, 90_000)
    for part in ("cluster", "cluster?user=ann"):
        assert [one.name for one in bench._store.scenarios(bench.dataset(part).hash, Source)] == ["cluster"]


def test_a_dataset_that_was_renamed_or_removed_is_told(bench, fault):
    at(bench, 50_000)
    bench.rename("cluster", "other")
    with pytest.raises(SettingsError, match="is called 'other' now"):
        at(bench, 60_000)
    bench.rename("other", "cluster")
    at(bench, 60_000)
    bench.remove("cluster")
    with pytest.raises(SettingsError, match="was removed; add the source again"):
        at(bench, 70_000)


def test_a_name_that_is_taken_is_refused(bench, source):
    bench.add_source(source)
    with pytest.raises(SettingsError, match="already called"):
        bench.add_source(source)
    with pytest.raises(SettingsError, match="did you mean 'cluster'"):
        bench.refresh("clusters")


def test_a_dataset_of_the_same_rows_is_told_and_stays(bench, fault, source):
    at(bench, END)
    bench.remove_source("cluster")
    bench.rename("cluster", "before")
    bench.add_source(source)
    with pytest.raises(SettingsError, match="the same rows are there as 'before'"):
        at(bench, END)
    assert len(rows_of(bench, "before")[0]) == 60


def test_links_of_before_a_refresh_go_on(bench, tmp_path, fault):
    at(bench, 40_000)
    first = bench.dataset("cluster").hash
    at(bench, 60_000, 90_000)
    now = bench.dataset("cluster")
    assert (bench.dataset(first), bench.dataset(first[:8])) == (now, now)
    assert bench.dataset(f"{first}?user=ann").rows < now.rows
    bench.rename("cluster", "other")
    assert bench.dataset(first).name == "other"
    bench.remove("other")
    (tmp_path / "other.csv").write_text("job_name,duration_s\na,1\n")
    assert bench.former_hashes(bench.ingest([tmp_path / "other.csv"]).hash) == ()
    with pytest.raises(DatasetUnknown):
        bench.dataset(first)


HEADING = "JobID|JobName|User|Cluster|State|Submit|Start|End|Elapsed|ReqMem|MaxRSS"


def test_the_cluster_of_a_refresh_before_it_was_a_field_is_the_same_column(bench, source, told, monkeypatch):
    day = "2023-11-14T"
    job = f"7|align|ann|alpha|COMPLETED|{day}10:00:00|{day}10:00:00|{day}10:30:00|00:30:00|4G|1G"
    ran = f"{day}11:00:00|{day}11:00:00|Unknown|01:00:00|4G|"
    known = FORMATS["slurm"]
    rules = tuple(rule for rule in known.rules if rule.field != "cluster")
    with monkeypatch.context() as before:
        before.setitem(FORMATS, "slurm", dataclasses.replace(known, rules=rules))
        told(source, f"{HEADING}\n{job}\n8|sort|bob|alpha|RUNNING|{ran}\n", BEGIN)
    done = told(source, f"{HEADING}\n8|sort|bob|alpha|RUNNING|{ran}\n8|sort|bob|beta|RUNNING|{ran}\n", BEGIN + 60)
    assert done.rows == 3
    assert bench.preview("cluster", 10)["cluster"].tolist() == ["alpha", "alpha", "beta"]


def test_jobs_of_an_array_that_waited_are_there_once(bench, source, told):
    head = "JobID|State|Submit|Start|End\n"
    waits = "7_[{}-3%1]|PENDING|2026-01-05T09:00:00|Unknown|Unknown\n"
    done = [f"7_{at}|COMPLETED|2026-01-05T09:00:00|2026-01-05T1{at}:00:00|2026-01-05T1{at}:30:00\n" for at in (1, 2, 3)]
    other = "8_[1-2]|PENDING|2026-01-05T09:00:00|Unknown|Unknown\n"
    for text in (waits.format(1) + other, waits.format(2) + done[0], "".join(done[1:])):
        told(source, head + text, 1767614400)
    names = bench.preview(source.name, 10)["job_name"]
    assert sorted(names) == ["7_1", "7_2", "7_3", "8_[1-2]"]


def test_what_earlier_refreshes_found_is_told_on(bench, source, told):
    head = "JobID|State|Start|End|ReqMem|MaxRSS|NNodes|NTasks\n"
    day = "2026-01-05T"
    steps = f"1|COMPLETED|{day}08:00:00|{day}09:00:00|16G||1|\n1.0|COMPLETED|{day}08:00:00|{day}09:00:00||1900M|1|8\n"
    runs = f"2|RUNNING|{day}08:00:00|Unknown|16G||1|\n"
    told(source, f"{head}{steps}{runs}3|COMPLETED|{day}08:00:00|garbage|16G||1|\n", 1767614400)
    told(source, f"{head}2|COMPLETED|{day}08:00:00|{day}09:30:00|16G|1G|1|1\n", 1767618000)
    found = {check.name: check.count for check in bench.ingest_report(source.name).checks}
    assert found == {"lower bound": 1, "steps": 1, "rejected earlier": 1, "of earlier refreshes": 1}
