"""The bill: who requested what in each month, in words and tables."""

import math

from workprof.core.answer import Answer, Figure, Table
from workprof.core.table import Column
from workprof.core.units import format_share, gb_h
from workprof.core.words import counted
from workprof.memory.chargeback import Chargeback
from workprof.memory.ledger_settings import LedgerPrices

HOURS = "Requests times run time, of every run however it ended."
GB_H = Column("gb_h", heading="Memory requested", unit="GB·h", help=HOURS, optional=True)
CORE_H = Column("core_h", heading="Cores requested (core·h)", form="%,.4g", help=HOURS, optional=True)
GPU_H = Column("gpu_h", heading="GPUs requested (GPU·h)", form="%,.4g", help=HOURS, optional=True)


def chargeback_answer(result: Chargeback) -> Answer:
    """Who requested most, the sums, and every row of the bill."""
    total, prices = result.total, result.settings.prices
    currency = prices.currency
    money = Column(
        "money", heading=f"Price ({currency})", form="%,.2f", help="Hours times their prices.", optional=True
    )
    columns = (
        Column("who", heading=result.settings.by.capitalize(), pinned=True),
        Column("period", heading="Period"),
        Column("runs", "n_runs", "Runs", unit="count", help="Runs that started in it"),
        *(GB_H, CORE_H, GPU_H, money),
        *((Column("currency", lambda _: currency, aside=True),) if prices.given else ()),
    )
    held = [one for one in (GB_H, CORE_H, GPU_H, money) if not math.isnan(one.of(total))]
    notes = [
        f"{counted(count, 'run')} {what}"
        for count, what in (
            (result.n_without_hours, "without a run time: nothing of them is billed."),
            (result.n_without_request, "request no memory, cores or GPUs."),
            (
                result.n_spread,
                "on several nodes: the memory of all their nodes is billed, elsewhere that of one counts.",
            ),
        )
        if count
    ]
    if currency != LedgerPrices().currency and not prices.given:
        notes.append(f"No price is given, so nothing is billed in {currency}; give such as --price-gb-h.")
    return Answer(
        _sentence(result),
        figures=tuple(Figure(one, total) for one in held),
        tables=(Table("rows", "By period", columns, result.rows),),
        notes=tuple(notes),
        document={"by": result.settings.by, "n_runs": result.n_runs, "currency": currency if prices.given else None},
    )


def _sentence(result: Chargeback) -> str:
    sums: dict[str, float] = {}
    for one in result.rows:
        sums[one.who] = sums.get(one.who, 0.0) + (0.0 if math.isnan(one.gb_h) else one.gb_h)
    who = max(sums, key=lambda name: sums[name])
    periods = counted(len({one.period for one in result.rows}), "period")
    if not sums[who]:
        others = result.total.core_h > 0 or result.total.gpu_h > 0
        held = "cores or GPUs" if others else "nothing for any time"
        return f"{counted(len(sums), result.settings.by)} requested {held} in {periods}."
    return f"{who} requested {format_share(sums[who] / result.total.gb_h)} of {gb_h(result.total.gb_h)} in {periods}."
