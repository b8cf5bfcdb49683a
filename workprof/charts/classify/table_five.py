"""The paper's Table V: precision, recall and F1 per profile with its test rows, the worst first."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from workprof.charts.classify.job import Naming
from workprof.charts.classify.split_words import SPLIT_WORDS
from workprof.charts.shapes import Chart
from workprof.charts.text import counted
from workprof.charts.theme import COLOURS, OUTLIER_COLOUR, laid_out, rows_height
from workprof.forecasts.classifier_evaluation import SplitScores
from workprof.forecasts.predictions import NO_PROFILE

MEASURES = {"precision": "triangle-right", "recall": "square", "f1": "circle"}
WORDS = {"precision": "precision", "recall": "recall", "f1": "F1"}
WEAK_F1 = 0.5
"""Below it a profile is named in the sentence: it is missed or mistaken more often than not."""

MOST_NAMED = 5
PAPER = "The paper's Table V (random split, other rows): accuracy 95.19 %, macro F1 0.90, one profile with F1 0."


def table_five(scores: SplitScores, naming: Naming) -> Chart:
    """Return precision, recall and F1 of every class under one split, the lowest F1 on top."""
    table = class_table(scores, naming)
    lines = [f"{naming.shown(one.profile, 20)} · {counted(one.support, 'row')}" for one in scores.classes]
    figure = go.Figure()
    for place, (measure, symbol) in enumerate(MEASURES.items()):
        figure.add_scatter(
            x=table[measure],
            y=lines,
            mode="markers",
            name=WORDS[measure],
            marker={"symbol": symbol, "size": 10, "color": COLOURS[place]},
            hovertemplate=f"%{{y}}: {WORDS[measure]} %{{x:.3f}}<extra></extra>",
        )
    laid_out(
        figure,
        x="Score (0 to 1)",
        y="",
        height=rows_height(len(lines)) + 30,
        showlegend=True,
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0, "xanchor": "left"},
    )
    figure.update_yaxes(autorange="reversed", type="category", dtick=1)
    figure.update_xaxes(range=[-0.03, 1.03], zeroline=True, zerolinecolor=OUTLIER_COLOUR)
    takeaway = _takeaway(scores, naming)
    return Chart(
        name=f"table-v-{scores.split.replace('_', '-')}",
        figure=figure,
        takeaway=takeaway,
        alt=f"Dots of precision, recall and F1 for {len(lines)} classes, the lowest F1 on top. {takeaway}",
        data=table,
        note=naming.note(f"Tested on {SPLIT_WORDS[scores.split]}, {scores.n_test:,} rows. {PAPER}"),
    )


def class_table(scores: SplitScores, naming: Naming) -> pd.DataFrame:
    """Return one line per class in the order of the record: the worst first."""
    return pd.DataFrame(
        [
            {
                "profile": one.profile,
                "name": naming.name(one.profile),
                "precision": one.precision,
                "recall": one.recall,
                "f1": one.f1,
                "support": one.support,
                "split": scores.split,
                "definitions": "published" if naming.mode == "faithful" else "corrected",
            }
            for one in scores.classes
        ]
    )


def _takeaway(scores: SplitScores, naming: Naming) -> str:
    profiles = [one for one in scores.classes if one.profile != NO_PROFILE]
    if not profiles:
        return "No profile occurs among the test rows."
    weak = [one for one in profiles if one.f1 < WEAK_F1]
    if not weak:
        worst = profiles[0]
        return f"Every profile is found: the worst, {naming.name(worst.profile)}, has F1 {worst.f1:.2f}."
    named = ", ".join(f"{naming.name(one.profile)} ({one.f1:.2f})" for one in weak[:MOST_NAMED])
    more = f" and {len(weak) - MOST_NAMED} more" if len(weak) > MOST_NAMED else ""
    return (
        f"{len(weak)} of {len(profiles)} profiles have F1 below {WEAK_F1}: {named}{more}; the weighted F1 of "
        f"{scores.weighted_f1:.2f} hides them."
    )
