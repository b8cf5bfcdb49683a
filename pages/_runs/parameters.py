"""The settings of a run as parameters of its page's address; what a page has no control for is left out."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from workprof.forecasts.classifier import ClassifierSettings
from workprof.forecasts.durations import DurationSettings
from workprof.forecasts.estimates import EstimateEvaluationSettings
from workprof.profiles.settings import FEATURE_SETS, ProfileSettings
from workprof.records import to_json

Parameters = dict[str, str | list[str]]


def profiles(asked: ProfileSettings) -> Parameters:
    """Return the settings of a clustering as the Profiles page's form has them."""
    words = ("scaler", "metric", "algorithm", "method", "mode", "silhouette")
    numbers = ("min_cluster_size", "min_samples", "epsilon", "target_clusters", "sample_rows", "seed")
    return _features("profiles", asked.features) | plain("profiles", asked, (*words, *numbers))


def _classifier(asked: ClassifierSettings) -> Parameters:
    found = plain("classify", asked, ("mode", "threshold", "wrong_cost", "rare_rows", "least_support", "seed"))
    usual = to_json(ProfileSettings())
    changed = {name: value for name, value in to_json(asked.profiles).items() if value != usual[name]}
    found["classify_profiles"] = json.dumps(changed, separators=(",", ":"))
    if asked.fields:
        found["classify_fields"] = list(asked.fields)
    return found


def _durations(asked: DurationSettings) -> Parameters:
    return {"durations_tab": "Observed", "durations_by": asked.by, "durations_target": asked.target}


def _estimates(asked: EstimateEvaluationSettings) -> Parameters:
    found = plain("durations", asked.estimates, ("target", "split", "mode"))
    return found | {"durations_tab": "Prediction error"}


MAKERS: dict[type, Callable[[Any], Parameters]] = {
    ClassifierSettings: _classifier,
    DurationSettings: _durations,
    EstimateEvaluationSettings: _estimates,
}


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
