"""What refreshes of a source did, and how a source stands: plain records."""

from dataclasses import dataclass

MOST_DOUBLINGS = 4


@dataclass(frozen=True)
class Refresh:
    """What one refresh of a source did."""

    source: str  # its name
    started: str  # ISO 8601, UTC
    seconds: float = 0.0
    dataset: str = ""  # hash of the dataset then; '' = there was none
    rows: int = 0  # runs of the dataset then
    new: int = 0  # runs that were not there before
    changed: int = 0  # runs that were, otherwise
    gone: int = 0  # runs that were, and that the source no longer has
    gone_columns: tuple[str, ...] = ()  # that had values, and that the source no longer has
    expired: int = 0  # runs that went because they ended too long ago
    rejected: int = 0  # rows that could not be taken
    error: str = ""  # why nothing was changed; '' = it went well


@dataclass(frozen=True)
class SourceStatus:
    """A source as it stands."""

    name: str  # of the source and of its dataset
    kind: str
    where: str  # what it is and where, for people
    every_s: float = 0.0  # between two refreshes; 0 = when somebody says so
    keep_s: float = 0.0  # runs that ended longer ago go; 0 = all stay
    until_s: float = 0.0  # everything before that moment was read; 0 = nothing yet
    rows: int = 0  # runs of its dataset now; 0 = there is none yet
    last: Refresh | None = None  # that went well
    failed: Refresh | None = None  # the latest, where it did not
    failures: int = 0  # that came one after another, up to now

    def wait_s(self, every_s: float) -> float:
        """Seconds until the next refresh: as planned, and twice as long for each failure in turn."""
        return every_s * 2.0 ** min(self.failures, MOST_DOUBLINGS)
