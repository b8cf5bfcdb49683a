"""The digest: one page for a team, one short text per user with own rows alone; what each says is an answer."""

import datetime as dt
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from workprof.answers.alerts import alert_words
from workprof.answers.changes import (
    changes_sentence,
    clock_s,
    degraded_words,
    drift_words,
    parts_words,
    realised_sentence,
    worse_words,
)
from workprof.answers.node_history import moved_words
from workprof.answers.verdict import action_words, sentence, task_names
from workprof.core.alerts import Checked
from workprof.core.answer import Answer, Table
from workprof.core.scope import titled
from workprof.core.table import Column
from workprof.core.words import counted
from workprof.memory.changes import WEEK_DAYS, Changes
from workprof.memory.comparison import APPEARED, VANISHED
from workprof.memory.decided import row_key
from workprof.memory.exports import one_line
from workprof.memory.verdict import Verdict
from workprof.memory.verdict_rows import KEEP
from workprof.nodes.history import History

MOST_ROWS = 5
"""Of a user in one text, and of the team's page."""
LONGEST_LINE = 300
OWNERS = ("user", "namespace")
"""Columns that say whose a row is, the first that is there."""


@dataclass(frozen=True)
class Letter:
    """A text for somebody: lines without control characters."""

    who: str  # a user; '' = the team
    subject: str
    lines: tuple[str, ...]
    rows: tuple[str, ...]  # what it tells of, as decisions name rows; of the team the dataset's hash

    @property
    def text(self) -> str:
        """As one text."""
        return "\n".join(self.lines) + "\n"


@dataclass(frozen=True)
class Outcome:
    """What became of a text."""

    who: str
    address: str  # '' = none
    state: str  # 'preview', 'sent', 'written', 'skipped' or 'failed'
    why: str = ""


def team_letter(
    dataset: tuple[str, str],
    verdict: Verdict | None,
    changes: Changes | None,
    alerts: Sequence[Checked],
    nodes: Sequence[tuple[str, History]] = (),
    unknown: Sequence[str] = (),
) -> Letter:
    """The page of the team; `dataset` is name and hash, `nodes` benchmark runs of its nodes, by name.

    `unknown` says what could not be told, and why.
    """
    lines = [sentence(verdict)] if verdict is not None else []
    if changes is not None:
        lines.append(changes_sentence(changes))
        if changes.taken_up is not None and changes.taken_up.rows:
            lines.append(realised_sentence(changes.taken_up))
        lines += [f"Worse: {worse_words(one)}." for one in changes.worse[:MOST_ROWS]]
        for state in (APPEARED, VANISHED):
            if words := parts_words(changes, state):
                lines.append(f"{state.capitalize()}: {words}.")
        lines += [f"{drift_words(changes)}."] if changes.drift else []
        lines += [f"{degraded_words(changes.degraded)}."] if changes.degraded else []
    lines += [f"{why.rstrip('.')}." for why in unknown]
    days, newest_s = (WEEK_DAYS, math.nan) if changes is None else (changes.days[1], clock_s(changes))
    lines += [f"{words}." for name, one in nodes if (words := moved_words(one, name, days, newest_s))]
    lines += [f"Alert {alert_words(one)}." for one in alerts if one.fired or one.problem]
    if verdict is not None:
        rows = [row for row in verdict.memory.rows if row.action != KEEP][:MOST_ROWS]
        tasks = task_names(verdict.memory.rows)
        deeds = [f"{at}. {action_words(row, tasks)}." for at, row in enumerate(rows, 1)]
        lines += ["Do these things:", *deeds] if rows else []
    return _letter("", f"What changed in {titled(dataset[0])}", lines, (dataset[1],))


def user_letters(
    name: str,
    verdict: Verdict,
    changes: Changes | None,
    told: Mapping[tuple[str, str], float],
    opted_out: Collection[str],
    again: tuple[float, float],
) -> tuple[list[Letter], list[Outcome]]:
    """A text for each user with a row to change that was not told of lately, and who gets none for which reason.

    `told` is (who, what) -> when; `again` is now, and s until somebody is told of a row again.
    """
    now_s, again_s = again
    memory, tasks = verdict.memory, task_names(verdict.memory.rows)
    own: dict[str, list[tuple[str, str]]] = {}
    for row in memory.rows:
        owner = next((row.key[column] for column in OWNERS if row.key.get(column)), "")
        if owner and row.action != KEEP:
            own.setdefault(owner, []).append((row_key(row, memory), action_words(row, tasks)))
    worse: dict[str, list[str]] = {}
    for one in changes.worse if changes is not None else ():
        owner = next((one.key[column] for column in OWNERS if one.key.get(column)), "")
        worse.setdefault(owner, []).append(worse_words(one))
    letters, skipped = [], []
    for owner, rows in own.items():
        fresh = [row for row in rows if now_s - told.get((owner, row[0]), -again_s) >= again_s]
        if owner in opted_out:
            skipped.append(Outcome(owner, "", "skipped", "opted out"))
        elif not fresh:
            last = max(told[owner, key] for key, _ in rows)
            why = f"sent on {day_words(last)}, not again before {day_words(last + again_s)}"
            skipped.append(Outcome(owner, "", "skipped", why))
        else:
            shown = fresh[:MOST_ROWS]
            lines = [f"{counted(len(rows), 'request')} of yours in {name} can change:", ""]
            lines += [f"{at}. {words}." for at, (_, words) in enumerate(shown, 1)]
            lines += [f"Worse than the week before: {words}." for words in worse.get(owner, ())[:MOST_ROWS]]
            letters.append(_letter(owner, f"Your requests in {titled(name)}", lines, tuple(key for key, _ in shown)))
    return letters, skipped


def _letter(who: str, subject: str, lines: Sequence[str], rows: tuple[str, ...]) -> Letter:
    return Letter(who, one_line(subject), tuple(one_line(line, LONGEST_LINE) for line in lines), rows)


def day_words(moment_s: float) -> str:
    """'2026-01-31'."""
    return f"{dt.datetime.fromtimestamp(moment_s, dt.UTC):%Y-%m-%d}"


OUTCOMES = (
    Column("who", lambda one: one.who or "the team", "Who", pinned=True),
    Column("address", lambda one: one.address or None, "Address", optional=True),
    Column("state", heading="What became of it"),
    Column("why", lambda one: one.why or None, "Why", optional=True),
)


def digest_answer(letters: Sequence[Letter], outcomes: Sequence[Outcome], to: str, *, sent: bool) -> Answer:
    """What was sent or would be: every text, and who gets none."""
    counts = {state: sum(one.state == state for one in outcomes) for state in ("sent", "written", "failed", "skipped")}
    told = ", ".join(f"{count:,} {state}" for state, count in counts.items() if count)
    users = counted(sum(bool(one.who) for one in letters), "text")
    first = f"{told[:1].upper()}{told[1:]}." if sent else f"Dry run: a page and {users}; nothing was sent."
    rest = f" {counts['skipped']:,} skipped." if counts["skipped"] and not sent else ""
    texts = [{"who": one.who, "subject": one.subject, "text": one.text} for one in letters]
    return Answer(
        f"{first}{rest}",
        tables=(Table("outcomes", f"To {to}" if to else "Recipients", OUTCOMES, outcomes),),
        document={"to": to, "sent": sent, "letters": texts},
    )


def digest_text(letters: Sequence[Letter]) -> str:
    """Every text with its subject, for a preview or a file."""
    return "\n".join(f"{one.subject}{f' (to {one_line(one.who)})' if one.who else ''}\n\n{one.text}" for one in letters)
