"""The dataset that a page is about: chosen, missing, of another kind, or not readable."""

from dataclasses import dataclass

import streamlit as st

from pages._frame import link
from pages._frame.visit import SAMPLES, Visit
from workprof.core.errors import DatasetUnknown, WorkprofError
from workprof.core.scope import SIGN, split
from workprof.core.shares import in_words
from workprof.core.words import counted, markdown_text, shortened
from workprof.store.documents import FORGET_DAMAGED
from workprof.store.reports import Dataset
from workprof.workbench import JOBS, WORDS, Workbench

MOST_LISTED = 5


def notice(visit: Visit, dataset: Dataset) -> None:
    """Say that numbers are shares of a machine; name what cannot be read, with the reason, and offer to remove it."""
    shares = in_words(visit.workbench.machine_shares(dataset.hash))
    if shares:
        st.info(shares, icon=":material/percent:")
    result = visit.workbench.unreadable(dataset.hash)
    if not result:
        return
    lines = [f"- {markdown_text(f'{one.what}: {one.reason}', 300)}" for one in result[:MOST_LISTED]]
    if len(result) > MOST_LISTED:
        lines.append(f"- and {len(result) - MOST_LISTED} more")
    name = markdown_text(dataset.name, 80)
    st.warning(
        f"Of dataset {name}, {counted(len(result), 'thing')} saved here cannot be read. Its runs and results are "
        "unchanged.\n\n" + "\n".join(lines),
        icon=":material/warning:",
    )
    if st.button(
        FORGET_DAMAGED, icon=":material/delete:", key="frame_unreadable", disabled=visit.readonly, help=visit.refusal
    ):
        visit.workbench.remove_unreadable(dataset.hash)
        st.rerun()


PARAMETER = "ds"
PICKER = "shell_dataset"
SHORTEST_HASH = 8


@dataclass(frozen=True)
class Choice:
    """The dataset, or the hash or name in a link that this home does not know."""

    dataset: Dataset | None
    unknown: str = ""


def choose(workbench: Workbench, kind: str = "") -> Choice:
    """Return the chosen dataset and show the picker in the sidebar.

    A choice of another kind than the page's is kept for the pages of that kind; '' = any.
    """
    listed = workbench.datasets()
    everything = {entry.hash: entry for entry in listed}
    known = {name: entry for name, entry in everything.items() if kind in ("", entry.kind)}
    requested = link.read(PARAMETER, str, "")
    linked = _match(requested, workbench) if requested else ""
    unknown = requested if requested and not linked else ""
    if linked:
        st.session_state[_place(everything[split(linked)[0]].kind)] = linked
    current = linked if split(linked)[0] in known else st.session_state.get(_place(kind), "")
    if current and split(current)[0] not in known:
        current = _match(current, workbench)  # it was refreshed meanwhile
    if unknown:
        current = ""
    elif split(current)[0] not in known:
        current = next(iter(known), "")
    found = _scoped(workbench, known, current)
    current = found.hash if found is not None else ""
    _remember(current, kind)
    _picker(known, split(current)[0])
    return Choice(found, unknown)


def _scoped(workbench: Workbench, known: dict[str, Dataset], current: str) -> Dataset | None:
    """Return the dataset, narrowed where its hash says so; a scope that cannot be is told and left out."""
    whole, scope = split(current)
    if not scope:
        return known.get(whole)
    try:
        return workbench.dataset(current)
    except WorkprofError as problem:
        link.drop(PARAMETER, str(problem), "all runs are shown")
        return known[whole]


def select(dataset_hash: str, kind: str = "") -> None:
    """Make a dataset the session's choice, for pages of its kind too, and write it into the address."""
    st.session_state[PARAMETER] = st.session_state[_place(kind)] = dataset_hash
    st.query_params[PARAMETER] = dataset_hash


def of_session(kind: str) -> str:
    """Return the hash of this session's dataset of a kind, '' = none was chosen."""
    return str(st.session_state.get(_place(kind), ""))


def forget() -> None:
    """Drop the session's choices."""
    for place in [name for name in st.session_state if str(name).split(":")[0] == PARAMETER]:
        del st.session_state[place]
    st.query_params.pop(PARAMETER, None)


def newest(datasets: tuple[Dataset, ...], kind: str) -> str:
    """Return the hash of this session's dataset of a kind, else of the newest one; '' without any."""
    known = [entry.hash for entry in datasets if entry.kind == kind]
    current: str = st.session_state.get(_place(kind), "")
    return current if split(current)[0] in known else next(iter(known), "")


def title(entry: Dataset) -> str:
    """Return 'name · 1,234 runs · 1a2b3c4d'."""
    lines = counted(entry.rows, "sample" if entry.kind == "telemetry" else "run")
    return f"{shortened(split(entry.name)[0], 32)} · {lines} · {entry.hash[:SHORTEST_HASH]}"


def _match(requested: str, workbench: Workbench) -> str:
    """Return the hash of the dataset that a link names by hash, its beginning or its name; '' where none or several.

    A scope behind it stays.
    """
    name, scope = split(requested)
    try:
        return workbench.dataset(name).hash + (f"{SIGN}{scope}" if scope else "")
    except DatasetUnknown:
        return ""


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
        st.sidebar.caption("No dataset for this page yet.")
        return
    st.session_state[PICKER] = current or None
    st.sidebar.selectbox(
        "Dataset",
        list(known),
        index=0 if current else None,
        format_func=lambda one: shortened(known[one].name, 40),
        key=PICKER,
        placeholder="Choose a dataset",
        on_change=_picked,
    )


def _picked() -> None:
    if st.session_state[PICKER]:
        select(st.session_state[PICKER])


DATA_PAGE = "pages/data.py"
NOTHING = "Nothing is loaded yet."


def empty_state(visit: Visit, needs: str, kind: str = JOBS) -> None:
    """Show what a page needs, with one button that loads the sample and one link to the Data page."""
    kinds = {entry.kind for entry in visit.workbench.datasets()}
    if visit.dataset is not None or kind in kinds:
        then = "Choose another dataset in the sidebar." if visit.dataset is not None else "Choose one in the sidebar."
    else:
        then = f"No dataset of {WORDS[kind]} is loaded yet." if kinds else NOTHING
    st.info(f"{needs} {then}", icon=":material/info:")
    with st.container(horizontal=True):
        sample_button(visit, kind)
        upload_button(visit)


def upload_button(visit: Visit) -> None:
    """Show the button that leads to the Data page, for those who may import."""
    if st.button(
        "Upload",
        icon=":material/upload:",
        disabled=bool(visit.admins_only),
        help=visit.admins_only or "Your own CSV, Parquet or JSON lines file, on the Data page.",
    ):
        st.switch_page(DATA_PAGE)


def sample_button(visit: Visit, kind: str = JOBS) -> None:
    """Show the button that loads the bundled sample and makes it the session's dataset."""
    sample = SAMPLES[kind]
    missing = not sample.path.is_file()
    reason = "The bundled sample is not installed." if missing else sample.words
    clicked = st.button(
        "Load sample",
        type="primary",
        icon=":material/science:",
        disabled=missing or bool(visit.admins_only),
        help=visit.admins_only or reason,
    )
    if clicked:
        with st.spinner("Loading the sample…"):
            report = visit.workbench.ingest([sample.path])
        select(report.hash, kind)
        st.rerun()


def unknown(visit: Visit, requested: str) -> None:
    """Show that a link is about data that this home does not have, and what it has."""
    names = [shortened(entry.name, 40) for entry in visit.workbench.datasets()]
    more = f" and {len(names) - MOST_LISTED:,} more" if len(names) > MOST_LISTED else ""
    there = f"Loaded: {markdown_text(', '.join(names[:MOST_LISTED]), 300)}{more}." if names else NOTHING
    st.warning(
        f"This link is about the dataset **{markdown_text(requested, 40)}**, which is not loaded here. {there} "
        "Import it on the Data page, or choose another one in the sidebar; the other settings of the link stay.",
        icon=":material/link_off:",
    )
