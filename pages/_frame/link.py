"""What a link says, read in one way: a value that cannot be read is dropped, and the page says so.

Every parameter of every page is looked at here: that of a control when Streamlit asks for the control's first value,
and those that a page reads itself through `read`. Streamlit alone would drop most of them without a word, take the
last of repeated ones, and break the page at a number beyond all numbers.
"""

import math
import re
from collections.abc import Callable, Collection
from typing import Any, TypeVar
from urllib.parse import parse_qs

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state.common import WidgetMetadata
from streamlit.runtime.state.query_params import QueryParams, _coerce_value_for_query_url

from workprof.core.errors import WorkprofError
from workprof.core.text import visible
from workprof.core.units import GB, GIB
from workprof.core.words import markdown_text, shortened

Value = TypeVar("Value")

NOTES = "link_told"
LONGEST_TEXT = 16_000
LONGEST_QUOTE = 60
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)


class Unreadable(ValueError):
    """A value of a link that cannot be read; the message says why, such as 'is not a number'."""


class _Parameters(QueryParams):
    """The parameters of the address; what a link has for a control is looked at before the control takes it."""

    def get_initial_value(self, param_key: str) -> str | list[str] | None:
        values = self._initial_query_params.get(param_key)
        control = _control(self, param_key)
        if values is None or control is None:
            return super().get_initial_value(param_key)
        try:
            usable, lost = _of_control(_as_shown(values, control), control)
        except Unreadable as problem:
            drop(param_key, str(problem))
            return None
        if lost:
            _note(param_key, lost, "the others are used")
        self._initial_query_params[param_key] = usable
        return super().get_initial_value(param_key)


def watch(page: str) -> None:
    """Look at every parameter from here on; what was told about another page's link is over."""
    state = _state()
    if state is not None and not isinstance(state.query_params, _Parameters):
        state.query_params.__class__ = _Parameters  # the same object: Streamlit and st.query_params hold on to it
    if st.session_state.get(NOTES, ("", {}))[0] != page:
        st.session_state[NOTES] = (page, {})


def read(name: str, parse: Callable[[str], Value], default: Value, instead: str = "the default is used") -> Value:
    """Return a parameter that no control holds, or one ahead of its control, as `parse` understands it.

    `parse` raises ValueError (or WorkprofError), which says why it cannot; that is told, with what happens `instead`,
    and the default holds.
    """
    values = st.query_params.get_all(name)
    if not values:
        return default
    try:
        return parse(_single(values))
    except (ValueError, WorkprofError) as problem:
        drop(name, str(problem), instead)
        return default


def read_all(name: str, options: Collection[str], default: list[str]) -> list[str]:
    """Return the words that a link has for a parameter of several, [] for an empty one; others are dropped and told."""
    values = st.query_params.get_all(name)
    if not values:
        return default
    try:
        usable, lost = _of_list(values, set(options), None)
    except Unreadable as problem:
        drop(name, str(problem))
        return default
    if lost:
        _note(name, lost, "the others are used")
    return [value for value in usable if value]


def in_gb(former: str, key: str) -> None:
    """Take a memory that a link of before has in GiB over into the control, shown next, that has it in GB."""
    given = read(former, number, None)
    st.query_params.pop(former, None)
    if given is not None:
        st.session_state[key] = given * GIB / GB


def check(name: str, parse: Callable[[str], object]) -> None:
    """Drop the text that a link has for a field which is shown next, where `parse` refuses it.

    What a visitor types is the field's own matter: it stays there to be put right.
    """
    if name not in st.session_state:
        read(name, lambda text: parse(text) if text else None, None)


def respell(key: str, meaning: Callable[[str], str | None]) -> None:
    """Write what a link says for a list that is shown next as the option that it means; None = none, as it stands."""
    text = st.query_params.get(key, "")
    option = meaning(text) if text and key not in st.session_state else None
    if option not in (None, text):
        st.query_params[key] = option
        start_from_address()


def give(name: str, text: str, value: object) -> None:
    """Have a control that is shown next begin with a value: by its state where it has one, else by the address.

    The address of a control with a state is the control's own: Streamlit refuses to write it.
    """
    if name in st.session_state:
        st.session_state[name] = value
    else:
        st.query_params[name] = text
    start_from_address()


def start_from_address() -> None:
    """Have the controls that are shown next start from the parameters as they are now."""
    state = _state()
    if state is not None:
        state.query_params.set_initial_query_params_from_current()


def complete() -> None:
    """Write what controls began with into the address, where a callback gave it before they were shown.

    Streamlit itself writes what the session gives a control that it has shown before.
    """
    context, state = get_script_run_ctx(), _state()
    if context is None:
        return
    parameters, shown = state.query_params, context.shared.widget_ids_this_run.snapshot()
    there = parse_qs(context.query_string, keep_blank_values=True)
    lacking = {}
    for name, binding in parameters._bindings_by_param.items():
        about = state._new_widget_state.widget_metadata.get(binding.widget_id)
        if about is not None and name not in there and binding.widget_id in shown:
            value = state[binding.widget_id]
            if value != about.deserializer(None):
                lacking[name] = _coerce_value_for_query_url(about.serializer(value), about.value_type)
    if lacking:  # all at once: each message is an entry of the browser's history
        parameters._query_params.update(lacking)
        parameters._send_query_param_msg()


def drop(name: str, reason: str, instead: str = "the default is used") -> None:
    """Take a parameter out of the address and keep for the page's notice why."""
    state = _state()
    if state is not None:
        state.query_params._initial_query_params.pop(name, None)
        state.query_params.remove_param(name)
    _note(name, reason, instead)


def notice() -> None:
    """Say which parameters of the link could not be read, as long as their settings are left as they are."""
    page, notes = st.session_state.get(NOTES, ("", {}))
    now = {name: (st.session_state.get(name), st.query_params.get(name)) for name in notes}
    left = {name: (words, then or now[name]) for name, (words, then) in notes.items() if then in (None, now[name])}
    st.session_state[NOTES] = (page, left)
    if left:
        lines = [words for words, _ in left.values()]
        st.warning("\n".join(f"- {line}" for line in lines) if lines[1:] else lines[0], icon=":material/link_off:")


def forget() -> None:
    """Drop what was told: another link is followed."""
    st.session_state.pop(NOTES, None)


def one_of(*words: str) -> Callable[[str], str]:
    """Return a reader of a word out of a few."""

    def parse(text: str) -> str:
        if text not in words:
            raise Unreadable(f"{quoted(text)} is not one of the choices")
        return text

    return parse


def number(text: str) -> float:
    """Return the number of a text as the address writes numbers.

    Raises:
        Unreadable: for anything else: other digits than 0 to 9, nan, beyond what a number holds, a zero with a sign.
    """
    if not _NUMBER.fullmatch(text):
        raise Unreadable(f"{quoted(text)} is not a number")
    value = float(text)
    if math.isinf(value):
        raise Unreadable(f"{quoted(text)} is too large")
    if value == 0 and (text[0] == "-" or re.search(r"[1-9]", re.split("[eE]", text)[0])):
        raise Unreadable(f"{quoted(text)} is no number that is kept apart from 0")
    return value


def quoted(text: str) -> str:
    """Return a text of a link in quotation marks, short enough for a sentence."""
    return f"“{shortened(text, LONGEST_QUOTE)}”"


def _state() -> Any:
    """Return Streamlit's session state; there is no public way to its parameters' first values."""
    context = get_script_run_ctx()
    return None if context is None else context.session_state._state


def _note(name: str, reason: str, instead: str) -> None:
    page, notes = st.session_state.get(NOTES, ("", {}))
    words = f"`{name}` in the link could not be read: {markdown_text(reason, 200)}; {instead}."
    st.session_state[NOTES] = (page, {**notes, name: (words, None)})


def _control(parameters: QueryParams, name: str) -> WidgetMetadata[Any] | None:
    """Return what Streamlit knows of the control that is being shown."""
    binding, state = parameters.get_binding_for_param(name), _state()
    if binding is None or state is None:
        return None
    found: WidgetMetadata[Any] | None = state._new_widget_state.widget_metadata.get(binding.widget_id)
    return found


def _single(values: list[str]) -> str:
    if len(values) > 1:
        raise Unreadable(f"it is given {len(values)} times")
    if len(values[0]) > LONGEST_TEXT:
        raise Unreadable(f"{quoted(values[0])} has {len(values[0]):,} characters")
    return values[0]


def _as_shown(values: list[str], control: WidgetMetadata[Any]) -> list[str]:
    """Return values as the control shows them: links of other pages hold names with their hidden characters."""
    options = set(control.formatted_options or ())
    return [visible(value) if value not in options and visible(value) in options else value for value in values]


def _of_control(values: list[str], control: WidgetMetadata[Any]) -> tuple[list[str], str]:
    """Return the values that a control takes, and why not the others.

    Raises:
        Unreadable: when it takes none.
    """
    options = None if control.formatted_options is None else set(control.formatted_options)
    if control.value_type == "string_array_value" and control.max_array_length != 1:
        return _of_list(values, options, control.max_array_length)
    text = _single(values) if options is None or values[1:] else values[0]
    required = control.max_array_length == 1 and control.deserializer(None) is not None  # of which Streamlit knows not
    if not text and control.clearable and not required:
        return values, ""
    if control.value_type == "bool_value":
        if text.lower() not in ("true", "false"):
            raise Unreadable(f"{quoted(text)} is neither true nor false")
    elif control.value_type in ("double_value", "double_array_value", "int_value"):
        if control.value_type == "int_value" and not _WHOLE.fullmatch(text):
            raise Unreadable(f"{quoted(text)} is not a whole number")
        _bounded(number(text), text, control)
    elif options is not None and text not in options:
        raise Unreadable(f"{quoted(text)} is not one of the choices")
    elif options is None and len(control.deserializer(text) or "") < len(text):
        raise Unreadable(f"{quoted(text)} has {len(text):,} characters")
    return values, ""


def _of_list(values: list[str], options: set[str] | None, most: int | None) -> tuple[list[str], str]:
    if not any(values):
        return values, ""
    unique = list(dict.fromkeys(values))
    usable = [value for value in unique if options is None or value in options]
    lost = [f"{quoted(value)} is not one of the choices" for value in unique if value not in usable]
    if len(unique) < len(values):
        lost.append("a choice is given more than once")
    if most is not None and len(usable) > most:
        lost.append(f"{len(usable)} are chosen, at most {most} can be")
        usable = usable[:most]
    if not usable:
        raise Unreadable(lost[0])
    return usable, " and ".join(lost[:3])


def _bounded(value: float, text: str, control: WidgetMetadata[Any]) -> None:
    """Refuse a number that a control would round, or swap for its default."""
    wire: Any = [value] if control.value_type == "double_array_value" else value
    result = control.serializer(control.deserializer(wire))
    if result != wire:
        field = getattr(control.deserializer, "__self__", None)
        least, most = getattr(field, "min_value", 1), getattr(field, "max_value", getattr(field, "num_pages", None))
        inside = most is not None and least <= value <= most
        raise Unreadable(f"{quoted(text)} is {'not a whole number' if inside else _outside(least, most)}")


def _outside(least: float, most: float | None) -> str:
    if most is None or most > 1e15:
        return f"below {least:g}"
    return f"outside {least:,.10g} to {most:,.10g}"
