"""The entry point: the tree of commands and the exit status (0 done, 2 the caller's mistake, 75 busy, 1 ours)."""

import errno
import functools
import gc
import importlib
import inspect
import io
import os
import sys
import traceback
from collections import UserDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

import workprof
from workprof.cli import kept
from workprof.cli.console import (
    SCOPED,
    Only,
    Period,
    choose_file,
    choose_home,
    choose_wait,
    leave,
    parameter,
    register,
    warn,
)
from workprof.core.ending import ending_at_once
from workprof.core.errors import Cancelled, HomeBusy, StepFailed, WorkprofError
from workprof.core.settings import LONGEST_WAIT_S

DONE, OURS, CALLERS_MISTAKE, BUSY, INTERRUPTED = 0, 1, 2, 75, 130

COMMANDS = {
    "datasets": ("ingest", "datasets", "rename", "remove", "export", "sample"),
    "pull": ("pull",),
    "size": ("size",),
    "serve": ("demo", "serve"),
    "forecasts": ("durations", "classify", "estimate"),
    "compare": ("compare", "changes", "scopes"),
    "report": ("report",),
    "record": ("record",),
    "campaign": ("campaign", "airflow-dag"),
    "sources": ("source", "refresh"),
    "alerts": ("alert", "check"),
    "digest": ("digest",),
    "people": ("user", "audit"),
}
"""Module -> the commands that it registers."""

GROUPS = ("synth", "profiles", "memory", "nodes", "phases", "runs", "mappings")
"""Groups of commands, each its module."""

MODULES = {name: module for module, names in COMMANDS.items() for name in names} | {name: name for name in GROUPS}
"""Command or group -> its module, in the order of the help."""


TITLES = {
    "ingest": "Import a trace: detect its format, validate it, load it.",
    "datasets": "List the loaded datasets.",
    "rename": "Give a dataset another name.",
    "remove": "Remove a dataset and every result computed from it.",
    "export": "Export a dataset as Parquet or CSV, or its schema as JSON.",
    "sample": "Draw a stratified sample of the finished rows as a dataset.",
    "pull": "Load a trace from another engine, joined and sampled there.",
    "size": "Say what to request, of a trace that is not kept.",
    "demo": "Load the sample where absent and open the dashboard.",
    "serve": "Open the dashboard alone, or serve answers over HTTP.",
    "durations": "Show how long jobs took, or what they used.",
    "classify": "A job's profile before it runs.",
    "estimate": "What jobs will need, before they run.",
    "compare": "Two datasets, or two scopes of one, side by side.",
    "changes": "What changed since the week or month before.",
    "scopes": "Saved scopes: list, save, remove.",
    "report": "Generate the report: one offline HTML file.",
    "record": "Record the counters of this host while a command runs.",
    "campaign": "Run commands over inputs, nodes and repeats; size them.",
    "airflow-dag": "Write a campaign as an Airflow DAG.",
    "source": "Sources of traces that grow: add, list, show, remove.",
    "refresh": "Bring the datasets of sources up to date.",
    "alert": "Alerts on numbers of a dataset: add, list, remove.",
    "check": "Look at alerts; the status says whether one fired.",
    "digest": "One page for the team, one text per user; a dry run by default.",
    "user": "People who may come in: list, add, set, remove.",
    "audit": "Show who did what to this home.",
    "synth": "Make a synthetic trace that knows its own truth.",
    "profiles": "Profiles: runs that behave alike.",
    "memory": "What better requests would save, and what they would break.",
    "nodes": "Which node is fastest for which work, and which has degraded.",
    "phases": "Phases of a run, fingerprints, and which known workload it is.",
    "runs": "Computed results: list, show, pin, remove, export.",
    "mappings": "Saved mappings of generic files.",
}
"""What the help says of each, so that it imports none of them."""


@functools.cache
def registered(module: str) -> typer.Typer:
    """Return the commands of a module, which is imported when the first of them is used."""
    tree = typer.Typer(add_completion=False, rich_markup_mode=None)
    room = importlib.import_module(f"workprof.cli.{module}")
    if module in COMMANDS:
        room.register(tree)
        return tree
    tree.add_typer(room.app, name=module)
    return tree


Wait = Annotated[
    float | None,
    typer.Option(
        "--wait",
        metavar="SECONDS",
        min=0,
        max=LONGEST_WAIT_S,
        help="Wait so long for another process that uses the home; default 10.",
        callback=choose_wait,
        show_default=False,
    ),
]


class _Parts(UserDict[str, Any]):
    """All commands by name; one is None until it is used."""

    def __getitem__(self, name: str) -> Any:
        """Return the command; its module is imported now."""
        if self.data[name] is None:
            result = typer.main.get_group(registered(MODULES[name])).commands
            for command in result.values():
                _add_common(command, str(command.name))
            self.data |= result
        return self.data[name]


NOT_NARROWED = ("rename", "remove", "nodes", "phases")
"""Commands whose dataset is taken whole: it is changed, or holds no runs of jobs."""
NARROWED = ("nodes schedule",)
"""And those among them whose dataset does."""

WITHOUT_TABLE = frozenset(
    (
        *(
            "ingest",
            "pull",
            "rename",
            "remove",
            "export",
            "sample",
            "size",
            "serve",
            "demo",
            "report",
            "record",
            "synth",
        ),
        *("airflow-dag", "campaign run", "memory decide", "memory export", "nodes suite"),
        *("mappings save", "mappings show", "mappings rename", "mappings remove", "scopes save", "scopes remove"),
        *("runs show", "runs pin", "runs unpin", "runs remove", "runs export", "source add", "source remove", "digest"),
    )
)
"""Commands that write something else, or change what is kept."""
SHORT = typer.Option(hidden=True)
Csv = Annotated[bool, typer.Option("--csv", help="Print a table as CSV.")]
Markdown = Annotated[bool, typer.Option("--md", help="Print the answer as Markdown.")]
Parquet = Annotated[bool, typer.Option("--parquet", help="Print a table as Parquet.")]
TableName = Annotated[
    str | None, typer.Option("--table", metavar="NAME", help="Which table; default: the first.", show_default=False)
]
Output = Annotated[
    Path | None,
    typer.Option("-o", "--output", help="File: .csv, .md, .parquet or .json; - is stdout.", show_default=False),
]


def _add_common(command: Any, path: str) -> None:
    """Let every command that opens a home take --wait, and every one about runs of a dataset its scope.

    Every command that prints a table takes --csv, --md, --parquet and -o.
    """
    for part in getattr(command, "commands", {}).values():
        _add_common(part, f"{path} {part.name}")
    names = {one.name for one in command.params}
    common = _common_options()
    if "home" in names:
        command.params.append(common["wait"])
    narrows = path in NARROWED or path.partition(" ")[0] not in NOT_NARROWED
    own_scope = {"only", "period"} <= names  # of what is no dataset of the home
    if own_scope or (narrows and "dataset" in names):
        columns = {name: column for name, column in SCOPED.items() if name not in names}
        ends = [name for name in ENDS if name not in names]
        command.params += [common[name] for name in (*(() if own_scope else ("only", "period")), *columns, *ends)]
        command.callback = _narrowing(command.callback, columns, ends, own_scope=own_scope)
    if "as_json" in names and not {path, path.partition(" ")[0]} & WITHOUT_TABLE:
        own = "output" in names
        command.params += [common[name] for name in (*FILES, "output") if name != "output" or not own]
        command.callback = _filing(command.callback, own)


FILES = ("csv", "md", "parquet", "table")


def _filing(callback: Any, own_output: bool) -> Any:
    def filing(as_json: bool, **given: Any) -> None:
        asked = {name: given.pop(name) for name in FILES}
        if not own_output:
            output = given.pop("output")
        elif given.get("to", "") is None:  # an export's -o without --to is the table's
            output, given["output"] = given["output"], None
        else:
            output = None
        asked["output"] = Path(output) if output else None
        choose_file(asked, as_json)
        callback(as_json=as_json, **given)

    return filing


ENDS = ("since", "until")


def _narrowing(callback: Any, columns: Mapping[str, str], ends: Sequence[str], *, own_scope: bool) -> Any:
    def narrowing(only: list[str] | None, period: str | None, **given: Any) -> None:
        words = [*(only or ())]
        words += [f"{column}={one}" for name, column in columns.items() for one in given.pop(name) or ()]
        times = [given.pop(name) if name in ends else None for name in ENDS]
        if words or period is not None or times != [None, None]:
            from workprof.core.scope import between, of_options  # noqa: PLC0415  light until needed

            period = between(period, *times)
            if not own_scope:
                given["dataset"] = of_options(given["dataset"], words, period)
        callback(**given, **({"only": words, "period": period} if own_scope else {}))

    return narrowing


def _common_options() -> dict[str, Any]:
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    shorts = [parameter(name, Annotated[list[str] | None, SHORT], None) for name in SCOPED]
    shorts += [parameter(name, Annotated[str | None, SHORT], None) for name in ENDS]
    register(alone, "common", "", lambda **_: None, [*inspect.signature(_common).parameters.values(), *shorts])
    result: dict[str, Any] = {str(one.name): one for one in typer.main.get_command(alone).params}
    result["wait"].expose_value = False
    return result


def _common(
    wait: Wait = None,
    only: Only = None,
    period: Period = None,
    csv: Csv = False,
    md: Markdown = False,
    parquet: Parquet = False,
    table: TableName = None,
    output: Output = None,
) -> None:
    """Carry the declarations of options that many commands have."""


class Commands(TyperGroup):
    """The tree of commands: `workprof --version` imports none, another line only those of its own module."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands = _Parts(dict.fromkeys(MODULES))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands of the help, and import none of those whose title is known."""
        titles = {name: TITLES.get(name) or self.commands[name].get_short_help_str() for name in MODULES}
        with formatter.section("Commands"):
            formatter.write_dl(list(titles.items()))


app = typer.Typer(
    name="workprof",
    cls=Commands,
    help="Profiles workloads of shared clusters.",
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

LONGEST_NAME = 80
"""Characters of a name that are shown."""


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and end.")] = False,
    home: Annotated[Path | None, typer.Option("--home", help="Folder of database and cache.")] = None,
    wait: Wait = None,
) -> None:
    """Remember what stands before the command."""
    choose_home(home, wait)
    if version:
        print(f"workprof {workprof.__version__}")  # noqa: T201  stdout is the product
        raise typer.Exit(DONE)


YOUNG_OBJECTS = 20_000
"""New objects between two collections: with Python's 700, imports and compiling take a tenth longer."""


def command() -> None:
    """Be the process of one command."""
    with ending_at_once():
        main()


def main(arguments: list[str] | None = None) -> None:
    """Run one command and exit with its status."""
    gc.set_threshold(YOUNG_OBJECTS, 20, 20)
    sys.stdin = sys.stdin or io.TextIOWrapper(io.BytesIO())  # None where it is closed, as by `<&-`
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # not every locale has each character of an answer
    try:
        _help_or_refuse(arguments)
        app(args=arguments, prog_name="workprof")
    except (Cancelled, KeyboardInterrupt):
        warn("workprof: stopped")
        sys.exit(INTERRUPTED)
    except StepFailed as error:
        warn(f"workprof: {error}")
        sys.exit(OURS)
    except HomeBusy as error:
        warn(f"workprof: {error}")
        sys.exit(BUSY)
    except WorkprofError as error:
        warn(f"workprof: {error}")
        sys.exit(CALLERS_MISTAKE)
    except OSError as error:
        from workprof.store.home import is_full  # noqa: PLC0415  light until needed

        if is_full(error):
            warn("workprof: no room for what was to be written; free some space, or write to another place")
            leave(CALLERS_MISTAKE)
        if error.errno != errno.ENAMETOOLONG:
            _ours()
        name = Path(str(error.filename)).name[:LONGEST_NAME]
        warn(f"workprof: {name}... is longer than a name may be; give a shorter one")
        sys.exit(CALLERS_MISTAKE)
    except Exception:  # noqa: BLE001  the last line of defence: say that it is ours, with the trace
        _ours()


COMPLETING = "_WORKPROF_COMPLETE"
"""Set by the shell that asks for completions."""


UsageError: Any = typer.BadParameter.__bases__[0]


def _help_or_refuse(arguments: list[str] | None) -> None:
    """End the process where the line asks for help, or for nothing that there is; no module of commands is imported."""
    if COMPLETING in os.environ:
        return
    tree: Any = typer.main.get_command(app)
    tree.commands = kept.Kept(MODULES)
    try:
        sys.exit(tree.main(args=arguments, prog_name="workprof", standalone_mode=False))
    except kept.Sound:
        return
    except UsageError as error:
        if not kept.may_be_old():
            error.show()
            sys.exit(CALLERS_MISTAKE)


def _ours() -> NoReturn:
    traceback.print_exc()
    warn("workprof: this is a fault of ours, not of your input; please report the lines above")
    sys.exit(OURS)
