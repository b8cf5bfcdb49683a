"""Policies on the same runs, the verdict among them, and why a run gets its size: words, tables and documents."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from workprof.answers.decisions import EVERY_ROW, saving_words
from workprof.answers.runs import runs_notes
from workprof.answers.tasks import shown
from workprof.answers.verdict import applied_words, kills_words
from workprof.core.answer import Answer, Figure, Table
from workprof.core.stats import FEWEST_RUNS
from workprof.core.table import Column
from workprof.core.units import GB, format_share, gb, gb_h, number, saved
from workprof.core.words import counted
from workprof.memory.frontier import FrontierPoint
from workprof.memory.orders import FINISHED, SUBMITTED
from workprof.memory.origins import TABLE
from workprof.memory.policies import (
    BY_TASK,
    FROM_HISTORY,
    FROM_NODE,
    FROM_PEERS,
    FROM_REQUEST,
    FROM_USE,
    POLICY_WORDS,
    Workprof,
)
from workprof.memory.policy_figures import REQUESTS, VERDICT, Compared, ComparedLine, PolicyFigures
from workprof.memory.replay import ReplayResult
from workprof.memory.why import Why

OURS, ORACLE = "workprof", "oracle"
"""How names of policies begin: ours, and those that cannot be had."""


def policy_name(policy: str) -> str:
    """A policy's name in words."""
    return POLICY_WORDS.get(policy, policy)


@dataclass(frozen=True)
class Candidate:
    """A policy, or a setting of ours: means over seeds."""

    name: str  # in words
    wasted_gb_h: float
    failures: float

    def total_gb_h(self, price_gb_h: float) -> float:
        """Waste with a price on every failure."""
        return self.wasted_gb_h + price_gb_h * self.failures


def candidates(result: ReplayResult) -> list[Candidate]:
    """What can be had: every policy that is no oracle, and the settings of ours."""
    known = [
        Candidate(policy_name(one.policy), one.wasted_gb_h, one.failures)
        for one in result.policies.values()
        if not one.policy.startswith(ORACLE)
    ]
    known += [Candidate(f"workprof ({one.setting})", one.wasted_gb_h, one.failures) for one in result.frontier]
    return known


def picked(result: ReplayResult, price_gb_h: float, kills: float | None = None) -> Candidate:
    """What is best at a cost per failure in GB·h, within the acceptable kills (None = as `acceptable` says).

    Oracles cannot be had.
    """
    known = candidates(result)
    limit = acceptable(result, kills)
    fewest = min(one.failures for one in known)
    fit = [one for one in known if one.failures <= max(limit, fewest)]
    return min(fit, key=lambda one: (one.total_gb_h(price_gb_h), one.failures))


def acceptable(result: ReplayResult, kills: float | None) -> float:
    """The acceptable kills: those given, else those of the current requests, else any."""
    if kills is not None:
        return kills
    now = result.policies.get(REQUESTS)
    return math.inf if now is None else now.failures


WASTED = Column("wasted_gb_h", heading="Wasted", unit="GB·h", help="Held and not used.")
HELD = Column("charged_gb_h", heading="Held", unit="GB·h", help="By all attempts.")
FAILURES = Column("failures", heading="Failed attempts", form="%,.4g")
TOTAL = Column("total_gb_h", heading="Waste + cost of failures", unit="GB·h")
POLICIES = (
    Column("policy", lambda one: policy_name(one.policy), "Policy", pinned=True),
    WASTED,
    FAILURES,
    Column(
        "failed_low",
        "failed_share.low",
        "Runs that fail",
        unit="share",
        to=Column("failed_high", "failed_share.high", unit="share"),
        help="95 % Wilson interval of runs with a failure.",
    ),
    Column("saved_share", "saving_share", "Saved", unit="share", help="Of what the current requests hold."),
    Column(
        "saved_low",
        "saving.low",
        "Saved, 95 % interval",
        unit="share",
        to=Column("saved_high", "saving.high", unit="share"),
        help="Bootstrap over the runs.",
    ),
    TOTAL,
    HELD,
    Column("never_fit", lambda one: one.n_never_fit + one.n_given_up, "Never finished", form="%,.4g"),
    Column("seconds", heading="Time", unit="s", shown=False),
    Column("name", "policy", "Name", help="For `--policies`."),
)
"""A line per policy; the cost of the failures is added to the total."""

CHOICES = (
    Column("price_gb_h", heading="Cost per failure", unit="GB·h"),
    Column("name", lambda one: policy_name(one.name), "Chosen rule"),
    WASTED,
    FAILURES,
    TOTAL,
)
"""A line per cost of a failure."""


def replay_answer(result: ReplayResult, price_gb_h: float = 0.0, kills: float | None = None) -> Answer:
    """What is chosen at a cost per failure and acceptable kills (None = no more than requests enforced have)."""
    total = replace(TOTAL, value=lambda one: one.wasted_gb_h + price_gb_h * one.failures)
    columns = tuple(total if one is TOTAL else one for one in POLICIES)
    tables = [Table("policies", "Policies on the same runs", columns, sorted(result.policies.values(), key=total.of))]
    if result.compared is not None:
        tables.append(compared_answer(result.compared).table())
    own = ("protocol", "known", "seed", "target", "n_tasks", "n_test", "n_cold", "n_history", "left_out", "seconds")
    return Answer(
        policies_sentence(result, price_gb_h, kills),
        _figures(result, price_gb_h, kills),
        tuple(tables),
        _notes(result),
        {
            **{name: getattr(result, name) for name in own},
            "seeds": list(result.settings.used_seeds),
            "input": result.input_column,
            "used_gb_h": result.used_gb_h,
            "policies": {name: _document(one) for name, one in result.policies.items()},
            "tasks": [asdict(one) | {"failures": _count(one.failures)} for one in result.tasks],
            "frontier": [
                asdict(one) | {"price": one.price_runs, "failures": _count(one.failures)} for one in result.frontier
            ],
            "foreseen": result.foreseen,
            "choices": result.choices,
            "best_by_task": result.best_by_task,
            "evidence": result.evidence,
            "compared": result.compared,
        },
    )


SIZED_FROM = {
    "by what is known at submission": "from its submit fields",
    "by input and task": "from its input and task",
    "by task alone": "from its task alone",
}
"""How a setting of `workprof` ends -> what it sizes a run from."""


def _subject(name: str) -> str:
    """A policy as the subject of a sentence: 'Sizing each run from its submit fields'."""
    found = next((words for ending, words in SIZED_FROM.items() if name.endswith(f"{ending})")), "")
    return f"Sizing each run {found}" if found else f"{name[:1].upper()}{name[1:]}"


def policies_sentence(result: ReplayResult, price_gb_h: float, kills: float | None = None) -> str:
    """What is chosen, against requests enforced."""
    best, now = picked(result, price_gb_h, kills), result.policies.get(REQUESTS)
    words = _subject(best.name)
    if now is None:
        return f"{words}: {gb_h(best.wasted_gb_h)} not used, {attempts_words(best.failures)}."
    waste = saved(1 - best.wasted_gb_h / now.wasted_gb_h) if now.wasted_gb_h > 0 else "no more"
    return (
        f"{words} wastes {waste} than enforcing today's requests. It has {attempts_words(best.failures)} in "
        f"{counted(result.n_test, 'run')}; enforcing has {number(now.failures)}."
    )


def attempts_words(failures: float) -> str:
    """'1 failed attempt', '31.5 failed attempts': a run may have several, so that they are no share of the runs."""
    return f"{number(failures)} failed {'attempt' if failures == 1 else 'attempts'}"


def _figures(result: ReplayResult, price_gb_h: float, kills: float | None) -> tuple[Figure, ...]:
    """What is chosen, waste beside failures, and what requests enforced waste."""
    best, now = picked(result, price_gb_h, kills), result.policies.get(REQUESTS)
    enforced = Column(
        "enforced_wasted_gb_h",
        "wasted_gb_h",
        "Requests enforced",
        unit="GB·h",
        help="With the current requests enforced: runs above them are killed and run again.",
    )
    used = Column("used_gb_h", heading="Used", unit="GB·h", help="What the runs used: no rule can hold less.")
    return (
        Figure(WASTED, best, "under chosen rule", f"{WASTED.help.removesuffix('.')}, by {best.name}."),
        Figure(FAILURES, best, f"in {counted(result.n_test, 'run')}", f"A run may have several; by {best.name}."),
        *(() if now is None else (Figure(enforced, now, f"{number(now.failures)} kills"),)),
        Figure(used, result, "lower bound"),
    )


SOURCES = {
    FROM_PEERS: "from known runs of their task",
    FROM_HISTORY: "from earlier traces",
    FROM_REQUEST: "by their request",
    FROM_NODE: "by a whole node",
    FROM_USE: "by their true use",
}


def sized_from_words(result: ReplayResult) -> str:
    """How many runs ours (else the first policy) sized from what, and from when on a run is known."""
    one = result.policies.get(Workprof.name) or next(iter(result.policies.values()))
    counts = ", ".join(f"{n:,} {SOURCES.get(source, source)}" for source, n in sorted(one.n_sized_from.items()))
    known = {FINISHED: " A run is known from its end on.", SUBMITTED: " A run is known from its submission on."}
    earlier = f" {result.n_history:,} runs of earlier datasets are known from the start." if result.n_history else ""
    text = f"Sized by {one.policy}: {counts}.{known.get(result.known, '')}{earlier}"
    if result.foreseen is not None and one.policy == Workprof.name:
        stated, n_runs = result.foreseen.stated, result.foreseen.n_runs
        text += f" Of {n_runs:,} first attempts {result.foreseen.killed:,} were killed; {stated:,.0f} were expected."
    return text


def _notes(result: ReplayResult) -> tuple[str, ...]:
    n = len(candidates(result))
    replayed = f"{counted(result.n_test, 'run')} of {counted(result.n_tasks, 'task')}, {result.protocol}"
    return (
        f"{replayed}, input {result.input_column}.",
        *(f"{note[:1].upper()}{note[1:]}." for note in result.notes),
        sized_from_words(result),
        *([f"{n:,} rules and settings were tried on these runs; which is best is known only afterwards."] * (n > 1)),
        *runs_notes(result.left_out, result.evidence, result.target),
        *([EVERY_ROW] if result.compared is not None and result.rows_left_out else []),
    )


def _document(one: PolicyFigures) -> dict[str, Any]:
    return {
        "wasted_gb_h": one.wasted_gb_h,
        "charged_gb_h": one.charged_gb_h,
        "failures": _count(one.failures),
        "seconds": one.seconds,
        "failed_share_interval": [one.failed_share.low, one.failed_share.high],
        "saving": one.saving_share,
        "saving_interval": [one.saving.low, one.saving.high],
        "n_never_fit": one.n_never_fit,
        "n_given_up": one.n_given_up,
        "wasted_by_seed": one.wasted_by_seed,
        "failures_by_seed": one.failures_by_seed,
        "n_sized_from": one.n_sized_from,
    }


def _count(mean: float) -> float | int:
    """A mean of counts; a whole one as the count that it is."""
    return int(mean) if float(mean).is_integer() else mean


def rules_sentence(result: ReplayResult) -> str:
    """Which rules that can be had waste less than requests enforced, and fail no more."""
    now = result.policies.get(REQUESTS)
    known = [one for one in result.policies.values() if one.policy != REQUESTS and not one.policy.startswith(ORACLE)]
    if now is None:
        return f"{counted(len(known), 'rule')} on the same runs."
    good = [one for one in known if one.failures <= now.failures and one.wasted_gb_h < now.wasted_gb_h]
    names = "; ".join(policy_name(one.policy) for one in sorted(good, key=lambda one: one.wasted_gb_h))  # have commas
    words = f"With their usual settings, {len(good)} of {counted(len(known), 'rule')}"
    waste = "wastes" if len(good) == 1 else "waste"
    return f"{words} {waste} less than requests enforced at no more kills{f': {names}' if good else ''}."


def rule_words(one: PolicyFigures | Candidate | FrontierPoint) -> str:
    """What a rule fails and wastes."""
    return f"{number(one.failures)} failures, {gb_h(one.wasted_gb_h)}"


def rules_note(result: ReplayResult, beyond: Sequence[PolicyFigures]) -> str:
    """How the plane of waste and failures is read, and which rules are `beyond` its axes."""
    shaded = " Shaded: less waste and no more kills than enforcing requests." if REQUESTS in result.policies else ""
    off = "; ".join(policy_name(one.policy) for one in beyond)  # names have commas
    words = f"Nearer to the lower left is better.{shaded} {result.n_test:,} replayed runs."
    return f"{words} Off the axes: {off}." if off else words


def learning_sentence(result: ReplayResult) -> str:
    """Which policy has wasted least in the end."""
    best = min(result.policies.values(), key=lambda one: one.wasted_gb_h)
    words = f"After {counted(result.n_test, 'run')} {policy_name(best.policy)} has wasted least"
    return f"{words}: {gb_h(best.wasted_gb_h)}."


def learning_note(result: ReplayResult, n_drawn: int) -> str:
    """How the policies learn."""
    cold = f" The first runs of each task ({result.n_cold:,} in all) start at their request." if result.n_cold else ""
    return (
        f"Each run is sized from the runs before it, then added to them.{cold} The {n_drawn} policies of interest; the "
        "table above has all."
    )


SIZED_AT = "sizes are fixed at submission"
HINDSIGHT = "in hindsight: nothing that can be had"


def line_name(line: ComparedLine) -> str:
    """What a line is called: 'verdict, table', or the policy in words."""
    return f"{VERDICT}, {line.applied}" if line.name == VERDICT else policy_name(line.name)


def _how(line: ComparedLine) -> str:
    if line.hindsight:
        return HINDSIGHT
    if line.name == REQUESTS:
        return "today"
    return applied_words(line.applied) if line.name == VERDICT else SIZED_AT


COMPARED: tuple[Column, ...] = (
    Column("name", line_name, heading="Sized by", pinned=True),
    Column("saved_share", heading="Saved", unit="share", help="Of the booked GB·h, killed attempts included."),
    Column("kills", heading="Kills", unit="count", help="Sizes below both request and use."),
    WASTED,
    HELD,
    Column("n_sized", heading="Sized runs", unit="runs", help="Runs with another size than their request."),
    Column("how", _how, heading="How"),
)


def compared_answer(found: Compared) -> Answer:
    """A line for the verdict under both ways to apply it, and one for each policy."""
    title = "The verdict among the policies, on its judged runs"
    return Answer(_compared_sentence(found), (), (Table("compared", title, COMPARED, found.lines),))


def _compared_sentence(found: Compared) -> str:
    """What the verdict saves, and the policy that saves most with no more kills."""
    ours = next(line for line in found.lines if line.applied == TABLE)  # as Plan says it
    others = [line for line in found.lines if not line.hindsight and line.name not in (VERDICT, REQUESTS)]
    fit = [line for line in others if line.kills <= ours.kills and line.saved_share > 0]
    words = f"On {counted(found.n_runs, 'later run')} the verdict {saving_words(ours.saved_share, 's')} "
    words += f"with {kills_words(ours.kills)}"
    if not fit:
        return f"{words}; no policy saves with as few."
    best = max(fit, key=lambda line: line.saved_share)
    return f"{words}; with no more, {line_name(best)} saves {format_share(best.saved_share)}."


SIZE = Column(
    "size_gb",
    lambda why: why.size_bytes / GB,
    "Size",
    unit="GB",
    help="The next run's first attempt, by the task alone.",
)
NEXT = Column("next_gb", lambda why: why.next_bytes / GB, "After a failure", unit="GB")
RETRY = Column(
    "retry_share", lambda why: why.retried / why.n_tried if why.n_tried else math.nan, "Retry probability", unit="share"
)
LAST_REQUEST = Column(
    "requested_gb",
    lambda why: why.requested_bytes / GB,
    "Current request",
    unit="GB",
    help="Of the most recent run.",
)


def why_answer(result: Why) -> Answer:
    """The size of the next run, what it rests on, and how likely a retry is."""
    odds, costs = result.odds_of_retry, result.candidate_cost_gb_h
    tried = (
        f"{result.retried:,} of {result.n_tried:,} past runs failed when each was sized from those before it; 95 % "
        "interval."
    )
    few = f"Only {counted(result.n_known, 'run')} (fewer than {FEWEST_RUNS}): a guess."
    own = ("input_value", "n_known", "n_bounds", "too_few", "margin_share", "n_above", "retried", "n_tried", "seconds")
    return Answer(
        why_sentence(result),
        (
            Figure(SIZE, result, "first attempt"),
            Figure(
                NEXT,
                result,
                f"then {gb(result.last_bytes / GB)}" if math.isfinite(result.last_bytes) else "",
                "The second attempt, then the third.",
                "no larger try",
            ),
            Figure(RETRY, result, f"{odds.low * 100:.1f} to {odds.high * 100:.1f} %", tried),
            Figure(LAST_REQUEST, result, "most recent"),
        ),
        notes=(*([few] if result.too_few else []), why_note(result), costs_sentence(result)),
        document={
            **{name: getattr(result, name) for name in own},
            "task": result.settings.task,
            "policy": BY_TASK,
            "input": result.settings.input_column,
            "last_gb": result.last_bytes / GB,
            "odds_of_retry": odds,
            "history": {"used_gb": result.used_bytes / GB, "hours": result.hours, "inputs": result.inputs},
            "candidates": {"size_gb": result.candidate_bytes / GB, "cost_gb_h": costs, "chosen": result.chosen},
        },
    )


def why_sentence(result: Why) -> str:
    """The size, and how often a second attempt would be needed."""
    least = "at least " if result.n_bounds and result.n_tried else ""
    return (
        f"At {SIZE.text(result)}, {least}{RETRY.text(result) or 'an unknown share'} of the runs of "
        f"{shown(result.settings.task)} would need a second attempt. Tested on {result.n_tried:,} past runs, each "
        "sized from those before it."
    )


def why_note(result: Why) -> str:
    """The past runs, and those that used more than the size."""
    largest = gb(float(result.used_bytes.max()) / GB)
    bounds = f" Of {result.n_bounds:,}, most killed for memory, only a lower bound is known." if result.n_bounds else ""
    above = f"{result.n_above:,} used more than the size, the largest {largest}."
    return f"{counted(result.n_known, 'past run')}: {above}{bounds}"


def costs_sentence(result: Why) -> str:
    """What a past run would have held at the size, and the cheapest."""
    costs = result.candidate_cost_gb_h
    cheapest, chosen = float(result.candidate_bytes[int(costs.argmin())]), float(costs[result.chosen][0])
    return (
        f"At {SIZE.text(result)} a past run would have held {gb_h(chosen)} on average, retries included. "
        f"The least would be {gb_h(float(costs.min()))}, at {gb(cheapest / GB)}."
    )


COSTS_NOTE = (
    "The chosen size also counts runs larger than any seen, and the cost of a failure. It need not be the cheapest of "
    "the past."
)
