"""Records that show themselves in a notebook: a few lines, a table, a figure."""

from __future__ import annotations

import importlib
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

VIEWS = "workprof.charts.records"
"""Module with `table(record)`, `figure(record)` and `title(record)`; charts stand above the methods."""
LONGEST = 1_900
"""Characters of a record in a shell."""
LONGEST_TEXT = 160
SHOWN_ROWS = 20


class Figure(Protocol):
    """What a Plotly figure does; Plotly itself ships no types, so that whoever checks a script strictly reads these."""

    data: Any
    layout: Any

    def show(self, *args: Any, **options: Any) -> None:
        """Show it, in a browser or a notebook."""

    def to_html(self, *args: Any, **options: Any) -> str:
        """As a page."""

    def to_json(self, *args: Any, **options: Any) -> str:
        """As JSON."""

    def to_image(self, *args: Any, **options: Any) -> bytes:
        """As a picture."""

    def write_html(self, file: Any, *args: Any, **options: Any) -> None:
        """Write a page."""

    def write_image(self, file: Any, *args: Any, **options: Any) -> None:
        """Write a picture."""

    def to_plotly_json(self) -> dict[str, Any]:
        """As plain data."""

    def update_layout(self, *args: Any, **options: Any) -> Figure:
        """Change titles, axes and sizes."""

    def update_traces(self, *args: Any, **options: Any) -> Figure:
        """Change lines and marks."""


class Shown:
    """A result: its fields in a few lines, its main table, its figure."""

    def to_frame(self) -> pd.DataFrame:
        """The main table: one row per profile, size, node, curve, job or change.

        Raises WorkprofError when the record has none.
        """
        result: pd.DataFrame = importlib.import_module(VIEWS).table(self)
        return result

    def title(self) -> str:
        """What the record says in one sentence."""
        result: str = importlib.import_module(VIEWS).title(self)
        return result

    def figure(self) -> Figure:
        """The Plotly figure that the dashboard leads with; raises WorkprofError when the record has none."""
        result: Figure = importlib.import_module(VIEWS).figure(self)
        return result

    def __repr__(self) -> str:
        arguments = [f"{one.name}={summary(getattr(self, one.name))}" for one in fields(self)]  # type: ignore[arg-type]
        text = f"{type(self).__name__}({', '.join(arguments)})"
        return text if len(text) <= LONGEST else f"{text[:LONGEST]} ...)"

    def _repr_html_(self) -> str:
        from html import escape  # noqa: PLC0415  of notebooks only

        title = self.title()
        table = self.to_frame()
        more = f"<p>{len(table):,} rows, the first {SHOWN_ROWS} shown</p>" if len(table) > SHOWN_ROWS else ""
        return f"<p>{escape(title)}</p>{table.head(SHOWN_ROWS).to_html(index=False)}{more}"


def summary(value: Any) -> str:
    """A value in a few words: arrays by type and shape, longer collections by their length."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape}"
    if is_dataclass(value) and not isinstance(value, type):
        scalars = {one.name: getattr(value, one.name) for one in fields(value)}
        text = ", ".join(f"{name}={item!r}" for name, item in scalars.items() if isinstance(item, (int, float, str)))
        return _cut(f"{type(value).__name__}({text})")
    if hasattr(value, "shape"):
        return f"{type(value).__name__} {value.shape}"
    if isinstance(value, dict) and any(not _plain(item) for item in value.values()):
        return f"{len(value)} by name: {_cut(', '.join(map(str, value)))}"
    if isinstance(value, (tuple, list)) and any(not _plain(item) for item in value):
        return f"{len(value)} {type(value[0]).__name__}"
    return _cut(repr(value))


def _plain(value: Any) -> bool:
    return value is None or isinstance(value, (int, float, str))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]} ..."
