"""Which dataset a page is about: the address (`ds` = hash), else this session's choice, else the newest."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from pages._frame import link
from workprof.charts.text import shortened
from workprof.store.reports import Dataset

PARAMETER = "ds"
PICKER = "shell_dataset"
SHORTEST_HASH = 8


@dataclass(frozen=True)
class Choice:
    """The dataset, or the hash of a link that this home does not know."""

    dataset: Dataset | None
    unknown: str = ""


def choose(datasets: tuple[Dataset, ...], kind: str = "") -> Choice:
    """Return the chosen dataset and show the picker in the sidebar.

    Args:
        datasets: of the home, newest first.
        kind: that the page is about; a choice of another kind is kept for the pages of that kind. '' = any.
    """
    everything = {entry.hash: entry for entry in datasets}
    known = {name: entry for name, entry in everything.items() if kind in ("", entry.kind)}
    asked = link.read(PARAMETER, str, "")
    linked = _match(asked, everything) if asked else ""
    unknown = asked if asked and not linked else ""
    if linked:
        st.session_state[_place(everything[linked].kind)] = linked
    current = linked if linked in known else st.session_state.get(_place(kind), "")
    if unknown:
        current = ""
    elif current not in known:
        current = next(iter(known), "")
    _remember(current, kind)
    _picker(known, current)
    return Choice(known.get(current), unknown)


def select(dataset_hash: str, kind: str = "") -> None:
    """Make a dataset the session's choice, for pages of its kind too, and write it into the address."""
    st.session_state[PARAMETER] = st.session_state[_place(kind)] = dataset_hash
    st.query_params[PARAMETER] = dataset_hash


def forget() -> None:
    """Drop the session's choices."""
    for place in [name for name in st.session_state if str(name).split(":")[0] == PARAMETER]:
        del st.session_state[place]
    st.query_params.pop(PARAMETER, None)


def newest(datasets: tuple[Dataset, ...], kind: str) -> str:
    """Return the hash of this session's dataset of a kind, else of the newest one; '' without any."""
    known = [entry.hash for entry in datasets if entry.kind == kind]
    kept: str = st.session_state.get(_place(kind), "")
    return kept if kept in known else next(iter(known), "")


def title(entry: Dataset) -> str:
    """Return 'name · 1,234 rows · 1a2b3c4d'."""
    return f"{shortened(entry.name, 32)} · {entry.rows:,} rows · {entry.hash[:SHORTEST_HASH]}"


def _match(asked: str, known: dict[str, Dataset]) -> str:
    found = [known_hash for known_hash in known if known_hash.startswith(asked)]
    return found[0] if len(asked) >= SHORTEST_HASH and len(found) == 1 else ""


def _place(kind: str) -> str:
    """Return where the session's choice for pages of a kind is kept."""
    return f"{PARAMETER}:{kind}" if kind else PARAMETER


def _remember(current: str, kind: str) -> None:
    if not current:
        return
    st.session_state[PARAMETER] = st.session_state[_place(kind)] = current
    if st.query_params.get(PARAMETER) != current:
        st.query_params[PARAMETER] = current


def _picker(known: dict[str, Dataset], current: str) -> None:
    if not known:
        st.sidebar.caption("No dataset loaded yet.")
        return
    st.session_state[PICKER] = current or None
    st.sidebar.selectbox(
        "Dataset",
        list(known),
        index=0 if current else None,
        format_func=lambda chosen: shortened(known[chosen].name, 40),
        key=PICKER,
        placeholder="Choose a dataset",
        on_change=_picked,
    )


def _picked() -> None:
    if st.session_state[PICKER]:
        select(st.session_state[PICKER])
