"""Values as systems write them, read by one parser: durations, sizes, amounts of cores and GPUs, moments.

Each function returns an SQL expression over a text: a number in workprof's own unit, NULL where the text is none. So
ten million cells take one pass, and a page that shows what five values would become asks the same expression.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date

import duckdb

from workprof.core.units import DAY_S, HOUR_S, KIB, MINUTE_S

NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,2})?"
"""A plain number; a decimal comma is made a point before."""

LONGEST = 60
"""Characters of a value at most: with two digits of an exponent no number of these is infinite."""

PARTS = (
    ("w(?:ks?|eeks?|ochen?)?", 7.0 * DAY_S),
    ("(?:d(?:ays?)?|tage?n?)", float(DAY_S)),
    (r"(?:h(?:rs?|ours?)?|std\.?|stunden?)", float(HOUR_S)),
    (r"m(?:ins?\.?|inutes?|inuten?)?", float(MINUTE_S)),
    (r"s(?:ecs?|econds?|econd\(s\)|eks?\.?|ekunden?)?", 1.0),  # LSF writes 'second(s)'
    ("(?:ms|msecs?|millis(?:econds?)?)", 1e-3),
    ("(?:us|µs|μs|usecs?|micros(?:econds?)?)", 1e-6),
    ("(?:ns|nanos(?:econds?)?)", 1e-9),
)
"""Parts of a duration written for people, the longest first, each at most once: '1h 3m 4s', '90 min', '2 days'."""

AMOUNT_UNITS = {"%": 1.0, "m": 1e-1, "u": 1e-4, "n": 1e-7}
"""Percent of one core or GPU in each unit: Kubernetes' thousandth, millionth and billionth."""

SIZE_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5, "e": 6}


def plain(text: str, decimal: str = ".") -> str:
    """The SQL of a text's number, NULL where it is none."""
    pointed = f"replace({text}, ',', '.')" if decimal == "," else text
    return f"CASE WHEN regexp_full_match(trim({pointed}), '{NUMBER}') THEN TRY_CAST(trim({pointed}) AS DOUBLE) END"


def _parts(text: str, pattern: str, groups: int, sql: str) -> str:
    """The SQL of something over `each.g0`, `each.g1` ...: the groups of a match, all '' where there is none."""
    return f"[{sql} for each in [regexp_extract({text}, '{pattern}', {[f'g{at}' for at in range(groups)]})]][1]"


def _summed(text: str, pattern: str, factors: Sequence[float]) -> str:
    """The SQL of the sum of the groups of a whole match, each times its factor, NULL where none is there."""
    any_of = " || ".join(f"each.g{at}" for at in range(len(factors)))
    added = " + ".join(f"coalesce(TRY_CAST(each.g{at} AS DOUBLE), 0) * {factor!r}" for at, factor in enumerate(factors))
    return _parts(text, f"^{pattern}$", len(factors), f"CASE WHEN {any_of} <> '' THEN {added} END")


def duration(text: str, factor: float = 1.0, decimal: str = ".") -> str:
    """The SQL of a duration in seconds.

    Read are a bare number (times `factor`), '[D-]HH:MM:SS[.mmm]', 'D days HH:MM:SS' (Python's), 'D.HH:MM:SS' (.NET's),
    'MM:SS[.mmm]', 'D-HH[:MM]', '1h 3m 4s' and the like, and 'P1DT2H3M4.5S'. A clock may have a decimal comma.

    `text` is SQL; the factor is seconds in one unit of a bare number.

    Source: Slurm's manual for clocks (sacct, Elapsed; sbatch, --time); ISO 8601 for the last one.
    """
    of_clock = rf"regexp_replace({text}, '(:\d\d),(\d+)', '\1.\2')"
    value = f"trim(replace({text}, ',', '.'))" if decimal == "," else f"trim({of_clock})"
    clock = r"(?:(\d+)(?:-|\.|\s*days?,?\s+))?(\d+):(\d{1,2}):(\d{1,2}(?:\.\d+)?)"
    minutes = r"(\d+):(\d{1,2}(?:\.\d+)?)"
    days = r"(\d+)-(\d{1,2})(?::(\d{1,2}))?"
    amount = r"(\d+(?:\.\d*)?|\.\d+)"
    people = "(?i:" + "".join(rf"(?:{amount}\s*{unit}\s*,?\s*)?" for unit, _ in PARTS) + ")"
    iso = rf"P(?:{amount}W)?(?:{amount}D)?(?:T(?:{amount}H)?(?:{amount}M)?(?:{amount}S)?)?"
    written = (
        (clock, (DAY_S, HOUR_S, MINUTE_S, 1.0)),
        (minutes, (MINUTE_S, 1.0)),
        (days, (DAY_S, HOUR_S, MINUTE_S)),
        (people, tuple(each for _, each in PARTS)),
        (iso, (7.0 * DAY_S, float(DAY_S), float(HOUR_S), float(MINUTE_S), 1.0)),
    )
    digits = (f"TRY_CAST(substr({value}, {at}, 2) AS UTINYINT)" for at in (1, 4, 7))
    usual = " + ".join(
        f"{part} * {each!r}" for part, each in zip(digits, (float(HOUR_S), float(MINUTE_S), 1.0), strict=True)
    )
    return (
        f"CASE WHEN len({value}) = 8 AND substr({value}, 3, 1) = ':' AND substr({value}, 6, 1) = ':' THEN {usual} "
        f"WHEN regexp_full_match({value}, '{NUMBER}') THEN TRY_CAST({value} AS DOUBLE) * {factor!r} "
        f"ELSE coalesce({', '.join(_summed(value, pattern, factors) for pattern, factors in written)}) END"
    )


def count(text: str) -> str:
    """The SQL of a count that may be written in 1024s, as Slurm prints thousands of nodes: '2K', '2.50K'.

    Less than one of them, or parts other than a half, is a count that was rounded: none.

    Source: Slurm's sources, convert_num_unit2.
    """
    value, pattern = f"trim({text})", r"(\d+)(?:\.50?)?([KMG])"
    amount = f"TRY_CAST(regexp_extract({value}, '{NUMBER}', 0) AS DOUBLE)"
    powers = " ".join(f"WHEN '{letter.upper()}' THEN {float(KIB ** SIZE_POWERS[letter])!r}" for letter in "kmg")
    return (
        f"CASE WHEN regexp_full_match({value}, '{NUMBER}') THEN TRY_CAST({value} AS DOUBLE) "
        f"WHEN regexp_full_match({value}, '{pattern}') AND {amount} >= 1 "
        f"THEN {amount} * CASE right({value}, 1) {powers} END END"
    )


_BYTES = "(?:(?:ilo|ega|iga|era|eta|xa)?[bB](?:ytes?|s)?|o)"


def size(text: str, factor: float = 1.0, base: int = KIB, decimal: str = ".") -> str:
    """The SQL of a size in bytes: '16Gi', '2.5 GB', '4G', '32555630K', '4Gn', '128974848000m', a bare number.

    Slurm ends a request with n (per node) or c (per core): see `per`. 'Ki', 'KiB' are 1024 whatever the base; 'kB',
    'KB', 'mb' ... and 'K', 'M', 'g' ... are powers of the base; a lower-case 'm' alone is Kubernetes' thousandth.

    `text` is SQL; the factor is bytes in one unit of a bare number. The base of K, M, G is 1024 for Slurm, Nextflow and
    the JVM; 1000 for Kubernetes. Octets are bytes ('4 Go').
    """
    value = f"trim(replace({text}, ',', '.'))" if decimal == "," else f"trim({text})"
    # PBS writes '4096mb'
    pattern = rf"^({NUMBER})\s*(?:([kKMGTPEgt]?i?)(?:{_BYTES})?[nc]?|([mpe]i?){_BYTES})$"
    powers = " ".join(
        f"WHEN '{letter}' THEN {float(base**power)!r} WHEN '{letter}i' THEN {float(KIB**power)!r}"
        for letter, power in SIZE_POWERS.items()
        if letter
    )
    amount = f"TRY_CAST(each.g0 AS DOUBLE) * CASE lower(each.g1 || each.g2) {powers} ELSE 1.0 END"
    return (
        f"CASE WHEN regexp_full_match({value}, '{NUMBER}[nc]?') "
        f"THEN TRY_CAST(rtrim({value}, 'nc') AS DOUBLE) * {factor!r} "
        f"WHEN regexp_full_match({value}, '{NUMBER}m') THEN TRY_CAST(rtrim({value}, 'm') AS DOUBLE) / 1000 "
        f"ELSE {_parts(value, pattern, 3, amount)} END"
    )


def per(text: str) -> str:
    """The SQL of what a size is counted by: 'n' per node, 'c' per core, '' the whole (Slurm before 21.08)."""
    return f"regexp_extract(trim({text}), '[0-9KMGTPkgt]([nc])$', 1)"


def amount(text: str, factor: float = 100.0, decimal: str = ".") -> str:
    """The SQL of an amount of cores or GPUs in percent of one: '500m', '250000000n', '50 %', a bare number.

    `text` is SQL; the factor is percent in one unit of a bare number (100 for cores).
    """
    value = f"trim(replace({text}, ',', '.'))" if decimal == "," else f"trim({text})"
    of_unit = " ".join(f"WHEN '{unit}' THEN {each!r}" for unit, each in (("", factor), *AMOUNT_UNITS.items()))
    number = f"TRY_CAST(each.g0 AS DOUBLE) * CASE trim(each.g1) {of_unit} END"
    return _parts(value, rf"^({NUMBER})(\s*%|[mun])?$", 2, number)


MOMENTS = (
    "%a %b %d %H:%M:%S %Y",
    "%m/%d/%Y %H:%M:%S",
    "%d/%b/%Y:%H:%M:%S",
    "%a, %d %b %Y %H:%M:%S GMT",
    "%d.%m.%Y %H:%M:%S",
    "%m/%d/%y-%H:%M:%S",
    "%m/%d/%Y %H:%M",
    "%m/%d/%Y %I:%M:%S %p",
    "%m/%d/%Y %I:%M %p",
    "%d.%m.%Y %H:%M",
    "%m/%d/%Y",
    "%d.%m.%Y",
    *(f"%d{sign}%b{sign}%Y{time}" for sign in ("-", " ") for time in (" %H:%M:%S", " %H:%M", " %I:%M:%S %p", "")),
)
"""Further ways to write a moment, in the formats of strptime; the second is the American order."""

OF_DATE = r"^([A-Z][a-z]{2} .*\d:\d\d(?: [AP]M)?) ([A-Z]{3,5})( \d{4})?$"
OF_DATES = tuple(
    f"{day}{clock}{year}"
    for clock in ("%H:%M:%S", "%I:%M:%S %p")
    for day, year in (("%a %b %d ", " %Y"), ("%a %d %b %Y ", ""))
)
"""What `date` prints, 'Mon May  6 10:01:00 CEST 2024' or 'Mon 06 May 2024 10:01:00 AM CEST': around the zone, and that
without it."""

IN_BROWSERS = "%b %d %Y %H:%M:%S GMT%z"
WITH_OFFSET = ("%a, %d %b %Y %H:%M:%S %z", "%d/%b/%Y:%H:%M:%S %z")
"""Moments of mails (RFC 5322) and of web servers."""

OF_BROWSERS = r"^\w+ (\w+ \d+ \d{4} [\d:]+ GMT[+-]\d{4})"
"""What a browser's Date prints, without the weekday: 'Sun May 26 2024 21:54:50 GMT+0200 (CEST)'."""

BASIC = r"(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d(?:\.\d+)?(?:Z|[+-]\d\d(?::?\d\d)?)?)"
"""A moment in ISO 8601's basic format: '20240526T195450Z'."""

YEAR_LAST = ("%m-%d-%Y %H:%M:%S", "%m-%d-%Y %H:%M", "%m-%d-%Y")
"""With a year of four digits: '12-05-24' may begin with its year."""

YEAR_FIRST = tuple(f"%Y{sign}%m{sign}%d{time}" for sign in "/." for time in (" %H:%M:%S", " %H:%M", ""))

TWO_DIGITS = r"^\s*\d{1,2}(?:[/.]\d{1,2}[/.]|[- ][A-Za-z]{3}[- ])\d\d(?:\D|$)"
"""A moment whose year has two digits: 69 to 99 are of the last century, 00 to 68 of this one (POSIX, strptime)."""

OPEN = (
    r"[+-]?inf(?:inity)?|9999-.*|253402300(?:799|800|799000|799999)(?:\.0*)?|9223372036854775807|18446744073709551615"
)
NOT_KNOWN = (
    r"epoch|unknown|nan|nat|n/a|<?(?:none|na|null|unset)>?|"
    r"(?:1970-01-01|000[01]-0[01]-0[01])(?:[T ]00:00(?::00(?:\.0+)?)?)?\s?(?:Z|[+-]00(?::?00)?)?"
)
"""Texts of moments that never come, or are not known: Postgres writes 'infinity' and 'epoch', MySQL zeros, Go the
year 1, kubectl '<none>', Slurm 'Unknown', Python 'None' and 'NaT'."""


NEVER = (253402300799.0, 253402300800.0, 253402300799000.0, 253402300799999.0, 2.0**63, 2.0**64)
"""Those of `OPEN` that are numbers: the end of the year 9999 in s and ms, the largest integers."""
NOT_YET = r"-1(?:\.0*)?"
"""What many systems write for a moment that is not there: no unit is told by it, and its cell is out of bounds."""


IN_NUMBERS = r"\s*(\d{1,2})(?:/(\d{1,2})/|-(\d{1,2})-\d\d)\d\d"
"""A day of numbers alone, the year last: '5/26/24', '26-5-2024'."""
MONTHS = 12


def order_of_days(texts: Iterable[str]) -> str:
    """How the days of moments in numbers stand: 'first', 'second', 'either', '' = the year is first, or spelled out.

    A number above 12 is no month, and who writes AM and PM writes the month first. Where there is neither the order
    cannot be told, where there are both it changes.
    """
    numbered = [match for text in texts if (match := re.match(IN_NUMBERS, text))]
    first = any(int(match[1]) > MONTHS for match in numbered)
    second = any(
        int(match[2] or match[3]) > MONTHS or match.string.rstrip().upper().endswith("M") for match in numbered
    )
    if first == second:
        return "either" if numbered else ""
    return "first" if first else "second"


DATE_IN_NUMBERS = re.compile(r"\s*(\d{1,2})[/-](\d{1,2})[/-](\d{4}|\d\d)")
CENTURY = 2000
TIMES_AS_FAR = 3


def order_of_samples(texts: Iterable[str], last_day: str = "") -> str:
    """The order of days of regular samples, of which `order_of_days` tells 'either'.

    Where a day has several samples, its neighbour is a day away in one order, and a month in the other one. Samples of
    one day are of `last_day`, as 2024-05-01, where one order alone says so: a file of it may be named.
    """
    found = Counter(match.groups() for text in texts if (match := DATE_IN_NUMBERS.match(text)))
    by_day = {one: (int(one[2]) % CENTURY + CENTURY, int(one[0]), int(one[1])) for one in found}
    if not found or any(not 1 <= part <= MONTHS for _, *parts in by_day.values() for part in parts):
        return "either"
    orders = {
        "first": [date(year, second, first).toordinal() for year, first, second in by_day.values()],
        "second": [date(year, first, second).toordinal() for year, first, second in by_day.values()],
    }
    if orders["first"] == orders["second"]:
        return "second"
    near, far = sorted(orders, key=lambda order: max(orders[order]) - min(orders[order]))
    spans = [max(orders[order]) - min(orders[order]) for order in (near, far)]
    if spans[1] > TIMES_AS_FAR * spans[0] and 2 * len(found) <= found.total():
        return near
    ends = [order for order, days in orders.items() if str(date.fromordinal(max(days))) == last_day]
    return ends[0] if len(ends) == 1 else "either"


ZONES = {
    **{"UTC": "+00", "GMT": "+00", "UT": "+00", "WET": "+00", "WEST": "+01", "BST": "+01", "CET": "+01", "CEST": "+02"},
    **{"EET": "+02", "EEST": "+03", "MSK": "+03", "SAST": "+02", "WAT": "+01", "CAT": "+02", "EAT": "+03"},
    **{"EST": "-05", "EDT": "-04", "CDT": "-05", "MST": "-07", "MDT": "-06", "PST": "-08", "PDT": "-07"},
    **{
        "AKST": "-09",
        "AKDT": "-08",
        "HST": "-10",
        "PKT": "+05",
        "WIB": "+07",
        "HKT": "+08",
        "SGT": "+08",
        "AWST": "+08",
        "JST": "+09",
        "KST": "+09",
    },
    **{"ACST": "+09:30", "ACDT": "+10:30", "AEST": "+10", "AEDT": "+11", "NZST": "+12", "NZDT": "+13"},
}
"""Offsets of the zones that have an abbreviation to themselves (IANA's tz database, SGT beside it). Not CST, IST, AST
and SST, of which several zones have each."""
NAMED_ZONE = r"^(.*\d)\s?([A-Z]{2,5})$"
APART = r"\s+(Z|[+-]\d\d(?::?\d\d)?)(?:\s[A-Z]{2,5})?$"
"""An offset behind a blank, as Git, Ruby and Go write it; Go names the zone, too ('+0200 CEST')."""


OF_ORACLE = r"^(\d\d-[A-Z]{3}-\d\d) (\d\d)\.(\d\d)\.(\d\d)(?:\.\d*)?"
"""A moment of Oracle, '16-MAY-24 10.01.00.000000 AM'."""


def _seconds_of(offset: str) -> float:
    hours, _, minutes = offset.partition(":")
    return int(hours) * float(HOUR_S) + int(minutes or 0) * float(MINUTE_S)


def no_moment(text: str, *which: str) -> str:
    """The SQL of whether a text says that a moment is open or not known."""
    return f"coalesce(regexp_full_match(trim({text}), '(?i:{'|'.join(which or (OPEN, NOT_KNOWN))})'), FALSE)"


def moment(text: str, factor: float = 1.0, decimal: str = ".", *, day_first: bool = False) -> str:
    """The SQL of a moment in seconds since 1970: an epoch (times `factor`), ISO 8601, or one of `MOMENTS`.

    A moment without a zone is UTC (the connection's zone is set so), an abbreviated zone is one of `ZONES`. With
    `day_first` 5/4 is in April.
    """
    value = f"trim(replace({text}, ',', '.'))" if decimal == "," else f"trim({text})"
    formats = (each.replace("%m/%d", "%d/%m") if day_first else each for each in MOMENTS)
    year_last = (each.replace("%m-%d", "%d-%m") if day_first else each for each in YEAR_LAST)
    short_first = (one for each in formats for one in dict.fromkeys((short_year(each), each)))
    # Python's logs have a comma before the fraction, as ISO 8601 may; spreadsheets have one behind the day
    iso = f"replace(replace({value}, ', ', ' '), ',', '.')"
    in_locale = rf"regexp_replace({value}, '^(\S*\d)[,.] ', '\1 ')"  # a browser writes '5/26/2024, 7:54:50 PM'
    in_locale = rf"regexp_replace({in_locale}, '{OF_ORACLE}', '\1 \2:\3:\4')"
    in_locale = rf"regexp_replace({in_locale}, '(:\d\d)\.\d+( [AP]M)$', '\1\2')"  # Azure's logs have a fraction
    seconds = {name: _seconds_of(offset) for name, offset in ZONES.items()}
    of_date = f"epoch(try_strptime(each.g0 || each.g2, [{_listed(OF_DATES)}])) - MAP {seconds!r}[each.g1]"
    return (
        f"CASE WHEN substr({value}, 5, 1) = '-' AND substr({value}, 8, 1) = '-' "
        f"THEN CASE WHEN NOT ({_begins(value, '9999', '000')}) "
        f"THEN [nullif(each, 0) for each in [epoch(TRY_CAST({_offset(iso)} AS TIMESTAMPTZ))]][1] END "
        f"WHEN regexp_full_match({value}, '{NUMBER}') "
        f"THEN CASE WHEN NOT {no_moment(value)} THEN TRY_CAST({value} AS DOUBLE) * {factor!r} END "
        f"WHEN {no_moment(value)} THEN NULL "
        f"WHEN regexp_full_match({value}, '{BASIC}') "
        f"THEN epoch(TRY_CAST(regexp_replace({value}, '{BASIC}', '\\1-\\2-\\3T\\4:\\5:\\6') AS TIMESTAMPTZ)) "
        f"WHEN regexp_matches({value}, '^\\d{{1,2}}-\\d{{1,2}}-\\d{{4}}\\b') "
        f"THEN epoch(try_strptime({value}, [{_listed(year_last)}])) "
        f"WHEN starts_with({value}, '/Date(') THEN TRY_CAST(regexp_extract({value}, '-?\\d+') AS DOUBLE) / 1000 "
        f"WHEN regexp_matches({value}, '{OF_DATE}') THEN {_parts(value, OF_DATE, 3, of_date)} "
        f"WHEN regexp_matches({value}, '{OF_BROWSERS}') "
        f"THEN epoch(try_strptime(regexp_extract({value}, '{OF_BROWSERS}', 1), '{IN_BROWSERS}')) "
        f"WHEN regexp_matches({value}, '^\\d{{4}}[/.]') THEN epoch(try_strptime({value}, [{_listed(YEAR_FIRST)}])) "
        f"WHEN regexp_matches({value}, ' [+-]\\d{{4}}$') THEN epoch(try_strptime({value}, [{_listed(WITH_OFFSET)}])) "
        f"ELSE epoch(try_strptime({in_locale}, [{_listed(short_first)}])) END"
    )


def _offset(value: str) -> str:
    """The SQL of a moment with the offset of its zone right behind it; NULL for a name that several zones have."""
    named = (
        f"right({value}, 1) BETWEEN 'A' AND 'Y' AND regexp_matches({value}, '{NAMED_ZONE}') "
        f"AND NOT regexp_matches({value}, '{APART}')"
    )
    apart = (
        f"CASE WHEN contains(substr({value}, 14), ' ') THEN regexp_replace({value}, '{APART}', '\\1') ELSE {value} END"
    )
    with_zone = _parts(value, NAMED_ZONE, 2, f"each.g0 || MAP {ZONES!r}[each.g1]")
    return f"CASE WHEN {named} THEN {with_zone} ELSE {apart} END"


def _begins(value: str, *starts: str) -> str:
    return " OR ".join(f"starts_with({value}, '{start}')" for start in starts)


def short_year(form: str) -> str:
    """A form with a year of two digits; strptime takes '26' for the year 26 where four are meant."""
    return form.replace("/%Y", "/%y").replace(".%Y", ".%y").replace("%b-%Y", "%b-%y").replace("%b %Y", "%b %y")


def _listed(forms: Iterable[str]) -> str:
    return ", ".join(f"'{form}'" for form in forms)


THOUSANDS = r"[+-]?\d{1,3}(?:\.\d{3})+(?:\s*[A-Za-z%]+)?"
"""Where commas are decimal, '1.234' may be a thousand or one: it is read as neither."""

BETWEEN_THOUSANDS = {",": ",", ".": r"\.", "'": "['\u2019]", " ": "[ \u00a0\u202f]"}
"""Signs between thousands -> the pattern of each: Swiss apostrophes and all blanks that numbers may have."""


def grouped(sign: str, decimal: str) -> str:
    """The pattern of a number with a sign between its thousands: '4,194,304', '1,024.5 MB'; '0,512' is none."""
    fraction = "" if sign == decimal else rf"(?:{re.escape(decimal)}\d+)?"
    return rf"[+-]?[1-9]\d{{0,2}}(?:{BETWEEN_THOUSANDS[sign]}\d{{3}})+{fraction}(?:\s?[A-Za-z%]{{1,6}})?"


def ungrouped(text: str, sign: str, decimal: str) -> str:
    """The SQL of a text without the signs between the thousands of its number, as a column of such numbers has."""
    if not sign:
        return text
    pattern, between = (each.replace("'", "''") for each in (grouped(sign, decimal), BETWEEN_THOUSANDS[sign]))
    bare = f"regexp_replace(trim({text}), '{between}(\\d)', '\\1', 'g')"
    return f"CASE WHEN regexp_full_match(trim({text}), '{pattern}') THEN {bare} ELSE {text} END"


TIME, TIME_DAY_FIRST, COUNT = "time", "time, day first", "count"
"""Quantities of a moment, and of a count that may be written in 1024s; the other quantities are named by the unit that
they are kept in."""

DAY_FIRST = "d/m/y"
"""Unit of moments that are written with slashes, the day before the month; without it the month is first."""


TRUTH = "true"
"""Quantity of what is a number, or true (1) or false (0)."""
TRUE, FALSE = ("true", "t", "yes", "y", "1", "1.0"), ("false", "f", "no", "n", "0", "0.0")
"""Texts that are true and false, in lower case."""


def number(text: str, quantity: str, factor: float = 1.0, base: int = KIB, decimal: str = ".") -> str:
    """The SQL of the finite number that a text says, in workprof's unit.

    The quantity is 's', 'B', 'percent', `TIME`, `TIME_DAY_FIRST`, `COUNT`, `TRUTH`, or '' for a plain number; the
    factor is of a bare number, the base of K, M, G in sizes.
    """
    if quantity == "B":
        read = size(text, factor, base, decimal)
    elif quantity in (TIME, TIME_DAY_FIRST):
        read = moment(text, factor, decimal, day_first=quantity == TIME_DAY_FIRST)
    elif quantity in ("s", "percent"):
        read = {"s": duration, "percent": amount}[quantity](text, factor, decimal)
    elif quantity == COUNT:
        read = count(text)
    elif quantity == TRUTH:
        said = f"lower(trim({text}))"
        read = (
            f"CASE WHEN {said} IN {TRUE!r} THEN 1.0 WHEN {said} IN {FALSE!r} THEN 0.0 ELSE {plain(text, decimal)} END"
        )
    else:
        read = plain(text, decimal)
    points = decimal == "," and quantity not in (TIME, TIME_DAY_FIRST)
    doubtful = f" AND NOT regexp_full_match(trim({text}), '{THOUSANDS}')" if points else ""
    return f"CASE WHEN len({text}) <= {LONGEST}{doubtful} THEN {read} END"


def numbers(
    texts: Sequence[str], quantity: str, factor: float = 1.0, base: int = KIB, decimal: str = "."
) -> list[float | None]:
    """What each of some texts says, None where one says nothing: as `number`, for a look at a file."""
    sql = number("t", quantity, factor, base, decimal)
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        result = connection.execute(
            f"SELECT {sql} FROM (SELECT unnest(?::VARCHAR[]) AS t, unnest(range(?)) AS i) ORDER BY i",
            [list(texts), len(texts)],
        )
        return [value for (value,) in result.fetchall()]
