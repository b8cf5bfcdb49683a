"""Words from uploaded files, made safe for hover boxes, Markdown and spreadsheets; plurals."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from workprof.spreadsheets import spreadsheet_text

__all__ = ["counted", "label_text", "listed", "markdown_text", "plotly_text", "shortened", "spreadsheet_text"]

LONGEST = 48
_MARKUP = re.compile(r"[\\`*\[\]<>$~|&#!]|(?<!\w)_|_(?!\w)|:[\w/-]+[:\[]|://|^([-+]|\d+[.)])(\s|$)|www\.|@")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|$~:<>&])")


def shortened(text: str, longest: int = LONGEST) -> str:
    """Return a text of at most `longest` characters on one line."""
    line = " ".join(str(text).split())
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


def listed(words: Sequence[str]) -> str:
    """Return 'a, b and c'."""
    return " and ".join(part for part in (", ".join(words[:-1]), *words[-1:]) if part)


def counted(count: int, noun: str) -> str:
    """Return '1 job' or '1,234 jobs'."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
