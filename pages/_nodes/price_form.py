"""Prices of nodes: typed in a field that stands in the address, or edited in a table that writes the field."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from pages._frame import link
from pages._frame.errors import refused
from pages._parts import tables
from workprof.core.fields import check_value, read
from workprof.errors import SettingsError
from workprof.nodes.questions import RANK
from workprof.nodes.ranking import Ranking

PRICES = "nodes_prices"
LONGEST_TEXT = 4000


def typed() -> dict[str, float]:
    """Show the field of prices and return node -> price per hour."""
    link.check(PRICES, _read)
    text = st.text_input(
        "Prices per hour",
        max_chars=LONGEST_TEXT,
        key=PRICES,
        bind="query-params",
        placeholder="none; or NODE=0.12, OTHER=0.4",
        help="Yours: no price list comes with this. The table under the ranking edits the same numbers.",
    )
    try:
        return _read(text)
    except SettingsError as problem:
        refused(str(problem))
        return {}


def _read(text: str) -> dict[str, float]:
    leaf = next(leaf for leaf in RANK.leaves if leaf.path == "prices_per_h")
    prices: dict[str, float] = read(leaf, text)
    check_value(leaf, prices)
    return prices


def table(found: Ranking) -> None:
    """Show the nodes with an editable price; it takes effect at once."""
    lines = pd.DataFrame(
        {
            "node": [one.node for one in found.nodes],
            "price": [one.price_per_h for one in found.nodes],
            "score_per_price": [one.price_performance for one in found.nodes],
        }
    )
    key = f"nodes_price_table_{'_'.join(f'{price:g}' for price in lines['price'])}"
    number = st.column_config.NumberColumn
    tables.edit(
        lines,
        hide_index=True,
        key=key,
        disabled=["node", "score_per_price"],
        on_change=_edited,
        args=(key, tuple(lines["node"]), dict(found.settings.prices_per_h)),
        column_config={
            "price": number("price per hour, editable", min_value=0.0, format="%.4g"),
            "score_per_price": number("score / price", format="%.3g"),
        },
    )


def _edited(key: str, nodes: tuple[str, ...], prices: dict[str, float]) -> None:
    """Take the edited prices over into the field above (a callback)."""
    st.session_state[PRICES] = after_edits(nodes, prices, st.session_state[key])


def after_edits(nodes: tuple[str, ...], prices: Mapping[str, float], changes: dict[str, Any]) -> str:
    """Return the field's text once the changes of the table's editor are made; an emptied or zero price is none."""
    found: dict[str, float | None] = dict(prices)
    for row, cells in changes["edited_rows"].items():
        found[nodes[int(row)]] = cells.get("price")
    return ", ".join(f"{node}={price:g}" for node, price in found.items() if price and math.isfinite(price))
