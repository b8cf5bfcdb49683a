"""The settings of a run as parameters of its page's address; what a page has no control for is left out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workprof.profiles.settings import FEATURE_SETS, ProfileSettings

Parameters = dict[str, str | list[str]]


def profiles(asked: ProfileSettings) -> Parameters:
    """Return the settings of a clustering as the Profiles page's form has them."""
    words = ("scaler", "metric", "algorithm", "method", "mode", "silhouette")
    numbers = ("min_cluster_size", "min_samples", "epsilon", "target_clusters", "sample_rows", "seed")
    return _features("profiles", asked.features) | plain("profiles", asked, (*words, *numbers))


MAKERS: dict[type, Callable[[Any], Parameters]] = {}


def _features(page: str, features: tuple[str, ...]) -> Parameters:
    if len(features) == 1 and features[0] in FEATURE_SETS:
        return {f"{page}_set": features[0]}
    return {f"{page}_set": "own", f"{page}_features": list(features)} if features else {}


def plain(page: str, record: object, names: tuple[str, ...]) -> Parameters:
    """Return attributes of a record as parameters of the same names on a page; empty texts are left out."""
    found = {name: getattr(record, name) for name in names}
    return {f"{page}_{name}": _written(value) for name, value in found.items() if value != ""}


def _written(value: object) -> str:
    return number(value) if isinstance(value, float) else str(value)


def number(value: float) -> str:
    """Return a number with the digits that a field of the page keeps."""
    return f"{value:.10g}"
