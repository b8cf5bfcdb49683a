"""Processes that are cut off from every other machine: what they try to reach is noted, and refused."""

import os
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class CutOff:
    """The record of such processes.

    It sees what Python code asks the system for. Libraries of other languages that have sockets of their own are not
    heard: DuckDB's may not leave the home folder (tests/store), the others read no addresses.
    """

    record: Path

    @property
    def variables(self):
        """The environment of a process that is to be cut off; its children are, too."""
        paths = [str(FOLDER), *filter(None, [os.environ.get("PYTHONPATH")])]
        return {"PYTHONPATH": os.pathsep.join(paths), "CUT_OFF_RECORD": str(self.record)}

    def watched(self):
        """Return the ids of the processes that were watched."""
        return {int(line.split()[1]) for line in self._lines() if line.startswith("watching ")}

    def tries(self):
        """Return what they tried to reach."""
        return [line for line in self._lines() if not line.startswith("watching ")]

    def _lines(self):
        return self.record.read_text(encoding="utf-8").splitlines()
