"""Why one job got its profile: from the expected score to its own, field by field."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from workprof.charts.classify.naming import Naming
from workprof.charts.shapes import Chart
from workprof.charts.text import label, plotly_text, shortened
from workprof.charts.theme import COLOURS, OUTLIER_COLOUR, laid_out, rows_height
from workprof.forecasts.explain import JobExplanation

RAISES, LOWERS = COLOURS[0], COLOURS[1]
BASE, OUTPUT = "expected score", "score of this job"
LONGEST_LINE = 30


def waterfall(found: JobExplanation, naming: Naming) -> Chart:
    """Return the SHAP values of one job and one class, the one-hot columns of each field as one bar."""
    lines = [BASE, *_lines(found), OUTPUT]
    amounts = [found.base, *found.contributions.tolist(), found.output]
    figure = go.Figure(
        go.Waterfall(
            orientation="h",
            measure=["absolute", *["relative"] * len(found.fields), "total"],
            y=[plotly_text(line, LONGEST_LINE + 16) for line in lines],
            x=amounts,
            text=[f"{found.base:.2f}", *(f"{amount:+.2f}" for amount in found.contributions), f"{found.output:.2f}"],
            textposition="outside",
            cliponaxis=False,
            increasing={"marker": {"color": RAISES}},
            decreasing={"marker": {"color": LOWERS}},
            totals={"marker": {"color": OUTLIER_COLOUR}},
            connector={"line": {"color": OUTLIER_COLOUR, "width": 1, "dash": "dot"}},
            hovertemplate="%{y}: %{text}<extra></extra>",
        )
    )
    laid_out(figure, x="Score (log-odds)", y="", height=rows_height(len(lines)))
    figure.update_yaxes(autorange="reversed", showgrid=False, type="category")
    figure.update_xaxes(range=_range(amounts), zeroline=True, zerolinecolor=OUTLIER_COLOUR)
    takeaway = _takeaway(found, naming)
    return Chart(
        name="shap-waterfall",
        figure=figure,
        takeaway=takeaway,
        alt=f"Waterfall from {found.base:.2f} to {found.output:.2f} over {len(found.fields)} fields. {takeaway}",
        data=_table(found, naming),
        note=naming.note(f"Exact SHAP values of the score before softmax and calibration. {additivity(found)}"),
    )


def additivity(found: JobExplanation) -> str:
    """Return whether base and contributions add up to the score, with the gap."""
    return (
        f"Additivity {'holds' if found.additive else 'FAILS'}: expected score and contributions give the job's score "
        f"within {found.additivity_error:.1e} (at most 0.001 is believed)."
    )


def _lines(found: JobExplanation) -> list[str]:
    """Return a line per field, each different; a value that training did not know says so."""
    lines = []
    for field, value, state in zip(found.fields, found.values, found.states, strict=True):
        remark = f" ({state})" if state in ("rare", "unseen") else ""
        lines.append(f"{shortened(f'{label(field)} = {value}', LONGEST_LINE)}{remark}")
    return lines


def _range(amounts: list[float]) -> list[float]:
    """Return the ends of the axis with room for the numbers beside the bars."""
    steps, at = [0.0, amounts[0]], amounts[0]
    for amount in amounts[1:-1]:
        at += amount
        steps.append(at)
    low, high = min(steps), max(steps)
    room = 0.3 * ((high - low) or 1.0)
    return [low - room, high + room]


def _takeaway(found: JobExplanation, naming: Naming) -> str:
    if not found.sentences:
        return f"No field says much for or against {naming.name(found.profile)} here."
    first = found.sentences[0]
    field = next((name for name in found.fields if first.startswith(f"{name} ")), "")
    first = label(field) + first[len(field) :]
    return f"{first[:1].upper()}{first[1:]}, more than any other field."


def _table(found: JobExplanation, naming: Naming) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "class": naming.name(found.profile),
            "field": [BASE, *found.fields, OUTPUT],
            "value": ["", *found.values, ""],  # noqa: PD011  a record's field
            "state": ["", *found.states, ""],
            "log_odds": [found.base, *found.contributions.tolist(), found.output],
            "definitions": "published" if naming.mode == "faithful" else "corrected",
        }
    )
