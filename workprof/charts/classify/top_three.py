"""The likeliest profiles of one job."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from workprof.charts.classify.naming import Naming
from workprof.charts.shapes import Chart
from workprof.charts.theme import OUTLIER_COLOUR, laid_out, mark
from workprof.forecasts.predictions import NO_PROFILE, Predictions
from workprof.units import format_share

LINE_PX = 44
AROUND_PX = 90


def top_three(said: Predictions, row: int, threshold: float, naming: Naming) -> Chart:
    """Return the probabilities of the likeliest classes of one job, the likeliest first.

    Args:
        said: of the classifier.
        row: of the job.
        threshold: smallest probability of an answer; 0 = none.
        naming: of the profiles.
    """
    classes, shares = said.top[row].tolist(), said.top_probability[row].tolist()
    names = [naming.shown(profile) for profile in classes]
    words = [format_share(share) for share in shares]
    figure = go.Figure(
        go.Bar(
            x=shares,
            y=names,
            orientation="h",
            marker={
                "color": [mark(profile).colour for profile in classes],
                "pattern": {"shape": [mark(profile).pattern for profile in classes]},
            },
            text=words,
            textposition="outside",
            cliponaxis=False,
            hovertemplate="%{y}: probability %{x:.3f}<extra></extra>",
        )
    )
    laid_out(figure, x="Probability", y="", height=AROUND_PX + LINE_PX * len(names))
    figure.update_yaxes(autorange="reversed", showgrid=False, type="category")
    figure.update_xaxes(range=[0, 1.12], tickformat=".0%", tickvals=[0, 0.25, 0.5, 0.75, 1])
    if naming.mode == "corrected" and threshold > 0:
        figure.add_vline(x=threshold, line={"color": OUTLIER_COLOUR, "dash": "dot", "width": 2})
    takeaway = answer_sentence(said, row, naming)
    return Chart(
        name="top-profiles",
        figure=figure,
        takeaway=takeaway,
        alt=f"Bars of probability: {'; '.join(map(' '.join, zip(names, words, strict=True)))}. {takeaway}",
        data=pd.DataFrame(
            {
                "profile": classes,
                "name": [naming.name(profile) for profile in classes],
                "probability": shares,
                "definitions": "published" if naming.mode == "faithful" else "corrected",
            }
        ),
        note=naming.note(_note(threshold, naming)),
    )


def answer_sentence(said: Predictions, row: int, naming: Naming) -> str:
    """Return the answer for one job, or why there is none, in one sentence."""
    best = naming.name(int(said.best[row]))
    if not said.abstained[row]:
        return f"This job looks like {best}, with probability {format_share(said.probability[row])}."
    reason = said.reason_text(row)
    if int(said.top[row][0]) == NO_PROFILE:
        return f"No answer: {reason}. The likeliest profile is {best} ({format_share(said.probability[row], 0)})."
    return f"No answer: {reason}. The likeliest would be {best} ({format_share(said.probability[row], 0)})."


def _note(threshold: float, naming: Naming) -> str:
    if naming.mode == "faithful":
        return "Probabilities are those of the trees, not calibrated."
    return (
        f"Probabilities are calibrated on jobs held out of training. The dotted line is the smallest probability of an "
        f"answer, {format_share(threshold, 0)}."
    )
