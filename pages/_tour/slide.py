"""One stop on a large screen: the finding as the title, its figures, its charts, what follows and what does not."""

import plotly.graph_objects as go
import streamlit as st

from pages._frame.visit import AppState
from pages._parts import figures, report_files
from pages._tour import preparation
from workprof.charts.shapes import Chart
from workprof.charts.theme import readable
from workprof.charts.tour import TourStop
from workprof.core.fields import read
from workprof.core.words import markdown_text
from workprof.memory.questions import VERDICT
from workprof.report.tour import trade
from workprof.store.reports import Dataset

LONGEST = 600
FONT_PX = 15
LEAST_PX = 460


def show(name: str, stop: TourStop) -> None:
    """Show a stop; its name is for the keys of its charts."""
    _headed(stop)
    _body(name, stop)


def _headed(stop: TourStop) -> None:
    st.title(markdown_text(stop.headline, LONGEST), anchor=False)
    if stop.figures:
        figures.headline_row(stop.figures)


def _body(name: str, stop: TourStop) -> None:
    for chart in stop.charts[:1]:
        _drawn(chart, f"tour_{name}_{chart.name}")
    if stop.limits:
        st.markdown("**What this cannot promise**")
        st.markdown("\n".join(f"- {markdown_text(words, LONGEST)}" for words in stop.limits))
    _meaning(stop)
    for chart in stop.charts[1:]:
        st.header(markdown_text(chart.takeaway, LONGEST), anchor=False)
        _drawn(chart, f"tour_{name}_{chart.name}")


KILLS = ("default", "0", "0.1%", "0.5%", "1%", "2%", "5%", "10%", "20%", "50%")
"""Stops of the slider of acceptable kills."""


def traded(app_state: AppState, dataset: str) -> None:
    """Show the trade-off with a slider that moves the sizes; the answer stands above it."""
    top, controls, rest = st.container(), st.container(), st.container()
    leaf = VERDICT.leaf("acceptable_kills")
    with controls:
        chosen = st.select_slider(
            "Drag the acceptable kills (share of runs)",
            KILLS,
            key="tour_kills",
            bind="query-params",
            format_func=lambda stop: leaf.about.shown.get(stop, stop),
            help=f"{leaf.about.help} Automatic: {leaf.about.empty}.",
        )
    stop = trade(app_state.workbench, dataset, str(read(leaf, str(chosen))))
    with top:
        _headed(stop)
    with rest:
        _body("memory", stop)


def _meaning(stop: TourStop) -> None:
    left, right = st.columns(2)
    left.info(f"**What this means.** {markdown_text(stop.means, LONGEST)}", icon=":material/lightbulb:")
    right.warning(f"**Caveat.** {markdown_text(stop.means_not, LONGEST)}", icon=":material/front_hand:")


def _drawn(chart: Chart, key: str) -> None:
    figure = readable(large(chart.figure), dark=st.context.theme.type == "dark")
    st.plotly_chart(figure, theme=None, key=key, alt=chart.alt, config={"displayModeBar": False})
    if chart.note:
        st.caption(markdown_text(chart.note, LONGEST))


def large(figure: go.Figure) -> go.Figure:
    """Return a copy that is read from the last row and does not take the mouse away from the page.

    Axes with marks of their own keep the size that these were chosen for.
    """
    height = max(LEAST_PX, figure.layout.height or 0)
    copy = go.Figure(figure).update_layout(height=height, font={"size": FONT_PX}, dragmode=False)
    size = {"font": {"size": FONT_PX}}
    for each in (copy.for_each_xaxis, copy.for_each_yaxis):
        each(lambda axis: axis.update({"title": size} if axis.tickvals else {"title": size, "tickfont": size["font"]}))
    return copy


def files(app_state: AppState, dataset: Dataset) -> None:
    """Show the report's files; where this server has not generated them yet, it does so now."""
    view = preparation.latest(app_state, dataset)
    if view is None or view.result is None:
        preparation.working(app_state, dataset)
        return
    report_files.show(view.result)
