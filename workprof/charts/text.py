"""Words of charts: those of `workprof.core.words`."""

from workprof.core.text import visible
from workprof.core.words import (
    column_words,
    counted,
    formatted,
    label,
    label_text,
    listed,
    markdown_text,
    option_words,
    plotly_text,
    shortened,
    title,
    unit,
    visible_table,
)

__all__ = [
    "column_words",
    "counted",
    "formatted",
    "label",
    "label_text",
    "listed",
    "markdown_text",
    "option_words",
    "plotly_text",
    "shortened",
    "title",
    "unit",
    "visible",
    "visible_table",
]
