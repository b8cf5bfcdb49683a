"""What a page shows, its controls, and the address that a browser would have: read from Streamlit's test driver."""

import re
from dataclasses import dataclass

from streamlit.testing.v1.element_tree import Block, Button, DownloadButton, Expander, Widget

from pages._parts.controls import CHOSEN

TIME = r"[\d.,]+ (?:m?s|min|h)( \d+ (?:s|min))?"
RANGE = rf"(about {TIME}, up|{TIME}) to {TIME}[a-z ]*"
SPEED = re.compile(rf"(Answered|[Cc]omputed) in {TIME}|{RANGE} \((from|a guess)[^)]*\)")
"""What differs from one answer to the next although the numbers are the same."""


@dataclass(frozen=True)
class Control:
    """One control: its name (its label where it has no key), its kind, whether its value stands in the address."""

    name: str
    kind: str
    bound: bool


def nodes(block):
    """Return everything in a block, in the order of the page."""
    for child in block.children.values():
        yield child
        if isinstance(child, Block):
            yield from nodes(child)


def everything(test):
    """Return what stands in the body and in the sidebar."""
    return [*nodes(test.main), *nodes(test.sidebar)]


def controls(test):
    """Return every control but buttons: they do, and hold nothing."""
    found = [node for node in everything(test) if _is_control(node)]
    return tuple(
        Control(node.key or getattr(node.proto, "label", ""), node.type, bool(parameter(node))) for node in found
    )


def parameter(node):
    """Return under which name the value of a control stands in the address; '' where it does not."""
    proto = node.proto.tab_container if node.type == "tab_container" else node.proto
    return getattr(proto, "query_param_key", "") or (node.key if _worded(node) else "")


def _worded(node):
    """Tell whether a control shows other words than the address has, which the page then writes by hand."""
    return isinstance(node, Widget) and f"{node.key}{CHOSEN}" in node.root.session_state


def _is_control(node):
    if isinstance(node, Button | DownloadButton):
        return False
    if isinstance(node, Expander):
        return bool(node.proto.id)  # without one, opening it changes nothing that the server does
    if node.type in ("plotly_chart", "dataframe"):
        return bool(node.proto.selection_mode) or bool(getattr(node.proto, "editing_mode", 0))
    return isinstance(node, Widget) or node.type in ("tab_container", "popover")


def values(test):
    """Return name -> value of every control whose value the driver can read."""
    return {node.key: node.value for node in everything(test) if isinstance(node, Widget) and parameter(node)}


def change(test, skip=lambda name: False):
    """Set every control in the address to another value than it has, as far as there is one; return which."""
    changed = []
    for node in everything(test):
        if isinstance(node, Widget) and parameter(node) and not node.disabled and not skip(node.key):
            other = OTHER.get(node.type, _same)(node)
            if other is not None:
                node.set_value(other)
                changed.append(node.key)
    return changed


def _same(node):
    """Return nothing: what may be written in a text, and how many pages there are, differs from place to place."""


def _next_option(node):
    options = list(node.options)
    if _worded(node):
        place = options.index(node.format_func(node.value))
        return options[(place + 1) % len(options)] if len(options) > 1 else None
    if node.value not in options:  # nothing is chosen, or the driver knows the shown words alone
        return None
    return options[(options.index(node.value) + 1) % len(options)] if len(options) > 1 else None


def _fewer(node):
    options = list(node.options)
    return options[1:2] if len(options) > 1 and list(node.value) != options[1:2] else None


def _next_or_fewer(node):
    return _fewer(node) if isinstance(node.value, list | tuple) else _next_option(node)


def _number(node):
    proto = node.proto
    if node.value is None:
        return None
    step = proto.step or 1
    return node.value - step if proto.has_max and node.value + step > proto.max else node.value + step


OTHER = {
    "selectbox": _next_option,
    "button_group": _next_or_fewer,
    "multiselect": _fewer,
    "number_input": _number,
    "slider": lambda node: node.value + 1 if node.value < node.max else node.value - 1,
    "toggle": lambda node: not node.value,
    "checkbox": lambda node: not node.value,
}


def address(test):
    """Return the parameters of the address as a browser has them: what was written by hand, and bound controls."""
    found = {name: test.query_params[name] for name in test.query_params}
    for node in everything(test):
        if isinstance(node, Widget) and (name := parameter(node)) and not _worded(node):
            found.pop(name, None)
            if not _at_default(node):
                found[name] = _text(node)
    return found


def _at_default(node):
    default = node.proto.default
    if node.type == "selectbox":
        return (node.index or 0) == default if node.proto.HasField("default") else node.index is None
    if node.type in ("button_group", "multiselect"):
        return list(node.indices) == list(default)
    if node.type == "slider":
        return list(default) == [node.value]
    if node.type in ("number_input", "text_input", "text_area"):
        return node.value == (default if node.proto.HasField("default") else None)
    return node.value == default


def _text(node):
    """Return what a control shows, as the address writes it."""
    if node.type == "selectbox":
        return node.options[node.index]
    if node.type in ("button_group", "multiselect"):
        return [node.options[place] for place in node.indices]
    return str(node.value).lower() if isinstance(node.value, bool) else str(node.value)


def shown(test):
    """Return what a reader sees: sentences, figures, charts, tables, links, names of buttons, values of controls.

    The menu above the page's part of the sidebar is left out: the driver draws it in a page's first run only.
    """
    side = list(nodes(test.sidebar))
    own = next((place for place, node in enumerate(side) if node.key == "shell_dataset"), 0)
    return [(node.type, node.key, found) for node in (*nodes(test.main), *side[own:]) if (found := _seen(node))]


def _seen(node):
    proto = node.proto
    if node.type == "plotly_chart":
        return proto.spec
    if node.type in ("dataframe", "table", "arrow_table"):
        return node.value.to_csv()
    if node.type == "metric":
        return (proto.label, proto.body, proto.delta)
    if node.type == "page_link":
        return (proto.label, proto.page, proto.query_string)
    if isinstance(node, Button | DownloadButton | Expander):
        return proto.label
    if isinstance(node, Widget):
        return (getattr(proto, "label", ""), str(node.value), tuple(map(str, getattr(node, "options", ()))))
    return SPEED.sub("", str(getattr(proto, "body", "")).replace("\\", ""))
