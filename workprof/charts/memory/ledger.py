"""The ledger in figures: the waste of the first rows."""

import math
from typing import Any

from workprof.answers.ledger import WORDS, bars_sentence, hours_of, judged_resources, ledger_answer
from workprof.charts import shapes
from workprof.charts.memory.tasks import row_labels
from workprof.charts.shapes import LEGEND_ABOVE, Chart, figure_of, rows_axis
from workprof.charts.theme import COLOURS, rows_height
from workprof.core.answer import to_frame
from workprof.core.units import number
from workprof.core.words import counted, listed
from workprof.memory.ledger import Ledger, LedgerRow
from workprof.memory.ledger_settings import CORES, GPUS, LIMIT, MEMORY, WEEK

LOOKS = {MEMORY: (COLOURS[0], ""), CORES: (COLOURS[1], "/"), GPUS: (COLOURS[2], "x"), LIMIT: (COLOURS[3], ".")}
"""Colour and pattern of a resource."""
MOST_BARS = 8


def ledger_bars(ledger: Ledger) -> Chart:
    """Return the waste of the first rows: money where there are prices, else shares of what is requested."""
    priced = ledger.settings.prices.given
    resources = [name for name in judged_resources(ledger) if not priced or _price(ledger, name) > 0]
    rows = ledger.rows if ledger.settings.by == WEEK else ledger.rows[:MOST_BARS]
    names = row_labels([row.name for row in rows])
    axis = f"Wasted ({ledger.settings.prices.currency})" if priced else "Wasted, share of all that is requested"
    figure = figure_of(
        [_bars(ledger, rows, names, name, priced=priced) for name in resources],
        x={"title": axis} if priced else {"title": axis, "tickformat": ".0%", "rangemode": "tozero"},
        y=rows_axis(names),
        height=rows_height(len(rows) * (1 if priced else max(1, len(resources)))),
        **LEGEND_ABOVE,
        barmode="stack" if priced else "group",
    )
    left = len(ledger.rows) - len(rows)
    of = listed([WORDS[name] for name in resources]) or "no resource"
    return Chart(
        name=f"memory-ledger-{ledger.settings.by}",
        figure=figure,
        takeaway=bars_sentence(ledger),
        shows=f"Bars of the waste of {of} by {ledger.settings.by}.",
        data=to_frame(ledger_answer(ledger), "rows"),
        note=f"The {len(rows)} that waste most; {counted(left, ledger.settings.by)} more below." if left else "",
    )


def _price(ledger: Ledger, resource: str) -> float:
    price = ledger.settings.prices.of(resource)
    return price if math.isfinite(price) else 0.0


def _bars(
    ledger: Ledger, rows: tuple[LedgerRow, ...], names: list[str], resource: str, *, priced: bool
) -> dict[str, Any]:
    colour, pattern = LOOKS[resource]
    whole = ledger.totals.of(resource).requested or 1.0  # runs of no time request no hours, and waste none
    values = [row.of(resource).money if priced else row.of(resource).wasted / whole for row in rows]
    unit = ledger.settings.prices.currency if priced else hours_of(resource)
    amounts = [number(row.of(resource).money if priced else row.of(resource).wasted) for row in rows]
    hover = f"%{{y}}, {WORDS[resource]}: %{{customdata}} {unit}"
    return shapes.bars(
        values, names, name=WORDS[resource], colour=colour, pattern=pattern, hover=hover, customdata=amounts
    )
