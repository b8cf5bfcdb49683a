"""What a node costs and what one gets for it."""

from __future__ import annotations

import math
from collections.abc import Mapping

from workprof.errors import SettingsError


def checked_prices(prices_per_h: Mapping[str, float]) -> dict[str, float]:
    """Return node -> price per hour.

    Raises:
        SettingsError: for a price that is not a number above 0.
    """
    for node, price in prices_per_h.items():
        if not (math.isfinite(price) and price > 0):
            raise SettingsError(f"the price of {node} is {price}; give a number above 0 per hour, or none")
    return dict(prices_per_h)


def price_performance(score: float, price_per_h: float) -> float:
    """Return score per unit of money and hour; NaN without a price or a score."""
    return score / price_per_h if price_per_h > 0 else math.nan
