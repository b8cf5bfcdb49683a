"""A profile in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from workprof.units import format_bytes, format_count, format_duration, format_share

if TYPE_CHECKING:
    from workprof.profiles.metadata import CategoryShare
    from workprof.profiles.shape import DurationShape
    from workprof.profiles.spread import FeatureSpread

STANDING_OUT = 0.5
"""A feature is worth a word when its profile mean is this far from the mean of the other profiles, in scaled units."""

LARGE = 1000
"""From here on a number is written out, without decimals."""

WORDS = {
    "cpu_usage_percent": "CPU use",
    "gpu_usage_percent": "GPU use",
    "mean_memory_bytes": "mean memory",
    "peak_memory_bytes": "peak memory",
    "mean_gpu_memory_bytes": "mean GPU memory",
    "peak_gpu_memory_bytes": "peak GPU memory",
    "read_bytes": "bytes read",
    "write_bytes": "bytes written",
    "read_count": "reads",
    "write_count": "writes",
    "requested_cpu_percent": "requested CPU",
    "requested_memory_bytes": "requested memory",
    "requested_gpu_percent": "requested GPU",
    "instances": "instances",
    "start_time_s": "start time",
    "end_time_s": "end time",
    "duration_s": "duration",
}


def takeaway(
    profile: int, size: int, share: float, cell: CategoryShare | None, shape: DurationShape, spread: FeatureSpread
) -> str:
    """Return one sentence on a profile: how many rows, of what kind, how long, what stands out.

    Args:
        profile: label, -1 = the outliers.
        size: rows.
        share: of all rows, 0-1.
        cell: its most frequent (workload, task) pair; None without such metadata.
        shape: of its durations.
        spread: of all profiles, for what sets this one apart.
    """
    name = f"Profile {profile}" if profile >= 0 else "Outliers"
    parts = [f"{name}: {format_count(size)} rows ({format_share(share)})"]
    if cell is not None:
        parts.append(f"{_how_much(cell.share)} {cell.value}")
    parts.extend(part for part in (_duration_words(shape), _feature_words(profile, spread)) if part)
    return "; ".join(parts) + "."


def _how_much(share: float) -> str:
    if share == 1.0:
        return "all"
    return "mostly" if share >= 0.5 else "most often"


def _duration_words(shape: DurationShape) -> str:
    median, p95, longest = shape.quantiles_s[2], shape.quantiles_s[4], shape.quantiles_s[5]
    if np.isnan(median):
        return ""
    if shape.has_spike:
        words = f"{format_share(shape.spike_share)} run {format_duration(shape.spike_s)}"
        return f"{words}, the longest {format_duration(longest)}"
    return f"median run {format_duration(median)}, 95 % within {format_duration(p95)}"


def _feature_words(profile: int, spread: FeatureSpread) -> str:
    if profile < 0:
        return ""
    here = spread.profiles == profile
    others = ~here & (spread.profiles >= 0)
    if not others.any():
        return ""
    between = spread.mean[others]
    distance = (spread.mean[here][0] - between.mean(axis=0)) / np.maximum(between.std(axis=0), STANDING_OUT)
    feature = int(np.abs(distance).argmax())
    if abs(distance[feature]) < STANDING_OUT:
        return ""
    name = spread.features[feature]
    level = "high" if distance[feature] > 0 else "low"
    value = float(spread.raw_median[here][0][feature])
    return f"{level} {WORDS.get(name, name)} (median {_format(name, value)})"


def _format(name: str, value: float) -> str:
    if name.endswith("_bytes"):
        return format_bytes(value)
    if name == "duration_s":
        return format_duration(value)
    number = f"{value:,.0f}" if abs(value) >= LARGE else f"{value:.3g}"
    return number + (" %" if name.endswith("_percent") else "")
