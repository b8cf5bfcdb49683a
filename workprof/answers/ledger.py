"""The ledger in words, as JSON, as CSV and as one short text per user.

Nothing is sent: the texts are for an operator to send. No name from a trace can leave its line.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

from workprof.answers.tasks import shown
from workprof.answers.verdict import named, row_document, row_words, why
from workprof.core.causes import OUT_OF_MEMORY
from workprof.core.errors import SettingsError
from workprof.core.records import to_json
from workprof.core.text import spreadsheet_text, visible
from workprof.core.units import format_share, number
from workprof.core.words import counted, listed
from workprof.memory.exports import MOST_OF_A_NOTE, Origin, one_line
from workprof.memory.findings import HOURS_OF, PRICED, Finding
from workprof.memory.ledger import Ledger, LedgerRow
from workprof.memory.ledger_rules import CAUSES_OF, RULES
from workprof.memory.ledger_settings import NAMES, RESOURCES, USER
from workprof.memory.resources import CPU, GPU, MEMORY, TIME
from workprof.memory.verdict_rows import KEEP, VerdictRow
from workprof.memory.verdict_sizes import SizedRows


def whose(finding: Finding) -> str:
    """Whose runs a finding is about, a task by the last part of its path: its key, else row of the ledger and task."""
    if finding.row is not None and finding.row.key:
        return visible(named(finding.row))
    task = shown(finding.task)
    key = finding.key.replace(finding.task, task) if task else finding.key
    return visible(key or ", ".join(one for one in (finding.who, task) if one))


def small_words(ledger: Ledger) -> str:
    """How many findings are below the smallest that is listed, as a sentence without its end."""
    return f"{counted(ledger.n_small, 'minor finding')} {'is' if ledger.n_small == 1 else 'are'} hidden"


def evidence_words(finding: Finding) -> str:
    """Return what a finding rests on, as a sentence without its end."""
    wasted = f"{number(finding.amount)} {finding.unit}, {format_share(finding.share)} of all that is requested"
    if finding.rule in CAUSES_OF:
        return f"{counted(finding.n_runs, 'run')} of {finding.n_of:,}: {RULES[finding.rule].title}; they held {wasted}"
    runs = f"{counted(finding.n_runs, 'run')} of {finding.n_of:,}: {RULES[finding.rule].title}"
    if finding.used_share > 0:
        runs += f" ({format_share(finding.used_share)} used)"
    return f"{runs}; {wasted}"


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
    return (
        f"On {row.n_judged:,} later runs: {amount}, {f'{row.kills:,}' if row.kills else 'none'} {SHORT[finding.sized]}"
    )


SAVED_UNITS = {sized: HOURS_OF[name] for sized, name in PRICED.items()}
"""Of what a row of the verdict saves."""
SHORT = {MEMORY: "killed", CPU: "slower", GPU: "slower", TIME: "ended too early"}


def finding_sentence(finding: Finding) -> str:
    """Return a finding in two or three sentences."""
    parts = (f"{whose(finding)}: {evidence_words(finding)}", advice_words(finding), saved_words(finding))
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


def finding_json(finding: Finding, ledger: Ledger) -> dict[str, Any]:
    """Return a finding as JSON; `filter` has the options of `workprof memory ledger-runs` that list its runs."""
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
        "sentence": finding_sentence(finding),
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
    by = ledger.settings.by
    return {
        "by": by,
        "totals": row_json(ledger.totals, ledger),
        "rows": [row_json(row, ledger) | {"filter": {"by": by, "row": row.name}} for row in ledger.rows],
        "findings": [finding_json(one, ledger) for one in ledger.findings],
        "not_judged": [{"rule": one.rule, "missing": list(one.missing), "why": one.why} for one in ledger.unjudged],
        "too_small": {"n": ledger.n_small, "share": ledger.small_share},
        "notes": list(ledger.notes),
        "seconds": ledger.seconds,
    }


def _about(ledger: Ledger, origin: Origin) -> tuple[str, ...]:
    rules, prices = ledger.settings.rules, ledger.settings.prices
    text = ", ".join(f"{name} {value:g}" for name, value in vars(rules).items())
    lines = [
        f"Ledger by workprof {one_line(origin.version)}",
        f"Dataset: {one_line(origin.dataset)} ({one_line(origin.dataset_hash)})",
        *((one_line(origin.note, MOST_OF_A_NOTE),) if origin.note else ()),
        f"By {ledger.settings.by}; memory counted as {ledger.settings.target}; {text}",
    ]
    if prices.given:
        lines.append(
            f"Prices in {one_line(prices.currency)}: {prices.per_gb_h:g} per GB·h, {prices.per_core_h:g} per core·h, "
            f"{prices.per_gpu_h:g} per GPU·h"
        )
    return tuple(lines)


def json_text(ledger: Ledger, origin: Origin) -> str:
    """Return the ledger with what it is of as one JSON document."""
    document = {
        "about": list(_about(ledger, origin)),
        "dataset": {"name": origin.dataset, "hash": origin.dataset_hash},
        "workprof": origin.version,
        "settings": ledger.settings,
        **ledger_json(ledger),
    }
    return json.dumps(to_json(document), indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def _csv(rows: Iterable[dict[str, Any]], names: Sequence[str]) -> str:
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(names)
    for row in rows:
        cells = to_json([row[name] for name in names])
        writer.writerow(
            ["" if one is None else spreadsheet_text(one) if isinstance(one, str) else one for one in cells]
        )
    return target.getvalue()


def rows_csv(ledger: Ledger, origin: Origin) -> str:
    """Return rows and total as CSV: amounts, what was judged, what others held; the dataset in every line."""
    made = []
    for row in (*ledger.rows, ledger.totals):
        flat = row_json(row, ledger)
        utilisation, wasted = flat.pop("utilisation"), flat.pop("wasted_share")
        judged, lost = flat.pop("judged"), flat.pop("not_finished")
        flat |= {f"{name}_used_share": share for name, share in utilisation.items()}
        flat |= {f"{name}_wasted_share": share for name, share in wasted.items()}
        flat |= {f"{name}_judged_runs": one["runs"] for name, one in judged.items()}
        flat |= {f"{name}_over_request": one["over_request"] for name, one in judged.items()}
        flat |= {"not_finished": sum(one["runs"] for one in lost)}
        flat |= {f"not_finished_{one.key}": sum(of[f"held_{one.key}"] for of in lost) for one in RESOURCES}
        made.append(
            {ledger.settings.by: flat.pop("name"), **flat, "dataset": origin.dataset, "hash": origin.dataset_hash}
        )
    return _csv(made, tuple(made[0]))


FINDING_COLUMNS = (
    *("rule", "who", "task", "runs", "of_runs", "hours", "wasted", "unit", "share", "money", "used_share"),
    *("requested", "action", "size", "amount_unit", "saved", "saved_unit", "saved_share", "saved_money"),
    *("kills", "kills_per_1000_low", "kills_per_1000_high", "judged_on_runs", "why", "sentence", "dataset", "hash"),
)


def findings_csv(ledger: Ledger, origin: Origin) -> str:
    """Return the findings as CSV, the costliest first."""
    rows = [
        {
            "rule": one.rule,
            "who": one.who,
            "task": one.task,
            "runs": one.n_runs,
            "of_runs": one.n_of,
            "hours": one.hours,
            "wasted": one.amount,
            "unit": one.unit,
            "share": one.share,
            "money": one.money,
            "used_share": one.used_share,
            "requested": one.requested,
            "action": one.row.action if one.row else "",
            "size": one.row.size if one.row else None,
            "amount_unit": one.amount_unit,
            "saved": one.row.saved if one.row else None,
            "saved_unit": SAVED_UNITS.get(one.sized, ""),
            "saved_share": saved_share(one.row) if one.row else None,
            "saved_money": one.saved_money,
            "kills": one.row.kills if one.row else None,
            "kills_per_1000_low": one.row.kills_per_1000.low if one.row else None,
            "kills_per_1000_high": one.row.kills_per_1000.high if one.row else None,
            "judged_on_runs": one.row.n_judged if one.row else None,
            "why": why(one.row, one.sized, one.amount_unit) if one.row else one.lacking,
            "sentence": finding_sentence(one),
            "dataset": origin.dataset,
            "hash": origin.dataset_hash,
        }
        for one in ledger.findings
    ]
    return _csv(rows, FINDING_COLUMNS)


MOST_IN_A_MAIL = 5


def mails(ledger: Ledger, origin: Origin) -> dict[str, str]:
    """Return user -> a short text, of every user with a finding, the one who wastes most first.

    Raises:
        SettingsError: for a ledger whose rows are no users.
    """
    if ledger.settings.by != USER:
        raise SettingsError(f"texts are per user, and this ledger is by {ledger.settings.by}; use --by user")
    own: dict[str, list[Finding]] = {}
    for one in ledger.findings:
        if one.who:
            own.setdefault(one.who, []).append(one)
    return {row.name: _mail(row, own[row.name], origin) for row in ledger.rows if row.name in own}


def _mail(row: LedgerRow, findings: list[Finding], origin: Origin) -> str:
    shares = [
        f"{format_share(amount.utilisation)} of {number(amount.judged_requested)} {one.hours}"
        for one, amount in zip(RESOURCES, row.amounts, strict=True)
        if amount.judged_requested > 0
    ]
    lines = [
        f"To: {one_line(row.name)}",
        f"Subject: What your runs request and use ({one_line(origin.dataset)})",
        "",
        f"Your {counted(row.n_runs, 'run')} in {one_line(origin.dataset)} used {listed(shares)} that they requested.",
        "",
    ]
    for place, one in enumerate(findings[:MOST_IN_A_MAIL], 1):
        lines.append(f"{place}. {one_line(shown(one.task) or whose(one))}: {evidence_words(one)}.")
        lines += [f"   {part}." for part in (advice_words(one), saved_words(one)) if part]
    if len(findings) > MOST_IN_A_MAIL:
        lines.append(f"... and {len(findings) - MOST_IN_A_MAIL} smaller ones.")
    if origin.note:
        lines += ["", one_line(origin.note, MOST_OF_A_NOTE)]
    return "\n".join([*lines, ""])


BETWEEN = "-" * 72


def mail_text(ledger: Ledger, origin: Origin) -> str:
    """Return all texts in one, a line of dashes between them; first how many users have none."""
    result = mails(ledger, origin)
    head = "\n".join(_about(ledger, origin))
    users = len(ledger.rows)
    head += f"\n{len(result):,} of {users:,} users have a finding; nothing was sent.\n"
    return f"\n{BETWEEN}\n".join([head, *result.values()])


EXPORTS = {"csv": rows_csv, "findings": findings_csv, "json": json_text, "mail": mail_text}
"""`--to` of the command -> what writes it: rows, findings, both, one text per user."""
