"""Answers of a classifier: a profile, or an abstention with its reason."""

from dataclasses import dataclass

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints
from workprof.forecasts.encoder import Encoded, MetadataEncoder, is_seen

NO_PROFILE = -1
ANSWERED, UNSEEN, OUTLIER, UNSUPPORTED, UNSURE = range(5)
REASON_CODES = ("answered", "unseen", "no_profile", "unsupported", "unsure")
"""Names of the reason codes 0-4; where several hold, the first is given."""

SUBMITTER = ("user", "group")
"""Fields that say who submits; where the classifier uses neither, all its categorical fields take their place."""

WHOSE = {
    ("user", "group"): "neither its user nor its group occurs",
    ("user",): "its user does not occur",
    ("group",): "its group does not occur",
    (): "none of its names occurs",
}

N_TOP = 3


@dataclass(frozen=True)
class Predictions:
    """What a classifier says of jobs."""

    classes: Ints  # (n_classes,) profiles in the order of the probabilities; -1 = no profile (corrected mode only)
    probabilities: Floats  # (n_rows, n_classes) calibrated in corrected mode; each row adds up to 1
    profile: Ints  # (n_rows,) the answer; -1 where it abstains
    best: Ints  # (n_rows,) the most likely profile whether or not it abstains; never -1
    probability: Floats  # (n_rows,) of `best`
    abstained: Bools  # (n_rows,)
    reason: Ints  # (n_rows,) position in `reasons`, 0 = answered
    reasons: tuple[str, ...]  # texts by code, see `REASON_CODES`
    top: Ints  # (n_rows, up to 3) most likely classes, the likeliest first; may hold -1
    top_probability: Floats  # of `top`

    def __len__(self) -> int:
        return len(self.profile)

    def reason_text(self, row: int) -> str:
        """Why a row got no profile; empty where it got one."""
        text: str = self.reasons[int(self.reason[row])]
        return text


@dataclass(frozen=True)
class Rules:
    """When to abstain."""

    abstains: bool  # False in faithful mode
    threshold: float  # smallest probability of an answer
    least_support: int  # training rows that a profile needs
    support: Ints  # (n_classes,) training rows
    who: tuple[str, ...] = SUBMITTER  # the fields of `SUBMITTER` that the classifier uses


def decide(probabilities: Floats, classes: Ints, unseen: Bools, rules: Rules) -> Predictions:
    """The predictions; classes rise, with or without -1; `unseen`: nothing identifying was seen in training."""
    rows = np.arange(len(probabilities))
    first_profile = int(classes[0] == NO_PROFILE)
    place = first_profile + probabilities[:, first_profile:].argmax(axis=1)
    best, probability = classes[place], probabilities[rows, place]
    reason = np.full(len(rows), ANSWERED, dtype=np.int64)
    if rules.abstains:
        reason[probability < rules.threshold] = UNSURE
        reason[rules.support[place] < rules.least_support] = UNSUPPORTED
        if first_profile:
            reason[probabilities[:, 0] > probability] = OUTLIER
        reason[unseen] = UNSEEN
    order = np.argsort(-probabilities, axis=1, kind="stable")[:, :N_TOP]
    return Predictions(
        classes=classes,
        probabilities=probabilities,
        profile=np.where(reason == ANSWERED, best, NO_PROFILE),
        best=best,
        probability=probability,
        abstained=reason != ANSWERED,
        reason=reason,
        reasons=reason_texts(rules),
        top=classes[order],
        top_probability=np.take_along_axis(probabilities, order, axis=1),
    )


def reason_texts(rules: Rules) -> tuple[str, ...]:
    """The reasons in words, by code."""
    return (
        "",
        f"{WHOSE[rules.who]} in the training data",
        "similar jobs are mostly outliers",
        f"its most likely profile has fewer than {rules.least_support} training runs",
        f"no profile reaches the required probability of {rules.threshold * 100:.0f} %",
    )


def known_submitter(encoder: MetadataEncoder) -> tuple[str, ...]:
    """The fields that say who submits, of those that a classifier uses."""
    names = {values.field for values in encoder.categories}
    return tuple(name for name in SUBMITTER if name in names)


def unseen_submitter(encoder: MetadataEncoder, rows: Encoded) -> Bools:
    """(n_rows,): whether no identifying field holds a value that training saw."""
    names = [values.field for values in encoder.categories]
    places = [names.index(name) for name in known_submitter(encoder)] or list(range(len(names)))
    if not places:
        return np.zeros(len(rows), dtype=np.bool_)
    seen = is_seen(encoder, rows)[:, places]
    return np.asarray(seen.sum(axis=1) == 0)


def concatenated(parts: list[Predictions]) -> Predictions:
    """The predictions of consecutive parts as one."""
    names = ("probabilities", "profile", "best", "probability", "abstained", "reason", "top", "top_probability")
    merged = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    return Predictions(classes=parts[0].classes, reasons=parts[0].reasons, **merged)
