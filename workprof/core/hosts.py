"""Hosts of a plan, and the words that run a command on one: here, by ssh, by Slurm, or in a pod."""

import re
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workprof.core.errors import SettingsError

LOCAL, SSH, SLURM, KUBERNETES = "local", "ssh", "slurm", "kubernetes"
EXECUTORS: dict[str, tuple[str, ...]] = {
    LOCAL: (),
    SSH: ("ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "{host}"),
    SLURM: ("srun", "--quiet", "--nodelist={host}", "--mem={memory_mib}M", "--job-name={run}"),
    KUBERNETES: (
        *("kubectl", "run", "{run_name}", "--rm", "--stdin", "--quiet", "--restart=Never", "--image={image}"),
        '--overrides={{"spec":{{"nodeName":"{host}"}}}}',
        "--",
    ),
}
"""Executor -> what stands before a command; a host's own options follow the first word, where ssh takes them first."""


@dataclass(frozen=True)
class Host:
    """A host and how it is reached."""

    name: str
    executor: str = LOCAL  # one of `EXECUTORS`
    host: str = ""  # of ssh, as 'me@n1'; else the node's name for Slurm or Kubernetes; '' = name
    options: tuple[str, ...] = ()  # further words of ssh, srun or kubectl
    folder: str = ""  # on the host
    image: str = ""  # of Kubernetes

    def argv(self, words: Sequence[str], run: str, memory_bytes: float = 0.0) -> list[str]:
        """What runs words there; `run` names the job or pod, a limit of 0 bytes is none."""
        given = {
            "host": self.host or self.name,
            "run": run,
            "run_name": re.sub(r"[^a-z0-9-]+", "-", run.lower()).strip("-")[-60:].strip("-"),
            "memory_mib": max(1, int(memory_bytes / 2**20)),
            "image": self.image,
        }
        before = [one.format(**given) for one in EXECUTORS[self.executor] if memory_bytes or "{memory_mib}" not in one]
        after = [shlex.join(words)] if self.executor == SSH else words
        return [*before[:1], *(self.options if before else ()), *before[1:], *after]


def read_toml(path: Path, what: str = "plan") -> dict[str, Any]:
    """The document of a plan, or of what else it is; raises SettingsError."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsError(f"{path}: the {what} cannot be read ({error})") from None


def table_of(given: Any, what: str, path: Path, known: Sequence[str] = ()) -> dict[str, Any]:
    """A table of a plan, with known keys only where they are given; raises SettingsError for anything else."""
    if not isinstance(given, dict):
        raise SettingsError(f"{path}: {what} is {given!r}; write a table [{what}]")
    for name in sorted(given.keys() - set(known)) if known else ():
        where = f"{what}: " if what else ""
        raise SettingsError(f"{path}: {where}{name!r} is not known; use {', '.join(sorted(known))}")
    return given


def host_fields(given: Any, what: str, path: Path, known: Sequence[str], needs: Mapping[str, str]) -> dict[str, Any]:
    """The fields of a host that a plan names, its options as words; `needs` is executor -> field that it cannot lack.

    Raises SettingsError for what cannot be.
    """
    fields = dict(table_of({"name": given} if isinstance(given, str) else given, what, path, known))
    if isinstance(fields.get("options"), list):
        fields["options"] = shlex.join(map(str, fields["options"]))
    wrong = [name for name, value in fields.items() if not isinstance(value, str)]
    if wrong or not fields.get("name"):
        raise SettingsError(f"{path}: {what}: {wrong[0] if wrong else 'name'} has to be a text")
    executor = fields.get("executor", LOCAL)
    if executor not in EXECUTORS:
        raise SettingsError(f"{path}: {what}: executor is {executor!r}; use one of {', '.join(EXECUTORS)}")
    if executor in needs and not fields.get(needs[executor]):
        raise SettingsError(f"{path}: {what}: {executor} needs {needs[executor]}")
    return fields | {"options": tuple(shlex.split(fields.get("options", "")))}
