"""A command in a session of its own: started, awaited, and ended with everything that it left in its session."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from workprof.errors import SettingsError
from workprof.phases.recorder.process_table import process_table
from workprof.units import KIB

GRACE_S = 4.0
"""From the request to end (SIGTERM) to the order (SIGKILL)."""

KILLED_S = 10.0
"""Nothing survives the order, but a process that waits for a device obeys only when the device answers."""

LOOK_S = 0.02
PROC = Path("/proc")


@dataclass(frozen=True)
class Ended:
    """How a command ended, with what the kernel counted of it and of the children that it waited for.

    Attributes:
        rc: exit status, negative = the signal's number.
        cpu_s: processor time.
        peak_bytes: largest resident set of any one of them.
    """

    rc: int
    cpu_s: float
    peak_bytes: int


class Session:
    """A running command. The process group is not enough to end it: timeout(1), for one, leaves the group."""

    def __init__(self, command: tuple[str, ...], output: IO[bytes] | int | None = None) -> None:
        try:
            self._child = subprocess.Popen(command, start_new_session=True, stdout=output)
        except (OSError, ValueError) as error:
            raise SettingsError(
                f"{command[0]!r} cannot be started ({error}); give a program and its arguments after --"
            ) from error
        self.number = self._child.pid
        self._watch = os.pidfd_open(self.number)
        self.ended: Ended | None = None

    def wait(self, seconds: float) -> bool:
        """Return whether the command has ended, at the latest after `seconds`. It is not reaped: its number stays."""
        return bool(select.select([self._watch], [], [], max(seconds, 0.0))[0])

    def end(self, grace_s: float = GRACE_S) -> Ended:
        """Return how the command ended, after ending whatever of its session still runs."""
        if self.ended is None:
            self._signal(signal.SIGTERM)
            patience = time.monotonic() + grace_s
            while self._members() and time.monotonic() < patience:
                time.sleep(LOOK_S)
            patience = time.monotonic() + KILLED_S
            while self._members() and time.monotonic() < patience:
                self._signal(signal.SIGKILL)
                time.sleep(LOOK_S)
            self.ended = self._reaped()
            os.close(self._watch)
        return self.ended

    def _members(self) -> list[int]:
        return [line.pid for line in process_table(PROC).values() if line.session == self.number]

    def _signal(self, number: signal.Signals) -> None:
        for pid in self._members():
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                continue  # it was quicker

    def _reaped(self) -> Ended:
        _, status, usage = os.wait4(self.number, 0)
        self._child.returncode = os.waitstatus_to_exitcode(status)
        return Ended(self._child.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * KIB)
