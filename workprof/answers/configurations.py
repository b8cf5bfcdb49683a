"""What is said of a search of configurations: how near to the cheapest it comes, trial by trial."""

from dataclasses import asdict

from workprof.core.answer import Answer, Figure, Table
from workprof.core.records import to_json
from workprof.core.table import Column
from workprof.core.units import format_share
from workprof.core.words import counted
from workprof.nodes.search import CONFIDENCE, RANDOM, Search

SENTENCE_TRIALS = 6
"""Trials after which the sentence compares; the last one where there are fewer."""


def search_sentence(result: Search) -> str:
    """Return how near to the cheapest the searches come, and what the scores of nodes change."""
    after = min(SENTENCE_TRIALS, result.n_trials)
    kind = list(result.curves)[-1]
    mean = float(result.curves[kind].mean[after - 1])
    words = f"After {counted(after, 'trial')} the best configuration costs {more_words(mean)} on average"
    if not result.differences:
        return f"{words} ({counted(result.settings.seeds, 'seed')} of each workload)."
    one = result.differences[after - 1]
    verdict = "fewer" if one.high < 0 else "more" if one.low > 0 else "no clear difference"
    text = f"{100 * one.mean:+.1f} points [{100 * one.low:+.1f}, {100 * one.high:+.1f}]"
    compared = f"{verdict}: {text}" if verdict.startswith("no") else f"{text}, {verdict} than without"
    return f"{words} with node scores; against searches without them {compared}."


def random_sentence(result: Search) -> str:
    """Return what the optimiser gains over random search, which begins with the same trial."""
    after = min(SENTENCE_TRIALS, result.n_trials)
    kind = list(result.curves)[-1]
    ours, chance = (float(result.curves[name].mean[after - 1]) for name in (kind, RANDOM))
    gain = 100 * (1 - ours / chance)
    words = f"{gain:.1f} % less" if gain >= 0 else f"{-gain:.1f} % more"
    reached = more_words(chance)
    return f"Random search after {counted(after, 'trial')}: {reached}; the search {kind} costs {words} than that."


def more_words(ratio: float) -> str:
    """A cost beside the least: '12.0 % more than the cheapest'."""
    return f"{100 * (ratio - 1):.1f} % more than the cheapest"


CONFIGURATIONS = Column(
    "n_configurations", "", "Configurations", "%,.0f", "That a search can try; each workload is searched by itself."
)
TAKEN_AT_RANDOM = "The same, where each trial is drawn at random."


def search_figures(result: Search) -> tuple[Figure, ...]:
    """How many configurations there are and how many trials find the cheapest."""
    kind, after = list(result.curves)[-1], counted(result.n_trials, "trial")
    return (
        Figure(CONFIGURATIONS, result, counted(len(result.workloads), "workload")),
        Figure(_above("above_cheapest", kind, f"After {after}"), result, help=f"Mean cost of the best found, {kind}."),
        Figure(_above("random_above_cheapest", RANDOM, "Random search"), result, help=TAKEN_AT_RANDOM),
        Figure(_found(kind), result, help=f"Of the searches, after {after}, {kind}."),
    )


def _above(name: str, kind: str, heading: str) -> Column:
    def said(one: Search) -> str:
        return f"+{100 * (float(one.curves[kind].mean[-1]) - 1):.1f} %"

    return Column(name, lambda one: float(one.curves[kind].mean[-1]) - 1, heading, said=said)


def _found(kind: str) -> Column:
    def value(one: Search) -> float:
        return float(one.curves[kind].found_share[-1])

    return Column("found_cheapest", value, "Found the cheapest", said=lambda one: format_share(value(one), 0))


def path_sentence(result: Search, workload: str) -> str:
    """When the first search of a workload found its best configuration."""
    path = [one for one in result.path if one.workload == workload]
    at = next((one for one in path if one.best_cost == path[-1].best_cost), path[-1])
    if at.best_cost is None:
        return f"No trial was within the runtime limit; the cheapest that is: {result.workloads[workload]}."
    reached = more_words(at.best_cost / result.least_costs[workload])
    return f"Trial {at.trial} of {len(path)} found {at.configuration}, {reached} ({result.workloads[workload]})."


def mean_note(result: Search) -> str:
    """What the curves of the cost are means of."""
    return (
        f"Mean over {counted(result.settings.seeds, 'seed')} of each workload; the band is the "
        f"{format_share(CONFIDENCE, 0)} bootstrap interval of the mean. {random_sentence(result)}"
    )


TRIALS = (
    Column("workload", "", "Workload", optional=True),
    Column("trial", "", "Trial", "%.0f"),
    Column("configuration", "", "Configuration"),
    Column("runtime_s", "", "Runtime", "%,.1f", unit="s"),
    Column("cost", "", "Cost", "%,.4g"),
    Column("best_cost", "", "Least cost so far", "%,.4g"),
)


def path_table(result: Search, workload: str | None = None) -> Table:
    """One line per trial of the first search; of a workload, None = of all."""
    rows = [one for one in result.path if workload in (None, one.workload)]
    return Table("path", "The first search", TRIALS, rows)


def curve_table(result: Search) -> Table:
    """One line per number of trials: mean, interval and share that found the cheapest, and the difference."""

    def of(kind: str) -> tuple[Column, ...]:
        curve, name = result.curves[kind], kind.replace(" ", "_")

        def said(step: int) -> str:
            return f"{curve.mean[step]:.3f} ({format_share(float(curve.found_share[step]))})"

        return (
            Column(f"{name}_mean", lambda step: float(curve.mean[step]), kind, said=said),
            Column(f"{name}_low", lambda step: float(curve.mean_low[step]), aside=True),
            Column(f"{name}_high", lambda step: float(curve.mean_high[step]), aside=True),
            Column(f"{name}_found_cheapest", lambda step: float(curve.found_share[step]), aside=True),
        )

    def difference(step: int) -> str:
        one = result.differences[step]
        return f"{one.mean:+.3f} [{one.low:+.3f}, {one.high:+.3f}]"

    columns = [
        Column("trials", lambda step: step + 1, "Trials", "%.0f"),
        *(one for kind in result.curves for one in of(kind)),
    ]
    if result.differences:
        columns += [
            Column(
                "difference",
                lambda step: result.differences[step].mean,
                f"Difference ({format_share(CONFIDENCE, 0)} interval)",
                said=difference,
            ),
            Column("difference_low", lambda step: result.differences[step].low, aside=True),
            Column("difference_high", lambda step: result.differences[step].high, aside=True),
        ]
    words = f"Mean cost / least cost of {result.settings.seeds} searches (share that found the cheapest)"
    return Table("curves", words, tuple(columns), range(result.n_trials))


def search_answer(result: Search) -> Answer:
    """How near to the cheapest configuration a search comes, trial by trial."""
    cheapest = [f"Cheapest{f' for {name}' if name else ''}: {best}." for name, best in result.workloads.items()]
    return Answer(
        search_sentence(result),
        search_figures(result),
        (path_table(result), curve_table(result)),
        notes=(*result.notes, random_sentence(result), *cheapest),
        document={
            "optimizer": result.settings.optimizer,
            "n_configurations": result.n_configurations,
            "seeds": result.settings.seeds,
            "cheapest": result.workloads,
            "least_costs": result.least_costs,
            "curves": to_json(result.curves),
            "path": [asdict(one) for one in result.path],
            "differences": [asdict(one) for one in result.differences],
        },
    )
