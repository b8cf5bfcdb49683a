"""Memory that grows over a run: what known runs of a workload held by each moment, and both ways to size the next."""

import numpy as np
import pandas as pd

from workprof.answers.growing import growing_note, growing_sentence, growing_shown
from workprof.charts import shapes
from workprof.charts.phases.timeline import counter_names, counter_unit
from workprof.charts.shapes import LEGEND_ABOVE, Chart
from workprof.charts.theme import COLOURS
from workprof.core.words import plotly_text
from workprof.phases.growing import Growing


def growing_chart(result: Growing, workload: str | None = None) -> Chart:
    """Return the envelope and the sizes of a workload, without a name the one that saves most."""
    row = max(result.rows, key=lambda one: (one.workload == workload, one.saved_share))
    at = np.arange(len(row.envelope) + 1) * result.step_s
    held = row.sizes[np.searchsorted(row.starts_s, at[:-1], side="right") - 1]
    unit = counter_unit(result.counter)
    lines = {"known runs": row.envelope, "sizes that grow": held, "one size": np.full(len(held), row.flat_size)}
    traces = [
        shapes.panel_line(at, np.append(values[:1], values), name=name, unit=unit, panel=0, colour=COLOURS[place])
        for place, (name, values) in enumerate(lines.items())
    ]
    title = plotly_text(f"{row.workload}: {counter_names([result.counter])[0]}", 80)
    figure = shapes.panels(traces, titles=[title], units=[unit], x_range=(0.0, float(at[-1])), overlaid=True)
    figure.update_layout(legend=LEGEND_ABOVE.get("legend"))
    data = pd.DataFrame({"time_s": at[1:], **{name.replace(" ", "_"): values for name, values in lines.items()}})
    shown = growing_shown(row.workload)
    return Chart("growing-sizes", figure, growing_sentence(result), shown, data, growing_note(result))
