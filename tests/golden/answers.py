"""What a command prints, as it is kept: the command line, its notes, its JSON, its text; of a report its headings."""

import io
import json
import re
import zipfile
from pathlib import Path

from tests.command_line import run_here
from tests.golden.commands import ASKED, HEADING_ONLY, MOST_LINES, text_without_chance, without_chance

KEPT = Path(__file__).parent / "kept"
REPORT = "report"
HEADING = re.compile(r"<(h[1-4]|caption|dt|summary)[^>]*>(.*?)</\1>", re.DOTALL)


def answer(folder, name):
    """Return what a command of ASKED prints on the home in a folder, or what its reports are made of."""
    if name == REPORT:
        return report_headings(folder)
    words = [word.replace("FOLDER", str(folder)) for word in ASKED[name].split()]
    told = run_here(*words, "--json", home=folder / "home")
    text = run_here(*words, home=folder / "home")
    assert (told.status, text.status) == (0, 0), told.err + text.err
    document = json.dumps(without_chance(json.loads(told.out)), ensure_ascii=False, indent=1)
    notes = text_without_chance(text.err)
    shown = text_without_chance(text.out, 1 if name in HEADING_ONLY else MOST_LINES)
    shown = re.sub(r"(?<=\S) {2,}", "  ", shown)  # a column's width may be that of a path or a time
    parts = (f"$ workprof {ASKED[name]}", *([notes] if notes else []), document, shown)
    return "\n\n".join(parts).replace(str(folder), "FOLDER") + "\n"


def report_headings(folder):
    """Return the headings of the reports of the three samples, and the headers of the tables in their bundles."""
    lines = []
    for dataset in ("jobs", "machines", "counters"):
        page, bundle = folder / f"{dataset}.html", folder / f"{dataset}.zip"
        ran = run_here("report", dataset, "-o", page, "--bundle", bundle, home=folder / "home")
        assert ran.status == 0, ran.err
        lines.append(f"# {dataset}")
        for _, found in HEADING.findall(page.read_text(encoding="utf-8")):
            lines.append(" ".join(re.sub(r"<[^>]*>", "", found).split()))
        with zipfile.ZipFile(io.BytesIO(bundle.read_bytes())) as files:
            for path in sorted(one for one in files.namelist() if one.endswith(".csv")):
                lines.append(f"{path}: {files.read(path).decode().splitlines()[0]}")
    return "\n".join(text_without_chance(line) for line in lines) + "\n"
