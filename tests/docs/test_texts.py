"""What the README and the documents promise is there: files, links, pages, variables, make targets."""

import ast
import re

import pytest

from tests.docs.commands import DOCUMENTS, ROOT
from tests.sources import PACKAGE, nodes, python_files
from workprof.workbench import Workbench

README = (ROOT / "README.md").read_text(encoding="utf-8")
SETTINGS = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
BUILT = (ROOT / "docs" / "built.md").read_text(encoding="utf-8")
TICKED = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)|<img[^>]*src=\"([^\"]+)\"")
PATH = re.compile(r"(?:workprof|pages|tests|data)/[\w./-]+|[\w-]+/$")
VARIABLE = re.compile(r"WORKPROF_[A-Z][A-Z_]*")
OURS_ALONE = {"WORKPROF_LOCK_FD"}
"""Between a server and the process that started it; nothing for a reader to set."""


def sections():
    """Return title -> text of the README's sections."""
    parts = re.split(r"^## (.+)$", README, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def rows(text):
    """Return the cells of the lines of a text's first table, the head left out."""
    first = re.search(r"(?:^\|.*\n)+", text, re.MULTILINE)
    lines = first.group().splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document):
    text = (ROOT / document).read_text(encoding="utf-8")
    targets = [first or second for first, second in LINK.findall(text)]
    local = [target.partition("#")[0] for target in targets if "://" not in target]
    folder = (ROOT / document).parent
    assert [target for target in local if target and not (folder / target).exists()] == []


def test_named_files_and_folders_exist():
    named = [text for text in TICKED.findall(README + SETTINGS + BUILT) if PATH.fullmatch(text)]
    assert len(named) > 10
    missing = [text for text in named if not (ROOT / text).exists() and not _on_path(text)]
    assert missing == []


def _on_path(text):
    """Whether a module or a package of workprof has this path, such as profiles/fit."""
    inside = ROOT / "workprof" / text
    return inside.exists() or inside.with_suffix(".py").exists()


def test_modules_of_the_table_exist():
    cells = [cell for line in rows(sections()["What it answers"]) for cell in TICKED.findall(line[3])]
    folder = ""
    for cell in cells:
        folder, _, name = cell.rpartition("/") if "/" in cell else (folder, "", cell)
        places = [ROOT / "workprof" / cell, ROOT / "workprof" / folder / name]
        found = [place for place in places if place.is_dir() or place.with_suffix(".py").is_file()]
        anywhere = list((ROOT / "workprof" / folder.partition("/")[0]).rglob(f"{name}.py"))
        assert found or anywhere, cell


def test_every_page_has_a_line_and_every_question_is_one_of_the_workbench():
    pages = {path.stem for path in (ROOT / "pages").glob("*.py") if not path.stem.startswith("_")}
    listed = {line[0].partition(",")[0].lower() for line in rows(sections()["What it answers"])}
    assert listed == pages
    asked = {name for line in rows(sections()["What it answers"]) for name in TICKED.findall(line[2])}
    assert [name for name in asked if not hasattr(Workbench, name)] == []


@pytest.mark.slow
def test_every_variable_that_is_read_has_a_line():
    read = set()
    for path in (ROOT / "app.py", *python_files(PACKAGE, ROOT / "pages")):
        texts = (node.value for node in nodes(path) if isinstance(node, ast.Constant) and isinstance(node.value, str))
        read |= {text for text in texts if VARIABLE.fullmatch(text)}
    listed = {name for line in rows(SETTINGS) for name in VARIABLE.findall(line[0])}
    assert read - OURS_ALONE == listed


def test_make_targets_exist():
    targets = set(re.findall(r"^([a-z][\w-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(re.findall(r"\bmake ([a-z][\w-]*)\b", README + BUILT))
    assert named - targets == set()
