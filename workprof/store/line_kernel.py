"""The quotes and line ends of a delimited text, byte by byte, as a strict reader takes them (see `lines`)."""

import numpy as np
from numpy.typing import NDArray

from workprof.core.compiled import compiled, compiled_within
from workprof.store.lines import (
    BLANK,
    BREAK_LINE,
    BREAKS,
    CELL_BREAKS,
    CELL_FILLED,
    CELL_LINES,
    CELL_START,
    CELLS,
    CLOSED,
    CLOSED_INSIDE,
    COLUMNS,
    DOUBTFUL_BREAKS,
    DOUBTFUL_LINE,
    FAULT,
    FIRST_SEPARATORS,
    IN_HEADER,
    LEADING_BLANK,
    LINE,
    LINE_END,
    LINE_SEPARATORS,
    LONG_ROW,
    MANY_LINES,
    MISUSED,
    OTHER_WIDTH,
    PLAIN,
    QUOTE_BYTE,
    QUOTE_IN_QUOTES,
    QUOTE_LINE,
    QUOTED,
    ROW_BREAKS,
    ROW_BYTES,
    ROW_FILLED,
    ROW_LENGTH,
    ROWS,
    SOUND,
    SPACES_ARE_BLANK,
    STATE,
    WIDE_LINES,
)

TAB, CARRIAGE_RETURN, SPACE = 9, 13, 32


@compiled
def walk(
    text: NDArray[np.uint8],
    delimiter: NDArray[np.uint8],
    rules: NDArray[np.int64],
    known: NDArray[np.int64],
) -> None:
    """Take in further bytes of text (n,); stop at a quote that is not sound.

    The delimiter is (1-4,) bytes of one character. `rules` (5,) are the byte that ends a line, that of a quote (-1 =
    none), whether spaces are blank, most lines of a cell, most bytes of a row over several lines. `known` (KNOWN,) is
    written in place.
    """
    line_end, quote, at = rules[LINE_END], rules[QUOTE_BYTE], 0
    while at < text.size and known[FAULT] == SOUND:
        byte, taken = text[at], 1
        if known[STATE] == QUOTED:
            if _separator(text, at, delimiter):
                known[LINE_SEPARATORS] += 1
            _within_quotes(byte, rules, known)
        elif known[STATE] == QUOTE_IN_QUOTES and byte == quote:
            known[STATE] = QUOTED
        elif byte == line_end:
            _end_row(rules, known)
        else:
            taken = _separator(text, at, delimiter)
            if taken:
                known[CELLS] += 1
                known[LINE_SEPARATORS] += 1
                known[CELL_FILLED], known[ROW_FILLED] = 0, 1
                known[STATE] = CELL_START
            else:
                taken = 1
                _outside_quotes(byte, rules, known)
        at += taken
        known[ROW_BYTES] += taken


@compiled_within
def _within_quotes(byte: int, rules: NDArray[np.int64], known: NDArray[np.int64]) -> None:
    if byte == rules[QUOTE_BYTE]:
        known[STATE] = QUOTE_IN_QUOTES
    elif byte == rules[LINE_END]:
        _end_line(known)
        known[CELL_BREAKS] += 1
        if known[ROW_BREAKS] == 0 or known[CELL_BREAKS] >= rules[CELL_LINES]:
            known[BREAK_LINE] = known[QUOTE_LINE]
        known[ROW_BREAKS] += 1
        if known[CELL_BREAKS] >= rules[CELL_LINES]:
            known[FAULT] = MANY_LINES


@compiled_within
def _outside_quotes(byte: int, rules: NDArray[np.int64], known: NDArray[np.int64]) -> None:
    """Take a byte that is neither a separator nor the end of a row; spaces may stand around a cell's quotes."""
    if byte == CARRIAGE_RETURN:
        return
    known[CELL_FILLED] = 1
    if not (rules[SPACES_ARE_BLANK] and byte in (SPACE, TAB)):
        known[ROW_FILLED] = 1
    if known[STATE] == CELL_START:
        if byte == rules[QUOTE_BYTE]:
            known[STATE] = QUOTED
            known[QUOTE_LINE], known[CELL_BREAKS] = known[LINE], 0
        elif byte != SPACE:
            known[STATE] = PLAIN
    elif known[STATE] == QUOTE_IN_QUOTES or known[STATE] == CLOSED:
        known[STATE] = CLOSED
        if byte != SPACE:
            known[STATE], known[MISUSED] = PLAIN, 1


@compiled_within
def _separator(text: NDArray[np.uint8], at: int, delimiter: NDArray[np.uint8]) -> int:
    """The bytes of the separator that begins here, 0 where none does."""
    if at + delimiter.size > text.size:
        return 0
    for offset in range(delimiter.size):
        if text[at + offset] != delimiter[offset]:
            return 0
    return int(delimiter.size)


@compiled_within
def _end_row(rules: NDArray[np.int64], known: NDArray[np.int64]) -> None:
    _end_line(known)
    if known[ROW_FILLED]:
        if known[ROWS] == 0:
            known[COLUMNS] = known[CELLS] + 1
        known[ROWS] += 1
    else:
        known[BLANK] += 1
        if known[ROWS] == 0:
            known[LEADING_BLANK] += 1
    if known[ROW_BREAKS]:
        _judge_breaks(rules, known)
    known[STATE], known[CELLS], known[CELL_FILLED], known[ROW_FILLED] = CELL_START, 0, 0, 0
    known[ROW_BYTES], known[ROW_BREAKS], known[MISUSED], known[WIDE_LINES] = 0, 0, 0, 0


@compiled_within
def _judge_breaks(rules: NDArray[np.int64], known: NDArray[np.int64]) -> None:
    """Count the line ends within the quotes of a row, or find its fault."""
    known[BREAKS] += known[ROW_BREAKS]
    ends_with_separator = known[CELLS] == known[COLUMNS] and not known[CELL_FILLED]
    takes_in_rows = 2 * known[WIDE_LINES] > known[ROW_BREAKS] + 1 and known[FIRST_SEPARATORS] > 0
    if known[MISUSED]:
        known[FAULT] = CLOSED_INSIDE
    elif known[CELLS] + 1 != known[COLUMNS] and not ends_with_separator:
        known[FAULT] = OTHER_WIDTH
    elif known[ROW_BYTES] > rules[ROW_LENGTH]:
        known[FAULT] = LONG_ROW
    elif takes_in_rows and known[ROWS] == 1:  # the header, of which a table shows no cell
        known[FAULT] = IN_HEADER
    elif takes_in_rows:
        known[DOUBTFUL_BREAKS] += known[ROW_BREAKS]
        if not known[DOUBTFUL_LINE]:
            known[DOUBTFUL_LINE] = known[BREAK_LINE]


@compiled_within
def _end_line(known: NDArray[np.int64]) -> None:
    known[LINE] += 1
    if known[FIRST_SEPARATORS] < 0 and known[ROW_FILLED]:
        known[FIRST_SEPARATORS] = known[LINE_SEPARATORS]
    if known[LINE_SEPARATORS] == known[FIRST_SEPARATORS]:
        known[WIDE_LINES] += 1
    known[LINE_SEPARATORS] = 0
