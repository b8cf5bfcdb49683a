"""Work in threads of this process (ingests, reports): progress that a page can watch, and a cancel that works."""

import contextvars
import logging
import shutil
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, TypeVar

from workprof.core.errors import Cancelled, WorkprofError
from workprof.core.progress import Progress
from workprof.store.reports import IngestOptions, IngestReport

Result = TypeVar("Result")
Ingest = Callable[[Sequence[Path], IngestOptions, Progress], IngestReport]

LOG = logging.getLogger(__name__)
MOST_ENDED = 50
"""Views of ended work that are remembered."""


@dataclass(frozen=True)
class TaskView(Generic[Result]):
    """A piece of work as it stands."""

    key: str  # of this piece
    label: str  # of what it works on, for people
    state: str  # 'running', 'done', 'failed' or 'cancelled'
    fraction: float | None  # 0-1, or None where it cannot be counted
    message: str  # what it is doing, or why it ended
    steps: tuple[str, ...]  # the steps so far, the present one last
    started: float  # seconds since the epoch
    elapsed_s: float  # since it was started
    result: Result | None = None  # what it made, once it is done

    @property
    def active(self) -> bool:
        """Whether it still runs."""
        return self.state == "running"


class _Task(Generic[Result]):
    def __init__(self, label: str, lost: str) -> None:
        self.view: TaskView[Result] = TaskView(
            uuid.uuid4().hex, label, "running", None, "waiting", (), time.time(), 0.0
        )
        self.lost = lost
        self._begun = time.monotonic()  # the clock on the wall may be set back
        self.stop = threading.Event()
        self.ended = threading.Event()

    def now(self) -> TaskView[Result]:
        return replace(self.view, elapsed_s=time.monotonic() - self._begun) if self.view.active else self.view

    def report_progress(self, fraction: float | None, message: str) -> None:
        if self.stop.is_set():
            raise Cancelled(f"cancelled; {self.lost}")
        step = message.partition(":")[0].strip()
        steps = self.view.steps if step in self.view.steps else (*self.view.steps, step)
        self.view = replace(self.view, fraction=fraction, message=message, steps=steps)

    def end(self, state: str, message: str, result: Result | None = None) -> None:
        elapsed = time.monotonic() - self._begun
        self.view = replace(self.view, state=state, message=message, result=result, elapsed_s=elapsed)
        self.ended.set()


class Tasks(Generic[Result]):
    """A process-wide registry of one kind of work, which remembers views of ended work with their results.

    `lost` is told of work that did not end, such as 'nothing was loaded'.
    """

    def __init__(self, lost: str, most_ended: int = MOST_ENDED) -> None:
        self._lost, self._most_ended = lost, most_ended
        self._tasks: dict[str, _Task[Result]] = {}
        self._guard = threading.Lock()

    def begin(self, label: str, work: Callable[[Progress], Result], *, discard: Path | None = None) -> TaskView[Result]:
        """Start work and return its view; `discard` is a folder of ours, removed once the work has ended."""
        task: _Task[Result] = _Task(label, self._lost)
        with self._guard:
            for key in [key for key, old in self._tasks.items() if old.ended.is_set()][: -self._most_ended]:
                del self._tasks[key]
            self._tasks[task.view.key] = task
        run = contextvars.copy_context().run  # who acts stays who began it
        threading.Thread(target=run, args=(self._run, task, work, discard), name="task", daemon=True).start()
        return task.now()

    def view(self, key: str) -> TaskView[Result] | None:
        """How a piece of work stands, or None for one that this process does not know."""
        task = self._tasks.get(key)
        return task.now() if task else None

    def views(self) -> tuple[TaskView[Result], ...]:
        """All known work, newest first."""
        tasks = list(self._tasks.values())  # at once: another thread may begin one
        return tuple(sorted((task.now() for task in tasks), key=lambda view: -view.started))

    def wait(self, key: str, timeout_s: float | None = None) -> TaskView[Result] | None:
        """The view once the work has ended (or the time is over)."""
        task = self._tasks.get(key)
        if task is None:
            return None
        task.ended.wait(timeout_s)
        return task.now()

    def cancel(self, key: str, timeout_s: float = 1.5) -> TaskView[Result] | None:
        """Ask work to stop and return its view once it has, at most `timeout_s` later."""
        task = self._tasks.get(key)
        if task is None:
            return None
        task.stop.set()
        return self.wait(key, timeout_s)

    def close(self) -> None:
        """Stop everything."""
        for view in self.views():
            if view.active:
                self.cancel(view.key)

    def _run(self, task: _Task[Result], work: Callable[[Progress], Result], discard: Path | None) -> None:
        state, message, result = self._outcome(task, work)
        if discard is not None:
            shutil.rmtree(discard, ignore_errors=True)
        task.end(state, message, result)

    def _outcome(self, task: _Task[Result], work: Callable[[Progress], Result]) -> tuple[str, str, Result | None]:
        try:
            return "done", "done", work(task.report_progress)
        except Cancelled as error:
            return "cancelled", str(error), None
        except WorkprofError as error:
            return "failed", str(error), None
        except Exception:
            number = uuid.uuid4().hex[:8]
            LOG.exception("error %s in the work on %s", number, task.view.label)
            return "failed", f"workprof made a mistake (error {number}); the log has the details, {self._lost}", None


class Ingests(Tasks[IngestReport]):
    """The process-wide registry of ingests."""

    def __init__(self, ingest: Ingest) -> None:
        super().__init__("nothing was loaded")
        self._ingest = ingest

    def start(
        self, label: str, paths: Sequence[Path], options: IngestOptions, *, discard: Path | None = None
    ) -> TaskView[IngestReport]:
        """Start an ingest and return its view; `discard` is a folder of ours, removed once the ingest has ended."""
        named = tuple(paths)
        return self.begin(label, lambda progress: self._ingest(named, options, progress), discard=discard)
