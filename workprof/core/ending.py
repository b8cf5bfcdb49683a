"""The end of a process: what it opened is put away; its objects are not freed one by one."""

import atexit
import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

FAILED, INTERRUPTED = 1, 128 + signal.SIGINT


@contextmanager
def ending_at_once() -> Iterator[None]:
    """Run what a process is for; after the handlers of its end, and its threads, leave with its status.

    Python looks at every object of every module once more as it ends: 0.2 to 1 s after a command, 15 s after one that
    compiled loops. Nothing here needs that: files and databases are closed by then.
    """
    status = FAILED  # of an exception that nobody catches, which Python prints

    def leave() -> None:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError, AttributeError):  # closed, or none
                stream.flush()
        os._exit(status)

    atexit.register(leave)  # registered first, so it runs last
    try:
        yield
        status = 0
    except SystemExit as asked:
        status = asked.code if isinstance(asked.code, int) else int(asked.code is not None)
        raise
    except KeyboardInterrupt:
        status = INTERRUPTED
        raise
