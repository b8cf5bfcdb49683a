"""A job by its fields: the values that training saw, or one that it did not; the plan as numbers."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from pages._classify.view import View
from workprof.charts.text import formatted, label, markdown_text, title, visible
from workprof.forecasts.encoder import FieldValues, NumberRange
from workprof.profiles.metadata import NOT_GIVEN
from workprof.units import GIB

UNSEEN = "unseen value"
MOST_LISTED = 200
LARGEST_GIVEN = 1e15
_GIB = "_gib"


def key_of(field: str) -> str:
    """Return the control and the address parameter of a field; memory is given in GiB."""
    return f"classify_{field.removesuffix('_bytes')}{_GIB if field.endswith('_bytes') else ''}"


def job(view: View) -> pd.DataFrame:
    """Show a control per field and return the job that they describe, as a table of one row."""
    encoder = view.model.encoder
    with st.grid(min_column_width=220, gap="small"):
        values: dict[str, object] = {seen.field: _category(seen) for seen in encoder.categories}
        values |= {number.field: _number(number) for number in encoder.numbers}
    outside = [words for number in encoder.numbers if (words := _outside(number, values[number.field]))]
    if outside:
        st.warning(
            f"Outside what training saw: {'; '.join(outside)}. Trees cannot reach beyond it: the answer is that of the "
            "nearest end.",
            icon=":material/warning:",
        )
    return pd.DataFrame({name: pd.Series([value], dtype="object") for name, value in values.items()})


def fill(view: View, given: pd.DataFrame) -> None:
    """Make the controls say a job (for a button's `on_click`)."""
    for seen in view.model.encoder.categories:
        value = given[seen.field].iloc[0] if seen.field in given.columns else None
        st.session_state[key_of(seen.field)] = NOT_GIVEN if pd.isna(value) else str(value)
    for number in view.model.encoder.numbers:
        value = given[number.field].iloc[0] if number.field in given.columns else None
        scale = GIB if number.field.endswith("_bytes") else 1
        st.session_state[key_of(number.field)] = None if pd.isna(value) else float(value) / scale


def unknown_text(seen: FieldValues) -> str:
    """Return a text that training did not see in this field."""
    text, known = UNSEEN, {*seen.kept, *seen.rare}
    while text in known:
        text += "?"
    return text


def _category(seen: FieldValues) -> str | None:
    known = (*seen.kept, *seen.rare)
    options = [UNSEEN, NOT_GIVEN, *known[:MOST_LISTED]]
    rest = f" The {MOST_LISTED} most frequent are listed; type any other." if len(known) > MOST_LISTED else ""
    chosen = st.selectbox(
        title(seen.field),
        options,
        index=min(2, len(options) - 1),
        format_func=visible,
        key=key_of(seen.field),
        bind="query-params",
        accept_new_options=True,
        help=f"{len(known):,} values were seen in training.{rest} A text that was not seen counts as unseen.",
    )
    if chosen in (None, NOT_GIVEN):
        return None
    return unknown_text(seen) if chosen == UNSEEN else str(chosen)


def _number(number: NumberRange) -> float | None:
    scale = GIB if number.field.endswith("_bytes") else 1
    given = st.number_input(
        title(number.field, "GiB") if scale == GIB else title(number.field),
        min_value=-LARGEST_GIVEN,
        max_value=LARGEST_GIVEN,
        value=None,
        format="%.8g",
        key=key_of(number.field),
        bind="query-params",
        placeholder=NOT_GIVEN,
        help=f"In training: {_ends(number)}. Empty: not given.",
    )
    return None if given is None else float(given) * scale


def _ends(number: NumberRange) -> str:
    if math.isnan(number.lowest):
        return "never given"
    return f"{formatted(number.field, number.lowest)} to {formatted(number.field, number.highest)}"


def _outside(number: NumberRange, value: object) -> str:
    """Return what is out of range, '' where nothing is."""
    if not isinstance(value, float) or math.isnan(number.lowest) or number.lowest <= value <= number.highest:
        return ""
    return markdown_text(f"{label(number.field)} {formatted(number.field, value)} (training: {_ends(number)})", 160)
