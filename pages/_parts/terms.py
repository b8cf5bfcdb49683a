"""Help in the words of the glossary: of whatever shows a term, and of the columns of a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import streamlit as st

from workprof.charts.help import explained, meaning_of


def term(name: str) -> str:
    """Return what a term means, as the help of whatever shows it."""
    return meaning_of(name)


def columns(names: Iterable[object], given: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the settings of a table's columns: those given, with the glossary's meaning in the help of every term.

    Args:
        names: of the columns; a column that is no term and has no settings is left to Streamlit.
        given: column -> `st.column_config` of it.
    """
    found: dict[str, Any] = dict(given or {})
    for name in map(str, names):
        own = found.get(name)
        if isinstance(own, str):
            own = st.column_config.Column(own)
        words = explained(name, (own or {}).get("help") or "")
        if words:
            found[name] = st.column_config.Column(help=words) if own is None else {**own, "help": words}
    return found
