"""The mapping of a generic file: which column is which field, in which unit, with values beside what they become."""

import json
from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from pages._frame.errors import refused
from pages._frame.visit import Visit
from pages._parts import controls, tables
from workprof.charts.data import column_kind
from workprof.core.errors import WorkprofError
from workprof.core.text import visible
from workprof.core.words import label, markdown_text
from workprof.formats.fields import FIELDS, NAME_FIELDS
from workprof.inputs import Spooled, discard, discarded_if_refused, safe_name
from workprof.store.documents import MOST_NAME
from workprof.store.mapping import DURATION, NAME, checked, document, from_json, missing_fields, units_of
from workprof.store.reports import Evidence, FieldSource, IngestOptions, SavedMapping, Suggestion

Start = Callable[[Visit, Spooled, IngestOptions], None]
Mapping = dict[str, FieldSource]

WAITING = "data_waiting"
WAITING_OPTIONS = "data_waiting_options"
MOST_LINES = 6
SAVE_POPUP, SAVED_POPUP = "map_keep_popup", "map_saved_popup"
MOST_JSON_BYTES = 200_000
NEEDED = {NAME: NAME_FIELDS, DURATION: ("duration_s", "start_time_s", "end_time_s")}
"""What a file lacks -> the fields of which one will do (of the times both)."""
IN_WORDS = {NAME: "a job or task name", DURATION: "a duration, or start and end"}
UNIT_WORDS = {
    "d": "days",
    "h": "hours",
    "min": "minutes",
    "d/m/y": "day/month/year",
    "percent": "percent (100 = one)",
    "share": "share (0-1)",
}


def screen(visit: Visit, source: Spooled, options: IngestOptions, start: Start) -> None:
    """Show the columns with what they become; import once the required fields are there and the user says so."""
    if "map_pending" in st.session_state:
        _fill(st.session_state.pop("map_pending"))
    st.session_state.pop(WAITING, None)  # a file that cannot be looked at is not waiting for a mapping
    with discarded_if_refused(source):
        plain = replace(options, mapping={})
        guessed = visit.workbench.suggest(source.path, plain)
        given = {field: one for field, one in options.mapping.items() if one.column in guessed.columns}
        chosen = _chosen(given or guessed.mapping)
        shown = visit.workbench.suggest(source.path, replace(plain, mapping=chosen)) if chosen else guessed
    st.session_state[WAITING] = source
    st.markdown(f"**{markdown_text(source.label)}**: map its columns to fields.")
    _offered(visit, guessed)
    _headline(shown)
    needed = [name for words, names in NEEDED.items() if words in guessed.missing for name in names]
    first = tuple(name for name in FIELDS if name in {*needed, *guessed.mapping, *given})
    mapping = _fields(first, shown, chosen)
    with st.expander("Further fields", icon=":material/add:"):
        mapping |= _fields(tuple(name for name in FIELDS if name not in first), shown, chosen)
    with st.expander("Columns of the file", icon=":material/table_rows:"):
        _samples(shown)
    missing = missing_fields(mapping)
    with st.container(horizontal=True):
        if st.button("Import with this mapping", type="primary", disabled=bool(missing), key="map_import"):
            start(visit, source, replace(options, format="generic", mapping=mapping))
        if st.button("Cancel", key="map_cancel"):
            discard(source)
            st.session_state.pop(WAITING, None)
            st.rerun()
        _save(visit, source, mapping, shown)
    if missing:
        st.caption(f"Still missing: {'; '.join(IN_WORDS[one] for one in missing)}.")
    st.caption("Not saved yet: reloading the page discards the file.")


def _chosen(start: Mapping) -> Mapping:
    """Return the mapping that the widgets show; the one to start with where they were not shown yet."""
    if not any(f"map_{name}" in st.session_state for name in FIELDS):
        return start
    result = {}
    for name in FIELDS:
        column = st.session_state.get(f"map_{name}", "")
        if column:
            result[name] = FieldSource(column, st.session_state.get(f"map_unit_{name}") or _unit(name, column, start))
    return result


def _unit(name: str, column: str, start: Mapping) -> str:
    """Return the unit that a field starts with."""
    guess = start.get(name)
    return guess.unit if guess and guess.column == column else FIELDS[name].unit


def _headline(shown: Suggestion) -> None:
    if shown.missing:
        words = "; ".join(IN_WORDS[one] for one in shown.missing)
        st.info(f"Required and not found: {words}. Choose a column.", icon=":material/help:")
        return
    unsure = [label(field) for field, one in shown.evidence.items() if not one.sure and one.highest]
    if unsure:
        st.info(f"Check the unit of {', '.join(unsure)}: compare the values below.", icon=":material/help:")
    for field, one in shown.evidence.items():
        if not (one.sure or one.highest or one.unread):
            st.info(markdown_text(f"Check {label(field)}: {one.why}.", 300), icon=":material/help:")


def _samples(suggestion: Suggestion) -> None:
    rows = [
        {
            "column": name,
            "type": column_kind(suggestion.types.get(name, "")),
            "first values": ", ".join(suggestion.sample.get(name, ())),
        }
        for name in suggestion.columns
    ]
    tables.show(
        rows,
        key="map_sample",
        alt="Columns of the file with their first values",
        height=220 if len(rows) > MOST_LINES else "content",
    )


def _fields(names: tuple[str, ...], shown: Suggestion, start: Mapping) -> Mapping:
    return {name: result for name in names if (result := _field(name, shown, start)) is not None}


def _field(name: str, shown: Suggestion, start: Mapping) -> FieldSource | None:
    units = units_of(name)
    columns = ["", *shown.columns]
    initial, one = start.get(name), shown.evidence.get(name)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if f"map_{name}" not in st.session_state:
            st.session_state[f"map_{name}"] = initial.column if initial and initial.column in columns else ""
        column = st.selectbox(
            label(name),
            columns,
            format_func=lambda text: visible(text) or "not in this file",
            key=f"map_{name}",
            help=f"Stored as {name}.",
        )
        unit = ""
        if units and column:
            if f"map_unit_{name}" not in st.session_state:
                known = initial.unit if initial and initial.unit in units else FIELDS[name].unit
                st.session_state[f"map_unit_{name}"] = known
            unit = st.selectbox(
                f"Unit of {label(name)}",
                units,
                key=f"map_unit_{name}",
                width=190,
                format_func=lambda text: UNIT_WORDS.get(text, text),
            )
    if column and one is not None and one.column == column:
        _beside(one, shown)
    return FieldSource(column, unit) if column else None


def _beside(one: Evidence, shown: Suggestion) -> None:
    """Show what the first values become, how far the column reaches, what cannot be read, and what is absurd."""
    if one.highest:
        values = " · ".join(
            markdown_text(raw if raw == becomes else f"{raw} → {becomes}") for raw, becomes in one.values
        )
        where = "" if shown.whole else f" (first {shown.rows:,} rows)"
        st.caption(f"{values} · median {markdown_text(one.median)}, largest {markdown_text(one.highest)}{where}")
        if not one.sure and not one.warning:
            st.badge(f"Check the unit: {markdown_text(one.why)}", icon=":material/help:", color="orange")
    if one.unread:
        at = f"line {one.unread_line:,}: " if one.unread_line else ""
        text = f"{one.unread:,} values cannot be read, the first at {at}{markdown_text(one.unread_text)}"
        st.markdown(f":red[{text}]")
    if one.warning:
        st.warning(markdown_text(one.warning, 300), icon=":material/warning:")


def _fill(mapping: Mapping) -> None:
    """Put a mapping into the widgets."""
    for name in FIELDS:
        source = mapping.get(name)
        st.session_state[f"map_{name}"] = source.column if source else ""
        st.session_state.pop(f"map_unit_{name}", None)
        if source and FIELDS[name].unit:
            st.session_state[f"map_unit_{name}"] = source.unit or FIELDS[name].unit


def forget_widgets() -> None:
    """Forget what was chosen for another file."""
    for name in FIELDS:
        st.session_state.pop(f"map_{name}", None)
        st.session_state.pop(f"map_unit_{name}", None)


def _offered(visit: Visit, guessed: Suggestion) -> None:
    """Offer the saved mappings whose columns this file has."""
    fitting = {one.name: one for one in visit.workbench.mappings() if one.fits(guessed.columns)}
    if not fitting:
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox("Saved mappings for these columns", list(fitting), format_func=visible, key="map_saved")
        st.button(
            "Use saved mapping",
            icon=":material/bookmark:",
            key="map_use",
            on_click=_fill,
            args=(fitting[name].mapping,) if name in fitting else ({},),
        )


def _save(visit: Visit, source: Spooled, mapping: Mapping, shown: Suggestion) -> None:
    """Show the ways to keep a mapping: under a name, as JSON, and back from JSON."""
    with controls.popup("Save or load mapping", SAVE_POPUP, icon=":material/bookmark_add:"):
        name = st.text_input(
            "Mapping name", key="map_name", max_chars=MOST_NAME, help="An existing name is overwritten."
        )
        if st.button("Save mapping", key="map_save", disabled=not (name and name.strip() and mapping)):
            try:
                saved_mapping = visit.workbench.save_mapping(name, mapping)
            except WorkprofError as error:
                refused(str(error))
            else:
                st.toast(f"Saved as {markdown_text(saved_mapping.name)}.", icon=":material/check:")
                controls.close(SAVE_POPUP)
        st.download_button(
            "Download mapping (JSON)",
            data=json.dumps(document(mapping), indent=2),
            file_name=f"{safe_name(source.label).split('.')[0]}-mapping.json",
            mime="application/json",
            on_click="ignore",
            key="map_download",
            icon=":material/download:",
        )
        given = st.file_uploader("Mapping from JSON", type=["json"], key="map_upload")
        if given is not None and st.button("Use this JSON", key="map_from_json"):
            _load(given.name, given.getvalue()[:MOST_JSON_BYTES], shown)


def _load(name: str, content: bytes, shown: Suggestion) -> None:
    try:
        mapping = from_json(content.decode("utf-8", errors="replace"), name)
        for field, source in mapping.items():
            checked(field, source, shown.columns)
    except WorkprofError as error:
        refused(str(error))
        return
    st.session_state["map_pending"] = mapping
    controls.close(SAVE_POPUP)


def saved(visit: Visit) -> None:
    """Show the saved mappings with what can be done with one."""
    mappings = {one.name: one for one in visit.workbench.mappings()}
    if not mappings:
        return
    with controls.popup("Saved mappings", SAVED_POPUP, icon=":material/bookmarks:"):
        name = st.selectbox("Mapping", list(mappings), format_func=visible, key="mapping_chosen")
        if name in mappings:
            _one(visit, mappings[name])


def _one(visit: Visit, one: SavedMapping) -> None:
    st.caption(", ".join(f"{label(field)} ← {markdown_text(source.column)}" for field, source in one.mapping.items()))
    st.download_button(
        "Download mapping (JSON)",
        data=json.dumps(document(one.mapping), indent=2),
        file_name=f"{safe_name(one.name)}.json",
        mime="application/json",
        on_click="ignore",
        key="mapping_download",
        icon=":material/download:",
    )
    new = st.text_input("New name", value=one.name, max_chars=MOST_NAME, key=f"mapping_new_{one.created}")
    try:
        with st.container(horizontal=True):
            if st.button(
                "Rename", key="mapping_rename", disabled=bool(visit.admins_only) or new.strip() in ("", one.name)
            ):
                visit.workbench.rename_mapping(one.name, new)
                controls.close(SAVED_POPUP)
            if st.button("Remove", key="mapping_remove", icon=":material/delete:", disabled=bool(visit.admins_only)):
                visit.workbench.remove_mapping(one.name)
                controls.close(SAVED_POPUP)
    except WorkprofError as error:
        refused(str(error))
