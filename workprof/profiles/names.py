"""Names of profiles: what is typical of each, in words, and how names that users gave follow a re-cut.

A name is read off a clustering's record (its cards and its spread), so it needs neither rows nor a computation of its
own, and one clustering always has the same names.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from workprof.core.arrays import Floats, Ints
from workprof.core.text import visible
from workprof.profiles.metadata import CELL, NOT_GIVEN, CategoryShare
from workprof.profiles.summary import FeatureSpread, ProfileCard

OUTLIERS = -1
UNCLUSTERED = "Unclustered"
MOST = 0.5
"""A value of more than this share of a profile's runs is typical of it."""

LONGEST_VALUE = 18
LONGEST_NAME = 42
"""Of the typical part, so that with its number a name has at most 48 characters."""

LONGEST_WORD = 14
"""What is left to a word of behaviour behind a single value."""

FURTHER_FIELDS = ("job_name", "user", "group")
"""Where there is neither a typical workload nor a typical task."""

FEWEST_SPREAD = 0.5
"""A feature parts two profiles where their medians are this far apart, in scaled units."""

TWOFOLD = float(np.log10(2))
MOST_WORDS = 2

FEATURES = {
    "duration_s": ("short", "long"),
    "cpu_usage_percent": ("low CPU", "CPU-heavy"),
    "gpu_usage_percent": ("low GPU", "GPU-heavy"),
    "mean_memory_bytes": ("small memory", "large memory"),
    "peak_memory_bytes": ("small memory", "large memory"),
    "mean_gpu_memory_bytes": ("small GPU memory", "large GPU memory"),
    "peak_gpu_memory_bytes": ("small GPU memory", "large GPU memory"),
    "read_bytes": ("few reads", "read-heavy"),
    "read_count": ("few reads", "read-heavy"),
    "write_bytes": ("few writes", "write-heavy"),
    "write_count": ("few writes", "write-heavy"),
    "requested_cpu_percent": ("small CPU request", "large CPU request"),
    "requested_memory_bytes": ("small memory request", "large memory request"),
    "requested_gpu_percent": ("small GPU request", "large GPU request"),
    "instances": ("few instances", "many instances"),
    "start_time_s": ("early", "late"),
    "end_time_s": ("early", "late"),
}
"""Feature -> the words for little and much of it."""

NO_PROFILE = "no profile"
_CALLED = re.compile(r"(?:profile |P)(\d{1,6})", re.ASCII)
"""How results, whose keys never change, call a profile."""
_NUMBER_IN_TEXT = re.compile(r"(?<![\w(])(?:profile |P)(\d{1,6})\b", re.ASCII)
_UNITS = ("_bytes", "_percent", "_count", "_s")
_CODE = re.compile(r"[0-9a-f]{8,}|[0-9a-f]{8}-[0-9a-f-]{27}|\d+", re.IGNORECASE | re.ASCII)
"""Hashes and numbers: values that name nothing."""
_NUMBERED = re.compile(r".*\(P(\d{1,6})\)|P?(\d{1,6})(?:\s.*)?", re.ASCII | re.DOTALL)


def shown_names(
    cards: Sequence[ProfileCard], typical: Mapping[int, str], given: Mapping[int, str] | None = None
) -> dict[int, str]:
    """Label -> 'bert · worker (P0)', with the user's own name where there is one; 'Unclustered' for -1."""
    own = {label: name.strip() for label, name in (given or {}).items()}
    return {
        card.profile: UNCLUSTERED
        if card.profile == OUTLIERS
        else f"{own.get(card.profile) or typical[card.profile]} (P{card.profile})"
        for card in cards
    }


def name_at(names: Sequence[str], label: int) -> str:
    """The name of a label among those of a clustering, which are by label with that of -1 last; 'P3' of none."""
    if label == OUTLIERS:
        return UNCLUSTERED
    return names[label] if label < len(names) - 1 else f"P{label}"


def name_of(word: str, names: Sequence[str]) -> str:
    """What a result calls 'profile 3', 'P3' or 'no profile' by its name; any other word stays, as without names."""
    match = _CALLED.fullmatch(word)
    if match is None or not names:
        return UNCLUSTERED if word == NO_PROFILE and names else word
    return name_at(names, int(match[1]))


def with_names(text: str, names: Mapping[int, str] | Sequence[str]) -> str:
    """A sentence of ours, without words of a trace, with the names of profiles for 'profile 3' and 'P3'."""
    known = names if isinstance(names, Mapping) else dict(enumerate(names[:-1]))
    return _NUMBER_IN_TEXT.sub(lambda result: known.get(int(result[1]), result[0]), text)


def number_of(name: str) -> int | None:
    """The number in 'bert · worker (P3)', 'P3 name', 'P3' or '3'; None where a text has none."""
    match = _NUMBERED.fullmatch(name.strip())
    return int(match[1] or match[2]) if match else None


def fitted(name: str, longest: int) -> str:
    """A name of at most `longest` characters on one line, cut before its number: 'graphlearn · w… (P22)'."""
    name = visible(" ".join(name.split()))
    if len(name) <= longest:
        return name
    front, bracket, number = name.rpartition(" (P")
    if not bracket or len(number) + 4 >= longest:
        return name[: longest - 1] + "…"
    return front[: longest - len(number) - 4].rstrip(" ·,") + f"… (P{number}"


def typical_names(cards: Sequence[ProfileCard], spread: FeatureSpread) -> dict[int, str]:
    """Label -> the typical workload and task of each profile, else another typical value, else how it behaves.

    Profiles that would share a name, and those without a typical value, are told apart by the features in which their
    medians differ most from the others of that name, two at most: 'bert · worker, short'. Where that does not part
    them either, their numbers do.
    """
    shown = [card for card in cards if card.profile != OUTLIERS]
    cells = {card.profile: _cell(card) for card in shown}
    common = set.intersection(*map(set, cells.values())) if len(shown) > 1 else set()
    bases = {card.profile: _base(card, [pair for pair in cells[card.profile] if pair not in common]) for card in shown}
    behaviour = _behaviour(shown, spread)
    names: dict[int, str] = {}
    for base in dict.fromkeys(bases.values()):
        members = [i for i, card in enumerate(shown) if bases[card.profile] == base]
        words = _words(behaviour, members)
        names |= {shown[i].profile: name for i, name in _distinguished(base, members, words).items()}
    return names


def _cell(card: ProfileCard) -> list[tuple[str, str]]:
    """(field, value) of the typical workload and task, where there are such.

    Each may be that of most runs while both together are not: then only the more frequent one names the profile.
    """
    first = {top.field: top for top in reversed(card.top_metadata)}
    typical = [first[field] for field in CELL if field in first and _is_typical(first[field])]
    if len(typical) > 1 and card.purity <= MOST:
        typical = [max(typical, key=lambda top: top.share)]
    return [(top.field, top.value) for top in typical]


def _is_typical(top: CategoryShare) -> bool:
    return top.share > MOST and top.value != NOT_GIVEN


def _base(card: ProfileCard, cell: Sequence[tuple[str, str]]) -> str:
    """The typical values of a profile; 'mixed' where a workload or task has none; '' where all share them.

    `cell` is its typical workload and task, without what all profiles share: that is typical of none.
    """
    if cell:
        longest = LONGEST_VALUE if len(cell) > 1 else LONGEST_NAME - LONGEST_WORD
        return " · ".join(dict.fromkeys(_value(value, longest) for _, value in cell))
    first = {top.field: top for top in reversed(card.top_metadata)}
    for field in FURTHER_FIELDS:
        top = first.get(field)
        if top and _is_typical(top) and not _CODE.fullmatch(top.value):
            value = _value(top.value, LONGEST_VALUE)
            return value if field == "job_name" else f"{field} {value}"
    return "mixed" if any(field in first and not _is_typical(first[field]) for field in CELL) else ""


def _value(text: str, longest: int) -> str:
    """A value that fits into a name: the last part of a path of processes, cut where it is too long."""
    line = " ".join(text.split())
    if len(line) > longest:
        line = re.split(r"[:/]", line.rstrip(":/"))[-1].strip() or line
    return line if len(line) <= longest else line[: longest - 1] + "…"


@dataclass(frozen=True)
class _Behaviour:
    """Medians of the profiles, each feature in a unit of which a half is worth a word."""

    medians: Floats  # (n_profiles, n_features)
    words: tuple[tuple[str, str], ...]  # (n_features,) for little and much


def _behaviour(cards: Sequence[ProfileCard], spread: FeatureSpread) -> _Behaviour:
    places = {int(label): i for i, label in enumerate(spread.profiles)}
    rows = [places[card.profile] for card in cards]
    medians = spread.median[rows].reshape(len(cards), len(spread.features))
    words = [FEATURES.get(name) or _own_words(name) for name in spread.features]
    if "duration_s" not in spread.features:  # the first word that people look for; twice as long is worth it
        durations = np.array([card.duration_quantiles_s[2] for card in cards], dtype=np.float64)
        logs = np.log10(np.maximum(durations, 1.0)) / TWOFOLD * FEWEST_SPREAD
        medians, words = np.column_stack([logs, medians]), [FEATURES["duration_s"], *words]
    return _Behaviour(medians, tuple(words))


def _own_words(name: str) -> tuple[str, str]:
    for unit in _UNITS:
        name = name.removesuffix(unit)
    text = _value(name.replace("_", " "), LONGEST_VALUE)
    return f"low {text}", f"high {text}"


def _words(behaviour: _Behaviour, members: Sequence[int]) -> dict[int, list[str]]:
    """The words that part each member from the rest, the strongest first; against all profiles if it is alone.

    A feature's strength is how far a profile's median is from the mean of the others' medians, in standard deviations
    of those (at least half a scaled unit); of two features with the same words the stronger one speaks.
    """
    against = members if len(members) > 1 else range(len(behaviour.medians))
    result = {}
    for i in members:
        others = behaviour.medians[[j for j in against if j != i]]
        here = behaviour.medians[i]
        known = np.isfinite(here) & (np.isfinite(others).any(axis=0) if len(others) else False)
        strengths = np.zeros(len(here))
        if known.any():
            between = others[:, known]
            spread = np.maximum(np.nanstd(between, axis=0), FEWEST_SPREAD)
            distance = here[known] - np.nanmean(between, axis=0)
            strengths[known] = np.where(np.abs(distance) >= FEWEST_SPREAD, distance / spread, 0.0)
        words: list[str] = []
        spoken: set[tuple[str, str]] = set()
        for feature in np.argsort(-np.abs(strengths), kind="stable"):
            pair = behaviour.words[feature]
            if strengths[feature] != 0 and pair not in spoken:
                spoken.add(pair)
                words.append(pair[int(strengths[feature] > 0)])
        result[i] = words
    return result


def _distinguished(base: str, members: Sequence[int], words: Mapping[int, Sequence[str]]) -> dict[int, str]:
    """A name for each member: the base, and as many of its words as it takes to be the only one."""
    if len(members) == 1 and base not in ("", "mixed"):
        return {members[0]: base}
    names: dict[int, str] = {}
    open_ones = list(members)
    for count in range(1, MOST_WORDS + 1):
        for i in open_ones:
            names[i] = _joined(base, words[i][:count])
        taken = list(names.values())
        open_ones = [i for i in open_ones if taken.count(names[i]) > 1]
    return names


def _joined(base: str, words: Sequence[str]) -> str:
    name = base
    for word in words:
        longer = f"{name}, {word}" if name else word
        if len(longer) <= LONGEST_NAME:
            name = longer
    return name or "average"


@dataclass(frozen=True)
class Labelled:
    """The profile of each run in one clustering."""

    row_ids: Ints  # (n_rows,)
    labels: Ints  # (n_rows,) profile, -1 = outlier


def successors(old: Labelled, new: Labelled) -> dict[int, int]:
    """Old profile -> the profile of a new cut that it has become, for those that have become one.

    That is the new profile with the most of its runs (of two with equally many, the one with the lower label, which is
    the larger one), where more than half of the new profile's runs are the old one's. Only runs of both clusterings
    count; outliers are no profile. So a new profile comes from one old one at most: of two that were merged, from the
    larger part, and of two halves that came from one, only one does.
    """
    _, here, there = np.intersect1d(old.row_ids, new.row_ids, assume_unique=True, return_indices=True)
    before, after = old.labels[here], new.labels[there]
    clustered = after >= 0
    sizes = np.bincount(after[clustered])
    inside = clustered & (before >= 0)
    pairs, counts = np.unique(np.stack([before[inside], after[inside]]), axis=1, return_counts=True)
    result: dict[int, int] = {}
    for label in np.unique(pairs[0]):
        own = pairs[0] == label
        most = int(counts[own].argmax())  # pairs are in order of labels: the first of equals is the lower one
        to = int(pairs[1][own][most])
        if 2 * counts[own][most] > sizes[to]:
            result[int(label)] = to
    return result
