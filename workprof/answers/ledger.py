"""The ledger: what is wasted of every resource and by whom, the findings, the runs behind a number."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from workprof.answers.decisions import amount_words
from workprof.answers.help.terms import heading
from workprof.answers.runs import never_used
from workprof.answers.tasks import TASK_COLUMN, names_of
from workprof.answers.verdict import named, rate_words, row_document, row_words, why
from workprof.core.answer import MOST_FIGURES, Answer, Figure, Table
from workprof.core.arrays import Floats
from workprof.core.causes import OUT_OF_MEMORY
from workprof.core.table import MISSING, Column
from workprof.core.text import visible
from workprof.core.units import format_share, grouped, number
from workprof.core.words import counted, listed, shortened
from workprof.memory.findings import HOURS_OF, Finding
from workprof.memory.found_runs import PRICED
from workprof.memory.ledger import Amount, Ledger, LedgerRow, LedgerRunList, called as renamed
from workprof.memory.ledger_rules import CAUSES_OF, RULES
from workprof.memory.ledger_settings import (
    CORES,
    GPUS,
    LIMIT,
    MEMORY as LEDGER_MEMORY,
    NAMES,
    PROFILE,
    RESOURCES,
    TASK,
    WEEK,
    Resource,
)
from workprof.memory.resources import CPU, GPU, MEMORY, TIME
from workprof.memory.verdict_rows import KEEP, RAISE, VerdictRow
from workprof.memory.verdict_sizes import SizedRows
from workprof.profiles.names import name_of

AMOUNT = "%,.4g"
"""Of an amount in its resource's unit: a short run's is small."""


def tasks_in(ledger: Ledger) -> dict[str, str]:
    """Task -> how the ledger's rows and findings name it beside each other."""
    by_task = (row.name for row in ledger.rows) if ledger.settings.by == TASK else ()
    keys = (one.row.key for one in ledger.findings if one.row is not None)
    return names_of((*by_task, *(one.task for one in ledger.findings), *(key.get(TASK_COLUMN, "") for key in keys)))


def whose(finding: Finding, tasks: Mapping[str, str]) -> str:
    """Whose runs a finding is about: its key, else row of the ledger and task, named by `tasks_in` the ledger."""
    if finding.row is not None and finding.row.key:
        return visible(named(finding.row, tasks))
    task = tasks[finding.task]
    key = finding.key.replace(finding.task, task) if task else finding.key
    return visible(key or ", ".join(one for one in (finding.who, task) if one))


def small_words(ledger: Ledger) -> str:
    """How many findings are below the smallest that is listed, as a sentence without its end."""
    return f"{counted(ledger.n_small, 'minor finding')} {'is' if ledger.n_small == 1 else 'are'} hidden"


def evidence_words(finding: Finding) -> str:
    """Return what a finding rests on, as a sentence without its end."""
    verb = "held" if finding.rule in CAUSES_OF else "wasted"
    amount = f"{number(finding.amount)} {finding.unit} {verb} ({format_share(finding.share)})"
    return f"{RULES[finding.rule].title} in {finding.n_runs:,} of {counted(finding.n_of, 'run')}, {amount}"


def advice_words(finding: Finding) -> str:
    """Return what to request instead, as the row of the verdict says it; '' = no row."""
    if finding.row is None:
        return ""
    words = row_words(finding.row, finding.sized, finding.amount_unit)
    return words[0].upper() + words[1:]


def saved_words(finding: Finding) -> str:
    """Return what the row saves on the later runs and at which kills, as a sentence without its end."""
    row = finding.row
    if row is None:
        return f"No size: {finding.lacking}"
    if not row.n_judged:
        return "No later run to judge it on"
    if row.action == KEEP and not row.saved and not row.kills:
        return ""
    amount = f"{number(abs(row.saved))} {SAVED_UNITS[finding.sized]} {'saved' if row.saved >= 0 else 'more'}"
    own = f", {row.kills:,}" if row.kills else ", none"
    if row.action == RAISE and not row.kills:  # what runs that were killed would have used is not known
        own = f"; of the next 1,000 runs {rate_words(row)}"
    return f"On {counted(row.n_judged, 'later run')}: {amount}{own} {SHORT[finding.sized]}"


SAVED_UNITS = {sized: HOURS_OF[name] for sized, name in PRICED.items()}
"""Of what a row of the verdict saves."""
SHORT = {MEMORY: "killed", CPU: "slower", GPU: "slower", TIME: "ended too early"}


def finding_sentence(finding: Finding, tasks: Mapping[str, str]) -> str:
    """Return a finding in two or three sentences; `tasks`: see `whose`."""
    parts = (f"{whose(finding, tasks)}: {evidence_words(finding)}", advice_words(finding), saved_words(finding))
    return " ".join(f"{part}." for part in parts if part)


def row_json(row: LedgerRow, ledger: Ledger) -> dict[str, Any]:
    """Return a row of the ledger as JSON; a resource without its columns is null, not 0."""
    document: dict[str, Any] = {"name": row.name, "runs": row.n_runs, "hours": row.hours}
    for one, amount in zip(RESOURCES, row.amounts, strict=True):
        absent = ledger.absent.get(one.name, ())
        document |= {
            f"requested_{one.key}": None if one.request in absent else amount.requested,
            f"used_{one.key}": None if {*absent} - {one.request} else amount.used,
            f"wasted_{one.key}": None if absent else amount.wasted,
        }
    document["utilisation"] = {amount.resource: amount.utilisation for amount in row.amounts}
    document["wasted_share"] = {amount.resource: amount.wasted_share for amount in row.amounts}
    document["judged"] = {
        amount.resource: {
            "runs": amount.n_judged,
            "without_time": amount.n_no_time,
            "without_request": amount.n_no_request,
            "without_use": amount.n_no_use,
            "over_request": amount.n_over,
        }
        for amount in row.amounts
    }
    document["lost_to_kills_gb_h"] = None if ledger.absent.get(MEMORY) else killed_of(row)[0]
    document["wasted_money"] = row.money
    document["not_finished"] = [
        {"cause": one.cause, "runs": one.n_runs, "without_time": one.n_no_time, "hours": one.hours}
        | {f"held_{resource.key}": held for resource, held in zip(RESOURCES, one.requested, strict=True)}
        for one in row.lost
    ]
    return document


def finding_json(finding: Finding, ledger: Ledger, tasks: Mapping[str, str]) -> dict[str, Any]:
    """Return a finding as JSON, with `tasks_in` the ledger.

    `filter` has the options of `workprof memory ledger-runs` that list its runs.
    """
    by, row = ledger.settings.by, finding.row
    return {
        "rule": finding.rule,
        "title": RULES[finding.rule].title,
        by: finding.who or finding.task,
        "task": finding.task,
        "resource": finding.resource,
        "evidence": {
            "runs": finding.n_runs,
            "of_runs": finding.n_of,
            "runs_by_rule": finding.counts,
            "hours": finding.hours,
            "wasted": finding.amount,
            "unit": finding.unit,
            "share": finding.share,
            "money": finding.money,
            "used_share": finding.used_share,
            "requested": finding.requested,
            "requested_unit": finding.amount_unit,
        },
        "plan": None if row is None else row_document(row, SizedRows(finding.sized, finding.amount_unit, (), ())),
        "instead": None if row is None else _instead(row, finding),
        "saved": _saved(row, finding),
        "sentence": finding_sentence(finding, tasks),
        "filter": {"by": by}
        | {name: text for name, text in (("row", finding.who), ("task", finding.task), ("key", finding.key)) if text}
        | {"rule": ",".join(finding.counts)}
        | ({"resource": finding.resource} if finding.resource in NAMES else {}),
    }


def _instead(row: VerdictRow, finding: Finding) -> dict[str, Any]:
    return {
        "action": row.action,
        "request": row.request,
        "size": row.size,
        "at_most": row.size,  # a former name
        "unit": finding.amount_unit,
        "words": advice_words(finding),
    }


def _saved(row: VerdictRow | None, finding: Finding) -> dict[str, Any]:
    """Return the saving of a row; `chosen_from_runs` and `runs_over` are former names, kept for a release."""
    nothing: dict[str, Any] = {"measured": False, "amount": None, "unit": finding.unit, "share": None, "money": None}
    if row is None:
        nothing |= {"kills": 0, "kills_per_1000": None, "judged_on_runs": 0, "chosen_from_runs": 0, "runs_over": 0}
        return nothing | {"why": finding.lacking}
    return {
        "measured": row.n_judged > 0,
        "amount": row.saved,
        "unit": SAVED_UNITS[finding.sized],
        "share": saved_share(row),
        "money": finding.saved_money,
        "kills": row.kills,
        "kills_per_1000": [row.kills_per_1000.low, row.kills_per_1000.high],
        "judged_on_runs": row.n_judged,
        "chosen_from_runs": row.n_runs,
        "runs_over": row.kills,
        "why": why(row, finding.sized, finding.amount_unit),
    }


def saved_share(row: VerdictRow) -> float:
    """Return what a row saves of what its later runs requested; NaN without any."""
    return row.saved / row.booked if row.booked > 0 else math.nan


def killed_of(row: LedgerRow) -> tuple[float, ...]:
    """Return what runs held that were killed for memory, in the hours of `RESOURCES`."""
    held = [one.requested for one in row.lost if one.cause == OUT_OF_MEMORY]
    return held[0] if held else (0.0,) * len(RESOURCES)


def ledger_json(ledger: Ledger) -> dict[str, Any]:
    """Return the JSON document of a ledger: `totals`, `rows`, `findings`, what could not be judged."""
    by, tasks = ledger.settings.by, tasks_in(ledger)
    return {
        "by": by,
        "totals": row_json(ledger.totals, ledger),
        "rows": [row_json(row, ledger) | {"filter": {"by": by, "row": row.name}} for row in ledger.rows],
        "findings": [finding_json(one, ledger, tasks) for one in ledger.findings],
        "not_judged": [{"rule": one.rule, "missing": list(one.missing), "why": one.why} for one in ledger.unjudged],
        "too_small": {"n": ledger.n_small, "share": ledger.small_share},
        "notes": list(ledger.notes),
        "seconds": ledger.seconds,
    }


LONGEST_NAME, MOST_NAMED = 24, 3
WORDS = {LEDGER_MEMORY: "memory", CORES: "cores", GPUS: "GPUs", LIMIT: "time limits"}


def judged_resources(ledger: Ledger) -> tuple[str, ...]:
    """The resources that have both a request and a use somewhere."""
    return tuple(one.resource for one in ledger.totals.amounts if one.n_judged)


def ledger_sentence(ledger: Ledger) -> str:
    """What is never used of the first resource, the shares of the others, and who wastes most."""
    held = [name for name in judged_resources(ledger) if name != LIMIT]
    if not held:
        return "No finished run has both a request and a use, so nothing can be judged."
    amount = ledger.totals.of(held[0])
    sentence = never_used(WORDS[held[0]], amount.wasted, amount.judged_requested, hours_of(held[0]))
    if others := [f"{format_share(ledger.totals.of(name).wasted_share, 0)} of {WORDS[name]}" for name in held[1:]]:
        sentence += f" So are {listed(others)}."
    if ledger.settings.prices.given:
        sentence += f" The waste costs {grouped(ledger.totals.money)} {ledger.settings.prices.currency}."
    if len(ledger.rows) < 2 or ledger.settings.by == WEEK:
        return sentence
    first = ledger.rows[0]
    share, name = max((_of_all(first, ledger, name), name) for name in held)
    if not share:
        return sentence
    most = shortened(tasks_in(ledger).get(first.name, first.name), LONGEST_NAME)
    return f"{sentence} {most} wastes most, {format_share(share, 0)} of all wasted {WORDS[name]}."


def hours_of(resource: str) -> str:
    """The unit of what is held of a resource over time."""
    return RESOURCES[NAMES.index(resource)].hours


def _of_all(row: LedgerRow, ledger: Ledger, resource: str) -> float:
    whole = ledger.totals.of(resource).wasted
    return row.of(resource).wasted / whole if whole > 0 else 0.0


def bars_sentence(ledger: Ledger) -> str:
    """What the first rows waste of all."""
    if ledger.settings.by == WEEK:
        return f"{counted(len(ledger.rows), 'week')} in their order."
    few, prices = ledger.rows[:MOST_NAMED], ledger.settings.prices
    held = [name for name in judged_resources(ledger) if name != LIMIT] or list(judged_resources(ledger))
    if not any(ledger.totals.of(one).wasted for one in held):
        return "Nothing is wasted." if held else "Nothing can be judged."
    if len(ledger.rows) <= MOST_NAMED:
        return f"All waste is of {counted(len(ledger.rows), ledger.settings.by)}."
    if prices.given and ledger.totals.money > 0:
        share, what = sum(row.money for row in few) / ledger.totals.money, f"of the {prices.currency} that are wasted"
    else:
        share, name = max((sum(_of_all(row, ledger, one) for row in few), one) for one in held)
        what = f"of all wasted {WORDS[name]}"
    of = counted(len(ledger.rows), ledger.settings.by)
    return f"The first {len(few)} of {of} waste {format_share(share, 0)} {what}."


def _amounts(one: Resource) -> tuple[Column, ...]:
    return (
        Column(
            f"requested_{one.key}",
            lambda row: row.of(one.name).requested,
            heading=f"Requested ({one.hours})",
            form=AMOUNT,
        ),
        Column(f"wasted_{one.key}", lambda row: row.of(one.name).wasted, heading=f"Wasted ({one.hours})", form=AMOUNT),
        Column(
            f"wasted_{one.name}_share",
            lambda row: row.of(one.name).wasted_share,
            heading=f"Wasted {WORDS[one.name]}",
            unit="share",
            help="Of what the judged runs requested.",
        ),
    )


ROWS = (
    Column("name", lambda row: shortened(row.name, LONGEST_NAME), "Name", pinned=True, width="medium"),
    Column("runs", "n_runs", "Runs", unit="runs", help="Finished ones."),
    *(column for one in RESOURCES for column in _amounts(one)),
    Column(
        "lost_to_kills_gb_h",
        lambda row: killed_of(row)[0],
        "Lost to kills",
        unit="GB·h",
        help="Held by runs that were killed for memory.",
    ),
    Column("money", heading="Wasted money", form="%,.2f"),
    Column("not_finished", "n_lost", "Not finished", unit="runs", help="Runs that failed, were killed, run or wait."),
    Column("full_name", "name", "Full name", width="large"),
)
"""A line per row of the ledger."""


def _rows(ledger: Ledger) -> Table:
    """The rows and the total, under the resources that can be judged, money where there are prices."""
    absent = [one for one in RESOURCES if one.name not in judged_resources(ledger)]
    gone = {
        name for one in absent for name in (f"requested_{one.key}", f"wasted_{one.key}", f"wasted_{one.name}_share")
    }
    gone |= set() if ledger.settings.prices.given else {"money"}
    columns = [one for one in ROWS if one.name not in gone]
    first = replace(columns[0], heading=heading(ledger.settings.by))
    return Table("rows", f"By {ledger.settings.by}", (first, *columns[1:]), (*ledger.rows, ledger.totals))


def _amount(finding: Finding, value: float) -> str:
    return amount_words(value, finding.amount_unit) if math.isfinite(value) else MISSING


def finding_why(finding: Finding) -> str:
    """Why the row of the verdict says so, or why there is none."""
    return why(finding.row, finding.sized, finding.amount_unit) if finding.row else finding.lacking


WHOSE = Column("whose", heading="Whose")
"""With the names of a ledger's tasks."""

FINDINGS = (
    Column("finding", lambda one: RULES[one.rule].title, "Finding", pinned=True, width="medium"),
    WHOSE,
    Column("runs", "n_runs", "Runs", unit="runs"),
    Column(
        "share_of_requested",
        "share",
        "Of all requested",
        unit="share",
        help="By finished runs; of runs that did not finish: by all runs.",
    ),
    Column("wasted", lambda one: f"{number(one.amount)} {one.unit}", "Wasted"),
    Column("money", heading="Wasted money", form="%,.2f", optional=True),
    Column("request_used_share", "used_share", "Used", unit="share"),
    Column("requested", lambda one: _amount(one, one.requested), "Today"),
    Column("action", lambda one: one.row.action if one.row else "", "Change"),
    Column(
        "size",
        lambda one: _amount(one, one.row.size if one.row else math.nan),
        "Next",
        help="What to request from now on: the row of Plan.",
    ),
    Column(
        "saved",
        lambda one: f"{number(one.row.saved)} {SAVED_UNITS[one.sized]}" if one.row else MISSING,
        "Saved",
        help="By the later runs, sized by what was known before: the row of Plan.",
    ),
    Column("kills", lambda one: one.row.kills if one.row else None, "Kills", help="Of the later runs, at that size."),
    Column(
        "why", lambda one: why(one.row, one.sized, one.amount_unit) if one.row else one.lacking, "Why", width="large"
    ),
    Column("wasted_amount", "amount", aside=True),
    Column("wasted_unit", "unit", aside=True),
    Column("requested_amount", "requested", aside=True),
    Column("size_amount", lambda one: one.row.size if one.row else None, aside=True),
    Column("amount_unit", aside=True),
    Column("saved_amount", lambda one: one.row.saved if one.row else None, aside=True),
    Column("saved_unit", lambda one: SAVED_UNITS[one.sized] if one.row else None, aside=True),
)
"""A line per finding; files have its amounts as numbers, too, each with its unit beside it."""


def _held(at: int) -> Column:
    one = RESOURCES[at]
    return Column(f"held_{one.key}", lambda lost: lost.requested[at], f"Held ({one.hours})", form=AMOUNT)


LOST = (
    Column("cause", heading="Cause"),
    Column("runs", "n_runs", "Runs", unit="runs"),
    Column("hours", heading="Run time", unit="h"),
    *(_held(at) for at in range(len(RESOURCES))),
    Column("runs_without_time", "n_no_time", "Without a time", unit="runs"),
)
"""A line per cause."""


def called(ledger: Ledger, profiles: Sequence[str]) -> Ledger:
    """A ledger for people: rows and findings of profiles have their names."""
    if ledger.settings.by != PROFILE:
        return ledger
    return renamed(ledger, {row.name: name_of(row.name, profiles) for row in ledger.rows})


def runs_called(result: LedgerRunList, profiles: Sequence[str]) -> LedgerRunList:
    """The runs behind a number for people: those of profiles have their names."""
    if result.settings.ledger.by != PROFILE:
        return result
    return replace(result, names=tuple(name_of(name, profiles) for name in result.names))


def ledger_answer(ledger: Ledger) -> Answer:
    """What is wasted of every resource and by whom, the findings, and what did not finish."""
    names = tasks_in(ledger)
    own = replace(WHOSE, value=lambda one: shortened(whose(one, names), 40))
    columns = tuple(own if one is WHOSE else one for one in FINDINGS)
    if not ledger.settings.prices.given:
        columns = tuple(one for one in columns if one.name != "money")
    tables = [Table("findings", "Findings, the costliest first", columns, ledger.findings), _rows(ledger)]
    if ledger.totals.lost:
        tables.append(Table("lost", "Runs that did not finish", LOST, ledger.totals.lost))
    notes = [f"{note[:1].upper()}{note[1:]}." for note in (*ledger.notes, *unjudged_sentences(ledger))]
    notes += [_unfinished(ledger)] if ledger.totals.lost else []
    return Answer(
        f"{ledger_sentence(ledger)} {findings_sentence(ledger)}",
        _figures(ledger),
        tuple(tables),
        tuple(notes),
        ledger_json(ledger),
    )


def _figures(ledger: Ledger) -> tuple[Figure, ...]:
    """The waste of each resource, and what did not finish; of four resources a note tells the latter."""
    lost = ledger.totals
    share = format_share(lost.n_lost / max(lost.n_runs + lost.n_lost, 1))
    unfinished = Figure(Column("not_finished", "n_lost", "Not finished", unit="runs"), lost, share, _unfinished(ledger))
    wasted = (_wasted(ledger, one) for one in ledger.totals.amounts if one.n_judged)
    return (*wasted, unfinished)[:MOST_FIGURES]


def _unfinished(ledger: Ledger) -> str:
    causes = ", ".join(f"{one.n_runs:,} {one.cause}" for one in ledger.totals.lost) or "none"
    return f"Runs that did not finish are in none of the sums; what they held is counted by cause: {causes}."


def _wasted(ledger: Ledger, amount: Amount) -> Figure:
    hours, unjudged = hours_of(amount.resource), ledger.totals.n_runs - amount.n_judged
    left = f" {unjudged:,} finished runs lack a request, a use or a time and are not judged." if unjudged else ""
    column = Column(f"wasted_{amount.resource}_share", "wasted_share", f"Wasted {WORDS[amount.resource]}", unit="share")
    return Figure(
        column,
        amount,
        f"{number(amount.wasted)} {hours}",
        f"Requested and not used, of {number(amount.judged_requested)} {hours} that "
        f"{counted(amount.n_judged, 'run')} requested.{left}",
    )


def findings_sentence(ledger: Ledger) -> str:
    """How many findings there are and what is known to be saved, as far as it was measured."""
    result = ledger.findings
    if not result:
        return "No rule finds anything of that size."
    rows = {(one.sized, one.key): one for one in result if one.row is not None and one.row.action != KEEP}
    saved: dict[str, float] = {}
    for one in rows.values():
        if one.row is not None:
            saved[SAVED_UNITS[one.sized]] = saved.get(SAVED_UNITS[one.sized], 0.0) + one.row.saved
    ending = "s" if len(rows) == 1 else ""
    less = listed([f"{number(amount)} {unit}" for unit, amount in saved.items() if amount >= 0])
    more = listed([f"{number(-amount)} {unit} more" for unit, amount in saved.items() if amount < 0])
    effects = [f"save{ending} {less}"] * bool(less) + [f"hold{ending} {more}"] * bool(more)
    small = f" {small_words(ledger)}." if ledger.n_small else ""
    change = f"{counted(len(rows), 'changed request')} {' and '.join(effects)} on later runs"
    saves = change if rows else "the plan keeps these requests"
    return f"{counted(len(result), 'finding')}; {saves}.{small}"


def changing_findings(ledger: Ledger) -> tuple[Finding, ...]:
    """The findings that change a request, costliest first."""
    return tuple(one for one in ledger.findings if one.row is not None and one.row.action != KEEP)


def first_findings(ledger: Ledger, most: int, found: Sequence[Finding] = ()) -> tuple[str, ...]:
    """The costliest findings in a sentence or two each: of all, or of some."""
    tasks = tasks_in(ledger)
    return tuple(
        " ".join(f"{part}." for part in (f"{_short(one, tasks)}: {evidence_words(one)}", advice_words(one)) if part)
        for one in (found or ledger.findings)[:most]
    )


def _short(one: Finding, tasks: Mapping[str, str]) -> str:
    names = dict.fromkeys((tasks.get(one.who, one.who), tasks[one.task]))
    return ", ".join(shortened(name, LONGEST_NAME) for name in names if name)


def unjudged_sentences(ledger: Ledger) -> tuple[str, ...]:
    """The rules that could not be judged, with the columns that they lack; those of one reason in one sentence."""
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for one in ledger.unjudged:
        alike.setdefault((one.why, tuple(one.missing)), []).append(f"'{RULES[one.rule].title}'")
    return tuple(
        (f"Not judged is {rules[0]}, since {why}" if len(rules) == 1 else f"Not judged are {listed(rules)}: {why}")
        + (f". Columns missing: {', '.join(missing)}" if missing else "")
        for (why, missing), rules in alike.items()
    )


def ledger_runs_answer(result: LedgerRunList) -> Answer:
    """The runs behind a number, the one that wastes most first; amounts in the resource's unit."""
    one = next(one for one in RESOURCES if one.name == result.resource)
    what = "Held" if result.unfinished else "Wasted"

    def amount(name: str, values: Floats, heading: str) -> Column:
        return Column(name, lambda at: float(values[at]), heading, form=AMOUNT)

    columns = (
        Column("row_id", lambda at: int(result.row_ids[at]), "Row", form="%d"),
        *([Column(by, lambda at: result.names[at])] if (by := result.settings.ledger.by) != TASK else []),
        Column("task", lambda at: result.tasks[at], "Task"),
        amount("requested", result.requested, f"Requested ({one.unit})"),
        amount("used", result.used, f"Used ({one.unit})"),
        Column("unit", lambda _: one.unit, aside=True),
        Column("hours", lambda at: float(result.hours[at]), "Run time", unit="h"),
        amount("wasted", result.wasted_each, f"{what} ({result.unit})"),
        Column("wasted_unit", lambda _: result.unit, aside=True),
    )
    most = f"; the {len(result.row_ids):,} that {what.lower()} most are listed"
    sentence = f"{counted(result.n_runs, 'run')} {what.lower()} {number(result.wasted)} {result.unit}"
    return Answer(
        f"{sentence}{most if len(result.row_ids) < result.n_runs else ''}.",
        tables=(table := Table("runs", "Runs", columns, range(len(result.row_ids))),),
        document={
            "runs": table.documents(),
            "n_runs": result.n_runs,
            "resource": result.resource,
            "wasted": result.wasted,
            "wasted_unit": result.unit,
            "unit": one.unit,
        },
    )
