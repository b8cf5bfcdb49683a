"""Under which parameters a run was made: runs are comparable only where these agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workprof.nodes.parsers.reading import Reading


@dataclass(frozen=True)
class Arguments:
    """How a tool reads its command line.

    Attributes:
        valued: short or long options whose value is the next word.
        left_out: options that do not change what is measured (places, ports, forms of output).
        aliases: other writings of an option -> the one that is kept.
        defaults: what holds where an option is not given.
    """

    valued: frozenset[str]
    left_out: frozenset[str]
    aliases: dict[str, str]
    defaults: dict[str, str]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _pairs(text: str) -> dict[str, str]:
    """Return name -> value of a text such as 'time=t port=p'."""
    return dict(pair.split("=", 1) for pair in text.split())


_SYSBENCH = {"num-threads": "threads", "max-time": "time"}
_ARGUMENTS = {
    "cpu-sysbench": Arguments(_words(""), _words("threads cpu-max-prime"), _SYSBENCH, _pairs("time=10")),
    "memory-sysbench": Arguments(
        _words(""),
        _words("threads memory-block-size memory-total-size memory-oper memory-scope"),
        _SYSBENCH,
        _pairs("time=10"),
    ),
    "disk-fio": Arguments(
        _words(""),
        _words("name directory filename output output-format unlink group_reporting minimal"),
        _pairs("blocksize=bs readwrite=rw"),
        _pairs("bs=4k direct=0 iodepth=1 rw=read"),
    ),
    "disk-ioping": Arguments(
        _words("a b c e i l o r s S t T w p P"),
        _words("q J B p P I"),
        _pairs("work-time=w interval=i size=s count=c read-write=G linear=L direct=D quiet=q json=J batch=B"),
        {},
    ),
    "network-iperf3": Arguments(
        _words("B C M O P S b c f i k l n p t w"),
        _words("B J V c f i p"),
        _pairs("client=c port=p time=t parallel=P json=J verbose=V format=f interval=i bind=B window=w length=l"),
        {},
    ),
    "network-qperf": Arguments(
        _words("access_recv ip lp m sl t ws"),
        _words("ip lp uu v vv"),
        _pairs("ar=access_recv time=t msg_size=m listen_port=lp verbose=v verbose_more=vv unify_units=uu"),
        {},
    ),
}
_TESTS = ("tcp_", "udp_")
_PRINTED = {
    "cpu-sysbench": ("num_threads", "prime_numbers_limit"),
    "memory-sysbench": ("number_of_threads", "block_size", "total_size"),
}


def parameters_of(benchmark: str, argv: Sequence[str], reading: Reading, tool_version: str) -> str:
    """Return the canonical text of a run's parameters: the tool's version, then name=value in order of the names.

    What the tool prints of its parameters goes before the command line, which leaves defaults out; `tool_version` is
    used where the output has none. A run length that differs makes a difference: maxima and caches depend on it.
    """
    version = reading.texts.get("version") or tool_version or "version unknown"
    known = _asked(_ARGUMENTS[benchmark], argv[1:])
    known |= {name: f"{reading.numbers[name]:.0f}" for name in _PRINTED.get(benchmark, ()) if name in reading.numbers}
    known |= {name: text for name, text in reading.texts.items() if name != "version"}
    return " ".join([version.strip(), *(f"{name}={known[name]}" if known[name] else name for name in sorted(known))])


def _asked(arguments: Arguments, words: Sequence[str]) -> dict[str, str]:
    """Return option -> value of a command line ('' for a bare one), defaults filled in."""
    found = dict(arguments.defaults)
    waiting = ""
    for word in words:
        if waiting:
            found[waiting], waiting = word.lower(), ""
        elif word.startswith("-"):
            written, equals, value = word.lstrip("-").partition("=")
            name = arguments.aliases.get(written, written)
            found[name] = value.lower()
            waiting = name if not equals and name in arguments.valued else ""
        elif word.startswith(_TESTS):
            found[word] = ""
    return {name: value for name, value in found.items() if name not in arguments.left_out}
