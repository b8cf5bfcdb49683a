"""Where a kept run can be looked at: the page of its step, with its settings in the address as far as it has them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from workprof.memory.bin_settings import BinSettings
from workprof.memory.predictor_settings import FAITHFUL, PredictorSettings
from workprof.memory.replay_settings import ReplaySettings
from workprof.memory.rollup_settings import RollupSettings
from workprof.profiles.classifier_settings import ClassifierSettings
from workprof.profiles.durations import DurationSettings
from workprof.profiles.estimate_settings import EstimateEvaluationSettings
from workprof.profiles.recut import TreeSettings
from workprof.profiles.settings import FEATURE_SETS, ProfileSettings
from workprof.profiles.sweep_settings import GroupSettings
from workprof.records import to_json
from workprof.units import GB, MIB

Parameters = dict[str, str | list[str]]
PAGES = {
    "sweep_group": "sweep",
    "forecaster": "classify",
    "classifier_evaluation": "classify",
    "explain_all": "classify",
}
PAGES |= {"feedback_model": "classify", "feedback_refit": "classify", "durations": "durations"}
PAGES |= {"estimate_evaluation": "durations"}
ROOMS = {"profiles": "profiles", "memory": "memory", "nodes": "nodes", "phases": "phases"}
TABS = {
    **{f"memory.{step}": "Tasks" for step in ("assess", "fact")},
    **{f"memory.{step}": "Bins" for step in ("bins", "improvement")},
    **{f"memory.{step}": "Models" for step in ("train", "tables")},
    **{f"memory.{step}": "Policies" for step in ("replay", "why")},
    **{f"memory.{step}": "Roll-up" for step in ("plan", "rollup")},
}


def page_of(step: str) -> str:
    """Return the name of the page that shows a step."""
    room, _, name = step.partition(".")
    return PAGES.get(name, ROOMS.get(room, "home"))


def parameters_of(step: str, dataset: str, settings: Any, task_label: str = "") -> Parameters:
    """Return the address's parameters that show a run on its page; settings that the page has no control for are left.

    Args:
        step: of the run.
        dataset: content hash.
        settings: its record; None = not known.
        task_label: how the Memory page calls the task; '' = all tasks, or not known.
    """
    found: Parameters = {"ds": dataset}
    if step in TABS:
        found["memory_tab"] = TABS[step]
    make = _MAKERS.get(type(settings))
    if make is not None:
        found |= make(settings)
    if task_label:
        found["memory_task"] = task_label
    return found


def _profiles(asked: ProfileSettings) -> Parameters:
    words = ("scaler", "metric", "algorithm", "method", "mode", "silhouette")
    numbers = ("min_cluster_size", "min_samples", "epsilon", "target_clusters", "sample_rows", "seed")
    return _features("profiles", asked.features) | _plain("profiles", asked, (*words, *numbers))


def _tree(asked: TreeSettings) -> Parameters:
    """Return the clustering of the default size that is cut from a tree."""
    return _profiles(ProfileSettings(**vars(asked)))


def _group(asked: GroupSettings) -> Parameters:
    found = _features("sweep", asked.features)
    found |= _plain("sweep", asked, ("silhouette", "mode", "sample_rows", "seed"))
    found["sweep_algorithms"] = asked.algorithm
    found["sweep_min_samples"] = "one" if asked.min_samples else "coupled"
    if asked.min_samples:
        found["sweep_one_min_samples"] = str(asked.min_samples)
    return found


def _classifier(asked: ClassifierSettings) -> Parameters:
    found = _plain("classify", asked, ("mode", "threshold", "wrong_cost", "rare_rows", "least_support", "seed"))
    usual = to_json(ProfileSettings())
    changed = {name: value for name, value in to_json(asked.profiles).items() if value != usual[name]}
    found["classify_profiles"] = json.dumps(changed, separators=(",", ":"))
    if asked.fields:
        found["classify_fields"] = list(asked.fields)
    return found


def _durations(asked: DurationSettings) -> Parameters:
    return {"durations_tab": "Observed", "durations_by": asked.by, "durations_target": asked.target}


def _estimates(asked: EstimateEvaluationSettings) -> Parameters:
    found = _plain("durations", asked.estimates, ("target", "split", "mode"))
    return found | {"durations_tab": "Prediction error"}


def _bins(asked: BinSettings) -> Parameters:
    found = _plain("memory", asked, ("k", "weight", "top", "search", "target"))
    found |= {"memory_headroom": _number(asked.headroom * 100), "memory_step": _number(asked.step_bytes / GB)}
    found["memory_request"] = _number(asked.request_bytes / GB)
    if asked.edges_bytes:
        found["memory_edges"] = ", ".join(_number(edge / GB) for edge in asked.edges_bytes)
    if asked.price_column:
        found["memory_price_column"] = asked.price_column
    return found


def _models(asked: PredictorSettings) -> Parameters:
    found = _bins(asked.bins) | _plain("memory", asked, ("penalty", "trials", "seed"))
    found |= {"memory_model": list(asked.models), "memory_sampling": list(asked.sampling)}
    found |= {"memory_before": list(asked.before_the_run), "memory_after": list(asked.after_the_run)}
    found["memory_failure_price"] = _number(asked.failure_price_gb_h)
    if asked.mode == FAITHFUL:
        found["memory_model_mode"] = asked.mode
    return {name: value for name, value in found.items() if value}


def _replay(asked: ReplaySettings) -> Parameters:
    found = _plain("memory", asked, ("protocol", "target"))
    found |= {"memory_policies": list(asked.policies), "memory_input": asked.input_column}
    found |= {"memory_price_runs": _number(asked.sizing.price_runs), "memory_cold": str(asked.cold_runs)}
    found |= {"memory_retry": asked.retry.rule, "memory_tau": _number(asked.retry.time_to_failure * 100)}
    found |= {"memory_cap": _number((asked.retry.cap_bytes or 0.0) / GB)}
    return found | {"memory_retries": str(asked.retry.max_retries)}


def _rollup(asked: RollupSettings) -> Parameters:
    plan = asked.plan
    found = _plain("memory", asked, ("by", "measure", "cores")) | _plain(
        "memory", plan, ("rule", "least_runs", "target")
    )
    found |= {"memory_price": _number(asked.price.per_gb_h), "memory_currency": asked.price.currency}
    found |= {"memory_margin": _number(plan.headroom * 100), "memory_percentile": _number(plan.percentile * 100)}
    found |= {"memory_plan_step": _number(plan.step_bytes / MIB), "memory_floor": _number(plan.floor_bytes / MIB)}
    return found | {"memory_request": _number(asked.request_bytes / GB)}


_MAKERS: dict[type, Callable[[Any], Parameters]] = {
    ProfileSettings: _profiles,
    TreeSettings: _tree,
    GroupSettings: _group,
    ClassifierSettings: _classifier,
    DurationSettings: _durations,
    EstimateEvaluationSettings: _estimates,
    BinSettings: _bins,
    PredictorSettings: _models,
    ReplaySettings: _replay,
    RollupSettings: _rollup,
}


def _features(page: str, features: tuple[str, ...]) -> Parameters:
    if len(features) == 1 and features[0] in FEATURE_SETS:
        return {f"{page}_set": features[0]}
    return {f"{page}_set": "own", f"{page}_features": list(features)} if features else {}


def _plain(page: str, record: object, names: tuple[str, ...]) -> Parameters:
    found = {name: getattr(record, name) for name in names}
    return {f"{page}_{name}": _written(value) for name, value in found.items() if value != ""}


def _written(value: object) -> str:
    return _number(value) if isinstance(value, float) else str(value)


def _number(value: float) -> str:
    """Return a number with the digits that a field of the page keeps."""
    return f"{value:.10g}"
