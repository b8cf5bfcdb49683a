"""The exported sizes, replayed by a slow plain loop over runs that they were not learned on, save what is promised."""

import csv
import io
import math

import numpy as np
import pandas as pd
import pytest

from tests.pages.conftest import SAMPLE

pytestmark = pytest.mark.slow

KEYS = ("cluster", "namespace", "user", "group", "workload", "task_name", "container")
LEVELS = (("user", "task_name", "request"), ("user", "task_name"), ("user", "group", "workload", "request"))
"""Of a trace with users, the finest first, as the documents say."""


def rows_by_key(path, levels):
    """Return (level, values, request) -> row of memory."""
    found = {}
    for row in csv.DictReader(io.StringIO(path.read_text(), newline="")):
        if row["resource"] == "memory":
            held = {name for name in KEYS if row.get(name)}
            asked = row["per_request"] == "yes"
            level = next(one for one in levels if held <= set(one) and asked == ("request" in one))
            values = tuple(row[name] for name in level if name != "request")
            found[level, values, int(row["request_bytes"]) if asked else None] = row
    return found


def saved_by(rows, levels, runs):
    """Return GB·h that runs save with the exported sizes, and their kills."""
    saved, kills = 0.0, 0
    for run in runs:
        request, use, hours = run["request"], run["use"], run["hours"]
        row = None
        for level in levels:
            values = tuple(run[name] for name in level if name != "request")
            row = row or rows.get((level, values, round(request) if "request" in level else None))
        size = request
        if row is not None and row["action"] == "lower":
            size = min(request, int(row["size_bytes"]))
        if row is not None and row["action"] == "raise":
            size = max(request, int(row["size_bytes"]))
        killed = size < request and size < use
        kills += killed
        saved += (request - size - (max(request, use) if killed else 0)) * hours / 1e9
    return saved, kills


def later_runs(path, killed=("OUT_OF_MEMORY",)):
    """Return the runs of the last judged block: a quarter of the second half, in order of submission."""
    table = pd.read_csv(path, keep_default_na=False, dtype=str)
    number = {
        name: pd.to_numeric(table[name], errors="coerce") for name in table.columns if name.endswith(("_s", "bytes"))
    }
    runs = []
    ended = table["status"].str.lower().isin(["terminated", "completed", "success"])
    for finished in (True, False):
        for at in range(len(table)):
            counts = ended[at] if finished else table["status"][at] in killed
            request, use, seconds = (
                number[name][at] for name in ("requested_memory_bytes", "peak_memory_bytes", "duration_s")
            )
            if not counts or math.isnan(request) or math.isnan(use) or math.isnan(seconds) or not use > 0:
                continue
            use = use if finished else max(use, request * (1 + 1e-9))
            submitted = number["submit_time_s"][at] if "submit_time_s" in number else number["start_time_s"][at]
            keys = {name: table[name][at] if name in table.columns else "" for name in KEYS}
            runs.append(keys | {"at": submitted, "request": request, "use": use, "hours": seconds / 3600})
    runs.sort(key=lambda run: run["at"])
    first = len(runs) // 2
    return runs[first + round(3 * (len(runs) - first) / 4) :]


def keys_of_every_kind(n=2_000):
    """Runs whose user and task are known, whose requests are ever new, and whose names are; some are killed."""
    rng = np.random.default_rng(3)
    kind, user = rng.integers(0, 3, n), rng.integers(0, 5, n)
    request = np.where(kind == 1, 20_000 + rng.permutation(n), 16_000 * (1 + user % 2)) * 2.0**20
    share = np.random.default_rng(4).uniform(0.1, 0.6, (5, 3))[user, kind]
    at = np.sort(rng.uniform(0, 3e6, n)).round()
    seconds = rng.lognormal(7, 1, n).round(1) + 1
    status = np.where((user == 2) & (kind == 0) & (rng.random(n) < 0.3), "OUT_OF_MEMORY", "COMPLETED")
    return pd.DataFrame(
        {
            "user": [f"u{one}" for one in user],
            "group": [f"g{one % 2}" for one in user],
            "workload": np.where(kind == 2, "search", "nightly"),
            "task_name": np.where(kind == 2, [f"t{one}" for one in range(n)], np.array(["a", "b", ""])[kind]),
            "requested_memory_bytes": request,
            "peak_memory_bytes": (request * share * rng.lognormal(0, 0.15, n)).round(),
            "submit_time_s": at,
            "start_time_s": at + 5,
            "end_time_s": at + 5 + seconds,
            "duration_s": seconds,
            "status": status,
        }
    )


@pytest.fixture(scope="module", params=["sample", "users", "workflow"])
def loaded(request, run_workprof, home):
    """A dataset's name, and the columns of its keys."""
    path, name = SAMPLE, request.param
    if name != "sample":
        table = keys_of_every_kind() if name == "users" else keys_of_every_kind().drop(columns=["user", "group"])
        path = home / f"{name}.csv"
        table.to_csv(path, index=False)
    made = run_workprof("ingest", path, "--name", name, home=home)
    assert made.status == 0, made.err
    return name, LEVELS if name != "workflow" else (("task_name", "request"), ("task_name",))


@pytest.mark.soak
@pytest.mark.some(1)
def test_the_rows_as_of_the_last_origin_save_its_part_of_the_headline(workprof, home, loaded):
    dataset, levels = loaded
    plan = workprof("memory", "plan", dataset, "--as-of", 4, "--json").json
    path, jobs = home / "sizes.csv", home / "jobs.csv"
    told = workprof("memory", "export", dataset, "--to", "csv", "-o", path, "--as-of", 4, "--json").json
    assert workprof("export", dataset, "-o", jobs).status == 0
    runs = later_runs(jobs)
    saved, kills = saved_by(rows_by_key(path, levels), levels, runs)
    last = plan["origins"][-1]
    assert told["rows"] >= len(rows_by_key(path, levels)) > 1
    assert (len(runs), kills) == (last["n_runs"], last["failures"])
    assert saved == pytest.approx(last["saved_gb_h"], rel=1e-9)
    assert saved > 0
    assert sum(one["saved_gb_h"] for one in plan["origins"]) == pytest.approx(plan["recommended"]["saved_gb_h"])
    assert workprof("memory", "export", dataset, "--to", "csv", "-o", "-", "--as-of", 4).out == path.read_text()
