"""The audit log of a home: who did what, when, through which door; appended only, bounded, without secrets."""

import contextlib
import fcntl
import json
import logging
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path

from workprof.core.roles import Role, actor
from workprof.store.home import FILE

FILE_NAME = "audit.jsonl"
MOST_BYTES, MOST_FILES = 2_000_000, 10
"""Of one file, and of all: about 100,000 entries; the oldest file goes."""
LOGIN_FAILED = "login failed"
LONGEST = 500
"""Characters of a text."""
LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Entry:
    """One deed, or one refusal."""

    at: str  # ISO 8601, UTC
    who: str
    role: str
    door: str  # 'dashboard', 'service' or 'command'
    deed: str
    what: str  # it was done to


class Audit:
    """The log of one home; every method may be called from any thread and process."""

    def __init__(self, home: Path, most_bytes: int = MOST_BYTES) -> None:
        """Take a home, in which nothing is made yet."""
        self._path, self._most_bytes = home / FILE_NAME, most_bytes

    def note(self, deed: str, what: str, role: Role, *, who: str = "", door: str = "") -> None:
        """Add an entry; where it cannot be written, the process's log has it."""
        now, acts = datetime.now(UTC).isoformat(timespec="milliseconds"), actor()
        entry = Entry(now, who or acts.name, str(role), door or acts.door, deed, what)
        line = json.dumps({name: value[:LONGEST] for name, value in asdict(entry).items()}) + "\n"
        try:
            with self._alone() as number:
                os.write(number, line.encode())
        except OSError as error:
            LOG.warning("not in the audit log (%s): %s", error, line.strip())

    @contextlib.contextmanager
    def _alone(self) -> Iterator[int]:
        """The open file of the present entries, which nobody else writes or moves away meanwhile."""
        while True:
            number = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, FILE)
            try:
                fcntl.flock(number, fcntl.LOCK_EX)
                if not self._is_present(number):
                    continue  # it was moved away between the two
                if os.fstat(number).st_size >= self._most_bytes:
                    self._move_on()
                    continue
                yield number
                return
            finally:
                os.close(number)

    def _is_present(self, number: int) -> bool:
        with contextlib.suppress(FileNotFoundError):
            return os.path.samestat(os.fstat(number), self._path.stat())
        return False

    def _move_on(self) -> None:
        """Begin a new file; the oldest goes."""
        places = [self._path, *(self._path.with_suffix(f".{n}.jsonl") for n in range(1, MOST_FILES))]
        for older, newer in zip(places[:0:-1], places[-2::-1], strict=True):
            with contextlib.suppress(FileNotFoundError):
                newer.replace(older)

    def entries(self, most: int) -> tuple[Entry, ...]:
        """The latest entries, the newest first; a line that cannot be read is left out."""
        result: list[Entry] = []
        for place in [self._path, *(self._path.with_suffix(f".{n}.jsonl") for n in range(1, MOST_FILES))]:
            try:
                lines = place.read_text(encoding="utf-8", errors="replace").splitlines()
            except FileNotFoundError:
                continue
            for line in reversed(lines):
                if len(result) == most:
                    return tuple(result)
                with contextlib.suppress(ValueError, TypeError, KeyError):
                    document = json.loads(line)
                    result.append(Entry(*(str(document[field.name]) for field in fields(Entry))))
        return tuple(result)
