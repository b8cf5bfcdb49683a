"""A command line in the making: which option fills which field of the settings, and how values are written."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from workprof.errors import SettingsError
from workprof.profiles.settings import ProfileSettings
from workprof.profiles.sweep import COUPLED
from workprof.visible import visible
from workprof.workbench.run_setting_paths import differences

Resolve = Callable[[ProfileSettings], ProfileSettings]
"""Names the features and sizes of a clustering, as the workbench does for one dataset."""

Words = tuple[str, ...]
SIZES = ("edges_bytes", "step_bytes", "cap_bytes")
"""Last names of the fields that a command takes as sizes with a unit."""
_SHELL = {"\\": "\\\\", "'": "\\'"}


@dataclass(frozen=True)
class CommandLine:
    """A command in the making.

    Attributes:
        words: before the dataset.
        base: the settings that it asks with no option but `after`.
        options: flag -> field of the settings that it fills ('plan.rule' = of the record within).
        after: words after the dataset that are always there.
        begins: the same as `base` before anything left open is decided, where the command takes `--with`; else None.
    """

    words: Words
    base: Any
    options: dict[str, str]
    after: Words = ()
    begins: Any = None


def written(line: CommandLine, dataset: str, asked: Any) -> str:
    """Return the command that asks exactly this of a dataset, '' where its options cannot say it."""
    told, made = _told(line.options, line.base, asked)
    if made != asked:
        if line.begins is None:
            return ""
        told, made = _told(line.options, line.begins, asked)
        further = differences(made, asked)
        if further is None:
            return ""
        told += [word for text in further for word in ("--with", text)]
    return shell_line(("workprof", *line.words, dataset, *line.after, *told))


def shell_line(words: Words) -> str:
    """Return words as a shell reads them, those with hidden characters in its $'...' with the codes in ASCII."""
    return " ".join(f"$'{_coded(word)}'" if visible(word) != word else shlex.quote(word) for word in words)


def _coded(word: str) -> str:
    told = (_SHELL.get(sign) or (sign if visible(sign) == sign else f"\\U{ord(sign):08x}") for sign in word)
    return "".join(told)


def fit_words(clustering: ProfileSettings, resolve: Resolve) -> Words:
    """Return the words that name a clustering whose labels are part of a question."""
    plain = ProfileSettings(mode=clustering.mode)
    told = () if resolve(plain) == clustering else differences(plain, clustering) or ()
    return tuple(word for text in (f"mode={clustering.mode}", *told) for word in ("--fit", text))


def _told(options: dict[str, str], base: Any, asked: Any) -> tuple[list[str], Any]:
    """Return the options that can say what differs, and the settings that they make."""
    words: list[str] = []
    changes: dict[str, Any] = {}
    for flag, field in options.items():
        value = _value(asked, field)
        said = said_as(flag, field, value) if value != _value(base, field) else ()
        if said:
            words += said
            changes[field] = value
    try:
        return words, _with(base, changes)
    except SettingsError:  # some of them are valid with the others only, which no option says
        return [], base


def flags(*fields: str, within: str = "") -> dict[str, str]:
    """Return flag -> field for fields that are called as their options are."""
    return {"--" + field.replace("_", "-"): within + field for field in fields}


def mode_words(mode: str) -> Words:
    """Return the option of a mode, () for the default one."""
    return () if mode == "corrected" else ("--mode", mode)


def _value(record: Any, path: str) -> Any:
    first, _, rest = path.partition(".")
    found = getattr(record, first)
    return _value(found, rest) if rest else found


def _with(record: Any, changes: dict[str, Any]) -> Any:
    """Return a record with other values at some paths, changed at once: they may be valid together only."""
    own = {path: value for path, value in changes.items() if "." not in path}
    inside: dict[str, dict[str, Any]] = {}
    for path, value in changes.items():
        first, _, rest = path.partition(".")
        if rest:
            inside.setdefault(first, {})[rest] = value
    return replace(record, **own, **{name: _with(getattr(record, name), within) for name, within in inside.items()})


def said_as(flag: str, field: str, value: Any) -> Words:
    """Return the words of an option, () where it cannot say this value."""
    if value is None:
        return ()
    if field == "min_samples" and value == COUPLED:
        return (flag, "coupled")
    if field == "by" and isinstance(value, tuple):
        each = [said_as(flag, "", names) for names in value]
        return tuple(word for words in each for word in words) if all(each) else ()
    if isinstance(value, dict):
        if any("=" in name for name in value):
            return ()
        value = tuple(f"{name}={_text(item)}" for name, item in value.items())
    items = value if isinstance(value, tuple) else (value,)
    texts = [_size(item) if field.rpartition(".")[2] in SIZES else _text(item) for item in items]
    if not all(texts) or (isinstance(value, tuple) and any("," in text or text != text.strip() for text in texts)):
        return ()
    return (flag, ",".join(texts))


def _text(value: object) -> str:
    return repr(value) if isinstance(value, float) else str(value)


def _size(value: float) -> str:
    """Return whole bytes with their unit; '' for a part of a byte, which no size can say."""
    return f"{value:.0f}B" if value and float(value).is_integer() else ""
