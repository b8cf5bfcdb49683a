"""Heavy steps in a child process: live progress, a cancel that works, identical requests share one job.

The child is `python -m workprof.jobs FOLDER` on a leash (see `workprof.children`), so it ends with its parent. FOLDER
holds `request.json` (the step's function and settings) and its input frames as memory-mapped Arrow files; the child
prints progress, or why it refuses, as JSON lines, and leaves cache entries in FOLDER/entries, which the parent adopts.
On a full disk it prints them, too, and the parent keeps them in memory until there is room.

`multiprocessing` is not used: inside a Streamlit script its children would run app.py again.
"""

import contextlib
import json
import logging
import shutil
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from workprof.cache import ResultCache
from workprof.children import GRACE_S, end, last_words, spawn
from workprof.core.errors import Cancelled, StepFailed, WorkprofError
from workprof.core.long_table import JobTable
from workprof.core.records import Packed, digest
from workprof.core.step import Step
from workprof.steps import ENTRIES, PASSED, REFUSED, SO_FAR, Request, main, write_request
from workprof.store.claims import Claim, waiting_for
from workprof.store.entries import UNREADABLE, Passed, from_line
from workprof.store.home import is_full, make_folder, no_room, open_private_bytes

LOG = logging.getLogger(__name__)
CLOSE_S = 5.0
SLOTS = 2
"""Children at the same time; more wait their turn."""
WATCHED_S = 3.0
"""So long after it was last looked at, a job counts as one that somebody waits for: a page looks every second."""

ACTIVE = frozenset({"waiting", "running"})
"""States of a job that has not ended."""

Frames = Mapping[str, JobTable]


@dataclass(frozen=True)
class JobView:
    """A job as it stands."""

    key: str  # of the result it makes
    step: str  # its name
    state: str  # 'waiting', 'running', 'done', 'failed' or 'cancelled'
    fraction: float | None  # 0-1, or None where it cannot be counted
    message: str  # what it is doing, or why it ended
    started: float  # seconds since the epoch
    elapsed_s: float  # since it was submitted
    found: int = 0  # times that it told what it has found so far
    listed: bool = True  # not where nobody began it and the data cannot answer: that is no failure

    @property
    def active(self) -> bool:
        """Whether it still waits or runs."""
        return self.state in ACTIVE


class _Job:
    """One request's thread and child; the registry owns it."""

    def __init__(self, key: str, step: Step, ahead_s: float | None) -> None:
        self.view = JobView(key, step.name, "waiting", None, "waiting for a free slot", time.time(), 0.0)
        self.step = step
        self.ahead_s = ahead_s  # expected seconds of what nobody waits for, None = somebody does
        self.child: subprocess.Popen[str] | None = None
        self.looked = -WATCHED_S  # when a page looked at it last
        self.so_far: Packed | None = None  # what it has found before its end
        self.claim: Claim | None = None  # on its result, while it runs
        self.waited = False  # for another process, or a question here, that computes the same
        self._begun = time.monotonic()  # the clock on the wall may be set back
        self.stop = threading.Event()
        self.ended = threading.Event()

    def now(self) -> JobView:
        return replace(self.view, elapsed_s=time.monotonic() - self._begun) if self.view.active else self.view

    def awaited(self) -> bool:
        """Whether somebody began it, or a page looks at it."""
        return self.ahead_s is None or time.monotonic() - self.looked < WATCHED_S

    def is_elsewhere(self) -> bool:
        """Whether another process, or a question here, computed the same when it last looked."""
        return self.claim is not None and bool(self.claim.elsewhere)

    def find(self, so_far: Packed) -> None:
        self.so_far, self.view = so_far, replace(self.view, found=self.view.found + 1)

    def change(self, state: str, fraction: float | None, message: str, *, listed: bool = True) -> None:
        if self.stop.is_set() and state in ACTIVE:
            return  # it is on its way to its end, whatever its child still tells
        elapsed_s = time.monotonic() - self._begun
        self.view = replace(
            self.view, state=state, fraction=fraction, message=message, elapsed_s=elapsed_s, listed=listed
        )


class Jobs:
    """The process-wide registry of running steps."""

    def __init__(self, cache: ResultCache, folder: Path, *, sweep: bool = True) -> None:
        """Take a folder; `sweep` removes what killed processes left, where no other process has jobs there."""
        self._cache = cache
        self._folder = folder
        self._jobs: dict[str, _Job] = {}
        self._guard = threading.Lock()
        self._slots = threading.Semaphore(SLOTS)
        if sweep:
            shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):  # a home that cannot be written: then no job can be run, and says so
            make_folder(folder)

    def start(self, request: Request, frames: Callable[[], Frames], ahead_s: float | None = None) -> JobView:
        """Start a step unless the same key already waits or runs; return its view.

        `ahead_s`: its expected seconds, where nobody requested it. One of these runs at a time, the shortest first.
        """
        with self._guard:
            known = self._jobs.get(request.key)
            if known is not None and known.view.active:
                if ahead_s is None:
                    known.ahead_s = None
                return known.now()
            job = self._jobs[request.key] = _Job(request.key, request.step, ahead_s)
        name = f"job-{request.step.name}"
        threading.Thread(target=self._run, args=(job, request, frames), name=name, daemon=True).start()
        return job.now()

    def view(self, key: str) -> JobView | None:
        """How a job stands, or None when there was none since the start."""
        job = self._jobs.get(key)
        return job.now() if job else None

    def so_far(self, key: str) -> Packed | None:
        """What a job that runs has found before its end."""
        job = self._jobs.get(key)
        return job.so_far if job is not None and job.view.active else None

    def watch(self, key: str) -> JobView | None:
        """How a job stands, which somebody sees: what is not begun goes before what nobody looks at."""
        job = self._jobs.get(key)
        if job is not None:
            job.looked = time.monotonic()
        return self.view(key)

    def views(self) -> tuple[JobView, ...]:
        """Every job since the start, newest first."""
        jobs = list(self._jobs.values())  # at once: another thread may start one
        return tuple(sorted((job.now() for job in jobs), key=lambda view: -view.started))

    def wait(self, key: str, timeout_s: float | None = None) -> JobView | None:
        """The job's view once it has ended (or the time is over)."""
        job = self._jobs.get(key)
        if job is None:
            return None
        job.ended.wait(timeout_s)
        return job.now()

    def cancel(self, key: str) -> JobView | None:
        """Stop a job: terminate, then kill; returns once its child is gone.

        A job that still reads its rows then counts as cancelled, and ends when it has read them.
        """
        job = self._jobs.get(key)
        if job is None:
            return None
        job.stop.set()
        if job.child is not None:
            end(job.child)
        if not job.ended.wait(GRACE_S) and job.view.active:
            job.change("cancelled", None, "cancelled")
        return job.now()

    def close(self) -> None:
        """Stop everything; returns once no job has anything in the folder."""
        for key, job in list(self._jobs.items()):
            if job.view.active:
                self.cancel(key)
            job.ended.wait(CLOSE_S)  # a job that has failed is shown so before its folder is gone

    def _run(self, job: _Job, request: Request, frames: Callable[[], Frames]) -> None:
        folder = self._folder / uuid.uuid4().hex
        try:
            self._wait_for_slot(job)
            try:
                if not (job.waited and self._cache.has(request.key)):
                    self._make(job, folder, request, frames)
                job.change("done", 1.0, "done")
            finally:
                self._slots.release()
                if job.claim is not None:
                    job.claim.end()
        except Cancelled:
            job.change("cancelled", None, "cancelled")
        except WorkprofError as error:
            asked = job.ahead_s is None
            job.change("failed", None, str(error), listed=asked or isinstance(error, StepFailed))
        except OSError as error:
            lost = "the step could not be run"
            job.change("failed", None, str(no_room(self._folder, lost) if is_full(error) else f"{lost}: {error}"))
        except Exception:
            number = uuid.uuid4().hex[:8]
            LOG.exception("error %s in step %s", number, job.step.name)
            job.change("failed", None, f"workprof made a mistake (error {number}); the log has the details")
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            job.ended.set()

    def _make(self, job: _Job, folder: Path, request: Request, frames: Callable[[], Frames]) -> None:
        """Run the child and keep what it leaves."""
        make_folder(folder, fresh=True)
        write_request(folder, request, frames())
        passed = self._watch(job, folder)
        keys = (request.key, *(about.key for about in request.extras.values()))
        for key in keys:
            self._cache.take(key, folder / ENTRIES / digest(key))
        shutil.rmtree(folder, ignore_errors=True)  # there may be room now
        for one in (one for one in passed if one.about.key in keys):
            self._cache.put(one.about.key, one.packed, one.about)

    def _wait_for_slot(self, job: _Job) -> None:
        while not self._begins(job):
            if job.stop.wait(0.1):
                raise Cancelled("cancelled while waiting")

    def _begins(self, job: _Job) -> bool:
        """Take a slot and the claim on the result, where there is one, it is this job's turn, and nobody has that."""
        with self._guard:
            active = [one for one in self._jobs.values() if one.view.active and (one is job or not one.is_elsewhere())]
            ahead = [one for one in active if one.ahead_s is not None]
            running = any(one.view.state == "running" for one in ahead)
            first = min(ahead, key=lambda one: (one.ahead_s or 0.0, one.view.started), default=job)
            if not job.awaited() and (
                running or job is not first or any(one.view.state == "waiting" and one.awaited() for one in active)
            ):
                return False
            if not self._slots.acquire(blocking=False):
                return False
            job.claim = self._cache.claim(job.view.key)
            if job.is_elsewhere():
                self._slots.release()
                job.waited = True
                job.change("waiting", None, waiting_for(job.claim.elsewhere))
                return False
            job.change("running", None, "reading the data")
            return True

    def _watch(self, job: _Job, folder: Path) -> list[Passed]:
        """Run the child to its end and return the results that it did not leave in its folder."""
        if job.stop.is_set():
            raise Cancelled("cancelled")
        with open_private_bytes(folder / "stderr.txt") as complaints, spawn(folder, complaints.fileno()) as child:
            job.child = child
            if job.stop.is_set():
                end(child)
            heard = _follow(job)
            code = child.wait()
        if job.stop.is_set():
            raise Cancelled("cancelled")
        if heard.refusal:
            raise WorkprofError(heard.refusal)
        if code != 0:
            raise StepFailed(last_words(folder, code))
        return heard.passed


@dataclass
class _Heard:
    """What a child told beside its progress."""

    refusal: str = ""
    passed: list[Passed] = field(default_factory=list)


def _follow(job: _Job) -> _Heard:
    """Read the child's lines until it closes its output, and return what is more than progress."""
    heard = _Heard()
    if job.child is None or job.child.stdout is None:
        return heard
    for line in job.child.stdout:
        try:
            event = json.loads(line)
            if REFUSED in event:
                heard.refusal = str(event[REFUSED])
            elif PASSED in event:
                heard.passed.append(from_line(event[PASSED]))
            elif SO_FAR in event:
                job.find(from_line(event[SO_FAR]).packed)
            else:
                job.change("running", event["fraction"], str(event["message"]))
        except UNREADABLE:
            continue
    return heard


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
