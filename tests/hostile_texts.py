"""Names as nobody should give them, and tables whose every name is one of them."""

import re

import pandas as pd

MARK = "zqx"
"""Stands in every one of them, so that what became of it is found again."""

TEXTS = (
    f"<script>{MARK}()</script>",
    f"<img src={MARK} onerror={MARK}()>",
    f"[{MARK}](javascript:{MARK}())",
    f"![{MARK}](https://example.org/{MARK}.png)",
    f"https://example.org/{MARK}",
    f"${MARK}^2$ and `{MARK}` and **{MARK}** | {MARK}",
    f":material/bomb: :red[{MARK}] :smile:",
    f"=cmd|' /C {MARK}'!A0",
    f"+{MARK}",
    f"-{MARK}",
    f"@SUM({MARK})",
    f"\t={MARK}",
    f"\r={MARK}",
    f"# {MARK}\n- {MARK}",
    f"\u202e{MARK}\u2066 \x1b[31m{MARK}\x07\x08",
    f"'; DROP TABLE {MARK}; --\"",
    f"{MARK} " + "9" * 10_000,
    f"</script><svg onload={MARK}()>&lt;{MARK}",
    f"%{{{MARK}}} {{0}} {{{MARK}}}",
    f'<a href="https://example.org/{MARK}">{MARK}</a><br><b>{MARK}</b>',
    f"[{MARK}](http://example.org/{MARK})",
    f"\u2067{MARK}\u200f\u061c\u202d \ufeff{MARK}",
)

COLUMNS = tuple(f"{text[:60]} c" for text in TEXTS if text[0] not in "\t\r")
"""Names of further columns."""

TURNING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""What turns the direction of writing; wherever people read, it is to be seen."""

LIVE = re.compile(
    rf"(?<!\\)<script>{MARK}|(?<!\\)<img src={MARK}|(?<!\\)<svg onload={MARK}|(?<!\\)\[{MARK}(?<!\\)\]\("
    rf"|(?<!\\)\${MARK}|(?<!\\)`{MARK}|(?<!\\)\*\*{MARK}|(?<!\\):material/bomb:|(?<!\\):red\[{MARK}|(?<!\\):smile:"
    rf"|(?<![\\:])https?://example\.org|www\.{MARK}|(?m:^(?:# |- ){MARK})"
)
"""What Markdown would make something of: the texts above where no backslash stands before what begins them."""


def hostile(values):
    """Return the values with a hostile name each, the same for the same value."""
    names = {value: at for at, value in enumerate(pd.unique(pd.Series(values).dropna()))}
    return [named(names[value]) if value in names else value for value in values]


def named(at):
    """Return the name of number `at`: no two are the same."""
    return f"{TEXTS[at % len(TEXTS)]} {at}"


def with_hostile(frame, columns):
    """Return a table whose texts in some columns are hostile, with further columns of hostile names."""
    changed = frame.copy()
    for place, column in enumerate(columns):
        changed[column] = hostile([f"{place}{value}" for value in frame[column]])
    more = {name: [named(at % len(TEXTS)) for at in range(len(frame))] for name in COLUMNS}
    return pd.concat([changed, pd.DataFrame(more, index=frame.index)], axis=1)
