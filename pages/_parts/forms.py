"""A declared question as a form: a control for each setting, with its label, help, unit and bounds, in the address."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, replace
from functools import partial
from typing import Any, TypeVar

import streamlit as st

from pages._frame import link
from pages._frame.errors import refused
from pages._frame.visit import Visit
from pages._parts import controls, tabs
from workprof.charts.help.terms import explained, glossary_of
from workprof.charts.text import option_words
from workprof.core.errors import SettingsError
from workprof.core.fields import Leaf, check_value, get, leaves, put, read
from workprof.core.question import QUESTION_KEY, Question, controls_of, form_text, from_form, in_form
from workprof.store.reports import Dataset

S = TypeVar("S")

OFFERED = ("any", "numeric", "category")
"""Columns that a form lists by itself."""
MOST_ON_A_SLIDER = 12
FIELD_PX, LIST_PX = 170, 320
"""Widths; several chosen options want more room."""
FIELD_HEIGHT_PX = 40
ONE_ROW = 4
"""Up to so many fields and switches stand side by side; more go below each other."""
LEAST = 1e-9
"""From a bound that is itself not allowed."""
NONE = "none"
"""What a list of columns calls none of them."""


def settings(  # noqa: PLR0913  what differs from a form made of the question alone
    visit: Visit,
    dataset: Dataset,
    question: Question[S, Any],
    main: Sequence[str],
    given: Mapping[str, Any] | None = None,
    own: Mapping[str, Callable[[], Any]] | None = None,
    *,
    begin: S | None = None,
    rest_of: str = "More settings",
) -> S:
    """Show a question's form and return the settings.

    Args:
        visit: this run of the page.
        dataset: whose columns are offered.
        question: declared; every setting has a control, so that every setting stands in the address.
        main: paths of the settings that are shown; the others fold.
        given: path -> value of the settings that the page shows elsewhere, or that the question has from another.
        own: path -> a control of the page's own that shows itself and returns the value.
        begin: settings that the controls begin with; None = the defaults.
        rest_of: title of the fold, where a view has two forms.

    Raises:
        SettingsError: when the chosen settings are not valid together.
    """
    values, own, page = dict(given or {}), own or {}, question.page
    shown = {leaf.path: leaf for leaf in question.leaves if leaf.path not in values}
    if begin is not None:
        shown = {path: beginning_with(leaf, begin) for path, leaf in shown.items()}
    offered = _columns(visit, dataset)

    def show(path: str) -> None:
        leaf = shown[path]
        present = offered.get(leaf.about.columns, ())
        choices = [name for name in leaf.about.choices if name in present] or present
        values[path] = own[path]() if path in own else control(leaf, page, choices)

    _draw({path: shown[path] for path in main if path in shown}, show)
    rest = {path: leaf for path, leaf in shown.items() if path not in main}
    if rest:
        place = question.fold or f"{page}_{question.name.rpartition('.')[2]}_more"
        with controls.fold(rest_of, place):
            _draw(rest, show)
    return question.default(**values) if begin is None else put(begin, values)


def _columns(visit: Visit, dataset: Dataset) -> dict[str, tuple[str, ...]]:
    """Return what a setting may name of a dataset, by kind of column."""
    columns = [one for one in visit.workbench.columns(dataset.hash) if not one.truth]
    return {
        "any": tuple(one.name for one in columns if one.name != "row_id"),
        "numeric": tuple(one.name for one in columns if one.numeric and one.name != "row_id"),
        "category": tuple(one.name for one in columns if not one.numeric),
    }


def _draw(shown: Mapping[str, Leaf], show: Callable[[str], None]) -> None:
    switches = [path for path in shown if shown[path].kind is bool]
    lists = [path for path in shown if shown[path].many]
    fields = [path for path in shown if path not in (*switches, *lists)]
    if fields and switches and len(fields) + len(switches) <= ONE_ROW:
        beside: dict[str, Any] = {"width": "content", "height": FIELD_HEIGHT_PX, "vertical_alignment": "center"}
        with st.container(horizontal=True, vertical_alignment="bottom"):
            for path in (*fields, *switches):
                with st.container(**beside, border=False) if path in switches else st.container(width=FIELD_PX):
                    show(path)
        fields, switches = [], []
    for group, place in (
        (fields, partial(st.grid, min_column_width=FIELD_PX, gap="small")),
        (lists, partial(st.grid, min_column_width=LIST_PX, gap="small")),
        (switches, partial(st.container, horizontal=True)),  # as wide as their words, which a column would cut off
    ):
        if group:
            with place():
                for path in group:
                    show(path)


def within(name: str, record: Any) -> dict[str, Any]:
    """Return path -> value of every setting of a record that stands in a field of another one."""
    return {f"{name}.{leaf.path}": get(record, leaf.path) for leaf in leaves(type(record))}


def beginning_with(leaf: Leaf, begin: Any) -> Leaf:
    """Return a setting whose control begins with its value in a record."""
    return leaf if leaf.default is MISSING else replace(leaf, default=get(begin, leaf.path))


def control(leaf: Leaf, page: str, offered: Sequence[str] = (), *, typed: bool = False) -> Any:
    """Show the control of one setting and return its value.

    Args:
        leaf: the setting.
        page: whose address has it.
        offered: columns, or those of the choices there are.
        typed: a number is a text, which can be emptied also where it does not begin empty.
    """
    about, usual = leaf.about, None if leaf.default is MISSING else leaf.default
    if leaf.number and leaf.default is MISSING:
        usual = leaf.kind(about.least or 0)
    said: dict[str, Any] = {"key": leaf.key(page), "help": _help(leaf, usual)}
    if leaf.weights:
        return _weights(leaf, said)
    if leaf.kind is bool:
        return st.toggle(leaf.label, value=bool(usual), bind="query-params", **said)
    if about.named_key:
        return _named(leaf, page, offered, said)
    if about.choices or about.columns:
        return _chosen(leaf, usual, tuple(offered) or tuple(map(str, about.choices)), said)
    if leaf.number and not typed:
        return _number(leaf, usual, said)
    link.check(leaf.key(page), partial(_parse, leaf))
    begin = "" if usual is None else str(form_text(leaf, usual))
    text: str = st.text_input(leaf.label, value=begin, bind="query-params", **said) or ""
    try:
        return usual if about.some and not text.strip() else _parse(leaf, text)
    except SettingsError as error:
        refused(str(error))
        return usual


def _parse(leaf: Leaf, text: str) -> Any:
    value = read(leaf, text)
    check_value(leaf, value)
    return value


def _help(leaf: Leaf, usual: Any) -> str | None:
    """Return what a setting and each of its choices means, and what the glossary says of it.

    Behind a choice in other words stands its own, that of links and commands.
    """
    about = leaf.about
    meanings = dict(about.choices) if isinstance(about.choices, Mapping) else {}
    if about.empty and (leaf.word(usual) or about.empty not in leaf.label):
        nothing = leaf.word(usual) or ("Empty" if leaf.optional or not leaf.number else "0")
        meanings = {nothing: about.empty, **meanings}
    shown = option_words(tuple(meanings), about.shown)
    names = {name: f"{shown[name]} (`{name}`)" if name in shown else name for name in meanings}
    meaning = " ".join([about.help, *(f"{names[name]}: {words}." for name, words in meanings.items())])
    title = leaf.label if glossary_of(leaf.label) else leaf.label.partition(" (")[0]
    return explained(title, meaning) or None


def _in_words(leaf: Leaf, listed: Sequence[str]) -> dict[str, str]:
    """Return option -> what is shown for it; {} where all are shown as they are: values of a trace, plain words."""
    about = leaf.about
    own = about.choices or about.named or about.columns in OFFERED
    return option_words(listed, about.shown) if own else {}


def _chosen(leaf: Leaf, usual: Any, options: tuple[str, ...], said: dict[str, Any]) -> Any:
    about = leaf.about
    if leaf.many:
        default, hint = [one for one in (usual or ()) if one in options], about.empty or "none"
        several = controls.worded_many(
            leaf.label, options, tuple(default), _in_words(leaf, options), placeholder=hint, **said
        )
        return tuple(several) if several or not about.some else usual
    names = {word: meaning for word, meaning in about.named.items() if meaning is None or meaning == usual}
    empty: Any = next((word for word, meaning in names.items() if meaning == usual), usual or NONE)
    listed: list[str] = [empty, *(name for name in options if name != empty)] if about.columns else list(options)
    listed = [*(word for word in names if word not in listed), *listed]
    first = listed.index(empty) if empty in listed else 0
    one = controls.worded(leaf.label, tuple(listed), listed[first], _in_words(leaf, listed), **said)
    return usual if one == empty else names.get(one, one)


def _weights(leaf: Leaf, said: dict[str, Any]) -> dict[str, float]:
    weights = {}
    for name in leaf.about.choices:
        one = Leaf(name, float, False, 1.0, replace(leaf.about, label=f"Weight of {name}", empty=""))
        weights[name] = float(_number(one, 1.0, {**said, "key": f"{said['key']}_{name}"}))
    if not any(weights.values()):
        refused("all weights are 0, so all weigh alike; give at least one a weight above 0")
    return {} if len(set(weights.values())) == 1 else weights


def _named(leaf: Leaf, page: str, offered: Sequence[str], said: dict[str, Any]) -> Any:
    """Show the list of words that stand for whole values, with a control beside it for a value of one's own."""
    about = leaf.about
    listed = [*about.named, *([about.own] if about.own else [])]
    chosen = controls.worded(
        leaf.label, tuple(listed), listed[0], _in_words(leaf, listed), **said | {"key": leaf.words_key(page)}
    )
    if not about.own:
        return about.named[chosen]
    taken = [meaning for meaning in about.named.values() if isinstance(meaning, int)]
    beside = replace(
        about,
        help=f"Used where {leaf.label} is '{about.own}'.",
        label=f"{about.own.capitalize()} {leaf.label if leaf.number else leaf.label.lower()}",
        named={},
        named_key="",
        empty="",
        least=max(taken) + 1 if taken else about.least,
    )
    usual = leaf.default if about.usual is None else about.usual
    value = control(replace(leaf, about=beside, default=usual), page, offered)
    return value if chosen == about.own else about.named[chosen]


def _number(leaf: Leaf, usual: Any, said: dict[str, Any]) -> Any:
    about, (_, factor) = leaf.about, leaf.form_unit
    low = about.least if about.least is not None else about.above
    high = about.most if about.most is not None else about.below
    if leaf.kind is int:
        least, most = 0 if low is None else math.ceil(low), None if about.most is None else math.floor(about.most)
        if most is not None and most - least <= MOST_ON_A_SLIDER:
            return st.slider(leaf.label, least, most, least if usual is None else usual, bind="query-params", **said)
        return st.number_input(leaf.label, least, most, usual, step=1, bind="query-params", **said)
    begin = in_form(leaf, usual)
    lowest = None if low is None else low * factor + (LEAST if about.above is not None and usual else 0)
    highest = None if high is None else high * factor - (LEAST if about.below is not None else 0)
    shown = st.number_input(leaf.label, lowest, highest, begin, format="%g", bind="query-params", **said)
    if shown is None or (leaf.optional and about.above == shown):
        return None
    return from_form(leaf, shown)


def arrive(page: str, questions: Sequence[Question[Any, Any]]) -> None:
    """Take the settings that a link names by their options (`cap=64GB`) over into the page's own parameters.

    To be called before the page's controls are shown. A link of a page's own making names the controls.
    """
    tabs.respell(f"{page}_tab")
    tab = st.query_params.get(f"{page}_tab", "")
    asked = st.query_params.pop(QUESTION_KEY, "")
    arrived: dict[str, str | list[str]] = {}
    for question in questions:
        if (question.tab not in ("", tab) and tab) or asked not in ("", question.call):
            continue
        for leaf in leaves(question.settings):
            name, key = leaf.flag.lstrip("-"), leaf.key(page)
            if name not in st.query_params or name == key or key in st.session_state:
                continue
            try:
                value = _parse(leaf, st.query_params[name])
            except SettingsError as error:
                link.drop(name, str(error))
            else:
                del st.query_params[name]
                arrived |= controls_of(question, leaf, value)
    if arrived:
        st.query_params.update(arrived)
        link.start_from_address()
