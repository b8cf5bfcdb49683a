"""Events of Borg instances fold into attempts, and the trace of 2011 loads without a header."""

import gzip
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

from workprof.core.errors import TraceError
from workprof.formats import borg, borg_2011
from workprof.profiles.fit import fit_profiles
from workprof.profiles.settings import GOOGLE9, ProfileSettings, preset
from workprof.store.reports import IngestOptions

pytestmark = pytest.mark.slow

NUMBERS = {event: at for at, event in enumerate(borg.EVENTS)}
NUMBERS_2011 = {event: at for at, event in enumerate(borg_2011.EVENTS)}
MACHINE_HOUR = 3600 * 1e12


def lives(n=1500, seed=0):
    """Return (attempts, events in time order) of instances that are submitted, evicted, submitted again."""
    rng = np.random.default_rng(seed)
    attempts, events = [], []
    for at in range(n):
        now, request = int(rng.integers(600_000_000, 900_000_000_000)), round(float(rng.uniform(0.0005, 0.2)), 5)
        about = {"collection": 330_000_000_000 + at // 4, "index": at % 4, "request": request}
        for _ in range(int(rng.integers(1, 4))):
            submit, start = now, now + int(rng.integers(1, 60_000_000))
            end = start + int(rng.integers(1, 90_000_000_000))
            word = str(rng.choice(["FINISH", "EVICT", "KILL", "FAIL", "LOST"]))
            told = [(submit, "SUBMIT"), (start, "SCHEDULE"), ((start + end) // 2, "UPDATE_RUNNING"), (end, word)]
            going = rng.random() < 0.1
            events += [{**about, "time": time, "event": event} for time, event in told[: 3 if going else 4]]
            attempts.append({**about, "submit": submit, "start": start, "end": None if going else end, "word": word})
            now = end + int(rng.integers(1, 1_000_000))
            if going or word == "FINISH":
                break
    table = pd.DataFrame(events).sort_values("time", kind="stable", ignore_index=True)
    return pd.DataFrame(attempts), table


@pytest.mark.parametrize("spelled", ["words", "numbers", "json"])
def test_events_fold_into_attempts(store, tmp_path, spelled):
    attempts, events = lives()
    table = pd.DataFrame(
        {
            "time": events["time"], "type": events["event"].map(NUMBERS) if spelled == "numbers" else events["event"],
            "collection_id": events["collection"], "scheduling_class": 2, "priority": 200, "machine_id": 9,
            "instance_index": events["index"], "collection_type": 0,
            "resource_request": [{"cpus": one * 2, "memory": one} for one in events["request"]],
        }
    )  # fmt: skip
    path = tmp_path / ("e.json.gz" if spelled == "json" else "e.csv")
    if spelled == "json":
        path.write_bytes(gzip.compress("\n".join(map(json.dumps, table.to_dict("records"))).encode()))
    else:
        table.to_csv(path, index=False)
    report = store.ingest([path], IngestOptions())
    assert (report.format, report.rows_read, report.rows, report.rejected) == (
        *("borg-events", len(events), len(attempts), 0),
    )
    assert report.running == attempts["end"].isna().sum()
    check(store, "e", attempts)
    going = store.frame("e", ["start_time_s", "duration_s", "status"], finished_only=False)
    going = going[going["status"] == "SCHEDULE"]
    np.testing.assert_allclose(going["start_time_s"] + going["duration_s"], events["time"].max() / 1e6)
    cpu = store.frame("e", ["requested_cpu_percent", "requested_memory_bytes"])
    np.testing.assert_allclose(cpu["requested_cpu_percent"] / 1e4, 2 * cpu["requested_memory_bytes"] / 1e12)


def check(store, name, attempts):
    """Compare finished attempts and their machine-hours with those that the events were made of."""
    done = attempts[attempts["end"].notna() & (attempts["word"] == "FINISH")]
    columns = ["job_name", "duration_s", "requested_memory_bytes", "start_time_s", "submit_time_s", "status"]
    frame = store.frame(name, columns)
    assert (len(frame), frame["job_name"].nunique()) == (len(done), done["collection"].nunique())
    wanted = (done["request"] * (done["end"] - done["start"])).sum() / 3.6e9
    got = (frame["requested_memory_bytes"] * frame["duration_s"]).sum() / MACHINE_HOUR
    assert got == pytest.approx(wanted, rel=1e-9)
    wait = (frame["start_time_s"] - frame["submit_time_s"]).sum()
    assert wait == pytest.approx((done["start"] - done["submit"]).sum() / 1e6, rel=1e-6)
    words = store.frame(name, ["status"], finished_only=False)["status"].value_counts()
    ended = attempts[attempts["end"].notna()]["word"].value_counts()
    assert {word: int(words[word]) for word in ended.index} == ended.to_dict()
    assert int(words.get("SCHEDULE", 0)) == attempts["end"].isna().sum()


def test_collections_have_events_too(store, write):
    lines = ["time,type,collection_id,scheduling_class,user,collection_logical_name"]
    lines += ["600000000,SUBMIT,1,2,u,app", "601000000,SCHEDULE,1,2,u,app", "700000000,FINISH,1,2,u,app"]
    lines += ["600000000,SUBMIT,2,2,u,app", "0,SCHEDULE,3,2,v,other", f"{2**63 - 1},KILL,3,2,v,other"]
    report = store.ingest([write("c.csv", "\n".join(lines) + "\n")], IngestOptions())
    assert (report.rows, report.running, report.never_started) == (3, 1, 1)
    frame = store.frame("c", ["job_name", "task_name", "status", "duration_s"], finished_only=False)
    assert frame["status"].tolist() == ["FINISH", "SUBMIT", "SCHEDULE"]
    np.testing.assert_array_equal(frame["duration_s"], [99, np.nan, 700])
    assert frame["task_name"].tolist() == ["app", "app", "other"]


def test_task_events_of_2011(store, tmp_path):
    attempts, events = lives(800, seed=1)
    table = pd.DataFrame(
        {
            "time": events["time"], "missing": "", "job": events["collection"], "index": events["index"], "machine": 7,
            "type": events["event"].map(NUMBERS_2011), "user": "Tqq1wXVqCNXtMxl4+yb/SV2ywIfcuqqQ9GbYmmrb6hs=",
            "class": 2, "priority": 9, "cpu": events["request"], "memory": events["request"], "disk": 0.0001,
            "different": "",
        }
    )  # fmt: skip
    with gzip.open(tmp_path / "part-00000-of-00500.csv.gz", "wt") as target:
        table.to_csv(target, header=False, index=False)
    report = store.ingest([tmp_path / "part-00000-of-00500.csv.gz"], IngestOptions(name="e"))
    assert (report.format, report.rows, report.rejected) == ("borg-2011-events", len(attempts), 0)
    check(store, "e", attempts)


@pytest.mark.parametrize("width", [19, 20])
def test_task_usage_of_2011(store, tmp_path, width):
    rng = np.random.default_rng(2)
    counts = rng.integers(1, 40, 300)
    run = np.repeat(np.arange(300), counts)
    place = np.arange(len(run)) - np.repeat(np.cumsum(counts) - counts, counts)
    start = 600_000_000 + (run + place) * 300_000_000
    mean = rng.uniform(0, 0.1, len(run))
    columns = [start, start + 300_000_000, 6_250_000_000 + run // 2, run % 2, 4_820_000 + run, mean * 2, mean, 0.15]
    columns += [0.001, 0.002, mean * 1.5, 0.0001, 0.0002, 0.3, 0.01, 2.5, 0.008, 0, 0, 0.02]
    table = pd.DataFrame(dict(enumerate(columns[:width]))).sample(frac=1, random_state=0)
    table[15] = table[15].where(rng.random(len(table)) < 0.7)
    table.to_csv(tmp_path / "usage.csv", header=False, index=False)
    report = store.ingest([tmp_path / "usage.csv"], IngestOptions())
    assert (report.format, report.rows_read, report.rows, report.rejected) == ("borg-2011-usage", len(run), 300, 0)
    frame = store.frame("usage", ["duration_s", "requested_memory_bytes", "peak_memory_bytes", "mean_memory_bytes"])
    each = pd.Series(mean).groupby(run)
    hours = counts / 12
    wanted = [0.15 * hours.sum(), 1.5 * (each.max() * hours).sum(), (each.mean() * hours).sum()]
    got = [(frame[name] * frame["duration_s"]).sum() / MACHINE_HOUR for name in frame.columns[2:]]
    np.testing.assert_allclose(got, wanted, rtol=1e-9)
    assert {one.resource for one in report.machine_shares} == {"memory", "cpu"}


@pytest.mark.parametrize("lines", ["1,2,3,4\n", "time,type,value\n1,a,2\n", ",".join("1" * 13) + "\n", "1,9\n" * 20])
def test_others_tables_stay_what_they_are(store, write, lines):
    assert store.detect([write("o.csv", lines)]) == "generic"


def test_events_that_are_cut_off_or_no_numbers_are_told(store, write):
    head = "time,type,collection_id,instance_index,scheduling_class\n"
    report = store.ingest(
        [write("x.csv", head + "600,SUBMIT,1,0,1\nsoon,SCHEDULE,1,0,1\n700,FINISH,1")], IngestOptions()
    )
    assert (report.rows_read, report.rows, report.rejected) == (3, 1, 1)
    assert set(store.rejects("x")["line"]) == {4}
    assert any(check.name == "bad cells" and "time: 'soon' in line 3" in check.message for check in report.checks)
    with pytest.raises(TraceError, match="header"):
        store.ingest([write("y.csv", head)], IngestOptions())


def test_windows_of_2011_tell_how_use_varies_and_how_many_tasks_are_active(store, tmp_path):
    """The columns of PolarisProfiler's Google case, against a loop over the windows of each task."""
    rng = np.random.default_rng(5)
    windows = []
    for job in range(12):
        tasks = int(rng.integers(1, 5))
        for task in range(tasks):
            first = int(rng.integers(0, 3))
            windows += [(job, task, first + at, *rng.uniform(0.01, 0.2, 3)) for at in range(int(rng.integers(2, 9)))]
    lines = [
        f"{600_000_000 + at * 300_000_000},{900_000_000 + at * 300_000_000},{job},{task},41,{cpu},{memory},0.07,0.001,"
        f"0.002,{memory},0,{disk},0.02,0,2.9,0.008,1,0,0.001"
        for job, task, at, cpu, memory, disk in windows
    ]
    (tmp_path / "part.csv").write_text("\n".join(rng.permutation(lines)) + "\n")
    report = store.ingest([tmp_path / "part.csv"], IngestOptions())
    assert report.format == "borg-2011-usage"
    frame = store.frame("part", [*GOOGLE9, "job_name", "task_index"]).set_index(["job_name", "task_index"])
    assert len(frame) == len({window[:2] for window in windows})
    for (job, task), row in frame.iterrows():
        own = [window for window in windows if window[:2] == (int(job), int(task))]
        active = [sum(one[0] == int(job) and one[2] == mine[2] for one in windows) for mine in own]
        cpu, memory, disk = (np.array([window[place] for window in own]) for place in (3, 4, 5))
        wanted = {
            "cpu_rate_sd": cpu.std(),
            "canonical_memory_sd": memory.std(),
            "local_disk_mean": disk.mean(),
            "local_disk_sd": disk.std(),
            "active_tasks_mean": np.mean(active),
            "active_tasks_sd": np.std(active),
        }
        for name, value in wanted.items():
            assert row[name] == pytest.approx(value), name


@pytest.mark.slow
def test_the_published_google_case_runs_on_task_usage(store, tmp_path):
    """Quantiles, an autoencoder of the nine features and DBSCAN find three planted kinds of tasks."""
    rng = np.random.default_rng(6)
    kind = rng.integers(0, 3, 900)
    lines = []
    for run, of in enumerate(kind):
        levels = 0.003 * 5.0 ** ((np.array([0, 1, 2]) + of) % 3)
        for at in range((3, 9, 20)[of] + int(rng.integers(0, 3))):
            cpu, memory, disk = levels * rng.uniform(0.8, 1.2, 3)
            begin = 600_000_000 + at * 300_000_000
            lines.append(
                f"{begin},{begin + 300_000_000},{10_000 * of + run // 4},{run},41,{cpu},{memory},0.2,0.001,0.002,"
                f"{memory},0,{disk},0.02,0,2.9,0.008,1,0,0.001"
            )
    (tmp_path / "part.csv").write_text("\n".join(lines) + "\n")
    store.ingest([tmp_path / "part.csv"], IngestOptions())
    jobs = store.frame("part", [*GOOGLE9, "task_index", "row_id"])
    found = fit_profiles({"jobs": jobs}, ProfileSettings(**preset("google-2011", len(jobs))))
    assert found.features == GOOGLE9
    inside = found.labels >= 0
    assert adjusted_rand_score(kind[jobs["task_index"].astype(int)][inside], found.labels[inside]) > 0.9
    assert inside.mean() > 0.8
    assert any(note.startswith("DBSCAN: 100 runs within") for note in found.notes)
