"""What is said of nodes over time: which to run again, which are excluded since when, and how each benchmark moves."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from workprof.answers.nodes import TOO_FEW, moment_words, slowed_words
from workprof.core.answer import Answer, Figure, Table
from workprof.core.table import Column
from workprof.core.units import DAY_S, format_share
from workprof.core.words import counted, listed
from workprof.nodes.history import EXCLUDED, RERUN, SERVICE, History, NodeState, Trend
from workprof.nodes.selection import failed_words

STATE_WORDS = {SERVICE: "in service", RERUN: "re-run to confirm", EXCLUDED: "excluded"}
MOST_NAMED = 3
STEADY = "No node needs another run and none is excluded."
COLOURS_TELL = "Grey: in service. Amber: another run was requested. Red: excluded until it is good again."
RATIO_NOTE = "1 is the geometric mean of the normal runs before each run. A ring: another run requested, or excluded."


def history_sentence(result: History) -> str:
    """Which nodes are excluded, and which are to be run again."""
    parts = []
    for state, verb in ((EXCLUDED, "excluded"), (RERUN, "to be run again to confirm")):
        own = [one for one in result.nodes if one.state == state]
        if own:
            named = [_named(one) for one in own[:MOST_NAMED]]
            rest = [f"{len(own) - MOST_NAMED} more"] if len(own) > MOST_NAMED else []
            parts.append(
                f"{counted(len(own), 'node')} {'is' if len(own) == 1 else 'are'} {verb}: {listed(named + rest)}"
            )
    other = [f"{one.node} ({slowed_words(one.slowed)})" for one in result.nodes if one.slowed and one.state != EXCLUDED]
    ranked = f" By its newest runs alone the ranking calls degraded: {_some(other)}." if other else ""
    few, others = result.not_judged, f"{_newer_words(result.not_followed)}{_failed_words(result)}"
    if len(few) == len(result.nodes):
        return f"{TOO_FEW}{others}"
    unjudged = f" Too few runs to judge: {_some(few)}." if few else ""
    return f"{'; '.join(parts) + '.' if parts else STEADY}{ranked}{unjudged}{others}"


def _failed_words(result: History) -> str:
    """A run that fails has no value, so that no verdict tells of it."""
    if not result.failed:
        return ""
    return f" Newest runs failed, measured 0 or cannot be read, and have no verdict: {failed_words(result.failed)}."


def _newer_words(nodes: Sequence[str]) -> str:
    if not nodes:
        return ""
    return f" The newest runs of {_some(nodes)} are not followed: their parameters are not those of most."


def _some(nodes: Sequence[str]) -> str:
    rest = [f"{len(nodes) - MOST_NAMED} more"] if len(nodes) > MOST_NAMED else []
    return listed([*nodes[:MOST_NAMED], *rest])


def _named(one: NodeState) -> str:
    return f"{one.node} ({one.benchmark} {below_words(one.ratio)} since {moment_words(one.since_s)})"


def moved_words(result: History, name: str, days: float, newest_s: float = math.nan) -> str:
    """Which nodes were excluded or came back in the last days: 'Nodes of bench: n3 came back'; '' = none.

    The days end with a trace at `newest_s`, in seconds since 1970; NaN = with the benchmark runs, which are `name`.
    """
    own = max((float(one.at_s[-1]) for one in result.courses if len(one.at_s)), default=math.nan)
    newest = own if math.isnan(newest_s) else newest_s
    late = [one for one in result.changes if one.at_s > newest - days * DAY_S]
    parts = []
    for now in result.nodes:
        told = [one.state for one in late if one.node == now.node]
        before = {one.state for one in result.changes if one.node == now.node}
        if now.state == EXCLUDED and EXCLUDED in told:
            parts.append(f"{_named(now)} went bad")
        elif now.state != EXCLUDED and SERVICE in told and EXCLUDED in before:
            parts.append(f"{now.node} came back")
    rest = [f"{len(parts) - MOST_NAMED} more changed"] if len(parts) > MOST_NAMED else []
    return f"Nodes of {name}: {listed(parts[:MOST_NAMED] + rest)}" if parts else ""


def below_words(ratio: float) -> str:
    """'12 % below normal' of a run's ratio to what was normal."""
    if not math.isfinite(ratio):
        return "without a normal level"
    side = "below" if ratio < 1 else "above"
    return f"{format_share(abs(1 - ratio), 0)} {side} normal"


def trend_words(trend: Trend) -> str:
    """'-2.1 % [-3.0, -1.2]' per 30 days."""
    if not math.isfinite(trend.per_month):
        return ""
    each, low, high = (f"{100 * one:+.1f}" for one in (trend.per_month, trend.low, trend.high))
    return f"{each} % [{low}, {high}]"


def _moment(name: str) -> Any:
    def said(one: Any) -> str:
        at_s = getattr(one, name)
        return moment_words(at_s) if math.isfinite(at_s) else ""

    return said


EXCLUDED_NOW = Column(
    "excluded_nodes",
    "n_excluded",
    "Excluded nodes",
    "%,.0f",
    "A second run confirmed; good runs in a row take them back.",
    unit="count",
)
RERUN_NOW = Column(
    "nodes_to_rerun",
    "n_rerun",
    "Nodes to run again",
    "%,.0f",
    "One run, or a sum of small steps, says so.",
    unit="count",
)
CHANGES = Column(
    "verdict_changes", lambda one: len(one.changes), "Changes of a verdict", "%,.0f", "Of a benchmark of a node."
)
RATIO = Column("ratio", "", "To normal", "%.3f", "Newest run / geometric mean of the normal ones before it.")
SINCE = Column("since_s", "", "Since (UTC)", said=_moment("since_s"), help="When the change began.")
BENCHMARK = Column("benchmark", "", "Benchmark")
VERDICT = Column("state", "", "Verdict", said=lambda one: STATE_WORDS[one.state])
TREND = (
    "Theil-Sen slope in 30 days and its 95 % interval: of the benchmark, in service of the one that falls fastest. "
    "Steady nodes have one below 0, too."
)

NODES = (
    Column("node", "", "Node", pinned=True),
    VERDICT,
    BENCHMARK,
    SINCE,
    RATIO,
    Column("n_runs", "", "Runs", "%,.0f"),
    Column("n_alarms", "", "Runs requested", "%,.0f", "Times that another run was requested, so far."),
    Column("per_month", "trend.per_month", "Trend in 30 days", said=lambda one: trend_words(one.trend), help=TREND),
    Column("per_month_low", "trend.low", aside=True),
    Column("per_month_high", "trend.high", aside=True),
)
STEPS = (
    Column("at_s", "", "At (UTC)", said=_moment("at_s")),
    Column("node", "", "Node", pinned=True),
    BENCHMARK,
    VERDICT,
    SINCE,
    RATIO,
)


def node_states_table(result: History) -> Table:
    """One line per node, the worst first."""
    return Table("nodes", "Nodes now", NODES, result.nodes)


def changes_table(result: History) -> Table:
    """One line per change of a verdict, the newest first."""
    return Table("changes", "Changes", STEPS, result.changes)


def history_figures(result: History) -> tuple[Figure, ...]:
    """Which nodes are out, which are to be run again, and how often a verdict changed."""
    return (
        Figure(EXCLUDED_NOW, result, f"of {counted(len(result.nodes), 'node')}"),
        Figure(RERUN_NOW, result),
        Figure(CHANGES, result),
    )


def course_sentence(result: History, node: str) -> str:
    """How a node's benchmarks stand and when its verdict last changed."""
    now = next(one for one in result.nodes if one.node == node)
    last = next((one for one in result.changes if one.node == node), None)
    told = f"{node} is {STATE_WORDS[now.state]}"
    if now.state != SERVICE:
        return f"{told}: {now.benchmark} {below_words(now.ratio)} since {moment_words(now.since_s)}."
    if last is None:
        return f"{told}; its verdict never changed."
    return f"{told} since {moment_words(last.at_s)} by {last.benchmark}."


def not_followed_words(n_runs: int) -> str:
    """That nothing is computed yet."""
    return f"{counted(n_runs, 'run')} are not followed with these settings yet."


def left_out_note(result: History) -> tuple[str, ...]:
    """Runs that do not count, with their reasons."""
    own = [f"{count:,} {reason}" for reason, count in result.left_out.items()]
    return (f"Runs that do not count: {', '.join(own)}.",) if own else ()


def same_start_note(result: History) -> tuple[str, ...]:
    """That times do not tell which of some runs is newer."""
    if not result.n_same_start:
        return ()
    runs = counted(result.n_same_start, "run")
    return (f"Starts of {runs} are those of another run of the benchmark and node: the order of rows decides.",)


def history_answer(result: History) -> Answer:
    """The verdict on each node over time."""
    share = format_share(result.settings.false_alarm_share)
    return Answer(
        history_sentence(result),
        history_figures(result),
        (node_states_table(result), changes_table(result)),
        notes=(
            f"On a steady node at most {share} of the reports need another run, where noise has no long bad tail. "
            f"{counted(result.settings.good_runs, 'good run')} in a row take an excluded node back.",
            *left_out_note(result),
            *same_start_note(result),
        ),
        document={
            "nodes": [asdict(one) for one in result.nodes],
            "changes": [asdict(one) for one in result.changes],
            "left_out": result.left_out,
            "not_judged": result.not_judged,
            "not_followed": result.not_followed,
            "failed": result.failed,
            "n_same_start": result.n_same_start,
        },
    )
