"""How many nodes the runs of a trace need: the words, tables and notes of a replayed schedule."""

import math
from collections.abc import Iterable, Iterator

from workprof.answers.decisions import EVERY_ROW
from workprof.answers.runs import excluded_words
from workprof.core.answer import Answer, Figure, Table
from workprof.core.stats import Interval
from workprof.core.table import Column
from workprof.core.units import MINUTE_S, format_duration, format_share, number
from workprof.core.words import counted, listed
from workprof.memory.ledger_settings import MEMORY
from workprof.memory.schedule import ALL, BACKFILL, EIGHTH, LATER, NO_NODE, OWN, SIZED, Outcome, Schedule, WaitPoint
from workprof.memory.schedule_runs import CAPACITY, DEPTH, GIVEN, HELD, KINDS, USUAL

NAMES = {
    ALL: "All runs, as requested",
    LATER: "Later half, as requested",
    SIZED: "Later half, with the plan",
    OWN: "All runs, on the trace's nodes",
}
KIND_WORDS = {"memory": ("Memory", "GB"), "cores": ("Cores", "cores"), "gpus": ("GPUs", "GPUs")}
SOURCES = {
    GIVEN: "given",
    CAPACITY: "as most nodes of the trace have",
    HELD: "the most that a node of the trace held at once",
    USUAL: "assumed, as the trace does not say",
}
BLOCK_WORDS = {
    "week": ("a week", "weeks"),
    "day": ("a day", "days"),
    "6 hours": ("6 hours", "blocks of 6 hours"),
    "hour": ("an hour", "hours"),
    EIGHTH: ("an eighth of the trace", "eighths"),
}
"""One, and several."""
ALIKE = 2.0
"""A p95 wait within this factor of the trace's own is reproduced; so are two within the limit."""
MOST_LARGE = 0.05
"""Of the runs: if more fit no node, the sentence begins with them."""
NEARLY_NONE = 0.05
"""Of what the trace's nodes have: below it, its runs are a sample of what the nodes did."""


def _share(at: int, name: str) -> Column:
    kind = KINDS[at]
    what = "requested" if name == "requested" else "used"
    return Column(
        f"{kind}_{what}_share",
        lambda one: getattr(one, name)[at],
        f"{KIND_WORDS[kind][0]} {what}",
        unit="share",
        help=f"Of what the nodes have from first to last{'; of runs whose use is known' * (what == 'used')}.",
        optional=True,
    )


OUTCOMES: tuple[Column, ...] = (
    Column("replay", "name", shown=False),
    Column("runs_replayed", lambda one: NAMES[one.name], "Replayed", pinned=True),
    Column("n_runs", "waits.n_runs", "Runs", unit="count"),
    Column(
        "nodes_needed",
        lambda one: math.nan if one.needed is None else one.needed.nodes,
        "Nodes needed",
        unit="count",
        help="The fewest nodes at which 95 % of the runs wait no longer than the limit.",
    ),
    Column(
        "nodes_needed_low",
        lambda one: math.nan if one.needed is None else one.needed.single.low,
        "In single blocks",
        form="%,.0f",
        to=Column(
            "nodes_needed_high",
            lambda one: math.nan if one.needed is None else one.needed.single.high,
            form="%,.0f",
        ),
        help="What single days, weeks or hours need by themselves: 90 % of them lie in between.",
    ),
    Column("nodes", heading="On nodes", unit="count", help="Nodes of the figures that follow."),
    Column("wait_mean_s", "waits.mean_s", "Mean wait", said=lambda one: format_duration(one.waits.mean_s)),
    Column("wait_p50_s", "waits.p50_s", "Median wait", said=lambda one: format_duration(one.waits.p50_s)),
    Column("wait_p95_s", "waits.p95_s", "95 % wait at most", said=lambda one: format_duration(one.waits.p95_s)),
    *(_share(at, name) for at in range(len(KINDS)) for name in ("requested", "used")),
    Column("kills", heading="Kills", unit="count", help="Of the later runs, at a size below request and use."),
    Column("busy_nodes", heading="Busy at once", unit="count", help="Nodes with a run, at most."),
    Column("makespan_h", "hours", "First to last", unit="h", help="From the first submission to the last end."),
)
CURVE = (
    Column("replay", "name", shown=False),
    Column("runs_replayed", lambda one: NAMES[one.name], "Replayed"),
    Column("nodes", heading="On nodes", unit="count"),
    Column("wait_p95_s", "p95_s", "95 % wait at most", said=lambda one: format_duration(one.p95_s)),
)

NOT_YET = "The schedule is not replayed yet."
NEEDED = Column("nodes_needed", "needed.nodes", "Nodes needed", unit="count", help="For all runs, as requested.")
SAVED = Column(
    "nodes_saved",
    lambda one: math.nan if one.saved is None else one.saved,
    "Nodes saved by the plan",
    form="%,.0f",
    help="Of those that the later half needs: with its requests less with the sizes of the plan.",
)
WAIT = Column(
    "wait_p95_s",
    lambda one: one.outcomes[0].waits.p95_s,
    "95 % wait at most",
    said=lambda one: format_duration(one.outcomes[0].waits.p95_s),
    help="All runs as requested.",
)
FULLEST = Column(
    "fullest_share",
    lambda one: one.outcomes[0].requested[KINDS.index(one.binding)],
    "Fullest resource",
    unit="share",
    said=lambda one: (
        f"{KIND_WORDS[one.binding][0]}, {format_share(one.outcomes[0].requested[KINDS.index(one.binding)], 0)}"
    ),
    help="Requested, of what the nodes have.",
)


def schedule_answer(result: Schedule) -> Answer:
    """The nodes needed, what the plan saves of them, the waits, and what limits it."""
    first = result.outcomes[0]
    figures = [Figure(NEEDED, result, detail=_single(result, result.needed.single))]
    if result.saved is not None:
        figures.append(Figure(SAVED, result, detail=_single(result, result.single_saved)))
    figures += [Figure(WAIT, result, detail=f"on {counted(first.nodes, 'node')}"), Figure(FULLEST, result)]
    return Answer(
        schedule_sentence(result),
        figures=tuple(figures),
        tables=(Table("outcomes", "Runs on nodes", OUTCOMES, result.outcomes),),
        notes=(*first_notes(result), *further_notes(result)),
        document={
            "node": {
                kind: {"amount": amount, "source": source}
                for kind, amount, source in zip(KINDS, result.node.amounts, result.node.sources, strict=True)
                if source
            },
            "kinds": [
                {"nodes": one.nodes, "amounts": dict(zip(KINDS, one.amounts, strict=True))} for one in result.kinds
            ],
            "trace": result.trace,
            "named_nodes": result.named_nodes,
            "monotone": {one.name: one.needed.monotone for one in result.outcomes if one.needed is not None},
            "nodes_saved_low": result.single_saved.low,
            "nodes_saved_high": result.single_saved.high,
            "blocks": {"of": result.block, "n": result.n_blocks},
            "fullest": result.binding,
            "curve": curve_table(result).documents(),
            "left_out": result.left_out,
            "without_request": result.lacking,
        },
    )


def curve_table(result: Schedule) -> Table:
    """The waits by number of nodes."""
    return Table("curve", "Waits by number of nodes", CURVE, result.curve)


def point_words(point: WaitPoint) -> str:
    """'12 nodes: 8 min 48 s'."""
    return f"{counted(point.nodes, 'node')}: {format_duration(point.p95_s)}"


def schedule_sentence(result: Schedule) -> str:
    """The nodes needed, and those of the later half with and without the plan."""
    limit = format_duration(result.settings.most_wait_min * MINUTE_S).removesuffix(" 00 s").removesuffix(" 00 min")
    nodes = counted(result.needed.nodes, "node")
    keep = "keeps" if result.needed.nodes == 1 else "keep"
    sample = is_sample(result)
    first = f"This sample needs {nodes} for" if sample else f"{nodes} {keep} 95 % of"
    later, sized = result.outcome(LATER), result.outcome(SIZED)
    n_large, n_runs = result.left_out.get(NO_NODE, 0), result.outcomes[0].waits.n_runs
    if n_large > MOST_LARGE * (n_large + n_runs):
        return (
            f"{n_large:,} of {counted(n_large + n_runs, 'run')} fit no node; the others need {nodes} for waits within "
            f"{limit}."
        )
    if later is None or sized is None or later.needed is None or sized.needed is None:
        return f"{first} waits within {limit}."
    second = f"; {'its' if sample else 'the'} later half{'' if sample else ' needs'} {later.needed.nodes:,}"
    if later.needed.nodes == sized.needed.nodes:
        return f"{first} waits within {limit}{second}, with the plan or without."
    return f"{first} waits within {limit}{second}, or {sized.needed.nodes:,} with the plan."


def is_sample(result: Schedule) -> bool:
    """Whether its runs request next to nothing of the nodes that the trace names."""
    own = result.outcome(OWN)
    return own is not None and _fullest(own) < NEARLY_NONE


def _single(result: Schedule, found: Interval) -> str:
    if math.isnan(found.low):
        return ""
    ends = f"{found.low:,.0f}" if found.low == found.high else f"{found.low:,.0f} to {found.high:,.0f}"
    return f"{ends} in {BLOCK_WORDS[result.block][0]} alone"


def kinds_words(result: Schedule) -> str:
    """'8 with 64 GB and 16 cores, 2 with 512 GB and 64 cores'."""
    return ", ".join(f"{one.nodes:,} with {listed(_amounts(one.amounts))}" for one in result.kinds)


def _amounts(amounts: Iterable[float]) -> list[str]:
    """'64 GB', '16 cores'; what nobody requests is left out."""
    both = zip(KINDS, amounts, strict=True)
    return [f"{number(amount)} {KIND_WORDS[kind][1]}" for kind, amount in both if not math.isnan(amount)]


def node_words(result: Schedule) -> str:
    """'256 GB and 64 cores (assumed, as the trace does not say)'."""
    parts: dict[str, list[str]] = {}
    for kind, amount, source in zip(KINDS, result.node.amounts, result.node.sources, strict=True):
        if source:
            parts.setdefault(source, []).append(f"{number(amount)} {KIND_WORDS[kind][1]}")
    return ", ".join(f"{listed(amounts)} ({SOURCES[source]})" for source, amounts in parts.items())


def first_notes(result: Schedule) -> tuple[str, ...]:
    """What nodes are taken to be, whether the trace's waits are reproduced, and what is not replayed."""
    hint = " Larger nodes, or runs spread over several, hold them." if NO_NODE in result.left_out else ""
    left_out = [f"Not replayed: {excluded_words(result.left_out)}.{hint}"] if result.left_out else []
    nodes = f"A node has {node_words(result)}; other sizes can be given."
    if result.kinds:
        mixed = f"Nodes are mixed as {kinds_words(result)}, other numbers of them alike."
        nodes = f"{mixed} Those with less memory are filled first."
    return (nodes, *_own_waits(result), *left_out)


def further_notes(result: Schedule) -> Iterator[str]:
    """What the figures rest on."""
    for kind, n_runs in result.lacking.items():
        yield f"{counted(n_runs, 'run')} requesting no {KIND_WORDS[kind][0] if kind == 'gpus' else kind} hold none."
    odd = [NAMES[one.name] for one in result.outcomes if one.needed is not None and not one.needed.monotone]
    if odd:
        yield f"More nodes do not always wait less here: {listed(odd)}. The answer is the fewest nodes that suffice."
    if result.no_verdict:
        yield f"The plan's sizes are not replayed: {result.no_verdict.removesuffix('.')}."
    else:
        if result.rows_left_out:
            yield EVERY_ROW
        if result.saved is not None and result.saved <= 0 and result.binding != MEMORY:
            yield f"The nodes are fullest by {KIND_WORDS[result.binding][1]}: less memory frees none."
    yield "Needed are nodes for these runs alone."
    if result.n_blocks > 1:
        yield (
            f"{result.n_blocks:,} {BLOCK_WORDS[result.block][1]} are replayed alone, too, each on empty nodes: 90 % of "
            "them need a number in that range. What others would bring is not known."
        )
    yield "Runs are submitted when the trace says, also those that waited for the results of others."
    if result.settings.order == BACKFILL:
        yield (
            "Backfilling expects a run to take what its ended peers took on average, at most its limit. It looks at "
            f"{DEPTH} waiting runs."
        )


def _own_waits(result: Schedule) -> Iterator[str]:
    """Whether the replay gives the trace's own waits, and whether the trace has enough of its nodes to tell."""
    own, trace = result.outcome(OWN), result.trace
    if own is not None and is_sample(result):
        share = number(100 * _fullest(own))
        yield (
            f"The runs request {share} % of the {result.named_nodes:,} nodes that the trace names. "
            "It is a sample: nothing is known of what else the nodes held."
        )
    if trace is None:
        yield "The trace has no times of submission: runs are submitted when they started, and its waits are not known."
        return
    against = own or result.outcomes[0]
    nodes = counted(against.nodes, "node")
    yield (
        f"In the trace 95 % of the runs waited at most {format_duration(trace.p95_s)}, replayed on "
        f"{nodes} {format_duration(against.waits.p95_s)}.{'' if own else ' The trace does not name its own nodes.'}"
    )
    low, high = sorted((trace.p95_s, against.waits.p95_s))
    if high > max(result.settings.most_wait_min * MINUTE_S, ALIKE * low):
        longer = trace.p95_s > against.waits.p95_s
        yield (
            "The trace's waits are not reproduced: its runs waited for more than it shows, such as other runs, limits "
            "or fewer nodes."
            if longer
            else "The trace's waits are not reproduced: its nodes are larger, or more, than those replayed."
        )


def _fullest(one: Outcome) -> float:
    return max((share for share in one.requested if not math.isnan(share)), default=0.0)
