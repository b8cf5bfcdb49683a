"""Settings that have no option of their own: `--with NAME=VALUE`, and of a clustering `--fit NAME=VALUE`."""

from __future__ import annotations

from typing import Annotated, TypeVar

import typer

from workprof.profiles.settings import ProfileSettings
from workprof.workbench.run_setting_paths import with_settings

Record = TypeVar("Record")

With = Annotated[
    list[str] | None,
    typer.Option(
        "--with",
        metavar="NAME=VALUE",
        help="A setting without an option, named as the Runs page names it; repeat.",
        show_default=False,
    ),
]
Fit = Annotated[
    list[str] | None,
    typer.Option(
        "--fit",
        metavar="NAME=VALUE",
        help="An option of `profiles fit`, such as min-cluster-size=60; repeat.",
        show_default=False,
    ),
]


def further(settings: Record, given: list[str] | None) -> Record:
    """Return settings with those that were given by name."""
    return with_settings(settings, given) if given else settings


def clustering(given: list[str] | None) -> ProfileSettings | None:
    """Return the clustering that `--fit` describes, None where it is not given."""
    return with_settings(ProfileSettings(), given) if given else None
