"""What is said of groups of nodes: who is alike, which work suits whom, how far runtimes carry to other machines."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from workprof.answers.help.terms import heading
from workprof.answers.nodes import decision_sentence, node_document, node_table, nodes_words, resource, weights_sentence
from workprof.core.answer import Answer, Figure, Table
from workprof.core.table import Column
from workprof.core.units import GB, format_share
from workprof.core.words import counted, listed
from workprof.nodes.advice import Advice
from workprof.nodes.allocation import Allocation, PlacedKind
from workprof.nodes.groups import LEAST_NODES, Groups
from workprof.nodes.runtime_intervals import Coverage
from workprof.nodes.transfer import Transfer
from workprof.profiles.names import name_of

MOST_NAMED = 6


def groups_sentence(result: Groups) -> str:
    """Return how many groups there are and who is in them."""
    if not result.groups:
        return "There are no groups."
    if result.k == 1:
        few = len(result.groups[0].nodes) < LEAST_NODES
        others = tuple(result.not_grouped)
        alone = "only node that can be grouped" if others else ONLY
        told = _one_group(result.groups[0].nodes, ": too few to part them." if few else ": none stands apart.", alone)
        return f"{told} Not grouped: {members_words(others)}." if others else told
    left = f" Not grouped: {members_words(tuple(result.not_grouped))}." if result.not_grouped else ""
    return f"{result.k} groups: {'; '.join(members_words(one.nodes) for one in result.groups)}.{left}"


ONLY = "only node"


def _one_group(nodes: Sequence[str], told: str, alone: str = ONLY) -> str:
    return f"All {nodes_words(len(nodes))} form one group{told}" if len(nodes) > 1 else f"{nodes[0]} is the {alone}."


def members_words(nodes: Sequence[str]) -> str:
    """The first names of a group."""
    return ", ".join(nodes[:MOST_NAMED]) + (" …" if len(nodes) > MOST_NAMED else "")


def advice_sentence(result: Advice, profile: str = "") -> str:
    """Return which node suits the profile, by its name or else its number, and what gives most for its price."""
    work = f"{profile or f'profile {result.settings.profile}'} ({counted(result.n_jobs, 'run')})"
    return decision_sentence(result.ranking, work)


def allocation_sentence(result: Allocation) -> str:
    """Return how many kinds of jobs each group of nodes suits best."""
    if len(result.groups) == 1:
        return _one_group(result.groups[0].nodes, ", so that nothing can be allocated.")
    best = [one.groups[0] for one in result.kinds]
    parts = [
        f"{best.count(number):,} on group {number} ({members_words(one.nodes)})"
        for number, one in enumerate(result.groups)
        if number in best
    ]
    return f"{counted(len(best), 'kind')} of jobs by what they use: {'; '.join(parts)}."


def transfer_sentence(result: Transfer) -> str:
    """Return how far off our method is, beside no scaling at all."""
    ours, plain = result.methods.get(result.default), result.methods.get("none")
    if ours is None:
        return f"workprof's factor could not be computed: {result.left_out.get(result.default, 'it was not chosen')}."
    rest = f", without scaling {format_share(plain.median)}" if plain else ""
    return f"Half of {ours.n:,} predictions are within {format_share(ours.median)} of the measured runtime{rest}."


def interval_sentence(coverage: Coverage | None) -> str:
    """Return how often the intervals held; '' where there are none."""
    if coverage is None or not coverage.n or not math.isfinite(coverage.share):
        return ""
    return (
        f"{format_share(coverage.confidence, 0)} intervals held {format_share(coverage.share)} of {coverage.n:,} "
        f"runtimes of unseen {coverage.held_out}s; upper end / lower end {coverage.median_width:.2f}."
    )


@dataclass(frozen=True)
class _Member:
    """A group of nodes with its number, or one node of it."""

    number: int
    nodes: str
    group: Any


def _grouped(groups: Sequence[Any], *, each: bool = False) -> list[_Member]:
    """The groups; `each`: a line per node."""
    return [
        _Member(number, names, one)
        for number, one in enumerate(groups)
        for names in (one.nodes if each else [", ".join(one.nodes)])
    ]


GROUP = (Column("group", "number", "Group"), Column("nodes", "", "Nodes"))
GROUPS = Column("k", "", "Groups", "%.0f", "Chosen by the mean silhouette (as published: always 3).")
MEAN_SILHOUETTE = Column(
    "silhouette", "", "Silhouette", "%.3f", "Mean over the nodes, -1 to 1; above 0.25 groups stand apart."
)
STABILITY = Column(
    "stability",
    "",
    "Stability",
    "%.3f",
    "Mean adjusted Rand index with groupings of resampled runs; 1 = always the same.",
)
N_ASPECTS = Column("n_aspects", lambda one: counted(len(one.aspects), "resource"), "Grouped by")
STABLE_FROM = 0.75


def groups_table(result: Groups) -> Table:
    """One line per node with its group, the group's labels and scores."""
    aspects, scores = (list(getattr(result.groups[0], one)) if result.groups else [] for one in ("labels", "scores"))
    columns = (
        Column("group", "number", "Group"),
        Column("node", "nodes", "Node"),
        *(Column(f"{name}_label", _of("labels", name), heading(resource(name))) for name in aspects),
        *(Column(f"{name}_score", _of("scores", name), heading(f"{resource(name)} score"), "%.3g") for name in scores),
    )
    return Table("node-groups", "Groups", columns, _grouped(result.groups, each=True))


def _of(field: str, name: str) -> Any:
    return lambda one: getattr(one.group, field)[name]


def groups_figures(result: Groups) -> tuple[Figure, ...]:
    """The number of groups and how sure it is."""
    sure = "" if math.isnan(result.stability) else "stable" if result.stability >= STABLE_FROM else "doubtful"
    by = f"Those in which differences exceed noise: {listed(result.aspects) or 'none'}."
    return (
        Figure(GROUPS, result),
        Figure(MEAN_SILHOUETTE, result),
        Figure(STABILITY, result, sure),
        Figure(N_ASPECTS, result, help=by),
    )


def chosen_sentence(result: Groups) -> str:
    """Which number of groups was chosen among which."""
    numbers = sorted(map(int, result.silhouettes))
    if not numbers:
        return "There are too few nodes to group."
    if len(numbers) == 1:
        return (
            f"Only {numbers[0]} groups could be tried with so few nodes; that "
            f"{'stands out' if result.k > 1 else 'does not stand out'}."
        )
    best = f"{result.k} groups are chosen" if result.k > 1 else "No number of groups stands out"
    return f"{best} of {numbers[0]} to {numbers[-1]}."


def groups_answer(result: Groups) -> Answer:
    """Which nodes are alike."""
    aspects = list(result.groups[0].labels) if result.groups else []
    labels = tuple(Column(f"{name}_label", _of("labels", name), heading(resource(name))) for name in aspects)
    names = ("k", "silhouette", "aspects", "silhouettes", "stability", "reference_rand", "not_grouped", "published")
    return Answer(
        groups_sentence(result),
        groups_figures(result),
        (Table("groups", "Groups", (*GROUP, *labels), _grouped(result.groups)),),
        (*(f"{node} is not grouped: {reason}" for node, reason in result.not_grouped.items()), *result.notes),
        {"groups": [asdict(one) for one in result.groups], **{name: getattr(result, name) for name in names}},
    )


def use_table(result: Advice) -> Table:
    """What the runs use, of what, and the weights."""
    columns = (
        Column("aspect", lambda one: resource(one.aspect), "Resource"),
        Column("use_share", "share", "Used", unit="share"),
        Column("source", "", "What is used, of what"),
        Column("n_jobs", "", "Runs", "%,.0f"),
        Column("proposed_weight", lambda one: result.proposed.get(one.aspect), "Weight by use", unit="share"),
        Column("used_weight", lambda one: result.weights.get(one.aspect, 0.0), "Weight", unit="share"),
    )
    return Table("uses", weights_sentence(result.weights).rstrip("."), columns, result.uses)


def advice_answer(result: Advice) -> Answer:
    """Which node suits the jobs of a profile."""
    return Answer(
        advice_sentence(result),
        tables=(
            use_table(result),
            node_table(result.ranking),
        ),
        notes=tuple(result.notes),
        document={
            "profile": result.settings.profile,
            "n_jobs": result.n_jobs,
            "weights": result.weights,
            "proposed": result.proposed,
            "uses": [asdict(one) for one in result.uses],
            "nodes": [node_document(one) for one in result.ranking.nodes],
        },
    )


SHOWN_USE = {"cpu": ("percent", 1.0, "%"), "memory": ("gb", GB, "GB")}
"""Aspect -> unit of a median use in a file, how many of its own units that is, and how it is shown."""
MOVED_USE = ("mb_per_s", 1e6, "MB/s")


def kinds_table(result: Allocation, names: Sequence[str] = ()) -> Table:
    """What each kind of jobs uses and which groups suit it; `names` are those of the profiles by label, -1 last."""
    k = len(result.groups)

    def label(aspect: str) -> Column:
        said = lambda one: f"{one.labels[aspect]} of {k}" if one.labels[aspect] else "not known"  # noqa: E731
        meaning = "Label by the median use among all runs; 1 uses least."
        return Column(f"{aspect}_label", said, heading(f"{resource(aspect)} label"), help=meaning)

    def group(name: str, place: int, meaning: str) -> Column:
        def said(one: PlacedKind) -> str | None:
            if place >= len(one.groups):
                return None
            return f"{one.groups[place]}: {members_words(result.groups[one.groups[place]].nodes)}"

        return Column(name, said, heading(name), help=meaning)

    def used(aspect: str) -> Column:
        word, factor, unit = SHOWN_USE.get(aspect, MOVED_USE)
        value = lambda one: one.used[aspect] / factor  # noqa: E731
        return Column(f"{aspect}_median_{word}", value, f"Median {resource(aspect)} ({unit})", "%.3g")

    columns = (
        Column("kind", lambda one: name_of(one.name, names) if names else one.name, "Kind of jobs", pinned=True),
        Column("runs", "n_jobs", "Runs", "%,.0f"),
        *(label(one.aspect) for one in result.resources if one.counts),
        group("best_group", 0, "Number and nodes; its ranks suit best."),
        group("next_group", 1, "Where the best has no free place."),
        *(used(one.aspect) for one in result.resources),
    )
    return Table("kinds", "Kinds of jobs", columns, result.kinds)


def allocation_answer(result: Allocation) -> Answer:
    """Which kind of jobs belongs on which group of nodes."""
    k = len(result.groups)

    def rank(name: str) -> Column:
        said = lambda one: f"{one.group.ranks[name]} of {k}"  # noqa: E731
        return Column(f"{name}_rank", said, heading(f"{resource(name)}: 1 = weakest"))

    ranks = map(rank, result.groups[0].ranks if result.groups else ())
    places = Column("places", "group.places", "Places", "%,.0f")
    return Answer(
        allocation_sentence(result),
        tables=(
            Table("groups", "Groups of nodes", (*GROUP, places, *ranks), _grouped(result.groups)),
            kinds_table(result),
        ),
        notes=tuple(result.notes),
        document={
            "by": result.settings.by,
            "n_jobs": result.n_jobs,
            "groups": [asdict(one) for one in result.groups],
            "resources": [asdict(one) for one in result.resources],
            "kinds": [asdict(one) for one in result.kinds],
        },
    )


@dataclass(frozen=True)
class _Named:
    """A method or detector with its name and its figures."""

    name: str
    of: Any


TRANSFERRED = (
    Column("method", "name", "Method"),
    Column("median", "of.median", "Median error", "%.4f", "Share of the measured runtime."),
    Column("p90", "of.p90", "Error p90", "%.4f"),
    Column("p95", "of.p95", "Error p95", "%.4f"),
    Column("n", "of.n", "Predictions", "%,.0f"),
)
TRANSFER_NOTE = (
    "Error = |predicted - measured| / measured. workprof's factor was chosen on the public reports: errors on them are "
    "in-sample."
)


def transfer_table(result: Transfer) -> Table:
    """One line per method, the smallest median error first; errors are shares of the measured runtime."""
    methods = sorted(result.methods.items(), key=lambda one: one[1].median)
    rows = [_Named(f"{name} (ours)" if name == result.default else name, one) for name, one in methods]
    return Table("methods", "Error = |predicted - measured| / measured", TRANSFERRED, rows)


def transfer_answer(result: Transfer, interval: Coverage | None) -> Answer:
    """How far runtimes carry over to other machines."""
    notes = [f"{name} is excluded: {reason}" for name, reason in result.left_out.items()]
    if result.history:
        notes.append(f"runs on {', '.join(result.history)} tell how each task follows the scores")
    if result.n_untrained:
        notes.append(f"{result.n_untrained} tasks and parts have one local run only; nothing is predicted from it")
    if result.n_absent:
        notes.append(f"{result.n_absent} predictions cannot be judged: the target has no run of the task")
    held = interval_sentence(interval)
    return Answer(
        transfer_sentence(result),
        tables=(transfer_table(result),),
        notes=(*notes, *([held] if held else []), TRANSFER_NOTE),
        document={
            "methods": {name: asdict(one) for name, one in result.methods.items()},
            "default": result.default,
            "left_out": result.left_out,
            "n_untrained": result.n_untrained,
            "n_absent": result.n_absent,
            "history": list(result.history),
            "interval": asdict(interval) if interval else None,
        },
    )
