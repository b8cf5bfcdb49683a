"""No sentence of a shell's answer has more words than a reader takes in at once; pages: `test_nothing_empty`."""

from types import SimpleNamespace

import pytest

from tests.golden.answers import KEPT
from tests.sentences import long_ones, n_words, sentences
from workprof.answers.classifier import SPLIT_WORDS, splits_note


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


def test_every_split_of_a_test_is_a_sentence():
    note = splits_note(SimpleNamespace(splits=SPLIT_WORDS, not_made={}, settings=SimpleNamespace(mode="corrected")))
    assert len(sentences(note)) == len(SPLIT_WORDS) + 1 and long_ones([note]) == []
