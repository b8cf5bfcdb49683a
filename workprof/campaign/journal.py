"""What became of each run, on disk: one line per change of state, so that a campaign that is killed goes on."""

import contextlib
import fcntl
import json
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from workprof.core.errors import SettingsError
from workprof.store.home import make_folder, write_private

JOURNAL, RESULTS, LOCK = "journal.jsonl", "results", "lock"


@dataclass(frozen=True)
class RunState:
    """The last that is known of a run."""

    run: str
    state: str  # one of `STATES`
    attempt: int = 0  # from 1; 0 before the first
    reason: str = ""  # of a failure; of a size that cannot be told
    size_gb: float | None = None  # to request from now on; None before it is known
    at: float = 0.0  # when, seconds since 1970


class Journal:
    """The folder of a campaign."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self.states: dict[str, RunState] = {}
        self.ways: dict[str, list[str]] = {}  # run -> its states, in the order in which it had them
        for line in self._lines():
            self._take(line)

    def _take(self, line: RunState) -> None:
        self.states[line.run] = line
        self.ways.setdefault(line.run, []).append(line.state)

    @contextlib.contextmanager
    def held(self, *, shared: bool = False) -> Iterator[None]:
        """Hold the campaign: one process at a time runs it, or (`shared`) several, each a run of its own.

        Raises SettingsError when another one does.
        """
        make_folder(self.folder)
        make_folder(self.folder / RESULTS)
        with (self.folder / LOCK).open("w") as file:
            try:
                fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
            except OSError as error:
                raise SettingsError(f"{self.folder}: another process runs this campaign; wait for it") from error
            yield

    def note(self, run: str, state: str, **more: Any) -> None:
        """Write a change of state, on the disk before this returns."""
        line = RunState(run, state, at=time.time(), **more)
        with self._lock:
            text = json.dumps(asdict(line)) + "\n"
            with (self.folder / JOURNAL).open("ab") as file:
                if file.tell() and not self._whole():
                    text = "\n" + text  # a kill cut the last line short
                file.write(text.encode())
                file.flush()
                os.fsync(file.fileno())
            self._take(line)

    def write_result(self, run: str, result: dict[str, Any]) -> None:
        """Keep the result of an attempt, complete or not at all."""
        place = self.folder / RESULTS / f"{run}.{result['attempt']}.json"
        aside = place.with_suffix(".tmp")
        write_private(aside, json.dumps(result))
        aside.replace(place)

    def results(self) -> list[dict[str, Any]]:
        """What every attempt left, in order of their starts."""
        result = [json.loads(path.read_text(encoding="utf-8")) for path in (self.folder / RESULTS).glob("*.json")]
        return sorted(result, key=lambda one: (str(one.get("started", "")), str(one["run"]), int(one["attempt"])))

    def _whole(self) -> bool:
        with (self.folder / JOURNAL).open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) == b"\n"

    def _lines(self) -> Iterator[RunState]:
        path = self.folder / JOURNAL
        if not path.exists():
            return
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            with contextlib.suppress(ValueError, TypeError):  # a line that a kill cut short says nothing
                yield RunState(**json.loads(line))
