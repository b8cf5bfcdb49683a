"""The tools that the suite runs: whether they are there, which versions, on which machine."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from workprof.errors import SettingsError
from workprof.nodes.suite.plan import PlannedRun

PACKAGES = {name: name for name in ("fio", "ioping", "iperf3", "qperf", "stress-ng", "sysbench")}
"""Tool -> Debian package."""

_VERSION_FLAG = {"ioping": "-v"}
_PATIENCE_S = 30


@dataclass(frozen=True)
class Machine:
    """What does not change while the suite runs."""

    kernel: str
    cpu_model: str
    cores: int


def tools_of(runs: Iterable[PlannedRun]) -> tuple[str, ...]:
    """Return the tools that runs need, sorted."""
    commands = [command for run in runs for command in (run.argv, run.server, run.stress) if command]
    return tuple(sorted({command[0] for command in commands}))


def missing_tools(tools: Iterable[str]) -> tuple[str, ...]:
    """Return those of the tools that are not installed."""
    return tuple(tool for tool in tools if shutil.which(tool) is None)


def require_tools(tools: Iterable[str]) -> None:
    """Do nothing when all tools are there.

    Raises:
        SettingsError: names what is missing and the Debian packages that have it.
    """
    missing = missing_tools(tools)
    if missing:
        packages = " ".join(PACKAGES[tool] for tool in missing)
        raise SettingsError(f"not installed: {', '.join(missing)}; on Debian: apt-get install {packages}")


def version_of(tool: str) -> str:
    """Return the first line in which a tool tells its version, its name before it; '' when it tells none."""
    try:
        told = subprocess.run(
            [tool, _VERSION_FLAG.get(tool, "--version")],
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=_PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = (told.stdout.strip() or told.stderr.strip()).splitlines()
    found = re.search(r"[0-9]+(\.[0-9]+)+", lines[0]) if lines else None
    return f"{tool} {found.group()}" if found else ""


def this_machine() -> Machine:
    """Return the kernel, processor and usable cores of this machine; '' or 0 where it does not tell."""
    import psutil  # noqa: PLC0415  only the suite needs it

    return Machine(f"{platform.system()} {platform.release()}", _cpu_model(), psutil.cpu_count() or 0)


def _cpu_model() -> str:
    try:
        told = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.processor()
    found = re.search(r"^model name\s*:\s*(.+)$", told, re.MULTILINE)
    return found.group(1).strip() if found else platform.processor()
