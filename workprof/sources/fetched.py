"""What every kind of source hands over: files, how they are read, and how far they reach."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from workprof.core.progress import Progress
from workprof.store.reports import IngestOptions, IngestReport
from workprof.store.trace_store import TraceStore

Load = Callable[[TraceStore, Progress], IngestReport]


@dataclass(frozen=True)
class State:
    """How far a source was read; kept with its dataset's rows, in the same transaction."""

    until_s: float = 0.0  # everything before that moment is here; 0 = nothing was read yet
    points: str = ""  # file of the source's folder with the points of pods that may go on; '' = none
    files: dict[str, list[float]] = field(default_factory=dict)  # path -> size and time of change, as last read


@dataclass(frozen=True)
class Place:
    """Where a fetch works."""

    kept: Path  # the source's own folder: what is there is found again after a kill
    passing: Path  # gone after the refresh
    now_s: float
    progress: Progress


@dataclass(frozen=True)
class Fetched:
    """What came; `load` reads it into a store of its own, None where there is nothing new."""

    load: Load | None
    state: State
    # the dataset becomes exactly these rows; else they replace and join those that are there
    whole: bool = False


def reading(files: Sequence[Path], options: IngestOptions) -> Load:
    """What reads these files, each as an ingest does."""
    return lambda store, progress: store.ingest_all(files, options, progress)
