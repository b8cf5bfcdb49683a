"""The ledger as JSON, as CSV and as one short text per user.

Nothing is sent: the texts are for an operator to send. No name from a trace can leave its line.
"""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from workprof.answers.ledger import (
    SAVED_UNITS,
    advice_words,
    evidence_words,
    finding_sentence,
    finding_why,
    ledger_json,
    row_json,
    saved_share,
    saved_words,
    tasks_in,
    whose,
)
from workprof.core.errors import SettingsError
from workprof.core.records import to_json
from workprof.core.text import spreadsheet_text
from workprof.core.units import format_share, number
from workprof.core.words import counted, listed
from workprof.memory.exports import MOST_OF_A_NOTE, Origin, one_line
from workprof.memory.findings import Finding
from workprof.memory.ledger import Ledger, LedgerRow
from workprof.memory.ledger_settings import RESOURCES, USER


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
    tasks = tasks_in(ledger)
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
            "why": finding_why(one),
            "sentence": finding_sentence(one, tasks),
            "dataset": origin.dataset,
            "hash": origin.dataset_hash,
        }
        for one in ledger.findings
    ]
    return _csv(rows, FINDING_COLUMNS)


MOST_IN_A_MAIL = 5


def mails(ledger: Ledger, origin: Origin) -> dict[str, str]:
    """Return user -> a short text, of every user with a finding, the one who wastes most first.

    Raises SettingsError for a ledger whose rows are no users.
    """
    if ledger.settings.by != USER:
        raise SettingsError(f"texts are per user, and this ledger is by {ledger.settings.by}; use --by user")
    own: dict[str, list[Finding]] = {}
    for one in ledger.findings:
        if one.who:
            own.setdefault(one.who, []).append(one)
    tasks = tasks_in(ledger)
    return {row.name: _mail(row, own[row.name], tasks, origin) for row in ledger.rows if row.name in own}


def _mail(row: LedgerRow, findings: list[Finding], tasks: Mapping[str, str], origin: Origin) -> str:
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
        lines.append(f"{place}. {one_line(tasks[one.task] or whose(one, tasks))}: {evidence_words(one)}.")
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
