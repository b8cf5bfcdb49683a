"""Tables of a page: every cell and header as it is written, the help of each heading, and the button that saves one."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from workprof.answers.help.terms import explained, heading
from workprof.core.answer import Table
from workprof.core.table import BYTE_ORDER_MARK, MEASURES, MISSING, Column, csv_bytes
from workprof.core.units import format_share
from workprof.core.words import visible_table

MOST_ROWS = 1000
SHARE = MEASURES["share"].form


def show(
    frame: pd.DataFrame | list[dict[str, Any]],
    declared: Sequence[Column] = (),
    *,
    column_config: Mapping[str, Any] | None = None,
    **further: Any,
) -> Any:
    """Show a table, with the headings of its declared columns, as `st.dataframe` does and return what it returns.

    Columns that are values of something, as the frame's `columns.name` says, are called as they are.
    """
    given = pd.DataFrame(frame)
    plain = visible_table(given)
    table: Frame = plain
    look = headings([] if given.columns.name else given.columns, column_config)
    if declared:
        table, look = _declared(plain, declared)
    return st.dataframe(table, hide_index=True, placeholder=MISSING, column_config=look, **further)


def answer(table: Table, **further: Any) -> Any:
    """Show a table of an answer as `show` does."""
    frame, config = _made_once(table)
    return st.dataframe(frame, hide_index=True, placeholder=MISSING, column_config=config, **further)


MOST_KEPT = 32
"""Tables that are made once for all runs of the pages that show them, each with its rows, which are kept alive."""
Frame = pd.DataFrame | Styler
Look = tuple[Frame, dict[str, Any]]
_KEPT: OrderedDict[Hashable, tuple[Sequence[Any], Look]] = OrderedDict()
_GUARD = threading.Lock()


def _made_once(table: Table) -> Look:
    """Return how a table looks, of before where the same rows stand under the same columns."""
    if not 0 < len(table.rows) <= MOST_ROWS:
        return _declared(visible_table(table.shown()), table.seen)
    key = table.columns, tuple(map(id, table.rows))
    with _GUARD:
        known = _KEPT.get(key)
        if known is not None:
            _KEPT.move_to_end(key)
            return known[1]
    look = _declared(visible_table(table.shown()), table.seen)
    with _GUARD:
        _KEPT[key] = tuple(table.rows), look
        while len(_KEPT) > MOST_KEPT:
            _KEPT.popitem(last=False)
    return look


def _declared(frame: pd.DataFrame, declared: Sequence[Column]) -> Look:
    """Return how a declared table looks: shares are written as everywhere, and are numbers that can be sorted."""
    shares = [one.name for one in declared if one.number and one.shown_form == SHARE and one.name in frame]
    look = columns(declared, shares)
    written: dict[str, Any] = dict.fromkeys(shares, format_share)
    return (frame.style.format(written, na_rep=MISSING) if shares else frame), look


def saved(table: Table, name: str, *, key: str, alt: str, **further: Any) -> Any:
    """Show a table of an answer with a button that saves all of it as CSV, and return what `show` does."""
    shown = answer(replace(table, rows=table.rows[:MOST_ROWS]), key=key, alt=alt, **further)
    _rest(len(table.rows), table.frame, name, key)
    return shown


def saved_frame(frame: pd.DataFrame, name: str, *, key: str, alt: str, **further: Any) -> None:
    """Show a table of data, as `show` does, with a button that saves all of it as CSV."""
    show(frame.head(MOST_ROWS), key=key, alt=alt, **further)
    _rest(len(frame), frame, name, key)


def _rest(rows: int, table: pd.DataFrame | Callable[[], pd.DataFrame], name: str, key: str) -> None:
    if rows > MOST_ROWS:
        st.caption(f"The first {MOST_ROWS:,} of {rows:,} rows; the file has all of them.")
    csv(table, name, f"{key}_csv", "Download CSV")


def columns(declared: Sequence[Column], written: Sequence[str] = ()) -> dict[str, Any]:
    """Return the `column_config` of a declared table: headings, formats, help and the glossary's meaning of terms.

    The frame says how the columns `written` are shown.
    """
    given = {}
    for one in declared:
        look = {"help": one.help, "width": one.width, "pinned": one.pinned}
        look |= {"format": one.shown_form if one.number and one.name not in written else ""}
        known: dict[str, Any] = {name: value for name, value in look.items() if value}
        kind: Any = st.column_config.NumberColumn if one.number else st.column_config.Column
        if known or one.heading:
            given[one.name] = kind(one.title if one.heading else None, **known)
    return headings([one.name for one in declared], given)


def edit(
    frame: pd.DataFrame, declared: Sequence[Column] = (), *, column_config: Mapping[str, Any], **further: Any
) -> None:
    """Show a table with an editable column as `st.data_editor` does."""
    table, look = _declared(visible_table(frame), declared)
    config = look | dict(column_config)
    st.data_editor(table, hide_index=True, placeholder=MISSING, column_config=config, **further)


def headings(names: Iterable[object], given: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the settings of a table's columns: those given, each name in words, the glossary's meaning of every term.

    Names are as the CSV has them; one that is its heading and no term is left to Streamlit. None hides a column.
    """
    result: dict[str, Any] = dict(given or {})
    for name in map(str, names):
        own = result.get(name)
        if own is None and name in result:
            continue
        if isinstance(own, str):
            own = st.column_config.Column(own)
        words = explained(name, (own or {}).get("help") or "")
        label = (own or {}).get("label") or heading(name)
        if words or label != ((own or {}).get("label") or name):
            result[name] = {**(own or st.column_config.Column()), "label": label, "help": words or None}
    return result


MARK = "csv_mark"
"""Of the session: CSV files begin with a byte order mark."""


def mark_choice() -> None:
    """Show in the sidebar's settings whether CSV files begin with a byte order mark."""
    st.toggle(
        "CSV with a byte order mark",
        key=MARK,
        persist_state="session",
        help="Some spreadsheets read a CSV file as UTF-8 only with it.",
    )


def mark_of(mime: str) -> str:
    """Return what a file of a kind begins with: of CSV the byte order mark, where the session asks for it."""
    return BYTE_ORDER_MARK if mime == "text/csv" and st.session_state.get(MARK) else ""


def csv(table: pd.DataFrame | Callable[[], pd.DataFrame], name: str, key: str, words: str) -> None:
    """Show a button that saves a table."""
    mark = bool(st.session_state.get(MARK))
    st.download_button(
        words,
        data=lambda: csv_bytes(table() if callable(table) else table, mark=mark),
        file_name=f"{name}.csv",
        mime="text/csv",
        on_click="ignore",
        key=key,
        icon=":material/download:",
    )
