"""A declared question as a form: a control for each setting, with its label, help, unit and bounds, in the address."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import streamlit as st

from pages._frame import link
from pages._frame.errors import refused
from pages._frame.visit import Visit
from pages._parts import controls, tabs
from workprof.answers.help.terms import explained, glossary_of
from workprof.core.errors import SettingsError
from workprof.core.fields import Leaf, Setting, check_value, get, leaves, put, read
from workprof.core.question import QUESTION_KEY, Question, controls_of, form_text, from_form, in_form
from workprof.core.words import option_words
from workprof.store.reports import Dataset

S = TypeVar("S")

OFFERED = {"any": (True, False), "numeric": (True,), "category": (False,)}
"""Columns that a form lists by itself: what tells whether they hold numbers."""
MOST_ON_A_SLIDER = 12
FIELD_PX, LIST_PX = 170, 320
"""Widths; several chosen options want more room."""
BESIDE: dict[str, Any] = {"width": "content", "height": 40, "vertical_alignment": "center", "border": False}
"""Of a switch beside fields: as high as they are."""
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
    """Show a question's form and return the settings; every setting has a control, so that all stand in the address.

    By path: settings that are shown (`main`; the others fold), values that the page shows elsewhere or that the
    question has from another (`given`), controls of the page's own (`own`). The controls begin with `begin`, None = the
    defaults. `rest_of` is the title of the fold, where a view has two forms.

    Raises SettingsError when the chosen settings are not valid together.
    """
    values, own = dict(given or {}), own or {}
    if begin is None:
        begin = question.default(**{leaf.path: values[leaf.path] for leaf in question.named if leaf.path in values})
    shown = [replace(leaf, default=get(begin, leaf.path)) for leaf in question.leaves if leaf.path not in values]
    columns = [one for one in visit.workbench.columns(dataset.hash) if not one.truth and one.name != "row_id"]
    offered = {kind: tuple(one.name for one in columns if one.numeric in of) for kind, of in OFFERED.items()}

    def show(leaf: Leaf) -> None:
        present = offered.get(leaf.about.columns, ())
        choices = [name for name in leaf.about.choices if name in present] or present
        values[leaf.path] = own[leaf.path]() if leaf.path in own else control(leaf, question.page, choices)

    _draw(sorted((leaf for leaf in shown if leaf.path in main), key=lambda leaf: main.index(leaf.path)), show)
    rest = [leaf for leaf in shown if leaf.path not in main]
    if rest:
        place = question.fold or f"{question.page}_{question.name.rpartition('.')[2]}_more"
        with controls.fold(rest_of, place):
            _draw(rest, show)
    return put(begin, values)


def _draw(shown: Sequence[Leaf], show: Callable[[Leaf], None]) -> None:
    switches = [leaf for leaf in shown if leaf.kind is bool]
    lists = [leaf for leaf in shown if leaf.many]
    fields = [leaf for leaf in shown if leaf not in (*switches, *lists)]
    if fields and switches and len(fields) + len(switches) <= ONE_ROW:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            for leaf in (*fields, *switches):
                with st.container(**BESIDE) if leaf in switches else st.container(width=FIELD_PX):
                    show(leaf)
        fields, switches = [], []
    for group, width in ((fields, FIELD_PX), (lists, LIST_PX), (switches, 0)):
        if group:  # switches are as wide as their words, which a column would cut off
            with st.grid(min_column_width=width, gap="small") if width else st.container(horizontal=True):
                for leaf in group:
                    show(leaf)


def within(name: str, record: Any) -> dict[str, Any]:
    """Return path -> value of every setting of a record that stands in a field of another one."""
    return {f"{name}.{leaf.path}": get(record, leaf.path) for leaf in leaves(type(record))}


def control(leaf: Leaf, page: str, offered: Sequence[str] = (), *, typed: bool = False) -> Any:
    """Show the control of one setting that has a default, and return its value.

    Columns that are `offered`, or those of the choices there are. With `typed` a number is a text, which can be emptied
    also where it does not begin empty.
    """
    about, usual = leaf.about, leaf.default
    words: dict[str, Any] = {"key": leaf.key(page), "help": _help(leaf)}
    if about.named_key:
        return _named(leaf, page, offered, words)
    if about.choices or about.columns:
        return _chosen(leaf, tuple(offered) or tuple(map(str, about.choices)), words)
    if leaf.kind is bool:
        return st.toggle(leaf.label, value=usual, bind="query-params", **words)
    if leaf.number and not typed:
        return _number(leaf, words)
    link.check(leaf.key(page), partial(_parse, leaf))
    text: str = st.text_input(leaf.label, value=str(form_text(leaf, usual)), bind="query-params", **words) or ""
    try:
        return usual if about.some and not text.strip() else _parse(leaf, text)
    except SettingsError as error:
        refused(str(error))
        return usual


def _parse(leaf: Leaf, text: str) -> Any:
    return check_value(leaf, read(leaf, text))


def _help(leaf: Leaf) -> str:
    """Return what a setting and each of its choices means, and what the glossary says of it.

    Behind a choice in other words stands its own, that of links and commands.
    """
    about, word = leaf.about, leaf.word(leaf.default)
    meanings = dict(about.choices) if isinstance(about.choices, Mapping) else {}
    if about.empty and (word or about.empty not in leaf.label):
        meanings = {word or ("Empty" if leaf.optional or not leaf.number else "0"): about.empty, **meanings}
    shown = option_words(tuple(meanings), about.shown)
    names = {name: f"{shown[name]} (`{name}`)" if name in shown else name for name in meanings}
    meaning = " ".join([about.help, *(f"{names[name]}: {words}." for name, words in meanings.items())])
    return explained(leaf.label if glossary_of(leaf.label) else leaf.label.partition(" (")[0], meaning)


def _in_words(leaf: Leaf, listed: Sequence[str]) -> dict[str, str]:
    """Return option -> what is shown for it; {} where all are shown as they are: values of a trace, plain words."""
    return option_words(listed, leaf.about.shown) if leaf.about.columns in ("", *OFFERED) else {}


def _chosen(leaf: Leaf, options: tuple[str, ...], words: dict[str, Any]) -> Any:
    about, usual = leaf.about, leaf.default
    if leaf.many:
        begin, words["placeholder"] = tuple(one for one in usual if one in options), about.empty or NONE
        several = controls.worded_many(leaf.label, options, begin, _in_words(leaf, options), **words)
        return tuple(several) if several or not about.some else usual
    names = {word: meaning for word, meaning in about.named.items() if meaning in (None, usual)}
    empty: Any = leaf.word(usual) or usual or NONE
    listed = tuple(dict.fromkeys([*names, *([empty] if about.columns else []), *options]))
    first = empty if empty in listed else listed[0]
    one = controls.worded(leaf.label, listed, first, _in_words(leaf, listed), **words)
    return usual if one == empty else names.get(one, one)


def _named(leaf: Leaf, page: str, offered: Sequence[str], words: dict[str, Any]) -> Any:
    """Show the list of words that stand for whole values, with a control beside it for a value of one's own."""
    about, words = leaf.about, words | {"key": leaf.words_key(page)}
    listed = (*about.named, about.own) if about.own else tuple(about.named)
    chosen = controls.worded(leaf.label, listed, listed[0], _in_words(leaf, listed), **words)
    if not about.own:
        return about.named[chosen]
    label = f"{about.own.capitalize()} {leaf.label if leaf.number else leaf.label.lower()}"
    own = Setting(f"Used where {leaf.label} is '{about.own}'.", columns=about.columns, key=about.key, label=label)
    if leaf.number:
        own = replace(own, least=max(about.named.values()) + 1)
    value = control(replace(leaf, about=own, default=about.usual or leaf.default), page, offered)
    return about.named.get(chosen, value)


def _number(leaf: Leaf, words: dict[str, Any]) -> Any:
    about, usual, (_, factor) = leaf.about, leaf.default, leaf.form_unit
    low = about.least if about.least is not None else about.above
    high = about.most if about.most is not None else about.below
    if leaf.kind is int:
        least, most = int(low or 0), None if high is None else int(high)
        if most is not None and most - least <= MOST_ON_A_SLIDER:
            return st.slider(leaf.label, least, most, usual, bind="query-params", **words)
        return st.number_input(leaf.label, least, most, usual, step=1, bind="query-params", **words)
    lowest = None if low is None else low * factor + (LEAST if about.above is not None and usual else 0)
    highest = None if high is None else high * factor - (LEAST if about.below is not None else 0)
    shown = st.number_input(
        leaf.label, lowest, highest, in_form(leaf, usual), format="%g", bind="query-params", **words
    )
    return None if shown is None or (leaf.optional and about.above == shown) else from_form(leaf, shown)


def arrive(page: str, questions: Sequence[Question[Any, Any]]) -> None:
    """Take the settings that a link names by their options (`cap=64GB`) over into the page's own parameters.

    To be called before the page's controls are shown. A link of a page's own making names the controls.
    """
    tabs.respell(f"{page}_tab")
    tab = st.query_params.get(f"{page}_tab", "")
    call = st.query_params.pop(QUESTION_KEY, "")
    arrived: dict[str, str | list[str]] = {}
    for question in (
        one
        for one in questions
        if call in ("", one.call) and (not tab or tabs.renamed(f"{page}_tab", one.tab) in ("", tab))
    ):
        for leaf in leaves(question.settings):
            name, key = leaf.flag.lstrip("-"), leaf.key(page)
            if name in st.query_params and name != key and key not in st.session_state:
                value = link.read(name, partial(_parse, leaf), None)
                if st.query_params.pop(name, None) is not None:  # else it could not be read, and the page says so
                    arrived |= controls_of(question, leaf, value)
    if arrived:
        st.query_params.update(arrived)
        link.start_from_address()
