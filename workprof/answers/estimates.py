"""What is said of predictors: how far they are off, whether the interval holds, which gives the best guess and why."""

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from workprof.core.answer import Answer, Figure, Table
from workprof.core.table import Column, printed
from workprof.core.units import format_share
from workprof.core.words import counted, formatted, label as target_words, listed
from workprof.forecasts.choice import BESIDE, CLEARLY, CONSTANT, SIMPLE
from workprof.forecasts.errors import SAME, PredictorErrors, PublishedErrors, published_errors
from workprof.forecasts.estimate_evaluation import FEWEST_IN_GROUP, FLAWS, EstimateEvaluation, ProfileErrors
from workprof.forecasts.splits import SPLITS_SHOWN


@dataclass(frozen=True)
class Predictor:
    """A predictor in words."""

    label: str
    meaning: str
    baseline: bool = False


PREDICTORS = {
    "chosen": Predictor("workprof", "what validation runs inside the training part chose"),
    "combined": Predictor("combination", "history within bounds around the trees, the mean of 20 rules"),
    "recent": Predictor("recent history", "past runs of the same group and task, the newest first"),
    "forest": Predictor("forest", "a quantile forest on metadata, plan and history"),
    "boosted": Predictor("boosted", "boosted trees on metadata, plan and history"),
    "boosted_slow": Predictor("slow boosting", "boosted trees in small steps on metadata and plan"),
    "global_mean": Predictor("mean of all runs", "one value for every run", baseline=True),
    "global_median": Predictor("median of all runs", "one value for every run", baseline=True),
    "user_median": Predictor("median per user", "of the user's past runs", baseline=True),
    "backoff_medians": Predictor(
        "back-off medians",
        "the first of group, user and workload with a past; between two middle values their geometric mean",
        baseline=True,
    ),
    "boosted_plain": Predictor("plain boosting", "XGBoost with its defaults on metadata and plan", baseline=True),
    "profile_mean": Predictor("profile mean (published)", "mean of the predicted profile", baseline=True),
    "profile_median": Predictor("profile median", "median of the predicted profile", baseline=True),
    "profile_q05": Predictor("profile 5th percentile", "under-predicts by design", baseline=True),
    "profile_iqr": Predictor("profile quartile width", "a width, published as if it were a level", baseline=True),
    "profile_skew_adaptive": Predictor("profile by skewness", "median or 5th percentile", baseline=True),
}


def label(name: str) -> str:
    """What a predictor is called."""
    if BESIDE in name:
        return f"halfway between {' and '.join(label(one) for one in name.split(BESIDE))}"
    return PREDICTORS[name].label if name in PREDICTORS else name.replace("_", " ")


def choice_words(result: EstimateEvaluation) -> str:
    """Which predictors the folds chose and why; empty as published, where nothing is chosen."""
    if not result.chosen:
        return ""
    folds = sum(result.chosen.values())
    counts = [label(name) + (f" ({n} of {folds} folds)" if folds > 1 else "") for name, n in result.chosen.items()]
    over, name = result.over_best, next(iter(result.chosen))
    plain = (*SIMPLE, CONSTANT)
    is_simple = name in plain
    rival = next((other for other in over if (other in plain) != is_simple), name)
    kept = " Nothing that learns beats this simple rule." if is_simple and over[name] <= over[rival] else ""
    if BESIDE in name:
        first, simple = (label(one) for one in name.split(BESIDE))
        kept = f" Of both, {first} is better than {simple} by less than {CLEARLY:g} standard errors."
    return (
        f"Chosen on validation runs inside the training part: {listed(counts)}.{kept} "
        f"Its errors average {over[name]:.2f} times those of the best single predictor; {label(rival)}: "
        f"{over[rival]:.2f} times."
    )


def best_guess_words(predictors: Mapping[str, str], bounded: Mapping[str, bool]) -> str:
    """What gives the best guess of each target, as validation runs chose, and between which bounds; empty without any.

    `bounded`: target -> whether its guess is kept between its p10 and p90.
    """
    targets: dict[str, list[str]] = {}
    for target, name in predictors.items():
        targets.setdefault(label(name), []).append(target_words(target))
    named = [f"{name} ({', '.join(of)})" for name, of in targets.items()]
    free = [target_words(target) for target, is_bounded in bounded.items() if not is_bounded]
    but = f" but for {listed(free)}: validation runs are clearly better predicted without" if free else ""
    return f"best guess by {listed(named)}, kept between p10 and p90{but}" if named else ""


def coverage_words(covers: Mapping[str, float], nominal: float) -> str:
    """By target the coverage that can be promised of one job; empty where it is what is asked."""
    named = [f"{format_share(one, 0)} ({target_words(target)})" for target, one in covers.items() if one < nominal]
    return (
        f"too few past jobs for {format_share(nominal, 0)}: the interval covers about {listed(named)}" if named else ""
    )


def is_baseline(name: str) -> bool:
    """Whether a predictor only serves for comparison."""
    return name in PREDICTORS and PREDICTORS[name].baseline


def shown(result: EstimateEvaluation, *, baselines: bool) -> tuple[str, ...]:
    """The predictors to show, the best last (it is drawn over the others); the best is never hidden."""
    others = (name for name in result.predictors if name != result.best)
    return (*(name for name in others if baselines or not is_baseline(name)), result.best)


def flag(result: EstimateEvaluation, name: str) -> str:
    """'best' for the predictor that validation chose, 'as published' for the one of faithful mode, else ''."""
    if name != result.best:
        return ""
    return "best" if result.settings.mode == "corrected" else "as published"


def factor(value: float) -> str:
    """'15.6×'."""
    return printed(value, FACTOR)


FACTOR = "%,.3g×"
MEANING = "|predicted − true| / true."
DOUBLE = "Predictions from half to double the true value."
INSIDE = "Test runs whose true value lies in their interval."


def _ratio(place: str, heading: str) -> Column:
    return Column(f"ratio_error_{place}", f"ratio_error.{place}", heading, unit="share", help=MEANING)


def _within(share: int) -> Column:
    return Column(f"share_within_{share}pct", "", f"Within {share} %", unit="share", help="Of the relative error.")


MEDIAN_ERROR = _ratio("p50", "Median relative error")
WITHIN_2X = Column("within_2x", "", "Within a factor 2", unit="share", help=DOUBLE)
ERRORS = (
    *map(_within, (5, 20, 100, 500)),
    MEDIAN_ERROR,
    _ratio("p80", "Relative error p80"),
    _ratio("p90", "Relative error p90"),
    Column("factor_error_p50", "factor_error.p50", "Median factor", FACTOR),
    Column("factor_error_p90", "factor_error.p90", "Factor p90", FACTOR),
    WITHIN_2X,
)
UNDER = Column("under_predicted_share", "", "Under-predicted", unit="share", help="Runs that need more than predicted.")
COVERAGE = Column("coverage", "", "Interval covers", unit="share", help=INSIDE)
WIDTH = Column("median_width_factor", "", "Interval width", FACTOR, "Upper / lower end, median.")


def predictor_table(result: EstimateEvaluation, *, baselines: bool = True) -> Table:
    """One line per predictor, the best first; shares 0-1, errors as ratios and factors, mae in the target's unit."""

    def called(one: PredictorErrors) -> str:
        flagged = flag(result, one.name)
        return f"{label(one.name)}{f' ★ {flagged}' if flagged else ''}"

    def meaning(one: PredictorErrors) -> str:
        flaw = FLAWS.get(one.name.removeprefix("profile_"), "") if result.settings.mode == "faithful" else ""
        return flaw or (PREDICTORS[one.name].meaning if one.name in PREDICTORS else "")

    columns = (
        Column("predictor", "name", aside=True),
        Column("label", called, "Predictor"),
        *ERRORS,
        Column("mae", "", "Mean absolute error", said=lambda one: formatted(result.settings.target, one.mae)),
        UNDER,
        Column("meaning", meaning, "Meaning"),
    )
    rows = [result.predictors[name] for name in reversed(shown(result, baselines=baselines))]
    return Table("predictors", "Predictors", columns, rows)


@dataclass(frozen=True)
class _Held:
    """How the interval held on some runs."""

    tested_on: str
    runs: str
    n_test: int
    coverage: float | None
    median_width_factor: float | None


HELD = (
    Column("tested_on", "", "Tested on"),
    Column("runs", heading="Runs"),
    Column("n_test", "", "Test runs", "%,.0f"),
    COVERAGE,
    WIDTH,
)


MOST_GROUPS = 5
"""In the table, those whose coverage is farthest from nominal; all are in the JSON document."""


def interval_table(by_split: Mapping[str, EstimateEvaluation]) -> Table:
    """How the interval holds under each split that was evaluated: for all runs, new users, and large groups."""
    rows = []
    for split, result in by_split.items():
        if (held := result.interval) is not None:
            parts = (
                ("all", result.n_test, held.coverage, held.median_width_factor),
                ("new users", held.n_new_users, held.new_users_coverage, held.new_users_width_factor),
                ("all, interval as trained", result.n_test, held.fixed_coverage, held.fixed_width_factor),
            )
            rows += [_Held(SPLITS_SHOWN[split], *part) for part in parts if None not in part]
            rows += [
                _Held(
                    SPLITS_SHOWN[split], f"{one.field} {one.value}", one.n_rows, one.coverage, one.median_width_factor
                )
                for one in held.by_group[:MOST_GROUPS]
            ]
    return Table("intervals", "The interval by split", HELD, rows)


def estimate_answer(result: EstimateEvaluation, by_split: Mapping[str, EstimateEvaluation] | None = None) -> Answer:
    """How far every predictor is off, and how the interval holds, under other evaluated splits too."""
    splits = {result.settings.split: result} if by_split is None else by_split
    own = {} if by_split is None else {"interval_by_split": {name: _interval(one) for name, one in by_split.items()}}
    said = interval_sentence(result), choice_words(result)
    return Answer(
        error_sentence(result, ErrorView()),
        error_figures(result),
        (predictor_table(result), *((held,) if (held := interval_table(splits)).rows else ())),
        tuple(one for one in (*said, baseline_sentence(result), *result.notes, f"{tested_words(result)}.") if one),
        {
            "n_train": result.n_train,
            "n_test": result.n_test,
            "n_left_out": result.n_left_out,
            "predictors": {name: _errors(errors) for name, errors in result.predictors.items()},
            "differences": {name: asdict(one) for name, one in result.differences.items()},
            "interval": _interval(result),
            "best": result.best,
            "chosen": result.chosen,
            "over_best": result.over_best,
            "why": choice_words(result),
            "choices": list(result.choices),
            "by_profile": [
                {"profile": one.profile, "n": one.n_rows, "ratio_error_p50": one.quantiles[2]}
                | {"beyond_100pct_share": one.beyond_100pct_share}
                for one in result.by_profile
            ],
            "settings": asdict(result.settings),
            "notes": list(result.notes),
            "seconds": result.seconds,
            **own,
        },
    )


def _errors(errors: PredictorErrors) -> dict[str, Any]:
    return {name: value for name, value in asdict(errors).items() if name not in ("name", "curve")}


def _interval(result: EstimateEvaluation) -> dict[str, Any] | None:
    return asdict(result.interval) if result.interval else None


def so_far_words(result: EstimateEvaluation) -> str:
    """What is known before the end, of which predictor and how many runs."""
    return f"So far, {label(result.best)}, {counted(result.n_test, 'test run')}: {error_sentence(result, ErrorView())}"


def tested_words(result: EstimateEvaluation) -> str:
    """What was tested."""
    split = result.settings.split.replace("_", " ")
    return f"{counted(result.n_test, 'test run')}, about {result.n_train:,} training runs per fold, split {split}"


def error_figures(result: EstimateEvaluation) -> tuple[Figure, ...]:
    """The best predictor's errors and the interval."""
    best, held = result.predictors[result.best], result.interval
    errors = Figure(MEDIAN_ERROR, best), Figure(WITHIN_2X, best)
    if held is None:
        return errors
    nominal, alone = format_share(held.nominal, 0), factor(held.global_width_factor)
    return (*errors, Figure(COVERAGE, held, f"nominal {nominal}"), Figure(WIDTH, held, f"without a model {alone}"))


GROUP_WITHIN = 0.05
"""Of the nominal coverage: a group's own is called close."""


def interval_sentence(result: EstimateEvaluation) -> str:
    """How the interval held, or that these definitions have none; '' where none is tested so far."""
    held = result.interval
    if held is None:
        return "The published estimators give no interval." if result.settings.mode == "faithful" else ""
    words = (
        f"The {format_share(held.nominal, 0)} interval covers {COVERAGE.text(held)} of the test runs. It spans "
        f"{WIDTH.text(held)} (upper / lower end, median), without a model {factor(held.global_width_factor)}."
    )
    if held.fixed_coverage is not None and held.fixed_width_factor is not None:
        words += (
            f" Without following the runs that ended it covers {format_share(held.fixed_coverage)} and spans "
            f"{factor(held.fixed_width_factor)}."
        )
    if held.by_group:
        close = sum(abs(one.coverage - held.nominal) <= GROUP_WITHIN for one in held.by_group)
        words += (
            f" Of {counted(len(held.by_group), 'group')} with {FEWEST_IN_GROUP} or more test runs {close} are covered "
            f"within {format_share(GROUP_WITHIN, 0)} of that."
        )
    if held.new_users_coverage is None or held.new_users_width_factor is None:
        return words
    return (
        f"{words} For the {held.n_new_users:,} runs of users that training did not see it covers "
        f"{format_share(held.new_users_coverage)} and spans {factor(held.new_users_width_factor)}."
    )


def baseline_sentence(result: EstimateEvaluation) -> str:
    """Where a baseline's errors are smaller than the best's by more than the bootstrap error; '' without one."""
    baselines = {name: one for name, one in result.differences.items() if is_baseline(name)}
    if result.settings.mode == "faithful" or not baselines:
        return ""
    worse = [
        f"{label(name)} at p{share} (by {_number(difference)}, {_number(low)} to {_number(high)})"
        for name, one in baselines.items()
        for share, difference, low, high in zip((50, 80, 90), one.difference, one.low, one.high, strict=True)
        if low > SAME
    ]
    if worse:
        return f"Baselines with a smaller relative error (less by, 95 % interval): {', '.join(worse)}."
    return "No baseline has a smaller relative error at p50, p80 or p90 beyond the bootstrap error (95 %, by job)."


def _number(value: float) -> str:
    return printed(float(value), "%,.3g")


@dataclass(frozen=True)
class Measure:
    """An error measure: its name, its axis title, its row of `PredictorErrors.curve`, and where its axis begins."""

    label: str
    title: str
    row: int
    scale: float
    least: float
    suffix: str = ""


_RELATIVE = "Relative error |predicted − true| / true"
MEASURES = {
    "ratio": Measure("Relative error", f"{_RELATIVE} (1 = 100 %), logarithmic", 1, 1.0, 0.01),
    "percent": Measure("Relative error (%)", f"{_RELATIVE} (%), logarithmic", 1, 100.0, 1.0, " %"),
    "factor": Measure("Factor", "Factor between predicted and true (1 = exact), logarithmic", 2, 1.0, 1.0, "×"),
    "signed": Measure(
        "Signed error (%)", "Signed error (predicted − true) / true (%), logarithmic", 0, 100.0, 0.01, " %"
    ),
}
"""ratio: what the paper computes and reads as per cent."""
MOSTLY = 0.75
"""A predictor that under-predicts more often cannot be far off in ratio: an error of 1 is its worst."""


@dataclass(frozen=True)
class ErrorView:
    """What a reader sees of the errors: measure, percentile cursor (per cent), baselines, published lines."""

    measure: str = "ratio"
    percentile: float = 80.0
    baselines: bool = True
    published: bool = True


def error_at(result: EstimateEvaluation, name: str, measure: str, share: float) -> float:
    """The error that a share of the tested runs does not exceed, in the measure's unit."""
    kind = MEASURES[measure]
    curve = result.predictors[name].curve[kind.row] * kind.scale
    at = min(int(np.ceil(share * (len(curve) - 1) - 1e-9)), len(curve) - 1)
    return float(curve[at])


def best_baseline(result: EstimateEvaluation, view: ErrorView) -> str:
    """The baseline with the smallest error at the cursor; '' = there is none."""
    rivals = [name for name in result.predictors if is_baseline(name) and name != result.best]
    return min(rivals, key=lambda name: error_at(result, name, view.measure, view.percentile / 100), default="")


def published_lines(result: EstimateEvaluation, view: ErrorView) -> tuple[PublishedErrors, ...]:
    """The published errors that a measure can be compared with."""
    comparable = view.measure in ("ratio", "percent")
    return published_errors(result.settings.target) if view.published and comparable else ()


def published_words(line: PublishedErrors) -> str:
    """What a published line is called."""
    return f"published, {counted(line.n_rows, 'job')} ({line.unit})"


def error_sentence(result: EstimateEvaluation, view: ErrorView) -> str:
    """What the cursor reads for the best predictor, and for the best of the baselines."""
    share, rival = view.percentile / 100, best_baseline(result, view)
    own, of = error_at(result, result.best, view.measure, share), f"{view.percentile:g} % of predictions"
    true = f"true {target_words(result.settings.target)}"
    if view.measure == "signed":
        amount, side = _amount(abs(own), "percent"), "above" if own >= 0 else "below"
        return (
            f"{of} are at most {amount} {side} the {true}; {UNDER.text(result.predictors[result.best])} are below it."
        )
    miss = "are within a factor of" if view.measure == "factor" else "miss by at most"
    words = f"{of} {miss} {_amount(own, view.measure)} of the {true}"
    if not rival:
        return f"{words}."
    worst = result.predictors[rival]
    too_low = f", which under-predicts {UNDER.text(worst)}" if worst.under_predicted_share > MOSTLY else ""
    amount = _amount(error_at(result, rival, view.measure, share), view.measure)
    return f"{words} (best baseline, {label(rival)}: {amount}{too_low})."


def _amount(error: float, measure: str) -> str:
    """An error in words: '94 %', '3.1'."""
    if measure == "factor" or not math.isfinite(error):
        return _number(error)
    return format_share(error / 100 if measure == "percent" else error, 0)


def error_note(result: EstimateEvaluation, view: ErrorView) -> str:
    """What was tested, and what the published lines are of."""
    references = "".join(f" Reference: {line.words}." for line in published_lines(result, view))
    return f"{tested_words(result)}.{references}"


NOTABLE_SHARE = 0.1
"""Of a profile's runs off by more than 100 %: one in ten, the tail beyond the usual p90."""
OFTEN = format_share(NOTABLE_SHARE, 0)
BOXES_NOTE = (
    "Boxes: quartiles of the relative error; whiskers: its 5th and 95th percentile. Orange: more than "
    f"{OFTEN} of the profile's runs are off by more than 100 %. Errors below 0.001 stand at the left end. "
    "The published figure writes these ratios as per cent."
)


def beyond_words(one: ProfileErrors) -> str:
    """'55 % beyond'."""
    return f"{format_share(one.beyond_100pct_share, 0)} beyond"


def box_words(one: ProfileErrors, name: str) -> str:
    """What stands at the box of a profile."""
    median, beyond = _number(one.quantiles[2]), format_share(one.beyond_100pct_share)
    return f"{name}: {counted(one.n_rows, 'run')}, median {median}, {beyond} beyond 100 %"


def profiles_sentence(result: EstimateEvaluation, named: Callable[[ProfileErrors], str]) -> str:
    """In which profiles the best predictor is often far off."""
    often = sorted((one for one in result.by_profile if one.beyond_100pct_share > NOTABLE_SHARE), key=_beyond)
    best = label(result.best)
    if not often:
        return f"In every profile {best} is off by more than 100 % for at most {OFTEN} of the runs."
    worst = ", ".join(f"{named(one)} ({format_share(one.beyond_100pct_share, 0)})" for one in often[:3])
    others = f" and {len(often) - 3} more" if len(often) > 3 else ""
    of_all = f"{len(often)} of {counted(len(result.by_profile), 'profile')}"
    return (
        f"In {of_all}, over {OFTEN} of the runs are off by more than 100 %. "
        f"By {best}, they are most in {worst}{others}."
    )


def _beyond(one: ProfileErrors) -> float:
    return -one.beyond_100pct_share
