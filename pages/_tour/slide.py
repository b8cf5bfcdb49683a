"""One stop on a large screen: the finding as the title, its figures, its charts, what follows and what does not."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from pages._frame.visit import AppState
from pages._parts import figures, report_files
from pages._tour import preparation
from workprof.charts.shapes import Chart
from workprof.charts.text import markdown_text
from workprof.charts.theme import readable
from workprof.charts.tour import TourStop, report_stop
from workprof.report.bundle import BuiltReport
from workprof.store.reports import Dataset
from workprof.workbench import JOBS

LONGEST = 600
FONT_PX = 15
LEAST_PX = 460


def show(name: str, stop: TourStop) -> None:
    """Show a stop.

    Args:
        name: of it, for the keys of its charts.
        stop: what it tells.
    """
    st.title(markdown_text(stop.headline, LONGEST), anchor=False)
    if stop.figures:
        figures.headline_row(stop.figures)
    for chart in stop.charts[:1]:
        _drawn(chart, f"tour_{name}_{chart.name}")
    _meaning(stop)
    for chart in stop.charts[1:]:
        st.header(markdown_text(chart.takeaway, LONGEST), anchor=False)
        _drawn(chart, f"tour_{name}_{chart.name}")


def _meaning(stop: TourStop) -> None:
    left, right = st.columns(2)
    left.info(f"**What this means.** {markdown_text(stop.means, LONGEST)}", icon=":material/lightbulb:")
    right.warning(f"**What it does not.** {markdown_text(stop.means_not, LONGEST)}", icon=":material/front_hand:")


def _drawn(chart: Chart, key: str) -> None:
    figure = readable(large(chart.figure), dark=st.context.theme.type == "dark")
    st.plotly_chart(figure, key=key, alt=chart.alt, config={"displayModeBar": False})
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


def report(app_state: AppState, samples: dict[str, Dataset]) -> None:
    """Show what the report holds and its files; where this server has not made it yet, it is made now."""
    view = preparation.latest(app_state)
    of_sample = view is not None and view.result is not None and view.result.report.dataset.hash == samples[JOBS].hash
    if view is None or view.result is None or not of_sample:
        st.title("The report is being made", anchor=False)
        preparation.working(app_state, samples)
        return
    show("report", _told(view.result))
    report_files.show(view.result)


def _told(built: BuiltReport) -> TourStop:
    made = [section.content for section in built.report.sections if section.status == "done"]
    return report_stop(
        len(made),
        sum(len(content.charts) for content in made),
        sum(len(content.tables) for content in made),
        len(built.page),
    )
