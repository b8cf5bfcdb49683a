"""Words: texts from uploaded files made safe, plurals, and the fields of a job table as people read them."""

import html
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence

import pandas as pd

from workprof.core.text import visible
from workprof.core.units import format_bytes, format_count, format_duration

LONGEST = 48
_MARKUP = re.compile(r"[\\`*\[\]<>$~|&#!]|(?<!\w)_|_(?!\w)|:[\w/-]+[:\[]|://|^([-+]|\d+[.)])(\s|$)|www\.|@")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|$~:<>&])")


def shortened(text: str, longest: int = LONGEST) -> str:
    """A text of at most `longest` characters on one line, hidden ones spelled out."""
    line = visible(" ".join(str(text).split()))
    return line if len(line) <= longest else line[: longest - 1] + "…"


def plotly_text(text: str, longest: int = LONGEST) -> str:
    """A text that Plotly shows as it is (it reads some HTML)."""
    return html.escape(shortened(text, longest), quote=False)


def markdown_text(text: str, longest: int = LONGEST) -> str:
    """A text that Markdown shows as it is."""
    return _MARKDOWN.sub(r"\\\1", shortened(text, longest))


def label_text(text: str, longest: int = LONGEST) -> str:
    """A text that a label shows as it is; unchanged where Markdown makes nothing of it, as of '24.6 %'."""
    return markdown_text(text, longest) if _MARKUP.search(text) else shortened(text, longest)


def visible_table(frame: pd.DataFrame) -> pd.DataFrame:
    """A table whose headers and texts have their hidden characters spelled out."""
    names = [visible(name) if isinstance(name, str) else name for name in frame.columns]
    shown = frame.copy(deep=False) if names == list(frame.columns) else frame.set_axis(names, axis=1)
    for place in range(shown.shape[1]):
        column = shown.iloc[:, place]
        if not pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_datetime64_any_dtype(column):
            texts = [visible(item) if isinstance(item, str) else item for item in column]
            if any(new is not old and new != old for new, old in zip(texts, column, strict=True)):
                shown.isetitem(place, texts)
    return shown


def listed(words: Sequence[str], last: str = "and") -> str:
    """'a, b and c'."""
    return f" {last} ".join(part for part in (", ".join(words[:-1]), *words[-1:]) if part)


def distinct(lines: Sequence[str]) -> list[str]:
    """The lines with a number behind those that shortening made equal."""
    seen: Counter[str] = Counter()
    result = []
    for line in lines:
        seen[line] += 1
        result.append(line if seen[line] == 1 else f"{line} ({seen[line]})")
    return result


def counted(count: int, noun: str) -> str:
    """'1 job' or '1,234 jobs'."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


_SUFFIXES = {"_bytes": "bytes", "_s": "s", "_percent": "percent", "_count": "operations"}
_IN_BRACKETS = {"_bytes": "bytes", "_percent": "%", "_gb_h": "GB·h", "_gb": "GB", "_per_h": "per hour", "_s": "s"}
_OF_WORDS = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)+")
_WORDS = {"cpu": "CPU", "gpu": "GPU", "id": "ID"}


def unit(field: str) -> str:
    """The unit of a field ('bytes', 's', 'percent', 'operations' or '')."""
    return next((name for suffix, name in _SUFFIXES.items() if field.endswith(suffix)), "")


def label(field: str) -> str:
    """'peak memory' for peak_memory_bytes."""
    stem = field
    for suffix in ("_bytes", "_s", "_percent"):
        stem = stem.removesuffix(suffix)
    return " ".join(_WORDS.get(word, word) for word in stem.split("_"))


def begun(text: str) -> str:
    """A text as it begins a sentence: 'Requested CPU' (`capitalize` makes 'Requested cpu')."""
    return f"{text[:1].upper()}{text[1:]}"


def title(field: str, unit_name: str | None = None) -> str:
    """An axis title with the unit: 'CPU usage (% of one core)'."""
    name = unit(field) if unit_name is None else unit_name
    if name == "percent":
        name = "% of one GPU" if "gpu" in field else "% of one core"
    return begun(label(field)) + (f" ({name})" if name else "")


def column_words(name: str) -> str:
    """A column of a table as people read it: 'duration p95 (s)' for duration_p95_s; a counter's name stays."""
    if not _OF_WORDS.fullmatch(name):
        return name
    stem, kind = name, ""
    for suffix, words in _IN_BRACKETS.items():
        if name.endswith(suffix) and name != suffix:
            stem, kind = name.removesuffix(suffix), f" ({words})"
            break
    return " ".join(_WORDS.get(word, word) for word in stem.split("_") if word) + kind


def option_words(options: Sequence[str], given: Mapping[str, str]) -> dict[str, str]:
    """Option -> words: those given, else those of a name with underscores; a name stays where two read alike."""
    words = {option: given.get(option) or column_words(option) for option in options}
    often = Counter(words.values())
    return {option: text for option, text in words.items() if text != option and often[text] == 1}


def formatted(field: str, value: float) -> str:
    """A value with its unit, 'no data' for NaN."""
    kind = unit(field)
    if not math.isfinite(value):
        return "no data"
    if kind == "bytes":
        return format_bytes(value)
    if kind == "s":
        return format_duration(value)
    if kind == "percent":
        return f"{_digits(value)} %"
    return format_count(value) if float(value).is_integer() else _digits(value)


def _digits(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 999.5 else format_count(value)
