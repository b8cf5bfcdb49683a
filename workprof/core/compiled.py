"""Numba as every kernel here uses it: compiled once and kept, outside the interpreter lock, split over threads.

The kernels release the lock and Python threads share them out. That is what numba's own parallel loops would do,
without their threading layer, which ends the process when two viewers start a computation at the same time.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from numba import njit

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def compiled(kernel: Kernel) -> Kernel:
    """Return the kernel compiled with the arithmetic as written: sums keep their order."""
    return _compile(kernel, fastmath=False)


def compiled_fast(kernel: Kernel) -> Kernel:
    """Return the kernel compiled with leave to reorder sums, so that they use the vector unit; for finite inputs."""
    return _compile(kernel, fastmath=True)


def worker_threads() -> int:
    """Return how many threads a kernel may use: OMP_NUM_THREADS where set, else the processors of this process."""
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def share_out(
    work: Callable[[int, int], None], n_items: int, chunk: int, report: Callable[[float], None] | None = None
) -> None:
    """Call `work(first, last)` for every chunk of 0 .. n_items on all threads; every chunk is done when this returns.

    Args:
        work: writes its results for items first .. last - 1 in place; must release the interpreter lock.
        n_items: number of items.
        chunk: items per call.
        report: told the share that is done, 0-1, from the calling thread; what it raises ends the work after the
            running chunks.
    """
    starts = range(0, n_items, chunk)
    pool = ThreadPoolExecutor(worker_threads())
    try:
        pieces = [pool.submit(work, first, min(first + chunk, n_items)) for first in starts]
        for done, piece in enumerate(pieces, start=1):
            piece.result()
            if report is not None:
                report(done / len(pieces))
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _compile(kernel: Kernel, *, fastmath: bool) -> Kernel:
    try:
        kept: Any = njit(cache=True, nogil=True, fastmath=fastmath, error_model="numpy")(kernel)
    except RuntimeError:  # neither the package's folder nor the user's cache can be written: compile in each process
        kept = njit(cache=False, nogil=True, fastmath=fastmath, error_model="numpy")(kernel)
    result: Kernel = kept
    return result
