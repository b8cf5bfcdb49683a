"""Controls of a settings form. The address has the short words that record, command and JSON use, whatever is shown.

Streamlit binds a control to the address by its shown text. So a list whose options are shown in other words is not
bound by it: `worded` reads and writes the address itself, and links outlive a change of wording. What a word means
stands in the control's help.
"""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import streamlit as st
from streamlit.elements.lib.mutable_popover_container import PopoverContainer
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages._frame import link
from workprof.answers.help.terms import explained
from workprof.core.text import visible

AUTO = "auto"
LARGEST_GB = 1e6
LARGEST_AMOUNT = 1e9


def choice(  # noqa: PLR0913  of a list each part is said by the page
    words: str,
    key: str,
    options: tuple[str, ...],
    meaning: str | None = None,
    *,
    index: int = 0,
    shown: Mapping[str, str] | None = None,
    row: bool = False,
) -> str:
    """Show a list of words and return the chosen one; `key` is of the control and of the parameter in the address.

    Options are as the address has them; those that are not in `shown` are shown as they are. `index` is of the default;
    with `row` they stand side by side.
    """
    text = explained(words, meaning or "") or None
    return worded(words, options, options[index], shown or {}, key=key, row=row, help=text)


CHOSEN, USUAL = ":chosen", ":usual"
"""Behind a control's name: what was chosen there at the run before, or when the page was last open; its default."""
OPENED = ":opened"
"""Behind a fold's name: this visitor has opened it."""
HOLDS_BACK = True
"""Whether controls of a closed fold are held back; off where a test sets them without opening it."""


@contextlib.contextmanager
def fold(title: str, key: str, icon: str = ":material/tune:") -> Iterator[None]:
    """Show a fold of controls, which have their values whether it is open or not; the address says whether it is.

    A browser takes as long for twenty controls that nobody sees as for a chart. So those of a fold are sent once it
    has been opened, or where one of them has another value than its default, which the browser has to know.
    """
    section = st.expander(title, icon=icon, key=key, on_change="rerun", bind="query-params")
    if section.open:
        st.session_state[key + OPENED] = True
    context = get_script_run_ctx()
    with section:
        if context is None or key + OPENED in st.session_state or not HOLDS_BACK:
            yield
            return
        send, held = context._enqueue, list[ForwardMsg]()  # no public way to hold messages back
        context._enqueue = held.append
        try:
            yield
        finally:
            context._enqueue = send
            if any(_differs(message, context.session_state._state) for message in held):
                for message in held:
                    send(message)


def _differs(message: ForwardMsg, state: Any) -> bool:
    """Return whether a message is of a control that has another value than its default, or stands in the address."""
    element = message.delta.new_element
    kind = element.WhichOneof("type")
    widget = getattr(getattr(element, kind), "id", "") if kind else ""
    key = state._key_id_mapper.id_key_mapping.get(widget)
    about = state._new_widget_state.widget_metadata.get(widget)
    if key is None or about is None:
        return False
    usual = st.session_state.get(key + USUAL, about.deserializer(None))
    return key in st.query_params or st.session_state.get(key) != usual


def worded(
    label: str,
    options: tuple[str, ...],
    first: str,
    shown: Mapping[str, str],
    *,
    key: str,
    row: bool = False,
    **further: Any,
) -> str:
    """Show a list in other words than those of the address, and return the chosen option.

    A choice of the visitor's, or of the page's in `st.session_state[key]`, is written into the address; a change of the
    address (Back, Reset, a link) is taken over. `first` stands for an address without the parameter. Without other
    words Streamlit does all that.
    """
    if not shown and not row:
        chosen: str = st.selectbox(
            label, options, options.index(first), visible, key=key, bind="query-params", **further
        )
        return chosen
    before, now = st.session_state.get(key + CHOSEN), st.session_state.get(key)
    if now not in options or now == before:
        default = st.session_state.get(key + USUAL)  # of before: what nobody chose follows the default of now
        usual = before if now is None and before in options and before != default else first
        now = link.read(key, link.one_of(*options), usual)
    _settle(key, now, now, first)
    words = {"format_func": lambda option: visible(shown.get(option, option)), "key": key, **further}
    if row:
        st.segmented_control(label, options, required=True, **words)
    else:
        st.selectbox(label, options, **words)
    return now


def popup(label: str, key: str, **further: Any) -> PopoverContainer:
    """Return a popup, with what `st.popover` takes further; `close` shuts it."""
    if st.session_state.pop(f"{key}_done", False):
        st.session_state[key] = False
    return st.popover(label, key=key, on_change="rerun", **further)


def close(key: str) -> None:
    """Have a popup that has done its work shut with the next run, and begin it."""
    st.session_state[f"{key}_done"] = True
    st.rerun()


def worded_many(
    label: str, options: tuple[str, ...], first: tuple[str, ...], shown: Mapping[str, str], *, key: str, **further: Any
) -> list[str]:
    """Show a list of which several may be chosen, as `worded`; an empty parameter stands for none."""
    if not shown:
        return st.multiselect(label, options, first, visible, key=key, bind="query-params", **further)
    before, now = st.session_state.get(key + CHOSEN), st.session_state.get(key)
    if now is None or now == before or not set(now) <= set(options):
        default = st.session_state.get(key + USUAL)
        kept = now is None and before is not None and before != default and set(before) <= set(options)
        usual = before if kept and before is not None else list(first)
        now = link.read_all(key, options, usual)
    _settle(key, now, now or "", list(first))
    st.multiselect(label, options, format_func=lambda option: visible(shown.get(option, option)), key=key, **further)
    return now


def _settle(key: str, value: Any, written: Any, first: Any) -> None:
    """Have session and address hold a value; the default is not written."""
    st.session_state[key] = st.session_state[key + CHOSEN] = value
    st.session_state[key + USUAL] = first
    if value == first:
        if key in st.query_params:
            del st.query_params[key]
    elif st.query_params.get_all(key) != (written if isinstance(written, list) else [written]):
        st.query_params[key] = written


def number(
    words: str,
    key: str,
    value: float,
    bounds: tuple[float, float],
    meaning: str = "",
    **further: Any,
) -> float:
    """Show a field for a number within bounds and return it; `further` are Streamlit's step, width and disabled."""
    return float(
        st.number_input(
            words,
            min_value=bounds[0],
            max_value=bounds[1],
            value=value,
            format="%g",
            key=key,
            bind="query-params",
            help=explained(words, meaning) or None,
            **further,
        )
    )
