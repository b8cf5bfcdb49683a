"""One file per trace format: which columns it has, in which units, and which field of a job table each becomes.

To add a format: write one file like `nextflow.py` (a table with a heading) or `philly.py` and `swf.py` (with a
reader) and list its FORMAT here; CONTRIBUTING.md has the rest.
"""

import re

from workprof.core.errors import SettingsError
from workprof.core.text import near
from workprof.core.units import HOUR_S
from workprof.formats import (
    airflow,
    alibaba,
    azure,
    borg,
    borg_2011,
    borg_events,
    condor,
    condor_table,
    cromwell,
    generic,
    gpu_pods,
    helios,
    kubernetes,
    lotaru_reports,
    lsb_acct,
    lsf,
    nextflow,
    pai_sample,
    pbs,
    philly,
    prometheus_pods,
    sap_build,
    sge,
    slurm,
    slurm_json,
    slurm_print,
    snakemake,
    snakemake_slurm,
    swf,
    wfcommons,
)
from workprof.formats.declare import Format, Rule
from workprof.formats.measured import MEASUREMENTS as MEASUREMENTS
from workprof.formats.pai_tables import CORRECTED

FORMATS: dict[str, Format] = {
    known.name: known
    for known in (
        pai_sample.FORMAT,
        nextflow.FORMAT,
        lotaru_reports.FORMAT,
        snakemake.FORMAT,
        cromwell.FORMAT,
        helios.FORMAT,
        sap_build.FORMAT,
        snakemake_slurm.FORMAT,
        slurm.FORMAT,
        slurm_json.FORMAT,
        slurm_print.FORMAT,
        sge.FORMAT,
        lsf.FORMAT,
        lsb_acct.FORMAT,
        condor.FORMAT,
        condor_table.FORMAT,
        pbs.FORMAT,
        pbs.JSON,
        swf.FORMAT,
        wfcommons.FORMAT,
        kubernetes.FORMAT,
        gpu_pods.FORMAT,
        airflow.FORMAT,
        airflow.API,
        borg.FORMAT,
        borg_events.FORMAT,
        borg_2011.FORMAT,
        borg_2011.TASK_EVENTS,
        prometheus_pods.FORMAT,
        azure.FORMAT,
        azure.NAMED,
        azure.PACKING,
        alibaba.FORMAT,
        alibaba.TASKS_NAMED,
        alibaba.INSTANCES,
        alibaba.INSTANCES_NAMED,
        philly.FORMAT,
        generic.FORMAT,
    )
}
"""Formats of one file with a header, in the order in which a file is compared with them."""

TABLES = "pai-tables"
AUTO = "auto"
NAMES: tuple[str, ...] = (*FORMATS, TABLES, *MEASUREMENTS)
UTC_OFFSETS_S = {pai_sample.FORMAT.name: 8 * HOUR_S, TABLES: 8 * HOUR_S}
"""The PAI trace's times are shifted by an unknown whole number of weeks; read at UTC+8 they keep hour and weekday
(its README)."""


def declared(name: str) -> Format:
    """The declaration of a one-file format; raises SettingsError, which names the formats there are."""
    if name not in FORMATS:
        raise SettingsError(f"format {name!r} is not known; use auto or one of {', '.join(NAMES)}{near(name, NAMES)}")
    return FORMATS[name]


def has_reader(name: str) -> bool:
    """Tell whether a format's files are made a table by a reader of its own."""
    return name in FORMATS and FORMATS[name].reader is not None


def rules_of(name: str) -> tuple[Rule, ...]:
    """Which field each of a format's own columns becomes; nothing for a format that this package lacks."""
    if name == TABLES:
        return tuple(CORRECTED.rules)
    return tuple(FORMATS[name].rules) if name in FORMATS else ()


_BEFORE_STATUS = re.compile(generic.BEFORE_STATUS)


def ended_well(status: object, name: str = "") -> bool:
    """Whether a run with such a status has finished, in the words of a format or of any table of jobs.

    A run without a status has, as at an ingest.
    """
    if status is None or status != status:  # noqa: PLR0124  NaN
        return True
    word = _BEFORE_STATUS.sub("", str(status)).strip()
    own = FORMATS[name].finished if name in FORMATS else ()
    return word in generic.FORMAT.nulls or word.lower() in generic.FORMAT.finished or word.lower() in own


def plain_rules_of(name: str) -> tuple[Rule, ...]:
    """The rules whose field is the source's column in another unit; none where rows are folded into runs."""
    known = FORMATS.get(name)
    if known is None or known.windows or known.events or known.steps or known.reader:
        return ()
    more = {one.field for one in known.made} | {*known.normalised, *known.zero_is_missing}
    return tuple(rule for rule in known.rules if rule.field not in more)


def not_known(name: str) -> str:
    """What a format's files do not say of memory; '' where nothing is to be said."""
    return FORMATS[name].not_known if name in FORMATS else ""


def without_use(name: str) -> str:
    """Why a dataset of a format has no use of memory, and what to do; '' where the format does not tell."""
    known = FORMATS.get(name)
    if known is None or known is FORMATS["generic"]:
        return ""
    source = next((rule.source for rule in known.rules if rule.field == "peak_memory_bytes"), "")
    if not source:
        return known.not_known
    return (
        "others of its format tell it" if known.reader else f"files of its format tell it as {source}: export it, too"
    )


def utc_offset_s(name: str) -> int:
    """The seconds to add to a format's times for local hours and weekdays; 0 where they are plain UTC."""
    return UTC_OFFSETS_S.get(name, 0)
