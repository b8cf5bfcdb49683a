"""Last lines without a line end: a log that is copied while it is written ends within a record."""

from collections.abc import Iterator

from workprof.formats.declare import Remark

CUT = "the last line has no line end and lacks what other records have: it is cut off"


def unended(count: int) -> Iterator[Remark]:
    """Yield what is told of files whose last record may be whole: what it lacks is at most of its last value."""
    if count:
        text = f"{count:,} files end without a line end: the last value of their last record may be cut"
        yield Remark("no line end", count, text, "warning")
