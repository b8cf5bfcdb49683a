"""Other classifiers beside the boosted trees: macro F1 of each, and of each fold."""

from workprof.answers.alternatives import METHOD_WORDS, alternatives_answer
from workprof.charts import shapes
from workprof.charts.shapes import LEGEND_ABOVE, Chart, figure_of
from workprof.charts.theme import COLOURS, OUTLIER_COLOUR, rows_height
from workprof.forecasts.alternatives import BOOSTED, Alternatives


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
