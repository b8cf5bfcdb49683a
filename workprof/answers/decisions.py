"""What was decided about the rows of a verdict, in words; the list of decisions."""

from collections.abc import Sequence
from typing import Any

from workprof.core.answer import Answer, Table
from workprof.core.table import Column
from workprof.core.units import format_share, number
from workprof.core.words import counted
from workprof.memory.decisions import ACCEPTED, Decision
from workprof.memory.resources import TIME
from workprof.memory.verdict import ResourceVerdict, Verdict
from workprof.memory.verdict_rows import KEEP, LOWER, VerdictRow


def amount_of(resource: str, unit: str) -> str:
    """The unit of what is held over time: 'GB·h'; of time limits hours."""
    return "h" if resource == TIME else f"{unit}·h"


def amount_words(value: float, unit: str) -> str:
    """An amount with its unit: '8 cores', '1 core', '4.3 GB'."""
    one = {"cores": "core", "GPUs": "GPU", "nodes": "node"}
    return f"{number(value)} {one.get(unit, unit) if value == 1 else unit}"


def state_words(row: VerdictRow) -> str:
    """The state of a row: 'accepted', 'declined', 'never touch', 'noted', or ''.

    What was accepted when the row said something else says so.
    """
    one = row.decision
    if one is None:
        return ""
    if one.state == ACCEPTED and not row.accepted:
        return f"{ACCEPTED} when it was: {one.action}"
    return one.state


def note_words(row: VerdictRow) -> str:
    """The note of a row, if any."""
    return "" if row.decision is None else row.decision.note


def who_words(one: Decision) -> str:
    """A decision with its author, day and note: 'declined by ann on 2026-11-27 (too risky)'."""
    note = f" ({one.note})" if one.note else ""
    return f"{one.state} by {one.by} on {one.at[:10]}{note}"


def why_decided(row: VerdictRow, resource: str, unit: str) -> str:
    """Why a row that is left out keeps its request, and what it would say."""
    one, would = row.decision, row.would
    if one is None or would is None:
        return ""
    if would.action == KEEP:
        return who_words(one)
    saves = f", {number(would.saved)} {amount_of(resource, unit)} saved" if would.saved > 0 else ""
    return f"{who_words(one)}; advice was {would.action} to {amount_words(would.size, unit)}{saves}"


STATE = Column("decision", state_words, "Decision", optional=True, help="What a person decided about this row.")
NOTE = Column("note", note_words, "Note", optional=True)


def decided_sentence(memory: ResourceVerdict) -> str:
    """What accepted rows save, and what the rows that are left out would add; '' = nothing was decided."""
    found = memory.decided
    if found is None:
        return ""
    parts = []
    if found.accepted:
        parts.append(f"Accepted rows {saving_words(found.accepted_saved_share)}.")
    if found.left_out:
        are = "is" if found.left_out == 1 else "are"
        parts.append(
            f"{counted(found.left_out, 'row')} {are} left out by decision; all rows would "
            f"{saving_words(found.all_saved_share)}."
        )
    return " ".join(parts)


def saving_words(share: float, ending: str = "") -> str:
    """'save 31.3 %', or 'hold 12.0 % more'; the ending is that of the verb."""
    more = share < 0
    return f"{'hold' if more else 'save'}{ending} {format_share(abs(share))}{' more' if more else ''}"


EVERY_ROW = "The plan has every row here, also those that are left out by decision."
"""A note where decisions change nothing."""


def left_out_words(verdict: Verdict) -> str:
    """How many rows exports leave out, and why; '' = none."""
    found = [one.decided for one in verdict.resources if one.decided is not None]
    declined, never = sum(one.declined for one in found), sum(one.never for one in found)
    if not declined + never:
        return ""
    return f"Left out by decision: {counted(declined + never, 'row')} ({declined:,} declined, {never:,} never touched)."


def missing_words(verdict: Verdict) -> str:
    """How many decisions are on rows that are not there; '' = none."""
    if not verdict.missing:
        return ""
    first = ", ".join(one.row_key for one in verdict.missing[:3])
    more = ", ..." if len(verdict.missing) > 3 else ""
    are = "is on a row that no longer exists" if len(verdict.missing) == 1 else "are on rows that no longer exist"
    return f"{counted(len(verdict.missing), 'decision')} {are}: {first}{more}."


def decision_document(one: Decision | None) -> dict[str, Any] | None:
    """A decision as JSON documents have it."""
    if one is None:
        return None
    return {"state": one.state, "note": one.note, "by": one.by, "at": one.at, "action": one.action,
            "unit": one.unit, "request": one.request, "size": one.size, "saved": one.saved}  # fmt: skip


def would_document(row: VerdictRow) -> dict[str, Any] | None:
    """What a row that is left out would say."""
    would = row.would
    return None if would is None else {"action": would.action, "size": would.size, "saved": would.saved,
                                       "kills": would.kills}  # fmt: skip


def decided_document(verdict: Verdict) -> dict[str, Any]:
    """What was decided about memory in figures, and the decisions on rows that are not there."""
    found, judged = verdict.memory.decided, verdict.memory.judged
    if found is None:
        counts = dict.fromkeys(("accepted", "declined", "never_touch", "noted"), 0)
        every = {"saved_share": judged.saved_share, "saved_gb_h": judged.saved, "failures": judged.kills}
        accepted = {"saved_share": 0.0, "saved_gb_h": 0.0, "failures": 0}
    else:
        counts = {
            "accepted": found.accepted,
            "declined": found.declined,
            "never_touch": found.never,
            "noted": found.noted,
        }
        every = {
            "saved_share": found.all_saved_share,
            "saved_gb_h": found.all_saved,
            "failures": found.all_kills,
        }
        accepted = {
            "saved_share": found.accepted_saved_share,
            "saved_gb_h": found.accepted_saved,
            "failures": found.accepted_kills,
        }
    missing = [{"row_key": one.row_key, **(decision_document(one) or {})} for one in verdict.missing]
    return {"rows": counts, "if_all": every, "accepted": accepted, "missing": missing}


DECISIONS: tuple[Column, ...] = (
    Column("row_key", heading="Row", width="large"),
    Column("state", heading="Decision"),
    Column("note", heading="Note"),
    Column("by", heading="By"),
    Column("at", heading="When"),
    Column("action", heading="Advice then"),
    Column("request", heading="Request then", form="%.3g"),
    Column("size", heading="Size then", form="%.3g"),
    Column("unit", heading="Unit"),
    Column("saved", heading="Saved then", form="%,.4g", help="Unit x h of the later runs."),
)


def decisions_answer(decisions: Sequence[Decision], missing: Sequence[Decision]) -> Answer:
    """The decisions of a dataset as a table; those on rows that are not there are said."""
    if not decisions:
        return Answer("Nothing has been decided yet.", tables=(Table("decisions", "Decisions", DECISIONS, ()),))
    states = [f"{sum(one.state == state for one in decisions):,} {state}" for state in dict.fromkeys(
        one.state for one in decisions)]  # fmt: skip
    gone = {one.row_key for one in missing}
    columns = (*DECISIONS, Column("there", lambda one: "" if one.row_key in gone else "yes", "Row exists"))
    sentence = f"{counted(len(decisions), 'decision')}: {', '.join(states)}."
    notes = () if not gone else (f"{counted(len(gone), 'decision')} on rows that no longer exist.",)
    return Answer(sentence, tables=(Table("decisions", "Decisions", columns, decisions),), notes=notes)


def every_lower_left_out(memory: ResourceVerdict) -> bool:
    """Whether nothing is lowered because every row that could be is left out."""
    return any(row.would is not None and row.would.action == LOWER for row in memory.rows) and not any(
        row.action == LOWER for row in memory.rows
    )
