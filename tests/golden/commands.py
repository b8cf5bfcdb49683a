"""The commands that are kept, the home that they are asked of, and which commands there is no file for."""

import re
import shutil

import typer

from tests.command_line import run_here
from tests.nodes.transfer_reports import MACHINES, planted
from tests.pages.conftest import ROOT
from workprof.cli.main import app

SAMPLES = ROOT / "data" / "sample"
ROWS = 600
"""Of the bundled trace, drawn by workload: every command takes seconds."""

ASKED = {
    "datasets": "datasets",
    "durations": "durations jobs --slo 3600",
    "classify-evaluate": "classify evaluate jobs",
    "classify-compare": "classify compare jobs --leaves 4",
    "classify-predict": "classify predict jobs --set user=u1 --set task_name=worker",
    "classify-explain": "classify explain jobs",
    "estimate-evaluate": "estimate evaluate --train jobs --split by_time",
    "estimate-observe": "estimate observe jobs --jobs FOLDER/finished.csv",
    "profiles-fit": "profiles fit jobs",
    "profiles-sweep": "profiles sweep jobs",
    "profiles-baseline": "profiles baseline jobs --by workload",
    "profiles-hopkins": "profiles hopkins jobs",
    "profiles-stability": "profiles stability jobs --resamples 3",
    "profiles-embeddings": "profiles embeddings jobs --folds 1",
    "profiles-membership": "profiles membership jobs --unusual 4 --typical 2",
    "profiles-assign": "profiles assign jobs FOLDER/pai_sample.parquet -o FOLDER/assigned",
    "memory-assess": "memory assess jobs",
    "memory-bins": "memory bins jobs --task worker",
    "memory-bins-given": "memory bins jobs --task worker --edges 1GB,9GB",
    "memory-bins-published": "memory bins jobs --task worker --mode faithful",
    "memory-bins-by-count": "memory bins jobs --task worker -k 3 --weight count",
    "memory-bins-of-a-profile": "memory bins jobs --profile 0",
    "memory-curve": "memory curve jobs --task worker",
    "memory-curve-of-a-profile": "memory curve jobs --profile 0",
    "memory-train": "memory train jobs --task worker -k 2 --models svm --sampling none --trials 0",
    "memory-train-tables": "memory train jobs --tables --task worker -k 2 --models svm --sampling none --trials 0",
    "memory-replay": "memory replay jobs",
    "memory-plan": "memory plan jobs",
    "compare": "compare jobs?period=..45 jobs?period=45..",
    "changes": "changes jobs",
    "changes-for-the-worse": "changes weeks",
    "memory-realised": "memory realised jobs --since 57",
    "memory-decisions": "memory decisions jobs",
    "memory-rollup": "memory rollup jobs",
    "memory-schedule": "memory schedule jobs --memory 128GB --cpus 32",
    "memory-demand": "memory demand jobs --by user --of runs",
    "memory-fact": "memory fact jobs --column gpu_usage_percent",
    "memory-fact-of-words": "memory fact jobs --column workload",
    "memory-why": "memory why jobs --task worker",
    "memory-export": "memory export jobs --to csv -o FOLDER/plan.csv",
    "memory-ledger": "memory ledger jobs",
    "memory-ledger-runs": "memory ledger-runs jobs --rule memory",
    "memory-chargeback": "memory chargeback jobs --by user --price-gb-h 0.01",
    "memory-over-time": "memory over-time jobs --by user",
    "memory-over-time-runs": "memory over-time-runs jobs --at 5",
    "nodes-rank": "nodes rank machines",
    "nodes-groups": "nodes groups machines",
    "nodes-advise": "nodes advise machines --jobs jobs --profile 0",
    "nodes-allocate": "nodes allocate machines --jobs jobs",
    "nodes-detect": "nodes detect machines --epochs 2",
    "nodes-history": "nodes history machines",
    "nodes-transfer": "nodes transfer --reports FOLDER/reports --local n2 --targets n1,c2",
    "nodes-search": "nodes search FOLDER/configurations.csv --seeds 1 --trials 4",
    "phases-runs": "phases runs counters",
    "phases-detect": "phases detect counters --run compress/1",
    "phases-show": "phases show counters --run compress/1",
    "phases-methods": "phases methods counters --run compress/1",
    "phases-typical": "phases typical counters --points 40",
    "phases-shapes": "phases shapes counters --points 30 --shown 2",
    "phases-growing": "phases growing counters",
    "phases-library": "phases library counters",
    "phases-course": "phases course counters --unknown compress/1 --every 10",
    "phases-early": "phases early counters --every 15",
    "phases-align": "phases align counters --first compress/1 --second compress/2",
    "phases-match": "phases match counters --unknown compress/1",
    "phases-evaluate": "phases evaluate counters --splits 1 --open-splits 0",
    "phases-fingerprints": "phases fingerprints counters --run compress/1",
    "runs": "runs",
    "mappings": "mappings",
    "ingest-again": "ingest FOLDER/telemetry.csv",
}
"""Name of the file -> command, asked in this order."""

NOT_KEPT = {
    "nodes fleet": "measures the nodes of a plan",
    **dict.fromkeys(("demo", "serve", "campaign agent"), "goes on until it is ended"),
    **dict.fromkeys(
        ("record", "nodes suite", "campaign run", "campaign status", "campaign states"), "measures this machine"
    ),
    **dict.fromkeys(("runs show", "runs pin", "runs unpin", "runs remove", "runs export"), "names a key of this run"),
    **dict.fromkeys(("rename", "remove", "export", "sample", "pull", "airflow-dag"), "answers what it wrote"),
    **dict.fromkeys(("mappings show", "mappings save", "mappings rename", "mappings remove"), "answers what it wrote"),
    **dict.fromkeys(("memory decide", "scopes save", "scopes remove"), "answers what it wrote"),
    "scopes": "lists the scopes of a home of its own",
    **dict.fromkeys(
        ("source", "source list", "source add", "source show", "source remove"), "names a source of its own"
    ),
    **dict.fromkeys(("user", "user add", "user set", "user remove", "audit"), "names people of a home of its own"),
    **dict.fromkeys(("alert", "alert list", "alert add", "alert remove", "check"), "names alerts of a home of its own"),
    "digest": "of the answers of changes and memory plan (tests of the digest)",
    "refresh": "reads a source (tests of refresh)",
    **dict.fromkeys(
        ("synth pai", "synth pai-tables", "synth telemetry", "synth demand", "synth benchmarks", "synth nextflow"),
        "answers what it wrote",
    ),
    "ingest": "kept as ingest-again, and for every format in store/",
    "report": "kept as headings",
    "memory violations": "names its replacement",
    "nodes schedule": "kept as memory schedule",
    "profiles over-time": "kept as memory demand (tests of the contract compare them)",
    "size": "the bytes of memory export (tests of the command compare them)",
}
"""Command -> why its answer is not kept."""


def every_command():
    """Yield the words of each command."""

    def below(command, words):
        for name in list(getattr(command, "commands", {})):
            yield from below(command.commands[name], (*words, name))
        if words and (not hasattr(command, "commands") or command.invoke_without_command):
            yield " ".join(words)

    yield from below(typer.main.get_command(app), ())


def weeks():
    """Two weeks and a day: in the second, one user requests twice as much and uses more, another is killed often."""
    lines = ["job_name,user,task_name,status,start_time_s,end_time_s,requested_memory_bytes,peak_memory_bytes"]
    for at in range(60):
        begin, second = 21_600 * at, 28 <= at < 56
        killed = "OUT_OF_MEMORY" if second and at % 2 else "COMPLETED"
        of = (("ann", "train", "COMPLETED", 16 + 16 * second, 4 + second), ("bob", "prep", killed, 8, 6 + at % 2))
        lines += [
            f"{user}-{at},{user},{task},{status},{begin},{begin + 3600},{request}e9,{use}e9"
            for user, task, status, request, use in of
        ]
    return "\n".join(lines)


def fill(folder):
    """Make a home of the samples, and the files that commands name, in a folder."""
    home = folder / "home"

    def run(*words):
        ran = run_here(*words, home=home)
        assert ran.status == 0, ran.err

    for path in SAMPLES.iterdir():
        shutil.copy(path, folder / path.name)
    (folder / "weeks.csv").write_text(weeks())
    run("ingest", folder / "weeks.csv", "--name", "weeks")
    run("ingest", folder / "pai_sample.parquet", "--name", "whole")
    run("sample", "whole", "--by", "workload", "--rows", ROWS, "--name", "jobs")
    run("remove", "whole", "--yes")
    run("ingest", folder / "benchmarks.jsonl", "--name", "machines")
    run("ingest", folder / "telemetry.csv", "--name", "counters")
    run("export", "jobs", "-o", folder / "finished.csv")
    for machine, report in planted(dict.fromkeys(MACHINES, 1.0)).items():
        path = folder / "reports" / machine / f"execution_report_{machine}.csv"
        path.parent.mkdir(parents=True)
        names = {"label": "Label", "workflow": "Workflow", "sequences": "NumberSequences", "task": "Task"}
        more = {"Machine": machine, "Realtime": report["runtime_s"] * 1000, "%cpu": report["cpu_percent"]}
        table = report.rename(columns=names)[list(names.values())]
        table.assign(**more, TaskInputSizeUncompressed=report["input_bytes"]).to_csv(path, index=False)


LONGEST = 4
"""Items of a list that are kept."""
MOST_LINES, WIDEST = 40, 220
MASKED = re.compile(r"(?:^|_)(?:seconds|hash|created|when|versions|bytes|mb)$|^(?:run|dataset|key)$")
"""Keys of documents whose values differ from run to run, or would fill lines."""
HASH = re.compile(r"\b[0-9a-f]{8,64}\b")
TIME = re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:\+00:00)?")
LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}(?:e[+-]?\d+)?")
TOOK = re.compile(r"(\bin|\btook|seconds:|runs,) [\d.]+(?: m?s)?$")
ROUNDING = 1e-12
"""What is smaller is what sums round, which differs from processor to processor; a p-value may be as small."""
HEADING_ONLY = ("runs", "profiles-sweep", "profiles-embeddings", "classify-compare")
"""Commands whose table tells what each run took."""


def without_chance(value, name=""):
    """Return a document with four digits a number, no rounding, times or hashes, and the first items of long lists."""
    if MASKED.search(name) and not isinstance(value, list):
        return "..."
    if isinstance(value, dict):
        return {key: without_chance(item, key) for key, item in value.items()}
    if isinstance(value, list):
        more = [f"... {len(value)} items"] if len(value) > LONGEST else []
        return [without_chance(item, name) for item in value[:LONGEST]] + more
    if isinstance(value, float):
        rounding = abs(value) < ROUNDING and not name.startswith("p_")
        return 0.0 if rounding else float(f"{value:.4g}")
    return value


def text_without_chance(text, most_lines=MOST_LINES):
    """Return a text for people without what a second run would print otherwise."""
    lines = [TOOK.sub(r"\1 ...", TIME.sub("...", HASH.sub("...", line))) for line in text.splitlines()]
    lines = [LONG_NUMBER.sub(lambda found: f"{float(found[0]):.4g}", line)[:WIDEST].rstrip() for line in lines]
    return "\n".join(lines[:most_lines] + ([f"... {len(lines)} lines"] if len(lines) > most_lines else []))
