"""Packages that are installed with an extra, imported when they are needed; versions of what is installed."""

import importlib
import importlib.metadata
from typing import Any

from workprof.core.errors import SettingsError


def needed(module: str, extra: str) -> Any:
    """The module of a package that an extra of workprof installs.

    Raises SettingsError, which names the extra and the command, when it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"{module.partition('.')[0]} is not installed, which this needs; pip install 'workprof[{extra}]'"
        ) from error


BUILDS = {"xgboost": ("xgboost-cpu", "xgboost")}
"""Library -> the distributions that it comes in."""
MISSING = "missing"


def installed_version(library: str) -> str:
    """The version of a library, 'missing' where it is not installed."""
    for name in BUILDS.get(library, (library,)):
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return MISSING
