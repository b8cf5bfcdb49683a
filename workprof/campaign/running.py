"""Runs a plan: at most N at once, each through an agent on its node that does no attempt twice."""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from workprof.campaign.journal import Journal
from workprof.campaign.plan import Node, Plan, Run
from workprof.core.campaigns import DONE
from workprof.core.errors import SettingsError, WorkprofError
from workprof.core.hosts import LOCAL
from workprof.core.progress import Progress, silent

AGENT = ("-m", "workprof", "campaign", "agent")
SHOWN_CHARACTERS = 300


def run_only(plan: Plan, journal: Journal, name: str) -> None:
    """Run one run of a plan, unless it is done; several processes may each run another one.

    Raises:
        SettingsError: when the plan has no such run.
        WorkprofError: when it failed; says why.
    """
    result = next((run for run in plan.runs if run.name == name), None)
    if result is None:
        raise SettingsError(f"--only {name}: there is no such run; `workprof campaign status` lists them")
    if name not in journal.states:
        journal.note(name, "REGISTERED")
    if journal.states[name].state not in DONE:
        _one(plan, result, journal)
    if journal.states[name].state == "FAILED":
        raise WorkprofError(f"{name} failed: {journal.states[name].reason}")


def run_plan(plan: Plan, journal: Journal, progress: Progress = silent, *, again: bool = False) -> None:
    """Run what is not done yet, `again` also what failed; the caller holds the journal, and `progress` may cancel."""
    for run in plan.runs:
        if run.name not in journal.states:
            journal.note(run.name, "REGISTERED")
    ended = (*DONE,) if again else (*DONE, "FAILED")
    width = plan.suite_every or len(plan.runs)
    finished = sum(journal.states[run.name].state in ended for run in plan.runs)
    for number, first in enumerate(range(0, len(plan.runs), width)):
        open_runs = [run for run in plan.runs[first : first + width] if journal.states[run.name].state not in ended]
        if not open_runs:
            continue
        if plan.suite_every:
            for node in plan.nodes:
                _suite(plan, node, number, journal)
        with ThreadPoolExecutor(plan.at_once) as pool:
            waiting = [pool.submit(_one, plan, run, journal) for run in open_runs]
            try:
                for done in as_completed(waiting):
                    done.result()
                    finished += 1
                    progress(finished / len(plan.runs), f"{finished:,} of {len(plan.runs):,} runs")
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise


def _suite(plan: Plan, node: Node, number: int, journal: Journal) -> None:
    name = f"suite.{node.name}.{number}"
    if journal.states.get(name) and journal.states[name].state in (*DONE, "FAILED"):
        return
    journal.note(name, "RUNNING", attempt=1)
    spec = {"kind": "suite", "run": name, "attempt": 1, "node": node.name, "options": list(plan.suite_options)}
    result = run_agent(node, spec, journal.folder, 0.0)
    journal.write_result(name, result)
    if result["exit"]:
        journal.note(name, "FAILED", attempt=1, reason=str(result["reason"]))
    else:
        journal.note(name, "PROFILED", attempt=1)


def _one(plan: Plan, run: Run, journal: Journal) -> None:
    before = journal.states[run.name]
    again = before.state == "FAILED"
    first = before.attempt + 1 if again else max(1, before.attempt)
    last = first + plan.retries if again else max(first, plan.retries + 1)  # killed while it was tried again: once more
    journal.note(run.name, "DEPLOYED", attempt=first)
    reason = ""
    for attempt in range(first, last + 1):
        memory = plan.memory_bytes * plan.lift ** (attempt - 1)
        journal.note(run.name, "RUNNING", attempt=attempt)
        spec = {
            "kind": "run",
            "run": run.name,
            "attempt": attempt,
            "command": run.command,
            "shell": run.shell,
            "input": run.input,
            "path": run.path,
            "node": run.node.name,
            "memory_bytes": memory,
        }
        result = run_agent(run.node, spec, journal.folder, memory)
        journal.write_result(run.name, result)
        if result["exit"] == 0:
            journal.note(run.name, "PROFILED", attempt=attempt)
            return
        reason = str(result["reason"])
    journal.note(run.name, "FAILED", attempt=attempt, reason=reason)


def run_agent(node: Node, spec: dict[str, Any], folder: Path, memory_bytes: float) -> dict[str, Any]:
    """The result of an attempt; the agent of the node makes it, or has it already.

    The agent has a session of its own: when this process is killed it goes on, and the next campaign finds its result.
    """
    spec = spec | {"folder": node.folder or str((folder / "runs").resolve())}
    words = [sys.executable if node.executor == LOCAL else node.python, *AGENT]
    command = node.argv(words, str(spec["run"]), memory_bytes)
    failed = spec | {"exit": 1}
    try:
        done = subprocess.run(
            command, input=json.dumps(spec), capture_output=True, text=True, check=False, start_new_session=True
        )
    except OSError as error:
        return failed | {"reason": f"{command[0]} cannot be started ({error})"}
    lines = done.stdout.splitlines()
    try:
        result: dict[str, Any] = json.loads(lines[-1])
        return spec | result
    except (ValueError, IndexError, TypeError):
        text = " ".join(done.stderr.split())[-SHOWN_CHARACTERS:]
        return failed | {"reason": f"node {node.name}: no result (exit {done.returncode}; {text or 'it said nothing'})"}


def finish(
    plan: Plan, journal: Journal, load: Callable[[Path, Path | None], dict[str, tuple[float | None, str]]]
) -> None:
    """Import what the runs used and note the size of each command; nothing happens while a run is open.

    `load` imports the job table, and the benchmark runs where there are any; it returns command -> size in GB, or why
    there is none.
    """
    states = [journal.states[run.name].state for run in plan.runs]
    if set(states) - {*DONE, "FAILED"} or not set(states) & set(DONE):
        return
    if "PROFILED" not in states:
        return
    sizes = load(write_jobs(plan, journal), write_benchmarks(plan, journal))
    for run in plan.runs:
        if journal.states[run.name].state == "PROFILED":
            size, reason = sizes.get(run.command, (None, "it has no finished run"))
            attempt = journal.states[run.name].attempt
            journal.note(run.name, "SIZED", attempt=attempt, size_gb=size, reason=reason)


def write_jobs(plan: Plan, journal: Journal) -> Path:
    """Write every attempt as a row of a job table, `NAME.csv` in the campaign's folder, and return its path."""
    import csv  # noqa: PLC0415

    known = {run.name for run in plan.runs}
    rows: list[dict[str, Any]] = []
    for result in journal.results():
        if result["run"] in known and result.get("usage"):
            limit = float(result["memory_bytes"])
            rows.append(
                result["usage"]
                | {"job_name": result["run"], "task_name": result["command"], "workload": plan.name}
                | {"run_name": result["run"], "node": result["node"], "input": result["input"]}
                | {"input_bytes": result.get("input_bytes") or "", "attempt": result["attempt"]}
                | ({"requested_memory_bytes": limit} if limit else {})
            )
    path = journal.folder / f"{plan.name}.csv"
    names: Sequence[str] = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)
    if not rows:
        raise WorkprofError(f"{journal.folder}: no run left a row of its use; see `workprof campaign status`")
    return path


def write_benchmarks(plan: Plan, journal: Journal) -> Path | None:
    """Write the benchmark runs of the nodes, `NAME-nodes.jsonl`, and return its path; None where there are none."""
    lines = [line for result in journal.results() for line in result.get("lines", [])]
    if not lines:
        return None
    path = journal.folder / f"{plan.name}-nodes.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path
