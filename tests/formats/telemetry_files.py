"""Small files as their tools write them, and how the tests read them."""

import textwrap

from workprof.formats.telemetry import read, sniffed


def imported(folder, name, content, format_name=None, mapping=None):
    """Read a text through the same door as the store; the format is sniffed unless named."""
    text = textwrap.dedent(content).lstrip("\n")
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read(path, format_name or sniffed(text), mapping or {}, name)


def checks(found):
    return {check.name: check.count for check in found.checks}
