"""Finished runs that were handed in: written and flushed to the disk before the answer, each run once.

A dataset's runs are lines of JSON in a file of the home that only grows. A line that a kill cut off was never
confirmed and is removed at the next start. The feedback loop reads the file in parts; which part it is at is written
before it begins, so that after a kill the same part is folded in again, which the loop knows and counts once.
"""

import contextlib
import hashlib
import json
import os
import queue
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from workprof.core.errors import HomeBusy, SettingsError
from workprof.store.home import FILE, make_folder, write_private

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows
    fcntl = None  # type: ignore[assignment]

FOLDER = "observations"
MOST_AT_ONCE = 10_000
"""Runs that one part of the feedback loop takes."""
LONGEST_ID = 256


@dataclass(frozen=True)
class Run:
    """A finished run: its id, and what is known of it under the fields' names."""

    id: str
    fields: Mapping[str, Any]

    @property
    def content(self) -> bytes:
        """Eight bytes that tell two contents apart."""
        text = json.dumps(self.fields, sort_keys=True, ensure_ascii=False)
        return hashlib.blake2b(text.encode(), digest_size=8).digest()


@dataclass(frozen=True)
class Receipt:
    """What became of runs that were handed in."""

    accepted: int  # written now
    repeated: int  # known already; nothing was written
    different: tuple[str, ...]  # ids of repeated runs whose content is not what is kept; the first one stays
    total: int  # runs kept


def place_of(home: Path, dataset_hash: str) -> Path:
    """The file of the finished runs of a dataset that had this hash when the first of them came."""
    return home / FOLDER / f"{dataset_hash}.jsonl"


class Journal:
    """The finished runs of one dataset; one process writes them, any of its threads may hand some in."""

    def __init__(self, home: Path, dataset_hash: str) -> None:
        """Open the file, remove a line that was cut off, and read the ids.

        Raises HomeBusy when another process takes finished runs of this dataset.
        """
        self.path = place_of(home, dataset_hash)
        folder = self.path.parent
        make_folder(folder)
        self._part = folder / f"{dataset_hash}.part.json"
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, FILE)
        if fcntl is not None:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(self._file)
                raise HomeBusy(
                    f"another server takes the finished runs of this dataset in home {home}; stop that one, or give "
                    "another home with --home DIR"
                ) from None
        self._contents: dict[str, bytes] = {}
        self._ends = self._read()
        _sync_folder(folder)
        self._queue: queue.SimpleQueue[tuple[Sequence[Run], Future[Receipt]] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write_all, name="finished runs", daemon=True)
        self._thread.start()

    def __len__(self) -> int:
        return len(self._contents)

    def close(self) -> None:
        """Write what waits and close the file."""
        self._queue.put(None)
        self._thread.join()
        os.close(self._file)

    def add(self, runs: Sequence[Run]) -> Future[Receipt]:
        """Hand runs in; the receipt comes once they are on the disk.

        Raises (by the future):
            OSError: when they could not be written; then none of them is kept.
        """
        receipt: Future[Receipt] = Future()
        self._queue.put((runs, receipt))
        return receipt

    def _read(self) -> int:
        """Read the ids, cut off a torn last line, and return the length of the file."""
        with self.path.open("rb") as lines:
            good = 0
            for line in lines:
                if not line.endswith(b"\n"):
                    break
                one = _run_of(line)
                if one is None:
                    raise SettingsError(f"{self.path} holds a line at byte {good} that is no run; move the file away")
                self._contents[one.id] = one.content
                good += len(line)
        if good < self.path.stat().st_size:
            os.ftruncate(self._file, good)
            os.fsync(self._file)
        return good

    def _write_all(self) -> None:
        """Write what waits, all of it with one flush, until the journal is closed."""
        ended = False
        while not ended:
            batch = [self._queue.get()]
            with contextlib.suppress(queue.Empty):
                while len(batch) < MOST_AT_ONCE:
                    batch.append(self._queue.get_nowait())
            ended = None in batch
            # a request that was given up cancels its future; a future that runs takes its result whatever becomes of it
            self._write([one for one in batch if one is not None and one[1].set_running_or_notify_cancel()])

    def _write(self, batch: Sequence[tuple[Sequence[Run], Future[Receipt]]]) -> None:
        fresh: dict[str, bytes] = {}
        lines: list[bytes] = []
        receipts: list[tuple[int, int, tuple[str, ...]]] = []
        for runs, _ in batch:
            accepted, different = 0, []
            for one in runs:
                stored = self._contents.get(one.id) or fresh.get(one.id)
                if stored is None:
                    accepted += 1
                    fresh[one.id] = one.content
                    lines.append(_line_of(one))
                elif stored != one.content:
                    different.append(one.id)
            receipts.append((accepted, len(runs) - accepted, tuple(different)))
        try:
            if lines:
                self._append(b"".join(lines))
        except OSError as error:
            for _, waiting in batch:
                waiting.set_exception(error)
            return
        self._contents |= fresh
        for (_, waiting), (accepted, repeated, different_) in zip(batch, receipts, strict=True):
            waiting.set_result(Receipt(accepted, repeated, different_, len(self._contents)))

    def _append(self, data: bytes) -> None:
        try:
            written = 0
            while written < len(data):
                written += os.write(self._file, data[written:])
            os.fsync(self._file)
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, self._ends)
            raise
        self._ends += len(data)

    # The feedback loop's side

    @property
    def unread(self) -> int:
        """Bytes that the feedback loop has not folded in."""
        return self._ends - self._position()[0]

    def part(self) -> tuple[pd.DataFrame, int] | None:
        """The runs that come next for the feedback loop, and where they end; None where there are none."""
        begin, end = self._position()
        if end == begin:
            end = self._next_end(begin)
            if end == begin:
                return None
            self._write_position(begin, end)
        with self.path.open("rb") as lines:
            lines.seek(begin)
            text = lines.read(end - begin)
        runs = [one for one in map(_run_of, text.splitlines()) if one is not None]
        return pd.DataFrame([dict(one.fields) for one in runs]), end

    def done(self, end: int) -> None:
        """Keep that the runs up to there are folded in."""
        self._write_position(end, end)

    def _next_end(self, begin: int) -> int:
        end = begin
        with self.path.open("rb") as lines:
            lines.seek(begin)
            for _ in range(MOST_AT_ONCE):
                line = lines.readline()
                if not line or end + len(line) > self._ends:
                    break
                end += len(line)
        return end

    def _position(self) -> tuple[int, int]:
        try:
            position = json.loads(self._part.read_text(encoding="utf-8"))
            return int(position["begin"]), int(position["end"])
        except (OSError, ValueError, KeyError, TypeError):
            return 0, 0

    def _write_position(self, begin: int, end: int) -> None:
        aside = self._part.with_suffix(".new")
        write_private(aside, json.dumps({"begin": begin, "end": end}))
        with aside.open("rb") as written:
            os.fsync(written.fileno())
        aside.replace(self._part)


def _line_of(one: Run) -> bytes:
    return json.dumps({"run": one.id, "fields": dict(one.fields)}, ensure_ascii=False).encode() + b"\n"


def _run_of(line: bytes) -> Run | None:
    try:
        document = json.loads(line)
        return Run(str(document["run"]), dict(document["fields"]))
    except (ValueError, KeyError, TypeError):
        return None


def _sync_folder(folder: Path) -> None:
    """See that the name of a new file is on the disk, too."""
    with contextlib.suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
