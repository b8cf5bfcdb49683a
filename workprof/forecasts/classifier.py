"""From what is known of a job at submission to its profile: training, and predictions with their reasons.

Corrected: rare values are pooled, outliers are a class of their own ('no profile'), probabilities are calibrated on
jobs held out of an inner fit, and a job may be left without an answer. Faithful: the published classifier.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import NDArray

from workprof.core.arrays import MOST_USED, SUBMITTED, Floats, Ints, LatestRuns
from workprof.core.errors import ColumnMissing, NoRows, NotEnoughData, SettingsError
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress, Stopwatch, silent
from workprof.core.units import format_count
from workprof.forecasts.boosting import (
    PUBLISHED_ROUNDS,
    Booster,
    Tuning,
    best_rounds,
    from_json_bytes,
    grow_trees,
    margins,
    most_rounds,
    softened,
    softmax,
    spread,
    to_json_bytes,
    tune,
)
from workprof.forecasts.encoder import (
    INPUT_WORDS,
    METADATA_FIELDS,
    Donors,
    Encoded,
    Inputs,
    MetadataEncoder,
    TrainingRows,
    encode,
    fit_encoder,
    joint_rows,
    kept_rows,
    rare_rows_of,
    read_fields,
    training_rows,
    usable_fields,
)
from workprof.forecasts.predictions import (
    NO_PROFILE,
    Predictions,
    Rules,
    concatenated,
    decide,
    known_submitter,
    unseen_submitter,
)
from workprof.profiles.settings import Mode, ProfileSettings, Seed

if TYPE_CHECKING:
    import pandas as pd

MOST_RARE_ROWS = 100_000
MOST_WRONG_COST = 100.0


@settings
class ClassifierSettings:
    """Settings of one classifier.

    As published: every value has a column of its own, XGBoost's defaults, trained on the rows with a profile, and it
    never abstains.
    """

    profiles: Annotated[
        ProfileSettings,
        Setting("The clustering whose labels are learned."),
    ] = field(default_factory=ProfileSettings)
    fields: Inputs = ()
    mode: Mode = "corrected"
    rare_rows: Annotated[
        int,
        Setting(
            "A value with fewer training runs is pooled as rare.",
            unit="rows",
            least=0,
            most=MOST_RARE_ROWS,
            empty="auto: 0.03 % of the runs, at least 3",
            label="Least runs of a value",
        ),
    ] = 0
    threshold: Annotated[
        float,
        Setting(
            "Smallest probability at which a profile is predicted.",
            least=0,
            below=1,
            empty="auto: cost / (1 + cost) of a wrong prediction",
            label="Smallest probability",
        ),
    ] = 0.0
    wrong_cost: Annotated[
        float,
        Setting(
            "When a correct prediction gains 1 and an abstention nothing; the threshold follows from it.",
            above=0,
            most=MOST_WRONG_COST,
            label="Cost of a wrong prediction",
        ),
    ] = 1.0
    calibration_share: Annotated[
        float,
        Setting(
            "Share of the training runs, held out by job to choose rounds.",
            unit="share",
            least=0.05,
            most=0.5,
            label="Held out for calibration",
        ),
    ] = 0.2
    least_support: Annotated[
        int,
        Setting(
            "A profile with fewer training runs is never predicted.",
            unit="rows",
            least=1,
            label="Least runs of a profile",
        ),
    ] = 10
    cluster_on: Annotated[
        str,
        Setting(
            "Whose profiles a validation of the classifier learns and tests; a trained classifier learns all runs'.",
            choices={
                "all": "one clustering of all runs, the tested ones among them",
                "train": "per split a clustering of its training runs, to whose profiles the tested ones are assigned",
            },
            shown={"all": "All runs", "train": "Training runs only"},
            label="Profiles found among",
        ),
    ] = "all"
    latest_runs: LatestRuns = MOST_USED
    seed: Seed = 0

    def __post_init__(self) -> None:
        if len(set(self.fields)) < len(self.fields):
            raise SettingsError(f"fields are {', '.join(self.fields)}; choose each once")


LABEL = "profile"
"""Column of a job table that holds the labels of a clustering."""

FEWEST_ROWS = 20
UNIT_COLUMNS = ("job_name", "group")
"""What the hold-out keeps together."""
HELD_OUT_BY = (*UNIT_COLUMNS, *SUBMITTED, "duration_s")
"""What the hold-outs are made by."""


def labelled(jobs: pd.DataFrame) -> tuple[pd.DataFrame, Ints]:
    """The rows that have a label, and (n_rows,) labels; raises ColumnMissing without the column 'profile'."""
    if LABEL not in jobs.columns:
        raise ColumnMissing(f"the table has no column {LABEL}; fit profiles first")
    rows = jobs[jobs[LABEL].notna()]
    return rows, rows[LABEL].to_numpy(dtype=np.int64)


def used_rows(jobs: pd.DataFrame, labels: Ints, settings: ClassifierSettings) -> tuple[pd.DataFrame, Ints, Ints]:
    """The rows to train on, their (n_rows,) class positions and the (n_classes,) classes.

    Raises:
        SettingsError: when there is not one label per job.
        NotEnoughData: with fewer than 20 rows or fewer than two profiles.
    """
    if len(labels) != len(jobs):
        raise SettingsError(f"{len(labels)} labels for {len(jobs)} jobs; give one per job")
    if settings.mode == "faithful":
        jobs, labels = jobs[labels != NO_PROFILE], labels[labels != NO_PROFILE]
    classes, targets = np.unique(labels, return_inverse=True)
    n_profiles = int((classes != NO_PROFILE).sum())
    if len(jobs) < FEWEST_ROWS or n_profiles < 2:
        raise NotEnoughData(
            f"{len(jobs)} rows in {n_profiles} profile(s) are too few to learn from; at least {FEWEST_ROWS} rows "
            "and two profiles are needed: add rows, or fit smaller profiles"
        )
    return jobs, targets.astype(np.int64), classes


def with_categories(jobs: pd.DataFrame) -> pd.DataFrame:
    """The table with its texts as categories, as the store gives them: every later look at them is quicker."""
    texts = [name for name in jobs.columns if name in {*METADATA_FIELDS, *UNIT_COLUMNS}]
    return jobs.astype({name: "category" for name in texts if jobs[name].dtype != "category"})


CHUNK_ROWS = 20_000

STEPS = {"encode": 0.1, "grow": 0.98, "keep": 1.0}


@dataclass(frozen=True)
class ClassifierModel:
    """A trained classifier; nothing in it is executed when it is read back."""

    settings: ClassifierSettings  # as given
    encoder: MetadataEncoder  # fitted on the training rows; its `fields` are the inputs
    classes: Ints  # (n_classes,) rising; -1 = no profile (corrected mode only)
    support: Ints  # (n_classes,) training rows
    booster: NDArray[np.uint8]  # (n_bytes,) of XGBoost's JSON
    tuning: Tuning  # what the inner hold-out chose; faithful: the published values
    n_rows: int  # training rows
    n_distinct: int  # different rows among them after pooling, as the trees saw them
    n_left_out: int  # rows that were not trained on (faithful mode: the outliers)
    notes: tuple[str, ...]  # what a reader must know, in words
    seconds: float  # time of the training
    step_seconds: dict[str, float]  # the same by step
    learned: TrainingRows | None = None  # what blank fields are filled from; None in faithful mode, which fills none


class LoadedClassifier:
    """A classifier with its trees in memory; make it once and use it often."""

    def __init__(self, model: ClassifierModel) -> None:
        self.model = model
        self.booster = from_json_bytes(model.booster)
        self.donors = None if model.learned is None else Donors(model.encoder, model.learned)

    def predict(self, jobs: pd.DataFrame, progress: Progress = silent) -> Predictions:
        """The predictions for a table of jobs, in chunks; a field that it lacks counts as not given.

        Raises:
            NoRows: for an empty table.
            ColumnMissing: when it has none of the fields.
            TraceError: when a plan field holds something that is no number.
        """
        if not len(jobs):
            raise NoRows("the table of jobs to classify has no rows; give at least one job")
        parts = []
        for first in range(0, len(jobs), CHUNK_ROWS):
            parts.append(self._predict(jobs.iloc[first : first + CHUNK_ROWS]))
            done = min(first + CHUNK_ROWS, len(jobs))
            progress(done / len(jobs), f"{format_count(done)} of {format_count(len(jobs))} jobs classified")
        return concatenated(parts)

    def _predict(self, jobs: pd.DataFrame) -> Predictions:
        return self.decide(
            encode(self.model.encoder, jobs), lambda rows: margins(self.booster, self.model.encoder, rows)
        )

    def decide(self, rows: Encoded, scores_of: Callable[[Encoded], Floats]) -> Predictions:
        """The predictions for encoded rows; `scores_of` rows are (n_rows, n_classes), before the softmax."""
        model, settings = self.model, self.model.settings
        probabilities = probabilities_of(self.donors, model.encoder, model.tuning, rows, scores_of)
        abstains, who = settings.mode == "corrected", known_submitter(model.encoder)
        rules = Rules(abstains, model.tuning.threshold, settings.least_support, model.support, who)
        return decide(probabilities, model.classes, unseen_submitter(model.encoder, rows), rules)


def probabilities_of(
    donors: Donors | None,
    encoder: MetadataEncoder,
    tuning: Tuning,
    rows: Encoded,
    scores_of: Callable[[Encoded], Floats],
) -> Floats:
    """(n_rows, n_classes) calibrated; of a row with blank fields from what they are filled with (`softened`)."""
    if donors is None:
        return softmax(scores_of(rows), np.broadcast_to(tuning.of_rows(encoder, rows), len(rows)))
    place, first = joint_rows(rows)
    rows = rows.take(first)  # each different one once: a blank field makes many of one
    made = donors.fill(rows)
    temperatures = np.broadcast_to(tuning.of_rows(encoder, rows), len(rows))[made.of]
    return softened(*spread(softmax(scores_of(made.rows), temperatures), made), tuning.blank)[place]


def train_classifier(
    jobs: pd.DataFrame, labels: Ints, settings: ClassifierSettings, progress: Progress = silent
) -> ClassifierModel:
    """A classifier that predicts the labels (-1 = outlier) from submit-time metadata.

    Only the fields, and job_name, group, times and duration for the inner hold-outs, are read.

    Source: PolarisProfiler (SOSE'23). Faithful mode: one-hot of the five metadata fields, XGBClassifier's defaults,
    rows with a profile only. Ours differs from it in that equal rows are merged with their count as weight, which gives
    the same trees, and that base_score is the 0.5 of the XGBoost of that time.

    Raises:
        ColumnMissing: when the table has none of the fields, or lacks a requested one.
        NotEnoughData: with fewer than 20 rows or fewer than two profiles.
        TraceError: when a plan field holds something that is no number.
    """
    used, targets, classes = used_rows(jobs, np.asarray(labels, dtype=np.int64), settings)
    fields = usable_fields(used, settings.fields, settings.mode)
    used = with_categories(used[[name for name in used.columns if name in {*fields, *HELD_OUT_BY}]])
    watch = Stopwatch(progress, STEPS)
    with watch.step("encode", "Reading the metadata"):
        inputs = read_fields(used, fields)

    def grow() -> tuple[MetadataEncoder, Encoded, TrainingRows, Booster]:
        encoder = fit_encoder(inputs, fields, settings.mode, rare_rows_of(settings, len(used)))
        rows = encode(encoder, inputs)
        training = training_rows(encoder, rows, targets)
        return encoder, rows, training, grow_trees(encoder, training, len(classes), most_rounds(settings))

    message = "Growing the trees, and choosing their number on held-out jobs"
    with (
        watch.step("grow", message),
        ThreadPoolExecutor(max_workers=1) as beside,
    ):  # XGBoost frees Python while it grows
        growing = beside.submit(grow)
        tuning = tune(used, inputs, targets, settings)
        encoder, rows, training, booster = growing.result()
        booster = booster[: tuning.n_rounds]
    with watch.step("keep", "Keeping the trees"):
        frozen = to_json_bytes(booster)
    return ClassifierModel(
        settings=settings,
        encoder=encoder,
        classes=classes,
        support=np.bincount(targets, minlength=len(classes)).astype(np.int64),
        booster=frozen,
        tuning=tuning,
        n_rows=len(used),
        n_distinct=len(training.rows),
        n_left_out=len(jobs) - len(used),
        notes=_notes(settings, encoder, tuning, len(jobs) - len(used)),
        seconds=watch.seconds,
        step_seconds=watch.step_seconds,
        learned=None if settings.mode == "faithful" else kept_rows(encoder, rows),
    )


def most_probable(jobs: pd.DataFrame, labels: Ints, queries: pd.DataFrame, settings: ClassifierSettings) -> Ints:
    """(n_queries,) profiles: `best` of the predictions of `train_classifier`, without its calibration; raises as that.

    A temperature changes no order of the profiles, so that the answer is the same, in a third of the time. Of a single
    profile nothing is learned: it is every answer, -1 where there is none.
    """
    labels = np.asarray(labels, dtype=np.int64)
    if len(np.unique(labels[labels != NO_PROFILE])) < 2:
        return np.full(len(queries), labels.max(initial=NO_PROFILE))
    used, targets, classes = used_rows(jobs, labels, settings)
    fields = usable_fields(used, settings.fields, settings.mode)
    used = with_categories(used[[name for name in used.columns if name in {*fields, *HELD_OUT_BY}]])
    inputs = read_fields(used, fields)
    encoder = fit_encoder(inputs, fields, settings.mode, rare_rows_of(settings, len(used)))
    training = training_rows(encoder, encode(encoder, inputs), targets)
    n_rounds, by_field = best_rounds(used, inputs, targets, settings), settings.mode != "faithful"
    booster = grow_trees(encoder, training, len(classes), n_rounds, by_field=by_field)
    first = int(classes[0] == NO_PROFILE)
    place = first + margins(booster, encoder, encode(encoder, queries))[:, first:].argmax(axis=1)
    return np.asarray(classes[place], dtype=np.int64)


def fit_classifier(
    frames: Mapping[str, pd.DataFrame], settings: ClassifierSettings, progress: Progress = silent
) -> ClassifierModel:
    """`train_classifier` of `frames["jobs"]` with its column 'profile' as labels; rows without one are left out.

    Raises:
        As `train_classifier`; ColumnMissing without the column.
    """
    jobs, labels = labelled(frames["jobs"])
    return train_classifier(jobs, labels, settings, progress)


def predict(model: ClassifierModel, jobs: pd.DataFrame, progress: Progress = silent) -> Predictions:
    """The predictions of a classifier that is used once; see `LoadedClassifier.predict`."""
    return LoadedClassifier(model).predict(jobs, progress)


def _notes(settings: ClassifierSettings, encoder: MetadataEncoder, tuning: Tuning, n_left_out: int) -> tuple[str, ...]:
    if settings.mode == "faithful":
        return (
            f"As published: {PUBLISHED_ROUNDS} rounds, every value a column, no abstention.",
            f"{format_count(n_left_out)} outliers are excluded from training; such jobs still get a profile.",
        )
    several = [v for v in encoder.categories if v.rare]
    pooled = [
        f"{INPUT_WORDS[v.field].lower()} ({format_count(len(v.rare))} of {format_count(len(v.kept) + len(v.rare))})"
        for v in several
    ]
    notes = [tuning.note]
    if pooled:
        notes.append(f"Values with fewer than {encoder.rare_rows} rows are pooled as rare.")
        notes += [f"Pooled: {one}." for one in pooled]
    return tuple(notes)
