"""Numba as the memory methods use it: compiled once and kept, sums in the order that is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def compiled(kernel: Kernel) -> Kernel:
    """Return the compiled kernel; it holds no interpreter lock while it runs."""
    try:
        kept: Any = njit(cache=True, nogil=True, error_model="numpy")(kernel)
    except RuntimeError:  # neither the package's folder nor the user's cache can be written: compile in each process
        kept = njit(cache=False, nogil=True, error_model="numpy")(kernel)
    result: Kernel = kept
    return result
