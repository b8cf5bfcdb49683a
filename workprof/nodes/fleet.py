"""The benchmark suite on several nodes: by ssh or Slurm, as Kubernetes Jobs, or here; who runs what in which round.

In a round every node runs one benchmark, and at most one of them a network benchmark, against the server node. Orders
are drawn for each node, so that no benchmark meets the same hour everywhere. A node that does not answer, or is not
drained, is left out and told; the others go on. On nodes run the suite's own commands, and nothing else but what the
plan gives: how a node is reached, and what tells that it is drained.

Source: the schedule of Perona (Scheinert et al. 2022). Ours has a limit for every command, which ends on the node, too.
"""

import contextlib
import json
import math
import shlex
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from workprof.core.errors import SettingsError, WorkprofError
from workprof.core.hosts import KUBERNETES, SSH, Host, host_fields, read_toml, table_of
from workprof.nodes.metrics import ASPECT_OF
from workprof.nodes.processes import TIMED_OUT, ToolResult, background, run_tool
from workprof.nodes.suite import (
    PATIENCE_FACTOR,
    PATIENCE_S,
    SERVER_HOST,
    PlannedRun,
    RunLine,
    SuiteSettings,
    plan_suite,
)

NO_ANSWER = 255
"""Status of ssh itself, and of a Job that cannot be made."""
FACTS_S, DRAINED_S, LISTEN_S, JOB_S = 20.0, 30.0, 20.0, 120.0
"""Longest that a node may take to tell what it is, to be looked at, to listen, and to start a Job."""
PORT = 18515
SECONDS = ("pause_s", "patience_s")
OF_SUITE = ("seconds_per_benchmark", "repeat", "seed", "threads", "benchmarks", "note")
JOB = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: {name}
  labels: {labels}
spec:
  backoffLimit: 0
  activeDeadlineSeconds: {seconds}
  ttlSecondsAfterFinished: 600
  template:
    metadata:
      labels: {labels}
    spec:
      restartPolicy: Never
      hostNetwork: true
      nodeSelector:
        kubernetes.io/hostname: {node}
      tolerations:
        - key: node.kubernetes.io/unschedulable
          operator: Exists
      containers:
        - name: benchmark
          image: {image}
          command: {command}
          workingDir: {folder}
"""
"""What a plan may replace by a file of its own; every word in braces is put in as JSON, which is YAML."""
RUN_JOB = (
    'kubectl $3 create -f "$1" >&2 || exit 255; trap \'kubectl $3 delete job "$2" --wait=false >&2\' EXIT; '
    'kubectl $3 wait --for=condition=complete --timeout="$4s" "job/$2" >&2 || rc=124; '
    'kubectl $3 logs "job/$2" || exit 255; exit ${rc:-0}'
)
STATUS = "workprof-status"


@dataclass(frozen=True)
class FleetNode(Host):
    """A node that is measured; `folder` lies on the disk that is, an image has the tools in it."""

    folder: str = "/var/tmp"  # noqa: S108
    template: str = ""  # text of a Job, '' = `JOB`
    address: str = ""  # of the server, as the nodes reach it
    drained: str = ""  # command here that tells whether nothing else runs on the node; '' = not looked at
    drained_when: str = ""  # what it then prints

    def bounded(self, command: str, seconds: float, folder: Path, number: str) -> tuple[str, ...]:
        """What runs a shell command on the node, ended there after so many seconds; a Job is written to the folder."""
        if self.executor != KUBERNETES:
            limited = f"cd {shlex.quote(self.folder)} && timeout -k 5 {seconds:.0f} sh -c {shlex.quote(command)}"
            return tuple(self.argv(("sh", "-c", limited), f"workprof-{number}"))
        name = f"workprof-{number}"
        file = folder / f"{name}.yaml"
        file.write_text(self.job(name, command, seconds), encoding="utf-8")
        return ("sh", "-c", RUN_JOB, "sh", str(file), name, shlex.join(self.options), f"{seconds + JOB_S:.0f}")

    def job(self, name: str, command: str, seconds: float) -> str:
        """The manifest of a Job; its log ends with the status of the command."""
        wrapped = f"timeout -k 5 {seconds:.0f} sh -c {shlex.quote(command)}; echo {STATUS} $?"
        values = {
            "name": name,
            "labels": {"app": "workprof"},
            "seconds": round(seconds + JOB_S),
            "node": self.host or self.name,
            "image": self.image,
            "command": ["sh", "-c", wrapped],
            "folder": self.folder,
        }
        text = self.template or JOB
        for key, value in values.items():
            text = text.replace(f"{{{key}}}", json.dumps(value))
        return text


@dataclass(frozen=True)
class Fleet:
    """What is measured where."""

    nodes: tuple[FleetNode, ...]
    server: FleetNode | None
    settings: SuiteSettings
    port: int = PORT
    pause_s: float = 0.0  # between rounds; published: 60
    patience_s: float = PATIENCE_S  # that a command may take beyond four times what is expected

    def limit_s(self, run: PlannedRun) -> float:
        """After which a run is ended on its node."""
        return PATIENCE_FACTOR * run.expected_s + self.patience_s


@dataclass(frozen=True)
class FleetRun:
    """A benchmark on a node in a round."""

    round: int
    node: FleetNode
    run: PlannedRun


@dataclass
class Outcome:
    """What became of the nodes; filled while the suite runs."""

    left_out: dict[str, str] = field(default_factory=dict)  # node -> why it was not, or no longer, measured
    drained: dict[str, bool | None] = field(default_factory=dict)  # None = not looked at
    facts: dict[str, dict[str, Any]] = field(default_factory=dict)


def read_fleet(path: Path) -> Fleet:
    """The plan of a TOML file.

    Raises SettingsError for what is missing or not known.
    """
    told = table_of(read_toml(path), "", path, ("nodes", "server", "suite", "port", *SECONDS))
    suite = table_of(told.get("suite", {}), "suite", path, OF_SUITE)
    if "benchmarks" in suite:
        suite = suite | {"benchmarks": tuple(suite["benchmarks"])}
    nodes = [_node(path, f"nodes {at + 1}", one) for at, one in enumerate(told.get("nodes", ()))]
    server = (
        _node(path, "server", {"name": "server"} | table_of(told["server"], "server", path))
        if "server" in told
        else None
    )
    names = [one.name for one in nodes]
    if not nodes or len(set(names)) < len(names):
        raise SettingsError(f"{path}: give [[nodes]], each with a name of its own")
    port, seconds = told.get("port", PORT), {name: told[name] for name in SECONDS if name in told}
    if not isinstance(port, int) or not 1 <= port <= 65535:
        raise SettingsError(f"{path}: port is {port!r}; give 1 to 65535")
    for name, value in seconds.items():
        if not isinstance(value, (int, float)) or not 0 <= value < math.inf:
            raise SettingsError(f"{path}: {name} is {value!r}; give seconds from 0")
    fleet = Fleet(tuple(nodes), server, SuiteSettings(**suite), port, **seconds)
    needs = [name for name in fleet.settings.benchmarks if ASPECT_OF[name] == "network"]
    if needs and (server is None or not server.address):
        raise SettingsError(f"{path}: {needs[0]} needs a [server] with the address that nodes reach; or name others")
    return fleet


def _node(path: Path, what: str, told: Any) -> FleetNode:
    needs = {SSH: "host", KUBERNETES: "image"}
    node = FleetNode(**host_fields(told, what, path, tuple(FleetNode.__dataclass_fields__), needs))
    if node.template:
        file = path.parent / node.template
        try:
            node = replace(node, template=file.read_text(encoding="utf-8"))
        except (OSError, UnicodeError) as error:
            raise SettingsError(f"{path}: {what}: template cannot be read: {error}") from None
    return node


def schedule(fleet: Fleet) -> tuple[tuple[FleetRun, ...], ...]:
    """The rounds: each node's runs in an order of its own, at most one network benchmark in a round.

    The node with most network runs to come may use the network in a round, and has to where the rounds would not do
    otherwise. Each takes its next run that it may.
    """
    left: dict[str, list[PlannedRun]] = {}
    for place, node in enumerate(fleet.nodes):
        seed = int(np.random.default_rng([fleet.settings.seed, place]).integers(2**31))
        left[node.name] = list(plan_suite(replace(fleet.settings, node=node.name, seed=seed)).runs)
    rounds: list[tuple[FleetRun, ...]] = []
    while any(left.values()):
        wanted = {name: sum(_on_network(run) for run in runs) for name, runs in left.items()}
        owner = max(wanted, key=lambda name: (wanted[name], -len(left[name])))
        must = sum(wanted.values()) >= max(map(len, left.values()))
        own: list[FleetRun] = []
        for node in fleet.nodes:
            runs = left[node.name]
            may = node.name == owner
            fits = [run for run in runs if _on_network(run) <= may and (_on_network(run) or not (may and must))]
            if fits:
                runs.remove(fits[0])
                own.append(FleetRun(len(rounds), node, fits[0]))
        rounds.append(tuple(own))
    return tuple(rounds)


def _on_network(run: PlannedRun) -> bool:
    return ASPECT_OF[run.benchmark] == "network"


def run_fleet(fleet: Fleet, outcome: Outcome, say: Callable[[str], None]) -> Iterator[RunLine]:
    """A line per run as it ends; what becomes of the nodes is written to `outcome` and said."""
    with tempfile.TemporaryDirectory(prefix="workprof-fleet-") as made, ThreadPoolExecutor(len(fleet.nodes)) as pool:
        folder = Path(made)
        for node in pool.map(lambda one: _looked_at(one, fleet, folder, outcome), fleet.nodes):
            state = {None: "not looked at whether it is drained", True: "drained", False: "not drained"}
            say(f"{node.name}: {outcome.left_out.get(node.name) or state[outcome.drained[node.name]]}")
        for own in schedule(fleet):
            asked = [one for one in own if one.node.name not in outcome.left_out]
            if own[0].round and asked:
                time.sleep(fleet.pause_s)
            waited = {pool.submit(_measured, one, fleet, folder, outcome): one for one in asked}
            for done in as_completed(waited):
                line, node = done.result(), waited[done].node
                if line.rc in (NO_ANSWER, TIMED_OUT):
                    why = "does not answer" if line.rc == NO_ANSWER else "did not answer in time"
                    outcome.left_out[node.name] = f"{why}: {' '.join(line.stderr.split())[:200]}"
                    say(f"{node.name}: {outcome.left_out[node.name]}")
                yield line


def _looked_at(node: FleetNode, fleet: Fleet, folder: Path, outcome: Outcome) -> FleetNode:
    """Ask a node what it is, and whether it is drained; what is wrong is written to `outcome`."""
    outcome.drained[node.name] = None
    if node.drained:
        found = run_tool(("sh", "-c", node.drained), folder, DRAINED_S)
        outcome.drained[node.name] = found.rc == 0 and found.stdout.strip() == node.drained_when
        if not outcome.drained[node.name]:
            printed = " ".join((found.stdout or found.stderr).split())[:100]
            outcome.left_out[node.name] = f"not drained: status {found.rc}, {printed!r} printed"
            return node
    tools = sorted({run.argv[0] for run in plan_suite(fleet.settings).runs})
    told = "uname -sr; nproc; grep -m1 'model name' /proc/cpuinfo || echo; "
    command = told + "; ".join(f"command -v {tool} >/dev/null || echo lacks {tool}" for tool in tools)
    found = on_node(node, command, FACTS_S, folder, f"facts-{fleet.nodes.index(node)}")
    lines = found.stdout.splitlines()
    lacking = [line.removeprefix("lacks ") for line in lines if line.startswith("lacks ")]
    if found.rc or len(lines) < 3 or not lines[1].isdecimal():
        outcome.left_out[node.name] = f"does not answer: status {found.rc}, {' '.join(found.stderr.split())[:200]}"
    elif lacking:
        outcome.left_out[node.name] = f"lacks {', '.join(lacking)}"
    else:
        model = lines[2].partition(":")[2].strip()
        outcome.facts[node.name] = {"kernel": lines[0], "cores": int(lines[1]), "cpu_model": model}
    return node


def on_node(node: FleetNode, command: str, seconds: float, folder: Path, number: str) -> ToolResult:
    """What a command printed on a node; status 124 when it took longer, 255 when the node does not answer."""
    patience_s = seconds + PATIENCE_S + (JOB_S if node.executor == KUBERNETES else 0)
    found = run_tool(node.bounded(command, seconds, folder, number), folder, patience_s)
    if node.executor != KUBERNETES:
        return found
    printed, mark, status = found.stdout.rpartition(f"{STATUS} ")
    return replace(found, stdout=printed, rc=int(status)) if mark and status.strip().isdecimal() else found


def _measured(one: FleetRun, fleet: Fleet, folder: Path, outcome: Outcome) -> RunLine:
    """A run on its node, its server up before it."""
    node, run, number = one.node, one.run, f"{one.round}-{fleet.nodes.index(one.node)}"
    limit_s, begun = fleet.limit_s(run), time.time()
    words = [str(fleet.port) if word == "PORT" else word for word in run.argv]
    with contextlib.ExitStack() as beside:
        try:
            if run.server and fleet.server:
                words = [fleet.server.address if word == SERVER_HOST else word for word in words]
                _serve(beside, fleet.server, run, fleet, (folder, number, limit_s))
        except (WorkprofError, OSError) as error:
            found = ToolResult(begun, time.time(), 1, "", str(error))
        else:
            found = on_node(node, shlex.join(words) + _ends_server(words), limit_s, folder, number)
    provenance = outcome.facts[node.name] | {
        "threads": fleet.settings.threads,
        "seconds_per_benchmark": fleet.settings.seconds_per_benchmark,
        "round": one.round,
        "drained": outcome.drained[node.name],
    }
    provenance |= {"server": fleet.server.name} if run.server and fleet.server else {}
    provenance |= {"note": fleet.settings.note} if fleet.settings.note else {}
    times = found.started, found.finished
    return RunLine(
        node.name, run.benchmark, tuple(words), *times, False, found.rc, found.stdout, found.stderr, {}, provenance
    )


def _ends_server(words: Sequence[str]) -> str:
    """What ends the server of a tool that does not end by itself, after the tool."""
    if words[0] != "qperf":
        return ""
    return f"; rc=$?; {shlex.join([*words[: words.index('-lp') + 2], 'quit'])} >/dev/null 2>&1; exit $rc"


def _serve(
    beside: contextlib.ExitStack, server: FleetNode, run: PlannedRun, fleet: Fleet, how: tuple[Path, str, float]
) -> None:
    """Start what a network benchmark talks to, on the server node, and wait until it listens."""
    folder, number, limit_s = how
    bound = {"PORT": str(fleet.port), SERVER_HOST: "0.0.0.0"}  # noqa: S104  nodes reach it under its address
    command = shlex.join(bound.get(word, word) for word in run.server)
    process = beside.enter_context(background(server.bounded(command, limit_s, folder, f"server-{number}"), folder))
    sought = f":{fleet.port:04X} "
    deadline = time.monotonic() + LISTEN_S + (JOB_S if server.executor == KUBERNETES else 0)
    while time.monotonic() < deadline:
        seen = on_node(server, "cat /proc/net/tcp /proc/net/tcp6", FACTS_S, folder, f"listens-{number}").stdout
        if any(sought in line and " 0A " in line for line in seen.splitlines()):
            return
        if process.poll() is not None:
            raise WorkprofError(f"{server.name}: {run.server[0]} ended with status {process.returncode} at once")
        time.sleep(0.2)
    raise WorkprofError(f"{server.name}: {run.server[0]} does not listen on port {fleet.port}; is it taken?")


def planned(fleet: Fleet, rounds: Sequence[Sequence[FleetRun]]) -> list[dict[str, Any]]:
    """What would be run in which round, by which command; a Job with its manifest."""
    rows = []
    for one in (run for own in rounds for run in own):
        words = [fleet.server.address if word == SERVER_HOST and fleet.server else word for word in one.run.argv]
        command = shlex.join(str(fleet.port) if word == "PORT" else word for word in words)
        seconds = fleet.limit_s(one.run)
        row = {"round": one.round, "node": one.node.name, "benchmark": one.run.benchmark, "command": command}
        if one.node.executor == KUBERNETES:
            row["job"] = one.node.job(f"workprof-{one.round}-{fleet.nodes.index(one.node)}", command, seconds)
        else:
            row["argv"] = list(one.node.bounded(command, seconds, Path(), ""))
        rows.append(row | {"expected_seconds": one.run.expected_s})
    return rows
