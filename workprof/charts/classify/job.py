"""One job under Classify: its profile, its needs with their intervals, the reasons, and the table of many jobs."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

import workprof
from workprof.answers.forecasts import (
    PUBLISHED,
    Naming,
    additivity,
    happened_words,
    need_sentence,
    need_words,
    needs_note,
    needs_sentence,
    prediction_sentence,
    probability_note,
    reason_sentence,
)
from workprof.charts import shapes
from workprof.charts.classify.effects import odds_axis
from workprof.charts.shapes import NEUTRAL, Chart, figure_of
from workprof.charts.theme import CHROME_PX, COLOURS, OUTLIER_COLOUR, SHARE_TICKS
from workprof.core.causes import KILLS, LOWER_BOUND
from workprof.core.records import to_json
from workprof.core.units import DAY_S, HOUR_S, MINUTE_S, format_share, odds_times
from workprof.core.words import formatted, label, plotly_text
from workprof.forecasts.estimates import TARGETS, Estimates, Happened, NearestJobs, is_bound
from workprof.forecasts.explain import JobExplanation
from workprof.forecasts.forecaster import Forecaster, Forecasts
from workprof.forecasts.predictions import N_TOP, Predictions
from workprof.store.reports import Dataset

TOP_THREE_LINE_PX = 44
TOP_THREE_AROUND_PX = 90


def top_three(predictions: Predictions, row: int, threshold: float, naming: Naming) -> Chart:
    """Return the probabilities of the most likely classes of one job, the predicted one in colour.

    `threshold` is the smallest probability of an answer; 0 = none.
    """
    classes, shares = predictions.top[row].tolist(), predictions.top_probability[row].tolist()
    names = [naming.shown(profile) for profile in classes]
    words = [format_share(share) for share in shares]
    result = None if predictions.abstained[row] else int(predictions.profile[row])
    figure = figure_of(
        [
            shapes.bars(
                shares,
                names,
                colour=[COLOURS[0] if profile == result else OUTLIER_COLOUR for profile in classes],
                hover="%{y}: probability %{x:.3f}",
                text=words,
            )
        ],
        x={"title": "Probability", "range": [0, 1.3], **SHARE_TICKS},
        y={"autorange": "reversed", "showgrid": False, "type": "category"},
        height=TOP_THREE_AROUND_PX + TOP_THREE_LINE_PX * len(names),
    )
    if naming.mode == "corrected" and threshold > 0:
        figure.add_vline(x=threshold, line={"color": OUTLIER_COLOUR, "dash": "dot", "width": 2})
    return Chart(
        name="top-profiles",
        figure=figure,
        takeaway=prediction_sentence(predictions, row, naming),
        shows=f"Bars of probability: {'; '.join(map(' '.join, zip(names, words, strict=True)))}.",
        data=pd.DataFrame(
            {
                "profile": classes,
                "name": [naming.name(profile) for profile in classes],
                "probability": shares,
                "definitions": "as published" if naming.mode == "faithful" else "default",
            }
        ),
        note=naming.note(probability_note(threshold, naming)),
    )


RAISES, LOWERS = COLOURS[0], COLOURS[1]
BASE, OUTPUT = "average job", "this job"
LONGEST_LINE = 20
"""Characters of a row's name, which takes two lines where it is longer: the bars need the room."""
ROW_PX = 36


def waterfall(result: JobExplanation, naming: Naming) -> Chart:
    """Return the SHAP values of one job and one class, the one-hot columns of each field as one bar."""
    rows = [BASE, *result.fields, OUTPUT]
    names = [BASE, *(_name(result, place, 200) for place in range(len(result.fields))), OUTPUT]
    ticks = [BASE, *(_name(result, place, LONGEST_LINE, "<br>") for place in range(len(result.fields))), OUTPUT]
    odds = ["", *map(odds_times, result.contributions.tolist()), ""]
    amounts = [result.base, *result.contributions.tolist(), result.output]
    figure = figure_of(
        [
            go.Waterfall(
                orientation="h",
                measure=["absolute", *["relative"] * len(result.fields), "total"],
                y=rows,
                x=amounts,
                text=odds,
                textposition="outside",
                cliponaxis=False,
                increasing={"marker": {"color": RAISES}},
                decreasing={"marker": {"color": LOWERS}},
                totals={"marker": {"color": OUTLIER_COLOUR}},
                connector={"line": {"color": OUTLIER_COLOUR, "width": 1, "dash": "dot"}},
                hovertext=[
                    f"{name}: {f'odds {times}, ' if times else ''}{amount:+.2f} log-odds"
                    for name, times, amount in zip(names, odds, amounts, strict=True)
                ],
                hovertemplate="%{hovertext}<extra></extra>",
            )
        ],
        x=odds_axis(np.cumsum(amounts[:-1])) | {"range": _range(amounts)},
        y={
            "autorange": "reversed",
            "showgrid": False,
            "type": "category",
            "tickvals": rows,
            "ticktext": ticks,
        },
        height=CHROME_PX + ROW_PX * len(rows),
    )
    return Chart(
        name="shap-waterfall",
        figure=figure,
        takeaway=reason_sentence(result, naming),
        shows=f"Waterfall from {result.base:.2f} to {result.output:.2f} over {len(result.fields)} fields.",
        data=pd.DataFrame(
            {
                "class": naming.name(result.profile),
                "field": [BASE, *result.fields, OUTPUT],
                "value": ["", *result.values, ""],  # noqa: PD011  a record's field
                "state": ["", *result.states, ""],
                "log_odds": [result.base, *result.contributions.tolist(), result.output],
                "definitions": "as published" if naming.mode == "faithful" else "default",
            }
        ),
        note=naming.note(f"SHAP values in log-odds of the probability shown. {additivity(result)}"),
    )


def _name(result: JobExplanation, place: int, longest: int, between: str = " ") -> str:
    """Return a field with its value; a value that training did not know says so.

    Each part of more than `longest` characters is cut; a name that is longer has `between` its parts.
    """
    state = result.states[place]
    remark = f" ({state})" if state in ("rare", "unseen") else ""
    field, value = label(result.fields[place]), result.values[place]  # noqa: PD011  a record's field
    if len(field) + len(value) + len(remark) + 3 <= longest:
        between = " "
    return f"{plotly_text(field, longest - 2)} ={between}{plotly_text(value, longest - len(remark))}{remark}"


def _range(amounts: list[float]) -> list[float]:
    """Return the ends of the axis with room for the number behind each bar."""
    ends = np.cumsum(amounts[:-1])
    low, high = min(0.0, float(ends.min())), max(0.0, float(ends.max()))
    room = 0.45 * ((high - low) or 1.0)  # at 390 px a number is as wide as two fifths of all bars
    behind = ends[1:] + np.where(np.array(amounts[1:-1]) < 0, -room, room)
    return [min(low, float(behind.min(initial=low))), max(high, float(behind.max(initial=high)))]


ESTIMATES_LINE_PX = 76
ESTIMATES_AROUND_PX = 40
ROW_SHARE = 0.55
"""Of a row's height: the marks and their words; below stand the ticks."""

MEDIAN_STROKE = 0.7
"""Of a row's unit, above and below the bar of the quartiles."""

ZERO_SHARE = 0.1
"""Of the smallest positive value: where a true zero stands on a logarithmic axis."""

LOWEST_SHARE = 1e-6
"""Of the largest end: smaller values stand at the end of the axis."""


TICKS = {
    "s": (
        *(1, 2, 5, 10, 30),
        *(MINUTE_S * n for n in (1, 2, 5, 10, 30)),
        *(HOUR_S * n for n in (1, 2, 5, 12)),
        *(DAY_S * n for n in (1, 2, 5, 10, 30, 100)),
    ),
    "bytes": tuple(size * n for size in (1e3, 1e6, 1e9) for n in (1, 2, 5, 10, 20, 50, 100, 200, 500)),
    "percent": tuple(10.0**power * n for power in range(-3, 5) for n in (1, 2, 5)),
}
MOST_TICKS = 4


def estimate_rows(
    estimates: Mapping[str, Estimates], row: int, nominal: float, actual: Mapping[str, Happened] | None = None
) -> Chart:
    """Return the estimates of one job: point, middle half and interval per target, and the actual value.

    `nominal` is the coverage that the intervals were calibrated for, 0-1; `actual` what a job that has run needed.
    """
    table = _estimates_table(estimates, row, actual or {})
    lines: list[Any] = [line for _, line in table.iterrows()]
    return Chart(
        name="estimates",
        figure=_figure(lines),
        takeaway=needs_sentence(lines),
        shows=f"One row per quantity with prediction and interval. {' '.join(map(need_sentence, lines))}",
        data=table,
        note=needs_note(lines, estimates, row, nominal, ran=bool(actual)),
    )


def _figure(lines: Sequence[pd.Series]) -> go.Figure:
    """Return one row of marks per target, each on an axis of its own."""
    data: list[dict[str, Any]] = []
    axes: dict[str, dict[str, Any]] = {"xaxis": {}, "yaxis": {}}
    notes = []
    share = 1 / max(1, len(lines))
    for place, line in enumerate(lines):
        axis = str(place + 1) if place else ""
        data += [mark | {"xaxis": f"x{axis}", "yaxis": f"y{axis}"} for mark in _marks(line)]
        top = 1 - place * share
        axes[f"xaxis{axis}"] = _axis(line) | {"anchor": f"y{axis}"}
        axes[f"yaxis{axis}"] = {
            "visible": False,
            "range": [-1, 1.6],
            "fixedrange": True,
            "anchor": f"x{axis}",
            "domain": [top - share * ROW_SHARE, top],
        }
        where: dict[str, Any] = {"x": 0, "y": 1.25, "xref": f"x{axis} domain", "yref": f"y{axis}", "xanchor": "left"}
        notes.append(shapes.words(need_words(line), size=None, **where))
    height = ESTIMATES_AROUND_PX + ESTIMATES_LINE_PX * max(1, len(lines))
    rest: dict[str, Any] = {name: axis for name, axis in axes.items() if name not in ("xaxis", "yaxis")}
    return figure_of(data, x=axes["xaxis"], y=axes["yaxis"], height=height, annotations=notes, **rest)


def _axis(line: pd.Series) -> dict[str, Any]:
    return log_axis(str(line["target"]), *_ends(line))


def log_axis(target: str, low: float, high: float) -> dict[str, Any]:
    """Return a logarithmic axis of a quantity with round ticks, from one end above zero to the other."""
    ticks = _ticks(target, low, high)
    return {
        "type": "log",
        "range": [float(np.log10(low)), float(np.log10(high))],
        "tickvals": ticks,
        "ticktext": [_tick_text(target, tick) for tick in ticks],
    }


def _estimates_table(estimates: Mapping[str, Estimates], row: int, actual: Mapping[str, Happened]) -> pd.DataFrame:
    lines = []
    for target, result in estimates.items():
        p5, p10, p25, p50, p75, p90, p95 = result.quantiles[row].tolist()
        lines.append(
            {
                "target": target,
                "point": float(result.point[row]),
                "low": float(result.low[row]),
                "high": float(result.high[row]),
                "p5": p5,
                "p10": p10,
                "p25": p25,
                "p50": p50,
                "p75": p75,
                "p90": p90,
                "p95": p95,
                "past_jobs": int(result.count[row]),
                "history_level": int(result.level[row]),
                "actual": actual[target].value if target in actual else math.nan,
                "actual_is_lower_bound": target in actual and actual[target].at_least,
            }
        )
    return pd.DataFrame(lines)


def _marks(line: pd.Series) -> list[dict[str, Any]]:
    lowest = _ends(line)[0]
    thin = [max(line["low"], lowest), max(line["high"], lowest)]
    thick = [max(line["p25"], lowest), max(line["p75"], lowest)]
    median = [max(line["p50"], lowest)] * 2
    hover = plotly_text(need_sentence(line), 300)
    happened = [
        shapes.points([max(line["actual"], lowest)], [0], colour=NEUTRAL, symbol="x", size=13, hover=hover)
        for _ in range(int(math.isfinite(line["actual"])))
    ]
    return [
        shapes.line(thin, [0, 0], colour=COLOURS[0], width=2, hover=hover),
        shapes.line(thick, [0, 0], colour=COLOURS[0], width=8, hover=hover),
        shapes.line(median, [-MEDIAN_STROKE, MEDIAN_STROKE], colour=COLOURS[0], width=3, hover=hover),
        shapes.points([max(line["point"], lowest)], [0], colour=COLOURS[0], symbol="diamond", size=14, hover=hover),
        *happened,
    ]


def _ends(line: pd.Series) -> tuple[float, float]:
    """Return the ends of a row's axis, both above zero."""
    happened = [float(line["actual"])] * int(math.isfinite(line["actual"]))
    high = max(float(line["high"]), float(line["p75"]), 1e-9, *happened)
    values = [*(float(line[name]) for name in ("low", "p25", "point")), *happened]
    low = min([value for value in values if value > 0], default=high * ZERO_SHARE)
    low = low * ZERO_SHARE if min(values) <= 0 else low
    return max(low, high * LOWEST_SHARE) / 1.5, high * 1.5


def _ticks(target: str, low: float, high: float) -> list[float]:
    """Return round values on the axis, at most four; where not even two fit, its ends."""
    kind = "s" if target.endswith("_s") else "bytes" if target.endswith("_bytes") else "percent"
    inside = [float(tick) for tick in TICKS[kind] if low * 1.1 <= tick <= high / 1.1]
    if len(inside) < 2:
        return [low * 1.1, high / 1.1]
    return inside[:: -(-len(inside) // MOST_TICKS)]


def _tick_text(target: str, tick: float) -> str:
    """Return a tick's value without the zeros behind a round duration."""
    text = formatted(target, tick)
    for zeros in (" 00 s", " 00 min", " 0 h"):
        text = text.removesuffix(zeros)
    return text


PERCENT = 100


@dataclass(frozen=True)
class Batch:
    """Answers for a file: of which forecaster and upload, the table, the columns that were not used."""

    of: tuple[str, str]
    name: str
    table: pd.DataFrame
    unknown: tuple[str, ...]


def predictions_table(jobs: pd.DataFrame, forecasts: Forecasts, naming: Naming, first_row: int = 1) -> pd.DataFrame:
    """Return one line per job: its fields, the answer or the reason why there is none, the top three, the estimates.

    What a job gives under the name of an answer, such as the time that one took, is `given_` that name. `first_row` is
    the number of the first job in its file, from 1.
    """
    profiles = forecasts.profiles
    rows = range(len(profiles))
    columns: dict[str, object] = {
        "row": np.arange(first_row, first_row + len(profiles)),
        "profile": profiles.profile,
        "name": [naming.name(int(profile)) for profile in profiles.profile],
        "probability": np.where(profiles.abstained, np.nan, profiles.probability),
        "abstained": profiles.abstained,
        "reason": [profiles.reason_text(row) for row in rows],
    }
    for place in range(min(N_TOP, profiles.top.shape[1])):
        columns[f"top{place + 1}"] = profiles.top[:, place]
        columns[f"top{place + 1}_probability"] = profiles.top_probability[:, place]
    for target, result in forecasts.estimates.items():
        columns |= {target: result.point, f"{target}_low": result.low, f"{target}_high": result.high}
    table = pd.DataFrame(columns).assign(definitions="as published" if naming.mode == "faithful" else "default")
    given = jobs.reset_index(drop=True).rename(columns={name: f"given_{name}" for name in table.columns})
    return pd.concat([table[["row"]], given, table.drop(columns="row")], axis=1)


def past_jobs_table(
    past: pd.DataFrame, nearest: NearestJobs, profiles: Mapping[int, int], naming: Naming, *, file: bool = False
) -> pd.DataFrame:
    """Return the past jobs that weigh most, the heaviest first, with their numbers as people, or a file, read them.

    `past` are their rows in the order of `nearest`; `profiles` are by row id.
    """
    marks = () if file else ("finished", "status", KILLS, LOWER_BOUND)
    table = past.drop(columns=[name for name in past.columns if name.endswith("time_s") or name in marks])
    for name in table.columns:
        if not file and pd.api.types.is_numeric_dtype(table[name]) and name != "row_id":
            values = table[name].to_numpy(dtype=float)
            lower = np.isfinite(values) & is_bound(past, name) & (name in TARGETS)
            table[name] = [happened_words(name, Happened(*each)) for each in zip(values, lower, strict=True)]
    ids = [int(row_id) for row_id in past["row_id"]]
    result = [naming.name(profiles[row_id]) if row_id in profiles else "" for row_id in ids]
    first = [name for name in ("row_id", *TARGETS) if name in table.columns]
    table = table[[*first, *(name for name in table.columns if name not in first)]]
    table.insert(1, "weight", nearest.shares if file else [f"{share * PERCENT:.1f} %" for share in nearest.shares])
    table.insert(2, "profile", result)
    return table


def forecaster_card(forecaster: Forecaster, dataset: Dataset, naming: Naming) -> bytes:
    """Return what a forecaster is as JSON: settings, inputs, classes with support, choices, notes; no trees."""
    model = forecaster.classifier
    card = {
        "dataset": {"name": dataset.name, "hash": dataset.hash, "rows": dataset.rows, "join": dataset.mode},
        "workprof": workprof.__version__,
        "definitions": "published" if naming.mode == "faithful" else "corrected",
        "definitions_note": PUBLISHED if naming.mode == "faithful" else "",
        "settings": to_json(forecaster.settings),
        "fields": list(model.encoder.fields),
        "classes": [
            {"profile": int(profile), "name": naming.name(int(profile)), "training_rows": int(rows)}
            for profile, rows in zip(model.classes, model.support, strict=True)
        ],
        "tuning": to_json(model.tuning),
        "rows": model.n_rows,
        "left_out_rows": model.n_left_out,
        "notes": list(model.notes),
        "estimates": {
            target: {"jobs": one.n_jobs, "left_out": one.n_left_out, "notes": list(one.notes)}
            | {"predictor": one.combination.chosen, "tried": to_json(one.combination.trials)}
            for target, one in forecaster.estimators.items()
        },
        "not_estimated": forecaster.left_out,
        "seconds": forecaster.seconds,
    }
    return json.dumps(card, indent=2, allow_nan=False).encode()
