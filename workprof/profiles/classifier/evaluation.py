"""How well metadata foretells the profile, under splits that leak and splits that do not.

The labels come from a clustering of all rows' sensors: they are the target, so the test rows' part in it gives nothing
away about the metadata. Everything else (encoder, trees, temperature, threshold) is made from the training part alone.

How abstentions count: the answer 'no profile' is right for an outlier and wrong for a row with a profile, whatever the
reason it was given for. So an abstention lowers accuracy and the recall of its true profile, never the precision of
another. `answered_accuracy` looks at the answered rows only, `forced_macro_f1` at the most likely profile of the rows
with a profile, abstained or not, which is what a classifier without a reject option is scored by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workprof.arrays import Ints
from workprof.errors import ColumnMissing, NotEnoughData
from workprof.profiles.classifier.classification_scores import ClassScore
from workprof.profiles.classifier.classifier import predict, train_classifier
from workprof.profiles.classifier.labelled_rows import labelled
from workprof.profiles.classifier.predictions import NO_PROFILE
from workprof.profiles.classifier.settings import ClassifierSettings
from workprof.profiles.classifier.split_scores import SplitScores, Turn, score_turns
from workprof.profiles.classifier.splits import SPLITS, make_folds
from workprof.profiles.classifier.submit_time import usable_fields
from workprof.progress import Progress, silent
from workprof.stopwatch import Stopwatch

if TYPE_CHECKING:
    import pandas as pd

N_FOLDS = 5
"""A fifth of the rows is tested at a time, as published (polarisprofiler.md, section 3); by time the last 30 %."""

ALL_TURNS = ("by_job", "by_group")
"""Splits whose turns are all run: one job or group can be a seventh of the rows, and a score then hangs on its side."""

SHOWN = {"faithful": ("random",), "corrected": ("by_job", "by_group", "random")}
"""Split whose table, confusion matrix and calibration are shown first: the first of these that could be made."""

WORDS = {"random": "rows at random", "by_job": "other jobs", "by_group": "other groups", "by_time": "later jobs"}


@dataclass(frozen=True)
class ClassifierEvaluation:
    """The splits side by side.

    Attributes:
        settings: as asked.
        splits: split -> scores, in the order random, by_job, by_group, by_time.
        not_made: split -> why this table cannot be split so.
        shown: split whose details are shown first.
        classes: Table V of that split.
        fields: inputs.
        n_rows: labelled rows.
        notes: what a reader must know, in words.
        train_seconds: of one training for that split.
        seconds: of the whole.
    """

    settings: ClassifierSettings
    splits: dict[str, SplitScores]
    not_made: dict[str, str]
    shown: str
    classes: tuple[ClassScore, ...]
    fields: tuple[str, ...]
    n_rows: int
    notes: tuple[str, ...]
    train_seconds: float
    seconds: float


def evaluate_classifier(
    frames: Mapping[str, pd.DataFrame], settings: ClassifierSettings, progress: Progress = silent
) -> ClassifierEvaluation:
    """Return the scores by split: a random fifth of the rows, every job and group once, the last 30 % of the time.

    Args:
        frames: 'jobs' -> job table with the column 'profile' (-1 = outlier; rows without a value are left out).
        settings: of the classifier.
        progress: told each split.

    Source:
        polarisprofiler.md, sections 3 and 7a. Faithful mode scores rows with a profile only, by a random 80/20 split as
        published, but the encoder sees the training rows only; the published one saw all rows, which adds columns that
        are zero in training and so changes no tree. The draw is ours, so the rows differ.

    Raises:
        ColumnMissing: without the column 'profile' or any field.
        NotEnoughData: when no split can be made.
    """
    jobs, labels = labelled(frames["jobs"])
    if settings.mode == "faithful":
        jobs, labels = jobs[labels != NO_PROFILE], labels[labels != NO_PROFILE]
    watch = Stopwatch(progress, {split: (place + 1) / len(SPLITS) for place, split in enumerate(SPLITS)})
    fields = usable_fields(jobs, settings.fields, settings.mode)
    scores: dict[str, SplitScores] = {}
    not_made = {}
    for split in SPLITS:
        with watch.step(split, f"Testing on {WORDS[split]}") as report:
            try:
                scores[split] = score_turns(split, tuple(_turns(jobs, labels, split, settings, report)))
            except (ColumnMissing, NotEnoughData) as error:
                not_made[split] = str(error)
    if not scores:
        raise NotEnoughData(
            f"the classifier cannot be tested on this table: {'; '.join(dict.fromkeys(not_made.values()))}"
        )
    shown = next((split for split in SHOWN[settings.mode] if split in scores), next(iter(scores)))
    return ClassifierEvaluation(
        settings=settings,
        splits=scores,
        not_made=not_made,
        shown=shown,
        classes=scores[shown].classes,
        fields=fields,
        n_rows=len(jobs),
        notes=_notes(scores, not_made, settings),
        train_seconds=scores[shown].train_seconds,
        seconds=watch.seconds,
    )


def _turns(
    jobs: pd.DataFrame, labels: Ints, split: str, settings: ClassifierSettings, report: Callable[[float], None]
) -> Iterator[Turn]:
    folds = make_folds(jobs, split, N_FOLDS, settings.seed)
    for done, fold in enumerate(folds if split in ALL_TURNS else folds[:1]):
        report(done / (N_FOLDS if split in ALL_TURNS else 1))
        model = train_classifier(jobs.iloc[fold.train], labels[fold.train], settings)
        answers = predict(model, jobs.iloc[fold.test])
        yield Turn(labels[fold.test], answers, model.n_rows, model.seconds)


def _notes(scores: dict[str, SplitScores], not_made: dict[str, str], settings: ClassifierSettings) -> tuple[str, ...]:
    notes = [f"Not split {split.replace('_', ' ')}: {reason}." for split, reason in not_made.items()]
    if settings.mode == "faithful":
        notes.append("Published definitions: outliers are neither trained nor tested on, and every row gets a profile.")
    else:
        notes.append("An abstention is wrong for a row with a profile and right for an outlier.")
    strict = [name for name in ("by_job", "by_group") if name in scores]
    if "random" in scores and strict:
        lost = scores["random"].accuracy - min(scores[name].accuracy for name in strict)
        if lost > 0:
            notes.append(
                f"Rows of one job on both sides of the random split flatter it: else accuracy is {lost:.2f} lower."
            )
    for split, found in scores.items():
        missed = [line.profile for line in found.classes if line.support and not line.recall and line.profile >= 0]
        if missed:
            named = ", ".join(str(profile) for profile in sorted(missed))
            notes.append(f"Split {split.replace('_', ' ')}: profile {named} never found.")
    return tuple(notes)
