"""Buttons that save sizes for other programs: the same bytes as `workprof memory export` writes."""

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

import workprof
from pages._memory.scope import PageContext
from pages._parts import tables
from workprof.answers import verdict_exports
from workprof.core.shares import in_words
from workprof.inputs import safe_name
from workprof.memory.exports import Origin, exported
from workprof.memory.size_lists import SizeList
from workprof.memory.verdict import Verdict

FORMATS = {
    "csv": ("CSV", "csv", "csv", "text/csv"),
    "json": ("JSON", "json", "json", "application/json"),
    "nextflow": ("Nextflow", "config", "config", "text/plain"),
    "kubernetes": ("Kubernetes", "yaml", "yaml", "application/yaml"),
    "slurm": ("Slurm, job_submit", "lua", "lua", "text/plain"),
    "slurm-partitions": ("Slurm, partitions", "partitions", "conf", "text/plain"),
}
"""Format of the command -> words, ending of the button's key, ending of the file, kind of content."""


def buttons(
    context: PageContext,
    key: str,
    words: str,
    name: str,
    made: Callable[[], SizeList],
) -> None:
    """Show a button per format; sizes are made when one is pressed."""
    _buttons(context, key, words, name, lambda to, origin: exported(to, made(), origin))


def of_verdict(context: PageContext, result: Verdict) -> None:
    """Show a button per format that can name the rows of a verdict."""
    written, formats = partial(_rows, result), verdict_exports.formats_of(result)
    _buttons(context, "memory_verdict_export", "Requests", "memory-plan", written, formats)


def _rows(result: Verdict, to: str, origin: Origin) -> bytes:
    return verdict_exports.exported(to, result, origin)


def _buttons(
    context: PageContext,
    key: str,
    words: str,
    name: str,
    written: Callable[[str, Origin], bytes],
    formats: Sequence[str] = tuple(FORMATS),
) -> None:
    note = in_words(context.workbench.machine_shares(context.dataset.hash))
    origin = Origin(context.dataset.name, context.dataset.hash, workprof.__version__, note)
    with st.container(horizontal=True):
        for to in formats:
            shown, of_key, ending, mime = FORMATS[to]
            st.download_button(
                f"{words}, {shown}",
                data=partial(_marked, tables.mark_of(mime), written, to, origin),
                file_name=f"{safe_name(context.dataset.name)}-{name}.{ending}",
                mime=mime,
                on_click="ignore",
                key=f"{key}_{of_key}",
                icon=":material/download:",
                help="With the dataset, the settings, the retry probability and the evidence.",
            )


def _marked(mark: str, written: Callable[[str, Origin], bytes], to: str, origin: Origin) -> bytes:
    return mark.encode() + written(to, origin)
