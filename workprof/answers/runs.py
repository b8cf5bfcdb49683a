"""Which runs count and which do not, and what of their requests is never used: the same words everywhere."""

from collections.abc import Mapping, Sequence

from workprof.core.causes import OUT_OF_MEMORY, RUNNING
from workprof.core.units import format_share, gb_h, grouped, number
from workprof.memory.usage import TARGET_WORDS, Evidence

PLURAL = ("cores", "GPUs")


def excluded_words(left_out: Mapping[str, int]) -> str:
    """The runs that count in no figure, by reason: '12 with no use of memory'; '' = none."""
    return ", ".join(f"{rows:,} with {reason}" for reason, rows in left_out.items() if rows)


def unfinished_words(evidence: Sequence[Evidence]) -> str:
    """The rows that did not finish, by cause, without a full stop; '' where every row finished."""
    if not evidence:
        return ""
    parts = []
    for one in evidence:
        use = f", of which {one.n_bounds:,} tell a use of at least their limit" if one.cause == OUT_OF_MEMORY else ""
        word = "so far" if one.cause == RUNNING else "lost"
        parts.append(f"{one.n_runs:,} {one.cause} ({number(one.hours)} h and {gb_h(one.requested_gb_h)} {word}{use})")
    return f"Not finished, and in no quantile: {'; '.join(parts)}"


def runs_notes(left_out: Mapping[str, int], evidence: Sequence[Evidence], target: str) -> tuple[str, ...]:
    """What did not finish, what is excluded, and what counts as use."""
    unfinished, excluded = unfinished_words(evidence), excluded_words(left_out)
    nothing = f"No {'finished run' if evidence else 'run'} is excluded"
    what = f"Excluded: {excluded}" if excluded else nothing
    return (*([f"{unfinished}."] if unfinished else []), f"{what}. Memory measure: {TARGET_WORDS[target]}.")


def never_used(what: str, unused: float, requested: float, hours: str) -> str:
    """'68 % of requested memory is never used: 158,000 of 233,000 GB·h.'."""
    if not requested > 0:
        return f"No run held requested {what} for any time."
    are = "are" if what in PLURAL else "is"
    amounts = f"{grouped(unused)} of {grouped(requested)} {hours}"
    return f"{format_share(unused / requested, 0)} of requested {what} {are} never used: {amounts}."
