"""Models of a run's bin: what they save by the estimate and by the replay, what they look at, the published tables."""

from dataclasses import asdict
from typing import Any

import numpy as np

from workprof.answers.tasks import shown
from workprof.core.answer import Answer, Figure, Table
from workprof.core.table import Column
from workprof.core.units import GB, format_share, gb_h, number, saved
from workprof.core.words import column_words, counted
from workprof.memory.facts import AFTER
from workprof.memory.model_data import InputFact
from workprof.memory.model_tables import PredictorTables
from workprof.memory.models import ModelResult, PredictorResult, Waterfall, clearly_cheaper


def _sampling(one: ModelResult) -> str:
    done = one.sampling_done
    return done if done == one.sampling else f"{done} (requested: {one.sampling})"


ESTIMATED = Column(
    "estimated_improvement",
    heading="Estimated",
    unit="share",
    help="The thesis' formula: optimum × accuracy − under-estimates. It counts no retry.",
)
REPLAYED = Column(
    "replayed_improvement",
    heading="Replayed",
    unit="share",
    help="Saved against one static size: every test run replayed, failed attempts included.",
)
U_SCORE = Column("u_score", heading="u-score", form="%.1f %%", help="Lower is better.")
ACCURACY = Column("accuracy", heading="Accuracy", unit="share")
U_RATE = Column("u_rate", heading="Under-estimates", unit="share", help="Test runs predicted below their bin.")
U_RATE_INTERVAL = Column(
    "u_rate_low",
    "u_rate_interval.low",
    "95 % interval",
    unit="share",
    to=Column("u_rate_high", "u_rate_interval.high", unit="share"),
    help="Wilson interval of the under-estimates.",
)
FAILURES = Column("failures", heading="Failed attempts", unit="count")
HELD = Column("charged_gb_h", heading="Held", unit="GB·h", help="In the replay, by all attempts.")
MODELS = (
    Column("model", "name", "Model", pinned=True),
    Column("over_sampling", _sampling, "Over-sampling"),
    ACCURACY,
    U_SCORE,
    U_RATE,
    U_RATE_INTERVAL,
    ESTIMATED,
    REPLAYED,
    Column("saved_share", heading="Saved of requests", unit="share"),
    FAILURES,
    Column("n_never_finished", heading="Never finished", unit="runs"),
    HELD,
    Column(
        "remark",
        lambda one: "no better than chance: answers as a constant" if one.fell_back else "",
        "Remark",
        optional=True,
    ),
)
"""A line per model."""

BINS = Column("k", heading="Bins", unit="count")
MODEL = Column("model", heading="Model")
BEST_SAMPLINGS = (BINS, MODEL, Column("sampling", heading="Over-sampling"), ACCURACY, U_SCORE)
SAMPLINGS = (*BEST_SAMPLINGS[:3], Column("done", heading="Done"), U_SCORE)
BINNINGS = (
    BINS,
    Column("edges_gb", lambda one: [edge / GB for edge in one.edges_bytes], "Limits", "%.3g", unit="GB"),
    MODEL,
    Column("optimal_improvement", heading="Upper bound", unit="share"),
    ACCURACY,
    U_RATE,
    U_RATE_INTERVAL,
    ESTIMATED,
    REPLAYED,
    Column("edges_bytes", shown=False),
    Column("u_rate_interval", lambda one: asdict(one.u_rate_interval), shown=False),
)
IMPORTANCE = (
    Column("input", "column", "Input"),
    Column("known", heading="Known"),
    Column("u_score_lost", heading="u-score lost", form="%.1f %%"),
)
"""A line per input of the best model, the most important first."""

AFTER_THE_RUN = "The models use fields that are known only after the run: no such model can be used beforehand."


def every_model(result: PredictorResult) -> tuple[ModelResult, ...]:
    """All models, the one that saves most by the replay first; equals in the order they were made."""
    models = (*result.models, *result.cheapest, result.constant, result.cheapest_constant)
    return tuple(sorted(models, key=lambda model: -model.replayed_improvement))


def models_answer(result: PredictorResult) -> Answer:
    """What the best model by the replay saves and breaks, and all of them."""
    every = every_model(result)
    warnings = (ranking_warning(result), AFTER_THE_RUN if result.uses_after_the_run else "")
    further = ("optimal_improvement", "ranks_differ", "uses_after_the_run", "unused", "seconds")
    return Answer(
        models_sentence(result),
        _figures(result, every[0]),
        (Table("models", "Models, most saved by the replay first", MODELS, every),),
        (*filter(None, warnings), *(f"{note[:1].upper()}{note[1:]}." for note in result.notes)),
        {
            "task": result.task,
            "edges_gb": result.edges_bytes / GB,
            "models": [_document(one) for one in result.models],
            "cheapest": [_document(one) for one in result.cheapest],
            "constant": _document(result.constant),
            "cheapest_constant": _document(result.cheapest_constant),
            "ranking": asdict(result.ranking),
            "inputs": [asdict(one) for one in result.inputs],
            **{name: getattr(result, name) for name in further},
        },
    )


def _document(one: ModelResult) -> dict[str, Any]:
    document = {name: value for name, value in vars(one).items() if name not in ("predicted", "charged_each_gb_h")}
    return document | {"u_rate_interval": [one.u_rate_interval.low, one.u_rate_interval.high]}


def models_sentence(result: PredictorResult) -> str:
    """Which model to take, and what it saves and breaks."""
    best, constants = every_model(result)[0], (result.constant, result.cheapest_constant)
    one_bin = max(constants, key=lambda one: one.replayed_improvement)
    gain = best.replayed_improvement - one_bin.replayed_improvement
    more = f"It is {gain * 100:.1f} percentage points better than one bin for every run"
    if gain <= 0:
        more = "One bin for every run is as good, so no model is needed"
    elif not clearly_cheaper(best, one_bin, len(result.models) + len(result.cheapest)):
        more = f"One bin for every run saves {gain * 100:.1f} percentage points less, which may be chance"
    return (
        f"With the model {best.name}, {shown(result.task)} holds {saved(best.saved_share)} than requested. {more}. "
        f"{counted(best.failures, 'attempt')} failed in the replay of {counted(best.n_test, 'test run')}."
    )


def _figures(result: PredictorResult, best: ModelResult) -> tuple[Figure, ...]:
    interval, penalty, runs = best.u_rate_interval, result.settings.penalty, counted(best.n_test, "test run")
    return (
        Figure(
            REPLAYED,
            best,
            f"upper bound {format_share(result.optimal_improvement)}",
            f"Saved against one static size, failed attempts included, by {best.name} on {runs}; "
            f"{format_share(best.saved_share)} of what these runs requested. Upper bound: every run in its right bin.",
        ),
        Figure(ESTIMATED, best, "thesis' formula"),
        Figure(
            FAILURES,
            best,
            f"{interval.low * 100:.1f}–{interval.high * 100:.1f} % of runs",
            f"In the replay of {runs}; {gb_h(best.charged_gb_h)} held in all. Under-estimates "
            f"{format_share(best.u_rate)}, with a 95 % interval.",
        ),
        Figure(
            U_SCORE,
            best,
            f"penalty {penalty:g}",
            f"(over-estimates + {penalty:g} × under-estimates) / runs; lower is better.",
        ),
    )


def ranking_warning(result: PredictorResult) -> str:
    """Where estimate and replay disagree; '' where they agree."""
    ranking = result.ranking
    if not result.ranks_differ:
        return ""
    words = (
        f"The thesis' estimate and the replay order {ranking.n_turned} of {ranking.n_pairs} pairs of models differently"
    )
    if ranking.best_by_estimate != ranking.best_by_replay:
        words += f": by the estimate {ranking.best_by_estimate} is best, by the replay {ranking.best_by_replay}"
    return f"{words}. The replay counts every failed attempt; go by it."


def learned_note(result: PredictorResult) -> str:
    """How many runs learn, tune and test."""
    return (
        f"{result.n_train:,} runs to learn, {result.n_validation:,} to tune, {result.n_test:,} to test, seed "
        f"{result.settings.seed}. With so few errors small differences mean nothing: read the intervals."
    )


MOST_UNUSED = 12


def input_words(result: PredictorResult) -> str:
    """What the models see, and what they were not shown."""
    seen = ", ".join(_input(fact) for fact in result.inputs) or "nothing"
    if not result.unused:
        return f"The models see {seen}."
    more = f" and {len(result.unused) - MOST_UNUSED} more" if len(result.unused) > MOST_UNUSED else ""
    return f"The models see {seen}. Not shown: {', '.join(map(column_words, result.unused[:MOST_UNUSED]))}{more}."


def _input(fact: InputFact) -> str:
    return f"{fact.column} ({AFTER})" if fact.known == AFTER else fact.column


def confusion_sentence(model: ModelResult) -> str:
    """How many test runs are predicted too small."""
    under = int(np.tril(model.confusion, -1).sum())
    return (
        f"{counted(under, 'test run')} of {model.n_test:,} ({format_share(model.u_rate)}) are predicted too small "
        f"(outlined); {format_share(model.accuracy)} are right."
    )


def tables_answer(result: PredictorTables) -> Answer:
    """The thesis' tables, and which number of bins the estimate and the replay prefer."""
    names = ("best_k_by_estimate", "best_k_by_replay", "ranks_differ", "seconds")
    return Answer(
        _tables_sentence(result),
        tables=(
            Table("table_11", "Table 11, with the replay beside it", BINNINGS, result.binnings),
            Table("tables_7_8", "Tables 7 and 8: the best over-sampling of each model", BEST_SAMPLINGS, result.models),
            Table("tables_9_10", "Tables 9 and 10: u-score of every over-sampling", SAMPLINGS, result.samplings),
        ),
        notes=result.notes,
        document={name: getattr(result, name) for name in names},
    )


def _tables_sentence(result: PredictorTables) -> str:
    if result.best_k_by_estimate == result.best_k_by_replay:
        return f"Estimate and replay both prefer {result.best_k_by_replay} bins."
    return (
        f"The thesis' estimate prefers {result.best_k_by_estimate} bins, the replay {result.best_k_by_replay}: trust "
        "the replay, which counts what a failure costs."
    )


STEPS = {
    "now": "what the test runs request",
    "bins": "every run in its own bin, without headroom",
    "margin": "the headroom in the bins",
    "model errors": "runs that hold too large a bin",
    "retries": "runs that fail at first: failed attempts, and what they are lifted to",
    "planned": "held in the replay",
}
"""From the requests to the plan."""


def changes_of(steps: Waterfall) -> list[float]:
    """GB·h of the requests, then what each step adds to them; the last of `STEPS` is their sum."""
    return [steps.now_gb_h, steps.bins_gb_h, steps.margin_gb_h, steps.model_gb_h, steps.retries_gb_h]


def signed(value: float) -> str:
    """'+1.2', '−34' or '0'."""
    return f"{'+' if value > 0 else '−' if value < 0 else ''}{number(abs(value))}"


def waterfall_sentence(result: PredictorResult) -> str:
    """From where to where the steps lead, and what stands between the upper bound of the bins and the plan."""
    best = every_model(result)[0]
    steps = best.waterfall
    share = 1 - steps.planned_gb_h / steps.now_gb_h if steps.now_gb_h > 0 else float("nan")
    bins, margin, errors, retries = map(signed, changes_of(steps)[1:])
    return (
        f"{shown(result.task)}, {best.name}: {gb_h(steps.planned_gb_h)} planned of {gb_h(steps.now_gb_h)} requested, "
        f"{saved(share)}. In GB·h: bins alone {bins}, margin {margin}, model errors {errors}, retries {retries}."
    )


def waterfall_note(steps: Waterfall) -> str:
    """How many runs the steps are of, and the least that any plan holds."""
    words = (
        f"{counted(steps.n_too_large, 'run')} held too large a bin, {counted(steps.n_failed, 'run')} failed at first. "
        f"No plan can hold less than the {gb_h(steps.used_gb_h)} that were used. + costs, − saves."
    )
    if steps.n_unfinished:
        words += f" {counted(steps.n_unfinished, 'run')} never finished: their attempts alone are counted."
    return words
