"""How a running step tells how far it is, what it has found so far, and the time of its parts."""

import contextvars
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[float | None, str], None]


def silent(fraction: float | None, message: str) -> None:
    """Tell nobody."""


_hearing: contextvars.ContextVar[Callable[[object], None] | None] = contextvars.ContextVar("hearing", default=None)


@contextmanager
def hearing(hear: Callable[[object], None]) -> Iterator[None]:
    """Have `hear` told what the step inside this context finds before its end."""
    token = _hearing.set(hear)
    try:
        yield
    finally:
        _hearing.reset(token)


def so_far(found: Callable[[], object]) -> None:
    """Tell whoever hears it what is found so far: a record of the step's own class, made where somebody does."""
    hear = _hearing.get()
    if hear is not None:
        hear(found())


class Stopwatch:
    """Measures named steps and tells `progress` how far the whole is.

    Args:
        progress: told the share that is done and a message.
        ends: step -> share of the whole that is done when the step ends, in order.
    """

    def __init__(self, progress: Progress, ends: dict[str, float]) -> None:
        self._progress = progress
        self._ends = ends
        self._started = time.perf_counter()
        self.step_seconds: dict[str, float] = {}

    @property
    def seconds(self) -> float:
        """Seconds since the stopwatch was made."""
        return time.perf_counter() - self._started

    @contextmanager
    def step(self, name: str, message: str) -> Iterator[Callable[[float], None]]:
        """Time one step; gives a function that takes the share of this step that is done."""
        begin, end = self._begin(name), self._ends[name]

        def report(share: float) -> None:
            self._progress(begin + (end - begin) * share, message)

        report(0.0)
        started = time.perf_counter()
        yield report
        self.step_seconds[name] = self.step_seconds.get(name, 0.0) + time.perf_counter() - started

    def _begin(self, name: str) -> float:
        names = list(self._ends)
        position = names.index(name)
        return self._ends[names[position - 1]] if position else 0.0
