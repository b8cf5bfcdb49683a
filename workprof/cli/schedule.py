"""How many nodes the runs need: one command with two names, `memory schedule` and `nodes schedule`."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from workprof.cli.console import parameter
from workprof.cli.questions import answered
from workprof.core.errors import SettingsError
from workprof.memory.questions import SCHEDULE
from workprof.memory.schedule import BACKFILL, FIFO, PLACES

POLICIES = dict.fromkeys(PLACES, "place") | dict.fromkeys((FIFO, BACKFILL), "order")
"""Name of a policy -> the setting that it is a value of."""
POLICY = f"One of {', '.join(POLICIES)}: short for --place and --order; several with a comma."


def _completed(_: Any, __: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """The options, with a set of nodes as kinds, and policies as what they set."""
    result = dict(given)
    if "x" in (result["nodes"] or "").lower():
        if result["kinds"]:
            raise SettingsError("--nodes and --kinds both name kinds of nodes; give one")
        result["kinds"], result["nodes"] = result["nodes"], None
    for name in filter(None, (result["policy"] or "").split(",")):
        if name not in POLICIES:
            raise SettingsError(f"--policy is {name!r}; choose from {', '.join(POLICIES)}")
        result[POLICIES[name]] = name
    return result


SCHEDULED = answered(
    SCHEDULE,
    complete=_completed,
    more=(parameter("policy", Annotated[str | None, typer.Option("--policy", help=POLICY, show_default=False)], None),),
)
