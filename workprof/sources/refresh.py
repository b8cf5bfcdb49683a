"""A refresh: fetch what is new, read it into a store of its own, and take it in at once, or change nothing.

The dataset is as it was until the last transaction. A refresh that fails, or is killed, leaves the last good state and
says why and when; the next one brings the same rows.
"""

import contextlib
import fcntl
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from workprof.core.errors import Cancelled, HomeBusy, WorkprofError
from workprof.core.progress import Progress, silent
from workprof.core.refreshes import Refresh
from workprof.core.roles import REFRESH
from workprof.core.settings import Settings
from workprof.sources import files, kubernetes, prometheus, slurm
from workprof.sources.fetched import Fetched, Place, State
from workprof.sources.source import FILES, KUBERNETES, PROMETHEUS, PULL, SLURM, SLURMRESTD, Source
from workprof.store.home import make_folder, narrow
from workprof.store.trace_store import TraceStore

FETCH: dict[str, Callable[[Source, State, Place], Fetched]] = {
    PROMETHEUS: prometheus.fetch,
    SLURM: slurm.fetch,
    SLURMRESTD: slurm.fetch_rest,
    KUBERNETES: kubernetes.fetch,
    FILES: files.fetch,
    PULL: files.fetch_table,
}
FOLDER = "sources"
FETCHED, READ, GREW, COMPUTED = 0.4, 0.6, 0.7, 0.95
"""Share of the progress after the fetch, the reading, the joining, and what is computed."""


def refresh(
    store: TraceStore,
    source: Source,
    compute: Callable[[Settings, str], object],
    settings: Settings,
    progress: Progress = silent,
    now_s: float | None = None,
) -> Refresh:
    """Bring a source's dataset up to date and return what changed; `now_s` is the present by default.

    `compute` is given the new rows in a home of their own, and their hash there and later: whoever looks at the
    dataset meanwhile sees the rows of before, and their answers.

    Raises:
        WorkprofError: when the source cannot be reached or read; the failure is kept in its history.
        HomeBusy: when the same source is being refreshed.
    """
    store.refuse(REFRESH)
    begun, started = time.perf_counter(), datetime.now(UTC).isoformat(timespec="milliseconds")
    kept = settings.home / FOLDER / source.name
    make_folder(kept.parent)
    make_folder(kept)
    with _alone(kept / "lock", source.name):
        state = store.source_state(source.name, State)
        moment = time.time() if now_s is None else now_s
        told = Refresh(source.name, started)
        try:
            with store.spool_folder(f"refresh-{uuid.uuid4().hex}") as passing:
                fetched = FETCH[source.kind](source, state, Place(kept, passing, moment, _part(progress, 0.0, FETCHED)))
                grown = None
                before = moment - source.keep_s if source.keep_s else None
                if fetched.load is not None or before is not None:
                    own_home, incoming = settings.passing(passing / "store"), None
                    with TraceStore(own_home) as own:
                        if fetched.load is not None:
                            report = fetched.load(own, _part(progress, FETCHED, READ))
                            incoming = own.incoming(report, source.shown, whole=fetched.whole, ended_before_s=before)
                        elif before is not None:
                            incoming = store.growing_old(own, source.name, before)
                        if incoming is not None:
                            progress(READ, "joining them with the rows that are there")
                            grown = store.grow(own, source.name, incoming, told)
                    if grown is not None and grown.is_new:
                        progress(GREW, "computing what Home shows of them")
                        compute(own_home, grown.result.dataset)
                progress(COMPUTED, "taking rows in")
                told = replace(told, seconds=time.perf_counter() - begun)
                result = store.take_in(source.name, grown, fetched.state, told)
        except Cancelled:
            raise  # nothing failed, and nothing was changed
        except WorkprofError as error:
            store.refresh_failed(source.name, replace(told, seconds=time.perf_counter() - begun, error=str(error)))
            raise
        prometheus.tidy(kept, fetched.state)
    progress(1.0, "done")
    return result


def _part(progress: Progress, low: float, high: float) -> Progress:
    def within(fraction: float | None, message: str) -> None:
        progress(None if fraction is None else low + (high - low) * fraction, message)

    return within


@contextlib.contextmanager
def _alone(path: Path, name: str) -> Iterator[None]:
    """Hold a source's lock; raises HomeBusy where another process or thread refreshes it."""
    with path.open("a", encoding="utf-8") as file:
        narrow(path)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise HomeBusy(f"source {name} is being refreshed already; wait until that ends") from error
        yield
