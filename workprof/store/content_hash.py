"""The hash that tells whether the same content was loaded before: what the files hold and how it is read.

A plain file is hashed in a thread beside the reading. What a compressed one holds is hashed while it is unpacked into
the spool, so that a trace is the same dataset whether it comes plain, as .gz or as .zst.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from workprof.core.errors import TraceError
from workprof.core.progress import Progress
from workprof.core.records import canonical_json
from workprof.core.units import MIB, format_bytes
from workprof.store.reports import IngestOptions
from workprof.store.running import POLL_S, Span
from workprof.store.spool import Spooled, head_of, is_packed

HASH_DIGITS = 32
"""Of SHA-256, which today's processors compute twice as fast as BLAKE2b."""
CHUNK_BYTES = 4 * MIB


@dataclass(frozen=True)
class FileState:
    """What changes when a file is changed or replaced."""

    inode: int
    size_bytes: int
    modified_ns: int

    @classmethod
    def of(cls, stat: os.stat_result) -> FileState:
        """The state that the operating system tells."""
        return cls(stat.st_ino, stat.st_size, stat.st_mtime_ns)


class ContentHash(threading.Thread):
    """Hashes files in a thread of its own beside the reading (hashlib lets the other threads run)."""

    def __init__(self, paths: Sequence[Path], names: Sequence[str], salt: str) -> None:
        """Take the files, the role of each (hashed with it where it tells how a file is read), and the options."""
        super().__init__(name="workprof-hash", daemon=True)
        self._paths, self._names, self._salt = list(paths), list(names), salt
        self._given_up = threading.Event()
        self._error: BaseException | None = None
        self._packed = [is_packed(head_of(path)) for path in self._paths]
        self._digests = [b""] * len(self._paths)
        self._states = [FileState.of(path.stat()) for path in self._paths]
        self._sizes = [
            0 if packed else state.size_bytes for state, packed in zip(self._states, self._packed, strict=True)
        ]
        self.done_bytes = 0

    def run(self) -> None:
        """Hash the plain files; errors are handed over by `result`."""
        try:
            for at, path in enumerate(self._paths):
                if not self._packed[at]:
                    self._digests[at] = self._of_file(at, path)
        except BaseException as error:  # noqa: BLE001 - raised in the caller's thread by result()
            self._error = error

    @property
    def content_bytes(self) -> int | None:
        """Size of what the files hold; None until the compressed ones are unpacked."""
        unpacked = all(self._digests[at] for at, packed in enumerate(self._packed) if packed)
        return sum(self._sizes) if unpacked else None

    def take_over(self, spooled: Sequence[Spooled]) -> None:
        """Take the hashes of what was unpacked, in the order of the files."""
        for at, one in enumerate(spooled):
            if one.unpacked is not None:
                self._digests[at], self._sizes[at] = one.unpacked.sha256, one.unpacked.size_bytes

    def refuse_changed(self, spooled: Sequence[Spooled]) -> None:
        """Refuse plain files that are no longer what they were: rows and hash may be of two contents.

        A file that was replaced, not changed, is read to its end under the link in the spool.

        Raises TraceError, which names the file.
        """
        for at, one in enumerate(spooled):
            if not self._packed[at]:
                linked = FileState.of(one.path.stat())
                own = linked.inode == self._states[at].inode
                self._compare(at, linked if own else FileState.of(self._paths[at].stat()))

    def _compare(self, at: int, now: FileState) -> None:
        if now != self._states[at]:
            raise TraceError(
                f"{self._paths[at].name} changed while it was read; nothing was kept; load it again once it is complete"
            )

    def stop(self) -> None:
        """Give up, soon."""
        self._given_up.set()

    def result(self, progress: Progress, span: Span) -> str:
        """The 32 hexadecimal digits once every byte is hashed; `progress` may cancel."""
        size = self.content_bytes or 1
        try:
            while self.is_alive():
                self.join(POLL_S)
                if self.is_alive():
                    progress(span.at(self.done_bytes / size), f"{span.message}: {format_bytes(self.done_bytes)}")
        except BaseException:
            self.stop()
            raise
        if self._error is not None:
            raise self._error
        whole = hashlib.sha256(self._salt.encode())
        for name, digest in zip(self._names, self._digests, strict=True):
            whole.update(name.encode() + b"\0" + digest)
        return whole.hexdigest()[:HASH_DIGITS]

    def _of_file(self, at: int, path: Path) -> bytes:
        digest = hashlib.sha256()
        buffer = memoryview(bytearray(CHUNK_BYTES))
        with path.open("rb", buffering=0) as stream:
            self._compare(at, FileState.of(os.fstat(stream.fileno())))
            if hasattr(os, "posix_fadvise"):
                os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_SEQUENTIAL)
            while (size := stream.readinto(buffer)) and not self._given_up.is_set():
                digest.update(buffer[:size])
                self.done_bytes += size
        return digest.digest()


def salt_of(options: IngestOptions, format_name: str, version: int) -> str:
    """What else, besides bytes, decides what the dataset holds (its name does not)."""
    return canonical_json(
        {
            "version": version,
            "format": format_name,
            "mapping": dict(options.mapping),
            "join": options.join,
            "grain": options.aggregation,
            "delimiter": options.delimiter,
            "encoding": options.encoding,
            "decimal": options.decimal,
            "duplicates": options.duplicates,
        }
        | ({"sheet": options.sheet} if options.sheet else {})
        | {name: value for name, value in vars(options.machine).items() if value}
    )
