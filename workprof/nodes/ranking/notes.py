"""What a reader of a ranking must know."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workprof.nodes.metrics import ASPECT_OF
from workprof.nodes.parsed_runs import ParsedRuns
from workprof.nodes.ranking.medians import Levels
from workprof.nodes.ranking.records import RankedNode
from workprof.nodes.ranking.selection import Selection, values_without_ratio
from workprof.nodes.ranking.settings import FLAGGED, KEEP_ALL, PERONA, STRESSED, RankSettings

PUBLISHED = (
    "published definitions: the 10-norm of a code ranks and does not measure (eight metrics at .5 give 1.0008, at 1 "
    "they give 1.246), so it does not say how much faster a node is"
)


def ranking_notes(
    parsed: ParsedRuns, selection: Selection, levels: Levels, nodes: Sequence[RankedNode], settings: RankSettings
) -> tuple[str, ...]:
    """Return the notes, the gravest first."""
    notes = [PUBLISHED] if settings.score == PERONA else []
    if not any(one.rank for one in nodes):
        notes.append(f"no ranking: {_reason(nodes)}")
    notes += [
        f"{one.n_runs} runs of {one.benchmark} on {', '.join(one.nodes)} have other parameters than most and are not "
        f"pooled: {one.parameters} instead of {one.compared_with}"
        for one in selection.not_pooled
    ]
    notes += _missing(levels, settings)
    values = values_without_ratio(parsed, selection.kept)
    notes += [f"{count} values of {name} are 0 or less and left out" for name, count in values.items()]
    if settings.exclude in (KEEP_ALL, FLAGGED) and (parsed.stressed[selection.kept] == 1).any():
        count = int((parsed.stressed[selection.kept] == 1).sum())
        notes.append(f"{count} of {len(selection.kept)} runs are labelled as stressed and count; medians resist them")
    if settings.exclude == STRESSED and (parsed.stressed[selection.kept] < 0).any():
        unknown = int((parsed.stressed[selection.kept] < 0).sum())
        notes.append(f"{unknown} runs do not tell whether they were stressed; they count")
    if levels.by_campaign.any():
        notes.append("whole measurement campaigns were resampled where a benchmark has three or more of them")
    return tuple(notes)


def _reason(nodes: Sequence[RankedNode]) -> str:
    reasons = dict.fromkeys(one.reason for one in nodes)
    return "; ".join(reasons)


def _missing(levels: Levels, settings: RankSettings) -> list[str]:
    """Return which weighted aspects nobody was measured on, and which metrics only some nodes have."""
    notes = []
    known = levels.n_values > 0
    for aspect, share in settings.shares.items():
        member = np.array([ASPECT_OF[name] == aspect for name in levels.benchmarks])
        if share > 0 and not known[:, member].any():
            notes.append(f"nobody was measured on {aspect}: it does not count")
            continue
        measured = known[:, member].any(axis=1)
        for column in np.flatnonzero(member & known.any(axis=0) & ~known[measured].all(axis=0)):
            without = [levels.nodes[row] for row in np.flatnonzero(measured & ~known[:, column])]
            notes.append(f"{levels.metrics[column]} is not compared: no value on {', '.join(without)}")
    return notes
