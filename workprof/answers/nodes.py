"""What is said of nodes: which is best for which work, which has degraded, and how far a ranking carries."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

from workprof.answers.help.terms import heading
from workprof.core.answer import Answer, Figure, Table
from workprof.core.table import Column
from workprof.core.units import format_share
from workprof.core.words import counted, listed
from workprof.nodes.comparisons import EXCLUDE, RERUN, AspectScore, Degraded, PairRatio
from workprof.nodes.metrics import ASPECT_OF
from workprof.nodes.ranking import NodeScenario, RankedNode, Ranking, per_price
from workprof.nodes.scores import OVERALL
from workprof.nodes.selection import RankSettings

NO_DATA = "no data"


def score_words(one: RankedNode | AspectScore) -> str:
    """Return '1.98 (1.96 to 2.00)', without the interval where there is none."""
    if not math.isfinite(one.score):
        return NO_DATA
    return f"{one.score:.2f}" if not math.isfinite(one.low) else f"{one.score:.2f} ({one.low:.2f} to {one.high:.2f})"


def faster_words(one: PairRatio) -> str:
    """Return 'a is 97 % faster than b (93 % to 102 %)', or that the two do not differ clearly, or why it is open."""
    if not math.isfinite(one.low):
        return f"{one.node} measures {percent_more(one.ratio)} above {one.other}, from fewer than 3 runs"
    if not one.clear:
        return f"{one.node} and {one.other} do not differ clearly"
    ends = f"{percent_more(one.low)} to {percent_more(one.high)}"
    return f"{one.node} is {percent_more(one.ratio)} faster than {one.other} ({ends})"


def percent_more(ratio: float) -> str:
    """Return a ratio as a difference in per cent: 1.97 -> '97 %'."""
    return f"{(ratio - 1) * 100:,.0f} %" if math.isfinite(ratio) else NO_DATA


def change_words(ratio: float, low: float, high: float) -> str:
    """Return 'faster by 12 %', 'slower by 8 %' or 'as before' where the interval holds 1."""
    if not (low > 1 or high < 1):
        return "as before"
    return f"{'faster' if ratio > 1 else 'slower'} by {abs(ratio - 1) * 100:.0f} %"


def nodes_words(count: int) -> str:
    """Return '1 node' or '3 nodes'."""
    return counted(count, "node")


def ranking_sentence(result: Ranking) -> str:
    """Return who is best and by how much, or why there is no ranking."""
    ranked = [one for one in result.nodes if one.rank]
    if not ranked:
        reason = result.nodes[0].reason if result.nodes else "no node"
        return f"There is no ranking: {reason}."
    best = ranked[0]
    pair = best_pair(result.pairs, best.node, ranked[1].node)
    if pair is None:
        return f"{best.node} scores highest: {score_words(best)}."
    if not best.tied_with:
        return f"{faster_words(pair)}."
    alike = [best.node, *best.tied_with]
    if len(alike) > MOST_NAMED:
        return f"{best.node} is fastest, and {len(alike) - 1} nodes do not differ clearly from it."
    fastest = "" if len(alike) == len(ranked) else "are fastest and "
    return f"{listed(alike)} {fastest}do not differ clearly."


MOST_NAMED = 4


def slowed_words(one: Degraded) -> str:
    """'its disk has slowed by 39 %'."""
    return f"its {resource(ASPECT_OF[one.benchmark])} has slowed by {format_share(one.share, 0)}"


def degraded_sentence(result: Ranking) -> str:
    """Which nodes have degraded, and in what, those that a second run confirms first; '' = none."""
    bad = sorted(
        ((one.node, one.degraded) for one in result.nodes if one.degraded), key=lambda one: one[1].action != EXCLUDE
    )
    words = [f"{node} {HAS_DEGRADED[one.action]}: {slowed_words(one)}." for node, one in bad[:SHOWN_DEGRADED]]
    more = len(bad) - SHOWN_DEGRADED
    return " ".join([*words, *([f"{counted(more, 'more node')} slowed down."] if more > 0 else [])])


SHOWN_DEGRADED = 2
HAS_DEGRADED = {RERUN: "may have degraded, by one run", EXCLUDE: "has degraded"}
TOO_FEW = "No node can be judged yet: the fourth run of a benchmark is the first that is."


def none_degraded_sentence(result: Ranking) -> str:
    """That no node has degraded, or that nobody knows yet."""
    return "No node has degraded." if any(one.judged for one in result.nodes) else TOO_FEW


def price_sentence(result: Ranking) -> str:
    """Return which node gives most for its price and by how much, for a ranking of `per_price`."""
    ranked = [one for one in result.nodes if one.rank]
    if not ranked:
        return "No ranked node has a price."
    best = ranked[0]
    if len(ranked) == 1:
        return f"{best.node} is the only node with a price: {best.score:.3g} per unit of price."
    pair = best_pair(result.pairs, best.node, ranked[1].node)
    if pair is None:
        return f"{best.node} gives most for its price: {best.score:.3g} per unit of price."
    if best.tied_with:
        return f"{listed([best.node, *best.tied_with])} do not differ clearly in score per price."
    ends = f" ({percent_more(pair.low)} to {percent_more(pair.high)})" if math.isfinite(pair.low) else ""
    return f"{best.node} gives most for its price: {percent_more(pair.ratio)} more than {pair.other}{ends}."


def decision_sentence(result: Ranking, work: str = "") -> str:
    """Return which node to take and which are degraded: the fastest one, and with prices what gives most for them.

    `work` is what the nodes are for, such as a profile's name; '' = work of any kind.
    """
    head = f"For {work}: " if work else ""
    fastest, bad = ranking_sentence(result), degraded_sentence(result)
    best = next((one for one in result.nodes if one.rank == 1), None)
    if best is not None and best.degraded and not best.tied_with:
        others = tuple(replace(one, degraded=None) if one is best else one for one in result.nodes)
        fastest = f"{best.node} is fastest, but {slowed_words(best.degraded)}."
        bad = degraded_sentence(replace(result, nodes=others))
    words = " ".join(filter(None, (fastest, bad)))
    if not any(one.price_per_h > 0 and one.rank for one in result.nodes):
        return f"{head}{words}"
    return f"{head}{price_sentence(per_price(result))} Price aside, {words}"


def best_pair(pairs: Sequence[PairRatio], one: str, other: str) -> PairRatio | None:
    """Return the comparison of two nodes overall, None where there is none."""
    return next((pair for pair in pairs if pair.aspect == OVERALL and {pair.node, pair.other} == {one, other}), None)


def resource(aspect: str) -> str:
    """Return an aspect of nodes as people write it: 'CPU' for cpu."""
    return "CPU" if aspect == "cpu" else aspect


def weight_words(shares: Mapping[str, float]) -> str:
    """Return weights above 0: 'CPU 50 %, disk 50 %'."""
    return ", ".join(f"{resource(name)} {format_share(share, 0)}" for name, share in shares.items() if share > 0)


def weights_sentence(shares: Mapping[str, float]) -> str:
    """'Weights: CPU 50 %, disk 50 %.'."""
    return f"Weights: {weight_words(shares) or 'none'}."


CLEAR = {RERUN: "Run the benchmark again to confirm.", EXCLUDE: "Take the node out until it is repaired."}


def robustness_sentence(result: Ranking) -> str:
    """Return what the order hangs on."""
    if not result.leave_outs:
        return "No benchmark can be excluded: one carries the whole score, or nothing is ranked."
    hang = [one.benchmark for one in result.leave_outs if not one.same_order]
    aside = ", ties aside" if any(one.tied_with for one in result.nodes) else ""
    if not hang:
        return f"The order stays the same without any one of {counted(len(result.leave_outs), 'benchmark')}{aside}."
    return f"The order changes without {', '.join(hang)}{aside}."


def degraded_sentences(result: Ranking) -> tuple[str, ...]:
    """Return for each degraded node its reason and what to do."""
    return tuple(
        f"{one.node}: {one.degraded.reason}. {CLEAR[one.degraded.action]}" for one in result.nodes if one.degraded
    )


def leaders_sentence(rankings: Mapping[str, Ranking]) -> str:
    """Return which node is first in which scenario."""
    first = {name: [one.node for one in ranking.nodes if one.rank == 1] for name, ranking in rankings.items()}
    if len({tuple(nodes) for nodes in first.values()}) == 1 and len(first) > 1:
        nodes = " and ".join(next(iter(first.values()))) or "No node"
        return f"{nodes} is first in all {len(first)} scenarios."
    leaders = [f"{' and '.join(nodes) or 'no node'} in {name}" for name, nodes in first.items()]
    return f"First: {'; '.join(leaders)}."


def moment_words(epoch_s: float) -> str:
    """A time in UTC: '2026-11-21 17:36'."""
    if not math.isfinite(epoch_s):
        return "no time"
    return datetime.fromtimestamp(epoch_s, UTC).strftime("%Y-%m-%d %H:%M")


def _change(one: RankedNode) -> str:
    change = one.change
    return "too few runs" if change is None else change_words(change.ratio, change.low, change.high)


def _degraded(one: RankedNode) -> str:
    if one.degraded is None:
        return "no sign" if one.judged else "too few runs"
    return f"{one.degraded.action}: {one.degraded.reason}"


def node_table(result: Ranking) -> Table:
    """One line per node: place, score, change, degradation with its reason, price and score per price."""

    def score_in(name: str) -> Column:
        value, said = lambda one: one.aspects[name].score, lambda one: score_words(one.aspects[name])
        return Column(name, value, heading(resource(name)), said=said)

    columns = (
        Column("rank", lambda one: one.rank or None, "Place", "%.0f"),
        Column("node", "", "Node", pinned=True),
        Column("score", "", f"Score ({format_share(result.settings.confidence, 0)} interval)", said=score_words),
        Column("low", aside=True),
        Column("high", aside=True),
        Column("tied_with", lambda one: ", ".join(one.tied_with), "Tied with"),
        *map(score_in, result.metrics),
        Column("change", _change, "Since the last window", help="Of the node against itself."),
        Column("degraded", _degraded, "Degraded"),
        Column("price_per_h", lambda one: one.price_per_h or None, "Price per hour", "%.4g", optional=True),
        PER_PRICE,
        Column("runs", "n_runs", "Runs", "%,.0f"),
        Column("no_rank_because", "reason", "No rank because", optional=True),
    )
    unit = "10-norm of the code" if result.published else "1 = geometric mean of the nodes"
    return Table("nodes", f"Score ({unit})", columns, result.nodes)


PER_PRICE = Column("price_performance", "", "Score / price", "%.3g", optional=True)
IN_WORDS = Column("in_words", faster_words, "Difference")
PAIRS = (
    Column("better", "node", "Better"),
    Column("other", "", "Other"),
    Column("times_as_good", "ratio", "Ratio", "%.2f"),
    Column("ratio_low", "low", "Interval of the ratio", "%.2f", to=Column("ratio_high", "high", form="%.2f")),
    Column("clear", "", "Clear"),
    replace(IN_WORDS, aside=True),
    Column("metrics", lambda one: ", ".join(one.metrics), "Metrics"),
)
TIES_ASIDE = "Which of two tied nodes comes first is no other order."
LEAVE_OUTS = (
    Column("without", "benchmark", "Without"),
    Column("order", lambda one: " > ".join(one.order), "Order"),
    Column("reading", lambda one: "the same order" if one.same_order else "another order", "Reading", help=TIES_ASIDE),
)
DROPPED = (Column("metric", "", "Metric"), Column("reason", "", "Reason"))


def pair_table(result: Ranking, aspect: str = OVERALL) -> Table:
    """One line per pair of nodes in an aspect."""
    return Table("node-pairs", "Pairs", PAIRS, [one for one in result.pairs if one.aspect == aspect])


def leave_out_table(result: Ranking) -> Table:
    """The order without each benchmark."""
    return Table("node-leave-outs", "With one benchmark left out", LEAVE_OUTS, result.leave_outs)


def dropped_table(result: Ranking) -> Table:
    """What was measured and is not in the score, with the reason."""
    return Table("node-dropped-metrics", "Metrics that are not in the score", DROPPED, result.dropped_metrics)


def dropped_sentence(result: Ranking) -> str:
    """How many metrics make the score, and how many do not."""
    used = sum(map(len, result.metrics.values()))
    total = used + len(result.dropped_metrics)
    return f"{used} of {total} measured metrics make the score; each other one is listed with its reason."


def _ranked_nodes(result: Ranking) -> list[RankedNode]:
    return [one for one in result.nodes if one.rank]


def _best(result: Ranking) -> str:
    return ranked[0].node if (ranked := _ranked_nodes(result)) else "none ranked"


def _lead(result: Ranking) -> str:
    ranked = _ranked_nodes(result)
    return f"{ranked[0].score / ranked[-1].score:.1f} ×" if len(ranked) > 1 else "needs two nodes"


def _robust(result: Ranking) -> str:
    return f"{sum(one.same_order for one in result.leave_outs)} of {len(result.leave_outs)}"


def _n_degraded(result: Ranking) -> str:
    if not any(one.judged for one in result.nodes):
        return "not known"
    return counted(sum(one.degraded is not None for one in result.nodes), "node")


BEST = Column("best_node", _best, "Best node", help="By the weighted score.")
LEAD = Column("lead", _lead, "Best / worst", help="Score of the best node / score of the worst one that is ranked.")
NODES_DEGRADED = Column(
    "n_degraded", _n_degraded, "Degraded", help="Nodes whose newest run lies far below their own history."
)
ROBUST = Column(
    "robust", _robust, "Ranking robust", help="Same order when one benchmark is excluded, ties aside: how often."
)


def ranking_figures(result: Ranking) -> tuple[Figure, ...]:
    """The best node, its lead, what is degraded, and how robust the order is."""
    ranked = _ranked_nodes(result)
    tied = f"tied with {', '.join(ranked[0].tied_with)}" if ranked and ranked[0].tied_with else ""
    return (
        Figure(BEST, result, tied),
        Figure(LEAD, result),
        Figure(NODES_DEGRADED, result, ", ".join(one.node for one in result.nodes if one.degraded)),
        *((Figure(ROBUST, result),) if result.leave_outs else ()),
    )


def bars_note(result: Ranking, *, tied: bool) -> str:
    """What the bars of the scores rest on."""
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in result.left_out.items())
    sized = "" if result.settings.prices_per_h else " Whole nodes are compared, whatever their size."
    return (
        f"From {counted(result.n_runs, 'run')}, with {format_share(result.settings.confidence, 0)} intervals"
        f"{f'; excluded are {reasons}' if reasons else ''}.{' Bracket: no clear difference.' if tied else ''}{sized}"
    )


def bar_words(one: RankedNode, name: str) -> tuple[str, str]:
    """What stands in the bar of a node, and at it."""
    place = f"{one.rank}:" if one.rank else "not ranked:"
    state = "" if one.degraded is None else ", degraded" if one.degraded.action == EXCLUDE else ", run again"
    inside = f"{place} {one.score:.2f}{state}"
    return inside, f"{name}: {score_words(one)}, {counted(one.n_runs, 'run')}"


def aspects_sentence(result: Ranking) -> str:
    """In which resources the nodes differ clearly."""
    if len(result.nodes) < 2:
        return "One node alone has nothing to be compared with."
    if result.published:
        return "The published score ranks the nodes in each resource, without a measure of the difference."
    clear = {one.aspect for one in result.pairs if one.clear}
    differ = [resource(name) for name in result.metrics if name in clear]
    alike = [resource(name) for name in result.metrics if name not in clear]
    if not any(math.isfinite(one.low) for one in result.pairs):
        return "With fewer than 3 runs of a benchmark on each node no resource can be compared."
    if not differ:
        return "Differences are within noise in every resource."
    rest = f"; in {listed(alike)} differences are within noise" if alike else ""
    return f"Nodes differ clearly in {listed(differ)}{rest}."


def aspects_note(result: Ranking, n_shown: int) -> str:
    """What the lines over the resources show."""
    some = "" if n_shown == len(result.nodes) else f"The first {n_shown} of {len(result.nodes)} nodes. "
    return (
        f"{some}Logarithmic: equal distances are equal ratios. Bars: intervals of "
        f"{format_share(result.settings.confidence, 0)}; nodes without one have fewer than 3 runs of a benchmark."
    )


def scenario_table(scenarios: Sequence[NodeScenario]) -> Table:
    """One line per saved scenario with its settings in words."""

    def setting(name: str) -> Column:
        return Column(name.replace(" ", "_"), lambda one: settings_words(one.settings)[name], name.capitalize())

    named = map(setting, ("weights", "score", "runs left out", "window", "nodes", "prices"))
    columns = (Column("scenario", "name", "Scenario"), *named, Column("kept", "created", "Kept"))
    return Table("scenarios", "Saved scenarios", columns, scenarios)


def comparison_table(rankings: Mapping[str, Ranking]) -> Table:
    """One line per node with its place and score in every scenario; a node that is not in one has no value."""
    found = {name: {one.node: one for one in ranking.nodes} for name, ranking in rankings.items()}

    def of(name: str, field: str, form: str, words: str) -> Column:
        value = lambda node: getattr(found[name].get(node), field, None)  # noqa: E731
        return Column(f"{name}: {words}", value, f"{name}: {words}", form)

    columns = [Column("node", lambda node: node, "Node", pinned=True)]
    for name, ranking in rankings.items():
        columns += [of(name, "rank", "%.0f", "place"), of(name, "score", "%.2f", "score")]
        columns += [of(name, "price_performance", "%.3g", "score / price")] * bool(ranking.settings.prices_per_h)
    nodes = list(dict.fromkeys(node for ranking in found.values() for node in ranking))
    return Table("scenarios-compared", "Side by side", tuple(columns), nodes)


def settings_words(settings: RankSettings) -> dict[str, str]:
    """The settings of a ranking in words."""
    ends = [moment_words(end) if end is not None else "any time" for end in (settings.since_s, settings.until_s)]
    return {
        "weights": weight_words(settings.shares),
        "score": settings.score,
        "runs left out": settings.exclude,
        "window": "all" if ends == ["any time"] * 2 else " to ".join(ends),
        "nodes": ", ".join(settings.nodes) or "all",
        "prices": ", ".join(f"{node} {price:g}" for node, price in settings.prices_per_h.items()) or "none",
    }


def rank_answer(result: Ranking) -> Answer:
    """Which node is fastest for which work."""
    clear = [one for one in result.pairs if one.aspect == OVERALL and one.clear][:SHOWN_PAIRS]
    alike = (f"Differences within noise: {', '.join(result.alike)}.",) if result.alike else ()
    hang = (robustness_sentence(result),) if any(not one.same_order for one in result.leave_outs) else ()
    pairs = sum(one.aspect == OVERALL for one in result.pairs)
    return Answer(
        decision_sentence(result),
        ranking_figures(result),
        tables=(
            node_table(result),
            Table("pairs", "Clear differences", (IN_WORDS,), clear),
        ),
        notes=(
            *result.notes,
            *degraded_sentences(result),
            bars_note(result, tied=False),
            weights_sentence(result.shares),
            *alike,
            *((one_by_one(result.settings.confidence),) if pairs >= MANY_PAIRS else ()),
            *hang,
        ),
        document={
            "score": result.settings.score,
            "published": result.published,
            "weights": result.shares,
            "nodes": [node_document(one) for one in result.nodes],
            "pairs": [asdict(one) for one in result.pairs],
            "without": [asdict(one) for one in result.leave_outs],
            "metrics": result.metrics,
            "dropped_metrics": [asdict(one) for one in result.dropped_metrics],
            "not_pooled": [asdict(one) for one in result.not_pooled],
            "n_runs": result.n_runs,
            "left_out": result.left_out,
        },
    )


SHOWN_PAIRS = 12
MANY_PAIRS = 6
"""Of nodes: from so many on it is told that some differ by chance."""


def one_by_one(confidence: float) -> str:
    """What intervals of many pairs do not tell."""
    one_in = round(1 / (1 - confidence))
    return f"Each pair has its own interval: one in {one_in} pairs of equal nodes differs clearly by chance."


def node_document(one: RankedNode) -> dict[str, Any]:
    """A ranked node with its scores in every resource."""
    return {
        "node": one.node,
        "score": one.score,
        "interval": _interval(one),
        "rank": one.rank,
        "tied_with": list(one.tied_with),
        "aspects": {
            name: {"score": own.score, "interval": _interval(own), "rank": own.rank, "n_runs": own.n_runs}
            for name, own in one.aspects.items()
        },
        "n_runs": one.n_runs,
        "price_per_h": one.price_per_h,
        "price_performance": one.price_performance,
        "degraded": asdict(one.degraded) if one.degraded else None,
        "judged": one.judged,
        "change": asdict(one.change) if one.change else None,
        "reason": one.reason,
    }


def _interval(one: RankedNode | AspectScore) -> list[float] | None:
    return None if math.isnan(one.low) else [one.low, one.high]  # NaN: fewer than 3 runs
