"""The stops of the tour: a record in, one sentence with a number and one or two charts out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from workprof.answers.assessment import compared_runs
from workprof.answers.classifier import strict_split
from workprof.answers.forecasts import Naming
from workprof.answers.over_time import left_out_words, memory_sentence
from workprof.answers.profiles import size_figures
from workprof.answers.verdict import action_words, kills_words, sentence, task_names
from workprof.charts.classify.model import split_bars
from workprof.charts.memory.verdict import curve_chart, rows_chart, verdict_headlines
from workprof.charts.over_time import over_time_chart
from workprof.charts.profiles.jobs import profile_map
from workprof.charts.shapes import Chart, Headline, headline
from workprof.core.units import format_count, format_share
from workprof.core.words import counted
from workprof.forecasts.classifier_evaluation import ClassifierEvaluation
from workprof.memory.assessment import Assessment
from workprof.memory.over_time import OverTime
from workprof.memory.verdict import Verdict
from workprof.memory.verdict_rows import KEEP
from workprof.profiles.fit import ProfileFit


@dataclass(frozen=True)
class TourStop:
    """One stop of the tour, for people who have not seen the page before."""

    headline: str  # what was found: one sentence with a number
    means: str  # what follows from it
    means_not: str  # what does not
    charts: tuple[Chart, ...] = ()  # one or two of the page's own
    figures: tuple[Headline, ...] = ()  # of the page's own, four at most
    limits: tuple[str, ...] = ()  # what cannot be promised, a sentence each; of the last stop


SYNTHETIC = "The trace is synthetic and modelled on a published one: the shares on your cluster will differ."
OWN = "The figures are of this trace: another period may differ."
FAR_UNUSED = 0.25
"""Share of the requested memory that is never used from which requests are called far too large."""
MAP_POINTS = 6_000
"""Of the map: a projector shows no more, and the browser draws them without its graphics card."""


def waste_stop(
    result: OverTime, names: Mapping[str, str], assessed: Assessment, figures: Sequence[Headline], limit: str
) -> TourStop:
    """Return how much requested memory is never used, and when; the limit is `SYNTHETIC` or `OWN`."""
    return TourStop(
        headline=memory_sentence(result),
        means=waste_meaning(assessed),
        means_not=limit,
        charts=(replace(over_time_chart(result, names), note=left_out_words(result)),),
        figures=tuple(figures),
    )


def waste_meaning(assessed: Assessment) -> str:
    """Return what the waste says, and the share of the runs above their request."""
    over = sum(task.n_over_request for task in assessed.tasks)
    far = not assessed.wasted_gb_h < FAR_UNUSED * assessed.judged_gb_h
    says = "Requests say little about needs: most are far too large" if far else "Requests are close to needs"
    n_both = compared_runs(assessed)
    if n_both and not over:
        return f"{says}, and no finished run exceeds its own."
    above = format_share(over / n_both) if n_both else "an unknown share"
    return f"{says}, yet {above} of the runs exceed theirs."


def profiles_stop(result: ProfileFit, names: Mapping[int, str]) -> TourStop:
    """Return how many runs the profiles cover."""
    scores = result.scores
    outside = scores.n_outliers / max(scores.n_rows, 1)
    return TourStop(
        headline=f"{counted(scores.n_clusters, 'profile')} cover {format_share(1 - outside)} of "
        f"{counted(scores.n_rows, 'run')}.",
        means="Runs of one profile use the machine alike, so they can be planned alike. Profiles come from measured "
        "use, not from names.",
        means_not=f"{format_share(outside)} of the runs are in no profile: they are unlike any group and are not "
        "forced into one.",
        charts=(profile_map(result, names, MAP_POINTS),),
        figures=tuple(map(headline, size_figures(result))),
    )


SPLIT_WORDS = {
    "by_group": "for groups of users that training never saw (split by group)",
    "by_job": "for jobs that training never saw (split by job)",
}


def prediction_headline(result: ClassifierEvaluation) -> str:
    """Return how often the profile of a new job is predicted correctly, and under which split."""
    strict = strict_split(result)
    accuracy = format_share(result.splits[strict].accuracy)
    split = SPLIT_WORDS.get(strict, "for runs that training never saw (random split)")
    return f"Before a job runs, its profile is predicted correctly {accuracy} of the time, {split}."


def prediction_stop(result: ClassifierEvaluation, naming: Naming) -> TourStop:
    """Return how well the profile of a new job is predicted."""
    strict = result.splits[strict_split(result)]
    leaky = result.splits.get("random")
    easier = f" A random split would report {format_share(leaky.accuracy)}." if leaky and leaky is not strict else ""
    return TourStop(
        headline=prediction_headline(result),
        means=f"Only submit-time fields are needed. For {format_share(strict.abstained_share)} of these runs the "
        "answer is 'no profile', because none is likely enough.",
        means_not=f"The mean hides rare profiles, which are missed more often than found.{easier}",
        charts=(split_bars(result, naming),),
    )


def trade_stop(result: Verdict) -> TourStop:
    """Return what to request at the acceptable kills, what it saves and what it kills."""
    curve = curve_chart(result)
    return TourStop(
        headline=sentence(result),
        means="Saving and risk are one choice: the acceptable kills pick the sizes.",
        means_not=f"{counted(result.memory.judged.n_runs, 'past run')} are judged, with sizes learned before each of "
        "them. Nothing here was tried on a running cluster.",
        charts=tuple(one for one in (curve, rows_chart(result)) if one is not None),
        figures=verdict_headlines(result),
    )


def decision_stop(
    result: Verdict, evaluated: ClassifierEvaluation | None, fit: ProfileFit | None, risks: Sequence[str], limit: str
) -> TourStop:
    """Return the decision, and what it cannot promise.

    `evaluated` and `fit` are None where the trace has none; risks are of the report's first page.
    """
    memory = result.memory
    first = next((row for row in memory.rows if row.action != KEEP), None)
    begin = "Every row keeps its request, with a reason."
    if first is not None:
        begin = f"Begin with {action_words(first, task_names(memory.rows))}."
    wrong = None if evaluated is None else 1 - evaluated.splits[strict_split(evaluated)].accuracy
    headline = sentence(result)  # where nothing is saved: the price at which something would be
    if first is not None and memory.judged.saved > 0:
        headline = (
            f"Decision: save {format_share(memory.judged.saved_share)} of requested memory, with "
            f"{kills_words(memory.judged.kills)} in {counted(memory.judged.n_runs, 'later run')}."
        )
    return TourStop(
        headline=headline,
        means=f"{begin} Open Memory, choose the acceptable kills, and export the requests.",
        means_not=limit,
        figures=verdict_headlines(result),
        limits=(
            *risks,
            *(() if wrong is None else (f"{format_share(wrong)} of new jobs get a wrong profile or none.",)),
            *(() if fit is None else (f"{format_count(fit.scores.n_outliers)} runs are in no profile.",)),
        ),
    )
