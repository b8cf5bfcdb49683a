"""The ways of a campaign's runs from state to state, drawn."""

from typing import Any

import pandas as pd

from workprof.answers.campaign import states_sentence
from workprof.charts import shapes
from workprof.charts.shapes import Chart, figure_of
from workprof.charts.theme import COLOURS, OUTLIER_COLOUR
from workprof.core.campaigns import STATES, CampaignStatus, WayTaken

PLACES = {
    "REGISTERED": (0.0, 1.0),
    "DEPLOYED": (1.0, 1.0),
    "RUNNING": (2.0, 1.0),
    "PROFILED": (3.0, 1.6),
    "SIZED": (4.0, 1.6),
    "FAILED": (3.0, 0.0),
}
BELOW = 0.1
"""How far the words of a state stand under its mark."""
ABOVE = {("RUNNING", "RUNNING"): 0.34, ("RUNNING", "DEPLOYED"): 0.58, ("DEPLOYED", "DEPLOYED"): 0.34}
"""Ways that no straight arrow shows: words above the state that they lead to or from."""


def campaign_ways(status: CampaignStatus) -> Chart:
    """Return the states with their runs, and an arrow for each way with the runs that took it."""
    names = list(STATES)
    across, up = zip(*(PLACES[name] for name in names), strict=True)
    labels = [f"{name}<br>{status.states.get(name, 0):,}" for name in names]
    taken = [COLOURS[0] if status.states.get(name) else OUTLIER_COLOUR for name in names]
    known = [way for way in status.ways if way.when]
    hidden: dict[str, Any] = {"visible": False}
    figure = figure_of(
        [
            shapes.points(across, up, colour=taken, size=18, text=[STATES[name] for name in names], hover="%{text}"),
            shapes.texts(across, [one - BELOW for one in up], labels, textposition="bottom center"),
        ],
        x=hidden | {"range": [-0.4, 4.4]},
        y=hidden | {"range": [-0.6, 2.1]},
        height=320,
        annotations=[mark for way in known for mark in _drawn(way)],
    )
    return Chart(
        name="campaign-ways",
        figure=figure,
        takeaway=states_sentence(status),
        shows="States of runs, with arrows between them and the number of runs that took each.",
        data=pd.DataFrame([vars(way) for way in status.ways]),
    )


def _drawn(way: WayTaken) -> list[dict[str, Any]]:
    (x, y), (to_x, to_y) = PLACES[way.before], PLACES[way.after]
    lift = ABOVE.get((way.before, way.after))
    if lift is not None:
        words = {"RUNNING": "again", "DEPLOYED": "after a kill"}[way.after]
        return [shapes.words(f"{way.runs:,} {words}", x=x, y=y + lift)] if way.runs else []
    arrow = {"x": to_x, "y": to_y, "ax": x, "ay": y, "axref": "x", "ayref": "y", "showarrow": True, "text": ""}
    look = {"arrowhead": 2, "arrowwidth": 1.4, "standoff": 12, "startstandoff": 12}
    colour = {"arrowcolor": COLOURS[0] if way.runs else OUTLIER_COLOUR}
    middle = shapes.words(f"{way.runs:,}", x=(x + to_x) / 2, y=(y + to_y) / 2, yshift=9)
    return [arrow | look | colour, *([middle] if way.runs else [])]
