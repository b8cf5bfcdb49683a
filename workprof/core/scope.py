"""A scope: the runs of a dataset that some columns and a period narrow it to; every question takes it as a dataset.

It is written behind the name (or hash) of the dataset: `pai?user=ann&user=bob&period=2026-01`. The same runs have the
same text, which is part of the hash, so that results of a scope are kept as those of any dataset are.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from urllib.parse import parse_qsl, quote, urlencode

from workprof.core.errors import SettingsError
from workprof.core.units import DAY_S
from workprof.core.words import listed

SIGN, PERIOD, TO = "?", "period", ".."
LONGEST = 2000
"""Characters of a scope."""
_DAY = re.compile(r"-?\d+(\.\d+)?", re.ASCII)
_YEAR, _MONTH, _WEEK, _DATE = (
    re.compile(pattern, re.ASCII) for pattern in (r"\d{4}", r"\d{4}-\d{2}", r"\d{4}-W\d{2}", r"\d{4}-\d{2}-\d{2}")
)
EXAMPLES = "2026, 2026-01, 2026-W05, 2026-01-31, or two of them as 2026-01-15..2026-02-14"
NO_PERIOD = f"the period is empty; leave it out for every run, or give such as {EXAMPLES}"


@dataclass(frozen=True)
class Scope:
    """What runs are narrowed to: all that is named must hold, one of several values of a column is enough."""

    of: tuple[tuple[str, tuple[str, ...]], ...] = ()  # column -> its values; '' = the runs without one
    period: str = ""  # in which a run starts, or was submitted where it never started; '' = any

    def __post_init__(self) -> None:
        merged: dict[str, set[str]] = {}
        for name, values in self.of:
            merged.setdefault(name, set()).update(values)
        object.__setattr__(self, "of", tuple((name, tuple(sorted(merged[name]))) for name in sorted(merged)))

    def __str__(self) -> str:
        """As it stands behind a dataset's name; '' where nothing is narrowed."""
        pairs = [(name, value) for name, values in self.of for value in values]
        return urlencode([*pairs, *([(PERIOD, self.period)] if self.period else [])], quote_via=quote, safe="")

    def values(self, column: str) -> tuple[str, ...]:
        """Those of a column; () = it is not narrowed."""
        return dict(self.of).get(column, ())

    @property
    def words(self) -> str:
        """Such as 'user ann or bob, 2026-01'."""
        parts = [
            f"{name.removesuffix('_name').replace('_', ' ')} {listed([one or 'none' for one in values], 'or')}"
            for name, values in self.of
        ]
        return ", ".join([*parts, *([period_words(self.period)] if self.period else [])])


def parsed(text: str) -> Scope:
    """What a text such as 'user=ann&period=2026-01' says.

    Raises SettingsError when it says nothing, a part has no '=', or a period is empty or given twice.
    """
    if len(text) > LONGEST:
        raise SettingsError(f"a scope of {len(text):,} characters is too long; give at most {LONGEST:,}")
    try:
        pairs = parse_qsl(text, keep_blank_values=True, strict_parsing=True)
    except ValueError:
        raise SettingsError(f"scope {text!r} cannot be read; write NAME=VALUE, with & between several") from None
    periods = [value for name, value in pairs if name == PERIOD]
    if len(periods) > 1:
        raise SettingsError(f"{len(periods)} periods are given; give one, such as {EXAMPLES}")
    if periods == [""]:
        raise SettingsError(NO_PERIOD)
    return Scope(tuple((name, (value,)) for name, value in pairs if name != PERIOD), *periods)


def titled(name: str) -> str:
    """A dataset's name in a heading, its scope in words: 'pai: user ann, 2026-01'."""
    whole, text = split(name)
    return f"{whole}: {parsed(text).words}" if text else whole


def split(name: str) -> tuple[str, str]:
    """Name or hash of the whole dataset, and the text of the scope behind it; '' = none."""
    whole, _, text = name.partition(SIGN)
    return whole, text


def of_dataset(name: str) -> Scope:
    """What a name or hash is narrowed to; every run where it is of the whole dataset."""
    text = split(name)[1]
    return parsed(text) if text else Scope()


def narrowed(name: str, scope: Scope) -> str:
    """The name (or hash) of a dataset, whole or narrowed already, narrowed to a scope instead."""
    text = str(scope)
    return split(name)[0] + (f"{SIGN}{text}" if text else "")


def of_options(name: str, only: Sequence[str], period: str | None) -> str:
    """A dataset's name with what the options of a command narrow it to besides.

    Raises SettingsError when an option is no NAME=VALUE; when a period is empty or given twice.
    """
    given, more = of_dataset(name), of_words(only, period)
    if given.period and more.period:
        raise SettingsError(f"two periods are given, {given.period} and {period}; give one")
    return narrowed(name, Scope((*given.of, *more.of), more.period or given.period))


def of_words(only: Sequence[str], period: str | None) -> Scope:
    """The scope of NAME=VALUE words and a period (None = any); raises SettingsError when one says nothing."""
    if period is not None and not period.strip():
        raise SettingsError(NO_PERIOD)
    pairs = []
    for one in only:
        column, sign, value = one.partition("=")
        if not (column and sign):
            raise SettingsError(f"--only {one!r} is no NAME=VALUE; give such as --only user=ann")
        if column == PERIOD:
            raise SettingsError(f"give the period as --period {value}")
        pairs.append((column, (value,)))
    return Scope(tuple(pairs), period or "")


def between(period: str | None, since: str | None, until: str | None) -> str | None:
    """The period that options name: as it is given, or from one time to the end of another; None = any.

    Raises SettingsError when both are given, or a time is empty.
    """
    ends = [one for one in (since, until) if one is not None]
    if not ends:
        return period
    if period is not None:
        raise SettingsError(f"two periods are given, {period} and one by --since or --until; give one")
    if not all(one.strip() for one in ends):
        raise SettingsError(NO_PERIOD)
    return f"{since or ''}{TO}{until or ''}"


def bounds(period: str, *, dates: bool, utc_offset_s: float) -> tuple[float | None, float | None]:
    """Where a period begins and where what comes after it begins, in seconds on the trace's clock; None = open.

    Args:
        period: dates, which are whole (2026-01..2026-02 ends with February), or days of the trace's clock (22..50).
        dates: whether the clock counts from 1970.
        utc_offset_s: of the zone in which dates are written.

    Raises SettingsError when it cannot be read, ends before it begins, or is of the other kind.
    """
    first, between, last = (part.strip() for part in period.partition(TO))
    last = last if between else first
    if not (first or last):
        raise SettingsError(f"period {period!r} names no time; give such as {EXAMPLES}")
    if dates:
        low = None if not first else _span(first, period)[0].timestamp() - utc_offset_s
        high = None if not last else _span(last, period)[1].timestamp() - utc_offset_s
    else:
        if not all(_DAY.fullmatch(part) for part in (first, last) if part):
            raise SettingsError(
                f"period {period!r} names dates, and the clock of this trace begins at 0: give its days, such as 22..50"
            )
        low = float(first) * DAY_S if first else None
        high = (float(last) + (not between)) * DAY_S if last else None
    if low is not None and high is not None and high <= low:
        raise SettingsError(f"period {period!r} ends before it begins; give the earlier time first")
    return low, high


def clock_text(moment_s: float, utc_offset_s: float, *, dates: bool) -> str:
    """A moment of the trace's clock as a period names it: '2026-01-15T12:00:00', or its day '22.5'."""
    if not dates:
        return f"{moment_s / DAY_S:.9f}"
    return f"{datetime.fromtimestamp(moment_s + utc_offset_s, UTC):%Y-%m-%dT%H:%M:%S}"


def earlier(period: str) -> str:
    """The period of the same length before: the month before a month, 22..30 before 30..38; '' = there is none."""
    first, between, last = (part.strip() for part in period.partition(TO))
    last = last if between else first
    if not (first and last):
        return ""
    if _DAY.fullmatch(first) and _DAY.fullmatch(last) and not _YEAR.fullmatch(first):
        begin, end = float(first), float(last) + (not between)
        return f"{2 * begin - end:g}{TO}{begin:g}"
    if not between and _MONTH.fullmatch(first):
        return f"{_span(first, period)[0] - timedelta(days=1):%Y-%m}"
    begin_at, end_at = _span(first, period)[0], _span(last, period)[1]
    if begin_at.time() != time.min or end_at.time() != time.min or end_at <= begin_at:
        return ""
    return f"{begin_at - (end_at - begin_at):%Y-%m-%d}{TO}{begin_at - timedelta(days=1):%Y-%m-%d}"


def period_words(period: str) -> str:
    """Such as '2026-01', '2026-01-15 to 2026-02-14', 'days 22 to 50', 'since 2026-01'."""
    first, between, last = (part.strip() for part in period.partition(TO))
    days = _of_days(period)
    if first and last:
        return f"{'days ' if days else ''}{first} to {last}"
    return f"{'' if not between else 'since ' if first else 'until '}{'day ' if days else ''}{first or last}"


def _of_days(period: str) -> bool:
    """Whether its ends are days of a clock that begins at 0; a number of four digits is a year."""
    ends = [part.strip() for part in period.split(TO) if part.strip()]
    return all(_DAY.fullmatch(one) and not _YEAR.fullmatch(one) for one in ends)


def refuse_empty(scope: Scope) -> None:
    """Refuse a scope that narrows nothing on any clock: raises SettingsError, as for a period that cannot be read."""
    if not str(scope):
        raise SettingsError("the scope narrows nothing; give such as user=ann, or a period")
    if scope.period:
        bounds(scope.period, dates=not _of_days(scope.period), utc_offset_s=0.0)


def _span(text: str, period: str) -> tuple[datetime, datetime]:
    """A year, month, week, day or moment: its begin and the begin of what follows, as if in UTC."""
    try:
        if _YEAR.fullmatch(text):
            return datetime(int(text), 1, 1, tzinfo=UTC), datetime(int(text) + 1, 1, 1, tzinfo=UTC)
        if _MONTH.fullmatch(text):
            year, month = int(text[:4]), int(text[5:])
            return datetime(year, month, 1, tzinfo=UTC), datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
        if _WEEK.fullmatch(text):
            begin = datetime.fromisocalendar(int(text[:4]), int(text[6:]), 1).replace(tzinfo=UTC)
            return begin, begin + timedelta(weeks=1)
        begin = datetime.fromisoformat(text)
        if begin.tzinfo is not None:
            raise SettingsError(f"period {period!r} names a zone; leave it out: times are those that the pages show")
        begin = begin.replace(tzinfo=UTC)
        return begin, begin + timedelta(days=1) if _DATE.fullmatch(text) else begin
    except (ValueError, OverflowError):
        raise SettingsError(f"period {period!r} cannot be read; give such as {EXAMPLES}") from None
