"""The product's sources as syntax trees, read once by every test of what stands in them."""

import ast
import functools
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "workprof"


def python_files(*folders):
    """Return every file of Python in some folders, in the order of their names."""
    return sorted(path for folder in folders for path in folder.rglob("*.py"))


@functools.cache
def nodes(path):
    """Return every node of a file's syntax tree."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
