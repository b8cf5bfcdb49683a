"""The ledger: what is wasted of every resource, by whom, the rows of the plan on it, and the runs behind a number."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pandas as pd

from workprof.answers.ledger import SAVED_UNITS, advice_words, evidence_words, killed_of, small_words, whose
from workprof.answers.verdict import amount_words, why
from workprof.charts import shapes
from workprof.charts.memory.tasks import row_labels
from workprof.charts.shapes import LEGEND_ABOVE, Chart, Headline, figure_of, rows_axis
from workprof.charts.text import counted, listed, shortened
from workprof.charts.theme import COLOURS, rows_height
from workprof.core.table import MISSING, Column, frame
from workprof.core.units import format_share, number
from workprof.memory.findings import Finding
from workprof.memory.ledger import Amount, Ledger, LedgerRow, LedgerRunList
from workprof.memory.ledger_rules import RULES
from workprof.memory.ledger_settings import CORES, GPUS, LIMIT, MEMORY, NAMES, RESOURCES, WEEK, Resource
from workprof.memory.verdict_rows import KEEP

LOOKS = {MEMORY: (COLOURS[0], ""), CORES: (COLOURS[1], "/"), GPUS: (COLOURS[2], "x"), LIMIT: (COLOURS[3], ".")}
"""Colour and pattern of a resource."""
WORDS = {MEMORY: "memory", CORES: "cores", GPUS: "GPUs", LIMIT: "time limits"}
MOST_BARS = 8
LONGEST_NAME = 24


def judged_resources(ledger: Ledger) -> tuple[str, ...]:
    """Return the resources that have both a request and a use somewhere."""
    return tuple(one.resource for one in ledger.totals.amounts if one.n_judged)


def ledger_sentence(ledger: Ledger) -> str:
    """Return in one sentence what is wasted and who wastes most."""
    shares = [
        f"{format_share(ledger.totals.of(name).wasted_share, 0)} of the requested "
        f"{WORDS[name]} ({number(ledger.totals.of(name).wasted)} {_hours(name)})"
        for name in judged_resources(ledger)
        if name != LIMIT
    ]
    if not shares:
        return "No run has both a request and a use, so nothing can be judged."
    sentence = f"{listed(shares)} is not used"
    if ledger.settings.prices.given:
        sentence += f", {number(ledger.totals.money)} {ledger.settings.prices.currency}"
    if len(ledger.rows) < 2 or ledger.settings.by == WEEK:
        return f"{sentence}."
    first = ledger.rows[0]
    share, name = max((_of_all(first, ledger, name), name) for name in judged_resources(ledger) if name != LIMIT)
    most = shortened(first.name, LONGEST_NAME)
    return f"{sentence}; {most} wastes most, {format_share(share, 0)} of all wasted {WORDS[name]}."


def _hours(resource: str) -> str:
    return RESOURCES[NAMES.index(resource)].hours


def _of_all(row: LedgerRow, ledger: Ledger, resource: str) -> float:
    whole = ledger.totals.of(resource).wasted
    return row.of(resource).wasted / whole if whole > 0 else 0.0


def ledger_headlines(ledger: Ledger) -> tuple[Headline, ...]:
    """Return the waste of each resource, and what did not finish."""
    shown = [_headline(ledger, one) for one in ledger.totals.amounts if one.n_judged]
    lost = ledger.totals
    causes = ", ".join(f"{one.n_runs:,} {one.cause}" for one in lost.lost) or "none"
    share = lost.n_lost / max(lost.n_runs + lost.n_lost, 1)
    return (
        *shown,
        Headline(
            "Not finished",
            f"{lost.n_lost:,} runs",
            f"They are in none of the sums here; what they held is counted by cause: {causes}.",
            format_share(share),
        ),
    )


def _headline(ledger: Ledger, amount: Amount) -> Headline:
    unjudged = ledger.totals.n_runs - amount.n_judged
    left = f"{unjudged:,} finished runs lack a request, a use or a time and are not judged." if unjudged else ""
    return Headline(
        f"Wasted {WORDS[amount.resource]}",
        format_share(amount.wasted_share),
        f"Requested and not used, of {number(amount.judged_requested)} {_hours(amount.resource)} that "
        f"{counted(amount.n_judged, 'run')} requested. {left}".strip(),
        f"{number(amount.wasted)} {_hours(amount.resource)}",
    )


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
    return Chart(
        name=f"memory-ledger-{ledger.settings.by}",
        figure=figure,
        takeaway=_bars_sentence(ledger),
        shows=f"Bars of the waste of {listed([WORDS[name] for name in resources])} by {ledger.settings.by}.",
        data=ledger_table(ledger),
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
    unit = ledger.settings.prices.currency if priced else _hours(resource)
    amounts = [number(row.of(resource).money if priced else row.of(resource).wasted) for row in rows]
    hover = f"%{{y}}, {WORDS[resource]}: %{{customdata}} {unit}"
    return shapes.bars(
        values, names, name=WORDS[resource], colour=colour, pattern=pattern, hover=hover, customdata=amounts
    )


def _bars_sentence(ledger: Ledger) -> str:
    if ledger.settings.by == WEEK:
        return f"{counted(len(ledger.rows), 'week')} in their order."
    few, prices = ledger.rows[:3], ledger.settings.prices
    held = [name for name in judged_resources(ledger) if name != LIMIT] or list(judged_resources(ledger))
    if not held:
        return "Nothing can be judged."
    if prices.given and ledger.totals.money > 0:
        share, what = sum(row.money for row in few) / ledger.totals.money, f"of the {prices.currency} that are wasted"
    else:
        share, name = max((sum(_of_all(row, ledger, one) for row in few), one) for one in held)
        what = f"of all wasted {WORDS[name]}"
    first = "The first" if len(few) == 1 else f"The first {len(few)}"
    words = f"{first} of {counted(len(ledger.rows), ledger.settings.by)} {'wastes' if len(few) == 1 else 'waste'}"
    return f"{words} {format_share(share, 0)} {what}."


def _amounts(one: Resource) -> tuple[Column, ...]:
    return (
        Column(
            f"requested_{one.key}",
            lambda row: row.of(one.name).requested,
            heading=f"requested ({one.hours})",
            form="%,.2f",
        ),
        Column(f"wasted_{one.key}", lambda row: row.of(one.name).wasted, heading=f"wasted ({one.hours})", form="%,.2f"),
        Column(
            f"wasted_{one.key}_percent",
            lambda row: 100 * row.of(one.name).wasted_share,
            heading=f"wasted {WORDS[one.name]}",
            form="%.0f %%",
            help="Of what the judged runs requested.",
        ),
    )


ROW_COLUMNS = (
    Column("name", pinned=True, width="medium"),
    Column("runs", "n_runs", help="Finished ones."),
    *(column for one in RESOURCES for column in _amounts(one)),
    Column(
        "lost_to_kills_gb_h",
        lambda row: killed_of(row)[0],
        heading="lost to kills (GB·h)",
        form="%,.2f",
        help="Held by runs that were killed for memory.",
    ),
    Column("money", heading="wasted money", form="%,.2f"),
    Column("not_finished", "n_lost", heading="not finished", help="Runs that failed, were killed, run or wait."),
    Column("full_name", "name", heading="full name", width="large"),
)
"""A line per row of the ledger."""


def ledger_columns(ledger: Ledger) -> tuple[Column, ...]:
    """Return the columns of a ledger: those of resources that can be judged, money where there are prices."""
    absent = [one.key for one in RESOURCES if one.name not in judged_resources(ledger)]
    columns = [one for one in ROW_COLUMNS if not any(f"_{key}" in one.name for key in absent)]
    columns = [one for one in columns if one.name != "money" or ledger.settings.prices.given]
    return (replace(columns[0], heading=ledger.settings.by), *columns[1:])


def ledger_table(ledger: Ledger) -> pd.DataFrame:
    """Return one line per row and the total."""
    names = [shortened(row.name, LONGEST_NAME) for row in ledger.rows]
    return frame(ledger_columns(ledger), (*ledger.rows, ledger.totals)).assign(name=[*names, ledger.totals.name])


FINDING_COLUMNS = (
    Column("finding", lambda one: RULES[one.rule].title, pinned=True, width="medium"),
    Column("whose", lambda one: shortened(whose(one), 40)),
    Column("runs", "n_runs"),
    Column("share_percent", lambda one: 100 * one.share, heading="of all requested", form="%.1f %%"),
    Column("wasted", lambda one: f"{number(one.amount)} {one.unit}"),
    Column("money", form="%,.2f"),
    Column("used_percent", lambda one: 100 * one.used_share, heading="used", form="%.0f %%"),
    Column("requested", lambda one: _amount(one, one.requested), heading="today"),
    Column("action", lambda one: one.row.action if one.row else "", heading="change"),
    Column(
        "size",
        lambda one: _amount(one, one.row.size if one.row else math.nan),
        heading="next",
        help="What to request from now on: the row of Plan.",
    ),
    Column(
        "saved",
        lambda one: f"{number(one.row.saved)} {SAVED_UNITS[one.sized]}" if one.row else MISSING,
        help="By the later runs, sized by what was known before: the row of Plan.",
    ),
    Column("kills", lambda one: one.row.kills if one.row else None, help="Of the later runs, at that size."),
    Column(
        "why",
        lambda one: why(one.row, one.sized, one.amount_unit) if one.row else one.lacking,
        width="large",
    ),
)
"""A line per finding."""


def _amount(finding: Finding, value: float) -> str:
    return amount_words(value, finding.amount_unit) if math.isfinite(value) else MISSING


def finding_table(ledger: Ledger) -> pd.DataFrame:
    """Return one line per finding, the costliest first."""
    columns = [one for one in FINDING_COLUMNS if one.name != "money" or ledger.settings.prices.given]
    return frame(columns, ledger.findings)


def findings_sentence(ledger: Ledger) -> str:
    """Return how many findings there are and what is known to be saved, as far as it was measured."""
    result = ledger.findings
    if not result:
        return "No rule finds anything of that size."
    rows = {(one.sized, one.key): one for one in result if one.row is not None and one.row.action != KEEP}
    saved: dict[str, float] = {}
    for one in rows.values():
        if one.row is not None:
            saved[SAVED_UNITS[one.sized]] = saved.get(SAVED_UNITS[one.sized], 0.0) + one.row.saved
    amounts = listed([f"{number(amount)} {unit}" for unit, amount in saved.items()]) or "nothing"
    small = f" {small_words(ledger)}." if ledger.n_small else ""
    changed = f"{counted(len(rows), 'row')} of the plan that {'changes' if len(rows) == 1 else 'change'}"
    saves = f"{changed}: {amounts} saved on later runs" if rows else "the plan keeps these requests"
    return f"{counted(len(result), 'finding')}; {saves}.{small}"


def first_findings(ledger: Ledger, most: int) -> tuple[str, ...]:
    """Return the costliest findings in a sentence or two each."""
    return tuple(
        " ".join(f"{part}." for part in (f"{_short(one)}: {evidence_words(one)}", advice_words(one)) if part)
        for one in ledger.findings[:most]
    )


def _short(one: Finding) -> str:
    return ", ".join(shortened(name, LONGEST_NAME) for name in (one.who, one.task) if name)


def unjudged_sentences(ledger: Ledger) -> tuple[str, ...]:
    """Return each rule that could not be judged with the columns that it lacks."""
    return tuple(
        f"Not judged: {RULES[one.rule].title}: {one.why}"
        + (f" (missing: {', '.join(one.missing)})" if one.missing else "")
        for one in ledger.unjudged
    )


def lost_table(ledger: Ledger) -> pd.DataFrame:
    """Return what runs held that did not finish, one line per cause."""
    return pd.DataFrame(
        [
            {"cause": one.cause, "runs": one.n_runs, "hours": one.hours}
            | {f"held_{of.key}": held for of, held in zip(RESOURCES, one.requested, strict=True)}
            | {"runs_without_time": one.n_no_time}
            for one in ledger.totals.lost
        ]
    )


def runs_table(result: LedgerRunList) -> pd.DataFrame:
    """Return one line per listed run, the one that wastes most first."""
    return pd.DataFrame(
        {
            "row_id": result.row_ids,
            result.settings.ledger.by: result.names,
            "task": result.tasks,
            "requested": result.requested,
            "used": result.used,
            "hours": result.hours,
            "wasted": result.wasted_each,
        }
    )


def runs_sentence(result: LedgerRunList) -> str:
    """Return what the listed runs are, in one sentence."""
    what = "held" if result.settings.cause else "wasted"
    listed_runs = (
        f"; the {len(result.row_ids):,} that {what} most are listed" if len(result.row_ids) < result.n_runs else ""
    )
    return f"{counted(result.n_runs, 'run')} {what} {number(result.wasted)} {result.unit}{listed_runs}."
