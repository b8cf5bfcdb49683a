"""Words from uploaded files, made safe for hover boxes, Markdown and spreadsheets; plurals."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

import pandas as pd

from workprof.visible import visible

__all__ = [
    "counted",
    "label_text",
    "listed",
    "markdown_text",
    "plotly_text",
    "shortened",
    "visible",
    "visible_table",
]

LONGEST = 48
_MARKUP = re.compile(r"[\\`*\[\]<>$~|&#!]|(?<!\w)_|_(?!\w)|:[\w/-]+[:\[]|://|^([-+]|\d+[.)])(\s|$)|www\.|@")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|$~:<>&])")


def shortened(text: str, longest: int = LONGEST) -> str:
    """Return a text of at most `longest` characters on one line, hidden ones spelled out."""
    line = visible(" ".join(str(text).split()))
    return line if len(line) <= longest else line[: longest - 1] + "…"


def plotly_text(text: str, longest: int = LONGEST) -> str:
    """Return a text that Plotly shows as it is (it reads some HTML)."""
    return html.escape(shortened(text, longest), quote=False)


def markdown_text(text: str, longest: int = LONGEST) -> str:
    """Return a text that Markdown shows as it is."""
    return _MARKDOWN.sub(r"\\\1", shortened(text, longest))


def label_text(text: str, longest: int = LONGEST) -> str:
    """Return a text that a label shows as it is; unchanged where Markdown makes nothing of it, as of '24.6 %'."""
    return markdown_text(text, longest) if _MARKUP.search(text) else shortened(text, longest)


def visible_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose headers and texts have their hidden characters spelled out."""
    names = [visible(name) if isinstance(name, str) else name for name in frame.columns]
    shown = frame.copy(deep=False) if names == list(frame.columns) else frame.set_axis(names, axis=1)
    for place in range(shown.shape[1]):
        column = shown.iloc[:, place]
        if not pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_datetime64_any_dtype(column):
            texts = [visible(item) if isinstance(item, str) else item for item in column]
            if any(new is not old and new != old for new, old in zip(texts, column, strict=True)):
                shown.isetitem(place, texts)
    return shown


def listed(words: Sequence[str]) -> str:
    """Return 'a, b and c'."""
    return " and ".join(part for part in (", ".join(words[:-1]), *words[-1:]) if part)


def counted(count: int, noun: str) -> str:
    """Return '1 job' or '1,234 jobs'."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
