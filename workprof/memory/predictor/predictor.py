"""Which memory bin will a run need, before it runs: every model with every sampling, scored and replayed."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from workprof.memory.predictor.bin_scores import run_costs
from workprof.memory.predictor.candidates import Trained, constant_results, majority_bin, trained
from workprof.memory.predictor.prepared import PredictorData, predictor_data
from workprof.memory.predictor.results import Importance, ModelResult, PredictorResult, Ranking, ranking_of
from workprof.memory.predictor.settings import PredictorSettings
from workprof.memory.predictor.tuning import Recipe
from workprof.memory.runs import ALL_RUNS
from workprof.memory.tasks.facts import AFTER
from workprof.progress import Progress, silent

if TYPE_CHECKING:
    import pandas as pd

MIXINGS = 5
"""Times that an input's values are mixed up to see how much it matters."""

FEW_RUNS = 34
"""Below it a task has too few runs to be sized on (memory.md 1.1, the published harness' own limit)."""


def train_predictors(
    frames: Mapping[str, pd.DataFrame], settings: PredictorSettings, progress: Progress = silent
) -> PredictorResult:
    """Return models that tell the bin of a run before it runs, tried on runs that neither they nor the edges saw.

    Args:
        frames: 'jobs' -> the table with every column that the trace has, see `runs_of` and `facts_of`.
        settings: what to do.
        progress: told each trial.

    Raises:
        SettingsError: for a task or an input that cannot be.
        ColumnMissing: when a needed column is absent.
        NotEnoughData: with fewer than 10 usable runs.

    Source:
        memory.md 4.3-4.5, after the load-aware provisioning thesis. In corrected mode ours differs in that the edges
        do not see the test runs, a model that is no better than chance gives way to a constant, and the replay ranks.
    """
    started = time.perf_counter()
    progress(0.0, "Putting the runs into bins")
    data = predictor_data(frames["jobs"], settings)
    made = _all_models(data, settings, progress)
    progress(1.0, "Comparing the models")
    return replace(_collected(data, settings, made), seconds=time.perf_counter() - started)


def _collected(data: PredictorData, settings: PredictorSettings, made: list[Trained]) -> PredictorResult:
    """Return the result of all models, its seconds yet to come."""
    models = tuple(each.likeliest for each in made)
    ranking, constants = ranking_of(models), constant_results(data, settings)
    inputs = tuple(fact for fact in data.facts.inputs if fact.column in data.encoder.columns_of)
    return PredictorResult(
        settings=settings,
        task=settings.bins.task or ALL_RUNS,
        models=models,
        cheapest=tuple(each.cheapest for each in made),
        constant=constants[0],
        cheapest_constant=constants[1],
        edges_bytes=data.edges_bytes,
        static_bytes=data.task.static_bytes,
        bin_runs=np.bincount(data.bins, minlength=len(data.edges_bytes)).astype(np.int64),
        optimal_improvement=data.optimal_improvement,
        n_train=len(data.inner.kept),
        n_validation=len(data.inner.held_out),
        n_test=len(data.test),
        inputs=inputs,
        uses_after_the_run=any(fact.known == AFTER for fact in inputs),
        pooled=tuple(fact.column for fact in data.facts.inputs if fact not in inputs),
        unused=data.facts.unused,
        test_rows=data.task.runs.rows[data.test],
        test_bins=data.bins[data.test],
        ranking=ranking,
        ranks_differ=ranking.n_turned > 0,
        importance=_importance(data, settings, made),
        left_out=dict(data.task.runs.left_out),
        notes=(*data.notes, *_notes(data, models), *_ranking_notes(ranking)),
        seconds=0.0,
    )


def _all_models(data: PredictorData, settings: PredictorSettings, progress: Progress) -> list[Trained]:
    pairs = [(model, sampling) for model in settings.models for sampling in settings.sampling]
    made = []
    for place, (model, sampling) in enumerate(pairs):

        def tell(share: float, place: int = place, name: str = f"{model}, {sampling}") -> None:
            progress((place + share) / len(pairs), f"Training {name}")

        tell(0.0)
        recipe = Recipe(model, sampling, len(data.edges_bytes), settings.penalty, settings.trials, settings.seed)
        made.append(trained(data, settings, recipe, tell))
    return made


def _importance(data: PredictorData, settings: PredictorSettings, made: list[Trained]) -> tuple[Importance, ...]:
    """Return what the u-score of the best model by replay loses on the test runs without each input."""
    standing = [(each.likeliest.replayed_improvement, each.model) for each in made if each.model is not None]
    if not standing or not data.encoder.columns_of:
        return ()
    model = max(standing, key=lambda pair: pair[0])[1]
    true, random = data.bins[data.test], np.random.default_rng(settings.seed)
    columns, known = np.array(data.encoder.columns_of), {fact.column: fact.known for fact in data.facts.inputs}
    before = run_costs(true, model.scores(data.test_inputs).argmax(axis=1), settings.penalty).mean()
    found = []
    for name in dict.fromkeys(data.encoder.columns_of):
        lost = []
        for _ in range(MIXINGS):
            mixed, own = data.test_inputs.copy(), columns == name
            mixed[:, own] = mixed[random.permutation(len(mixed))][:, own]
            said = model.scores(mixed).argmax(axis=1)
            lost.append(run_costs(true, said, settings.penalty).mean() - before)
        found.append(Importance(name, known[name], float(100 * np.mean(lost))))
    return tuple(sorted(found, key=lambda each: -each.u_score_lost))


def _notes(data: PredictorData, models: tuple[ModelResult, ...]) -> tuple[str, ...]:
    notes, n_runs = [], len(data.bins)
    if n_runs < FEW_RUNS:
        notes.append(f"too few runs: {n_runs}, and {FEW_RUNS} are the least that sizes should rest on")
    if len(np.unique(data.bins)) == 1:
        notes.append("every run belongs into one bin, so there is nothing to learn")
    elif not data.encoder.columns_of:
        notes.append("nothing that is known before the run tells its runs apart; map or tick more columns")
    unfinished = max(made.n_never_finished for made in models)
    if unfinished:
        notes.append(f"up to {unfinished} test run(s) never finish under the cap and the retries allowed")
    after = [fact.column for fact in data.facts.inputs if fact.known == AFTER]
    if after:
        notes.append(f"{', '.join(after)}: known only after the run, so nobody has these scores beforehand")
    fell = [model.name for model in models if model.fell_back]
    if fell:
        notes.append(
            f"no better than chance, so the most frequent bin, {majority_bin(data) + 1}, is answered: {'; '.join(fell)}"
        )
    changed = [m.sampling for m in models if m.sampling_done != m.sampling]
    if changed:
        done = {m.sampling: m.sampling_done for m in models}
        notes += [f"{s} was not possible in a bin this small; done instead: {done[s]}" for s in dict.fromkeys(changed)]
    return tuple(notes)


def _ranking_notes(ranking: Ranking) -> tuple[str, ...]:
    if not ranking.n_turned:
        return ()
    best = f"best by estimate: {ranking.best_by_estimate}; best by replay: {ranking.best_by_replay}"
    return (f"estimate and replay turn {ranking.n_turned} of {ranking.n_pairs} pairs of models round ({best})",)
