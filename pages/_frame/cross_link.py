"""From one page to another: the other page opens with what the link says, and with its defaults for all the rest."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

import streamlit as st

from pages._frame import datasets, link

Parameters = Mapping[str, str | list[str]]
PREFIXES = {"classify": ("classify_", "feedback_")}


@dataclass(frozen=True)
class Link:
    """A link."""

    words: str  # on it
    page: str  # name of the page that it opens
    dataset: str  # hash that goes with it
    parameters: Parameters  # what differs from the page's defaults
    icon: str = "arrow_forward"  # of Material's, without the colons
    meaning: str | None = None  # shown on hovering
    disabled: bool = False  # whether it leads nowhere yet; the meaning says why


def follow(link: Link, key: str) -> None:
    """Show a link to another page.

    It is a button: Streamlit's own links leave the other page's controls as this session last had them wherever the
    address asks for the default, so they would open other numbers than they say.
    """
    pressed = st.button(
        link.words,
        key=key,
        type="tertiary",
        icon=f":material/{link.icon}:",
        help=link.meaning,
        disabled=link.disabled,
    )
    if pressed:
        go(link.page, {datasets.PARAMETER: link.dataset, **link.parameters})


def go(page: str, parameters: Parameters) -> NoReturn:
    """Open a page with these parameters, whatever its controls were set to in this session."""
    for name in [str(name) for name in st.session_state if str(name).startswith(prefixes_of(page))]:
        del st.session_state[name]
    link.forget()
    st.switch_page(f"pages/{page}.py", query_params=dict(parameters))


def prefixes_of(page: str) -> tuple[str, ...]:
    """Return how the names of a page's controls begin."""
    return PREFIXES.get(page, (f"{page}_",))
