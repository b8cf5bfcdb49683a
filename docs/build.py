"""`make docs`: the documentation as a site in build/site, from these files and from what the program declares.

Written by hand are the pages of this folder. Made here are a page per method, the references of command line, library
and settings, and the notebooks with what their cells give.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import html
import importlib
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import typer
import yaml

import workprof
from workprof.answers.help.methods import DEFINITIONS, LIMITS, METHODS, Method
from workprof.cli.main import app
from workprof.core.fields import leaves
from workprof.core.question import Question
from workprof.workbench import Workbench, rooms
from workprof.workbench.declared import DECLARED
from workprof.workbench.question_methods import Bound

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
BUILD = ROOT / "build"
ROOMS = ("profiles", "forecasts", "memory", "nodes", "phases")

QUESTIONS_OF = {
    "Job profiles": ("profiles.fit", "profiles.membership", "profiles.sweep", "profiles.embeddings"),
    "Cluster tendency and stability": ("profiles.hopkins", "profiles.baseline", "profiles.stability"),
    "Classification and forecasts": (
        *("profiles.durations", "profiles.forecaster", "profiles.classifier_evaluation", "profiles.explain_all"),
        *("profiles.classifier_alternatives", "profiles.estimate_evaluation"),
    ),
    "Feedback": ("profiles.feedback_model", "profiles.feedback_refit"),
    "Memory sizes": ("memory.",),
    "Nodes": ("nodes.",),
    "Phases": ("phases.",),
}
"""Method -> the questions that it answers, by name or by the beginning of one."""


def slug(text: str) -> str:
    """Return a name for a file."""
    return "-".join(text.lower().split())


def cell(text: object) -> str:
    """Return a text for a cell of a table."""
    return " ".join(str(text).split()).replace("|", "\\|").replace("<", "&lt;")


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table; '' without rows."""
    if not rows:
        return ""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(cell, line))} |" for line in lines) + "\n"


def settings_table(question: Question[Any, Any]) -> str:
    """Return the settings of a question: option, meaning, unit, default."""
    rows = []
    for leaf in question.leaves:
        default = (
            "none" if leaf.default is dataclasses.MISSING else leaf.about.empty if not leaf.default else leaf.default
        )
        choices = f" One of {', '.join(map(str, leaf.about.choices))}." if leaf.about.choices else ""
        rows.append((f"`{leaf.flag}`", f"`{leaf.path}`", leaf.about.help + choices, leaf.about.unit, default))
    return table(("option", "setting", "what it does", "unit", "default"), rows)


def method_page(method: Method) -> str:
    """Return the page of a method: what, how it differs, limits, sources, questions with their settings."""
    own = [one for name, one in DECLARED.items() if name.startswith(QUESTIONS_OF[method.name])]
    parts = [f"# {method.name}", method.what, f"Shown on: {method.pages}.", "## Where ours differs", method.ours]
    parts += ["## Limits", *(f"- {limit}" for limit in method.limits)]
    parts += ["## Published in", *(f"- {source}" for source in method.sources)]
    for question in own:
        parts += [f"## {question.title}", f"`workbench.{question.call}(dataset, {question.settings.__name__}())`"]
        parts += [] if question.no_command else [f"`workprof {' '.join(question.words)}`"]
        parts.append(settings_table(question))
    return "\n\n".join(parts) + "\n"


def methods_page() -> str:
    """Return the list of methods, with what is defined in two ways and what holds everywhere."""
    lines = [f"- [{one.name}]({slug(one.name)}.md): {one.what}" for one in METHODS]
    told = [(one.topic, one.published, one.ours, one.numbers, one.source) for one in DEFINITIONS]
    both = table(("what", "as published", "default", "the difference", "source"), told)
    limits = "\n".join(f"- {limit}" for limit in LIMITS)
    return f"# Methods\n\n{chr(10).join(lines)}\n\n## As published and default\n\n{both}\n## Limits\n\n{limits}\n"


def commands(command: Any, words: tuple[str, ...] = ("workprof",)) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield (words, command) of every command that does something."""
    inside = getattr(command, "commands", {})
    for name in sorted(inside):
        if not inside[name].hidden:
            yield from commands(inside[name], (*words, name))
    if not inside:
        yield words, command


def command_page() -> str:
    """Return the reference of the command line."""
    parts = [
        "# Command line",
        "Every command takes `--json`: one document on standard output, everything else on standard error. Exit "
        "status: 0 done, 2 wrong input, 75 the home folder is busy, 1 an error of workprof.",
    ]
    for words, command in commands(typer.main.get_command(app)):
        given = [one for one in command.params if not getattr(one, "hidden", False)]
        arguments = [
            f"{one.name.upper()}{'...' if one.nargs != 1 else ''}" for one in given if not one.opts[0].startswith("-")
        ]
        rows = [
            (" ".join(f"`{flag}`" for flag in (*one.opts, *one.secondary_opts)), getattr(one, "help", "") or "")
            for one in given
            if one.opts[0].startswith("-")
        ]
        parts += [f"## {' '.join(words)}", command.help or ""]
        parts += [f"```\n{' '.join([*words, *arguments, '[OPTIONS]'])}\n```", table(("option", "what it does"), rows)]
    return "\n\n".join(part for part in parts if part) + "\n"


def described(name: str, thing: Any, level: int = 2) -> str:
    """A function or a class: signature and docstring as they stand in the source, of a record the fields as well."""
    if dataclasses.is_dataclass(thing):
        fields = re.split(r"\n+    (?:@|def )", inspect.getsource(thing))[0].rstrip()
        return f"{'#' * level} {name}\n\n```python\n{fields}\n```\n"
    try:
        signature = re.sub(r"'|\bworkprof(?:\.\w+)*\.", "", str(inspect.signature(thing)))
    except (TypeError, ValueError):
        signature = ""
    kind = "class " if inspect.isclass(thing) else ""
    text = inspect.getdoc(thing) or ""
    shown = signature if len(signature) <= 600 else "(...)"
    return f"{'#' * level} {name}\n\n```python\n{kind}{name}{shown}\n```\n\n```text\n{text}\n```\n"


def library_page() -> str:
    """Return the reference of `import workprof`, and of the workbench's questions."""
    parts = ["# Library", "`import workprof as wp`"]
    parts += [
        described(f"wp.{name}", getattr(workprof, name)) for name in sorted(workprof.__all__) if name != "__version__"
    ]
    parts += ["# Workbench", inspect.getdoc(Workbench) or ""]
    for room in rooms.ROOMS:
        kind = getattr(rooms, room.capitalize())
        parts += [f"## bench.{room}", inspect.getdoc(kind) or ""]
        for name, thing in vars(kind).items():
            if isinstance(thing, rooms.asks):
                question = thing.declared.question
                told = (
                    f"{question.title} Settings: `{question.settings.__name__}`; result: `{question.result.__name__}`."
                )
                flat = f"Before: `bench.{question.call}`."
                parts.append(f"### bench.{room}.{name}(dataset, settings)\n\n{told} {flat}\n")
            elif isinstance(thing, rooms.does):
                parts.append(described(f"bench.{room}.{name}", thing.flat, level=3))
    more = sorted(name for name in vars(Bound) if not name.startswith("_"))
    parts.append(f"Questions also have {', '.join(f'`.{name}`' for name in more)}, with the same arguments.")
    return "\n".join(parts)


def settings_pages() -> str:
    """Return the settings classes of every package."""
    parts = [
        "# Settings classes",
        "Each is imported from its package, such as `from workprof.memory import ReplaySettings`.",
    ]
    for room in ROOMS:
        package = importlib.import_module(f"workprof.{room}")
        parts.append(f"## workprof.{room}")
        for name in package.__all__:
            kind = getattr(package, name)
            rows = [
                (
                    f"`{leaf.path}`",
                    leaf.about.help,
                    leaf.about.unit,
                    "" if leaf.default is dataclasses.MISSING else leaf.default,
                )
                for leaf in leaves(kind)
            ]
            parts += [
                f"### {name}",
                inspect.getdoc(kind) or "",
                table(("setting", "what it does", "unit", "default"), rows),
            ]
    return "\n\n".join(part for part in parts if part) + "\n"


def cells(path: Path) -> list[tuple[str, str]]:
    """Return (kind, source) of the cells of a notebook."""
    document = json.loads(path.read_text(encoding="utf-8"))
    return [(one["cell_type"], "".join(one["source"])) for one in document["cells"]]


def run_cell(source: str, names: dict[str, Any]) -> Any:
    """Run a cell of one of our notebooks and return the value of its last line, None where that is no expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)  # noqa: S102  a notebook of this repository
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last is not None else None  # noqa: S307


def shown(value: Any) -> str:
    """Return what a cell gave, as HTML."""
    if value is None:
        return ""
    if hasattr(value, "to_html") and hasattr(value, "to_plotly_json"):
        return str(value.to_html(include_plotlyjs="../../plotly.js", full_html=False))
    if hasattr(value, "_repr_html_"):
        return f'<div class="output">{value._repr_html_()}</div>'
    return f"<pre>{html.escape(repr(value))}</pre>"


def notebook_page(path: Path) -> str:
    """Return a notebook with what its cells give, run in its own folder."""
    parts, names, before = [], {"__name__": "__main__"}, Path.cwd()
    os.chdir(path.parent)
    try:
        for kind, source in cells(path):
            parts.append(source if kind == "markdown" else f"```python\n{source}\n```")
            if kind == "code":
                parts.append(shown(run_cell(source, names)))
    finally:
        os.chdir(before)
    return "\n\n".join(part for part in parts if part) + "\n"


NAVIGATION = (
    ("Start", "index.md"),
    ("Commands by example", "commands.md"),
    ("Settings of the process", "settings.md"),
    ("The library by task", "library.md"),
    ("Operations", "operations.md"),
    ("What stays", "stability.md"),
    ("What was measured", "results.md"),
    ("Security", "security.md"),
    ("Large traces", "scale.md"),
    ("Service", "service/README.md"),
    ("Nodes needed", "schedule.md"),
    ("Nodes over time", "nodes.md"),
    ("Profiles with pairs", "profiles.md"),
    ("Demand", "demand.md"),
    ("Shapes of runs", "shapes.md"),
    ("Parts of runs", "recognition.md"),
    ("Memory that grows", "growing.md"),
    ("Campaigns", "campaigns.md"),
    ("Sources", "sources.md"),
    ("What changed", "telling.md"),
    ("How it is built", "built.md"),
)


def write_source(target: Path, *, notebooks: bool) -> dict[str, Any]:
    """Write every page into a folder and return the site's configuration."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(DOCS, target, ignore=shutil.ignore_patterns("*.py[co]", "__pycache__", "build.py", "*.ipynb"))
    shutil.copytree(
        ROOT / "tests" / "browser" / "pictures", target / "pictures", ignore=shutil.ignore_patterns("*.py*", "__*")
    )
    for page in target.rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace("../tests/browser/pictures/", "pictures/"), encoding="utf-8")
    made = {"methods/index.md": methods_page(), "reference/command-line.md": command_page()}
    made |= {f"methods/{slug(one.name)}.md": method_page(one) for one in METHODS}
    made |= {"reference/library.md": library_page(), "reference/settings.md": settings_pages()}
    books = sorted((DOCS / "notebooks").glob("*.ipynb"))
    if notebooks:
        made |= {f"notebooks/{path.stem}.md": notebook_page(path) for path in books}
        import plotly  # noqa: PLC0415  of notebooks only

        shutil.copyfile(Path(plotly.__file__).parent / "package_data" / "plotly.min.js", target / "plotly.js")
    for name, text in made.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_text(text, encoding="utf-8")
    formats = sorted(path.name for path in (DOCS / "formats").glob("*.md") if path.name != "README.md")
    navigation: list[Any] = [{title: page} for title, page in NAVIGATION]
    navigation.append({"Notebooks": [f"notebooks/{path.stem}.md" for path in books] if notebooks else []})
    navigation.append({"Methods": ["methods/index.md", *(f"methods/{slug(one.name)}.md" for one in METHODS)]})
    navigation.append({"Formats": ["formats/README.md", *(f"formats/{name}" for name in formats)]})
    navigation.append({"Reference": [name for name in made if name.startswith("reference/")]})
    return {
        "site_name": f"workprof {workprof.__version__}",
        "docs_dir": str(target),
        "site_dir": str(BUILD / "site"),
        "use_directory_urls": True,
        "theme": {"name": "material", "font": False},
        "markdown_extensions": ["tables", "fenced_code", "md_in_html", "toc"],
        "plugins": ["search"],
        "nav": [entry for entry in navigation if next(iter(entry.values()))],
    }


def main() -> int:
    """Build the site and return the exit status."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument(
        "--no-notebooks", action="store_true", help="leave the notebooks out: their cells take a minute"
    )
    given = options.parse_args()
    settings = write_source(BUILD / "docs", notebooks=not given.no_notebooks)
    configuration = BUILD / "mkdocs.yml"
    configuration.write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-f", configuration],
        check=False,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
    )
    if done.returncode == 0:
        print(f"written to {BUILD / 'site' / 'index.html'}")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
