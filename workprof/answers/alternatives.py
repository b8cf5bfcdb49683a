"""What is said of other classifiers beside the boosted trees, and their rules as text."""

from dataclasses import dataclass

from workprof.answers.classifier import ACCURACY, MACRO, SPLIT_WORDS, profile_word
from workprof.answers.forecasts import Naming
from workprof.core.answer import Answer, Figure, Table
from workprof.core.table import Column
from workprof.core.units import format_bytes
from workprof.core.words import formatted, listed
from workprof.forecasts.alternatives import (
    BOOSTED,
    HIDDEN,
    IS,
    IS_NOT,
    NEAREST,
    NEIGHBOURS,
    NETWORK,
    RULES,
    TREE,
    Alternative,
    Alternatives,
    Condition,
    Rule,
)
from workprof.forecasts.encoder import INPUT_WORDS, PLAN_FIELDS
from workprof.profiles.metadata import NOT_GIVEN

METHOD_WORDS = {
    BOOSTED: "Boosted trees, in use",
    NEAREST: f"Nearest {NEIGHBOURS} runs",
    RULES: "Rules",
    TREE: "Decision tree",
    NETWORK: f"Neural network, {HIDDEN} units",
}
METHODS = (
    Column("method", lambda one: METHOD_WORDS[one.name], "Classifier"),
    Column(
        "macro_f1",
        "scores.forced_macro_f1",
        MACRO.heading,
        MACRO.form,
        "Mean F1 of the profiles, when every run gets one.",
    ),
    Column("macro_f1_by_fold", lambda one: [float(value) for value in one.by_fold], aside=True),
    Column("accuracy", "scores.forced_accuracy", ACCURACY.heading, unit="share", help="Of the runs with a profile."),
    Column("calibration_error", "scores.calibration_error", "Calibration error", "%.3f"),
    Column("size_bytes", "", "Size", said=lambda one: format_bytes(one.size_bytes), help="Of what it keeps."),
    Column("predict_1000_seconds", "predict_seconds", "1,000 runs", unit="s", help="Time to predict a thousand."),
    Column("train_seconds", "scores.train_seconds", "Training", unit="s"),
)


@dataclass(frozen=True)
class _Line:
    method: str
    rule: Rule
    naming: Naming


def _profile(one: _Line) -> str:
    return one.naming.name(one.rule.profile) if one.naming.names else profile_word(one.rule.profile)


LINES = (
    Column("method", lambda one: METHOD_WORDS[one.method], "Classifier"),
    Column(
        "rule",
        lambda one: [*map(condition_words, one.rule.conditions)],
        "If",
        width="large",
        said=lambda one: rule_words(one.rule),
    ),
    Column("profile", lambda one: one.rule.profile, aside=True),
    Column("profile_name", _profile, "Profile"),
    Column("training_runs", "rule.runs", "Training runs", unit="runs"),
    Column("profile_share", "rule.share", "In the profile", unit="share"),
)


def condition_words(condition: Condition) -> str:
    """'user is u1', 'requested memory at most 8.4 GB'."""
    name, kind, value = condition
    said = value if isinstance(value, str) else formatted(name, value)
    if kind in (IS, IS_NOT) and value == "":
        said = NOT_GIVEN
    text = f"{name} {kind} {said}"
    return text.replace(name, INPUT_WORDS.get(name, name), 1)


def rule_words(rule: Rule) -> str:
    """All conditions of a rule; 'any run' without one."""
    return "; ".join(map(condition_words, rule.conditions)) or "any run"


def ours_of(result: Alternatives) -> Alternative:
    """The boosted trees, which predict."""
    return next(one for one in result.methods if one.name == BOOSTED)


def alternatives_sentence(result: Alternatives) -> str:
    """Whether another classifier is better than the boosted trees, in macro F1 and in every fold."""
    ours = ours_of(result)
    best = max((one for one in result.methods if one.name != BOOSTED), key=lambda one: one.scores.forced_macro_f1)
    name = METHOD_WORDS[best.name].split(",")[0].lower()
    mine, other = (f"{one.scores.forced_macro_f1:.3f}" for one in (ours, best))
    if better_in_every_fold(best, ours):
        return f"Macro F1: {name} {other}, boosted trees {mine}; better in every fold."
    if mine == other:
        return f"Macro F1: {name} and boosted trees are equal at {mine}."
    if best.scores.forced_macro_f1 > ours.scores.forced_macro_f1:
        return f"Macro F1: {name} {other}, boosted trees {mine}; not better in every fold."
    return f"No other classifier is better: macro F1 {mine} for the boosted trees, {other} for {name}."


def better_in_every_fold(one: Alternative, other: Alternative) -> bool:
    """Whether its macro F1 is the higher one in each fold."""
    return bool((one.by_fold > other.by_fold).all())


def rules_table(result: Alternatives, naming: Naming | None = None) -> Table:
    """The lines of the rules in the order in which they are tried, then the leaves of the tree, most runs first."""
    named = naming or Naming()
    lines = [_Line(one.name, rule, named) for one in result.methods for rule in one.rules]
    return Table("rules", "As rules", LINES, sorted(lines, key=lambda one: one.method != RULES))


def alternatives_answer(result: Alternatives, naming: Naming | None = None) -> Answer:
    """Which kinds of classifiers predict the profile, how well, how large and how fast."""
    few = f"Other classifiers learned from at most {result.n_learned:,} runs of a fold, drawn at random."
    shared = result.n_learned >= min(one.scores.n_train for one in result.methods)
    words = listed([INPUT_WORDS[name] for name in PLAN_FIELDS])
    return Answer(
        alternatives_sentence(result),
        figures=(Figure(METHODS[1], ours_of(result), METHOD_WORDS[BOOSTED]),),
        tables=(Table("methods", "Classifiers", METHODS, result.methods), rules_table(result, naming)),
        notes=(
            f"Tested on {SPLIT_WORDS[result.settings.split]}; every run gets a profile.",
            "Of the rules the first that fits decides. A rule that says what a later one says is left out.",
            f"{words} are split at a bound; what is not given counts as below it.",
            *(() if shared else (few,)),
            *result.notes,
        ),
        document={
            "split": result.settings.split,
            **{name: getattr(result, name) for name in ("n_rows", "n_learned", "seconds")},
        },
    )
