"""The one rule for texts from uploaded files in tables that a spreadsheet may open: none runs, none hides."""

from __future__ import annotations

from workprof.visible import visible

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet takes a cell that starts so for a formula (after a tab or a line end it looks on)."""


def spreadsheet_text(text: str) -> str:
    """Return a text that a spreadsheet shows as it is: one that would be a formula gets an apostrophe in front.

    Hidden characters are spelled out (see `workprof.visible`).
    """
    return visible("'" + text if text.startswith(FORMULA_STARTS) else text)
