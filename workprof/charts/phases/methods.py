"""Methods for change points beside each other, typical runs and shapes of runs, and memory that grows over a run."""

import numpy as np
import pandas as pd

from workprof.answers.growing import growing_note, growing_sentence, growing_shown
from workprof.answers.phase_methods import (
    line_title,
    methods_note,
    methods_sentence,
    typical_note,
    typical_sentence,
    typical_shown,
    typical_words,
)
from workprof.answers.shapes import shapes_note, shapes_sentence, shapes_shown
from workprof.charts import shapes
from workprof.charts.phases.timeline import counter_names, counter_unit
from workprof.charts.shapes import LEGEND_ABOVE, Chart
from workprof.charts.theme import COLOURS
from workprof.core.words import counted, plotly_text
from workprof.phases.changepoints import METHOD_WORDS
from workprof.phases.growing import Growing
from workprof.phases.methods import Methods
from workprof.phases.shapes import Shapes
from workprof.phases.typical import TypicalRuns

DASHES = ("solid", "dash", "dot", "dashdot")


def methods_chart(result: Methods) -> Chart:
    """Return the counter once a method, with that method's changes, and below the agreement of PELT's."""
    times = np.arange(len(result.recorded) + 1) * result.step_s
    drawn = np.concatenate([result.recorded[:1], result.recorded])
    unit, name = counter_unit(result.counter), plotly_text(result.counter)
    traces = [shapes.panel_line(times, drawn, name=name, unit=unit, panel=panel) for panel in range(len(result.lines))]
    marks = [
        shapes.panel_boundary(float(at) * result.step_s, panel, dash="solid")
        for panel, line in enumerate(result.lines)
        for at in result.changes[line.method]
    ]
    share = np.mean(list(result.agreement.values()), axis=0)
    figure = shapes.panels(
        [*traces, shapes.strip(times[:-1], share, result.step_s, len(traces))],
        titles=[line_title(line, len(result.changes[line.method])) for line in result.lines],
        units=[unit] * len(traces),
        x_range=(0.0, float(times[-1])),
        marks=marks,
    )
    table = pd.DataFrame(
        [
            {"method": METHOD_WORDS[method], "counter": result.counter, "change_s": float(at) * result.step_s}
            for method, own in result.changes.items()
            for at in own
        ],
        columns=["method", "counter", "change_s"],
    )
    return Chart(
        "change-point-methods",
        figure,
        methods_sentence(result),
        f"{name} once for each of {counted(len(traces), 'method')}, with a line at each change.",
        table,
        methods_note(result),
    )


def typical_chart(result: TypicalRuns) -> Chart:
    """Return a panel per counter with the line of each workload's typical run."""
    words = (typical_sentence(result), typical_shown(result), typical_note(result))
    return _curves_chart(result, "typical-runs", "workload", words)


def shapes_chart(result: Shapes) -> Chart:
    """Return a panel per counter with the typical curve of each shape."""
    words = (shapes_sentence(result), shapes_shown(result), shapes_note(result))
    return _curves_chart(result, "run-shapes", "shape", words)


def _curves_chart(result: TypicalRuns | Shapes, name: str, of: str, words: tuple[str, str, str]) -> Chart:
    rows, traces = [], []
    for place, one in enumerate(result.runs):
        at = (np.arange(one.levels.shape[1]) + 0.5) / one.levels.shape[1]
        look = {"colour": COLOURS[place % len(COLOURS)], "dash": DASHES[place // len(COLOURS) % len(DASHES)]}
        for panel, counter in enumerate(result.counters):
            trace = shapes.panel_line(
                at,
                one.levels[panel],
                name=plotly_text(typical_words(one), 60),
                unit="sd",
                panel=panel,
                shape="linear",
                legendgroup=str(place),
                showlegend=not panel,
                **look,
            )
            traces.append(trace | {"hovertemplate": "%{y:+.2f} sd at %{x:.0%}<extra>" + trace["name"] + "</extra>"})
            rows += [(one.workload, counter, *pair) for pair in zip(at, one.levels[panel], strict=True)]
    figure = shapes.panels(
        traces,
        titles=counter_names(result.counters),
        units=["sd"] * len(result.counters),
        x_range=(0.0, 1.0),
        overlaid=True,
    )
    figure.update_xaxes(title={"text": "Share of the run"}, tickformat=".0%")
    figure.update_layout(legend=LEGEND_ABOVE.get("legend"), height=figure.layout.height + 22 * len(result.runs))
    data = pd.DataFrame(rows, columns=[of, "counter", "share_of_run", "value_sd"])
    return Chart(name, figure, words[0], words[1], data, words[2])


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
