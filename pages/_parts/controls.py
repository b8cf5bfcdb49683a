"""Controls of a settings form. The address writes what a control shows, so the options are the short words themselves.

Streamlit binds a control to the address by its shown text; an option that is shown as it is called everywhere else
(record, command, JSON) gives links that outlive a change of wording. What a word means stands in the control's help.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages._frame.visit import Visit
from workprof.charts.help.terms import explained
from workprof.charts.text import visible
from workprof.profiles.settings import FEATURE_SETS
from workprof.store.reports import Dataset

AUTO, OWN = "auto", "own"
SETS = (AUTO, *FEATURE_SETS, OWN)
SETS_MEANING = (
    "What the jobs are compared by. auto: by mode (corrected sensors10, faithful all17); sensors10: the 10 sensor "
    "columns; all17: the 17 published columns; own: chosen below."
)
MODES_MEANING = "corrected: ours. faithful: the paper's definitions, flagged everywhere."
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


def own_features(visit: Visit, dataset: Dataset, key: str) -> list[str]:
    """Show the numeric columns and return the chosen ones; planted truths are not offered."""
    numeric = [column.name for column in visit.workbench.columns(dataset.hash) if column.numeric and not column.truth]
    return st.multiselect(
        "Own features",
        numeric,
        format_func=visible,
        key=key,
        bind="query-params",
        placeholder="At least two numeric columns",
        help="Used where the feature set is 'own'.",
    )


def features(chosen_set: str, own: list[str]) -> tuple[str, ...]:
    """Return a feature set or a choice of columns as the settings write it; empty = by mode."""
    if chosen_set == OWN:
        return tuple(own)
    return () if chosen_set == AUTO else (chosen_set,)
