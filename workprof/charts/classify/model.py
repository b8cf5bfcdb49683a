"""How good the classifier is, and what it uses: splits, classes, confusion, calibration, importance."""

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from workprof.answers.alternatives import METHOD_WORDS, alternatives_answer
from workprof.answers.classifier import (
    PAPER,
    SCORE_WORDS,
    SPLIT_NAMES,
    calibration_note,
    calibration_sentence,
    cell_words,
    class_table,
    class_words,
    classes_sentence,
    confusion_note,
    confusion_sentence,
    fields_sentence,
    leak_sentence,
    sample_words,
    split_table,
    splits_note,
    strict_split,
    tested_words,
    value_sentence,
)
from workprof.answers.forecasts import Naming
from workprof.charts import shapes
from workprof.charts.shapes import LEGEND_ABOVE, Chart, figure_of
from workprof.charts.theme import COLOURS, LIGHT_GREY, LIGHT_SCALE, OUTLIER_COLOUR, ROW_PX, rows_height
from workprof.core.words import counted, distinct, label, plotly_text, shortened
from workprof.forecasts.alternatives import BOOSTED, Alternatives
from workprof.forecasts.classifier_evaluation import ClassifierEvaluation, Confusion, SplitScores
from workprof.forecasts.explain import GlobalExplanation
from workprof.forecasts.predictions import NO_PROFILE
from workprof.profiles.names import UNCLUSTERED

PATTERNS = ("", "/", "x", ".")
HEIGHT_PX = 340


def split_bars(result: ClassifierEvaluation, naming: Naming) -> Chart:
    """Return accuracy, macro F1, weighted F1 and the abstained share under every split that could be made.

    The split that the answer quotes has the colour, the others are grey.
    """
    table = split_table(result).frame()
    strict = strict_split(result)
    traces: list[dict[str, Any]] = []
    for place, (name, scores) in enumerate(result.splits.items()):
        numbers = [getattr(scores, score) for score in SCORE_WORDS]
        written = {"text": [f"{number:.2f}" for number in numbers]} if name == strict else {}
        traces.append(
            shapes.columns(
                list(SCORE_WORDS.values()),
                numbers,
                name=SPLIT_NAMES[name],
                colour=COLOURS[0] if name == strict else OUTLIER_COLOUR,
                pattern="" if name == strict else PATTERNS[1 + place % 3],
                hover=f"{SPLIT_NAMES[name]}: %{{x}} %{{y:.3f}}",
                **written,
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
    return Chart(
        name="classifier-splits",
        figure=figure,
        takeaway=leak_sentence(result),
        shows=f"Bars of four scores under {len(result.splits)} splits.",
        data=table,
        note=naming.note(splits_note(result)),
    )


MEASURES = {"precision": "triangle-right", "recall": "square", "f1": "circle"}
WORDS = {"precision": "precision", "recall": "recall", "f1": "F1"}


def table_five(scores: SplitScores, naming: Naming) -> Chart:
    """Return precision, recall and F1 of every class under one split, the lowest F1 on top."""
    table = class_table(scores, naming).frame()
    lines = [class_words(one, naming.shown(one.profile, 20)) for one in scores.classes]
    traces: list[dict[str, Any]] = []
    for measure, symbol in MEASURES.items():
        traces.append(
            shapes.points(
                table[measure],
                lines,
                name=WORDS[measure],
                colour=COLOURS[0] if measure == "f1" else OUTLIER_COLOUR,
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
        takeaway=classes_sentence(scores, naming),
        shows=f"Dots of precision, recall and F1 for {len(lines)} classes, the lowest F1 on top.",
        data=table,
        note=naming.note(f"{tested_words(scores)}. {PAPER}"),
    )


MOST_WRITTEN = 12
"""Classes up to which the cells hold their numbers; beyond that they are too small to read."""

MOST_CLASSES = 30
"""Of the matrix, those with the most errors; the table has all."""

LINE_PX = 18
AROUND_PX = 190
SHOWN_AS = ("row %", "rows")


def confusion_heatmap(scores: SplitScores, naming: Naming, shown_as: str = "row %") -> Chart:
    """Return the confusion matrix of one split, the classes with the most errors first.

    Colour is the share of an actual class's runs that are predicted as another one; 0 is the page's own ground. What
    is right, on the diagonal, is grey. The cells hold `shown_as`, 'row %' or 'rows'.
    """
    order = _most_errors_first(scores.confusion)
    drawn = order[:MOST_CLASSES]
    all_shares = shapes.row_shares(scores.confusion.counts)
    counts, shares = scores.confusion.counts[np.ix_(drawn, drawn)], all_shares[np.ix_(drawn, drawn)]
    classes = scores.confusion.classes[drawn]
    predicted = distinct([naming.shown(int(profile), 22) for profile in classes])
    actual = [UNCLUSTERED if profile == NO_PROFILE else name for profile, name in zip(classes, predicted, strict=True)]
    right = np.eye(len(drawn), dtype=bool)
    words = [
        [
            cell_words(actual[i], result if i != j else "correctly", int(counts[i, j]), float(shares[i, j]))
            for j, result in enumerate(predicted)
        ]
        for i in range(len(drawn))
    ]
    columns = ["None" if profile == NO_PROFILE else f"P{profile}" for profile in classes]
    layers = [
        shapes.heat(
            np.where(right == diagonal, shares, np.nan),
            columns,
            actual,
            hover="%{customdata}",
            customdata=words,
            zmin=0,
            zmax=1,
            scale=False,
            colorscale=scale,
        )
        for diagonal, scale in ((True, LIGHT_GREY), (False, LIGHT_SCALE))
    ]
    texts = np.full(shares.shape, "", dtype=object)
    for cell, runs in np.ndenumerate(counts):
        if runs:
            texts[cell] = f"{runs:,}" if shown_as == "rows" else f"{shares[cell]:.0%}"  # no room for a space
    written = len(drawn) <= MOST_WRITTEN
    figure = figure_of(
        layers,
        x={"title": "Predicted", "showgrid": False, "type": "category", "tickangle": -90},
        y={"title": "Actual", "autorange": "reversed", "showgrid": False, "type": "category", "dtick": 1},
        height=AROUND_PX + (ROW_PX if written else LINE_PX) * len(drawn),
        annotations=[
            shapes.words(text, x=int(j), y=int(i)) for (i, j), text in np.ndenumerate(texts) if text and written
        ],
    )
    hidden = len(order) - len(drawn)
    return Chart(
        name=f"confusion-{scores.split.replace('_', '-')}",
        figure=figure,
        takeaway=confusion_sentence(scores.confusion, naming),
        shows=f"Heat map of actual (lines) against predicted (columns) for {len(drawn)} classes, most errors first.",
        data=confusion_table(scores.confusion, naming, shown_as),
        note=naming.note(confusion_note(scores, hidden)),
    )


def _most_errors_first(confusion: Confusion) -> NDArray[np.int64]:
    """Return the positions of the classes by their wrong runs as actual or as predicted class, the most first."""
    right = np.diag(confusion.counts)
    wrong = confusion.counts.sum(axis=1) - right + confusion.counts.sum(axis=0) - right
    return np.argsort(-wrong, kind="stable").astype(np.int64)


def confusion_table(confusion: Confusion, naming: Naming, shown_as: str) -> pd.DataFrame:
    """Return the matrix as rows or as percent of the actual class's rows, a line per actual class."""
    numbers = confusion.counts if shown_as == "rows" else np.round(100 * shapes.row_shares(confusion.counts), 1)
    names = [f"{int(profile)} {naming.name(int(profile))}" for profile in confusion.classes]
    table = pd.DataFrame(numbers, names, pd.Index(names, name="predicted"))
    table = table.rename_axis(f"truth ({shown_as})").reset_index()
    return table.assign(support=confusion.counts.sum(axis=1))


def reliability_diagram(scores: SplitScores, naming: Naming) -> Chart:
    """Return the share that was predicted correctly against the predicted probability, in ten bins."""
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
    hover = "predicted probability %{x:.2f}, correct %{y:.2f}, %{customdata:,} runs"
    figure = shapes.reliability(
        held.stated, held.observed, held.rows, y="Share predicted correctly", hover=hover, height=400
    )
    return Chart(
        name=f"calibration-{scores.split.replace('_', '-')}",
        figure=figure,
        takeaway=calibration_sentence(scores),
        shows=f"Predicted probability against the share predicted correctly in {int(filled.sum())} bins.",
        data=table,
        note=naming.note(calibration_note(scores)),
    )


AXIS = "Effect on the odds, all profiles"


def field_bars(result: GlobalExplanation, naming: Naming) -> Chart:
    """Return mean |SHAP| per field, one-hot columns summed first, over all classes."""
    totals = result.by_field.sum(axis=1)
    lines = [label(name) for name in result.fields]
    return Chart(
        name="shap-fields",
        figure=_totals(lines, result.by_field),
        takeaway=fields_sentence(lines, totals),
        shows=f"Bars of mean |SHAP| for {counted(len(lines), 'field')}.",
        data=_table("field", list(result.fields), result.by_field, result),
        note=naming.note(
            f"{sample_words(result)} Mean |SHAP| in log-odds; the columns of a field are summed per run first."
        ),
    )


def value_bars(result: GlobalExplanation, naming: Naming) -> Chart:
    """Return mean |SHAP| of the strongest columns such as 'task_name = ps', over all classes."""
    lines = distinct([shortened(value, 34) for value in result.values])  # noqa: PD011  a record's field
    return Chart(
        name="shap-values",
        figure=_totals(lines, result.by_value),
        takeaway=value_sentence(result),
        shows=f"Bars of mean |SHAP| for {counted(len(lines), 'value')}.",
        data=_table("value", list(result.values), result.by_value, result),
        note=naming.note(
            f"{sample_words(result)} The paper's figure of its top twenty (other rows): task ps 20.7, workload "
            "graphlearn 19.8, one user 15.8, workload ctr 15.5, one job 11.0."
        ),
    )


def _totals(lines: list[str], means: np.ndarray) -> go.Figure:
    """Return bars of (n_lines, n_classes) means, summed over the classes."""
    totals = means.sum(axis=1)
    bars = shapes.bars(
        totals,
        [plotly_text(line) for line in lines],
        colour=COLOURS[0],
        hover="%{y}: %{x:.3f}",
        text=[f"{total:.3g}" for total in totals],
    )
    return figure_of(
        [bars],
        x={"title": AXIS, "range": [0, 1.2 * float(totals.max(initial=0.0)) or 1.0]},
        y={"autorange": "reversed", "showgrid": False, "type": "category"},
        height=rows_height(len(lines)),
    )


def _table(kind: str, names: list[str], means: np.ndarray, result: GlobalExplanation) -> pd.DataFrame:
    table = pd.DataFrame({kind: names, "sum_over_classes": means.sum(axis=1)})
    columns = {f"class_{int(profile)}": means[:, place] for place, profile in enumerate(result.classes)}
    return pd.concat([table, pd.DataFrame(columns)], axis=1).assign(n_sampled=result.n_sampled)


def alternative_dots(result: Alternatives) -> Chart:
    """Macro F1 of each classifier, and small dots of its folds; the one in use is in colour."""
    answer = alternatives_answer(result)
    rows = [METHOD_WORDS[one.name] for one in result.methods]
    folds = [(value, row) for one, row in zip(result.methods, rows, strict=True) for value in one.by_fold]
    traces = [
        shapes.points(
            *zip(*folds, strict=True), name="a fold", colour=OUTLIER_COLOUR, size=6, hover="%{y}: %{x:.3f} in a fold"
        ),
        shapes.points(
            [one.scores.forced_macro_f1 for one in result.methods],
            rows,
            name="all folds",
            colour=[COLOURS[0] if one.name == BOOSTED else COLOURS[1] for one in result.methods],
            size=12,
            hover="%{y}: %{x:.3f}",
        ),
    ]
    figure = figure_of(
        traces,
        x={"title": "Macro F1"},
        y={"autorange": "reversed", "type": "category"},
        height=rows_height(len(rows)) + 40,
        **LEGEND_ABOVE,
    )
    shows = f"Dots of macro F1 for {len(rows)} classifiers, and of each of {len(result.methods[0].by_fold)} folds."
    return Chart("classifier-alternatives", figure, answer.sentence, shows, answer.tables[0].frame())
