"""Every chart has its words, numbers and axes, keeps its zoom, and passes no markup of a file on, in both themes."""

import json
import re

import pytest

from tests.charts import (
    records_for_tests as made,
    test_classify_charts as classify,
    test_clusterability_charts as clusterability,
    test_duration_charts as durations,
    test_memory_charts as memory,
    test_nodes_charts as nodes,
    test_phase_charts as phases,
    test_profile_charts as profiles,
    test_sweep_charts as sweep,
)
from workprof.charts.theme import readable

UNITS = {
    "memory": ("GB", "Strength", "Number of bins", "Runs so far", "Saved", "Past runs"),
    "phases": (
        "(s)",
        "Phase",
        "Distance (log-odds",
        "distance",
        "Run of the library",
        "Accuracy",
        "Predicted",
        "deviat",
    ),
}
DRAWN = {
    **{f"classify, {name}": lambda draw=draw: draw(classify.NAMING) for name, draw in classify.EVERY.items()},
    **{f"clusterability, {name}": lambda chart=chart: chart for name, chart in clusterability.EVERY.items()},
    **{f"durations, {name}": lambda chart=chart: chart for name, chart in durations.EVERY.items()},
    **{f"memory, {name}": draw for name, draw in memory.EVERY.items()},
    **{f"nodes, {name}": draw for name, draw in nodes.EVERY.items()},
    **{f"phases, {name}": draw for name, draw in phases.FIGURES.items()},
    **{f"profiles, {name}": lambda chart=chart: chart for name, chart in profiles.every_chart(made.fit()).items()},
    **{f"sweep, {name}": lambda chart=chart: chart for name, chart in sweep.EVERY.items()},
}
NOTED = ("classify", "clusterability", "sweep")


AMOUNT = re.compile(r"-?[\d,.]+ ?(?:[kMGTP]?i?B(?:·h)?|ms|s|min|h|d|days?|%|GB·h)")


@pytest.mark.parametrize("name", sorted(DRAWN.keys() - {"classify, waterfall"}))  # which has a field a row, in words
def test_a_file_of_a_chart_has_numbers_and_no_amounts_with_their_unit(name):
    data = DRAWN[name]().data
    texts = [cell for column in data for cell in data[column] if isinstance(cell, str)]
    assert [one for one in texts if AMOUNT.fullmatch(one.strip())] == []


@pytest.mark.parametrize("name", DRAWN)
def test_every_chart_has_its_words_numbers_and_axes(name):
    chart, room = DRAWN[name](), name.partition(",")[0]
    assert chart.takeaway.endswith(".")
    assert len(chart.alt) > 20 and chart.alt.endswith(chart.takeaway)
    assert chart.note or room not in NOTED
    assert not chart.data.empty
    assert "nan" not in f"{chart.takeaway} {chart.alt} {chart.note}".lower().replace("nano", "")
    assert chart.figure.layout.uirevision == "keep"
    axes = [axis.title.text or "" for axis in (chart.figure.layout.xaxis, chart.figure.layout.yaxis)]
    assert room not in UNITS or any(unit in " ".join(axes) for unit in UNITS[room])
    for dark in (False, True):
        assert "<img" not in json.dumps(readable(chart.figure, dark=dark).to_plotly_json(), default=str)
