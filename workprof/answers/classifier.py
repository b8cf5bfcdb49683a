"""What is said of the classifier: how often a profile is predicted correctly, by what, and which profiles are not."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from workprof.answers.forecasts import Naming, sum_words
from workprof.core.answer import Answer, Figure, Table
from workprof.core.table import Column
from workprof.core.units import fold, format_share
from workprof.core.words import begun, counted, label, listed, shortened
from workprof.forecasts.classifier_evaluation import (
    ClassifierEvaluation,
    ClassScore,
    Confusion,
    Reliability,
    SplitScores,
)
from workprof.forecasts.explain import GlobalExplanation
from workprof.forecasts.predictions import NO_PROFILE

SHOWN_PROFILES = 3
SCORES = ("accuracy", "macro_f1", "weighted_f1", "abstained_share", "n_train", "n_test")
SMALL_LEAK = 0.02
"""A difference of accuracies that is worth a sentence."""


@dataclass(frozen=True)
class _Split:
    """The scores of one split; where profiles were found among the training runs, beside those of all runs."""

    name: str
    among: str
    scores: SplitScores
    definitions: str = ""


SPLIT_NAMES = {"random": "random", "by_job": "by job", "by_group": "by group", "by_time": "by time"}
SPLIT_WORDS = {
    "random": "runs drawn at random (other runs of the same job may be in the training data)",
    "by_job": "jobs not in the training data",
    "by_group": "groups not in the training data",
    "by_time": "jobs that are submitted after all training jobs have ended",
}
SCORE_WORDS = {
    "accuracy": "Accuracy",
    "macro_f1": "Macro F1",
    "weighted_f1": "Weighted F1",
    "abstained_share": "Abstained",
}
NAME = Column("split", "name", "Split", said=lambda one: SPLIT_NAMES.get(one.name, one.name))
ACCURACY = Column("accuracy", "scores.accuracy", "Accuracy", unit="share")
MACRO = Column("macro_f1", "scores.macro_f1", "Macro F1", "%.3f")
FURTHER = ("profile_accuracy", "answered_accuracy", "forced_accuracy", "forced_macro_f1")
SPLITS = (
    NAME,
    Column("among", "", "Profiles found among", optional=True),
    ACCURACY,
    MACRO,
    Column("weighted_f1", "scores.weighted_f1", "Weighted F1", "%.3f"),
    Column("abstained_share", "scores.abstained_share", "Abstained", unit="share"),
    *(Column(name, f"scores.{name}", aside=True) for name in FURTHER),
    Column("mean_probability", "scores.reliability.mean_stated", "Stated probability", "%.3f"),
    Column("correct_share", "scores.reliability.mean_observed", "Correct", unit="share"),
    Column("calibration_error", "scores.reliability.error", "Calibration error", "%.3f"),
    Column("n_train", "scores.n_train", aside=True),
    Column("n_test", "scores.n_test", "Test runs", "%,.0f"),
    Column("train_seconds", "scores.train_seconds", aside=True),
    Column("definitions", aside=True),
)


def split_table(result: ClassifierEvaluation) -> Table:
    """One line per split with every score; where profiles were found among the training runs, beside those of all."""
    mode = "as published" if result.settings.mode == "faithful" else "default"
    of_both = [(name, "training runs", scores) for name, scores in result.splits.items()] if result.beside else []
    among = "all runs" if of_both else ""
    of_all = [(name, among, scores) for name, scores in (result.beside or result.splits).items()]
    return Table("scores", "Splits", SPLITS, [_Split(*one, mode) for one in (*of_both, *of_all)])


def profile_word(profile: int) -> str:
    """'P3'; 'none' where it is none."""
    return "none" if profile == NO_PROFILE else f"P{profile}"


PROFILE = Column("profile", lambda one: profile_word(one.profile), "Profile")


def class_table(scores: SplitScores, naming: Naming | None = None) -> Table:
    """One line per class of a split in the order of the record: the worst first; names where there are some."""
    mode = "as published" if naming and naming.mode == "faithful" else "default"
    columns = (
        Column("profile", aside=True) if naming else PROFILE,
        *((Column("name", lambda one: naming.name(one.profile), "Profile"),) if naming else ()),
        Column("precision", "", "Precision", "%.3f"),
        Column("recall", "", "Recall", "%.3f"),
        Column("f1", "", "F1", "%.3f"),
        Column("support", "", "Test runs", "%,.0f"),
        *(
            (Column("split", lambda _: scores.split, aside=True), Column("definitions", lambda _: mode, aside=True))
            if naming
            else ()
        ),
    )
    return Table("classes", "Profiles, lowest F1 first", columns, scores.classes)


def classifier_answer(result: ClassifierEvaluation) -> Answer:
    """How often the profile is predicted correctly, by split; and which profiles are not."""
    classes: Sequence[ClassScore] = result.classes
    table = class_table(result.splits[result.shown])
    return Answer(
        leak_sentence(result),
        tables=(
            split_table(result),
            replace(table, title=f"{table.title} ({result.shown})", rows=classes),
        ),
        notes=tuple(result.notes),
        document={
            "splits": {name: _split(scores) for name, scores in result.splits.items()},
            "cluster_on": result.settings.cluster_on,
            "clustered_on_all": {name: _split(scores) for name, scores in result.beside.items()} or None,
            "label_agreement": result.label_agreement or None,
            "not_made": result.not_made,
            "classes": [asdict(one) for one in classes],
            "shown": result.shown,
            "fields": list(result.fields),
            "mode": result.settings.mode,
            "train_seconds": result.train_seconds,
            "seconds": result.seconds,
        },
    )


def _split(scores: SplitScores) -> dict[str, Any]:
    return {
        **{key: getattr(scores, key) for key in SCORES},
        **_calibration(scores.reliability),
        "new_users": {"n_test": int(scores.new_users.rows.sum()), **_calibration(scores.new_users)},
    }


def _calibration(held: Reliability) -> dict[str, float | None]:
    result = {
        "mean_probability": held.mean_stated,
        "correct_share": held.mean_observed,
        "calibration_error": held.error,
    }
    return {key: None if math.isnan(value) else value for key, value in result.items()}


def strict_split(result: ClassifierEvaluation) -> str:
    """The split that is closest to new work: by group, else by job, else the first that could be made."""
    return next((name for name in ("by_group", "by_job") if name in result.splits), next(iter(result.splits)))


def leak_sentence(result: ClassifierEvaluation) -> str:
    """How often the profile is predicted correctly for new work, and how far a random split overstates it."""
    strict = strict_split(result)
    honest, leaky = result.splits[strict], result.splits.get("random")
    new = {"by_group": " of new groups", "by_job": " of new jobs", "by_time": " of later jobs"}.get(strict, "")
    none = f"; {format_share(honest.abstained_share, 0)} get no profile" if honest.abstained_share >= SMALL_LEAK else ""
    words = (
        f"The profile is predicted correctly for {format_share(honest.accuracy, 0)} of the runs{new} "
        f"(macro F1 {honest.macro_f1:.2f}{none})"
    )
    if leaky is None or strict == "random":
        return f"{words}.{_later(result, honest.accuracy)}"
    shares = format_share(leaky.accuracy, 0), f"macro F1 {leaky.macro_f1:.2f}"
    lost = leaky.accuracy - honest.accuracy
    if not math.isfinite(lost) or lost < SMALL_LEAK:
        gives = "less" if lost <= -SMALL_LEAK else "about the same"
        return f"{words}. A random split gives {gives} ({shares[0]}).{_later(result, honest.accuracy)}"
    return f"{words}. A random split overstates this: {shares[0]} ({shares[1]}).{_later(result, honest.accuracy)}"


def _later(result: ClassifierEvaluation, accuracy: float) -> str:
    """That later jobs are harder, where they are."""
    later = result.splits.get("by_time")
    if later is None or not accuracy - later.accuracy >= SMALL_LEAK:
        return ""
    return f" Of later jobs {format_share(later.accuracy, 0)} are predicted right."


@dataclass(frozen=True)
class _Effect:
    """The mean absolute SHAP value of a field or of a value, for every class."""

    name: str
    by_profile: dict[str, float]

    @property
    def total(self) -> float:
        """Over the classes."""
        return float(np.sum(list(self.by_profile.values())))

    @property
    def most(self) -> str:
        """The profiles for which it does most."""
        most = sorted(self.by_profile.items(), key=lambda item: -item[1])[:SHOWN_PROFILES]
        return ", ".join(f"{profile_word(int(profile))} ({value:.3f})" for profile, value in most)


def _effects(key: str) -> tuple[Column, ...]:
    return (
        Column(key, "name", key.capitalize()),
        Column("mean_abs_shap", "total", "Mean |SHAP| (log-odds)", "%.4f"),
        Column("by_profile", shown=False),
        Column("most", heading="Most for"),
    )


def explanation_answer(result: GlobalExplanation) -> Answer:
    """Which fields and values decide the profile."""
    classes = [str(int(one)) for one in result.classes]

    def effects(names: Sequence[str], means: Any) -> list[_Effect]:
        rows = zip(names, means, strict=True)
        return [_Effect(name, dict(zip(classes, map(float, row), strict=True))) for name, row in rows]

    fields = effects(result.fields, result.by_field)
    missed = f"SHAP values miss the output by up to {result.additivity_error:.2g}"
    return Answer(
        fields_sentence(result.fields, result.by_field.sum(axis=1)),
        tables=(
            Table("fields", "Fields", _effects("field"), fields),
            Table("values", "Values", _effects("value"), effects(result.values, result.by_value)),
        ),
        notes=() if result.additive else (missed,),
        document={
            name: getattr(result, name) for name in ("n_sampled", "n_rows", "seed", "additivity_error", "seconds")
        },
    )


LEAST_EFFECT = 0.005
"""Of all effects; a smaller share reads 0 %."""


def fields_sentence(lines: Sequence[str], totals: Any) -> str:
    """The three fields that decide most, without those that hardly do."""
    if not len(totals) or not totals.sum():
        return "No field changes the odds."
    share = totals / totals.sum()
    counts = [(line, part) for line, part in zip(lines[:3], share[:3], strict=True) if part >= LEAST_EFFECT]
    first = listed([f"{line} ({format_share(part, 0)})" for line, part in counts])
    return f"Most of the effect on the odds is from {first}."


WEAK_F1 = 0.5
"""Below it a profile is named in the sentence: it is missed or mistaken more often than not."""
MOST_NAMED = 5
PAPER = "The paper's Table V (random split, other data): accuracy 95.19 %, macro F1 0.90, one profile with F1 0."
GOOD_ERROR = 0.05


def splits_note(result: ClassifierEvaluation) -> str:
    """What is tested under each split, and which could not be made."""
    tested = " ".join(f"Split {SPLIT_NAMES[name]}: tested on {SPLIT_WORDS[name]}." for name in result.splits)
    missing = "".join(
        f" No split {SPLIT_NAMES[name]}: {reason.replace(name, SPLIT_NAMES[name])}."
        for name, reason in result.not_made.items()
    )
    counted_as = "" if result.settings.mode == "faithful" else " 'No profile' is right only for runs that have none."
    return f"{tested}{counted_as}{missing}"


def tested_words(scores: SplitScores) -> str:
    """'Test runs: jobs not in the training data, 120 of them'."""
    return f"Test runs: {SPLIT_WORDS[scores.split]}, {scores.n_test:,} of them"


def classes_sentence(scores: SplitScores, naming: Naming) -> str:
    """Which profiles are not recognised under a split."""
    profiles = [one for one in scores.classes if one.profile != NO_PROFILE]
    if not profiles:
        return "No profile occurs among the test runs."
    weak = [one for one in profiles if one.f1 < WEAK_F1]
    if not weak:
        worst = profiles[0]
        return f"Every profile is recognised: the worst, {naming.name(worst.profile)}, has F1 {worst.f1:.2f}."
    named = ", ".join(f"{naming.name(one.profile)} ({one.f1:.2f})" for one in weak[:MOST_NAMED])
    more = f" and {len(weak) - MOST_NAMED} more" if len(weak) > MOST_NAMED else ""
    return (
        f"{len(weak)} of {len(profiles)} profiles have F1 below {WEAK_F1}: {named}{more}; the weighted F1 of "
        f"{scores.weighted_f1:.2f} does not show this."
    )


def _of_class(name: str, meaning: str) -> Column:
    def said(one: ClassScore) -> str:
        value = getattr(one, name)
        return f"{value:.2f}" if name == "f1" else format_share(value, 0)

    return Column(name, "", name.capitalize(), help=meaning, said=said)


def profile_reliability(result: ClassifierEvaluation, profile: int, naming: Naming) -> tuple[str, tuple[Figure, ...]]:
    """How reliable the prediction of one profile is for new work: a sentence, and its three scores."""
    split = strict_split(result)
    on = {"by_group": "new groups", "by_job": "new jobs", "by_time": "later jobs", "random": "a random split"}[split]
    one = next((one for one in result.splits[split].classes if one.profile == profile), None)
    name = naming.name(profile)
    if one is None:
        return f"{name} has no validation run on {on}.", ()
    runs = counted(one.support, "run")
    if profile == NO_PROFILE:
        share = format_share(result.splits[split].abstained_share, 0)
        words = f"On {on}, {share} of the runs get no profile; {format_share(one.precision, 0)} of these are outliers."
    elif not one.recall:
        words = f"Do not rely on this: {name} was never recognised on {on} ({runs}, recall 0)."
    elif one.f1 < WEAK_F1:
        words = f"Low reliability: on {on}, {name} has F1 {one.f1:.2f} ({runs})."
    else:
        words = f"Validated on {on} with {runs} of {name}."
    about = {
        "precision": f"Share of the runs predicted as {name} that were it.",
        "recall": f"Share of the runs of {name} that were predicted as it.",
        "f1": "Harmonic mean of precision and recall.",
    }
    return words, tuple(Figure(_of_class(*each), one) for each in about.items())


def missed_table(result: ClassifierEvaluation, naming: Naming) -> Table:
    """One line per profile whose recall is 0 in some split: its runs, and its recall in every split; none = no run."""
    lines = {
        split: {one.profile: one for one in scores.classes if one.support and one.profile != NO_PROFILE}
        for split, scores in result.splits.items()
    }
    missed = {profile for split in lines.values() for profile, one in split.items() if not one.recall}
    runs = {profile: max(split[profile].support for split in lines.values() if profile in split) for profile in missed}

    def recall(split: str) -> Column:
        value = lambda one: lines[split][one].recall if one in lines[split] else math.nan  # noqa: E731
        return Column(f"recall_{split}", value, f"Recall {SPLIT_NAMES[split]}", unit="share")

    columns = (
        Column("profile", naming.name, "Profile"),
        Column("runs", lambda one: runs[one], "Runs", "%,.0f"),
        *map(recall, lines),
    )
    rows = sorted(missed, key=lambda one: (-runs[one], one))
    title = f"{counted(len(rows), 'profile')} with recall 0 in some split"
    return Table("recall-0", title, columns, rows)


@dataclass(frozen=True)
class _Held:
    """How the stated probabilities held on some runs."""

    name: str
    runs: str
    held: Reliability


CALIBRATION = (
    NAME,
    Column("runs", heading="Runs"),
    Column("n_test", lambda one: int(one.held.rows.sum()), "Test runs", "%,.0f"),
    Column("mean_probability", "held.mean_stated", "Stated probability", "%.3f"),
    Column("correct_share", "held.mean_observed", "Correct", unit="share"),
    Column("calibration_error", "held.error", "Calibration error", "%.3f"),
)
CALIBRATION_NOTE = (
    "Mean probability of the most likely class, share of the runs in which it is right, and expected calibration "
    "error. New users: training knew neither user nor group."
)


def calibration_table(result: ClassifierEvaluation) -> Table:
    """Stated probability, share correct and calibration error by split, and of the new users apart."""
    held = [
        _Held(name, runs, own)
        for name, scores in result.splits.items()
        for runs, own in (("all", scores.reliability), ("new users", scores.new_users))
    ]
    return Table("calibration", "Calibration", CALIBRATION, [one for one in held if one.held.rows.any()])


@dataclass(frozen=True)
class _Beside:
    """The scores of a split with the profiles of the training runs and with those of all runs."""

    name: str
    scores: SplitScores
    of_all: SplitScores
    agreement: float


LABELS = (
    NAME,
    ACCURACY,
    Column("accuracy_all_runs", "of_all.accuracy", "Accuracy, profiles of all runs", unit="share"),
    MACRO,
    Column("macro_f1_all_runs", "of_all.macro_f1", "Macro F1, profiles of all runs", "%.3f"),
    Column("agreement", "", "Agreement", "%.3f", "Adjusted Rand index of both on the test runs."),
)


def labels_table(result: ClassifierEvaluation) -> Table:
    """Accuracy and macro F1 by split with the profiles of the training runs and of all runs."""
    rows = [
        _Beside(name, result.splits[name], of_all, result.label_agreement[name])
        for name, of_all in result.beside.items()
    ]
    return Table("labels", "Profiles of the training runs and of all runs", LABELS, rows)


def cell_words(actual: str, predicted: str, runs: int, share: float) -> str:
    """What is said of a cell of the confusion matrix."""
    return f"actual {actual}, predicted {predicted}: {counted(runs, 'run')}, {format_share(share)} of the actual ones"


def confusion_sentence(confusion: Confusion, naming: Naming) -> str:
    """The most frequent error."""
    wrong = confusion.counts.copy()
    np.fill_diagonal(wrong, 0)
    if not wrong.any():
        return "Every run is predicted correctly."
    i, j = np.unravel_index(int(wrong.argmax()), wrong.shape)
    actual, predicted = (int(confusion.classes[place]) for place in (i, j))
    share = format_share(float(wrong[i, j] / confusion.counts[i].sum()), 0)
    return (
        f"Most frequent error: actual {'unclustered' if actual == NO_PROFILE else naming.name(actual)}, predicted "
        f"{'none' if predicted == NO_PROFILE else naming.name(predicted)}, {counted(int(wrong[i, j]), 'run')} "
        f"({share} of them)."
    )


def confusion_note(scores: SplitScores, n_hidden: int) -> str:
    """What the confusion matrix shows."""
    rest = f" The table also has {counted(n_hidden, 'class row')} with fewer errors." if n_hidden else ""
    return (
        f"{tested_words(scores)}. Blue: errors, as a share of the actual class; grey: correct. Predicted 'No profile' "
        f"is an abstention.{rest}"
    )


def calibration_sentence(scores: SplitScores) -> str:
    """Whether the stated probabilities hold."""
    held = scores.reliability
    if not np.isfinite(held.error):
        return "There are no test runs to compare probabilities with."
    filled = held.rows > 0
    gap = float(np.average(held.stated[filled] - held.observed[filled], weights=held.rows[filled]))
    if held.error <= GOOD_ERROR:
        return f"Probabilities are well calibrated: expected calibration error {held.error:.2f}."
    side = "overconfident" if gap > 0 else "underconfident"
    return f"Probabilities are {side} here: expected calibration error {held.error:.2f}."


def calibration_note(scores: SplitScores) -> str:
    """What the dots of the calibration are."""
    return (
        f"Of the most likely class, 'no profile' included; {tested_words(scores).replace('Test', 'test', 1)}. Larger "
        "dots have more runs; the dotted line is perfect calibration."
    )


def sample_words(result: GlobalExplanation) -> str:
    """What the means rest on, and whether they add up."""
    adds_up = sum_words(result.additivity_error, passed=result.additive)
    return f"Random sample of {result.n_sampled:,} of {counted(result.n_rows, 'run')}, seed {result.seed}. {adds_up}"


def value_sentence(result: GlobalExplanation) -> str:
    """The single value that matters most."""
    values, totals = result.values, result.by_value.sum(axis=1)
    if not values:
        return "There are no values."
    return f"Most important single value: {values[0]} (mean |SHAP| {totals[0]:.2f})."


def of_words(naming: Naming, profile: int | None) -> str:
    """Whose score SHAP values are of."""
    return "for the most likely class of each run" if profile is None else f"for {naming.name(profile)}"


def own_class_sentence(result: GlobalExplanation, naming: Naming, profile: int | None = None) -> str:
    """The field that matters most for a run's own class, or for one profile."""
    spread = np.abs(result.effects_on(profile)).mean(axis=0)
    whose = "a run's own class" if profile is None else naming.name(profile)
    if not len(spread) or not spread.max():
        return f"No field changes the odds of {whose}."
    most = int(spread.argmax())
    field = begun(label(result.fields[most]))
    return f"{field} matters most for {whose}: it changes the odds {fold(float(spread[most]))} on average."


def class_fields_sentence(lines: Sequence[str], means: Any, naming: Naming, profile: int | None) -> str:
    """The fields that decide most on one profile, the strongest first."""
    whose = "a run's own class" if profile is None else naming.name(profile)
    if not len(means) or not means.sum():
        return f"No field changes the odds of {whose}."
    return f"{begun(listed(lines[:2]))} decide most on {whose}."


def dependence_sentence(field: str, shown: Any, effects: Any) -> str:
    """At which value a field contributes most on average."""
    if not len(effects):
        return "There are no runs."
    names, places = np.unique(shown, return_inverse=True)
    means = np.bincount(places, weights=effects) / np.bincount(places)
    most = int(np.abs(means).argmax())
    verb, what = "raises" if means[most] >= 0 else "lowers", f"{begun(label(field))} {shortened(names[most], 40)}"
    return f"{what} moves the odds most: it {verb} them {fold(float(means[most]))}."


def interactions_sentence(result: GlobalExplanation) -> str:
    """The pair of fields that act together most."""
    pairs = np.tril(result.interactions, -1)
    if not pairs.any():
        return "No two fields act together."
    first, second = np.unravel_index(int(pairs.argmax()), pairs.shape)
    names = listed([label(result.fields[second]), label(result.fields[first])])
    each = fold(2 * float(pairs.max()) / len(result.classes))
    return f"{begun(names)} act together most: they change the odds of a profile {each} on average."


def interactions_note(result: GlobalExplanation) -> str:
    """What the interactions rest on."""
    rows = counted(result.n_interactions, "run")
    return f"Mean |SHAP interaction|, summed over the profiles, of {rows} (shap.TreeExplainer)."


def class_words(one: ClassScore, name: str) -> str:
    """Before the marks of a class."""
    return f"{name} · {counted(one.support, 'run')}"
