"""Amounts that a trace gives as shares of its largest machine, and what a whole machine counts as.

Without the machine's size the shares still have to be numbers that every method and chart can work with: a whole
machine counts as 1,000 GB and 100 cores, so 1 GB and 1 core are a thousandth and a hundredth of it. Steps and floors of
the methods (64 MiB) are then 0.007 % of a machine.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workprof.core.units import GB

NOMINAL_MEMORY_BYTES = 1000.0 * GB
NOMINAL_CORES = 100.0
MEMORY, CPU = "memory", "cpu"
WORDS = {MEMORY: "Memory", CPU: "CPU"}
OPTIONS = {MEMORY: "--machine-memory 512GB", CPU: "--machine-cores 96"}


@dataclass(frozen=True)
class Machine:
    """The largest machine of a trace."""

    memory_bytes: float = 0.0  # 0 = not known
    cores: float = 0.0  # 0 = not known

    def whole(self, unit: str) -> float:
        """What a whole machine counts as, in the unit that a field is kept in ('B' or 'percent' of a core)."""
        if unit == "B":
            return self.memory_bytes or NOMINAL_MEMORY_BYTES
        return 100.0 * (self.cores or NOMINAL_CORES)

    def known(self, unit: str) -> bool:
        """Tell whether the size was given."""
        return bool(self.memory_bytes if unit == "B" else self.cores)


@dataclass(frozen=True)
class Share:
    """How to get back to the trace's own numbers of one resource: share = value / whole_machine."""

    resource: str  # 'memory' or 'cpu'
    fields: tuple[str, ...]  # whose values were shares (0-1) of the largest machine
    whole_machine: float  # what a share of 1 was made
    unit: str  # of it: 'GB' (1e9 bytes) or 'cores'
    given: bool  # the size was given when the trace was loaded; else it is the nominal one


def share_of(unit: str, fields: Iterable[str], whole: float, *, given: bool) -> Share:
    """How the shares of one resource, kept in 'B' or 'percent', were stored; `given`: not of the nominal machine."""
    if unit == "B":
        return Share(MEMORY, tuple(fields), whole / GB, "GB", given)
    return Share(CPU, tuple(fields), whole / 100.0, "cores", given)


def in_words(shares: Sequence[Share]) -> str:
    """A note for people, '' where no number was a share."""
    nominal, real = [one for one in shares if not one.given], [one for one in shares if one.given]
    sentences = []
    if nominal:
        sizes = " and ".join(f"{one.whole_machine:,.6g} {one.unit}" for one in nominal)
        ones = ", ".join(f"1 {one.unit.removesuffix('s')} = {100 / one.whole_machine:g} %" for one in nominal)
        options = " ".join(OPTIONS[one.resource] for one in nominal)
        sentences.append(
            f"{_named(nominal)} shares of the largest machine of the trace, whose size it does not tell: a whole "
            f"machine counts as {sizes} ({ones} of it). For real sizes load it with the machine's size: Data page, "
            f"Read options, or {options}."
        )
    if real:
        sizes = " and ".join(f"{one.whole_machine:,.6g} {one.unit}" for one in real)
        sentences.append(f"{_named(real)} shares of the largest machine in the trace, taken to have {sizes}.")
    return " ".join(sentences)


def _named(shares: Sequence[Share]) -> str:
    names = sorted({WORDS[one.resource] for one in shares}, reverse=True)
    return f"{' and '.join(names)} are" if len(names) > 1 else f"{names[0]} is given as"
