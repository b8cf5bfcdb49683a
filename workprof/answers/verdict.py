"""What to request: the words, tables and document of a verdict, for every face."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from workprof.answers.decisions import (
    NOTE,
    STATE,
    amount_of,
    amount_words,
    decided_document,
    decided_sentence,
    decision_document,
    every_lower_left_out,
    left_out_words,
    missing_words,
    why_decided,
    would_document,
)
from workprof.answers.tasks import names_of
from workprof.core.answer import Answer, Figure, Table
from workprof.core.records import to_json
from workprof.core.table import Column, printed
from workprof.core.units import DAY_S, format_duration, format_share, gb, gb_h, number, saved
from workprof.core.words import counted, label, listed
from workprof.memory.decided import row_key
from workprof.memory.origins import SUBMISSION, PlainPoint
from workprof.memory.resources import KEY_COLUMNS, MEMORY, TIME
from workprof.memory.verdict import Booking, CurvePoint, Judged, ResourceVerdict, Verdict
from workprof.memory.verdict_rows import (
    ABOVE,
    BOUND,
    COSTLY,
    DECIDED,
    FEW,
    FULL,
    KEEP,
    KILLED,
    KILLS_PAY,
    LOWER,
    RAISE,
    ROOM,
    ROOM_ABOVE,
    STEPS,
    TOO_SHORT,
    VARIES,
    OfResource,
    VerdictRow,
)
from workprof.memory.verdict_sizes import Found
from workprof.memory.what_if import Broken, WhatIf, WhatIfSettings

OTHER_KEYS = "other keys"
TASK = "task_name"
KEY_WORDS = {
    "cluster": "Cluster",
    "namespace": "Namespace",
    "user": "User",
    "group": "Group",
    "workload": "Workload",
    TASK: "Task",
    "container": "Container",
}


def _key(name: str) -> Column:
    return Column(name, lambda row: row.key.get(name), KEY_WORDS[name], optional=True, pinned=name == TASK)


KEYS = tuple(_key(name) for name in KEY_COLUMNS)


def key_words(row: VerdictRow | Broken) -> str:
    """The key of a row on one line: 'ann, train'; what is not in the key is left out."""
    return ", ".join(value for _, value in _parts(row)) or OTHER_KEYS


def _parts(row: VerdictRow | Broken) -> list[tuple[str, str]]:
    """The key of a row in one order, also where the row was kept as a document."""
    return [(name, row.key[name]) for name in KEY_COLUMNS if name in row.key]


def task_names(rows: Iterable[VerdictRow]) -> dict[str, str]:
    """Task -> how rows name it beside each other."""
    return names_of(row.key[TASK] for row in rows if TASK in row.key)


def named(row: VerdictRow, tasks: Mapping[str, str]) -> str:
    """A row's key as a sentence has it; `tasks` are `task_names` of the rows that it stands among."""
    return ", ".join(tasks[value] if name == TASK else value for name, value in _parts(row)) or OTHER_KEYS


def why(row: VerdictRow, resource: str, unit: str) -> str:
    """Why a row lowers, keeps or raises, with its evidence."""
    if row.reason == DECIDED:
        return why_decided(row, resource, unit)
    used = f"{number(row.largest)} of {amount_words(row.request, unit)}"
    runs = counted(row.n_runs, "run")
    enforced = row.n_killed or row.largest <= row.request
    full = f"largest of {runs} used {used}" if enforced else f"requests are not enforced, runs used up to {used}"
    was = "was" if row.n_killed == 1 else "were"
    killed = f"{row.n_killed:,} of {runs} {'timed out' if resource == TIME else f'{was} killed for memory'}"
    though = f", though {killed}" if row.n_killed else ""
    below = "runs of a shorter limit timed out" if resource == TIME else "runs of a smaller request were killed"
    larger = "longer limit" if resource == TIME else "larger request"
    if row.reason == FEW and row.by and row.n_runs > 1:  # as of before
        return f"kept: too few of {runs} had ended{though}"
    return {
        ROOM: "; ".join(filter(None, (f"largest of {runs} used {used}", not_judged(row)))),
        ROOM_ABOVE: "; ".join(filter(None, (f"largest of {runs} used {used}", below, not_judged(row)))),
        FEW: f"kept: {runs} so far{though}",
        FULL: f"kept: {full}",
        VARIES: f"kept: use varies {number(row.largest / row.smallest) if row.smallest > 0 else 'many'}-fold",
        STEPS: f"kept: no allowed size lies between {number(row.largest)} and {amount_words(row.request, unit)}",
        COSTLY: "kept: the kills would cost more than is saved",
        BOUND: "kept: use is only known per task, so it may be higher",
        TOO_SHORT: f"kept: too few runs to judge{though}",
        KILLED: f"raise: {killed}",
        KILLS_PAY: f"kept: {killed}, which costs less than a {larger}",
        ABOVE: f"raise: {row.n_above:,} of {runs} used more than their request",
    }[row.reason]


def why_found(found: Found, resource: str, unit: str) -> str:
    """Why a run to be submitted gets its size: its row's reason, and what its request has against it."""
    if found.row is None:
        return found.note
    used = counted(found.row.n_runs, "run") + f" used up to {number(found.row.largest)} {unit}"
    too_small = f"{used}, more than this request" if found.below and (found.size or 0.0) < found.row.largest else ""
    return "; ".join(filter(None, (why(found.row, resource, unit), found.note, too_small)))


NO_KILL = 0.01
"""Fewer kills of the next 1,000 runs are told as none."""


def rate_words(row: VerdictRow) -> str:
    """The kills of the next 1,000 runs: '0.94 to 62'."""
    ends = row.kills_per_1000.low, row.kills_per_1000.high
    return " to ".join(dict.fromkeys(printed(one if one >= NO_KILL else 0.0, "%.2g") for one in ends))


def not_judged(row: VerdictRow) -> str:
    """Why a row that is lowered saves nothing by the later runs; '' where it saves."""
    if not row.n_judged:
        return "no later run yet"
    return "" if row.saved else "not yet lowered for its later runs"


MEMORY_ROWS: tuple[Column, ...] = (
    *KEYS,
    Column("action", heading="Change", help="Lower, keep or raise the request."),
    STATE,
    Column("request_gb", "request", "Today", unit="GB", help="The latest request of these runs."),
    Column("size_gb", "size", "Next", unit="GB", help="What to request from now on: learned on all runs."),
    Column("saved_gb_h", "saved", "Saved", unit="GB·h", help="By the later runs, sized by what was known before."),
    Column("kills", heading="Kills", unit="count", help="Of the later runs, at a size below request and use."),
    Column("why", lambda row: why(row, MEMORY, "GB"), "Why", width="large"),
    NOTE,
    Column("n_runs", heading="Runs", unit="count", help="Of the whole trace; of a service its windows."),
    Column("unused_gb_h", "unused", "Unused", unit="GB·h", help="Requested and not used, by all runs."),
    Column(
        "kills_per_1000_low",
        lambda row: row.kills_per_1000.low,
        "Kills in 1,000",
        to=Column("kills_per_1000_high", lambda row: row.kills_per_1000.high),
        said=rate_words,
        help="Of the next 1,000 runs: 95 % interval. A kept request that killed no run counts as 0.",
    ),
    Column(
        "retry_gb",
        lambda row: ", ".join(f"{size:.4g}" for size in row.retry),
        "After a kill (GB)",
        help="Sizes of the next attempts.",
    ),
)
"""Columns of the rows of memory: page, CSV, shell, report and documents have these."""


def further_rows(one: ResourceVerdict) -> tuple[Column, ...]:
    """Columns of the rows of another resource, in its unit."""
    amount = amount_of(one.resource, one.unit)
    return (
        *KEYS,
        Column("action", heading="Change"),
        STATE,
        Column("request", heading=f"Today ({one.unit})", form="%.3g"),
        Column("size", heading=f"Next ({one.unit})", form="%.3g"),
        Column("n_runs", heading="Runs", unit="count"),
        Column("unused", heading=f"Unused ({amount})", form="%,.4g"),
        Column("saved", heading=f"Saved ({amount})", form="%,.4g"),
        Column("kills", heading="Too small", unit="count"),
        Column("why", lambda row: why(row, one.resource, one.unit), "Why", width="large"),
        NOTE,
    )


SAVED = Column(
    "saved_share",
    heading="Saved",
    unit="share",
    help="Of the GB·h that the later runs requested. Next: what a next window saves, a 95 % interval.",
)
HELD_MORE = replace(
    SAVED, heading="Held more", said=lambda judged: format_share(-judged.saved_share), help="Than was requested."
)
"""In place of `SAVED` where the changed requests are larger in all."""
REQUESTED = Column("booked_gb_h", "booked", "Requested", unit="GB·h", help="By the later runs: request x hours.")
UNUSED = Column(
    "unused_share",
    lambda today: today.unused / today.booked if today.booked else math.nan,
    "Never used",
    unit="share",
    help="Of the GB·h that the later runs requested; Home says it of all runs.",
)
KILLS = Column(
    "kills",
    heading="Kills",
    unit="count",
    help="Of the later runs, at a size below request and use. Those foreseen are of kept and larger requests, too, "
    "which the acceptable kills do not limit.",
)


def sentence(verdict: Verdict) -> str:
    """The headline: what is saved at which kills, or why nothing is."""
    memory = verdict.memory
    judged, today = memory.judged, memory.today
    if memory.problem:
        return (
            f"Keep the requests: only {counted(judged.n_runs, 'later run')} could be judged, of "
            f"{gb_h(today.booked)} requested."
        )
    if every_lower_left_out(memory):
        return f"Keep the requests: whatever could be lowered was declined. {decided_sentence(memory)}"
    later = f"{counted(judged.n_runs, 'later run')}"
    if not today.booked:
        return f"Keep the requests: the {later} held {gb_h(0)}, so no saving can be measured."
    actions = {row.action for row in memory.rows}
    nothing = judged.saved_share < LEAST_SAVED
    if nothing and actions == {KEEP}:
        return f"Keep the requests: nothing can be lowered safely. {_nearest(memory)}".strip()
    if RAISE in actions and nothing and (LOWER not in actions or judged.saved_share < 0):
        words = _larger_words(memory)
    elif judged.saved_share < 0:
        words = (
            f"Smaller requests and their retries hold {format_share(-judged.saved_share)} more: "
            f"{gb_h(-judged.saved)} beside {gb_h(today.booked)}, with {kills_words(judged.kills)} in {later}."
        )
    else:
        words = (
            f"Smaller requests save {format_share(judged.saved_share)}: {gb_h(judged.saved)} of {gb_h(today.booked)}, "
            f"with {kills_words(judged.kills)} in {later}."
        )
        more, because = raised(memory)
        words += f" That is after {gb_h(more)} more, as {because}." if more > LEAST_SAVED * today.booked else ""
    return f"{words} {decided_sentence(memory)}".strip()


LEAST_SAVED = 0.0005
"""A smaller share is told as nothing."""


def raised(memory: ResourceVerdict) -> tuple[float, str]:
    """The GB·h that larger requests hold more, and why: '41 of 200 runs were killed'; the runs are all of the trace."""
    rows = [row for row in memory.rows if row.action == RAISE]
    killed, above = sum(row.n_killed for row in rows), sum(row.n_above for row in rows)
    n, does = (killed, "killed") if killed else (above, "above the request")
    of = counted(memory.trace.n_runs, "run")
    return -sum(row.saved for row in rows), f"{n:,} of {of} {'was' if n == 1 else 'were'} {does}"


def _larger_words(memory: ResourceVerdict) -> str:
    judged, today = memory.judged, memory.today
    more, because = raised(memory)
    less = judged.saved + more
    if more <= 0:
        return f"Raise requests, as {because}: no later run shows what that holds."
    smaller = f"; smaller ones save {gb_h(less)}" if less > LEAST_SAVED * today.booked else ""
    return (
        f"Larger requests hold {gb_h(more)} more, as {because}{smaller}. In all that is "
        f"{format_share(-judged.saved_share)} more than {counted(judged.n_runs, 'later run')} requested. "
        f"{foreseen_words(memory)}."
    )


def foreseen_words(memory: ResourceVerdict) -> str:
    """'5.21 kills are foreseen, 99 happened': what larger requests are for."""
    return f"{expected_words(memory.judged.expected_kills)} kills are foreseen, {memory.today.kills:,} happened"


LEAST_KILLS = 0.1


def expected_words(kills: float) -> str:
    """'5.21', or 'under 0.1': an expectation is no better known than that."""
    return f"under {LEAST_KILLS}" if 0 < kills < LEAST_KILLS else number(kills)


def action_words(row: VerdictRow, tasks: Mapping[str, str]) -> str:
    """What somebody does about a row: who (see `named`), what, now and next, and what it saves."""
    saves = f", {gb_h(abs(row.saved))} {'saved' if row.saved > 0 else 'more'}" if row.saved else ""
    accepted = ", accepted" if row.accepted else ""
    return f"{named(row, tasks)}: {row_words(row, MEMORY, 'GB', saves + accepted)}"


def row_words(row: VerdictRow, resource: str, unit: str, more: str = "") -> str:
    """What a row says, without whose it is: 'lower 64 GB to 20.1 GB (why)', 'keep 64 GB (why)'."""
    size = "" if row.action == KEEP else f" to {amount_words(row.size, unit)}"
    return f"{row.action} {amount_words(row.request, unit)}{size} ({why(row, resource, unit)}{more})"


def kills_words(kills: int) -> str:
    """'no kill', '1 kill', '12 kills'."""
    return counted(kills, "kill") if kills else "no kill"


def _nearest(memory: ResourceVerdict) -> str:
    better = [one for one in memory.curve if one.acceptable_share > memory.acceptable_share and one.saved_share > 0.005]
    if not better and {row.reason for row in memory.rows} <= {FULL, BOUND}:
        today = memory.today
        return f"The later runs left {format_share(today.unused / today.booked)} of them unused."
    if not better:
        return {
            STEPS: "Smaller steps, or a lower smallest size, would change that.",
            KILLS_PAY: "The kills that happened cost less than larger requests.",
        }.get(memory.rows[0].reason, "More runs of a task would change that.")
    one = better[0]
    return f"Accepting {format_share(one.acceptable_share)} kills would save {format_share(one.saved_share)}."


def curve_sentence(points: Sequence[CurvePoint]) -> str:
    """The acceptable kills that save most; of those that save as much the fewest."""
    most = format_share(max(one.saved_share for one in points))
    alike = (one for one in points if format_share(one.saved_share) == most)
    best = min(alike, key=lambda one: one.acceptable_share)
    if best.saved_share > 0 and not best.acceptable_share:
        return f"Most is saved where no kill is acceptable: {format_share(best.saved_share)}."
    if best.saved_share > 0:
        return f"At most {format_share(best.acceptable_share)} kills save most: {format_share(best.saved_share)}."
    return f"Nothing is saved at up to {format_share(max(one.acceptable_share for one in points))} kills."


MATERIAL = 0.005
"""Share of booked GB·h by which a plain rule saves more than the verdict, not as much."""


def plain_words(one: PlainPoint) -> str:
    """'1.5 times the largest of 5 known uses'."""
    return f"{number(one.times)} times the largest of {one.least} known uses"


def plain_point_words(one: PlainPoint, memory: ResourceVerdict) -> str:
    """'1.5 times the largest of 5 known uses saves 12 %, 3 kills in 500 runs', in lines."""
    return (
        f"{plain_words(one)}<br>saves {format_share(one.saved_share)}"
        f"<br>{one.kills:,} kills in {memory.judged.n_runs:,} runs"
    )


def plain_sentence(memory: ResourceVerdict) -> str:
    """What the best plain rule saves with no more kills than the verdict, '' where none was tried."""
    if not memory.plain:
        return ""
    kept = [one for one in memory.plain if one.kills <= memory.judged.kills and one.saved_share > 0]
    if not kept:
        return f"None of {len(memory.plain)} plain rules saves anything with no more kills."
    best = max(kept, key=lambda one: one.saved_share)
    more = best.saved_share - memory.judged.saved_share > MATERIAL
    return (
        f"The best of {len(memory.plain)} plain rules saves {format_share(best.saved_share)} with "
        f"{kills_words(best.kills)}: {plain_words(best)}.{' That is more than the plan saves.' if more else ''} "
        "Which rule is best is known only afterwards."
    )


def figures(verdict: Verdict) -> tuple[Figure, ...]:
    """Requested, unused, saved and killed of the later runs."""
    memory = verdict.memory
    judged, today = memory.judged, memory.today
    low, high = judged.interval.low, judged.interval.high
    if judged.saved_share < 0:
        low, high = -high, -low
    window = "" if math.isnan(low) else f"next: {format_share(low)} to {format_share(high)}"
    killed = f"{today.kills:,}" if verdict.tells_ends else "not known"
    return (
        Figure(REQUESTED, today, f"by {counted(judged.n_runs, 'later run')}"),
        Figure(UNUSED, today, f"{gb_h(today.unused)} of {counted(judged.n_runs, 'later run')}"),
        Figure(saved_or_more(judged), judged, window),
        Figure(KILLS, judged, f"{expected_words(judged.expected_kills)} foreseen; {killed} today"),
    )


def saved_or_more(judged: Judged) -> Column:
    """The column of the saved share: of its opposite where more is held."""
    return HELD_MORE if judged.saved_share < 0 else SAVED


LEAST_UNTESTED = 0.01
"""Share of the unused memory from which rows that saved nothing yet are told."""


def untested_words(verdict: Verdict) -> str:
    """Which lower sizes no later run had; '' where they hold hardly any of what is unused."""
    memory = verdict.memory
    rows = [row for row in memory.rows if row.action == LOWER and not row.saved]
    share = sum(row.unused for row in rows) / memory.trace.unused if memory.trace.unused > 0 else 0.0
    if share < LEAST_UNTESTED:
        return ""
    lowered = counted(len(rows), "lowered row")
    return f"Not in the saving: {lowered} that no later run tested, with {format_share(share)} of the unused memory."


WHOLE_CYCLE_S = 7 * DAY_S
"""Of services that were seen for less, the use of other days or hours is not known."""


def services_words(verdict: Verdict) -> str:
    """By what services are judged, and what so much of their time cannot show; '' without any."""
    found = verdict.services
    if found is None:
        return ""
    words = f"{counted(found.n_windows, 'run')} are windows of {counted(found.n_services, 'service')}."
    if found.longest_s < WHOLE_CYCLE_S:
        seen = format_duration(found.longest_s)
        words += f" None was seen for more than {seen}: its use at other times is not known."
    return f"{words} The plan adds up what each window never used, the ledger what each whole run did."


def notes(verdict: Verdict) -> tuple[str, ...]:
    """What limits the verdict."""
    memory = verdict.memory
    judged, today = memory.judged, memory.today
    result = [
        f"Tested on the {counted(judged.n_runs, 'later run')}, in order of submission; killed attempts included.",
    ]
    if memory.n_untimed:
        result.append(f"{memory.n_untimed:,} of these have no time: they come last, in the order of the table.")
    if memory.known_from == "start_time_s" and memory.n_untimed < judged.n_runs:
        result.append("The trace has no submit times: a run counts as submitted when it started.")
    if verdict.settings.cost_per_kill_gb_h is not None and verdict.settings.acceptable_kills:
        result.append("A cost per kill is given, so the acceptable kills are not looked at.")
    if not verdict.tells_ends:
        result.append("The trace does not say how runs ended: all count as finished, and no kill of today is known.")
    if today.above:
        result.append(f"{counted(today.above, 'later run')} used more than they requested and were not killed.")
    if memory.left_out:
        reasons = listed([f"{n:,} with {reason}" for reason, n in memory.left_out.items()])
        result.append(f"Left out: {reasons}.")
    told = (
        plain_sentence(memory),
        services_words(verdict),
        untested_words(verdict),
        left_out_words(verdict),
        missing_words(verdict),
    )
    return (*result, *filter(None, told), *verdict.notes)


def _origin_document(memory: ResourceVerdict) -> list[dict[str, Any]]:
    return [
        {
            "submit_time_s": one.submit_s,
            "n_known": one.n_known,
            "n_runs": one.n_runs,
            "booked_gb_h": one.booked,
            "saved_gb_h": one.saved,
            "failures": one.kills,
            "expected_kills": one.expected_kills,
            "cost_per_kill_gb_h": one.price,
        }
        for one in memory.judged.origins
    ]


def _booked(one: Booking) -> dict[str, Any]:
    return {
        "n_runs": one.n_runs,
        "booked_gb_h": one.booked,
        "unused_gb_h": one.unused,
        "kills": one.kills,
        "above_request": one.above,
    }


def _judged(one: Judged) -> dict[str, Any]:
    return {
        "saved_share": one.saved_share,
        "saved_gb_h": one.saved,
        "failures": one.kills,
        "killed_runs": one.killed_runs,
        "expected_kills": one.expected_kills,
        "kills_interval": [one.kill_interval.low, one.kill_interval.high],
        "n_runs": one.n_runs,
        "wasted_gb_h": one.wasted,
        "charged_gb_h": one.charged,
    }


def _curve(one: CurvePoint) -> dict[str, Any]:
    return {
        "acceptable_share": one.acceptable_share,
        "saved_share": one.saved_share,
        "failures": one.kills,
        "expected_kills": one.expected_kills,
    }


def _what_if(one: WhatIf) -> dict[str, Any]:
    nodes = one.nodes
    return {
        "n_runs": one.n_runs,
        "kills": one.kills,
        "saved_share": one.saved_share,
        "saved_gb_h": one.saved,
        "never_run": one.never_run,
        "money_saved": one.money_saved,
        "verdict_money_saved": one.verdict_money_saved,
        "nodes": None
        if nodes is None
        else {
            "size_gb": nodes.size,
            "peak": nodes.peak,
            "p95": nodes.p95,
            "before_peak": nodes.before_peak,
            "before_p95": nodes.before_p95,
            "freed": nodes.freed,
            "too_large": nodes.n_too_large,
            "without_time": nodes.n_untimed,
        },
        "broken": [
            {**broken.key, "request_gb": broken.request, "n_runs": broken.n_runs, "kills": broken.n_broken,
             "never_run": broken.n_never, "largest_gb": broken.largest, "lost_gb_h": broken.lost}
            for broken in one.broken
        ],
    }  # fmt: skip


def row_document(row: VerdictRow, one: OfResource) -> dict[str, Any]:
    """One row: what its key has, its resource, and the figures; memory's in GB."""
    shared = {
        **row.key,
        "resource": one.resource,
        "row_key": row_key(row, one),
        "action": row.action,
        "decision": decision_document(row.decision),
        "would": would_document(row),
    }
    if not row.key:
        shared["key"] = OTHER_KEYS
    if one.resource != MEMORY:
        return shared | {
            "unit": one.unit,
            "request": row.request,
            "size": row.size,
            "n_runs": row.n_runs,
            "unused": row.unused,
            "saved": row.saved,
            "kills": row.kills,
            "kills_per_1000": [row.kills_per_1000.low, row.kills_per_1000.high],
            "why": why(row, one.resource, one.unit),
        }
    return shared | {
        "request_gb": row.request,
        "n_requests": row.n_requests,
        "size_gb": row.size,
        "retry_gb": list(row.retry),
        "n_runs": row.n_runs,
        "n_judged": row.n_judged,
        "largest_gb": row.largest,
        "killed_runs": row.n_killed,
        "unused_gb_h": row.unused,
        "saved_gb_h": row.saved,
        "kills": row.kills,
        "kills_per_1000": [row.kills_per_1000.low, row.kills_per_1000.high],
        "why": why(row, MEMORY, "GB"),
    }


def document(verdict: Verdict) -> dict[str, Any]:
    """The contract of `memory plan --json`; keys of the release before stand beside the new ones for a release."""
    memory = verdict.memory
    judged, today = memory.judged, memory.today
    kept = not any(row.action != KEEP for row in memory.rows)
    price = verdict.settings.cost_per_kill_gb_h
    setting = f"at most {format_share(memory.acceptable_share)} kills"
    if price is not None:
        setting = f"a kill costs {gb_h(price)}"
    if kept:
        setting = "keep the requests"
    requested = {"wasted_gb_h": today.unused, "charged_gb_h": today.booked, "failures": 0, "saved_share": 0.0}
    return {
        "recommended": {"setting": setting, "kept": kept, **_judged(judged)},
        "applied": judged.applied,
        "otherwise": {"applied": memory.otherwise.applied, **_judged(memory.otherwise)},
        "today": {**_booked(today), "trace": _booked(memory.trace)},
        "interval": [judged.interval.low, judged.interval.high],
        "acceptable_share": memory.acceptable_share,
        "cost_per_kill_gb_h": memory.least_price,
        "known_from": memory.known_from,
        "decided": decided_document(verdict),
        "origins": _origin_document(memory),
        "rows": [row_document(row, one) for one in verdict.resources for row in one.rows],
        "resources": {
            one.resource: {"unit": one.unit, "saved_share": one.judged.saved_share, "failures": one.judged.kills,
                           "n_runs": one.judged.n_runs, "problem": one.problem, "left_out": one.left_out}
            for one in verdict.resources
        },
        "curve": [_curve(one) for one in memory.curve],
        "plain_rules": [
            {"known_runs": one.least, "times": one.times, "saved_share": one.saved_share, "failures": one.kills}
            for one in memory.plain
        ],
        "what_if": None if memory.what_if is None else _what_if(memory.what_if),
        "left_out": memory.left_out,
        "seconds": verdict.seconds,
        "reason": sentence(verdict),
        "baselines": {
            "requested": requested,
            "enforced": {**requested, "failures": today.kills + today.above},
        },
        "frontier": [_curve(one) for one in memory.curve],
        "sizes": [
            {"key": key_words(row), "size_gb": row.size, "requested_gb": row.request, "next_gb": list(row.retry),
             "kept": row.action == KEEP, "n_runs": row.n_runs, "why": why(row, MEMORY, "GB")}
            for row in memory.rows
        ],
    }  # fmt: skip


def verdict_answer(verdict: Verdict) -> Answer:
    """The verdict in a sentence, four figures, and its rows; memory first."""
    own = to_json(document(verdict))
    return Answer(sentence(verdict), figures(verdict), verdict_tables(verdict), notes(verdict), own)


def verdict_tables(verdict: Verdict) -> tuple[Table, ...]:
    """The rows of each resource, memory's first, and who breaks."""
    result = [Table("rows", "What to request", MEMORY_ROWS, verdict.memory.rows)]
    for one in verdict.resources[1:]:
        changed = [row for row in one.rows if row.action != KEEP or row.decision is not None]
        if changed:
            result.append(Table(table_name(one.resource), _title(one), further_rows(one), changed))
    if (found := verdict.memory.what_if) is not None and (told := what_if_sentence(verdict)):
        result.append(Table("broken", told, BROKEN, found.broken))
    return tuple(result)


def table_name(resource: str) -> str:
    """The name of the table of a resource's rows, beside those of memory."""
    return resource.replace(" ", "_")


def _title(one: ResourceVerdict) -> str:
    name = label(one.resource)
    does = "advised" if one.judged.saved_share < 0 else "enough"
    return f"{name[0].upper()}{name[1:]}: {saved(one.judged.saved_share)} is {does}"


BROKEN: tuple[Column, ...] = (
    *KEYS,
    Column("request_gb", "request", "Today", unit="GB", help="The largest request of these runs."),
    Column("n_runs", heading="Runs", unit="count"),
    Column("n_broken", heading="Killed", unit="count", help="Use above the changed request, not above today's."),
    Column("n_never", heading="Can never run", unit="count", help="Use above the cap."),
    Column("largest_gb", "largest", "Largest use", unit="GB"),
    Column("lost_gb_h", "lost", "Lost", unit="GB·h", help="Of the killed attempts."),
)


def what_if_words(asked: WhatIfSettings) -> str:
    """'All requests times 0.7 and capped at 64 GB'."""
    parts = [f"times {number(asked.times)}"] * (asked.times != 1)
    parts += [f"capped at {gb(asked.cap_bytes / 1e9)}"] if asked.cap_bytes is not None else []
    return f"All requests {listed(parts)}"


def what_if_sentence(verdict: Verdict) -> str:
    """What the changed requests save and break, in hindsight, the nodes and the money."""
    found, asked = verdict.memory.what_if, verdict.settings.what_if
    if found is None:
        return ""
    parts = []
    if asked.times != 1 or asked.cap_bytes is not None:
        held = math.isfinite(found.saved_share)
        saves = "saves" if found.saved_share >= 0 else "adds"
        effect = f"{saves} {format_share(abs(found.saved_share))}" if held else "no run that still fits held memory"
        effect += f" ({number(abs(found.money_saved))} USD)" if asked.price_gb_h and held else ""
        parts.append(f"{what_if_words(asked)}: {effect}, kills {found.kills:,} of {counted(found.n_runs, 'run')}.")
        if found.never_run:
            parts.append(f"{counted(found.never_run, 'run')} could never run.")
    if found.nodes is not None:
        nodes, decided = found.nodes, verdict.memory.decided
        which = "the sizes of all rows" if decided is not None and decided.left_out else "these sizes"
        peak = "At the peak"
        if parts:  # they are of another change, on all runs
            peak = "At the peak of the later runs, as requested today,"
            which = f"the {which.split(' ', 1)[1]} of the plan"
        parts.append(
            f"{peak} at least {counted(nodes.before_peak, 'node')} of {gb(nodes.size)} "
            f"{'is' if nodes.before_peak == 1 else 'are'} needed; with {which} at least {nodes.peak:,}."
        )
        if nodes.n_too_large:
            parts.append(f"{counted(nodes.n_too_large, 'run')} request more than such a node has.")
        if nodes.n_untimed:
            parts.append(f"{counted(nodes.n_untimed, 'later run')} without a time are not counted.")
    elif asked.node_bytes is not None:
        parts.append("Nodes cannot be counted: no later run has a time.")
    if asked.price_gb_h:
        money = f"{number(abs(found.verdict_money_saved))} USD"
        does = f"saves {money}" if found.verdict_money_saved >= 0 else f"costs {money} more"
        parts.append(f"At {number(asked.price_gb_h)} USD per GB·h the plan {does} on the later runs.")
    return " ".join(parts)


def applied_words(applied: str) -> str:
    """How sizes are applied, in words."""
    return "sizes follow every ended run" if applied == SUBMISSION else "sizes are fixed at four moments"
