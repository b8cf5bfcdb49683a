"""Silhouettes of metadata labels and of the profiles in one picture: Table II."""

from __future__ import annotations

import math

import pandas as pd
import plotly.graph_objects as go

from workprof.charts.shapes import Chart
from workprof.charts.text import plotly_text
from workprof.charts.theme import COLOURS, OUTLIER_COLOUR, laid_out
from workprof.profiles.baseline import BASELINE_METRICS, Baseline, LabelSilhouette

PROFILES, PROFILES_PUBLISHED = "profiles (outliers left out)", "profiles (outliers as one group)"
SYMBOLS = {"euclidean": "circle", "cosine": "square", "manhattan": "diamond"}
METRIC_WORDS = {"euclidean": "Euclidean", "cosine": "cosine", "manhattan": "Manhattan"}
SMALLEST_SEEN = 0.001
LINE_PX = 68
AROUND_PX = 150


def baseline_dots(found: Baseline) -> Chart:
    """Return one line per label and one for the profiles, with a mark per metric; published values are hollow."""
    table = pd.DataFrame([line for name, label in _lines(found) for line in _rows(name, label)])
    names = list(dict.fromkeys(table["label"]))
    figure = go.Figure()
    for place, metric in enumerate(BASELINE_METRICS):
        mine = table[table["metric"] == metric]
        at = [names.index(name) + 0.22 * (place - 1) for name in mine["label"]]
        figure.add_trace(_marks(mine, at, metric, "silhouette"))
        if mine["published"].notna().any():
            figure.add_trace(_marks(mine, at, metric, "published"))
    laid_out(
        figure,
        x="Mean silhouette (−1 to 1)",
        y="",
        height=AROUND_PX + LINE_PX * len(names),
        showlegend=True,
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0, "xanchor": "left"},
    )
    words = [plotly_text(name).replace(" (", "<br>(").replace(" and ", "<br>and ") for name in names]
    figure.update_yaxes(autorange="reversed", tickvals=list(range(len(names))), ticktext=words, showgrid=False)
    figure.update_xaxes(zeroline=True, zerolinecolor=OUTLIER_COLOUR, zerolinewidth=1)
    return Chart(
        name="label-baseline",
        figure=figure,
        takeaway=_takeaway(found),
        alt=f"Mean silhouettes in three metrics of {len(names)} groupings: {', '.join(names)}. {_takeaway(found)}",
        data=table,
        note=f"Filled = this dataset, {found.n_rows:,} rows, {len(found.features)} scaled features; hollow = the "
        "paper's Table II, of another sample and not verified (no code for it is public). "
        + " ".join(_own_notes(found)),
    )


def _lines(found: Baseline) -> list[tuple[str, LabelSilhouette]]:
    """Return the groupings from top to bottom: the profiles first."""
    beside = [(PROFILES, found.profiles)] if found.profiles else []
    if found.profiles and found.profiles_published and _differ(found.profiles, found.profiles_published):
        beside.append((PROFILES_PUBLISHED, found.profiles_published))
    return [*beside, *((" and ".join(label.by.split(",")), label) for label in found.labels)]


def _differ(proper: LabelSilhouette, published: LabelSilhouette) -> bool:
    """Return whether counting the outliers as one group makes a difference that the picture could show."""
    pairs = ((getattr(proper, metric), getattr(published, metric)) for metric in BASELINE_METRICS)
    return any(math.isnan(here) != math.isnan(there) or abs(here - there) > SMALLEST_SEEN for here, there in pairs)


def _rows(name: str, label: LabelSilhouette) -> list[dict[str, object]]:
    return [
        {
            "label": name,
            "metric": metric,
            "silhouette": float(getattr(label, metric)),
            "standard_error": label.standard_errors.get(metric, math.nan),
            "published": label.published.get(metric, math.nan),
            "values": label.n_values,
            "rows": label.n_rows,
            "missing_rows": label.n_missing,
            "method": label.method,
            "reason": label.reason,
        }
        for metric in BASELINE_METRICS
    ]


def _marks(rows: pd.DataFrame, at: list[float], metric: str, which: str) -> go.Scatter:
    place, hollow = BASELINE_METRICS.index(metric), which == "published"
    words = f"{METRIC_WORDS[metric]}{', published (not verified)' if hollow else ''}"
    return go.Scatter(
        x=rows[which],
        y=at,
        mode="markers",
        name=words if not hollow else "published" if place == 0 else words,
        showlegend=not hollow or place == 0,
        marker={
            "symbol": SYMBOLS[metric] + ("-open" if hollow else ""),
            "size": 12,
            "color": COLOURS[place],
            "line": {"width": 2} if hollow else {"width": 0},
        },
        customdata=rows["label"].map(plotly_text),
        hovertemplate=f"%{{customdata}}, {words}: %{{x:.3f}}<extra></extra>",
    )


def _takeaway(found: Baseline) -> str:
    scored = [(name, label) for name, label in _lines(found) if math.isfinite(label.euclidean)]
    labels = [(name, label) for name, label in scored if not name.startswith("profiles")]
    if not labels:
        return "No metadata label of this dataset has a silhouette."
    name, best = max(labels, key=lambda item: item[1].euclidean)
    told = f"the best label, {name}, reaches {best.euclidean:.2f}"
    if found.profiles is None or not math.isfinite(found.profiles.euclidean):
        return f"{told[0].upper()}{told[1:]} (Euclidean silhouette)."
    verdict = "better than" if found.profiles.euclidean > best.euclidean else "no better than"
    return (
        f"The profiles separate behaviour {verdict} metadata labels: Euclidean silhouette "
        f"{found.profiles.euclidean:.2f}, {told}."
    )


def _own_notes(found: Baseline) -> list[str]:
    return [note for note in found.notes if "paper's values" not in note]
