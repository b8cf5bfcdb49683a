"""A step: a named, versioned function from frames and settings to a record."""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from workprof.core.progress import Progress
from workprof.core.records import canonical_json, digest

Function = Callable[[Mapping[str, Any], Any, Progress], Any]


@dataclass(frozen=True)
class Step:
    """A computation with a name for keys and people."""

    name: str  # such as 'profiles.fit'
    version: int  # raised whenever the same settings would give another result
    target: str  # 'module:function'; the function takes (frames, settings, progress) and returns a record

    def key(self, dataset_hash: str, settings: object) -> str:
        """The one key of a result: dataset, settings, step and its version."""
        return f"{dataset_hash}:{digest(canonical_json(settings))}:{self.name}:{self.version}"

    def function(self) -> Function:
        """The function; its module is imported now."""
        module, _, name = self.target.partition(":")
        result: Function = getattr(importlib.import_module(module), name)
        return result
