"""What is requested and never used, in one sentence: the same on Home, in the ledger, over tasks and in the report."""

from __future__ import annotations

from workprof.core.units import format_share, grouped

PLURAL = ("cores", "GPUs")


def never_used(what: str, unused: float, requested: float, hours: str) -> str:
    """'68 % of requested memory is never used: 158,000 of 233,000 GB·h.'."""
    if not requested > 0:
        return f"No run held requested {what} for any time."
    are = "are" if what in PLURAL else "is"
    amounts = f"{grouped(unused)} of {grouped(requested)} {hours}"
    return f"{format_share(unused / requested, 0)} of requested {what} {are} never used: {amounts}."
