"""The command that measures this machine: the six benchmark tools, a line of JSON per run."""

import json
import signal
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

import typer

from workprof.cli.console import Json, emit, parameter, register as add_command, table, warn
from workprof.cli.questions import WITH, options, settings_of
from workprof.core.errors import SettingsError
from workprof.core.units import format_duration
from workprof.nodes.questions import SUITE
from workprof.nodes.suite import (
    PACKAGES,
    PlannedRun,
    RunLine,
    SuitePlan,
    SuiteSettings,
    missing_tools,
    plan_suite,
    run_suite,
    tools_of,
)
from workprof.store.outputs import append, checked_output

INTERRUPTED = 130
FLEET = "Run the benchmark tools on several nodes: by ssh or Slurm, as Kubernetes Jobs, or here."
ON_DISK = Path("/var/tmp")  # noqa: S108  a folder of our own inside it; unlike /tmp it is seldom in memory


def register(app: typer.Typer) -> None:
    """Add the command to the tree."""
    own = (
        parameter("output", Annotated[Path | None, typer.Option("-o", "--output", help="RUNS.jsonl.")], None),
        parameter(
            "append", Annotated[bool, typer.Option("--append", help="Add to RUNS.jsonl where it exists.")], False
        ),
        parameter("disk", Annotated[Path | None, typer.Option("--disk", help="Folder on the disk to measure.")], None),
        parameter(
            "dry_run",
            Annotated[bool, typer.Option("--dry-run", help="Show the plan and its commands; run nothing.")],
            False,
        ),
        parameter("as_json", Json, False),
    )
    parameters = [one for one in options(SUITE) if one.name != WITH]
    add_command(app, "suite", SUITE.title, _suite, [*parameters, *own])
    file = Annotated[Path, typer.Argument(metavar="PLAN", help="Nodes, server and suite: a TOML file.")]
    rest = [one for one in own if one.name != "disk"]
    add_command(app, "fleet", FLEET, _fleet, [parameter("plan", file), *rest])


def _fleet(plan: Path, output: Path | None, *, append: bool, dry_run: bool, as_json: bool) -> None:
    from workprof.nodes.fleet import Outcome, planned, read_fleet, run_fleet, schedule  # noqa: PLC0415  quick `--help`

    fleet, outcome, tally = read_fleet(plan), Outcome(), _Tally()
    rounds = schedule(fleet)
    result: dict[str, Any] = {"file": str(output) if output else None, "rounds": len(rounds)}
    if dry_run:
        rows = planned(fleet, rounds)
        emit(result | {"plan": rows}, as_json, lambda: _rounds_text(rows))
        return
    file, n_planned = _checked_output(output, append), sum(map(len, rounds))
    _write(run_fleet(fleet, outcome, warn), tally, file, n_planned)
    result |= {"planned": n_planned, "rows": tally.rows, "failed": tally.failed, "interrupted": tally.interrupted}
    result |= {"left_out": outcome.left_out, "drained": outcome.drained}
    emit(result, as_json, lambda: _text(result))
    if tally.interrupted:
        raise typer.Exit(INTERRUPTED)
    if outcome.left_out:
        raise typer.Exit(1)


def _rounds_text(rows: list[dict[str, Any]]) -> str:
    shown = [{name: one[name] for name in ("round", "node", "benchmark", "command")} for one in rows]
    jobs = [one["job"] for one in rows if "job" in one][:1]
    return "\n".join([table(shown), *(f"\nThe first Job:\n\n{one}" for one in jobs)])


def _suite(*, output: Path | None, append: bool, disk: Path | None, dry_run: bool, as_json: bool, **given: Any) -> None:
    settings = settings_of(SUITE, given)
    plan = plan_suite(settings)
    if dry_run:
        emit(plan_json(plan, output), as_json, lambda: _plan_text(plan))
        return
    _measure(plan, settings, _Target(_checked_output(output, append), disk or _default_disk()), as_json)


@dataclass(frozen=True)
class _Target:
    """The file of results, and a folder on the disk that is measured."""

    file: Path
    disk: Path


@dataclass
class _Tally:
    """What has been written so far."""

    rows: int = 0
    failed: int = 0
    stressed: int = 0
    interrupted: bool = False

    def count(self, line: RunLine) -> None:
        self.rows += 1
        self.failed += line.rc != 0
        self.stressed += line.stressed is True


def plan_json(plan: SuitePlan, output: Path | None) -> dict[str, Any]:
    """Return the JSON document of a plan that is not run."""
    return {
        "file": str(output) if output else None,
        "rows": 0,
        "seconds": 0.0,
        "plan": [_planned(run) for run in plan.runs],
        "within_budget": plan.within_budget,
        "expected_seconds": plan.expected_s,
        "missing": _missing(plan),
    }


def _planned(run: PlannedRun) -> dict[str, Any]:
    return {
        "benchmark": run.benchmark,
        "argv": list(run.argv),
        "server": list(run.server),
        "stress": list(run.stress),
        "expected_seconds": run.expected_s,
    }


def _missing(plan: SuitePlan) -> list[dict[str, str]]:
    return [{"tool": tool, "package": PACKAGES[tool]} for tool in missing_tools(tools_of(plan.runs))]


def _plan_text(plan: SuitePlan) -> str:
    rows: list[dict[str, object]] = [
        {
            "benchmark": run.benchmark,
            "stressed": "yes" if run.stress else "",
            "seconds": f"{run.expected_s:.1f}",
            "command": " ".join(run.argv),
        }
        for run in plan.runs
    ]
    lacking = [f"not installed: {one['tool']} (Debian package {one['package']})" for one in _missing(plan)]
    expected = (
        f"{plan.within_budget} of {len(plan.runs)} runs within the budget, {format_duration(plan.expected_s)} expected"
    )
    return "\n".join([table(rows), "", expected, *lacking])


def _checked_output(output: Path | None, append: bool) -> Path:
    """Return the file to write.

    Raises SettingsError when none is given, it has no folder, or it holds something already.
    """
    if output is None:
        raise SettingsError("no file is given; add -o RUNS.jsonl, or --dry-run to see the plan")
    checked_output(output)
    if not append and output.exists() and output.stat().st_size:
        raise SettingsError(f"-o {output} exists; give another name, or --append to add to it")
    return output


def _default_disk() -> Path:
    return ON_DISK if ON_DISK.is_dir() else Path(tempfile.gettempdir())


def _measure(plan: SuitePlan, settings: SuiteSettings, target: _Target, as_json: bool) -> None:
    if not plan.within_budget:
        raise SettingsError(
            f"budget {settings.budget_s:g} s fits no run; the first takes {plan.runs[0].expected_s:g} s"
        )
    began = time.perf_counter()
    tally = _written(plan, settings, target)
    result = {
        "file": str(target.file),
        "rows": tally.rows,
        "seconds": time.perf_counter() - began,
        "node": settings.name,
        "planned": len(plan.runs),
        "failed": tally.failed,
        "stressed": tally.stressed,
        "interrupted": tally.interrupted,
    }
    emit(result, as_json, lambda: _text(result))
    if tally.interrupted:
        raise typer.Exit(INTERRUPTED)


def _written(plan: SuitePlan, settings: SuiteSettings, target: _Target) -> _Tally:
    """Write each run as it ends and return what was written; an interruption keeps what is there."""
    tally = _Tally()
    _write(run_suite(plan, settings, target.disk), tally, target.file, plan.within_budget)
    return tally


def _write(lines: Iterator[RunLine], tally: _Tally, file: Path, n_planned: int) -> None:
    """Write and count each run as it ends; an interruption keeps what is there."""
    for how in (signal.SIGINT, signal.SIGTERM):  # a shell's background job starts with SIGINT ignored
        signal.signal(how, _interrupt_once)
    try:
        for line in lines:
            text = json.dumps(line.to_json(), allow_nan=False) + "\n"
            append(file, text, note="the runs before this one are in it")
            tally.count(line)
            _report_run(line, tally, n_planned)
    except KeyboardInterrupt:
        tally.interrupted = True


def _interrupt_once(number: int, _: FrameType | None) -> None:
    """Interrupt; a second signal is ignored, so that the first one's tidying is not cut short."""
    for how in (signal.SIGINT, signal.SIGTERM):
        signal.signal(how, signal.SIG_IGN)
    raise KeyboardInterrupt


def _report_run(line: RunLine, tally: _Tally, n_planned: int) -> None:
    how = "" if line.rc == 0 else f", status {line.rc}: {line.stderr.strip()[:100]}"
    beside = " under stress" if line.stressed else ""
    warn(f"{tally.rows}/{n_planned} {line.benchmark}{beside} {line.finished - line.started:.1f} s{how}")


def _text(result: dict[str, Any]) -> str:
    stopped = "stopped: " if result["interrupted"] else ""
    whose = f" of {result['node']}" if "node" in result else ""
    told = (
        f"{stopped}{result['rows']} of {result['planned']} runs{whose} in {result['file']}, "
        f"{result['failed']} failed; next: workprof ingest {result['file']}"
    )
    return "\n".join([told, *(f"{name}: {why}" for name, why in result.get("left_out", {}).items())])
