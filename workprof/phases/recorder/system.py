"""The host's counters at one moment, and which of them this kernel has."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from workprof.errors import SettingsError
from workprof.phases.recorder.found import Found
from workprof.phases.recorder.system_files import readers

PROC = Path("/proc")


class System:
    """Reads the host's counters; what this kernel lacks is found out once and noted."""

    def __init__(self, proc: Path = PROC, root: Path = Path("/")) -> None:
        if not (proc / "stat").is_file():
            raise SettingsError(f"{proc / 'stat'} is not there; the recorder reads the counters of Linux")
        self._proc = proc
        self.notes: tuple[str, ...] = ()
        self._readers = self._usable(readers(_device(root), _cards(proc)))

    def read(self) -> Found:
        """Return all readings; a file that has gone since the first look gives none."""
        found = Found()
        for reader in self._readers:
            try:
                found = found.with_more(reader(self._proc))
            except (OSError, ValueError, IndexError, KeyError):
                continue  # the cells of this row stay empty
        return found

    def _usable(self, every: dict[str, Callable[[Path], Found]]) -> list[Callable[[Path], Found]]:
        usable, lacking = [], []
        for name, reader in every.items():
            try:
                something = bool(reader(self._proc).columns)
            except (OSError, ValueError, IndexError, KeyError):
                something = False
            if something:
                usable.append(reader)
            else:
                lacking.append(name)
        if lacking:
            self.notes = (f"not on this host, no columns: {', '.join(f'{self._proc}/{name}' for name in lacking)}",)
        return usable


def _device(root: Path) -> tuple[int, int]:
    number = root.stat().st_dev
    return os.major(number), os.minor(number)


def _cards(proc: Path) -> tuple[str, ...]:
    """Return the loopback and the first card: one that hardware backs, where that can be told, else the first named."""
    try:
        lines = (proc / "net" / "dev").read_text().splitlines()
    except OSError:
        return ("lo",)
    others = [name for line in lines if ":" in line and (name := line.partition(":")[0].strip()) != "lo"]
    backed = [name for name in others if Path(f"/sys/class/net/{name}/device").exists()]
    return ("lo", *(backed or others)[:1])
