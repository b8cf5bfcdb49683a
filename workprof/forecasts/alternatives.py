"""Other classifiers beside the boosted trees: nearest runs, rules, one tree, a network; on the same folds.

PolarisProfiler (SOSE'23, III) names them as alternatives to XGBoost. Each sees the same training rows in the same
encoding and gives every tested row a probability of each class; none abstains here, so that they compare.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from workprof.core.arrays import Floats, Ints, latest_of
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress, silent
from workprof.core.shown import Shown
from workprof.forecasts.classifier import (
    ClassifierSettings,
    LoadedClassifier,
    labelled,
    train_classifier,
    used_rows,
    with_categories,
)
from workprof.forecasts.classifier_evaluation import ALL_FOLDS, N_FOLDS, FoldResult, SplitScores, score_folds
from workprof.forecasts.encoder import (
    PLAN_FIELDS,
    Encoded,
    MetadataEncoder,
    encode,
    fit_encoder,
    rare_rows_of,
    read_fields,
    to_matrix,
    usable_fields,
)
from workprof.forecasts.predictions import Rules, decide
from workprof.forecasts.splits import SPLITS, SPLITS_SHOWN, make_folds

if TYPE_CHECKING:
    import pandas as pd

BOOSTED, NEAREST, RULES, TREE, NETWORK = "boosted", "nearest", "rules", "tree", "network"
NEIGHBOURS = 15
ROUNDING = 1e-6
"""Distances that differ by no more are equal: jobs that ask for the same are equally near, and the first of them count.
Which of them a search finds depends on the processor."""
HIDDEN = 64
"""Units of the network's one hidden layer."""
LEAST_RUNS = 5
"""Of a rule, and of a leaf of the tree."""
MOST_EPOCHS = 60
MOST_TRAINING_ROWS = 20_000
"""That the alternatives learn from, drawn at random: a network of more takes minutes."""
RULE_FIELDS = ("group", "instances", "workload", "user", *PLAN_FIELDS[:3], "task_name")
"""What rules look at, in the order in which it is left out again; a job's name seldom comes again.

Of five orders, by job and by group of the bundled sample, this one has the highest macro F1 with the fewest rules."""


@settings
class AlternativeSettings:
    """The classifier that the others stand beside, and how they are tested."""

    classifier: Annotated[ClassifierSettings, Setting("The classifier that is compared.")] = field(
        default_factory=ClassifierSettings
    )
    split: Annotated[
        str,
        Setting(
            "In what sense the tested runs are new.",
            choices=SPLITS,
            shown=SPLITS_SHOWN,
            key="classify_alternatives_split",
            label="Tested on",
        ),
    ] = "by_job"
    leaves: Annotated[
        int, Setting("Leaves of the tree, each of which reads as a rule.", least=2, most=1000, label="Leaves")
    ] = 32


IS, IS_NOT, AT_MOST, ABOVE = "is", "is not", "at most", "above"
Condition = tuple[str, str, str | float]
"""Field, one of these four, and the value."""


@dataclass(frozen=True)
class Rule:
    """One line that a scheduler's administrator can read; of 'rules' the first that fits decides."""

    conditions: tuple[Condition, ...]
    profile: int  # -1 = none
    runs: int  # training runs that fit
    share: float  # of them in this profile


@dataclass(frozen=True)
class Alternative:
    """One kind of classifier on the tested runs."""

    name: str  # 'boosted', 'nearest', 'rules', 'tree' or 'network'
    scores: SplitScores  # without abstentions
    by_fold: Floats  # (n_folds,) forced macro F1 of each
    size_bytes: int  # of the numbers and values that it keeps
    predict_seconds: float  # for 1,000 runs, one after the other in a batch
    rules: tuple[Rule, ...]  # of 'rules' and 'tree', learned from all runs; else empty


@dataclass(frozen=True, repr=False)
class Alternatives(Shown):
    """All of them, the highest macro F1 first."""

    settings: AlternativeSettings  # as given
    methods: tuple[Alternative, ...]
    n_rows: int  # labelled runs
    n_learned: int  # most runs that an alternative learned from in a fold
    notes: tuple[str, ...]
    seconds: float


@dataclass(frozen=True)
class _Learned:
    probabilities: Callable[[pd.DataFrame], Floats]  # (n_rows, n_classes)
    classes: Ints
    size_bytes: int
    rules: tuple[Rule, ...] = ()
    note: str = ""


def compare_classifiers(
    frames: Mapping[str, pd.DataFrame], settings: AlternativeSettings, progress: Progress = silent
) -> Alternatives:
    """Each classifier on the folds of a split of `frames["jobs"]`, whose column 'profile' is learned.

    Raises:
        ColumnMissing: without the column 'profile', any field, or what the split needs.
        NotEnoughData: with too few rows or profiles, or when the split cannot be made.
    """
    started = time.perf_counter()
    own = settings.classifier
    latest, _ = latest_of(frames["jobs"], own.latest_runs)
    jobs, labels = _used(*labelled(latest), own)
    fields = usable_fields(jobs, own.fields, own.mode)
    folds = make_folds(jobs, settings.split, N_FOLDS, own.seed)
    folds = folds if settings.split in ALL_FOLDS else folds[:1]
    draw = np.random.default_rng(own.seed)
    results: dict[str, list[FoldResult]] = {name: [] for name in METHODS}
    sizes, took = dict.fromkeys(METHODS, 0), dict.fromkeys(METHODS, 0.0)
    notes, n_learned, steps = [], 0, (len(folds) + 1) * len(METHODS)
    for done, fold in enumerate(folds):
        few = np.sort(draw.permutation(fold.train)[:MOST_TRAINING_ROWS])
        n_learned = max(n_learned, len(few))
        for place, (name, learn) in enumerate(METHODS.items()):
            progress((done * len(METHODS) + place) / steps, f"Fold {done + 1} of {len(folds)}: {name}")
            rows, test = fold.train if name == BOOSTED else few, jobs.iloc[fold.test]
            begun = time.perf_counter()
            learned = learn(jobs.iloc[rows], labels[rows], fields, settings)
            trained = time.perf_counter()
            found = learned.probabilities(test)
            took[name] += time.perf_counter() - trained
            sizes[name] = max(sizes[name], learned.size_bytes)
            never = Rules(False, 0.0, 1, np.ones(len(learned.classes), dtype=np.int64))
            told = decide(found, learned.classes, np.zeros(len(test), dtype=np.bool_), never)
            results[name].append(FoldResult(labels[fold.test], told, len(rows), trained - begun))
            notes += [learned.note] if learned.note else []
    few = np.sort(draw.permutation(len(jobs))[:MOST_TRAINING_ROWS])
    rules = {name: METHODS[name](jobs.iloc[few], labels[few], fields, settings).rules for name in (RULES, TREE)}
    methods = [
        Alternative(
            name,
            score_folds(settings.split, own_results),
            np.array([score_folds(settings.split, [one]).forced_macro_f1 for one in own_results]),
            sizes[name],
            1000 * took[name] / sum(len(one.truth) for one in own_results),
            rules.get(name, ()),
        )
        for name, own_results in results.items()
    ]
    methods.sort(key=lambda one: -one.scores.forced_macro_f1)
    told_notes = tuple(dict.fromkeys(notes))
    return Alternatives(settings, tuple(methods), len(jobs), n_learned, told_notes, time.perf_counter() - started)


def _used(jobs: pd.DataFrame, labels: Ints, own: ClassifierSettings) -> tuple[pd.DataFrame, Ints]:
    used, targets, classes = used_rows(jobs, labels, own)
    return with_categories(used), classes[targets]


def _boosted(jobs: pd.DataFrame, labels: Ints, fields: tuple[str, ...], settings: AlternativeSettings) -> _Learned:
    model = train_classifier(jobs, labels, replace(settings.classifier, fields=fields))
    loaded = LoadedClassifier(model)
    return _Learned(lambda new: loaded.predict(new).probabilities, model.classes, len(model.booster))


@dataclass(frozen=True)
class _Columns:
    """One-hot categories, and each number as a logarithm in units of its deviation, beside whether it is given."""

    encoder: MetadataEncoder
    middle: Floats  # (n_numbers,) of the logarithms
    scale: Floats  # likewise

    def of(self, rows: Encoded) -> Any:
        """(n_rows, n_columns) CSR matrix."""
        from scipy.sparse import csr_matrix, hstack  # noqa: PLC0415  heavy

        given = np.isfinite(rows.numbers)
        logs = np.where(given, (_log(rows.numbers) - self.middle) / self.scale, 0.0)
        hidden = Encoded(rows.codes, np.full(rows.numbers.shape, np.nan))
        return hstack([to_matrix(self.encoder, hidden), csr_matrix(logs), csr_matrix(given.astype(float))], "csr")


def _log(numbers: Floats) -> Floats:
    return np.asarray(np.log1p(np.maximum(np.nan_to_num(numbers), 0.0)), dtype=np.float64)


def _encoder(
    jobs: pd.DataFrame, fields: tuple[str, ...], settings: AlternativeSettings
) -> tuple[MetadataEncoder, Encoded]:
    inputs = read_fields(jobs, fields)
    encoder = fit_encoder(inputs, fields, settings.classifier.mode, rare_rows_of(settings.classifier, len(jobs)))
    return encoder, encode(encoder, inputs)


def _scaled(jobs: pd.DataFrame, fields: tuple[str, ...], settings: AlternativeSettings) -> tuple[_Columns, Any]:
    encoder, rows = _encoder(jobs, fields, settings)
    logs = np.where(np.isfinite(rows.numbers), _log(rows.numbers), np.nan)
    known = np.isfinite(logs).any(axis=0)
    middle, scale = np.zeros(logs.shape[1]), np.ones(logs.shape[1])
    middle[known] = np.nanmean(logs[:, known], axis=0)
    scale[known] = np.nanstd(logs[:, known], axis=0)
    columns = _Columns(encoder, middle, np.where(scale > 0, scale, 1.0))
    return columns, columns.of(rows)


def _values_bytes(encoder: MetadataEncoder) -> int:
    return sum(len(value) for one in encoder.categories for value in one.kept)


def _nearest(jobs: pd.DataFrame, labels: Ints, fields: tuple[str, ...], settings: AlternativeSettings) -> _Learned:
    from sklearn.metrics import pairwise_distances_chunked  # noqa: PLC0415  heavy

    columns, matrix = _scaled(jobs, fields, settings)
    classes, codes = np.unique(labels, return_inverse=True)
    votes, last = np.eye(len(classes))[codes], min(NEIGHBOURS, len(labels)) - 1

    def shares(distances: Floats, _: int) -> Floats:
        rim = np.partition(distances, last, axis=1)[:, [last]]
        near, tied = distances < rim - ROUNDING, np.abs(distances - rim) <= ROUNDING
        near |= tied & (np.cumsum(tied, axis=1) <= last + 1 - near.sum(axis=1, keepdims=True))
        weighted = np.where(near, 1.0 / np.maximum(distances, ROUNDING), 0.0) @ votes
        result: Floats = weighted / weighted.sum(axis=1, keepdims=True)
        return result

    def probabilities(new: pd.DataFrame) -> Floats:
        asked = columns.of(encode(columns.encoder, new))
        return np.concatenate(list(pairwise_distances_chunked(asked, matrix, reduce_func=shares)))

    size = matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes + labels.nbytes
    return _Learned(probabilities, classes, size + _values_bytes(columns.encoder))


def _network(jobs: pd.DataFrame, labels: Ints, fields: tuple[str, ...], settings: AlternativeSettings) -> _Learned:
    from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415  heavy
    from sklearn.neural_network import MLPClassifier  # noqa: PLC0415  heavy

    columns, matrix = _scaled(jobs, fields, settings)
    model = MLPClassifier(
        (HIDDEN,), max_iter=MOST_EPOCHS, n_iter_no_change=5, tol=1e-3, random_state=settings.classifier.seed
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(matrix, labels)
    stopped = f"The network was stopped after {MOST_EPOCHS} passes, still improving."
    return _Learned(
        lambda new: model.predict_proba(columns.of(encode(columns.encoder, new))),
        model.classes_,
        sum(one.nbytes for one in (*model.coefs_, *model.intercepts_)) + _values_bytes(columns.encoder),
        note=stopped if model.n_iter_ == MOST_EPOCHS else "",
    )


def _tree(jobs: pd.DataFrame, labels: Ints, fields: tuple[str, ...], settings: AlternativeSettings) -> _Learned:
    from sklearn.tree import DecisionTreeClassifier  # noqa: PLC0415  heavy

    encoder, rows = _encoder(jobs, fields, settings)
    model = DecisionTreeClassifier(
        max_leaf_nodes=settings.leaves, min_samples_leaf=LEAST_RUNS, random_state=settings.classifier.seed
    )
    model.fit(_plain(encoder, rows), labels)
    tree = model.tree_
    kept = (tree.feature, tree.threshold, tree.children_left, tree.children_right, tree.value)
    return _Learned(
        lambda new: model.predict_proba(_plain(encoder, encode(encoder, new))),
        model.classes_,
        sum(one.nbytes for one in kept),
        _leaves(model, encoder),
    )


def _plain(encoder: MetadataEncoder, rows: Encoded) -> Any:
    """(n_rows, n_columns): numbers as they are, a missing one below every other."""
    return to_matrix(encoder, Encoded(rows.codes, np.where(np.isfinite(rows.numbers), rows.numbers, -1.0)))


def _leaves(model: Any, encoder: MetadataEncoder) -> tuple[Rule, ...]:
    """One rule for each leaf, the one with most runs first; of a number's bounds the tightest."""
    tree, names = model.tree_, encoder.column_names
    rules: list[Rule] = []
    waiting: list[tuple[int, tuple[Condition, ...]]] = [(0, ())]
    while waiting:
        node, conditions = waiting.pop()
        if tree.children_left[node] < 0:
            shares = tree.value[node][0] / tree.value[node][0].sum()
            best, runs = int(shares.argmax()), int(tree.n_node_samples[node])
            rules.append(Rule(_tightest(conditions), int(model.classes_[best]), runs, float(shares[best])))
            continue
        name, _, value = names[tree.feature[node]].partition(" = ")
        limit = float(tree.threshold[node])
        below, above = ((IS_NOT, value), (IS, value)) if value else ((AT_MOST, limit), (ABOVE, limit))
        waiting.append((int(tree.children_left[node]), (*conditions, (name, *below))))
        waiting.append((int(tree.children_right[node]), (*conditions, (name, *above))))
    return tuple(sorted(rules, key=lambda one: -one.runs))


def _tightest(conditions: tuple[Condition, ...]) -> tuple[Condition, ...]:
    """The conditions without those that a later one implies: a value rules the others out, a bound the wider ones."""
    named = {field for field, kind, _ in conditions if kind == IS}
    kept: dict[tuple[str, str, str], Condition] = {}
    for one in conditions:
        field, kind, value = one
        if kind == IS_NOT and field in named:
            continue
        kept[field, kind, str(value) if kind == IS_NOT else ""] = one
    return tuple(kept.values())


def _rules(jobs: pd.DataFrame, labels: Ints, fields: tuple[str, ...], settings: AlternativeSettings) -> _Learned:
    """Rows of a table, looked up by every field, then by one field less each time; the last fits any run.

    A run gets the shares of the profiles among the training runs of the finest line with at least LEAST_RUNS of them.
    """
    keys = [name for name in RULE_FIELDS if name in fields]
    levels = [keys[first:] for first in range(len(keys) + 1)]
    classes, places = np.unique(labels, return_inverse=True)
    tables: list[dict[Values, Floats]] = []
    for level in levels:
        codes, values = _joined(jobs, level)
        counts = np.zeros((len(values), len(classes)))
        np.add.at(counts, (codes, places), 1)
        enough = counts.sum(axis=1) >= (LEAST_RUNS if level else 1)
        tables.append({values[place]: counts[place] for place in np.flatnonzero(enough)})

    def probabilities(new: pd.DataFrame) -> Floats:
        found = np.full((len(new), len(classes)), np.nan)
        for level, lines in zip(levels, tables, strict=True):
            rows = np.flatnonzero(np.isnan(found[:, 0]))
            codes, values = _joined(new.iloc[rows], level)
            for place, one in enumerate(values):
                if one in lines:
                    found[rows[codes == place]] = lines[one] / lines[one].sum()
        return found

    size = sum(8 * (len(values) + len(classes)) for lines in tables for values in lines)
    return _Learned(probabilities, classes, size, _needed(levels, tables, classes))


Values = tuple[str | float, ...]


def _needed(levels: list[list[str]], tables: list[dict[Values, Floats]], classes: Ints) -> tuple[Rule, ...]:
    """The lines in the order in which they are looked up, without those that say what a later one would."""
    rules = []
    for first, (level, lines) in enumerate(zip(levels, tables, strict=True)):
        for values, counts in sorted(lines.items(), key=lambda line: -line[1].sum()):
            coarser = [tables[at].get(values[at - first :]) for at in range(first + 1, len(tables))]
            after = next((one for one in coarser if one is not None), None)
            if after is not None and after.argmax() == counts.argmax():
                continue
            conditions = tuple((name, IS, value) for name, value in zip(level, values, strict=True))
            profile, runs = int(classes[counts.argmax()]), int(counts.sum())
            rules.append(Rule(conditions, profile, runs, float(counts.max() / counts.sum())))
    return tuple(rules)


def _joined(jobs: pd.DataFrame, names: list[str]) -> tuple[Ints, list[Values]]:
    """(n_rows,) places among the distinct values of these columns together, and these; '' = not given."""
    columns = [
        jobs[name].astype(object).where(jobs[name].notna(), "").tolist() if name in jobs else [""] * len(jobs)
        for name in names
    ]
    places: dict[Values, int] = {}
    values = zip(*columns, strict=True) if names else iter([()] * len(jobs))
    codes = np.array([places.setdefault(one, len(places)) for one in values], dtype=np.int64)
    return codes, list(places)


METHODS: dict[str, Callable[[pd.DataFrame, Ints, tuple[str, ...], AlternativeSettings], _Learned]] = {
    BOOSTED: _boosted,
    NEAREST: _nearest,
    RULES: _rules,
    TREE: _tree,
    NETWORK: _network,
}
