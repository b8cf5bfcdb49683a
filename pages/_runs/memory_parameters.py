"""The settings of a run of the Memory page as parameters of its address."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pages._runs.parameters import Parameters, number, plain
from workprof.memory.bin_models import FAITHFUL, PredictorSettings
from workprof.memory.bin_search import BinSettings
from workprof.memory.bins import ProfileBinSettings
from workprof.memory.replay import ReplaySettings
from workprof.memory.rollup import RollupSettings
from workprof.units import GB, MIB


def _bins(asked: BinSettings) -> Parameters:
    found = plain("memory", asked, ("k", "weight", "top", "search", "target"))
    found |= {"memory_headroom": number(asked.headroom * 100), "memory_step": number(asked.step_bytes / GB)}
    found["memory_request"] = number(asked.request_bytes / GB)
    if asked.edges_bytes:
        found["memory_edges"] = ", ".join(number(edge / GB) for edge in asked.edges_bytes)
    if asked.price_column:
        found["memory_price_column"] = asked.price_column
    return found


def _profile_bins(asked: ProfileBinSettings) -> Parameters:
    return _bins(asked.bins) | {"memory_profile": f"P{asked.profile}"}


def _models(asked: PredictorSettings) -> Parameters:
    found = _bins(asked.bins) | plain("memory", asked, ("penalty", "trials", "seed"))
    found |= {"memory_model": list(asked.models), "memory_sampling": list(asked.sampling)}
    found |= {"memory_before": list(asked.before_the_run), "memory_after": list(asked.after_the_run)}
    found["memory_failure_price"] = number(asked.failure_price_gb_h)
    if asked.mode == FAITHFUL:
        found["memory_model_mode"] = asked.mode
    return {name: value for name, value in found.items() if value}


def _replay(asked: ReplaySettings) -> Parameters:
    found = plain("memory", asked, ("protocol", "target"))
    found |= {"memory_policies": list(asked.policies), "memory_input": asked.input_column}
    found |= {"memory_price_runs": number(asked.sizing.price_runs), "memory_cold": str(asked.cold_runs)}
    found |= {"memory_retry": asked.retry.rule, "memory_tau": number(asked.retry.time_to_failure * 100)}
    found |= {"memory_cap": number((asked.retry.cap_bytes or 0.0) / GB)}
    return found | {"memory_retries": str(asked.retry.max_retries)}


def _rollup(asked: RollupSettings) -> Parameters:
    plan = asked.plan
    found = plain("memory", asked, ("by", "measure", "cores")) | plain("memory", plan, ("rule", "least_runs", "target"))
    found |= {"memory_price": number(asked.price.per_gb_h), "memory_currency": asked.price.currency}
    found |= {"memory_margin": number(plan.headroom * 100), "memory_percentile": number(plan.percentile * 100)}
    found |= {"memory_plan_step": number(plan.step_bytes / MIB), "memory_floor": number(plan.floor_bytes / MIB)}
    return found | {"memory_request": number(asked.request_bytes / GB)}


MEMORY_MAKERS: dict[type, Callable[[Any], Parameters]] = {
    BinSettings: _bins,
    ProfileBinSettings: _profile_bins,
    PredictorSettings: _models,
    ReplaySettings: _replay,
    RollupSettings: _rollup,
}
