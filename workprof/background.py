"""Ingests in threads of this process: progress that a page can watch, and a cancel that works."""

from __future__ import annotations

import logging
import shutil
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from workprof.errors import Cancelled, WorkprofError
from workprof.progress import Progress
from workprof.store.reports import IngestOptions, IngestReport

Ingest = Callable[[Sequence[Path], IngestOptions, Progress], IngestReport]
_Outcome = tuple[str, str, IngestReport | None]

LOG = logging.getLogger(__name__)
KEPT = 50
"""Views of ended ingests that are remembered."""


@dataclass(frozen=True)
class IngestView:
    """An ingest as it stands.

    Attributes:
        key: of this ingest.
        label: the file's name, for people.
        state: 'running', 'done', 'failed' or 'cancelled'.
        fraction: 0-1, or None where it cannot be counted.
        message: what it is doing, or why it ended.
        steps: the steps so far, the present one last.
        started: seconds since the epoch.
        elapsed_s: since it was asked for.
        report: what it did, once it is done.
    """

    key: str
    label: str
    state: str
    fraction: float | None
    message: str
    steps: tuple[str, ...]
    started: float
    elapsed_s: float
    report: IngestReport | None = None

    @property
    def active(self) -> bool:
        """Whether it still runs."""
        return self.state == "running"


class _Task:
    def __init__(self, label: str) -> None:
        self.view = IngestView(uuid.uuid4().hex, label, "running", None, "waiting", (), time.time(), 0.0)
        self.stop = threading.Event()
        self.ended = threading.Event()

    def now(self) -> IngestView:
        return replace(self.view, elapsed_s=time.time() - self.view.started) if self.view.active else self.view

    def tell(self, fraction: float | None, message: str) -> None:
        if self.stop.is_set():
            raise Cancelled("cancelled; nothing was loaded")
        step = message.partition(":")[0].strip()
        steps = self.view.steps if step in self.view.steps else (*self.view.steps, step)
        self.view = replace(self.view, fraction=fraction, message=message, steps=steps)

    def end(self, state: str, message: str, report: IngestReport | None = None) -> None:
        elapsed = time.time() - self.view.started
        self.view = replace(self.view, state=state, message=message, report=report, elapsed_s=elapsed)
        self.ended.set()


class Ingests:
    """The process-wide registry of ingests."""

    def __init__(self, ingest: Ingest) -> None:
        self._ingest = ingest
        self._tasks: dict[str, _Task] = {}
        self._guard = threading.Lock()

    def start(
        self, label: str, paths: Sequence[Path], options: IngestOptions, *, discard: Path | None = None
    ) -> IngestView:
        """Start an ingest and return its view; `discard` is a folder of ours, removed once the ingest has ended."""
        task = _Task(label)
        with self._guard:
            for key in [key for key, old in self._tasks.items() if old.ended.is_set()][:-KEPT]:
                del self._tasks[key]
            self._tasks[task.view.key] = task
        arguments = (task, tuple(paths), options, discard)
        threading.Thread(target=self._run, args=arguments, name="ingest", daemon=True).start()
        return task.now()

    def view(self, key: str) -> IngestView | None:
        """Return how an ingest stands, or None for one that this process does not know."""
        task = self._tasks.get(key)
        return task.now() if task else None

    def views(self) -> tuple[IngestView, ...]:
        """Return every known ingest, newest first."""
        return tuple(sorted((task.now() for task in self._tasks.values()), key=lambda view: -view.started))

    def wait(self, key: str, timeout_s: float | None = None) -> IngestView | None:
        """Return the view once the ingest has ended (or the time is over)."""
        task = self._tasks.get(key)
        if task is None:
            return None
        task.ended.wait(timeout_s)
        return task.now()

    def cancel(self, key: str, timeout_s: float = 1.5) -> IngestView | None:
        """Ask an ingest to stop and return its view once it has, at most `timeout_s` later."""
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

    def _run(self, task: _Task, paths: Sequence[Path], options: IngestOptions, discard: Path | None) -> None:
        state, message, report = self._outcome(task, paths, options)
        if discard is not None:
            shutil.rmtree(discard, ignore_errors=True)
        task.end(state, message, report)

    def _outcome(self, task: _Task, paths: Sequence[Path], options: IngestOptions) -> _Outcome:
        try:
            return "done", "done", self._ingest(paths, options, task.tell)
        except Cancelled as error:
            return "cancelled", str(error), None
        except WorkprofError as error:
            return "failed", str(error), None
        except Exception:
            number = uuid.uuid4().hex[:8]
            LOG.exception("error %s in the ingest of %s", number, task.view.label)
            message = f"workprof made a mistake (error {number}); the log has the details, nothing was loaded"
            return "failed", message, None
