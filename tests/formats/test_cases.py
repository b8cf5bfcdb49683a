"""Small inputs after public reports: each is loaded as its own file of expectations says, by command and library.

A key of an expectation that no check below knows is an error, so no expectation is passed over.
"""

import functools
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import workprof as wp
from tests.command_line import run_here
from tests.library.test_calls import numbers
from tests.shared_data import CASES, needs_cases
from workprof.core.units import GIB, MIB
from workprof.library.tables import jobs_of

pytestmark = [pytest.mark.slow, needs_cases]

ENDING = ".expected.json"
EXPECTED = {path.name.removesuffix(ENDING): json.loads(path.read_text()) for path in sorted(CASES.glob(f"*{ENDING}"))}
TELEMETRY = "batch-16-perf-stat-decimal-comma"
REFUSED = "batch-30-seff"
FIELD = {"job": "job_name", "task": "task_name", "start": "start_time_s"}
IN_2026 = (1_767_225_600, 1_798_761_600)


def file_of(case):
    (path,) = (path for path in CASES.glob(f"{case}*") if not path.name.endswith(ENDING))
    return path


class Loaded:
    """A case in a home of its own: what `ingest` said, and what `export` writes."""

    def __init__(self, case, home):
        self.case, self.home, self.path = case, home, file_of(case)
        self.ran = run_here("ingest", self.path, "--name", case, "--json", home=home)

    @functools.cached_property
    def report(self):
        assert self.ran.status == 0, self.ran.err
        return self.ran.json

    @functools.cached_property
    def checks(self):
        return {check["name"]: check["count"] for check in self.report["checks"]}

    @functools.cached_property
    def frame(self):
        written = self.home / "rows.parquet"
        ran = run_here("export", self.report["dataset"], "-o", written, home=self.home)
        assert ran.status == 0, ran.err
        return pd.read_parquet(written)

    def ask(self, *words):
        ran = run_here(*words, self.report["dataset"], "--json", home=self.home)
        assert ran.status == 0, ran.err
        return ran.json


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    return functools.cache(lambda case: Loaded(case, tmp_path_factory.mktemp(case)))


def same_rows(case, rows):
    for row in rows:
        found = case.frame
        for key, value in row.items():
            values = found[FIELD.get(key, key)]
            same = values == value if isinstance(value, str) else np.isclose(values.astype(float), value, rtol=1e-6)
            assert same.any(), (row, key, values.tolist()[:5])
            found = found[same]


def sizes_hold(case):
    """Every size is at least the largest use of its task and at most 1.5 times it."""
    rows = [row for row in case.ask("memory", "plan")["rows"] if row["resource"] == "memory"]
    largest = case.frame.groupby("task_name")["peak_memory_bytes"].max()
    assert {row["task_name"] for row in rows} == {*largest.index}
    for row in rows:
        used = largest[row["task_name"]]
        assert used <= row["size_gb"] * 1e9 <= 1.5 * used, row
    return {row["task_name"]: row for row in rows}


def sizes_with_and_without_phase(case, _):
    told = sizes_hold(case)
    export = json.loads(case.path.read_text())
    series = export["data"]["result"]
    export["data"]["result"] = [one for one in series if one["metric"]["__name__"] != "kube_pod_status_phase"]
    assert len(export["data"]["result"]) < len(series)
    path = case.home / "without.json"
    path.write_text(json.dumps(export))
    assert run_here("ingest", path, home=case.home).status == 0
    rows = run_here("memory", "plan", "without", "--json", home=case.home).json["rows"]
    assert {row["task_name"]: row["size_gb"] for row in rows} == {task: row["size_gb"] for task, row in told.items()}


def sizes_by_container(case, containers):
    rows = {row["container"]: row for row in sizes_hold(case).values()}
    assert rows.keys() == containers.keys()
    assert {row["namespace"] for row in rows.values()} == {"shop"}
    whole = case.frame.groupby("job_name")["peak_memory_bytes"].sum().max()
    assert rows["cart"]["largest_gb"] * 1e9 < whole
    assert rows["istio-proxy"]["size_gb"] < rows["cart"]["size_gb"] / 4


def tasks_are(case, tasks):
    names = {*case.frame["task_name"]}
    assert names == {*tasks} if isinstance(tasks, list) else len(names) == tasks


def runs_are(case, runs):
    if isinstance(runs, list):
        return same_rows(case, runs)
    assert (case.report["rows"], case.report["rejected"]) == (runs, 0)
    return None


def query_is_documented(case, query):
    page = (Path(__file__).parents[2] / "docs" / "formats" / "prometheus-pods.md").read_text()
    assert query.partition("(...")[0].replace(" ", "") in page.replace(" ", "")


def median_is_508(case, _):
    for given in (case.path, pd.read_csv(case.path)):
        curve = wp.durations(given).everything
        assert curve.points[np.searchsorted(curve.shares, 0.5)] == 508


CHECKS = {
    "runs": runs_are,
    "finished": lambda case, n: case.report["rows"] - case.checks.get("not finished", 0) == n or pytest.fail(case.case),
    "rows": lambda case, rows: runs_are(case, rows) if isinstance(rows, int) else same_rows(case, rows),
    "must": lambda case, words: MUST[case.case](case),
    "format": lambda case, name: same(case.report["format"], name),
    "pods": lambda case, n: same((case.report["rows"], case.frame["job_name"].nunique()), (n, n)),
    "tasks": tasks_are,
    "task_name": tasks_are,
    "cpu_usage_percent": lambda case, value: same({*case.frame["cpu_usage_percent"]}, {value}),
    "duration_s": lambda case, value: same({*case.frame["duration_s"]}, {value}),
    "peak_memory_bytes": lambda case, value: same(
        {*case.frame["peak_memory_bytes"]}, {*(value if isinstance(value, list) else [value])}
    ),
    "ledger_hours": lambda case, hours: same(case.ask("memory", "ledger")["totals"]["hours"], hours),
    "sizes": sizes_with_and_without_phase,
    "documented query": query_is_documented,
    "kind": lambda case, kind: same({*case.frame["owner_kind"]}, {kind}),
    "namespace": lambda case, name: same({*case.frame["namespace"]}, {name}),
    "containers": sizes_by_container,
    "wp.durations(path) and wp.durations(frame)": median_is_508,
}


def same(found, wanted):
    assert found == wanted


@pytest.mark.some(16)
@pytest.mark.parametrize("case", EXPECTED)
def test_a_case_is_what_its_expectation_says(loaded, case):
    wanted = EXPECTED[case] | EXPECTED[case].get("expected", {})
    told = {key: value for key, value in wanted.items() if key not in ("source", "expected")}
    if case == TELEMETRY:
        return MUST[case](loaded(case))
    for key, value in told.items():
        CHECKS[key](loaded(case), value)
    return None


def tasks_of_a_node(case):
    largest = case.frame["peak_memory_bytes"].max()
    sizes = [row["size_gb"] * 1e9 for row in case.ask("memory", "plan")["rows"] if row["resource"] == "memory"]
    assert sizes and min(sizes) >= largest


def cut_ids(case):
    frame = case.frame
    assert frame["requested_memory_bytes"].tolist() == [16_777_216_000] * 2
    assert frame["peak_memory_bytes"].tolist() == [10_286_446_592, 9_262_446_592]
    assert frame["job_name"].tolist() == ["15715316_97+", "15715316_98+"]
    assert case.checks["cut keys"] == 8


def accounting_of_lsf(case):
    frame = case.frame
    assert (case.report["format"], {*frame["workload"]}, {*frame["status"]}) == ("lsb-acct", {"normal"}, {"DONE"})
    assert {*frame["requested_memory_bytes"]} == {4000 * MIB}
    assert (frame["peak_memory_bytes"] > 2 * 10**9).all() and (frame["duration_s"] >= 600).all()


def counters(case):
    frame = case.frame
    assert (case.report["format"], case.report["kind"], len(frame)) == ("perf-stat", "telemetry", 30)
    np.testing.assert_allclose(np.diff(frame["t"]), 1, rtol=1e-3)
    np.testing.assert_allclose(frame["perf.instructions/s"], 3.13e8, rtol=2e-3)
    assert frame["perf.task-clock/s"][0] * frame["t"][0] == pytest.approx(1001.31)


def condor_in_mib(case):
    first = case.frame.iloc[0]
    assert first["job_name"].startswith("500.0")
    assert first["requested_memory_bytes"] == 4096 * MIB
    assert first["peak_memory_bytes"] == pytest.approx(GIB, rel=0.05)


def cached_calls(case):
    assert case.checks["call cache"] == 3
    aligned = case.frame[case.frame["task_name"] == "wf.align"]
    assert len(aligned) == 3 and aligned["duration_s"].isna().all()
    assert "wf.align" not in json.dumps(case.ask("durations"))
    refused = run_here("memory", "plan", case.report["dataset"], home=case.home)
    assert refused.status == 2 and "peak_memory_bytes" in refused.err
    ledger = case.ask("memory", "ledger")
    assert ledger["totals"]["requested_gb_h"] == pytest.approx(8)


def refused_with_a_way(case):
    assert case.ran.status == 2
    assert "seff" in case.ran.err and "sacct -a -P" in case.ran.err


def half_without_use(case):
    told = case.ask("memory", "assess")
    assert (told["n_without_use"], told["n_requesting"]) == (10, 20)


def years_of_two_digits(case):
    assert case.frame["start_time_s"].between(*IN_2026).all()
    assert case.checks["years of two digits"] == len(case.frame)


def open_end(case):
    table = pd.read_csv(case.path, sep=";")
    closed = table["started"] != "infinity"
    start, end = (pd.to_datetime(table[closed][name].tolist()) for name in ("started", "finished"))
    assert case.report["running"] == (~closed).sum() == 1
    assert case.frame["status"][~closed].tolist() == ["running"]
    np.testing.assert_array_equal(case.frame["duration_s"][closed], (end - start).total_seconds())


def two_units(case):
    if case.ran.status == 2:
        return
    table = pd.read_csv(case.path)
    moments = table[["started", "finished"]]
    in_s = moments.where(moments < 1e11, moments / 1000)
    assert case.checks["units disagree"] == (table["started"] > 1e11).sum() == 30
    np.testing.assert_allclose(case.frame["duration_s"], in_s["finished"] - in_s["started"])
    assert case.frame["duration_s"].sum() == pytest.approx(214_200)


def one_end_in_ms(case):
    done = case.frame[case.frame["status"] == "done"]["duration_s"]
    assert len(done) == 20 and ((done == 600) | done.isna()).all() and done.isna().sum() <= 1
    assert case.checks["units disagree"] == 1


def out_of_bounds(case):
    table = pd.read_csv(case.path, sep="|")
    wrong = table["AllocCPUS"] > 1e9
    assert case.checks["out of bounds"] == wrong.sum() == 1
    assert case.frame["requested_cpu_percent"][wrong].isna().all()
    np.testing.assert_array_equal(case.frame["requested_cpu_percent"][~wrong], 100 * table["AllocCPUS"][~wrong])


def one_late_end(case):
    running = case.frame[case.frame["status"] == "RUNNING"]
    ends = running["start_time_s"] + running["duration_s"]
    known = case.frame["end_time_s"][case.frame["end_time_s"] < IN_2026[1]]
    assert len(running) == 20 and {*ends} == {known.max()}
    assert case.checks["beyond the trace"] == 1


def lone_returns(case):
    lines = [line for line in case.path.read_bytes().replace(b"\r", b"\n").split(b"\n") if line]
    assert (case.report["format"], case.report["lost"]) == ("nextflow", 0)
    assert case.report["rows"] + case.report["rejected"] == case.report["rows_read"]
    assert case.report["rows_read"] + case.checks.get("carriage returns", 0) == len(lines) - 1


def steps_of_a_workflow(case):
    used = case.frame.groupby("task_name")["peak_memory_bytes"].agg(["min", "max"]).sort_values("max")
    assert used["max"].iloc[0] <= 256 * MIB < used["min"].iloc[1] <= 16 * GIB


MUST = {
    "batch-03-eight-tasks-one-node": tasks_of_a_node,
    "batch-09-array-ids-cut": cut_ids,
    "batch-13-lsb": accounting_of_lsf,
    "batch-14-qstat-invalid": lambda case: same(case.checks["mended JSON"], 4),
    TELEMETRY: counters,
    "batch-21-condor-history": condor_in_mib,
    "batch-25-cromwell-cached": cached_calls,
    REFUSED: refused_with_a_way,
    "batch-36-half-without-use": half_without_use,
    "mess-01-two-digit-year-us": years_of_two_digits,
    "mess-03-infinity-end": open_end,
    "mess-04-epoch-s-and-ms-mixed": two_units,
    "mess-05-one-ms-end-flips-column": one_end_in_ms,
    "mess-07-slurm-alloccpus-1e308": out_of_bounds,
    "mess-08-slurm-one-end-2062": one_late_end,
    "mess-10-nextflow-lone-cr": lone_returns,
    "pods-22-argo-prometheus": steps_of_a_workflow,
}

JOBS = [case for case in EXPECTED if case not in (TELEMETRY, REFUSED)]


@pytest.mark.some(4)
@pytest.mark.parametrize("case", JOBS)
def test_the_library_reads_the_rows_that_the_command_loads(loaded, case):
    theirs = loaded(case).frame
    ours = jobs_of(file_of(case), {}).frame
    columns = [name for name in theirs if name in ours]
    assert {"job_name", "duration_s"} <= {*columns}
    pd.testing.assert_frame_equal(ours[columns], theirs[columns], check_dtype=False, check_categorical=False)


@pytest.mark.some(6)
@pytest.mark.parametrize("case", JOBS)
def test_durations_are_answered_wherever_a_run_finished(loaded, case):
    unfinished = loaded(case).checks.get("not finished", 0)
    ran = run_here("durations", case, "--json", home=loaded(case).home)
    if unfinished == loaded(case).report["rows"]:
        assert ran.status == 2 and "has no finished run" in ran.err
    else:
        assert ran.status == 0 and ran.json["all"]["rows"] > 0, ran.err


def table_of(path):
    """Return a case as people load it in a notebook."""
    text = path.read_text()
    if path.suffix == ".json":
        return pd.DataFrame(json.loads(text))
    line = text.partition("\n")[0]
    return pd.read_csv(io.StringIO(text), sep=next(mark for mark in "|;\t," if mark in line))


REFUSAL = "refused in words"
LOSE_IN_PANDAS = ("batch-05-snakemake-efficiency-report", "batch-21-condor-history")
"""Of a frame, ids that were read as fractions and records of HTCondor are refused."""

TABLES = [
    case
    for case in JOBS
    if case == "batch-21-condor-history"
    or (file_of(case).suffix in (".csv", ".txt") and not case.startswith(("batch-02", "batch-09", "mess-10")))
]
"""Those that pandas reads; batch-02 is no table before it is mended, batch-09 is a screen, and of
mess-10 pandas breaks a line at the lone CR, before anybody sees it."""


@pytest.mark.some(2)
@pytest.mark.parametrize("case", TABLES)
def test_a_frame_of_it_gives_what_its_file_gives(case):
    path = file_of(case)
    for call in (wp.durations, wp.size_memory, wp.profile):
        theirs, ours = (outcome(call, one, path.name) for one in (path, table_of(path)))
        assert ours in (theirs, REFUSAL) if case in LOSE_IN_PANDAS else ours == theirs, call


def outcome(call, given, name):
    """Return the numbers of a record, in whose notes a table has no name of its own."""
    try:
        document, arrays = numbers(call(given))
        return document.replace(name, "table.csv"), arrays
    except wp.WorkprofError as error:
        return REFUSAL if str(error) else ""
