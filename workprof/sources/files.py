"""Files of a folder or a pattern, and tables of other engines: the dataset is exactly what they hold now."""

import re
from dataclasses import replace
from pathlib import Path

from workprof.core.errors import TraceError
from workprof.core.progress import Progress
from workprof.sources.api import SourceUnreachable
from workprof.sources.fetched import Fetched, Place, State, reading
from workprof.sources.source import Source
from workprof.store.reports import IngestReport
from workprof.store.trace_store import TraceStore


def fetch(source: Source, state: State, place: Place) -> Fetched:
    """The files, where one is new, gone or changed, or runs go when they are old.

    Raises SourceUnreachable when there is none.
    """
    path = Path(source.address).expanduser().absolute()
    found = path.iterdir() if path.is_dir() else Path(path.anchor).glob(str(path.relative_to(path.anchor)))
    paths = sorted((one for one in found if one.is_file() and not one.name.startswith(".")), key=_in_order)
    if not paths:
        raise SourceUnreachable(f"{source.address}: no file is there; check --path")
    there = {str(one): [float(one.stat().st_size), one.stat().st_mtime] for one in paths}
    if there == state.files and not source.keep_s:
        return Fetched(None, replace(state, until_s=place.now_s))
    read = reading(paths, replace(source.options, name=source.name))

    def load(store: TraceStore, progress: Progress) -> IngestReport:
        try:
            return read(store, progress)
        except TraceError as error:
            if not path.is_dir() or len(paths) == 1:
                raise
            pattern = path / f"*{paths[0].suffix}"
            raise TraceError(f"{error}; a pattern takes some of the files alone, such as --path '{pattern}'") from error

    return Fetched(load, replace(state, until_s=place.now_s, files=there), whole=True)


def _in_order(path: Path) -> tuple[list[tuple[int, str]], str]:
    """By name, with numbers by their value: run-10 is later than run-9."""
    parts = re.split(r"(\d+)", str(path))
    return [(int(part) if part.isdecimal() else 0, part if not part.isdecimal() else "") for part in parts], str(path)


def fetch_table(source: Source, state: State, place: Place) -> Fetched:
    """A table of another engine, as `workprof pull` takes it."""

    def load(store: TraceStore, progress: Progress) -> IngestReport:
        from workprof.pull.pulling import PullSettings, pull  # noqa: PLC0415  an extra

        return pull(
            store, PullSettings(source.address, source.name, source.table, options=source.options), progress
        ).ingest

    return Fetched(load, replace(state, until_s=place.now_s), whole=True)
