"""How good the classifier is, and what it looks at: splits, classes, confusion, calibration, importance."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from workprof.charts import shapes
from workprof.charts.classify.job import Naming
from workprof.charts.shapes import LEGEND_ABOVE, Chart, figure_of
from workprof.charts.text import counted, label, plotly_text, shortened
from workprof.charts.theme import COLOURS, OUTLIER_COLOUR, mark, rows_height
from workprof.core.units import format_share
from workprof.forecasts.classifier_evaluation import ClassifierEvaluation, Confusion, SplitScores
from workprof.forecasts.explain import GlobalExplanation
from workprof.forecasts.predictions import NO_PROFILE
from workprof.profiles.names import UNCLUSTERED

SPLIT_NAMES = {"random": "random", "by_job": "by job", "by_group": "by group", "by_time": "by time"}
SPLIT_WORDS = {
    "random": "rows drawn at random (other rows of the same job may be in training)",
    "by_job": "jobs that training never saw",
    "by_group": "groups that training never saw",
    "by_time": "jobs that start after everything in training ended",
}


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
    traces: list[dict[str, Any]] = []
    for place, (name, scores) in enumerate(found.splits.items()):
        numbers = [getattr(scores, score) for score in SCORES]
        traces.append(
            shapes.columns(
                list(SCORES.values()),
                numbers,
                name=SPLIT_NAMES[name],
                colour=COLOURS[place],
                pattern=PATTERNS[place],
                hover=f"{SPLIT_NAMES[name]}: %{{x}} %{{y:.3f}}",
                text=[f"{number:.2f}" for number in numbers],
            )
        )
    figure = figure_of(
        traces,
        x={},
        y={"title": "Score (0 to 1)", "range": [0, 1.08]},
        height=HEIGHT_PX,
        barmode="group",
        **LEGEND_ABOVE,
    )
    tested = "; ".join(f"{SPLIT_NAMES[name]}: {SPLIT_WORDS[name]}" for name in found.splits)
    missing = "".join(f" Not split {SPLIT_NAMES[name]}: {reason}." for name, reason in found.not_made.items())
    return Chart(
        name="classifier-splits",
        figure=figure,
        takeaway=leak_sentence(found),
        shows=f"Bars of four scores under {len(found.splits)} splits.",
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
    traces: list[dict[str, Any]] = []
    for place, (measure, symbol) in enumerate(MEASURES.items()):
        traces.append(
            shapes.points(
                table[measure],
                lines,
                name=WORDS[measure],
                colour=COLOURS[place],
                symbol=symbol,
                size=10,
                hover=f"%{{y}}: {WORDS[measure]} %{{x:.3f}}",
            )
        )
    figure = figure_of(
        traces,
        x={"title": "Score (0 to 1)", "range": [-0.03, 1.03], "zeroline": True, "zerolinecolor": OUTLIER_COLOUR},
        y={"autorange": "reversed", "type": "category", "dtick": 1},
        height=rows_height(len(lines)) + 30,
        **LEGEND_ABOVE,
    )
    return Chart(
        name=f"table-v-{scores.split.replace('_', '-')}",
        figure=figure,
        takeaway=_table_five_takeaway(scores, naming),
        shows=f"Dots of precision, recall and F1 for {len(lines)} classes, the lowest F1 on top.",
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


def _table_five_takeaway(scores: SplitScores, naming: Naming) -> str:
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


MOST_WRITTEN = 12
"""Classes up to which the cells hold their numbers; beyond that they are too small to read."""

SHOWN_AS = ("row %", "rows")


def confusion_heatmap(scores: SplitScores, naming: Naming, shown_as: str = "row %") -> Chart:
    """Return the confusion matrix of one split: colour = share of the truth's rows.

    Args:
        scores: of the split.
        naming: of the profiles.
        shown_as: 'row %' or 'rows': the number in each cell.
    """
    confusion = scores.confusion
    shares = shapes.row_shares(confusion.counts)
    answers = [naming.shown(int(profile), 18) for profile in confusion.classes]
    truths = [UNCLUSTERED if profile == -1 else name for profile, name in zip(confusion.classes, answers, strict=True)]
    cells = shapes.heat(
        shares,
        answers,
        truths,
        hover="%{customdata}",
        customdata=[
            [
                f"truth {truth}, answer {answer}: {confusion.counts[i, j]:,} rows, "
                f"{format_share(shares[i, j])} of the truth's"
                for j, answer in enumerate(answers)
            ]
            for i, truth in enumerate(truths)
        ],
        zmin=0,
        zmax=1,
        colorbar={"orientation": "h", "y": 1.0, "yanchor": "bottom", "tickformat": ".0%", "thickness": 10},
    )
    texts = np.full(shares.shape, "", dtype=object)
    for cell, rows in np.ndenumerate(confusion.counts):
        if rows:
            texts[cell] = f"{rows:,}" if shown_as == "rows" else f"{shares[cell]:.0%}"  # no room for a space
    figure = figure_of(
        [cells],
        x={"title": "Answer", "showgrid": False, "type": "category", "tickangle": -90},
        y={"title": "Truth", "autorange": "reversed", "showgrid": False, "type": "category", "dtick": 1},
        height=rows_height(len(truths)) + 80,
        annotations=shapes.cell_words(texts, shares) if len(answers) <= MOST_WRITTEN else [],
    )
    return Chart(
        name=f"confusion-{scores.split.replace('_', '-')}",
        figure=figure,
        takeaway=_confusion_takeaway(confusion, shares, answers, truths),
        shows=f"Heat map of truth (lines) against answer (columns) for {len(truths)} classes.",
        data=confusion_table(confusion, naming, shown_as),
        note=naming.note(
            f"Tested on {SPLIT_WORDS[scores.split]}, {scores.n_test:,} rows. Colour: share of the truth's rows, on "
            "the diagonal the recall; hover for the rows. Answer 'No profile' is an abstention."
        ),
    )


def confusion_table(confusion: Confusion, naming: Naming, shown_as: str) -> pd.DataFrame:
    """Return the matrix as rows or as percent of the truth's rows, a line per truth."""
    numbers = confusion.counts if shown_as == "rows" else np.round(100 * shapes.row_shares(confusion.counts), 1)
    names = [f"{int(profile)} {naming.name(int(profile))}" for profile in confusion.classes]
    table = pd.DataFrame(numbers, index=names, columns=names).rename_axis(f"truth ({shown_as})").reset_index()
    return table.assign(support=confusion.counts.sum(axis=1))


def _confusion_takeaway(confusion: Confusion, shares: np.ndarray, answers: list[str], truths: list[str]) -> str:
    wrong = confusion.counts.copy()
    np.fill_diagonal(wrong, 0)
    if not wrong.any():
        return "No row is answered wrong."
    i, j = np.unravel_index(int(wrong.argmax()), wrong.shape)
    return (
        f"The most frequent mistake: truth {truths[i]}, answer {answers[j]}, {wrong[i, j]:,} rows "
        f"({format_share(shares[i, j], 0)} of that truth)."
    )


GOOD_ERROR = 0.05


def reliability_diagram(scores: SplitScores, naming: Naming) -> Chart:
    """Return the share that was right against the probability that was stated, in ten bins."""
    held = scores.reliability
    filled = held.rows > 0
    table = pd.DataFrame(
        {
            "from": held.edges[:-1],
            "to": held.edges[1:],
            "rows": held.rows,
            "stated": held.stated,
            "observed": held.observed,
        }
    )
    hover = "stated %{x:.2f}, right %{y:.2f}, %{customdata:,} rows"
    figure = shapes.reliability(
        held.stated, held.observed, held.rows, y="Share that was right", hover=hover, height=400
    )
    return Chart(
        name=f"calibration-{scores.split.replace('_', '-')}",
        figure=figure,
        takeaway=_calibration_takeaway(scores),
        shows=f"Stated probability against the share that was right in {int(filled.sum())} bins.",
        data=table,
        note=naming.note(
            f"Of the most likely class, 'no profile' included; tested on {SPLIT_WORDS[scores.split]}, "
            f"{scores.n_test:,} rows. Larger dots have more rows; on the dotted line a probability means what it says."
        ),
    )


def _calibration_takeaway(scores: SplitScores) -> str:
    held = scores.reliability
    if not np.isfinite(held.error):
        return "There are no test rows to compare probabilities with."
    filled = held.rows > 0
    gap = float(np.average(held.stated[filled] - held.observed[filled], weights=held.rows[filled]))
    if held.error <= GOOD_ERROR:
        return f"Probabilities hold: they are off by {held.error:.2f} on average (expected calibration error)."
    side = "too confident" if gap > 0 else "too cautious"
    return f"The classifier is {side} here: probabilities are off by {held.error:.2f} on average."


AXIS = "Mean |SHAP|, all classes (log-odds)"


def field_bars(found: GlobalExplanation, naming: Naming) -> Chart:
    """Return mean |SHAP| per field, one-hot columns summed first, stacked by class."""
    totals = found.by_field.sum(axis=1)
    lines = [label(name) for name in found.fields]
    return Chart(
        name="shap-fields",
        figure=_stacked(lines, found.by_field, found, naming),
        takeaway=_fields_takeaway(lines, totals),
        shows=f"Stacked bars of mean |SHAP| for {counted(len(lines), 'field')}.",
        data=_table("field", list(found.fields), found.by_field, found),
        note=naming.note(f"{sample_words(found)} The columns of a field are summed per row before the mean."),
    )


def value_bars(found: GlobalExplanation, naming: Naming) -> Chart:
    """Return mean |SHAP| of the strongest columns such as 'task_name = ps', stacked by class."""
    values, totals = found.values, found.by_value.sum(axis=1)  # noqa: PD011  a record's field
    lines = _distinct([shortened(value, 34) for value in values])
    return Chart(
        name="shap-values",
        figure=_stacked(lines, found.by_value, found, naming),
        takeaway=f"The strongest single value is {values[0]} ({totals[0]:.2f})." if values else "There are no values.",
        shows=f"Stacked bars of mean |SHAP| for {counted(len(lines), 'value')}.",
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
    traces: list[dict[str, Any]] = []
    for place in np.argsort(-means.sum(axis=0), kind="stable"):
        look = mark(int(found.classes[place]))
        traces.append(
            shapes.bars(
                means[:, place],
                [plotly_text(line) for line in lines],
                name=naming.shown(int(found.classes[place])),
                colour=look.colour,
                pattern=look.pattern,
                edge=0,
                hover="%{y}, %{fullData.name}: %{x:.3f}",
            )
        )
    return figure_of(
        traces,
        x=AXIS,
        y={"autorange": "reversed", "showgrid": False, "type": "category"},
        height=rows_height(len(lines)),
        barmode="stack",
    )


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


BINS = 80
WIDEST = 0.42
"""Half the height of a field's band that its dots may fill."""

MOST_DOTS = 1_000
"""Per field; the sample is in random order of the draw, so its first rows are a sample too."""

SHADES = 21
LINE_PX = 56
AROUND_PX = 110


def beeswarm(found: GlobalExplanation, naming: Naming) -> Chart:
    """Return the contributions of each field to the likeliest class of the sampled jobs."""
    n_dots = min(found.n_sampled, MOST_DOTS)
    rows = np.linspace(0, found.n_sampled - 1, n_dots).astype(np.int64)
    figure = figure_of(
        [_dots(found, naming, rows, place, field) for place, field in enumerate(found.fields)],
        x={"title": "SHAP value (log-odds)", "zeroline": True, "zerolinecolor": OUTLIER_COLOUR},
        y={
            "autorange": "reversed",
            "tickvals": list(range(len(found.fields))),
            "ticktext": [label(field) for field in found.fields],
            "zeroline": False,
        },
        height=AROUND_PX + LINE_PX * len(found.fields),
    )
    return Chart(
        name="shap-beeswarm",
        figure=figure,
        takeaway=_beeswarm_takeaway(found),
        shows=f"Dots of SHAP values of {n_dots:,} jobs for {len(found.fields)} fields.",
        data=beeswarm_table(found, naming),
        note=naming.note(
            f"{sample_words(found)} {n_dots:,} dots per field. For the likeliest class of each job. Numbers "
            "go from blue (lowest in training) to orange (highest); names, and numbers that are not given, are grey."
        ),
    )


def beeswarm_table(found: GlobalExplanation, naming: Naming) -> pd.DataFrame:
    """Return one line per sampled job: its class, and value and contribution of every field."""
    table = pd.DataFrame(
        {"row_id": found.row_ids, "class": found.chosen, "name": [naming.name(int(one)) for one in found.chosen]}
    )
    for place, field in enumerate(found.fields):
        table[field] = found.shown[:, place]
        table[f"shap_{field}"] = found.contributions[:, place]
    return table


def offsets(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (n,) heights that keep dots of about the same value apart: the fuller a bin, the wider."""
    span = float(values.max() - values.min()) or 1.0
    bins = np.clip(((values - values.min()) / span * BINS).astype(np.int64), 0, BINS - 1)
    order = np.argsort(bins, kind="stable")
    counts = np.bincount(bins, minlength=BINS)
    first = np.concatenate(([0], np.cumsum(counts)[:-1]))
    rank = np.empty(len(values), dtype=np.int64)
    rank[order] = np.arange(len(values)) - np.repeat(first, counts)
    centred = rank - (counts[bins] - 1) / 2
    heights: NDArray[np.float64] = 2 * WIDEST * centred / max(int(counts.max()), 2)
    return heights


def _dots(found: GlobalExplanation, naming: Naming, rows: NDArray[np.int64], place: int, field: str) -> dict[str, Any]:
    values, positions = found.contributions[rows, place], found.positions[rows, place]
    return shapes.points(
        values,
        place + offsets(values),
        type="scattergl",
        colour=_colours(positions),
        size=5,
        opacity=0.75,
        hover=f"{label(field)}: %{{x:+.2f}}, %{{text}}",
        text=[
            f"row {found.row_ids[row]}, {naming.shown(int(found.chosen[row]))}: {plotly_text(found.shown[row, place])}"
            for row in rows
        ],
    )


def _colours(positions: NDArray[np.float64]) -> list[str]:
    """Return a colour per dot, each visible on both pages' backgrounds; grey where there is no place in a range."""
    from plotly.colors import sample_colorscale  # noqa: PLC0415  only where a beeswarm is drawn

    scale = sample_colorscale([[0.0, COLOURS[0]], [1.0, COLOURS[1]]], np.linspace(0, 1, SHADES).tolist())
    return [scale[round(place * (SHADES - 1))] if np.isfinite(place) else OUTLIER_COLOUR for place in positions]


def _beeswarm_takeaway(found: GlobalExplanation) -> str:
    spread = np.abs(found.contributions).mean(axis=0)
    if not len(spread) or not spread.max():
        return "No field moves the score of a job's own class."
    most = int(spread.argmax())
    return f"{label(found.fields[most]).capitalize()} moves a job's own class most: by {spread[most]:.2f} on average."
