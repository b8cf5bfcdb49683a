"""Sentences of a text as a reader counts them: how many words each has."""

import re

from tests.docs.test_words import prose

MOST_WORDS = 25
END = re.compile(r"(?<=[.!?])[\"')*]*\s+|\n")
"""After a stop or a line's end; a figure's point has no space behind it."""
WORD = re.compile(r"\w")


def sentences(text):
    """Return the sentences of a text, without the marks of Markdown and code."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", prose(text)).replace("\\", "")
    return [one.strip() for one in END.split(plain) if one.strip()]


def n_words(sentence):
    return sum(WORD.search(one) is not None for one in sentence.split())


def long_ones(texts, most=MOST_WORDS):
    """Return the sentences of more than `most` words, each once."""
    return sorted({one for text in texts for one in sentences(text) if n_words(one) > most})
