"""The plan as files for other programs; each names dataset, settings and risk."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

import workprof
from pages._memory.asking import Asked
from workprof.inputs import safe_name
from workprof.memory.exports import Origin, plan_csv, plan_json, plan_kubernetes, plan_nextflow
from workprof.memory.plan import Plan

FORMATS: dict[str, tuple[str, str, Callable[[Plan, Origin], str]]] = {
    "CSV": ("csv", "text/csv", plan_csv),
    "JSON": ("json", "application/json", plan_json),
    "Nextflow": ("config", "text/plain", plan_nextflow),
    "Kubernetes": ("yaml", "application/yaml", plan_kubernetes),
}


def buttons(asked: Asked, plan: Plan) -> None:
    """Show a button per format."""
    origin = Origin(asked.dataset.name, asked.dataset.hash, workprof.__version__)
    with st.container(horizontal=True):
        for name, (ending, mime, write) in FORMATS.items():
            st.download_button(
                f"Plan, {name}",
                data=partial(_written, write, plan, origin),
                file_name=f"{safe_name(asked.dataset.name)}-memory-plan.{ending}",
                mime=mime,
                on_click="ignore",
                key=f"memory_export_{ending}",
                icon=":material/download:",
                help="Names the dataset, the settings and the odds of a retry.",
            )


def _written(write: Callable[[Plan, Origin], str], plan: Plan, origin: Origin) -> bytes:
    return write(plan, origin).encode()
