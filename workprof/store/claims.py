"""A claim on a result: of all processes of a home, and jobs of one, a single one computes it; the others wait for it.

The claim is a lock on a file, so that the system frees it when its holder dies.
"""

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from workprof.store.home import make_folder, open_private, sign, taken

LOOK_AGAIN_S = 0.1


@dataclass
class Claim:
    """What a look at a claim found: it is ours until `end`, or another process has it."""

    path: Path
    elsewhere: str  # PID of the process that computes the result, "" = it is ours
    stream: IO[str] | None = None  # None = it is not ours, or cannot be locked here: then it is computed all the same

    def end(self) -> None:
        """Let others compute; to be called once."""
        if self.stream is not None:
            with contextlib.suppress(OSError):  # a folder that was removed, a disk without room for the PID
                self.path.unlink()
            with contextlib.suppress(OSError):
                self.stream.close()


def claim(path: Path) -> Claim:
    """Take a claim, where nobody has it; where its file cannot be written or locked, it counts as taken."""
    try:
        make_folder(path.parent)
        while True:
            stream = open_private(path, "a+")
            if not taken(stream):
                with stream:
                    stream.seek(0)
                    return Claim(path, stream.read().strip() or "unknown")
            if _is_at(stream, path):
                with contextlib.suppress(OSError):  # no room for the PID
                    sign(stream)
                return Claim(path, "", stream)
            stream.close()  # who had it removed the file between the two
    except OSError:
        return Claim(path, "")


def _is_at(stream: IO[str], path: Path) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(stream.fileno()), path.stat())
    return False


@contextlib.contextmanager
def claimed(path: Path, waits: Callable[[str], None]) -> Iterator[None]:
    """Hold a claim; while another process has it, `waits` is told so, again and again (it may raise)."""
    own = claim(path)
    while own.elsewhere:
        waits(waiting_for(own.elsewhere))
        time.sleep(LOOK_AGAIN_S)
        own = claim(path)
    try:
        yield
    finally:
        own.end()


def waiting_for(process: str) -> str:
    """What is said while another computation makes the result."""
    return "waiting for the same result" if process == str(os.getpid()) else f"process {process} computes the same"
