"""The bundled samples among the datasets of a home, told by their content, whatever they are called."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path

from workprof.core.progress import silent
from workprof.store.content_hash import ContentHash, salt_of
from workprof.store.detect import named_files
from workprof.store.ingest import HASH, LAYOUT_VERSION
from workprof.store.reports import Dataset, IngestOptions
from workprof.workbench import Workbench


def samples_of(workbench: Workbench, files: Mapping[str, Path]) -> dict[str, Dataset]:
    """Return kind -> dataset of the samples that are loaded.

    Args:
        workbench: of the home.
        files: kind -> sample file; those that are not installed are left out.
    """
    loaded = {entry.hash: entry for entry in workbench.datasets()}
    hashes = {kind: _hash(path, path.stat().st_mtime_ns) for kind, path in files.items() if path.is_file()}
    return {kind: loaded[hashed] for kind, hashed in hashes.items() if hashed in loaded}


@functools.lru_cache(maxsize=16)
def _hash(path: Path, _changed_ns: int) -> str:
    """Return the hash that a file has as a dataset, without loading it: a read-only home can be asked too."""
    options = IngestOptions()
    files = named_files((path,), options)
    hashing = ContentHash(files.paths, files.roles, salt_of(options, files.format, LAYOUT_VERSION))
    hashing.start()
    return hashing.result(silent, HASH)
