"""How a running step tells how far it is.

A step calls `progress(fraction, message)`: `fraction` is 0-1, or None where the work cannot be counted.
"""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[float | None, str], None]


def silent(fraction: float | None, message: str) -> None:
    """Tell nobody."""
