"""No sentence of a default view, of a shell's answer or of a report has more words than a reader takes in at once."""

import pytest

from tests.golden.answers import KEPT
from tests.pages import addresses
from tests.pages.test_shown_words import texts
from tests.sentences import long_ones, n_words, sentences

PAGES = (
    *("home", "data", "profiles", "classify", "durations", "memory", "nodes", "phases", "sweep", "runs", "report"),
    "help",
)


@pytest.mark.parametrize("page", PAGES)
def test_no_sentence_of_a_default_view_is_long(app, loaded, page):
    test = app(page)
    assert not test.exception
    found = [text for node in addresses.everything(test) for text in texts(node)]
    assert sum(map(len, map(sentences, found))) > 5
    assert long_ones(found) == []


@pytest.mark.parametrize("path", sorted(KEPT.glob("*.txt")), ids=lambda path: path.stem)
def test_no_sentence_that_a_shell_prints_is_long(path):
    """A line with several cells is a row of a table."""
    lines = path.read_text(encoding="utf-8").splitlines()
    assert long_ones(line.strip(' ",') for line in lines if "  " not in line.strip()) == []


def test_words_are_counted_as_a_reader_does():
    assert n_words("Of all profiles, bert · ps wastes most: 22 %.") == 8
    assert sentences("It took 3.5 GB. Then **no**\nmore [words](address).") == [
        "It took 3.5 GB.",
        "Then **no**",
        "more words.",
    ]
    assert long_ones(["word " * 25 + ".", "word " * 26 + "."]) == [("word " * 26 + ".")]
