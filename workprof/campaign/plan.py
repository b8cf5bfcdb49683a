"""What a campaign runs: a TOML file of commands, inputs, repeats and nodes becomes a list of runs."""

import itertools
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workprof.core.errors import SettingsError
from workprof.core.hosts import KUBERNETES, LOCAL, SLURM, SSH, Host, host_fields, read_toml, table_of
from workprof.core.records import digest
from workprof.core.units import parse_size

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")
MOST_RUNS = 100_000
KNOWN = ("name", "repeats", "at_once", "retries", "lift", "memory", "inputs", "commands", "nodes", "suite")
OF_NODE = ("name", "executor", "host", "options", "folder", "python", "image")
NEEDS = dict.fromkeys((SSH, SLURM, KUBERNETES), "folder")


@dataclass(frozen=True)
class Node(Host):
    """Where runs are executed; `folder` holds what ran there and its results, shared on Slurm and Kubernetes."""

    python: str = "python3"  # on the node, with workprof


@dataclass(frozen=True)
class Run:
    """One run: a command on an input and a node, for the nth time; these and the command's text make its `name`."""

    name: str
    command: str
    shell: str
    input: str
    path: str
    node: Node
    repeat: int


@dataclass(frozen=True)
class Plan:
    """A campaign."""

    name: str
    # in order: repeat by repeat, so that a campaign that is stopped early has something of everything
    runs: tuple[Run, ...]
    nodes: tuple[Node, ...]
    at_once: int = 1  # runs at a time, over all nodes
    retries: int = 0  # further attempts of a run that fails, each with `lift` times the memory of the one before
    lift: float = 2.0
    memory_bytes: float = 0.0  # limit of a first attempt; 0 = none
    suite_every: int = 0  # runs between two rounds of benchmarks; 0 = none
    suite_options: tuple[str, ...] = field(default_factory=tuple)  # of `workprof nodes suite`


def read_plan(path: Path) -> Plan:
    """The plan of a TOML file; raises SettingsError, which says which key has which value, and what it may be."""
    return plan_of(read_toml(path), path)


def plan_of(given: Mapping[str, Any], path: Path) -> Plan:
    """The plan of a document; `path` names its place, from which inputs are found."""
    table_of(given, "", path, KNOWN)
    suite = table_of(given.get("suite", {}), "suite", path, ("every", "options"))
    nodes = tuple(
        Node(**host_fields(one, f"nodes {at + 1}", path, OF_NODE, NEEDS))
        for at, one in enumerate(given.get("nodes", [LOCAL]))
    )
    commands, inputs = (table_of(given.get(name, {}), name, path) for name in ("commands", "inputs"))
    inputs = inputs or {"": ""}
    if not commands:
        raise SettingsError(f"{path}: [commands] is empty; write NAME = 'COMMAND {{input}}'")
    repeats = _whole(given, "repeats", 1, 1, path)
    for name in (*commands, *filter(None, inputs), *(node.name for node in nodes)):
        _checked_name(name, path)
    if len({node.name for node in nodes}) < len(nodes):
        raise SettingsError(f"{path}: two nodes have the same name; give each its own")
    if len(commands) * len(inputs) * len(nodes) * repeats > MOST_RUNS:
        raise SettingsError(f"{path}: that is more than {MOST_RUNS:,} runs; lower repeats, or split the plan")
    lift = given.get("lift", 2.0)
    if not isinstance(lift, int | float) or not 1 <= lift <= 16:
        raise SettingsError(f"{path}: lift is {lift!r}; give 1 to 16")
    runs = tuple(
        _run((command, str(shell)), (name, str(place)), node, repeat, path)
        for repeat, (command, shell), (name, place), node in itertools.product(
            range(1, repeats + 1), commands.items(), inputs.items(), nodes
        )
    )
    return Plan(
        name=_checked_name(str(given.get("name", path.stem)), path),
        runs=runs,
        nodes=nodes,
        at_once=_whole(given, "at_once", 1, 1, path),
        retries=_whole(given, "retries", 0, 0, path),
        lift=float(lift),
        memory_bytes=parse_size(str(given["memory"]), bare="GB") if given.get("memory") else 0.0,
        suite_every=_whole(suite, "every", 0, 0, path),
        suite_options=tuple(shlex.split(str(suite.get("options", "")))),
    )


def _run(of: tuple[str, str], on: tuple[str, str], node: Node, repeat: int, path: Path) -> Run:
    (command, shell), (name, place) = of, on
    result = str(path.parent.resolve() / place) if place and node.executor == "local" else place
    text = shell.replace("{input}", shlex.quote(result)) if place else shell
    if "{input}" in text:
        raise SettingsError(f"{path}: command {command!r} names {{input}}, but [inputs] is empty")
    short = digest(f"{shell}\n{place}\n{node.executor}\n{node.host}", size=4)
    full = ".".join(filter(None, (command, name, node.name, str(repeat), short)))
    return Run(full, command, text, name, result, node, repeat)


def _whole(given: Mapping[str, Any], key: str, default: int, least: int, path: Path) -> int:
    value = given.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= MOST_RUNS:
        raise SettingsError(f"{path}: {key} is {value!r}; give a whole number from {least}")
    return value


def _checked_name(name: str, path: Path) -> str:
    if not NAME.fullmatch(name):
        raise SettingsError(f"{path}: {name!r} is no name; use letters, digits, and _ . - (63 at most)")
    return name
