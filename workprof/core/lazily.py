"""Names of a package that are imported when they are first used, so that importing the package stays quick."""

import ast
import importlib
import sys
from collections.abc import Callable
from pathlib import Path


def lazily(package: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """The `__getattr__`, `__dir__` and `__all__` of a package whose public names are those under its TYPE_CHECKING."""
    tree = ast.parse(Path(str(sys.modules[package].__file__)).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    homes = {name.name: str(one.module) for one in block.body if isinstance(one, ast.ImportFrom) for name in one.names}

    def attribute(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(homes[name]), name)

    def listed() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return attribute, listed, sorted(homes)
