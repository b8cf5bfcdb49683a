"""What is said of one job before it runs: its profile, why, and what it needs."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workprof.answers.decisions import amount_words
from workprof.answers.estimates import best_guess_words, coverage_words
from workprof.answers.verdict import why_found
from workprof.core.units import GB, format_share, odds_words
from workprof.core.words import counted, formatted, label, listed, plotly_text, title
from workprof.forecasts.estimates import Estimates, Happened
from workprof.forecasts.explain import JobExplanation
from workprof.forecasts.forecaster import OF_RUNS, Forecaster, Forecasts
from workprof.forecasts.held_out import HeldOut
from workprof.forecasts.one_job import JobForecast, Need
from workprof.forecasts.predictions import NO_PROFILE, Predictions
from workprof.memory.ledger_settings import MEMORY
from workprof.memory.verdict_sizes import Found
from workprof.profiles.metadata import NOT_GIVEN
from workprof.profiles.names import UNCLUSTERED, fitted, name_at

PUBLISHED = (
    "As published: one column per value, XGBoost's defaults, trained only on runs with a profile; it never abstains."
)


@dataclass(frozen=True)
class Naming:
    """The words of one classifier."""

    names: Mapping[int, str] = field(default_factory=dict)  # profile -> name; a profile without one is 'P7'
    mode: str = "corrected"  # 'corrected' or 'faithful'

    def name(self, profile: int) -> str:
        """What a class is called; -1 is 'No profile'."""
        return "No profile" if profile == NO_PROFILE else self.names.get(profile) or f"P{profile}"

    def shown(self, profile: int, longest: int = 28) -> str:
        """The same for a figure; what is cut off never is the number behind the name."""
        return plotly_text(fitted(self.name(profile), longest), longest)

    def note(self, text: str) -> str:
        """A chart's note, with the flag of the published definitions where they hold."""
        return f"{text} {PUBLISHED}" if self.mode == "faithful" else text


def training_notes(forecaster: Forecaster) -> list[str]:
    """Which quantities of the trace are not predicted and why, and whether intervals hold for runs instead of jobs."""
    notes = [
        f"{label(target)} is not predicted: {why}"
        for target, why in forecaster.left_out.items()
        if not why.startswith(f"the table has no column {target};")
    ]
    return [*notes, *(one for one in forecaster.classifier.notes if one == OF_RUNS)]


def prediction_sentence(predictions: Predictions, row: int, naming: Naming) -> str:
    """The predicted profile of one job, or why none is predicted, in one sentence."""
    best, probability = naming.name(int(predictions.best[row])), format_share(predictions.probability[row], 0)
    if not predictions.abstained[row]:
        return f"Predicted profile: {best}, probability {probability}."
    return f"No profile predicted: {predictions.reason_text(row)}. The most likely one would be {best} ({probability})."


def forecast_sentence(
    forecasts: Forecasts, naming: Naming, of: str, actual: Mapping[str, Happened], profile: int | None
) -> str:
    """What is predicted of one job, and what happened where it has run, in one sentence.

    The forecasts are a table of one row; `of` names the job, such as 'Held-out run 12'; `actual` is target -> what it
    really needed. The job's own profile is -1 = none, None = not known.
    """
    result = forecasts.profiles
    if result.abstained[0]:
        words = [f"no profile predicted ({result.reason_text(0)})"]
    else:
        words = [f"predicted {naming.name(int(result.profile[0]))} ({format_share(result.probability[0], 0)})"]
    shown = [name for name in (*MAIN_TARGETS, *forecasts.estimates) if name in forecasts.estimates][: len(MAIN_TARGETS)]
    for target in shown:
        one = forecasts.estimates[target]
        ends = "" if actual else f" ({formatted(target, float(one.low[0]))} to {formatted(target, float(one.high[0]))})"
        words.append(f"{formatted(target, float(one.point[0]))}{ends}")
    happened = [] if profile is None else [UNCLUSTERED if profile == NO_PROFILE else naming.name(profile)]
    happened += [happened_words(target, actual[target]) for target in shown if target in actual]
    if not actual and words[1:]:
        words = [f"{words[0]}. Expected: {words[1]}", *words[2:]]
    return f"{of}: {', '.join(words)}.{f' Actual: {listed(happened)}.' if happened else ''}"


def happened_words(target: str, happened: Happened) -> str:
    """What a run really needed of a target: 'at least 3.2 GiB'."""
    return f"{'at least ' if happened.at_least else ''}{formatted(target, happened.value)}"


MAIN_TARGETS = ("duration_s", "peak_memory_bytes")


def need_headline(forecasts: Forecasts, naming: Naming) -> str:
    """What one job will need and which profile it is, in one sentence; `forecasts` of a table of one row."""
    amounts = [
        formatted(target, float(forecasts.estimates[target].point[0]))
        for target in reversed(MAIN_TARGETS)
        if target in forecasts.estimates
    ]
    result = forecasts.profiles
    profile = "no profile predicted"
    if not result.abstained[0]:
        name, share = naming.name(int(result.profile[0])), format_share(float(result.probability[0]), 0)
        profile = f"profile {name} ({share})" if int(result.profile[0]) != NO_PROFILE else f"no profile ({share})"
    if not amounts:
        return f"This job: {profile}."
    return f"This job will need about {' and '.join(amounts)}: {profile}."


def request_sentence(found: Found, request_gb: float | None) -> str:
    """What to request for one job: its row of the plan, else its request."""
    if found.size is None:
        return f"No size is known: {found.note}."
    amount = amount_words(found.size, "GB")
    if found.row is None:
        return f"Request {amount}, as now: {found.note}."
    reason = why_found(found, MEMORY, "GB").removeprefix("kept: ").removeprefix("raise: ")
    if request_gb is not None and found.size == request_gb:
        return f"Keep the request of {amount}: {reason}."
    instead = "" if request_gb is None else f" in place of {amount_words(request_gb, 'GB')}"
    return f"Request {amount}{instead}: {reason}."


def hit_sentence(held: HeldOut, target: str) -> str:
    """How often the intervals of a quantity held the truth."""
    one = held.compared[target]
    known = int(sum(map(math.isfinite, one.actual.tolist())))
    nominal = format_share(held.settings.nominal, 0)
    return (
        f"{format_share(one.hit_rate, 0)} of {counted(known, 'held-out run')} lie inside their {nominal} interval of "
        f"{label(target)}."
    )


def example_words(held: HeldOut) -> str:
    """How usual the run is that stands as the example: one beyond its intervals is one only where all are."""
    at = int((held.row_ids == held.example).argmax())
    if all(one.inside[at] or not math.isfinite(one.actual[at]) for one in held.compared.values()):
        return "A typical held-out run: its needs lie inside their intervals; half of such runs are farther off."
    return "A held-out run: none with a predicted profile has all its needs inside their intervals."


def held_out_note(shown: int, known: int) -> str:
    """What the marks of held-out runs are."""
    return f"{shown} of {counted(known, 'run')} that training did not see. On the dashed line a prediction is exact."


def probability_note(threshold: float, naming: Naming) -> str:
    """What the probabilities are."""
    if naming.mode == "faithful":
        return "Probabilities are those of the trees, not calibrated."
    return f"Calibrated on held-out jobs. Dotted: below {format_share(threshold, 0)} no profile is predicted."


def additivity(result: JobExplanation) -> str:
    """Whether base and contributions add up to the log-odds."""
    return sum_words(result.additivity_error, passed=result.additive)


def sum_words(gap: float, *, passed: bool) -> str:
    """Whether the contributions of the fields add up to the log-odds that they explain."""
    if passed:
        return "The contributions add up to the odds."
    return f"The contributions do not add up to the odds (gap {gap:.2g}, at most 0.001)."


def reason_sentence(result: JobExplanation, naming: Naming) -> str:
    """The field that decides most for a class."""
    name = naming.name(result.profile)
    if not result.sentences:
        return f"No single field decides for or against {name} here."
    field, state = label(result.fields[0]), result.states[0]
    remark = f", {state} in training," if state in ("rare", "unseen") else ""
    what = f"The missing {field}" if state == NOT_GIVEN else f"This {field}{remark}"
    return f"{what} {odds_words(float(result.contributions[0]), name)}."


def forecast_document(result: JobForecast, called: Sequence[str]) -> dict[str, Any]:
    """The document of one job: memory in GB (1e9 bytes), duration in s, usage in per cent of a core or GPU.

    `called` are the names of the profiles by label, that of -1 last.
    """
    explained = result.explanation
    return {
        "profile": result.profile,
        "name": None if result.abstained else name_at(called, result.profile),
        "probability": None if result.abstained else result.probability,
        "most_likely": {"profile": result.best, "probability": result.probability},
        "top": [{"profile": profile, "probability": probability} for profile, probability in result.top],
        "abstained": result.abstained,
        "reason": result.reason or None,
        "estimates": {_in_gb(target): _need(target, need) for target, need in result.needs.items()},
        "shap": None
        if explained is None
        else {
            "profile": explained.profile,
            "fields": dict(zip(explained.fields, explained.contributions.tolist(), strict=True)),
            "base": explained.base,
            "output": explained.output,
            "additivity_error": explained.additivity_error,
            "words": list(explained.sentences),
        },
    }


def _in_gb(target: str) -> str:
    return target.replace("_bytes", "_gb")


AMOUNTS = ("point", "p10", "p50", "p90", "low", "high")


def _need(target: str, need: Need) -> dict[str, float | str]:
    scale = GB if target.endswith("_bytes") else 1.0
    return {name: value / scale if name in AMOUNTS else value for name, value in vars(need).items()}


def need_words(line: Any) -> str:
    """Above the marks of a quantity."""
    target, (point, low, high, happened) = str(line["target"]), _need_parts(line)
    return f"<b>{title(target, '')} {point}</b> ({low} to {high}){happened}"


def need_sentence(line: Any) -> str:
    """What a job needs of a quantity, with the interval and what it rests on."""
    point, low, high, happened = _need_parts(line)
    n_past = int(line["past_jobs"])
    past = f"from {counted(n_past, 'similar past run')}" if n_past else "no past run is similar"
    return f"{title(str(line['target']), '')} {point} (interval {low} to {high}, {past}){happened}."


def _need_parts(line: Any) -> tuple[str, str, str, str]:
    target = str(line["target"])
    point, low, high = (formatted(target, float(line[name])) for name in ("point", "low", "high"))
    ran = Happened(float(line["actual"]), bool(line["actual_is_lower_bound"]))
    return point, low, high, f", actual {happened_words(target, ran)}" if math.isfinite(ran.value) else ""


def needs_sentence(lines: Sequence[Any]) -> str:
    """What a job needs of every quantity."""
    if not lines:
        return "No quantity can be predicted for this dataset."
    parts = [
        f"{'' if one['target'] in MAIN_TARGETS else label(str(one['target'])) + ' '}"
        f"{formatted(str(one['target']), one['point'])}"
        for one in lines
    ]
    return f"Predicted: {', '.join(parts)}."


AS_TRAINED = "Quartiles are as trained: forward in time, past runs are no measure of how far they hold."


def needs_note(lines: Sequence[Any], estimates: Mapping[str, Estimates], row: int, nominal: float, *, ran: bool) -> str:
    """What the marks of a job's needs are, and which best guesses lie outside the quartiles, and why that can be."""
    covers = {target: float(one.covers[row]) for target, one in estimates.items() if one.covers is not None}
    best = best_guess_words(
        {target: one.predictor for target, one in estimates.items()},
        {target: one.bounded for target, one in estimates.items()},
    )
    trained = "" if all(one.calibrated for one in estimates.values()) else f" {AS_TRAINED}"
    mark = f"Diamond: {best}." if best else "Diamond: prediction."
    places = {
        "below": [label(str(one["target"])) for one in lines if one["point"] < one["p25"]],
        "above": [label(str(one["target"])) for one in lines if one["point"] > one["p75"]],
    }
    found = [f"{listed(names)} {place}" for place, names in places.items() if names]
    outside = f" Outside its quartiles: {'; '.join(found)}." if found else ""
    short = coverage_words(covers, nominal)
    return (
        f"{mark} Thick: quartiles, with the median; thin: {format_share(nominal, 0)} interval"
        f"{'; cross: actual' if ran else ''}.{f' {short[:1].upper()}{short[1:]}.' if short else ''}{outside}{trained}"
    )


def predicted_sentence(n_predicted: int, n_jobs: int) -> str:
    """For how many jobs a profile is predicted."""
    return f"A profile is predicted for {n_predicted:,} of {counted(n_jobs, 'job')}."
