"""Who runs the parallel loops: this machine, or the Dask cluster that WORKPROF_DASK names.

A loop is `each(function, shared, items)`. Without a cluster it runs one item after another, each on all threads of the
compiled kernels.
"""

import contextlib
import contextvars
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from workprof.core.errors import SettingsError
from workprof.core.progress import Progress

PATIENCE_S = 10
RETRIES = 3
"""Times that an item is begun anew where the worker that had it is gone."""
MEANWHILE_S = 1.0
"""In which the scheduler learns that a worker is gone."""
AHEAD = 2
"""Items that are handed out to each thread of the cluster before the first of them is done."""

Item = TypeVar("Item")
Result = TypeVar("Result")

_client: contextvars.ContextVar[Any] = contextvars.ContextVar("client", default=None)


@contextlib.contextmanager
def loops_on(scheduler: str | None) -> Iterator[None]:
    """Send the loops inside this context to a Dask scheduler ('tcp://host:port'), or leave them here (None).

    Raises SettingsError when the scheduler cannot be reached, has no workers, or Dask is not installed.
    """
    if not scheduler:
        yield
        return
    try:
        from distributed import Client  # noqa: PLC0415  an extra
    except ImportError as error:
        raise SettingsError("WORKPROF_DASK is set but Dask is not installed; install workprof[dask]") from error
    try:
        client = Client(scheduler, timeout=PATIENCE_S, set_as_default=True)  # type: ignore[no-untyped-call]
    except (OSError, TimeoutError, ValueError) as error:
        raise SettingsError(f"WORKPROF_DASK is {scheduler!r}: no scheduler answers there ({error})") from error
    with client:
        if not client.scheduler_info()["workers"]:
            raise SettingsError(f"WORKPROF_DASK is {scheduler!r}: its cluster has no workers; start some")
        token = _client.set(client)
        try:
            yield
        finally:
            _client.reset(token)


def each(
    function: Callable[..., Result],
    shared: object,
    items: Iterable[Item],
    *,
    threads: int = 1,
    told: Callable[[Item], Progress] | None = None,
) -> Iterator[Result]:
    """Yield `function(shared, item)` for every item, in order.

    On a cluster every worker has `shared`, and the scheduler keeps each item until it is done: what a worker was at
    when it went is begun anew on another one. Items are drawn as there is room for them, so that a trace need not be
    in memory as a whole.

    The function is of a module, and what it returns depends on its arguments alone; items are small beside `shared`.
    Without a cluster each of `threads` takes items of its own; one thread gives the function `told(item)` as its
    `progress`, where there is such.
    """
    client = _client.get()
    if client is None and threads == 1:
        for item in items:
            yield function(shared, item, **({} if told is None else {"progress": told(item)}))
        return
    if client is None:
        pool = ThreadPoolExecutor(threads)
        try:
            yield from pool.map(partial(function, shared), items)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
        return
    everywhere = _everywhere(client, shared)
    most = AHEAD * max(1, sum(client.nthreads().values()))
    waiting: deque[Any] = deque()
    try:
        for item in items:
            waiting.append(client.submit(function, everywhere, item, pure=False, retries=RETRIES))
            if len(waiting) >= most:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        client.cancel(list(waiting))


def _everywhere(client: Any, shared: object) -> Any:
    """The future of what every worker has; a worker that goes meanwhile is left out."""
    for _ in range(RETRIES):
        with contextlib.suppress(OSError):  # the connection to that worker
            return client.scatter(shared, broadcast=True, hash=False)
        time.sleep(MEANWHILE_S)
    return client.scatter(shared, broadcast=True, hash=False)
