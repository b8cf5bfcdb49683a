"""What is said of profiles: a clustering, whether there is anything to cluster, and whether its profiles come back."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from workprof.core.answer import Answer, Figure, Table
from workprof.core.table import Column
from workprof.core.units import format_share
from workprof.core.words import column_words, counted, formatted, label, listed, shortened
from workprof.profiles.baseline import BASELINE_METRICS, Baseline, LabelSilhouette
from workprof.profiles.fit import ProfileFit
from workprof.profiles.hopkins import Hopkins
from workprof.profiles.names import OUTLIERS
from workprof.profiles.part_files import AssignedFiles
from workprof.profiles.scores import MOST_VALIDITY_ROWS
from workprof.profiles.stability import DOUBTFUL_FROM, STABLE_FROM, Stability
from workprof.profiles.summary import EPOCH_WEEKDAY, ProfileCard

Names = Mapping[int, str] | Sequence[str]
"""Of the profiles by label; that of the outliers is at -1."""
LITTLE = 0.5
"""A profile that uses less of its requested memory leaves much idle."""
RUNS = Column("runs", "size", "Runs", unit="runs")
SHARE = Column("runs_share", "share", "Of the runs", unit="share", also=("share",))

CLUSTERED = Column(
    "clustered_share",
    lambda scores: 1 - scores.n_outliers / max(scores.n_rows, 1),
    "In a profile",
    unit="share",
    help="Share of the runs that belong to a profile.",
)
SILHOUETTE = Column(
    "silhouette_clustered",
    heading="Separation",
    form="%.3f",
    help="Silhouette, without outliers. 1 = well separated, below 0 = misplaced.",
)
PAPERS_SILHOUETTE = Column(
    "avg_silhouette",
    heading="Separation as published",
    form="%.3f",
    help="Silhouette as in the paper: outliers are one cluster, and the mean is over the runs that are none. "
    "scikit-learn averages over the outliers, too.",
)
ACQUIRES = Column(
    "acquires",
    heading="Overall score",
    form="%.3f",
    help="ACQUIRES: mean of the published silhouette, the clustered share and the closeness to the target. The "
    "paper's best is "
    "0.718.",
)


PUBLISHED = "Published definitions: features, missing values as 0 and scores as in the paper."
PURITY = "Share of the runs with its most frequent workload and task."
DURATIONS = ("p5", "p25", "p50", "p75", "p95", "max")


def definitions(fit: ProfileFit) -> str:
    """'published' in faithful mode, else 'corrected'."""
    return "published" if fit.settings.mode == "faithful" else "corrected"


def summary_table(fit: ProfileFit, names: Names) -> Table:
    """One line per profile: size, purity, spread of the duration, typical metadata."""

    def duration(place: int, name: str) -> Column:
        return Column(f"duration_{name}_s", lambda one: float(one.duration_quantiles_s[place]), aside=True)

    def typical(field: str) -> Column:
        found = lambda one: next((top.value for top in one.top_metadata if top.field == field), None)  # noqa: E731
        return Column(f"typical_{field}", found, aside=True)

    faithful = fit.settings.mode == "faithful"
    fields = dict.fromkeys(top.field for card in fit.cards for top in reversed(card.top_metadata))
    counts = (("users", "n_users"), ("groups", "n_groups"), ("jobs", "n_jobs"))
    columns = (
        Column("profile", aside=True),
        Column("name", lambda one: names[one.profile] if names else "", "Profile", pinned=True),
        Column("rows", "size", "Runs", "%,.0f"),
        Column("share", aside=True),
        replace(SILHOUETTE, aside=faithful),
        Column("silhouette", "", PAPERS_SILHOUETTE.heading, "%.3f", "Outliers are one cluster.", aside=not faithful),
        Column("purity", "", "Purity", help=PURITY, unit="share"),
        Column("job_purity", aside=True),
        Column("labels", lambda one: ", ".join(one.labels), aside=True),
        *(duration(place, name) for place, name in enumerate(DURATIONS)),
        *(Column(name, aside=True) for name in ("spike_s", "spike_share")),
        *(Column(name, field, aside=True) for name, field in counts),
        *map(typical, fields),
        Column("takeaway", "", "What it is"),
        Column("definitions", lambda _: definitions(fit), aside=True),
    )
    return Table("profiles", "Profiles", columns, fit.cards)


def _error(fit: ProfileFit) -> str:
    scores = fit.scores
    return f"± {scores.silhouette_se:.3f}" if scores.silhouette_method == "sampled" else "exact"


def _few(fit: ProfileFit) -> str:
    return "no data" if fit.scores.n_clusters > 1 else "needs two profiles"


def _score(name: str, heading: str, meaning: str = "") -> Column:
    return Column(name, "", heading, "%.3f", meaning)


APART = "Groups of runs that behave alike, without outliers."
OUTLIERS_ARE = "Outliers: runs in no dense group (label −1). They stay visible everywhere."
TRUTH = "Adjusted Rand index against the planted truth, outliers excluded: 1 = the same groups, 0 = chance."
N_PROFILES = Column("n_clusters", "", "Profiles", "%,.0f", APART)
N_OUTLIERS = Column("n_outliers", "", "Unclustered runs", "%,.0f", OUTLIERS_ARE)
MEAN_SIZE = Column("mean_cluster_size", "", "Mean size", "%,.0f", "Runs per profile, outliers excluded.")
DAVIES_BOULDIN = _score("davies_bouldin", "Overlap", "Davies–Bouldin index as published, outliers as one group.")
DBCV = _score("dbcv", "DBCV")
V3 = _score("scores_v3", "scores_v3", "0.4 silhouette + 0.1 closeness to the target + 0.5 clustered share.")
CCPM = _score("ccpm", "CCPM", "Published silhouette + 1 / Davies–Bouldin.")
AGREEMENT = _score("truth_adjusted_rand", "Agreement with ground truth", TRUTH)


def pairs_read_words(alike: int, unlike: int) -> str:
    """What a file of pairs wrote into the form."""
    return f"{counted(alike, 'group')} of runs alike and {unlike:,} of runs unlike stand in the form below."


def recut_sentence(became: Mapping[int, int], n_before: int, n_now: int) -> str:
    """How many profiles keep their runs after another cut, and which numbers mean another profile than before.

    `became`: label -> label of those that keep their runs.
    """
    kept = f"{len(became)} of {counted(n_before, 'profile')} keep their runs"
    moved = [f"P{old} is now P{new}" for old, new in sorted(became.items()) if old != new]
    new = [f"P{one}" for one in range(min(n_before, n_now)) if one not in became.values()]
    text = f"{kept}: {_first(moved, ' moved')}." if moved else f"{kept} and their numbers."
    return (
        f"{text} {_first(new, '')} {'is another group' if len(new) == 1 else 'are other groups'} now." if new else text
    )


def _first(named: Sequence[str], did: str) -> str:
    more = f" and {counted(len(named) - MOST_MOVED, 'other')}{did}" if len(named) > MOST_MOVED else ""
    return f"{', '.join(named[:MOST_MOVED])}{more}"


MOST_MOVED = 3


def everywhere_words(n_profiles: int, training: str) -> str:
    """What changes where these profiles are used everywhere; `training`: how long that takes, empty = none."""
    trained = f"Classify trains for them, {training}." if training else "Classify has a model for them."
    shown = f"Home, Memory, Durations, Nodes and the report show these {counted(n_profiles, 'profile')}."
    return f"{trained} {shown}"


def size_figures(fit: ProfileFit) -> tuple[Figure, ...]:
    """How many profiles there are, and how many runs are in them."""
    scores = fit.scores
    return (
        Figure(N_PROFILES, scores),
        Figure(CLUSTERED, scores),
        Figure(N_OUTLIERS, scores, format_share(scores.n_outliers / max(scores.n_rows, 1))),
        Figure(MEAN_SIZE, scores),
    )


def quality_figures(fit: ProfileFit) -> tuple[Figure, ...]:
    """How distinct the profiles are."""
    scores = fit.scores
    apart = _score("davies_bouldin_clustered", "").text(scores) or "no data"
    quick = _score("relative_validity", "").text(scores) or "no data"
    density = f"Density-based validity index (Moulavi et al. 2014) of at most {MOST_VALIDITY_ROWS:,} runs; higher is"
    known = math.isfinite(scores.truth_adjusted_rand)
    few = _few(fit)
    return (
        Figure(SILHOUETTE, scores, _error(fit), lacking=few),
        Figure(DAVIES_BOULDIN, scores, "", f"Lower is better. {DAVIES_BOULDIN.help[:-1]}; without them: {apart}.", few),
        Figure(DBCV, scores, "", f"{density} better. Relative validity, hdbscan's quick stand-in: {quick}.", few),
        *((Figure(AGREEMENT, scores, "ARI; synthetic data only"),) if known else ()),
    )


def paper_figures(fit: ProfileFit) -> tuple[Figure, ...]:
    """The scores as the paper defines them."""
    target = f"target {counted(fit.settings.target_clusters, 'profile')}"
    figures = tuple(Figure(column, fit.scores, lacking=_few(fit)) for column in (PAPERS_SILHOUETTE, V3, CCPM))
    return (figures[0], Figure(ACQUIRES, fit.scores, target), *figures[1:])


_LEFT_OUT = re.compile(r"(\w+) is left out: (.+)\.")


def together(notes: Sequence[str]) -> tuple[str, ...]:
    """The notes, those on features as one for each reason: 'Excluded, constant (0): read (bytes).'."""
    reasons: dict[str, list[str]] = {}
    others = []
    for note in notes:
        match = _LEFT_OUT.fullmatch(note)
        if match is None:
            others.append(note)
        else:
            reasons.setdefault(match[2], []).append(column_words(match[1]))
    return (*(f"Excluded, {reason}: {listed(names)}." for reason, names in reasons.items()), *others)


def rests_on(fit: ProfileFit, text: str) -> str:
    """A note, with the sample where there is one and the flag of the published definitions."""
    sample = f" Profiles found in a sample of {counted(fit.sample_rows, 'run')}, the others assigned."
    published = f" {PUBLISHED}" if fit.settings.mode == "faithful" else ""
    return f"{text}{sample if fit.sample_rows else ''}{published}"


def sizes_sentence(fit: ProfileFit, names: Names) -> str:
    """Which profile is the largest, and how many runs are in none."""
    inside = [card for card in fit.cards if card.profile != OUTLIERS]
    if not inside:
        return "Every run is unclustered: no group was dense enough."
    first = max(inside, key=lambda card: card.size)
    outliers = sum(card.share for card in fit.cards if card.profile == OUTLIERS)
    return (
        f"The largest of {counted(len(inside), 'profile')}, {shortened(names[first.profile])}, holds "
        f"{format_share(first.share)} of the runs; {format_share(outliers)} are unclustered."
    )


def silhouettes_note(fit: ProfileFit) -> str:
    """How the silhouettes were computed, and what they mean."""
    scores = fit.scores
    how = "exact" if scores.silhouette_method == "exact" else "sampled"
    return rests_on(
        fit,
        f"Silhouettes {how}, n = {scores.n_silhouette:,} of {counted(scores.n_rows, 'run')}, outliers counted as one "
        "group; whiskers at the 5th and 95th percentile. −1: misplaced, 0: between two groups, 1: well inside.",
    )


WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def starts_by_day(card: ProfileCard, *, dates: bool) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Names of the seven days and the runs that start on each: from Monday on, or from the trace's first day on."""
    counts = tuple(card.arrivals_by_weekday.tolist())
    if dates:
        return WEEKDAYS, counts
    return tuple(f"day {day}" for day in range(7)), (*counts[EPOCH_WEEKDAY:], *counts[:EPOCH_WEEKDAY])


def arrivals_sentence(card: ProfileCard, *, dates: bool) -> str:
    """When most runs of a profile start; `dates`: the trace's clock tells weekdays."""
    total = int(card.arrivals_by_hour.sum())
    if total == 0:
        return "No start times."
    hour = int(card.arrivals_by_hour.argmax())
    days, counts = starts_by_day(card, dates=dates)
    share = format_share(float(card.arrivals_by_hour[hour] / total))
    return f"Most start at {hour:02d} h ({share}) and on {days[counts.index(max(counts))]}{'' if dates else ' of 7'}."


def spread_sentence(feature: str, tightest: tuple[str, float], widest: tuple[str, float]) -> str:
    """In which profile a feature is most uniform and in which most spread, each with its median."""
    text = label(feature)
    (first, low), (last, high) = tightest, widest
    return (
        f"{text[:1].upper()}{text[1:]} is most uniform in {first} (median {formatted(feature, low)}), most spread in "
        f"{last} (median {formatted(feature, high)})."
    )


PURE_FROM = 0.95


def pure_sentence(n_pure: int, n_profiles: int, field: str) -> str:
    """How many profiles are of one value of a field."""
    most = format_share(PURE_FROM, 0)
    return f"{n_pure} of {n_profiles} profiles have at least {most} of their runs under one {label(field)}."


def map_sentence(fit: ProfileFit) -> str:
    """How much of the variance the map shows."""
    shown = format_share(float(sum(fit.map_explained)))
    return f"PCA map: {counted(fit.scores.n_clusters, 'profile')}, {shown} of the variance shown."


def fingerprints_note(fit: ProfileFit, n_shown: int, *, memory: bool) -> str:
    """What the fingerprints show, and of how many profiles."""
    hidden = fit.scores.n_clusters - n_shown
    rest = f" The {n_shown} largest of {counted(fit.scores.n_clusters, 'profile')}; Export lists all."
    of_memory = " Memory used: of the memory requested, weighted by run time; orange: less than half."
    return (
        "Similar profiles stand beside each other; red: above the average run, blue: below. A click on a row selects "
        f"the profile.{of_memory if memory else ''}{rest if hidden > 0 else ''}"
    )


def draws_note(result: Hopkins) -> str:
    """What the Hopkins statistic rests on."""
    return (
        f"{counted(result.resamples, 'draw')} of {result.n_sampled:,} of {counted(result.n_rows, 'run')} in "
        f"{result.n_dims} scaled columns, seed {result.seed}. For uniform runs 95 % of the draws of the power variant "
        f"lie between {result.uniform_low:.2f} and {result.uniform_high:.2f}. {' '.join(together(result.notes))}"
    )


def labels_note(result: Baseline) -> str:
    """What the silhouettes of labels rest on."""
    others = " ".join(note for note in together(result.notes) if "paper's values" not in note)
    return (
        f"Filled = this dataset, {counted(result.n_rows, 'run')}, {counted(len(result.features), 'scaled feature')}; "
        f"hollow = the paper's Table II, of another sample and not verified (no code for it is public). {others}"
    )


def fit_answer(fit: ProfileFit, names: Names) -> Answer:
    """Which profiles there are, and how distinct they are."""
    scores = fit.scores
    cards = [_card(card) | {"name": names[card.profile]} for card in fit.cards if card.profile != OUTLIERS]
    whole = ("sample_rows", "left_out", "imputed", "pairs", "seconds", "step_seconds")
    own = {
        "settings": asdict(fit.settings) | {"features": list(fit.features)},
        **asdict(scores),
        "profiles": cards,
        **{name: getattr(fit, name) for name in whole},
    }
    return Answer(
        profiles_sentence(fit, names, {}),
        (
            Figure(CLUSTERED, scores, f"{scores.n_outliers:,} unclustered"),
            Figure(SILHOUETTE, scores, _error(fit)),
            Figure(PAPERS_SILHOUETTE, scores),
            Figure(ACQUIRES, scores),
        ),
        (summary_table(fit, names),),
        fit_notes(fit),
        own,
    )


def fit_notes(fit: ProfileFit) -> tuple[str, ...]:
    """What a reader of the scores must know, and what became of the runs that were named as alike or unlike."""
    held = fit.pairs
    if held is None:
        return together(fit.notes)
    return (
        *together(fit.notes),
        f"No profile goes against the {counted(held.n_pairs, 'named pair')}: the usual cut holds {held.held_unaided}, "
        f"the cut chosen for them {held.held_by_cut}. Settled one by one: {counted(held.moved, 'run')} joined the "
        f"profile of runs like it, {held.unclustered:,} lost theirs.",
    )


def _card(card: ProfileCard) -> dict[str, Any]:
    top: dict[str, dict[str, object]] = {}
    for entry in card.top_metadata:
        top.setdefault(entry.field, {"value": entry.value, "share": entry.share})
    names = ("profile", "size", "share", "silhouette", "silhouette_clustered", "purity", "job_purity", "labels")
    return {name: getattr(card, name) for name in names} | {"top_metadata": top, "takeaway": card.takeaway}


def profiles_sentence(fit: ProfileFit, names: Names, used: Mapping[int, float]) -> str:
    """How many profiles there are, of how many runs, and what they leave idle.

    `used` is label -> share of the requested memory that its runs use; empty = not known.
    """
    scores = fit.scores
    if not scores.n_clusters:
        return f"No profile was found: all {counted(scores.n_rows, 'run')} are unclustered. Try a smaller minimum size."
    verb = "covers" if scores.n_clusters == 1 else "cover"
    text = f"{counted(scores.n_clusters, 'profile')} {verb} {CLUSTERED.text(scores)} of {counted(scores.n_rows, 'run')}"
    largest = max((card for card in fit.cards if card.profile != OUTLIERS), key=lambda card: card.size)
    text += f". The largest, {names[largest.profile]}, holds {format_share(largest.share)}"
    known = [share for profile, share in used.items() if profile != OUTLIERS and math.isfinite(share)]
    little = sum(share < LITTLE for share in known)
    if little:
        verb = "uses" if little == 1 else "use"
        text += f". {little} of {len(known)} {verb} less than half of the memory requested"
    return text + "."


@dataclass(frozen=True)
class _Assigned:
    """The runs of a profile in some files."""

    profile: int
    name: str
    size: int
    share: float


ASSIGNED = (Column("profile", shown=False), Column("name", heading="Profile"), RUNS, SHARE)


def assigned_answer(found: AssignedFiles) -> Answer:
    """How many runs of some files were assigned to which profile."""
    labels = (*range(len(found.names) - 1), OUTLIERS)
    rows = [
        _Assigned(label, name, int(runs), runs / max(found.rows, 1))
        for label, name, runs in zip(labels, found.names, found.runs.tolist(), strict=True)
    ]
    there = f", {found.reused:,} of them there before" if found.reused else ""
    return Answer(
        f"{counted(found.rows, 'run')} of {counted(found.files, 'file')} are assigned; the files are in "
        f"{found.folder}{there}.",
        tables=(Table("profiles", "Profiles", ASSIGNED, rows),),
        notes=tuple(found.notes),
        document={name: value for name, value in vars(found).items() if name not in {"names", "runs"}},
    )


HOPKINS_READINGS = {
    "clustered": "the runs are far from uniform: they lie in one dense group or in several",
    "uneven": "the runs lie less evenly than uniform random ones, too little to tell groups",
    "no sign of clusters": "the runs are no more clustered than uniform random ones",
    "regularly spaced": "the runs are more evenly spaced than uniform random ones",
}


def hopkins_answer(result: Hopkins) -> Answer:
    """Whether there is anything to cluster."""
    spread = f" ± {result.hopkins_sd:.3f}" if math.isfinite(result.hopkins_sd) else ""
    reading = HOPKINS_READINGS.get(result.reading, result.reading)
    if 2 * result.n_duplicates > result.n_rows and not result.settings.distinct:
        reading = "most runs repeat another exactly, which alone makes it small; leave out the copies to tell"
    return Answer(
        f"Hopkins {result.hopkins:.3f}{spread}: {reading}.", notes=together(result.notes), document=vars(result)
    )


PROFILES, PROFILES_PUBLISHED = "profiles (without outliers)", "profiles (outliers as one group)"
ALIKE_WITHIN = 0.005
"""Silhouettes this close have the same two decimals, or nearly."""

SMALLEST_SEEN = 0.001
"""A difference of silhouettes that a picture shows."""


@dataclass(frozen=True)
class _Grouping:
    """A label, or the profiles, with its silhouettes."""

    name: str
    label: LabelSilhouette


GROUPINGS = (
    Column("grouping", "name", "Runs grouped by"),
    *(Column(one, f"label.{one}", f"{one.capitalize()} silhouette", "%.3f") for one in BASELINE_METRICS),
    Column("method", "label.method", "Method"),
    Column("values", "label.n_values", "Values", unit="count"),
    Column("missing", "label.n_missing", "Runs without a value", unit="count"),
    Column("reason", "label.reason", "Why there is none", optional=True),
)


def baseline_answer(result: Baseline) -> Answer:
    """Whether the profiles separate behaviour better than the labels that users give."""
    own = {"profiles": result.profiles, "profiles_published": result.profiles_published}
    rows = [_Grouping(*one) for one in groupings(result)]
    return Answer(
        baseline_sentence(result),
        tables=(Table("groupings", "Silhouettes", GROUPINGS, rows),),
        notes=together(result.notes),
        document={"labels": result.labels, **own, "n_rows": result.n_rows, "seconds": result.seconds},
    )


def groupings(result: Baseline) -> list[tuple[str, LabelSilhouette]]:
    """The groupings from top to bottom: the profiles first, as published too where that differs."""
    beside = [(PROFILES, result.profiles)] if result.profiles else []
    if result.profiles and result.profiles_published and _differ(result.profiles, result.profiles_published):
        beside.append((PROFILES_PUBLISHED, result.profiles_published))
    return [*beside, *((" and ".join(label.by.split(",")), label) for label in result.labels)]


def _differ(proper: LabelSilhouette, published: LabelSilhouette) -> bool:
    pairs = ((getattr(proper, metric), getattr(published, metric)) for metric in BASELINE_METRICS)
    return any(math.isnan(here) != math.isnan(there) or abs(here - there) > SMALLEST_SEEN for here, there in pairs)


def baseline_sentence(result: Baseline) -> str:
    """The silhouette of the profiles beside that of the best label."""
    labels = [
        (name, label)
        for name, label in groupings(result)
        if math.isfinite(label.euclidean) and not name.startswith("profiles")
    ]
    if not labels:
        return "No metadata label of this dataset has a silhouette."
    name, best = max(labels, key=lambda item: item[1].euclidean)
    text = f"the best label, {name}, reaches {best.euclidean:.2f}"
    if result.profiles is None or not math.isfinite(result.profiles.euclidean):
        return f"{text[0].upper()}{text[1:]} (Euclidean silhouette)."
    gain = result.profiles.euclidean - best.euclidean
    error = math.hypot(*(each.standard_errors.get("euclidean", 0.0) for each in (result.profiles, best)))
    verdict = "better than" if gain > 0 else "no better than"
    if abs(gain) <= max(ALIKE_WITHIN, 2 * error):
        verdict = "about as well as"
    return (
        f"The profiles separate behaviour {verdict} metadata labels: Euclidean silhouette "
        f"{result.profiles.euclidean:.2f}, {text}."
    )


STABLE = Column(
    "stable_profiles",
    lambda one: f"{sum(each.jaccard >= STABLE_FROM for each in one.per_profile)} of {len(one.per_profile)}",
    "Stable profiles",
    help="Mean Jaccard similarity of 0.75 or more.",
)
RAND = Column(
    "adjusted_rand",
    heading="Adjusted Rand",
    form="%.3f",
    help="Agreement on the runs that are in a profile both times: 1 = the same groups.",
)
TWICE = Column(
    "shared_share",
    heading="Clustered twice",
    unit="share",
    help="In a profile both times: mean share of the runs.",
)
FOUND = Column(
    "profiles_found",
    lambda one: f"{int(one.n_found.min())} to {int(one.n_found.max())}" if len(one.n_found) else "",
    "Profiles found",
    help="In the resamples.",
)
PER_PROFILE = (
    Column("profile", lambda one: f"P{one.profile}", "Profile"),
    RUNS,
    Column("jaccard", heading="Mean Jaccard similarity", form="%.3f"),
    Column("jaccard_min", heading="Least", form="%.3f"),
    Column("dissolved_share", heading="Dissolved", unit="share", help="Share of the resamples without the profile."),
    Column("reading", heading="Reading"),
)


def stability_answer(result: Stability) -> Answer:
    """Whether the profiles come back when part of the jobs is clustered by itself."""
    return Answer(
        stability_sentence(result, {}),
        (
            Figure(STABLE, result),
            Figure(RAND, result),
            Figure(TWICE, result),
            Figure(FOUND, result, f"{len(result.per_profile)} in the clustering"),
        ),
        (Table("per_profile", "Profiles", PER_PROFILE, result.per_profile),),
        together(result.notes),
        vars(result),
    )


MOST_NAMED = 3


def stability_sentence(result: Stability, names: Mapping[int, str]) -> str:
    """How many profiles are stable, and which should not be trusted."""
    rated = sorted((one for one in result.per_profile if one.reading), key=lambda one: one.jaccard)
    if not rated:
        return "There is no profile whose stability could be measured."
    weak = [names.get(one.profile, f"P{one.profile}") for one in rated if one.jaccard < DOUBTFUL_FROM]
    stable = sum(one.jaccard >= STABLE_FROM for one in rated)
    others = " and others" if len(weak) > MOST_NAMED else ""
    tail = f"; {', '.join(weak[:MOST_NAMED])}{others} should not be trusted" if weak else ""
    return (
        f"{stable} of {len(rated)} profiles come back stable in {counted(result.settings.resamples, 'resample')}{tail}."
    )


def boxes_note(scaler: str, of_values: str, *, scaled: bool, zero: bool) -> str:
    """What boxes and whiskers of a feature are, and where a zero lies on a logarithmic axis."""
    edge = " Zero lies at the left edge." if zero else ""
    raw = f" Raw values in the table are in {of_values}." if of_values else ""
    unit = f" Scaled units (scaler: {scaler}) are those of the distances between runs." if scaled else ""
    return (
        f"Boxes: quartiles. Whiskers: outermost runs within 1.5 interquartile ranges. σ: in scaled units.{unit}{edge}"
        f"{raw}"
    )


def spread_words(feature: str, name: str, size: int, median: float, sigma: str) -> str:
    """What stands at the box of a profile's feature."""
    return f"{runs_of(name, size)}, median {formatted(feature, median)}, σ {sigma}"


def runs_of(name: str, size: int) -> str:
    """'bert (P0): 98 runs'."""
    return f"{name}: {counted(size, 'run')}"


def size_words(card: ProfileCard) -> str:
    """Behind the bar of a profile."""
    return f"{card.size:,} · {format_share(card.share)}"


def distance_words(name: str, feature: str, value: float, size: int) -> str:
    """What stands at a cell of the fingerprints."""
    far = f"{value:+.1f} standard deviations" if math.isfinite(value) else "no run has a value"
    return f"{name}<br>{feature}: {far}<br>{counted(size, 'run')}"


def largest_sentence(name: str, size: int) -> str:
    """The largest profile."""
    return f"{name} is the largest profile: {counted(size, 'run')}."


def drawn_note(fit: ProfileFit, n_drawn: int) -> str:
    """How many runs a map draws."""
    part = "all" if n_drawn == fit.labels.size else "a stratified sample of"
    return rests_on(fit, f"Shows {part} n = {n_drawn:,} of {counted(fit.labels.size, 'run')}.")
