"""Words that nobody in the field uses, and raw names of options, stand in nothing that people read."""

import ast
import re
from collections import Counter

import pytest
import typer

from tests.sources import PACKAGE, ROOT, nodes, python_files
from workprof.cli.main import app

BANNED = {
    r"at best": "upper bound",
    r"ask(s|ed|ing)? for": "requested, request",
    r"told": "predicted, reported, shown",
    r"what can be said": "reliability",
    r"worth \S+ (independent )?jobs": "effective sample size: N jobs",
    r"over the top": "above largest bin",
    r"its risk": "out-of-memory kills",
    r"take away": "export",
    r"flatters?": "overstates",
    r"show data": "Data",
    r"no job running": "Idle",
}
"""Pattern of what is not to be read -> what to write instead."""
KEPT = {
    "Take away": "a former name of a tab, whose links still open it",
    "told again": "a check in stored reports",
    "told again late": "a check in stored reports",
    "as told": "a value of a stored calibration, never shown",
}
"""String that stays as it is -> why."""
FOUND = re.compile(rf"\b({'|'.join(BANNED)})\b", re.IGNORECASE)
CODE = re.compile(r"```.*?```|``.*?``|`[^`\n]*`|<!--.*?-->", re.DOTALL)
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SOURCES = (ROOT / "app.py", *python_files(PACKAGE, ROOT / "pages"))


def prose(text):
    """Return a document without its code."""
    return CODE.sub("", text)


def strings(tree):
    """Yield (line, text) of every string that is no docstring among nodes; what is filled in stands as {}."""
    other = {id(node.value) for node in tree if isinstance(node, ast.Expr)}
    other |= {id(part) for node in tree if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in tree:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in other:
            yield node.lineno, node.value
        elif isinstance(node, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
            yield node.lineno, "".join(map(str, parts))


def commands(command, path=()):
    """Yield (words of a command, its help and that of its options) of the whole tree."""
    yield " ".join(path), " ".join([command.help or "", *(getattr(one, "help", "") or "" for one in command.params)])
    for name in list(getattr(command, "commands", ())):
        yield from commands(command.commands[name], (*path, name))


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_documents_speak_the_terms_of_the_field(path):
    assert [found[0] for found in FOUND.finditer(prose(path.read_text(encoding="utf-8")))] == []


@pytest.mark.slow
def test_sources_say_nothing_that_people_should_not_read():
    found = [
        f"{path.relative_to(ROOT)}:{line}: {' '.join(text.split())[:120]}"
        for path in SOURCES
        for line, text in strings(nodes(path))
        if " " in text.strip() and text not in KEPT and FOUND.search(text)
    ]
    assert found == []


def test_help_of_commands_speaks_the_terms_of_the_field():
    found = {words: FOUND.search(text) for words, text in commands(typer.main.get_command(app))}
    assert len(found) > 50
    assert {words: match[0] for words, match in found.items() if match} == {}


def test_the_search_sees_what_it_should():
    code = '"""told"""\nA = f"saves {x} at best"\nB = "told"\ndef f():\n    "asked for"\n    return g("Ask for it")\n'
    tree = list(ast.walk(ast.parse(code)))
    assert Counter(FOUND.search(text)[0] for _, text in strings(tree) if FOUND.search(text)) == {
        "at best": 1,
        "told": 1,
        "Ask for": 1,
    }
    assert FOUND.search(prose("It is `told` so.\n```\nat best\n```\n")) is None
    assert all(FOUND.search(phrase) for phrase in ("worth 323 jobs", "Worth many jobs", "asks for", "Take away"))
