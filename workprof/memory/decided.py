"""What decisions mean for a verdict: rows that were declined, or are never touched, keep their requests.

They are in no saving, no kill, no export and no served size; the other rows say what they said. The figures are those
of the judged runs with these requests kept.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime

import numpy as np

from workprof.core.errors import SettingsError
from workprof.memory.decisions import (
    DECLINED,
    LEAVE_OUT,
    NEVER,
    NOTED,
    STATES,
    Advice,
    Decision,
    checked_note,
    key_text,
    keys_named,
)
from workprof.memory.verdict import NOW, Decided, Judged, ResourceVerdict, Verdict, figures_of
from workprof.memory.verdict_rows import DECIDED, KEEP, OfResource, VerdictRow, rate, retries_of


def row_key(row: VerdictRow, one: OfResource) -> str:
    """The text by which a row is known; '' = the other keys together, which nobody can decide about."""
    return key_text(one.resource, row.by, row.key, row.request)


def decided(verdict: Verdict, decisions: Iterable[Decision], *, scope: str = "") -> Verdict:
    """A verdict with these decisions and no others; those on rows that are not there are `missing`.

    In a scope, or as of before, none is: its row may be among the others.
    """
    by_key = {one.row_key: one for one in decisions}
    if not by_key and not verdict.missing and all(one.decided is None for one in verdict.resources):
        return verdict
    price = verdict.settings.what_if.price_gb_h
    resources = tuple(_resource(one, by_key, price) for one in verdict.resources)
    there = {row.decision.row_key for one in resources for row in one.rows if row.decision is not None}
    whole = not scope and verdict.settings.as_of == NOW
    missing = tuple(one for key, one in by_key.items() if key not in there and whole)
    return replace(verdict, resources=resources, missing=missing)


def _resource(one: ResourceVerdict, by_key: Mapping[str, Decision], price: float | None) -> ResourceVerdict:
    rows = tuple(_row(_undecided(row), by_key.get(row_key(row, one)) if row.by else None) for row in one.rows)
    states = [row.decision.state for row in rows if row.decision is not None]
    if not states and one.decided is None:
        return one
    left_out = np.array([at for at, row in enumerate(rows) if row.would is not None], dtype=np.int64)
    killed = np.array([row.n_killed / max(row.n_runs, 1) for row in rows], dtype=np.float64)
    everything = figures_of(one.cells, one.judged.applied, one.judged.origins)
    judged, otherwise = (
        figures_of(cells.with_requests(left_out, killed), before.applied, before.origins)
        for before, cells in ((one.judged, one.cells), (one.otherwise, one.other_cells))
    )
    what_if = one.what_if
    if what_if is not None and price is not None:
        what_if = replace(what_if, verdict_money_saved=price * judged.saved)
    return replace(
        one,
        rows=rows,
        judged=judged,
        otherwise=otherwise,
        what_if=what_if,
        decided=_counts(states, everything, rows, one.today.booked) if states else None,
    )


def _row(row: VerdictRow, decision: Decision | None) -> VerdictRow:
    if decision is None or decision.state not in LEAVE_OUT:
        return replace(row, decision=decision)
    return replace(
        row,
        decision=decision,
        would=Advice(row.action, row.reason, row.size, row.retry, row.saved, row.kills, row.kills_per_1000),
        action=KEEP,
        reason=DECIDED,
        size=row.request,
        retry=retries_of(row.request, row.request),
        saved=0.0,
        kills=0,
        kills_per_1000=rate(KEEP, row.request, 0.0, {**vars(row), "kills": 0}),
    )


def _undecided(row: VerdictRow) -> VerdictRow:
    if row.would is None:
        return row
    advised = {each.name: getattr(row.would, each.name) for each in fields(row.would)}
    return replace(row, would=None, **advised)


def _counts(states: Sequence[str], judged: Judged, rows: Sequence[VerdictRow], booked: float) -> Decided:
    accepted = [row for row in rows if row.accepted]
    saved = sum(row.saved for row in accepted)
    return Decided(
        accepted=len(accepted),
        declined=states.count(DECLINED),
        never=states.count(NEVER),
        noted=states.count(NOTED),
        all_saved=judged.saved,
        all_saved_share=judged.saved_share,
        all_kills=judged.kills,
        accepted_saved=saved,
        accepted_saved_share=saved / booked if booked > 0 else 0.0,
        accepted_kills=sum(row.kills for row in accepted),
    )


def rows_named(verdict: Verdict, text: str, *, every: bool = False) -> list[tuple[ResourceVerdict, VerdictRow]]:
    """The row of a key, or of parts that fit one row; `every`: all rows that they fit.

    Raises SettingsError where none fits, or several do.
    """
    rows = {row_key(row, one): (one, row) for one in verdict.resources for row in one.rows if row.by}
    return [rows[key] for key in keys_named(tuple(rows), text, every=every)]


def decisions_on(
    found: Iterable[tuple[ResourceVerdict, VerdictRow]], state: str | None, note: str | None, by: str
) -> tuple[Decision, ...]:
    """What is decided now; None leaves the state or the note as it was.

    A decision that stands, of which the note alone changes, keeps who decided it, when, and on which advice: what it
    saved in fact counts from then on.

    Raises SettingsError for another state, a note that is too long, or neither.
    """
    if state is None and note is None:
        raise SettingsError(f"nothing is decided; give one of {', '.join(STATES)}, or a note")
    if state is not None and state not in STATES:
        raise SettingsError(f"state is {state!r}; choose from {', '.join(STATES)}")
    at, text = datetime.now(UTC).isoformat(timespec="seconds"), None if note is None else checked_note(note)
    result = []
    for one, row in found:
        before, would = row.decision, row.would
        told = (row.action, row.size, row.saved) if would is None else (would.action, would.size, would.saved)
        if before is not None and (state is None or (state == before.state and before.action == told[0])):
            result.append(replace(before, note=before.note if text is None else text))
            continue
        result.append(
            Decision(
                row_key=row_key(row, one),
                state=state or NOTED,
                note=text if text is not None else before.note if before else "",
                by=by,
                at=at,
                action=told[0],
                unit=one.unit,
                request=row.request,
                size=told[1],
                saved=told[2],
            )
        )
    return tuple(result)
