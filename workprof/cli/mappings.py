"""Commands on saved mappings of generic files: list, show, save, rename, remove."""

import json
from pathlib import Path
from typing import Annotated

import typer

from workprof.cli.console import Home, Json, emit, opened, table
from workprof.cli.datasets import read_mapping
from workprof.store.mapping import document

app = typer.Typer(help="Saved mappings of generic files.", rich_markup_mode=None)

Name = Annotated[str, typer.Argument(help="Of the mapping.", show_default=False)]


@app.callback(invoke_without_command=True)
def mappings(context: typer.Context, home: Home = None, as_json: Json = False) -> None:
    """List the saved mappings, newest first."""
    if context.invoked_subcommand is not None:
        return
    with opened(home) as workbench:
        result = workbench.mappings()
    rows = [{"name": one.name, "created": one.created, "mapping": document(one.mapping)} for one in result]
    lines = [
        {
            "name": one.name,
            "created": one.created[:16],
            "columns": ", ".join(each.column for each in one.mapping.values()),
        }
        for one in result
    ]
    emit(rows, as_json, lambda: table(list(lines)))


@app.command()
def show(name: Name, home: Home = None, as_json: Json = False) -> None:
    """Print a mapping as JSON, as --map takes it."""
    with opened(home) as workbench:
        result = document(workbench.mapping(name).mapping)
    emit(result, as_json, lambda: json.dumps(result, indent=2))


@app.command()
def save(
    name: Name,
    path: Annotated[
        Path, typer.Argument(metavar="FILE", help="JSON of `workprof ingest --look -o`.", show_default=False)
    ],
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Save a mapping under a name; one of that name is overwritten."""
    with opened(home) as workbench:
        saved = workbench.save_mapping(name, read_mapping(path, "mapping"))
    emit({"mapping": saved.name, "fields": len(saved.mapping)}, as_json, lambda: f"saved {saved.name}")


@app.command()
def rename(
    name: Name,
    new: Annotated[str, typer.Argument(help="New name.", show_default=False)],
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Give a mapping another name."""
    with opened(home) as workbench:
        renamed = workbench.rename_mapping(name, new)
    emit({"mapping": renamed.name}, as_json, lambda: f"{name} is now {renamed.name}")


@app.command()
def remove(name: Name, home: Home = None, as_json: Json = False) -> None:
    """Remove a mapping; datasets that were loaded with it stay."""
    with opened(home) as workbench:
        workbench.remove_mapping(name)
    emit({"mapping": name}, as_json, lambda: f"removed {name}")
