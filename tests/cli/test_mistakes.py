"""Mistakes at the command line: each ends with status 2 and words that help, never with a traceback of our own."""

import pytest

from tests.command_line import run_here

MISTAKES = {
    # words
    "no such command": (("memry",), "memry"),
    "no such part": (("memory", "asses"), "asses"),
    "a part is missing": (("memory", "replay"), "dataset"),
    "no such option": (("datasets", "--jsn"), "--jsn"),
    "an option without its value": (("memory", "bins", "jobs", "--task"), "--task"),
    "too many words": (("datasets", "x"), "x"),
    "--wait is no number": (("datasets", "--wait", "soon"), "--wait"),
    "--wait below 0": (("datasets", "--wait", "-1"), "--wait"),
    # datasets
    "a dataset that is not there": (("memory", "assess", "job"), "did you mean 'jobs'?"),
    "a dataset with another case": (("memory", "assess", "JOBS"), "did you mean 'jobs'?"),
    "no dataset by an empty name": (("memory", "assess", ""), "no dataset"),
    "another kind of dataset": (("nodes", "rank", "jobs"), "job trace"),
    "a hash of nobody": (("memory", "assess", "0123456789abcdef"), "no dataset"),
    "rename to a taken name": (("rename", "jobs", "jobs2"), "already called"),
    "rename to an odd name": (("rename", "jobs", "a/b"), "cannot be used"),
    "remove without --yes": (("remove", "jobs"), "--yes"),
    # files in
    "a file that is not there": (("ingest", "nowhere.csv"), "nowhere.csv"),
    "a folder as a file": (("ingest", "."), ""),
    "an empty file": (("ingest", "empty.csv"), "empty"),
    "a header alone": (("ingest", "header.csv"), ""),
    "no table": (("ingest", "noise.bin"), ""),
    "a format that is not there": (("ingest", "jobs.csv", "--format", "slrum"), "did you mean 'slurm'?"),
    "a name that is taken": (("ingest", "jobs.csv", "--name", "jobs2"), ""),
    "a mapping that is not there": (("ingest", "jobs.csv", "--map", "no.json"), "no.json"),
    "a mapping that is no JSON": (("ingest", "jobs.csv", "--map", "jobs.csv"), ""),
    # tasks, fields, choices, numbers
    "a task that is not there": (("memory", "bins", "jobs", "--task", "algin"), "did you mean 'align'?"),
    "-k is no number": (("memory", "bins", "jobs", "--task", "align", "-k", "x"), "-k"),
    "-k out of bounds": (("memory", "bins", "jobs", "--task", "align", "-k", "99"), "k is 99"),
    "-k below 0": (("memory", "bins", "jobs", "--task", "align", "-k", "-3"), "-3"),
    "-k beside --edges": (("memory", "bins", "jobs", "--task", "align", "-k", "2", "--edges", "1GB"), "either"),
    "a size that is none": (("memory", "bins", "jobs", "--task", "align", "--step", "2XB"), "2XB"),
    "a share above its bound": (("memory", "bins", "jobs", "--task", "align", "--headroom", "9"), "headroom is 9"),
    "not a number": (("memory", "bins", "jobs", "--task", "align", "--headroom", "nan"), "headroom"),
    "a choice that is not there": (
        ("memory", "bins", "jobs", "--task", "align", "--weight", "tim"),
        "did you mean 'time'?",
    ),
    "a mode that is not there": (("memory", "bins", "jobs", "--task", "align", "--mode", "x"), "corrected, faithful"),
    "a feature that is not there": (("profiles", "fit", "jobs", "--features", "peak_memory"), "peak_memory"),
    "a scaler that is not there": (("profiles", "fit", "jobs", "--scaler", "powr"), "did you mean 'power'?"),
    "too small a cluster": (("profiles", "fit", "jobs", "--min-cluster-size", "-1"), "--min-cluster-size is -1"),
    "steps of nothing": (("memory", "plan", "jobs", "--round-to", "0"), "--round-to is 0.0; give sizes such as 2GiB"),
    "a column that is not there": (("sample", "jobs", "--by", "usr", "--rows", "5", "--name", "s"), "usr"),
    "more rows than there are": (("sample", "jobs", "--by", "task_name", "--rows", "99999999", "--name", "s"), ""),
    "rows below 1": (("sample", "jobs", "--by", "task_name", "--rows", "0", "--name", "s"), ""),
    "--with that is no pair": (("memory", "bins", "jobs", "--task", "align", "--with", "k"), "NAME=VALUE"),
    "--with of nothing": (("memory", "bins", "jobs", "--task", "align", "--with", "kk=3"), "did you mean 'k'?"),
    "--fit of nothing": (("durations", "jobs", "--by", "profile", "--fit", "min_cluster=3"), "min_cluster"),
    "a policy that is not there": (("memory", "replay", "jobs", "--policies", "p59"), "p59"),
    "a field that is not there": (("classify", "predict", "jobs", "--set", "usr=ana"), "usr"),
    "a field that is known after the run": (("classify", "predict", "jobs", "--set", "cpu_usage=3"), "cpu_usage"),
    "a pair that is none": (("classify", "predict", "jobs", "--set", "user"), "field=value"),
    "a field twice": (("classify", "predict", "jobs", "--set", "user=a", "--set", "user=b"), "user more than once"),
    "no field at all": (("classify", "predict", "jobs"), "--set"),
    "a file of jobs that is not there": (("classify", "predict", "jobs", "--jobs", "no.csv"), "no.csv"),
    "a number that is none": (("classify", "predict", "jobs", "--set", "instances=many"), "many"),
    "a run that is not there": (("runs", "show", "ffffffff"), "ffffffff"),
    "a period that is empty": (("durations", "jobs", "--period", ""), "the period is empty"),
    "a saved scope's period that is empty": (("scopes", "save", "x", "--period", ""), "the period is empty"),
    "a period behind a name that is empty": (("compare", "jobs?period=", "jobs"), "the period is empty"),
    # files out
    "-o is a folder": (("export", "jobs", "-o", "folder.csv"), "it is a folder"),
    "-o in no folder": (("export", "jobs", "-o", "no/x.csv"), "there is no folder no"),
    "-o with another suffix": (("export", "jobs", "-o", "x.doc"), ".doc"),
    "-o without its value": (("export", "jobs", "-o"), "-o"),
    "--to of nothing": (("memory", "export", "jobs", "--to", "yaml", "-o", "x.yaml"), "choose from"),
    "--policy beside --bins": (
        ("memory", "export", "jobs", "--to", "csv", "-o", "x.csv", "--policy", "p95", "--bins"),
        "either",
    ),
    "a report with another suffix": (("report", "jobs", "-o", "x.pdf"), "x.pdf"),
    "a section that is not there": (("report", "jobs", "--sections", "dta", "-o", "x.html"), "dta"),
    # what cannot be
    "more synthetic rows than can be": (("synth", "pai", "--rows", "999999999999", "-o", "x.parquet"), "100"),
    "no synthetic rows": (("synth", "pai", "--rows", "0", "-o", "x.parquet"), ""),
    "synthetic rows below 0": (("synth", "pai", "--rows", "-5", "-o", "x.parquet"), ""),
    "more synthetic jobs than can be": (("synth", "pai-tables", "--jobs", "999999999999", "-o", "tables"), ""),
    "no workloads": (("synth", "telemetry", "--workloads", "0", "-o", "x.csv"), ""),
    "a stress above 1": (("synth", "benchmarks", "--stress", "7", "-o", "x.jsonl"), ""),
    "a port of nobody": (("serve", "--port", "99999"), "--port"),
    "a service without its option": (("serve", "--rate", "3"), "--api"),
    "a request of an odd size": (("serve", "--api", "--body", "many"), "many"),
    "a service that others reach, without a token": (("serve", "--api", "--host", "0.0.0.0"), "WORKPROF_TOKEN"),
    "record nothing": (("record", "--settle", "0", "-o", "x.csv"), ""),
    "record a command that is not there": (("record", "--settle", "0", "-o", "x.csv", "--", "no-such-command"), ""),
    "record every 0 s": (("record", "--interval", "0", "-o", "x.csv", "--", "true"), "interval"),
    "rest below 0": (("record", "--settle", "-1", "-o", "x.csv", "--", "true"), ""),
    "a table of configurations that is none": (("nodes", "search", "noise.bin"), "is no CSV"),
    "a cost of a failure below 0": (("memory", "replay", "jobs", "--failure-cost", "-1"), "-1"),
    "jobs that are neither a file nor a dataset": (("classify", "predict", "jobs", "--jobs", "job"), "'jobs'"),
    "a folder as jobs": (("classify", "predict", "jobs", "--jobs", "folder.csv"), "folder.csv"),
    "a campaign without a plan": (("campaign", "run", "no.toml"), "no.toml"),
    "a node suite of no tool": (("nodes", "suite", "--benchmarks", "quake", "-o", "x.jsonl"), "quake"),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mistakes")
    rows = "".join(f"align,t{i},u{i % 3},{10 + i},{8e9},{1e9 + i * 1e7}\n" for i in range(60))
    head = "process,task_name,user,duration_s,requested_memory_bytes,peak_memory_bytes\n"
    (folder / "jobs.csv").write_text(head.replace("process,task_name", "task_name,job_name") + rows, encoding="utf-8")
    (folder / "other.csv").write_text("task_name,duration_s\na,1\nb,2\n", encoding="utf-8")
    (folder / "empty.csv").write_text("", encoding="utf-8")
    (folder / "header.csv").write_text("task_name,duration_s\n", encoding="utf-8")
    (folder / "noise.bin").write_bytes(bytes(range(256)) * 8)
    (folder / "folder.csv").mkdir()
    for name, called in (("jobs.csv", "jobs"), ("other.csv", "jobs2")):
        loaded = run_here("ingest", folder / name, "--name", called, home=folder / "home")
        assert loaded.status == 0, loaded.err
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_in_words(place, monkeypatch, name):
    words, told = MISTAKES[name]
    monkeypatch.chdir(place)
    before = sorted(place.iterdir())
    ended = run_here(*words, home=place / "home")
    assert ended.status == 2, (ended.status, ended.err)
    assert told.lower() in ended.err.lower()
    assert "Traceback" not in ended.err
    assert "fault of ours" not in ended.err
    assert ended.out == ""
    assert sorted(place.iterdir()) == before  # nothing half written is left


@pytest.mark.slow
def test_a_shell_completes_commands_and_choices(place, monkeypatch):
    from workprof.cli.questions import _completion

    assert _completion(("time", "count", "cost"))("co") == ["count", "cost"]
    assert _completion(("p95", "preset"))("p95,pr") == ["p95,preset"]
    helped = run_here("-h", home=place / "home")
    assert helped.status == 0
    assert "--install-completion" in helped.out
    assert run_here("memory", "bins", "-h", home=place / "home").out.startswith("Usage: workprof memory bins")
    monkeypatch.setenv("_WORKPROF_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "workprof memory bins x --weight ")
    monkeypatch.setenv("COMP_CWORD", "5")
    shown = run_here(home=place / "home")
    assert shown.out.split() == ["count", "time", "cost"]


def test_a_progress_line_tells_the_time_left_once_it_can_be_told():
    from workprof.cli.console import time_left

    assert time_left(0.25, 10.0) == ", about 30 s left"
    assert [time_left(*now) for now in ((None, 10.0), (0.5, 1.0), (0.001, 10.0), (1.0, 10.0))] == [""] * 4
