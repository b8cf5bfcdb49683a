"""The pages of the formats: every format has one, it names what the format reads, and the index leads to it."""

import re

import pytest

from tests.docs.commands import INLINE, ROOT, options_of
from workprof.formats import FORMATS, NAMES, TABLES, not_known

FOLDER = ROOT / "docs" / "formats"
INDEX = (FOLDER / "README.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (`[^|]+`) \|.*?\| \[[^\]]+\]\(([\w.-]+\.md)\)", re.MULTILINE)
PAGES = {name: page for names, page in ROW.findall(INDEX) for name in re.findall(r"`([^`]+)`", names)}
COMMAND = re.compile(r"^(workprof .*)$", re.MULTILINE)
TITLE = re.compile(r"^# \S.*\n")


def page_of(name):
    return (FOLDER / PAGES[name]).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [*FORMATS, TABLES])
def test_every_format_is_in_the_index_and_has_a_page(name):
    assert name in PAGES, f"docs/formats/README.md has no row of {name}"
    page = page_of(name)
    assert re.search(rf"(?<![\w-]){name}(?![\w-])", page)
    assert TITLE.match(page)
    assert "workprof ingest" in page or "```" in page


def test_the_index_names_nothing_else():
    assert PAGES.keys() <= set(NAMES)
    assert {path.name for path in FOLDER.glob("*.md")} - {"README.md"} == set(re.findall(r"\(([\w.-]+\.md)\)", INDEX))


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "generic"])
def test_a_page_names_every_column_that_becomes_a_field(name):
    """A reader's columns are its own: of what it makes, the field is named. A generic table's are the fields."""
    form, page = FORMATS[name], page_of(name)
    missing = []
    for rule in form.rules:
        wanted = (rule.source, rule.field) if form.reader else (rule.source,)
        if not any(re.search(rf"(?<![\w%]){re.escape(word)}(?!\w)", page) for word in wanted):
            missing.append(rule.source)
    assert missing == []


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.md")), ids=lambda path: path.name)
def test_a_shown_command_exists_with_its_options_and_a_link_leads_somewhere(path):
    page = path.read_text(encoding="utf-8")
    for line in [*COMMAND.findall(page), *INLINE.findall(page)]:
        words = line.partition("#")[0].partition(" > ")[0].split()[1:]
        known = options_of(words)
        assert known is not None, line
        own = words[: words.index("--")] if "--" in words else words
        assert {word.partition("=")[0] for word in own if word.startswith("-") and word != "-"} - known == set(), line
    for target in re.findall(r"\]\(([^)#\s]+)\)", page):
        assert "://" in target or (path.parent / target).exists(), target


@pytest.mark.parametrize("name", [*FORMATS, TABLES])
def test_a_page_says_what_is_not_known(name):
    """And in the words of the memory plan, where these say something."""
    page = page_of(name)
    section = re.search(r"^## What is not known\n\n((?:(?!^## ).*\n)+)", page, re.MULTILINE)
    assert section is not None
    words = " ".join(re.sub(r"[`*]", "", section.group(1)).split())
    assert len(words) > 20
    assert not_known(name) in words


def test_only_tables_of_anybody_and_of_one_trace_say_nothing_in_the_plan():
    assert {name for name in FORMATS if not not_known(name)} == {"generic", "pai-sample"}
