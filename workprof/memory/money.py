"""What memory costs: a price per GB·h that the user sets, no price list, and a saving that never exceeds the spend."""

from __future__ import annotations

import math
from dataclasses import dataclass

from workprof.errors import NotEnoughData, SettingsError

MONTH_HOURS = 365.25 * 24 / 12

ASSUMED_PRICE = 0.005
"""Per GB·h; an assumption to be replaced, not anyone's price."""


@dataclass(frozen=True)
class Price:
    """A price of memory.

    Attributes:
        per_gb_h: 0 or more.
        currency: shown as it is.
    """

    per_gb_h: float = ASSUMED_PRICE
    currency: str = "USD"

    def __post_init__(self) -> None:
        if not 0 <= self.per_gb_h < float("inf"):
            raise SettingsError(f"price is {self.per_gb_h} per GB·h; give 0 or more")
        if not self.currency.strip() or len(self.currency) > 8:
            raise SettingsError(f"currency is {self.currency!r}; give a short name such as USD")


@dataclass(frozen=True)
class Money:
    """Spend before and after.

    Attributes:
        price: as set; an assumption.
        before, after: over the trace.
        saved: before - after; at most `before`, below 0 when the plan costs more.
        span_hours: from the first to the last run of the trace; NaN where its clock is not known.
        monthly_before, monthly_after, monthly_saved: scaled to a month of such work; NaN without a span.
        note: how the month was scaled.
    """

    price: Price
    before: float
    after: float
    saved: float
    span_hours: float
    monthly_before: float
    monthly_after: float
    monthly_saved: float
    note: str


def money_of(before_gb_h: float, after_gb_h: float, span_hours: float, price: Price) -> Money:
    """Return the money of two amounts of GB·h.

    Args:
        before_gb_h: requested, 0 or more.
        after_gb_h: allotted by the plan, failed attempts included, 0 or more.
        span_hours: of the trace, NaN = not known.
        price: per GB·h.

    Raises:
        NotEnoughData: when an amount is no number of 0 or more.
    """
    for name, amount in (("before", before_gb_h), ("after", after_gb_h)):
        if not 0 <= amount < math.inf:
            raise NotEnoughData(f"{name} is {amount} GB·h, which cannot be priced; give requests and run times")
    before, after = before_gb_h * price.per_gb_h, after_gb_h * price.per_gb_h
    known = span_hours > 0
    scale = MONTH_HOURS / span_hours if known else float("nan")
    note = "the trace has no clock, so nothing is scaled to a month"
    if known:
        note = f"{span_hours:,.1f} h of the trace scaled to a month of {MONTH_HOURS:.0f} h, as if work went on alike"
    return Money(
        price, before, after, before - after, span_hours, before * scale, after * scale, (before - after) * scale, note
    )
