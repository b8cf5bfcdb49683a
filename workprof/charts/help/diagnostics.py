"""What to send along with a question: versions, platform, sizes; no names of people, machines or folders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from workprof.units import format_bytes


class Diagnostics(Protocol):
    """What is told; `workprof.workbench.diagnostics.Diagnostics` is one."""

    @property
    def versions(self) -> Mapping[str, str]:
        """Of workprof, Python and libraries."""

    @property
    def platform(self) -> str:
        """Kernel and processor kind."""

    @property
    def processors(self) -> int:
        """That this process may use."""

    @property
    def home_bytes(self) -> int:
        """On disk."""

    @property
    def memory_limit_bytes(self) -> int:
        """Of database and cache."""

    @property
    def datasets(self) -> Mapping[str, int]:
        """Kind -> how many."""

    @property
    def kept_runs(self) -> int:
        """How many."""

    @property
    def readonly(self) -> bool:
        """Whether changes are refused."""


def diagnostics_text(found: Diagnostics) -> str:
    """Return the diagnostics as lines to be copied."""
    datasets = ", ".join(f"{count} {kind}" for kind, count in found.datasets.items()) or "none"
    told = {
        **found.versions,
        "platform": found.platform,
        "processors": str(found.processors),
        "home folder": format_bytes(found.home_bytes),
        "memory limit": format_bytes(found.memory_limit_bytes),
        "datasets": datasets,
        "kept runs": str(found.kept_runs),
        "read-only": "yes" if found.readonly else "no",
    }
    widest = max(len(name) for name in told)
    return "\n".join(f"{name.ljust(widest)}  {value}" for name, value in told.items())
