"""Commands of the single looks that pages take: how long what was observed takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workprof.workbench.run_command_line import CommandLine, Resolve

VIEW_COMMANDS: dict[str, Callable[[Any, Resolve], CommandLine]] = {}
