"""The help of a control in the words of the glossary."""

from __future__ import annotations

from workprof.charts.help import meaning_of


def term(name: str) -> str:
    """Return what a term means, as the help of whatever shows it."""
    return meaning_of(name)
