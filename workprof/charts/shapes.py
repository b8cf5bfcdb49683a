"""What every figure function returns, and the shapes that figures are put together from."""

import functools
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ParamSpec, TypeVar

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from workprof.answers.help.terms import explained
from workprof.charts.theme import COLOURS, SCALE, ink, readable
from workprof.core.answer import Answer, Figure

Given = ParamSpec("Given")
Drawn = TypeVar("Drawn")
MOST_DRAWN_ONCE = 64
"""Charts that are kept of every function, the latest ones; each takes some hundred kilobytes at most."""


@dataclass(frozen=True)
class Chart:
    """A figure with its words and its numbers."""

    name: str  # stem of every file saved from it
    figure: go.Figure  # the Plotly figure
    takeaway: str  # what it says, in one sentence
    shows: str  # what is drawn, in one sentence for those who cannot see it; '' = the takeaway says it
    data: pd.DataFrame  # the numbers that it draws, one row per mark
    note: str = ""  # what it rests on (rows, sampling, definitions); '' = nothing to add

    @property
    def alt(self) -> str:
        """The text alternative: what is drawn, and what it says."""
        return f"{self.shows} {self.takeaway}".strip()

    @cached_property
    def light(self) -> go.Figure:
        """The figure in the look of the pages, on a light background."""
        return readable(self.figure, dark=False)

    @cached_property
    def dark(self) -> go.Figure:
        """The figure in the look of the pages, on a dark background."""
        return readable(self.figure, dark=True)

    def sent(self, *, dark: bool, selectable: bool, narrow: bool = False) -> dict[str, Any]:
        """Plotly's dictionary of the figure in the look of the pages, made once; nobody changes it."""
        if (dark, selectable, narrow) not in self._sent:
            if narrow:
                made = readable(self.figure, dark=dark, narrow=True).to_dict()
            else:
                made = (self.dark if dark else self.light).to_dict()
            if selectable:  # as Streamlit sets it once a chart is drawn, which would draw it again
                made["layout"] |= {"clickmode": "event+select", "hovermode": "closest"}
            self._sent[dark, selectable, narrow] = made
        return self._sent[dark, selectable, narrow]

    @cached_property
    def _sent(self) -> dict[tuple[bool, bool, bool], dict[str, Any]]:
        return {}


def drawn_once(draw: Callable[Given, Drawn]) -> Callable[Given, Drawn]:
    """Let a function return the chart that it drew before for the same arguments; a page draws all at every run.

    Results count as the same when they are the same object, which is not kept alive; names and the like when equal.
    """
    cached: OrderedDict[Hashable, tuple[Drawn, tuple[weakref.ref[Any], ...]]] = OrderedDict()
    guard = threading.Lock()

    @functools.wraps(draw)
    def once(*args: Given.args, **options: Given.kwargs) -> Drawn:
        values: dict[int | str, Any] = dict(enumerate(args))
        values.update(options)
        parts = {name: _by_value(value) for name, value in values.items()}
        objects = [value for name, value in values.items() if parts[name] is None and value is not None]
        key = tuple((name, id(values[name]) if part is None else part) for name, part in parts.items())
        with guard:
            known = cached.get(key)
            if known is not None and all(one() is value for one, value in zip(known[1], objects, strict=True)):
                cached.move_to_end(key)
                return known[0]
        chart = draw(*args, **options)
        with guard:
            cached[key] = chart, tuple(map(weakref.ref, objects))
            while len(cached) > MOST_DRAWN_ONCE:
                cached.popitem(last=False)
        return chart

    return once


def _by_value(value: Any) -> Hashable | None:
    """Return what stands for a value in a key; None where only its identity does."""
    try:
        part = tuple(value.items()) if isinstance(value, Mapping) else value
        hash(part)
    except TypeError:
        return None
    return part


@dataclass(frozen=True)
class Headline:
    """One figure of a headline row: label, value as text, what it means, and an optional second line."""

    label: str
    value: str
    meaning: str
    detail: str = ""

    @property
    def help(self) -> str:
        """What it means here, and what the glossary says of its label."""
        return explained(self.label, self.meaning)


def headlines(answer: Answer) -> tuple[Headline, ...]:
    """The figures of an answer, with what the glossary says of their labels."""
    return tuple(map(headline, answer.figures))


def headline(figure: Figure) -> Headline:
    """A figure of an answer."""
    return Headline(figure.label, figure.value, figure.meaning, figure.detail)


NEUTRAL = "#7b828c"

LEGEND_ABOVE: dict[str, Any] = {"showlegend": True, "top": 56}
LEGEND_BELOW: dict[str, Any] = {
    "showlegend": True,
    "top": 8,
    "legend": {"orientation": "h", "y": -0.2, "yanchor": "top", "x": 0},
}
"""For `figure_of`: where the legend stands."""


def figure_of(
    traces: Sequence[dict[str, Any]],
    *,
    x: str | dict[str, Any],
    y: str | dict[str, Any],
    height: int,
    top: int = 24,
    **more: Any,
) -> go.Figure:
    """Return a figure made at once: it is drawn anew at every click, and Plotly checks each later change once more.

    `x` and `y` are titles with their units, or axes with a 'title'; height and top margin are pixels; `more` is of the
    layout.
    """
    layout: dict[str, Any] = {
        "height": height,
        "margin": {"l": 8, "r": 8, "t": top, "b": 8},
        "xaxis": _titled(x),
        "yaxis": _titled(y),
        "showlegend": False,
        "legend": {"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
        "uirevision": "keep",
        "hoverlabel": {"align": "left"},
    }
    return go.Figure({"data": list(traces), "layout": layout | more})


def line(
    x: Any, y: Any, *, colour: Any, width: float | None = None, hover: str | None = "", **more: Any
) -> dict[str, Any]:
    """Return a line as a trace, its width in pixels.

    `hover` is the template of the words at a point; '' = none, None = as `more` says. Of `more`, `dash` and `shape` are
    of the line, the rest of the trace.
    """
    look = {"color": colour, "width": width, "dash": more.pop("dash", None), "shape": more.pop("shape", None)}
    trace = {"type": "scatter", "mode": "lines", "x": x, "y": y, "line": _known(look)}
    return trace | _hover(hover) | more


def points(x: Any, y: Any, *, colour: Any, size: Any = None, hover: str | None = "", **more: Any) -> dict[str, Any]:
    """Return marks as a trace; `symbol`, `opacity` and `outline` (pixels) are of the marks, the rest as of `line`."""
    look = {"color": colour, "size": size, "symbol": more.pop("symbol", None), "opacity": more.pop("opacity", None)}
    outline = more.pop("outline", None)
    look["line"] = None if outline is None else {"width": outline}
    return {"type": "scatter", "mode": "markers", "x": x, "y": y, "marker": _known(look)} | _hover(hover) | more


def unseen(x: Any, y: Any, words: Sequence[str], customdata: Any, **more: Any) -> dict[str, Any]:
    """Return marks that are not drawn, but hovered over and clicked: on cells, which Plotly cannot select.

    They are empty texts: a mark without a colour is a shape that has to be made and styled all the same.
    """
    look: dict[str, Any] = {"mode": "text", "text": "", "hovertext": words, "hoverinfo": "text"}
    return {"type": "scatter", "x": x, "y": y, "customdata": customdata} | look | more


def bars(x: Any, y: Any, *, colour: Any, pattern: Any = None, hover: str | None = "", **more: Any) -> dict[str, Any]:
    """Return bars to the right as a trace; a `text` stands behind its bar."""
    return columns(x, y, colour=colour, pattern=pattern, hover=hover, orientation="h", **more)


def columns(x: Any, y: Any, *, colour: Any, pattern: Any = None, hover: str | None = "", **more: Any) -> dict[str, Any]:
    """Return upright bars as a trace; a `text` stands on its bar, an `edge` (pixels) around it."""
    look = {"color": colour, "pattern": None if pattern is None else {"shape": pattern}}
    edge = more.pop("edge", None)
    look["line"] = None if edge is None else {"width": edge}
    place = {"textposition": "outside", "cliponaxis": False} if "text" in more else {}
    return {"type": "bar", "x": x, "y": y, "marker": _known(look)} | place | _hover(hover) | more


def area(x: Any, y: Any, *, fill: str, **more: Any) -> dict[str, Any]:
    """Return the ground inside a closed line as a trace."""
    return line(x, y, colour=None, width=0, fill="toself", fillcolor=fill, **more)


def texts(x: Any, y: Any, text: Sequence[str], **more: Any) -> dict[str, Any]:
    """Return a column of words as a trace."""
    return {"type": "scatter", "mode": "text", "x": x, "y": y, "text": text, "hoverinfo": "skip"} | more


def heat(
    z: Any, x: Any, y: Any, *, hover: str | None = "", gap: int = 1, scale: bool = True, **more: Any
) -> dict[str, Any]:
    """Return (n_rows, n_columns) cells on the colour scale as a trace; `hover` as of `line`, the gap in pixels.

    `scale` is whether a bar of the colours stands beside them.
    """
    trace = {"type": "heatmap", "z": z, "x": x, "y": y, "colorscale": SCALE}
    gaps = {"xgap": gap, "ygap": gap} if gap else {}
    return trace | gaps | ({} if scale else {"showscale": False}) | _hover(hover) | more


def box(row: str, quantiles: Sequence[float], *, colour: str, size: int | None = None, **more: Any) -> dict[str, Any]:
    """Return the box of one line of a figure as a trace; points have a size in pixels.

    Quantiles are low whisker, lower quartile, median, upper quartile, high whisker.
    """
    parts = zip(("lowerfence", "q1", "median", "q3", "upperfence"), quantiles, strict=True)
    look = {"orientation": "h", "name": row, "marker": _known({"color": colour, "size": size})}
    return {"type": "box", "y": [row], **{part: [float(value)] for part, value in parts}, **look} | more


def interval(values: Any, low: Any, high: Any, *, colour: str, width: float | None = None) -> dict[str, Any]:
    """Return the intervals of values as error bars: (n,) each; an end that is not known is not drawn."""
    above, below = (
        np.nan_to_num(np.maximum(np.subtract(*ends), 0.0), posinf=0.0) for ends in ((high, values), (values, low))
    )
    look = _known({"color": colour, "thickness": width})
    return {"type": "data", "symmetric": False, "array": above, "arrayminus": below, **look}


def reliability(stated: Any, observed: Any, rows: Any, *, y: str, hover: str, height: int) -> go.Figure:
    """Return what was observed against what was stated: a dot per bin, larger with more rows, beside the diagonal.

    All are (n_bins,); an empty bin is not drawn. In `hover` '%{x}' is stated, '%{y}' observed, '%{customdata}' rows.
    """
    filled = np.flatnonzero(rows > 0)
    dots = points(
        stated[filled].tolist() or [None],
        observed[filled].tolist() or [None],
        mode="lines+markers",
        colour=COLOURS[0],
        size=(8 + 24 * np.sqrt(rows[filled] / max(rows.max(), 1))).tolist(),
        line={"color": COLOURS[0], "width": 1},
        hover=hover,
        customdata=rows[filled].tolist(),
    )
    ends = {"range": [-0.04, 1.06], "tickformat": ".0%"}
    return figure_of(
        [line([0, 1], [0, 1], colour=NEUTRAL, dash="dot"), dots],
        x={"title": "Predicted probability", **ends},
        y={"title": y, **ends},
        height=height,
    )


def row_shares(counts: Any) -> Any:
    """Return (n, m) counts as shares of their rows; NaN in a row without any."""
    totals = counts.sum(axis=1, keepdims=True)
    return np.where(totals > 0, counts / np.maximum(totals, 1), np.nan)


def cell_words(texts: Any, shares: Any, *, size: int = 12) -> list[dict[str, Any]]:
    """Return what stands in the cells of a heat map, in black or white, whichever stands out more there.

    Both are (n_rows, n_columns): texts, '' = nothing, and places on the colour scale, 0-1. The size is in pixels.
    """
    return [
        words(text, x=int(j), y=int(i), size=size, colour=ink(float(shares[i, j])))
        for (i, j), text in np.ndenumerate(texts)
        if text
    ]


def words(text: str, *, size: int | None = 12, colour: str | None = None, **place: Any) -> dict[str, Any]:
    """Return words in a figure, without an arrow."""
    font = _known({"size": size, "color": colour})
    return {"text": text, "showarrow": False, **({"font": font} if font else {}), **place}


def _known(look: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in look.items() if value is not None}


def _hover(template: str | None) -> dict[str, str]:
    if template is None:
        return {}
    return {"hovertemplate": f"{template}<extra></extra>"} if template else {"hoverinfo": "skip"}


def rows_axis(rows: Sequence[str], *, grid: bool = False) -> dict[str, Any]:
    """Return the axis of one line per row, the first at the top."""
    return {
        "type": "category",
        "dtick": 1,
        "range": [len(rows) - 0.5, -0.5],
        "categoryorder": "array",
        "categoryarray": list(rows),
        "showgrid": grid,
    }


def vertical(x: float, *, dash: str = "solid", colour: str = NEUTRAL, width: float = 1.4) -> dict[str, Any]:
    """Return a vertical line over the whole height."""
    line = {"color": colour, "dash": dash, "width": width}
    return {"type": "line", "xref": "x", "yref": "paper", "x0": x, "x1": x, "y0": 0, "y1": 1, "line": line}


def horizontal(y: float, *, width: float = 1.4) -> dict[str, Any]:
    """Return a dotted horizontal line over the whole width."""
    line = {"color": NEUTRAL, "dash": "dot", "width": width}
    return {"type": "line", "xref": "paper", "yref": "y", "x0": 0, "x1": 1, "y0": y, "y1": y, "line": line}


def _titled(given: str | dict[str, Any]) -> dict[str, Any]:
    axis = {"title": given} if isinstance(given, str) else given
    return {"automargin": True, **axis, "title": {"text": axis.get("title", "")}}


CHARACTER, LINE = 0.02, 0.055
"""Width of a character and height of a line as shares of the axes, on a narrow screen."""
GAP = 0.03
"""Between a mark and its label, as a share of the axis."""
SIDES = ("middle right", "middle left", "top center", "bottom center", "top right", "bottom right", "top left")


def placed_labels(across: Sequence[float], up: Sequence[float], names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the label of every mark and its side; '' where it would cover another label or mark, or be cut off.

    Places are (n_marks,) shares of the axes, the most important mark first; '' = no label.
    """
    taken: list[tuple[float, float, float, float]] = []
    labels, sides = [""] * len(names), [SIDES[0]] * len(names)
    for at, name in enumerate(names):
        others = [(x, y) for one, (x, y) in enumerate(zip(across, up, strict=True)) if one != at]
        for side in SIDES if name else ():
            box = _label_box(across[at], up[at], len(name), side)
            if _inside(box) and not any(_covers(box, one) for one in taken) and not any(_holds(box, p) for p in others):
                labels[at], sides[at] = _apart(name, side), side
                taken.append(box)
                break
    return labels, sides


def _apart(name: str, side: str) -> str:
    """Return a label with a space towards its mark, which Plotly puts it right beside."""
    return {"left": f"{name}\u2002", "center": name, "right": f"\u2002{name}"}[side.split()[1]]


def _label_box(x: float, y: float, characters: int, side: str) -> tuple[float, float, float, float]:
    """Return left, bottom, right and top of a label."""
    height, across = side.split()
    width = CHARACTER * characters
    left = {"left": x - GAP - width, "center": x - width / 2, "right": x + GAP}[across]
    bottom = {"top": y + GAP, "middle": y - LINE / 2, "bottom": y - GAP - LINE}[height]
    return left, bottom, left + width, bottom + LINE


def _inside(box: tuple[float, float, float, float]) -> bool:
    return box[0] >= 0 and box[1] >= 0 and box[2] <= 1 and box[3] <= 1


def _covers(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _holds(box: tuple[float, float, float, float], mark: tuple[float, float]) -> bool:
    return box[0] <= mark[0] <= box[2] and box[1] <= mark[1] <= box[3]


PANEL_PX = 64
STRIP_PX = 48
GAP_PX = 22
MARGIN_PX = 70


def panels(
    traces: Sequence[dict[str, Any]],
    *,
    titles: Sequence[str],
    units: Sequence[str],
    x_range: tuple[float, float],
    marks: Sequence[dict[str, Any]] = (),
    overlaid: bool = False,
) -> go.Figure:
    """Return small multiples over one axis of time in seconds: a panel per counter and below them a strip of shares.

    `overlaid`: a panel holds the lines of two runs: their names stand above, and there is no strip.
    """
    heights, names, below = [PANEL_PX] * len(titles), list(titles), list(units)
    if not overlaid:
        heights, names, below = [*heights, STRIP_PX], [*names, "share of counters that change"], [*below, "share"]
    whole = sum(heights) + GAP_PX * len(heights)
    axes: dict[str, dict[str, Any]] = {}
    over, top = [], whole
    for place, (height, title) in enumerate(zip(heights, names, strict=True)):
        top -= GAP_PX
        over.append(words(title, x=0, y=top / whole, xref="paper", xanchor="left", yref="paper", yanchor="bottom"))
        axes[_name("yaxis", place)] = {
            "domain": [(top - height) / whole, top / whole],
            "automargin": True,
            "title": {"text": below[place]},
            "nticks": 3,
            "anchor": "x",
        }
        top -= height
    if not overlaid:
        axes[_name("yaxis", len(titles))] |= {"range": [0, 1], "tickformat": ".0%"}
    last = _name("y", len(heights) - 1)
    time = {"title": "Time since the start of the run (s)", "range": list(x_range), "anchor": last}
    more: dict[str, Any] = {"bargap": 0, "dragmode": "zoom", "shapes": list(marks), "annotations": over, **axes}
    top_px = 36 if overlaid else 8
    return figure_of(
        traces, x=time, y="", height=whole + MARGIN_PX + top_px - 8, top=top_px, showlegend=overlaid, **more
    )


def panel_line(
    x: Any, y: Any, *, name: str, unit: str, panel: int, colour: str = COLOURS[0], **more: Any
) -> dict[str, Any]:
    """Return the line of a counter in its panel (0 = the top): each sample holds for the step before it.

    `x` is seconds, `y` recorded values, NaN = a gap; (n_samples,) both.
    """
    place: dict[str, Any] = {"xaxis": "x", "yaxis": _name("y", panel), "connectgaps": False}
    hover = {"hovertemplate": f"%{{y:,.5g}} {unit} at %{{x:,.5g}} s<extra>{name}</extra>"}
    look: dict[str, Any] = {"width": 1.8, "shape": "vh", **more}
    return line(x, y, name=name, colour=colour, hover=None, **look | place | hover)


def panel_boundary(at: float, panel: int, *, dash: str) -> dict[str, Any]:
    """Return the line in a panel where a phase begins, `at` in seconds."""
    look = {"color": COLOURS[1], "width": 2, "dash": dash}
    place = {"xref": "x", "yref": f"{_name('y', panel)} domain", "x0": at, "x1": at, "y0": 0, "y1": 1}
    return {"type": "line", "line": look, **place}


def strip(at: Any, share: Any, width: float, count: int) -> dict[str, Any]:
    """Return the share of all counters with a change near each sample as bars below `count` panels."""
    hover = "%{y:.0%} of the counters change about %{x:,.5g} s"
    place = {"width": width, "xaxis": "x", "yaxis": _name("y", count)}
    return columns(at, share, name="agreement", colour=NEUTRAL, edge=0, hover=hover, **place)


def _name(letter: str, place: int) -> str:
    return f"{letter}{place + 1}" if place else letter
