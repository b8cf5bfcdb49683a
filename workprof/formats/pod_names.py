"""What the texts of an export say of pods: values with units, times, and the names of series."""

import functools
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from workprof.core.units import KIB
from workprof.formats.pod_series import POD, UNKNOWN, WORDS, Quantity, label, quantity_of, request_and_resource
from workprof.formats.values import IN_BROWSERS, MOMENTS, OF_BROWSERS, short_year

BYTES, CORES, PERCENT = "bytes", "cores", "percent"
UNITS: dict[str, tuple[str, float]] = {
    **dict.fromkeys(("b", "byte", "bytes"), (BYTES, 1.0)),
    **{f"{letter}b": (BYTES, 1e3**power) for power, letter in enumerate("kmgtp", 1)},
    **{f"{letter}{end}": (BYTES, float(KIB**power)) for power, letter in enumerate("kmgtp", 1) for end in ("ib", "i")},
    **dict.fromkeys(("core", "cores", "cpu", "cpus", "vcpu"), (CORES, 1.0)),
    **dict.fromkeys(("m", "mcpu", "millicpu", "millicores"), (CORES, 1e-3)),
    **{"microcores": (CORES, 1e-6), "nanocores": (CORES, 1e-9)},
    **dict.fromkeys(("%", "percent", "pct"), (PERCENT, 1.0)),
    **{name: ("", factor) for name, factor in (("k", 1e3), ("mil", 1e6), ("bil", 1e9), ("tri", 1e12))},
}
"""Unit of a value -> its quantity ('' = not told) and its factor; 'Mil' and 'Bil' are Grafana's short numbers."""

OF_RESOURCES = ("cpu", "cpus", "vcpu", "mil", "bil", "tri")
"""Units whose words in a name say which resource it is of, or other things."""


def unit_in(name: str) -> str:
    """The unit that a metric's or a column's name holds ('cpu_usage_nanocores', 'memory_mib'), '' for none."""
    words = (word for word in reversed(re.findall(r"[a-z]+", name.lower())) if len(word) > 1)
    return next((word for word in words if word in UNITS and word not in OF_RESOURCES), "")


NO_VALUE = frozenset({"", "null", "undefined", "nan", "-", "n/a", "none"})
_GROUP = "[ \u00a0\u2009\u202f'\u2019_]"
_NUMBER = re.compile(
    rf"([+-]?)(\d{{1,3}}(?:{_GROUP}\d{{3}})+(?:[.,]\d*)?|(?:\d[\d.,]*|[.,]\d+)(?:[eE][+-]?\d{{1,3}})?)\s*([^\d\s].*)?",
    re.ASCII,
)
TIME_NAMES = ("time", "timestamp", "date", "datetime", "_time")
VALUE_NAME = re.compile(r"value(?: ?#\w+)?", re.IGNORECASE)


@functools.lru_cache(maxsize=100_000)
def value_of(text: str) -> tuple[float, str]:
    """A cell's number in bytes, cores or as it is, and its quantity ('' = not told).

    Missing ones are NaN.

    Raises ValueError when it is none.
    """
    stripped = text.strip()
    if stripped.lower() in NO_VALUE:
        return math.nan, ""
    match = _NUMBER.fullmatch(stripped)
    if match is None:
        return float(stripped), ""  # '+Inf'
    number = float(match.group(1) + _pointed(match.group(2)))
    unit = (match.group(3) or "").strip().lower()
    if not unit:
        return number, ""
    if unit not in UNITS:
        raise ValueError(f"unit {unit!r} is not known")
    quantity, factor = UNITS[unit]
    return number * factor, quantity


def _pointed(text: str) -> str:
    """A number as Python writes it: of two signs the last is the decimal one, one that repeats is none."""
    text = re.sub(_GROUP, "", text)
    point, comma = text.rfind("."), text.rfind(",")
    if point >= 0 and comma >= 0:
        sign, other = (".", ",") if point > comma else (",", ".")
        text = text.replace(other, "")
    else:
        sign = "." if point >= 0 else ","
    return text.replace(sign, "") if text.count(sign) > 1 else text.replace(sign, ".")


@functools.lru_cache(maxsize=100_000)
def separators(text: str) -> tuple[str, str, str]:
    """What a number tells of '.' and ',': which is a separator of thousands, which is decimal, which is either.

    '1,288,490' has thousands, '1,5' and '0,512' a decimal comma, '314,572' may be either; '' = none.
    """
    match = _NUMBER.fullmatch(text.strip())
    number = match.group(2) if match else ""
    point, comma = number.rfind("."), number.rfind(",")
    if min(point, comma) >= 0:
        return (",", ".", "") if point > comma else (".", ",", "")
    sign = "." if point >= 0 else "," if comma >= 0 else ""
    if not sign or number.count(sign) > 1:
        return sign, "", ""
    whole, _, rest = number.partition(sign)
    return (
        ("", "", sign)
        if len(rest) == 3 and whole.strip("0") and len(whole) <= 3 and whole[0] != "0"
        else ("", sign, "")
    )


_DATE_COMMA = re.compile(r"^(\d{1,2}[./-]\d{1,2}[./-]\d{4}),", re.ASCII)
"""The comma that browsers write between a date and its time: '1.5.2024, 10:00:00', '5/1/2024, 10:00:00 AM'."""
_FRACTION = re.compile(r"(:\d\d)\.\d+( [AP]M)$", re.ASCII)
"""The fraction that Azure's logs write between seconds and PM."""
EPOCHS = ((1e17, 1e-9), (1e14, 1e-6), (1e11, 1e-3))
"""A number above the first is in a unit of the second in seconds; others are seconds."""


@functools.lru_cache(maxsize=100_000)
def moment_of(text: str, *, day_first: bool = False) -> float:
    """A time in seconds since 1970; without a zone it is UTC. Raises ValueError when it is none."""
    stripped = _DATE_COMMA.sub(r"\1", text.replace("\u202f", " ").replace("\u00a0", " ").strip())
    stripped = _FRACTION.sub(r"\1\2", stripped)
    if match := re.match(OF_BROWSERS, stripped):
        return datetime.strptime(match[1], IN_BROWSERS).timestamp()
    try:
        number = float(stripped)
    except ValueError:
        pass
    else:
        if not math.isfinite(number):
            raise ValueError("not finite")
        return number * next((factor for least, factor in EPOCHS if abs(number) > least), 1.0)
    try:
        at = datetime.fromisoformat(stripped)
    except ValueError:
        ordered = (each.replace("%m/%d", "%d/%m") if day_first else each for each in MOMENTS)
        patterns = (one for each in ordered for one in (each, short_year(each)))
        at = next((one for one in (_parsed(stripped, pattern) for pattern in patterns) if one), datetime.min)
        if at == datetime.min:
            raise
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()


def _parsed(text: str, pattern: str) -> datetime | None:
    try:
        return datetime.strptime(text, pattern)
    except ValueError:
        return None


_PAIR = re.compile(r'([a-zA-Z_]\w*)\s*=~?\s*"((?:[^"\\]|\\.)*)"')
_METRIC = re.compile(r"\s*([a-zA-Z_:][\w:]*)?\s*\{(.*)\}\s*(.*)", re.DOTALL)
NAMED_UNIT = re.compile(r"\s*[\[(]\s*([^\])]+?)\s*[\])]\s*$")
_REQUEST_SUFFIX = re.compile(r"(?P<pod>.+)[-_](?P<what>requests?|limits?)")
POD_NAME = re.compile(r"[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?", re.ASCII)


@dataclass(frozen=True)
class Named:
    """What a name of a series says: its metric and labels, and words of a legend."""

    metric: str
    labels: Mapping[str, str]
    what: str = ""
    resource: str = ""
    unit: str = ""


@functools.lru_cache(maxsize=10_000)
def named(text: str) -> Named | None:
    """What the name of a series says ('{pod="a"}', 'a', 'lab/a', 'a memory requests'), None without a pod."""
    unit = NAMED_UNIT.search(text)
    known = unit is not None and unit.group(1).lower() in UNITS
    bare = text[: unit.start()] if unit and known else text
    match = _METRIC.fullmatch(bare)
    if match:
        labels = {key: value.replace('\\"', '"') for key, value in _PAIR.findall(match.group(2))}
        metric = labels.pop("__name__", "") or match.group(1) or ""
        metric = "" if VALUE_NAME.fullmatch(metric) else metric
        words = f"{metric if quantity_of(metric, labels) == Quantity(UNKNOWN) else ''} {match.group(3)}"
    else:
        tokens = re.split(r"[\s|:()]+|(?<=\s)-(?=\s)", bare.strip())
        words = " ".join(token for token in tokens if token.lower() in WORDS)
        names = [token for token in tokens if token.strip("-") and token.lower() not in WORDS]
        labels, metric = _of_legend(names), ""
    if not label(labels, POD):
        return None
    return Named(metric, labels, *request_and_resource(words), unit.group(1).lower() if unit and known else "")


_LIKE_A_POD = re.compile(r"(?:[^/\s]+/)?[a-z0-9][-a-z0-9.]*-(?=[-a-z]*\d)[-a-z0-9.]*", re.ASCII)


def _of_legend(names: Sequence[str]) -> dict[str, str]:
    """The labels that a legend means: POD, NAMESPACE/POD, NAMESPACE/POD/CONTAINER, or POD and its container."""
    if len(names) == 1 and names[0].count("/") == 2:
        return dict(zip(("namespace", "pod", "container"), names[0].split("/"), strict=True))
    if len(names) == 2 and _LIKE_A_POD.fullmatch(names[0]) and POD_NAME.fullmatch(names[1]):
        return {**_of_legend(names[:1]), "container": names[1]}
    if len(names) != 1 or names[0].count("/") > 1:
        return {}
    namespace, _, pod = names[0].rpartition("/")
    return {"pod": pod, "namespace": namespace}


def without_request_suffix(name: Named, pods: Collection[str]) -> Named:
    """What 'pod-a-requests' says where there is a pod 'pod-a' too, another name as it is."""
    match = _REQUEST_SUFFIX.fullmatch(label(name.labels, POD))
    if name.metric or match is None or match.group("pod") not in pods:
        return name
    labels = {**name.labels, "pod": match.group("pod")}
    return Named("", labels, WORDS[match.group("what")], name.resource, name.unit)
