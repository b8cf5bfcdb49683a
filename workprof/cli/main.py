"""The entry point: the tree of commands and the exit status (0 done, 2 the caller's mistake, 1 ours)."""

from __future__ import annotations

import errno
import sys
import traceback
from pathlib import Path
from typing import Annotated, NoReturn

import typer

import workprof
from workprof.cli import (
    classify,
    classify_explain,
    datasets,
    durations,
    estimate,
    estimates_observe,
    memory,
    memory_models,
    memory_plans,
    memory_views,
    nodes,
    nodes_detect,
    nodes_rank,
    nodes_suite,
    phases,
    phases_views,
    profiles,
    record,
    report,
    runs,
    serve,
    synth,
    synth_benchmarks,
    synth_telemetry,
)
from workprof.cli.console import choose_home, warn
from workprof.errors import Cancelled, StepFailed, WorkprofError

DONE, OURS, CALLERS_MISTAKE, INTERRUPTED = 0, 1, 2, 130

app = typer.Typer(
    name="workprof",
    help="Profiles workloads of shared clusters.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
datasets.register(app)
serve.register(app)
durations.register(app)
report.register(app)
record.register(app)
synth_telemetry.register(synth.app)
synth_benchmarks.register(synth.app)
app.add_typer(synth.app, name="synth")
app.add_typer(profiles.app, name="profiles")
estimates_observe.register(estimate.app)
memory_models.register(memory.app)
memory_plans.register(memory.app)
memory_views.register(memory.app)
app.add_typer(memory.app, name="memory")
classify_explain.register(classify.app)
app.add_typer(classify.app, name="classify")
app.add_typer(estimate.app, name="estimate")
for part in (nodes_suite, nodes_rank, nodes_detect):
    part.register(nodes.app)
app.add_typer(nodes.app, name="nodes")
phases_views.register(phases.app)
app.add_typer(phases.app, name="phases")
app.add_typer(runs.app, name="runs")


LONGEST_NAME = 80
"""Characters of a name that are shown."""


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and end.")] = False,
    home: Annotated[Path | None, typer.Option("--home", help="Folder of database and cache.")] = None,
) -> None:
    """Remember what stands before the command."""
    choose_home(home)
    if version:
        print(f"workprof {workprof.__version__}")  # noqa: T201  stdout is the product
        raise typer.Exit(DONE)


def main(arguments: list[str] | None = None) -> None:
    """Run one command and end the process with its status."""
    try:
        app(args=arguments, prog_name="workprof")
    except (Cancelled, KeyboardInterrupt):
        warn("workprof: stopped")
        sys.exit(INTERRUPTED)
    except StepFailed as error:
        warn(f"workprof: {error}")
        sys.exit(OURS)
    except WorkprofError as error:
        warn(f"workprof: {error}")
        sys.exit(CALLERS_MISTAKE)
    except BrokenPipeError:
        sys.exit(DONE)
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            _ours()
        name = Path(str(error.filename)).name[:LONGEST_NAME]
        warn(f"workprof: {name}... is longer than a name may be; give a shorter one")
        sys.exit(CALLERS_MISTAKE)
    except Exception:  # noqa: BLE001  the last line of defence: say that it is ours, with the trace
        _ours()


def _ours() -> NoReturn:
    traceback.print_exc()
    warn("workprof: this is a fault of ours, not of your input; please report the lines above")
    sys.exit(OURS)
