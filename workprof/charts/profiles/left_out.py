"""Notes on features that are left out: those with the same reason stand in one sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence

from workprof.charts.text import column_words, listed

_LEFT_OUT = re.compile(r"(\w+) is left out: (.+)\.")


def together(notes: Sequence[str]) -> tuple[str, ...]:
    """Return the notes, those on features as one for each reason: 'Left out, constant (0): read (bytes).'."""
    reasons: dict[str, list[str]] = {}
    others = []
    for note in notes:
        found = _LEFT_OUT.fullmatch(note)
        if found is None:
            others.append(note)
        else:
            reasons.setdefault(found[2], []).append(column_words(found[1]))
    return (*(f"Left out, {reason}: {listed(names)}." for reason, names in reasons.items()), *others)
