"""A chart as every page shows it: its sentence, the figure with its alternative text, its note, its numbers."""

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVarTuple

import plotly.graph_objects as go
import streamlit as st

from pages._frame import look
from pages._frame.errors import guard
from pages._parts import tables
from workprof.charts.shapes import Chart, Headline, headline as headline_of
from workprof.core.answer import Figure
from workprof.core.words import label_text, markdown_text

Shared = TypeVarTuple("Shared")

IMAGE_FORMATS = ("png", "svg")
IMAGE_FORMAT = "image_format"
LONGEST_SENTENCE = 600
MOST_IN_LINE = 6
"""Figures side by side on a wide page; a box narrower than that cuts its words."""
FEWEST_IN_LINE = 4
"""Columns of a line of one to three figures, which would be too wide otherwise."""


def show(
    chart: Chart,
    *,
    key: str,
    on_select: Callable[[], None] | None = None,
    modes: tuple[Literal["points", "box", "lasso"], ...] = ("points", "box", "lasso"),
    sentence: bool = True,
) -> None:
    """Show a chart; `on_select` makes selections of these modes call it. Without its sentence below an answer."""
    if sentence:
        st.markdown(f"**{markdown_text(chart.takeaway, LONGEST_SENTENCE)}**")
    st.plotly_chart(
        _Sent(chart, selectable=on_select is not None),
        theme=None,  # the figure has the look already
        key=key,
        on_select=on_select or "ignore",
        selection_mode=modes,
        config=_config(chart, selectable=on_select is not None and "lasso" in modes),
        alt=chart.alt,
    )
    if chart.note:
        st.caption(markdown_text(chart.note, LONGEST_SENTENCE))
    data = st.expander("Data", type="compact", icon=":material/table:", key=f"{key}_shown", on_change="rerun")
    if data.open:
        with data:
            tables.saved_frame(chart.data, chart.name, key=f"{key}_data", alt=chart.alt)


class _Sent(go.Figure):  # type: ignore[misc]
    """A chart as Streamlit takes figures: it asks for their dictionary, which Plotly would make anew at every run."""

    def __init__(self, chart: Chart, *, selectable: bool = False) -> None:
        self.__dict__["made"] = chart.sent(
            dark=st.context.theme.type == "dark", selectable=selectable, narrow=look.narrow()
        )

    def to_dict(self) -> dict[str, Any]:
        made: dict[str, Any] = self.__dict__["made"]
        return made


def headline(text: str) -> None:
    """Show the sentence that answers the page's question, in Markdown: texts of files escaped. It comes first."""
    with st.container(key=look.HEADLINE):
        st.markdown(f"**{text}**")


def fold(title: str, key: str, show: Callable[[*Shared], None], *shared: *Shared, icon: str | None = None) -> None:
    """Show a section that is computed when it is opened; the address says under its key whether it is.

    `show` draws the section of `shared`; an error in it leaves the rest of the page as it is. The icon is of
    Material's, with the colons.
    """
    section = st.expander(title, icon=icon, key=key, on_change="rerun", bind="query-params")
    if section.open:
        with section, guard():
            show(*shared)


def small(chart: Chart, *, key: str, sentence: bool = True) -> None:
    """Show a chart of a card: figure and sentence, no controls."""
    st.plotly_chart(_Sent(chart), theme=None, key=key, alt=chart.alt, config={"displayModeBar": False})
    if sentence:
        st.caption(markdown_text(chart.takeaway, LONGEST_SENTENCE))


def headline_row(items: Sequence[Headline | Figure]) -> None:
    """Show figures with their meaning as help; where two lines are needed they are about equally long."""
    headlines = [headline_of(item) if isinstance(item, Figure) else item for item in items]
    lines = math.ceil(len(headlines) / MOST_IN_LINE) or 1
    with st.grid(max(math.ceil(len(headlines) / lines), FEWEST_IN_LINE), min_column_width=150, gap="xsmall"):
        for item in headlines:
            st.metric(
                label_text(item.label, LONGEST_SENTENCE),
                label_text(item.value, LONGEST_SENTENCE),
                help=item.help,
                border=True,
                height="stretch",
                delta=label_text(item.detail, LONGEST_SENTENCE) or None,
                delta_color="off",
                delta_arrow="off",
            )


def _config(chart: Chart, *, selectable: bool) -> dict[str, Any]:
    """Return the mode bar: a camera that saves the chosen image format, nothing that leaves the machine."""
    return {
        "displaylogo": False,
        "showSendToCloud": False,
        "responsive": True,
        "toImageButtonOptions": {"format": _image_format(), "filename": chart.name, "scale": 2},
        "modeBarButtonsToRemove": [] if selectable else ["lasso2d", "select2d"],
    }


def file_choices() -> None:
    """Show in the sidebar's settings what the camera of every chart saves, and how CSV files begin."""
    with st.sidebar.popover("Settings", icon=":material/settings:", type="tertiary"):
        st.radio(
            "Chart download format",
            IMAGE_FORMATS,
            format_func=str.upper,
            horizontal=True,
            key=IMAGE_FORMAT,
            persist_state="session",
            help="The camera at the upper right of a chart saves it in this format.",
        )
        tables.mark_choice()


def _image_format() -> str:
    return str(st.session_state.get(IMAGE_FORMAT) or IMAGE_FORMATS[0])
