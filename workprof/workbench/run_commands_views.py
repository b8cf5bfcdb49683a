"""Commands of the single looks that pages take: how long what was observed takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workprof.forecasts.durations import DurationSettings
from workprof.workbench.run_command_line import CommandLine, Resolve, flags


def _durations(_: DurationSettings, __: Resolve) -> CommandLine:
    base = DurationSettings()
    return CommandLine(("durations",), base, flags("by", "target", "confidence"), begins=base)


VIEW_COMMANDS: dict[str, Callable[[Any, Resolve], CommandLine]] = {
    "profiles.durations": _durations,
}
