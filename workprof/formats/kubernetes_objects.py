"""Values of Kubernetes' objects: members, moments, quantities, and what containers and pods request.

A pod's request is what the scheduler sets aside for it: the sum of its containers and of its sidecars (init containers
that are restarted), or that of its neediest init container with the sidecars started before it, whichever is more; plus
its overhead. A container without a request has its limit as one.

Source: Kubernetes' documentation of quantities, and of init containers and sidecars.
"""

import functools
import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from workprof.core.units import KIB
from workprof.formats.pod_series import gpu_share

Object = Mapping[str, Any]


class NoValue(Exception):
    """A value of a pod that is none of its kind: where it stands, and what is wrong with it."""

    def __init__(self, where: str, value: object, reason: str) -> None:
        super().__init__(reason)
        self.where, self.value, self.reason = where, value, reason


_QUANTITY = re.compile(r"((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,2})?)(n|u|m|[kMGTPE]|[KMGTPE]i)?", re.ASCII)
_DECIMAL = {"n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
_BINARY = {f"{letter}i": float(KIB**power) for power, letter in enumerate("KMGTPE", start=1)}
LONGEST_QUANTITY = 60
LARGEST_EXACT = 1 << 53


@functools.lru_cache(maxsize=10_000)
def quantity(text: str) -> float:
    """The number that a quantity says: '500m' is 0.5, '16Gi' is 2**34, '1500M' is 1.5e9; NaN for no quantity."""
    match = _QUANTITY.fullmatch(text.strip()) if len(text) <= LONGEST_QUANTITY else None
    if match is None:
        return math.nan
    suffix = match.group(2) or ""
    return float(match.group(1)) * (_BINARY[suffix] if suffix in _BINARY else _DECIMAL[suffix])


def object_of(parent: Object, key: str) -> Object:
    """An object of an object, an empty one where it is not there."""
    value = parent.get(key)
    if type(value) is dict:
        return value
    if value is None:
        return {}
    raise NoValue(key, value, "not an object")


def objects_of(parent: Object, key: str) -> list[Object]:
    """The objects of a list of an object, none where it is not there."""
    value = parent.get(key)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise NoValue(key, value, "not a list of objects")
    return value


def text_of(parent: Object, key: str) -> str:
    """A text of an object, '' where it is not there."""
    value = parent.get(key)
    if type(value) is str:
        return value
    if value is None:
        return ""
    if not isinstance(value, (int, float)):
        raise NoValue(key, value, "not a text")
    return str(value)


def moment_in(parent: Object, key: str) -> float | None:
    """A moment in seconds since 1970; None where it is not there, or Go's zero."""
    text = text_of(parent, key)
    if not text:
        return None
    try:
        seconds = _seconds(text)
    except (ValueError, OverflowError) as error:
        raise NoValue(key, text, "not a moment (RFC 3339)") from error
    return seconds if seconds > 0 else None


@functools.lru_cache(maxsize=10_000)
def _seconds(text: str) -> float:
    at = datetime.fromisoformat(text)
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()


def amount_in(amounts: Object, name: str) -> float | None:
    """What a quantity among some says, None where it is not there."""
    amount = amounts.get(name)
    if amount is None:
        return None
    if type(amount) is int and 0 <= amount < LARGEST_EXACT:
        return float(amount)
    value = quantity(str(amount)) if isinstance(amount, (str, float)) else math.nan
    if not math.isfinite(value):
        raise NoValue(name, amount, "not a quantity")
    return value


def request_of(resources: Object, name: str) -> float | None:
    """What a container requests; without a request its limit is one."""
    requested = amount_in(object_of(resources, "requests"), name)
    return amount_in(object_of(resources, "limits"), name) if requested is None else requested


def limit_of(resources: Object, name: str) -> float | None:
    """What a container may use at most."""
    return amount_in(object_of(resources, "limits"), name)


GPUS = re.compile(r"/(?:gpu|gpu\.shared|mig-[\w.]+)$|^gpu\.intel\.com/(?:i915|xe)$")
"""Resources that are a GPU, a share of one, or a part (MIG)."""


def gpus_of(resources: Object, _: str) -> float | None:
    """The GPUs of every vendor that a container requests ('nvidia.com/gpu', 'amd.com/gpu'), and parts of one."""
    names = {*object_of(resources, "requests"), *object_of(resources, "limits")}
    result = [
        (request_of(resources, name) or 0.0) * gpu_share(name) for name in names if "/" in name and GPUS.search(name)
    ]
    return sum(result) if result else None


def unread_of(spec: Object) -> set[str]:
    """The extended resources of a pod's containers that are no GPU: TPUs, other accelerators, shares of memory of one.

    'resourceClaims' stands for devices that are claimed (dynamic resource allocation).
    """
    amounts_of = (
        object_of(object_of(each, "resources"), kind)
        for key in ("containers", "initContainers")
        for each in objects_of(spec, key)
        for kind in ("requests", "limits")
    )
    result = {name for amounts in amounts_of for name in amounts if "/" in name and not GPUS.search(name)}
    return result | ({"resourceClaims"} if spec.get("resourceClaims") else set())


def set_aside(spec: Object, amount_of: Callable[[Object, str], float | None], name: str) -> float | None:
    """What the scheduler sets aside for a pod; None where no container asks for any."""
    whole = amount_of(object_of(spec, "resources"), name)
    overhead = amount_in(object_of(spec, "overhead"), name)
    if whole is None:
        apps = [amount_of(object_of(each, "resources"), name) for each in objects_of(spec, "containers")]
        inits = [(each, amount_of(object_of(each, "resources"), name)) for each in objects_of(spec, "initContainers")]
        if all(each is None for each in (*apps, *(value for _, value in inits))):
            return overhead
        sidecars = most = 0.0
        for each, value in inits:
            most = max(most, sidecars + (value or 0.0))
            if each.get("restartPolicy") == "Always":
                sidecars += value or 0.0
        whole = max(most, sidecars + sum(each or 0.0 for each in apps))
    return whole + (overhead or 0.0)
