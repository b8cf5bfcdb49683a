"""Commands of campaigns: run, status, states, and the agent that makes one attempt on a node."""

from __future__ import annotations

import contextlib
import csv
import fcntl
import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workprof.cli.console import Home, Json, emit, emit_answer, opened, progress_line, settings_for, table
from workprof.core.errors import NotEnoughData, SettingsError, WorkprofError
from workprof.core.units import number
from workprof.store.outputs import checked_output

if TYPE_CHECKING:
    from workprof.campaign.journal import Journal
    from workprof.campaign.plan import Plan
    from workprof.workbench import Workbench

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Run commands over inputs, nodes and repeats; size them."
)

PlanFile = Annotated[Path, typer.Argument(help="PLAN.toml, see docs/campaigns.md.", show_default=False)]
Folder = Annotated[
    Path | None, typer.Option("--folder", help="What is known of its runs (default: PLAN.campaign beside it).")
]
SAMPLE_S = 0.2
OUT_OF_MEMORY = (137, 139)
SHOWN_CHARACTERS = 200


@app.command()
def run(
    plan_file: PlanFile,
    folder: Folder = None,
    failed: Annotated[bool, typer.Option("--failed", help="Try failed runs again.")] = False,
    only: Annotated[str, typer.Option("--only", help="One run by its name; imports nothing.")] = "",
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Run what is not done yet, then import it and size the commands; after a kill, call it again."""
    from workprof.campaign.running import finish, run_only, run_plan  # noqa: PLC0415  `workprof --version` stays quick
    from workprof.campaign.status import enlist  # noqa: PLC0415

    plan, journal = _campaign(plan_file, folder)
    if only:
        with journal.held(shared=True):
            run_only(plan, journal, only)
        return
    settings = settings_for(home)
    if not settings.readonly:
        enlist(settings.home, plan_file, journal.folder)
    with journal.held():
        run_plan(plan, journal, progress_line(), again=failed)
        finish(plan, journal, lambda jobs, nodes: _load(home, plan, jobs, nodes))
    _status(plan_file, plan, journal, as_json)


@app.command()
def status(plan_file: PlanFile, folder: Folder = None, as_json: Json = False) -> None:
    """Show the state of every run; nothing is started."""
    plan, journal = _campaign(plan_file, folder)
    _status(plan_file, plan, journal, as_json)


@app.command()
def states(plan_file: PlanFile, folder: Folder = None, as_json: Json = False) -> None:
    """Show what the states mean, how many runs are in each, and which ways runs took between them."""
    from workprof.answers.campaign import states_answer  # noqa: PLC0415  `workprof --version` stays quick
    from workprof.campaign.status import status_of  # noqa: PLC0415

    emit_answer(states_answer(status_of(*_campaign(plan_file, folder), plan_file)), as_json)


def airflow_dag(
    plan_file: PlanFile,
    output: Annotated[Path, typer.Option("-o", "--output", help="DAG.py, for Airflow's folder.", show_default=False)],
    as_json: Json = False,
) -> None:
    """Write a campaign as an Airflow DAG: a task per run, and one that imports and sizes."""
    from workprof.campaign.airflow import dag_of  # noqa: PLC0415  `workprof --version` stays quick
    from workprof.campaign.plan import read_plan  # noqa: PLC0415

    checked_output(output, (".py",))
    plan = read_plan(plan_file)
    output.write_text(dag_of(plan, plan_file.resolve()), encoding="utf-8")
    result = {"file": str(output), "dag": f"workprof.{plan.name}", "runs": len(plan.runs)}
    emit(result, as_json, lambda: f"wrote DAG workprof.{plan.name} with {len(plan.runs):,} runs to {output}")


def register(tree: typer.Typer) -> None:
    """Add the group and the command beside it."""
    tree.add_typer(app, name="campaign")
    tree.command("airflow-dag")(airflow_dag)


def _campaign(plan_file: Path, folder: Path | None) -> tuple[Plan, Journal]:
    from workprof.campaign.journal import Journal  # noqa: PLC0415
    from workprof.campaign.plan import read_plan  # noqa: PLC0415

    return read_plan(plan_file), Journal(folder or plan_file.with_suffix(".campaign"))


def _status(plan_file: Path, plan: Plan, journal: Journal, as_json: bool) -> None:
    from workprof.campaign.status import failures, status_of  # noqa: PLC0415

    result = status_of(plan, journal, plan_file)

    def text() -> str:
        counts = ", ".join(f"{count:,} {name}" for name, count in result.states.items())
        lines = [f"{result.campaign}: {result.done:,} of {len(result.runs):,} done ({counts})", *failures(result.runs)]
        runs = [asdict(one) | {"size_gb": number(one.size_gb) if one.size_gb else None} for one in result.runs]
        return "\n".join([*lines, "", table(runs)])

    emit(result, as_json, text)


def _load(home: Path | None, plan: Plan, jobs: Path, nodes: Path | None) -> dict[str, tuple[float | None, str]]:
    """Import what the runs used, and return command -> size of its next run in GB, or why there is none."""
    from workprof.store.reports import IngestOptions  # noqa: PLC0415

    sizes: dict[str, tuple[float | None, str]] = {}
    with opened(home) as workbench:
        report = workbench.ingest([jobs], IngestOptions(format="generic"))
        if nodes is not None:
            workbench.ingest([nodes], IngestOptions())
        for command in dict.fromkeys(run.command for run in plan.runs):
            sizes[command] = _size(workbench, report.dataset, command)
    return sizes


def _size(workbench: Workbench, dataset: str, command: str) -> tuple[float | None, str]:
    from workprof.memory.why import WhySettings  # noqa: PLC0415

    try:
        return workbench.why_size(dataset, WhySettings(task=command)).size_bytes / 1e9, ""
    except (NotEnoughData, SettingsError) as error:
        return None, str(error)


@app.command(hidden=True)
def agent() -> None:
    """Make one attempt, which is described on standard input, or return the result that it left before."""
    spec = json.loads(sys.stdin.read())
    place = Path(spec["folder"]).expanduser() / str(spec["run"])
    place.mkdir(parents=True, exist_ok=True)
    record_path = place / f"{spec['attempt']}.json"
    with (place / f"{spec['attempt']}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # an agent that outlived its campaign is waited for
        if not record_path.exists():
            make = _benchmarks if spec["kind"] == "suite" else _attempt
            result = make(spec, place) | {"started": time.time()}
            aside = record_path.with_suffix(".tmp")
            aside.write_text(json.dumps(result), encoding="utf-8")
            aside.replace(record_path)
        print(record_path.read_text(encoding="utf-8"), flush=True)  # noqa: T201  the protocol


def _attempt(spec: dict[str, Any], place: Path) -> dict[str, Any]:
    file, log = place / f"{spec['attempt']}.csv", place / f"{spec['attempt']}.log"
    file.unlink(missing_ok=True)  # of an agent that was killed
    shell = str(spec["shell"])
    if spec["memory_bytes"]:
        shell = f"ulimit -v {max(1, int(spec['memory_bytes'] / 1024))}; {shell}"
    words = ["record", "--usage", "-o", str(file), "--interval", str(SAMPLE_S), "--workload", str(spec["command"])]
    status = _called([*words, "--run", str(spec["run"]), "--", "sh", "-c", shell], log)
    rows = list(csv.DictReader(file.open(newline="", encoding="utf-8"))) if file.exists() else []
    source = Path(str(spec["path"])) if spec["path"] else None
    size = source.stat().st_size if source and source.is_file() else None
    result: dict[str, Any] = {"exit": status, "usage": rows[-1] if rows else {}, "input_bytes": size, "reason": ""}
    if status or not rows:
        said = log.read_text(encoding="utf-8", errors="replace").splitlines()
        own = f"{spec['command']}, run {spec['run']}, in "  # what `record` says; what the command said tells why
        text = " ".join(" ".join(line for line in said if not line.startswith(own)).split())[-SHOWN_CHARACTERS:]
        result |= {"exit": status or 1, "reason": f"exit {status}" + (f": {text}" if text else "")}
        if status in OUT_OF_MEMORY:
            result["reason"] = f"killed ({result['reason']})"
    return result


def _benchmarks(spec: dict[str, Any], place: Path) -> dict[str, Any]:
    file, log = place / "runs.jsonl", place / "suite.log"
    file.unlink(missing_ok=True)
    status = _called(["nodes", "suite", "--node", str(spec["node"]), "-o", str(file), *spec["options"]], log)
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    text = " ".join(log.read_text(encoding="utf-8", errors="replace").split())[-SHOWN_CHARACTERS:]
    return {"exit": status, "lines": lines, "reason": f"exit {status}: {text}" if status else ""}


def _called(words: list[str], log: Path) -> int:
    """Return the exit status of another command of workprof, run here with its output in a file."""
    from workprof.cli.main import main  # noqa: PLC0415  it imports this module

    with _output_in(log):
        try:
            main(words)
        except SystemExit as end:
            return int(end.code or 0) if not isinstance(end.code, str) else 1
        except WorkprofError as error:
            print(error, file=sys.stderr)  # noqa: T201  into the log
            return 1
    return 0


@contextlib.contextmanager
def _output_in(path: Path) -> Iterator[None]:
    """Send what this process and its children print to a file."""
    sys.stdout.flush()
    sys.stderr.flush()
    saved = os.dup(1), os.dup(2)
    with path.open("ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, handle in zip((1, 2), saved, strict=True):
            os.dup2(handle, number)
            os.close(handle)
