"""The splits side by side: how much of a score is a leak."""

from __future__ import annotations

import math

import pandas as pd
import plotly.graph_objects as go

from workprof.charts.classify.job import Naming
from workprof.charts.classify.split_words import SPLIT_NAMES, SPLIT_WORDS
from workprof.charts.shapes import Chart
from workprof.charts.theme import COLOURS, laid_out
from workprof.forecasts.classifier_evaluation import ClassifierEvaluation, SplitScores

SCORES = {
    "accuracy": "accuracy",
    "macro_f1": "macro F1",
    "weighted_f1": "weighted F1",
    "abstained_share": "abstained share",
}
PATTERNS = ("", "/", "x", ".")
HEIGHT_PX = 400
SMALL_LEAK = 0.02


def split_bars(found: ClassifierEvaluation, naming: Naming) -> Chart:
    """Return accuracy, macro F1, weighted F1 and the abstained share under every split that could be made."""
    table = split_table(found)
    figure = go.Figure()
    for place, (name, scores) in enumerate(found.splits.items()):
        numbers = [getattr(scores, score) for score in SCORES]
        figure.add_bar(
            x=list(SCORES.values()),
            y=numbers,
            name=SPLIT_NAMES[name],
            marker={"color": COLOURS[place], "pattern": {"shape": PATTERNS[place]}},
            text=[f"{number:.2f}" for number in numbers],
            textposition="outside",
            cliponaxis=False,
            hovertemplate=f"{SPLIT_NAMES[name]}: %{{x}} %{{y:.3f}}<extra></extra>",
        )
    laid_out(
        figure,
        x="",
        y="Score (0 to 1)",
        height=HEIGHT_PX,
        barmode="group",
        showlegend=True,
        legend={"orientation": "h", "y": 1.06, "yanchor": "bottom", "x": 0, "xanchor": "left"},
    )
    figure.update_yaxes(range=[0, 1.08])
    takeaway = leak_sentence(found)
    tested = "; ".join(f"{SPLIT_NAMES[name]}: {SPLIT_WORDS[name]}" for name in found.splits)
    missing = "".join(f" Not split {SPLIT_NAMES[name]}: {reason}." for name, reason in found.not_made.items())
    return Chart(
        name="classifier-splits",
        figure=figure,
        takeaway=takeaway,
        alt=f"Bars of four scores under {len(found.splits)} splits. {takeaway}",
        data=table,
        note=naming.note(f"Tested on, {tested}.{missing}"),
    )


def split_table(found: ClassifierEvaluation) -> pd.DataFrame:
    """Return one line per split with every score of the record."""
    names = (*SCORES, "profile_accuracy", "answered_accuracy", "forced_accuracy", "forced_macro_f1")
    counts = ("calibration_error", "n_train", "n_test", "train_seconds")
    definitions = "published" if found.settings.mode == "faithful" else "corrected"
    return pd.DataFrame(
        [
            {"split": name, **{key: getattr(scores, key) for key in (*names, *counts)}, "definitions": definitions}
            for name, scores in found.splits.items()
        ]
    )


def leak_sentence(found: ClassifierEvaluation) -> str:
    """Return how much better the classifier looks when the test leaks, in one sentence."""
    strict = "by_group" if "by_group" in found.splits else "by_job"
    if "random" not in found.splits or strict not in found.splits:
        name, scores = next(iter(found.splits.items()))
        return f"Split {SPLIT_NAMES[name]}: accuracy {scores.accuracy:.2f}, macro F1 {scores.macro_f1:.2f}."
    leaky, honest = found.splits["random"], found.splits[strict]
    lost = leaky.accuracy - honest.accuracy
    kept = "job" if strict == "by_job" else "group"
    told = f"accuracy {leaky.accuracy:.2f} under a random split, {honest.accuracy:.2f} on {kept}s never seen"
    later = _later(found, min(leaky.accuracy, honest.accuracy))
    if not math.isfinite(lost) or lost < SMALL_LEAK:
        return f"No leak to speak of: {told}.{later}"
    return f"A random split leaks: {told}. {_macro(leaky, honest)}{later}"


def _later(found: ClassifierEvaluation, told: float) -> str:
    """Return that jobs of later are harder, where they are: a leak is not the only thing that flatters."""
    if "by_time" not in found.splits or not told - found.splits["by_time"].accuracy >= SMALL_LEAK:
        return ""
    return f" Jobs that come later are harder to tell: {found.splits['by_time'].accuracy:.2f}."


def _macro(leaky: SplitScores, honest: SplitScores) -> str:
    return f"Macro F1 goes from {leaky.macro_f1:.2f} to {honest.macro_f1:.2f}; believe the lower ones for new work."
