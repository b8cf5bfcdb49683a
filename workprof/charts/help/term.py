"""A term of the glossary."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Term:
    """A term, what it means here, and the room that it belongs to."""

    name: str
    meaning: str
    room: str
