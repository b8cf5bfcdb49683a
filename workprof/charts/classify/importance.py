"""What the classifier looks at over all jobs: mean |SHAP| per field, and per value the paper's top twenty."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from workprof.charts.classify.job import Naming
from workprof.charts.shapes import Chart
from workprof.charts.text import counted, label, plotly_text, shortened
from workprof.charts.theme import laid_out, mark, rows_height
from workprof.forecasts.explain import GlobalExplanation
from workprof.units import format_share

AXIS = "Mean |SHAP|, all classes (log-odds)"


def field_bars(found: GlobalExplanation, naming: Naming) -> Chart:
    """Return mean |SHAP| per field, one-hot columns summed first, stacked by class."""
    totals = found.by_field.sum(axis=1)
    lines = [label(name) for name in found.fields]
    return Chart(
        name="shap-fields",
        figure=_stacked(lines, found.by_field, found, naming),
        takeaway=_fields_takeaway(lines, totals),
        alt=f"Stacked bars of mean |SHAP| for {counted(len(lines), 'field')}. {_fields_takeaway(lines, totals)}",
        data=_table("field", list(found.fields), found.by_field, found),
        note=naming.note(f"{sample_words(found)} The columns of a field are summed per row before the mean."),
    )


def value_bars(found: GlobalExplanation, naming: Naming) -> Chart:
    """Return mean |SHAP| of the strongest columns such as 'task_name = ps', stacked by class."""
    values, totals = found.values, found.by_value.sum(axis=1)  # noqa: PD011  a record's field
    lines = _distinct([shortened(value, 34) for value in values])
    takeaway = f"The strongest single value is {values[0]} ({totals[0]:.2f})." if values else "There are no values."
    return Chart(
        name="shap-values",
        figure=_stacked(lines, found.by_value, found, naming),
        takeaway=takeaway,
        alt=f"Stacked bars of mean |SHAP| for {counted(len(lines), 'value')}. {takeaway}",
        data=_table("value", list(values), found.by_value, found),
        note=naming.note(
            f"{sample_words(found)} The paper's figure of its top twenty (other rows): task ps 20.7, workload "
            "graphlearn 19.8, one user 15.8, workload ctr 15.5, one job 11.0."
        ),
    )


def sample_words(found: GlobalExplanation) -> str:
    """Return what the means rest on, and whether they add up."""
    verdict = "holds" if found.additive else "FAILS"
    return (
        f"A random sample of {found.n_sampled:,} of {found.n_rows:,} jobs, seed {found.seed}. Additivity {verdict}: "
        f"the largest gap is {found.additivity_error:.1e} (at most 0.001 is believed)."
    )


def _stacked(lines: list[str], means: np.ndarray, found: GlobalExplanation, naming: Naming) -> go.Figure:
    """Return bars of (n_lines, n_classes) means, a colour and a pattern per class, the strongest class first."""
    figure = go.Figure()
    for place in np.argsort(-means.sum(axis=0), kind="stable"):
        look = mark(int(found.classes[place]))
        figure.add_bar(
            x=means[:, place],
            y=[plotly_text(line) for line in lines],
            orientation="h",
            name=naming.shown(int(found.classes[place])),
            marker={"color": look.colour, "pattern": {"shape": look.pattern}, "line": {"width": 0}},
            hovertemplate="%{y}, %{fullData.name}: %{x:.3f}<extra></extra>",
        )
    laid_out(figure, x=AXIS, y="", height=rows_height(len(lines)), barmode="stack")
    figure.update_yaxes(autorange="reversed", showgrid=False, type="category")
    return figure


def _fields_takeaway(lines: list[str], totals: np.ndarray) -> str:
    if not len(totals) or not totals.sum():
        return "No field moves the score."
    share = totals / totals.sum()
    first = ", ".join(f"{line} ({format_share(part, 0)})" for line, part in zip(lines[:3], share[:3], strict=True))
    return f"The answers rest on {first} of all the movement."


def _table(kind: str, names: list[str], means: np.ndarray, found: GlobalExplanation) -> pd.DataFrame:
    table = pd.DataFrame({kind: names, "sum_over_classes": means.sum(axis=1)})
    columns = {f"class_{int(profile)}": means[:, place] for place, profile in enumerate(found.classes)}
    return pd.concat([table, pd.DataFrame(columns)], axis=1).assign(n_sampled=found.n_sampled)


def _distinct(lines: list[str]) -> list[str]:
    """Return the lines with a number behind those that shortening made equal."""
    seen: dict[str, int] = {}
    result = []
    for line in lines:
        seen[line] = seen.get(line, 0) + 1
        result.append(line if seen[line] == 1 else f"{line} ({seen[line]})")
    return result
