"""The schedule in figures: how long runs wait by the number of nodes."""

from workprof.answers.schedule import NAMES, curve_table, point_words, schedule_sentence
from workprof.charts import shapes
from workprof.charts.shapes import LEGEND_ABOVE, Chart, figure_of
from workprof.charts.theme import COLOURS
from workprof.core.units import MINUTE_S
from workprof.memory.schedule import Schedule

HEIGHT_PX = 340
LEAST_S = 1.0
"""Waits below it are drawn at it, as the axis is logarithmic."""
FEW_NODES = 10
"""Between both ends of the axis: it names each number, where Plotly would name parts of one."""


def waits_chart(result: Schedule) -> Chart:
    """The wait that 95 % of the runs do not exceed, by the number of nodes."""
    traces = []
    names = list(dict.fromkeys(one.name for one in result.curve))
    for place, name in enumerate(names):
        own = [one for one in result.curve if one.name == name]
        traces.append(
            shapes.line(
                [one.nodes for one in own],
                [max(one.p95_s, LEAST_S) / MINUTE_S for one in own],
                colour=COLOURS[place],
                hover="%{customdata}<extra></extra>",
                mode="lines+markers",
                customdata=list(map(point_words, own)),
                name=NAMES[name],
            )
        )
    limit = result.settings.most_wait_min
    fewest, most = (end(one.nodes for one in result.curve) for end in (min, max))
    if limit > 0:
        ends = [fewest, most]
        traces.append(shapes.line(ends, [limit, limit], colour=shapes.NEUTRAL, dash="dot", name="longest wait"))
    figure = figure_of(
        traces,
        x={"title": "Nodes", "tickformat": ",d", **({"dtick": 1} if most - fewest < FEW_NODES else {})},
        y={"title": "95 % wait at most (min)", "type": "log", "dtick": 1},
        height=HEIGHT_PX,
        **LEGEND_ABOVE,
    )
    return Chart(
        name="memory-schedule",
        figure=figure,
        takeaway=schedule_sentence(result),
        shows="The wait that 95 % of the runs do not exceed, by the number of nodes.",
        data=curve_table(result).frame(),
        note="Waits below one second are drawn at one second.",
    )
