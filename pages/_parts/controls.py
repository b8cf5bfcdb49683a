"""Controls of a settings form. The address writes what a control shows, so the options are the short words themselves.

Streamlit binds a control to the address by its shown text; an option that is shown as it is called everywhere else
(record, command, JSON) gives links that outlive a change of wording. What a word means stands in the control's help.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from workprof.charts.help.terms import explained
from workprof.charts.text import visible

AUTO = "auto"
LARGEST = 10_000_000
LARGEST_GB = 1e6
LARGEST_AMOUNT = 1e9


def choice(words: str, key: str, options: tuple[str, ...], meaning: str | None = None, *, index: int = 0) -> str:
    """Show a list of words and return the chosen one."""
    chosen: str = st.selectbox(
        words,
        options,
        index=index,
        format_func=visible,
        key=key,
        bind="query-params",
        help=explained(words, meaning or "") or None,
    )
    return chosen


def count(words: str, key: str, value: int, meaning: str, *, least: int = 0) -> int:
    """Show a field for a whole number and return it."""
    return int(
        st.number_input(
            words,
            min_value=least,
            max_value=LARGEST,
            value=value,
            key=key,
            bind="query-params",
            help=explained(words, meaning),
        )
    )


def number(
    words: str,
    key: str,
    value: float,
    bounds: tuple[float, float],
    meaning: str = "",
    **further: Any,
) -> float:
    """Show a field for a number within bounds and return it; `further` are Streamlit's step, width and disabled."""
    return float(
        st.number_input(
            words,
            min_value=bounds[0],
            max_value=bounds[1],
            value=value,
            format="%g",
            key=key,
            bind="query-params",
            help=explained(words, meaning) or None,
            **further,
        )
    )
