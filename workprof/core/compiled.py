"""Numba as every kernel here uses it: compiled once and kept, outside the interpreter lock, split over threads.

The kernels release the lock and Python threads share them out. That is what numba's own parallel loops would do,
without their threading layer, which ends the process when two viewers start a computation at the same time.
"""

import contextlib
import hashlib
import os
import secrets
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from numba import njit
from numba.core.bytecode import FunctionIdentity
from numba.core.caching import IndexDataCacheFile, NullCache
from numba.core.dispatcher import Dispatcher

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


class RandomIds:
    """Ids of compiled functions that no other process gives.

    numba numbers functions from 1 in every process and puts the number into the symbol. Two processes that compile in
    another order give two functions one symbol (the sorts of `np.sort` and `np.argsort` differ in nothing else), and
    whoever loads both from the cache runs the wrong one: numba's issue 10486.
    """

    def __next__(self) -> int:
        """The next id."""
        return secrets.randbits(62)


_identity: Any = FunctionIdentity
_identity._unique_ids = RandomIds()  # read by nothing but next()


class KernelFile(IndexDataCacheFile):
    """The cache of one kernel, with code named by what it was compiled for.

    numba counts the files up, so that two processes that compile two signatures at once write one file, and the index
    finds the code of the other. Here the worst is an entry that the index loses: it is compiled again.
    """

    def save(self, key: Any, data: Any) -> None:
        """Keep the code (`data`) of one signature (`key`); the index names it once it is there."""
        file: Any = self
        what = hashlib.sha256(repr((file._source_stamp, key)).encode()).hexdigest()
        name = f"{file._index_name.removesuffix('.nbi')}.{what[:16]}.nbc"
        file._save_data(name, data)
        file._save_index(file._load_index() | {key: name})

    def _load_index(self) -> dict[Any, str]:
        """Signature -> file of its code; empty where a signature names a class that has another name now.

        numba compares the date of the source only after it has read the signatures.
        """
        try:
            index: dict[Any, str] = super()._load_index()  # type: ignore[no-untyped-call]
        except (AttributeError, ImportError):
            return {}
        return index


def compiled(kernel: Kernel) -> Kernel:
    """The kernel compiled with the arithmetic as written: sums keep their order."""
    return _compile(kernel, fastmath=False)


def compiled_within(kernel: Kernel) -> Kernel:
    """The same for a kernel that only other kernels call: without a way in from Python, a sixth less is compiled."""
    return _compile(kernel, fastmath=False, no_cpython_wrapper=True)


def compiled_fast(kernel: Kernel) -> Kernel:
    """The kernel compiled with leave to reorder sums, so that they use the vector unit; for finite inputs."""
    return _compile(kernel, fastmath=True)


def keep_compiled(package: str) -> None:
    """Keep what a package that is imported compiles and does not keep itself, so that later processes find it."""
    modules = [module for name, module in [*sys.modules.items()] if name.partition(".")[0] == package]
    found: list[Any] = [one for each in modules for one in vars(each).values() if isinstance(one, Dispatcher)]
    for one in (each for each in found if type(each._cache) is NullCache):
        with contextlib.suppress(RuntimeError):  # as below
            one.enable_caching()
            one._cache._cache_file.__class__ = KernelFile


def worker_threads() -> int:
    """How many threads a kernel may use: OMP_NUM_THREADS where set, else the processors of this process."""
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    if wanted.isdecimal() and int(wanted) > 0:
        return int(wanted)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def share_out(
    work: Callable[[int, int], None], n_items: int, chunk: int, report: Callable[[float], None] | None = None
) -> None:
    """Call `work(first, last)` for every chunk of 0 .. n_items on all threads; every chunk is done when this returns.

    `work` writes its results for items first .. last - 1 in place, and must release the interpreter lock. `report` is
    told the share that is done, 0-1, from the calling thread; what it raises ends the work after the running chunks.
    """
    if n_items <= chunk and report is None:  # a pool costs more than small work
        work(0, n_items)
        return
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


def _compile(kernel: Kernel, *, fastmath: bool, no_cpython_wrapper: bool = False) -> Kernel:
    options: dict[str, Any] = {"nogil": True, "fastmath": fastmath, "error_model": "numpy", "no_cfunc_wrapper": True}
    options["no_cpython_wrapper"] = no_cpython_wrapper
    try:
        compiled: Any = njit(cache=True, **options)(kernel)
        if hasattr(compiled, "_cache"):  # not where NUMBA_DISABLE_JIT leaves the function as it is
            compiled._cache._cache_file.__class__ = KernelFile  # no public name for it
    except RuntimeError:  # neither the package's folder nor the user's cache can be written: compile in each process
        compiled = njit(cache=False, **options)(kernel)
    result: Kernel = compiled
    return result


@compiled_within
def sort_pairs(values: Any, items: Any) -> None:
    """Sort values in place and items with them, equal values by item (Shell's sort, with Ciura's gaps).

    numba's own argsort takes two seconds to compile, assigned slices and fancy indexes as long.
    """
    for gap in (1750, 701, 301, 132, 57, 23, 10, 4, 1):
        for i in range(gap, len(values)):
            value, item, j = values[i], items[i], i - gap
            while j >= 0 and (values[j] > value or (values[j] == value and items[j] > item)):
                values[j + gap], items[j + gap] = values[j], items[j]
                j -= gap
            values[j + gap], items[j + gap] = value, item
