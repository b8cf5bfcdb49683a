"""Write what every command prints on the bundled samples: `python -m tests.golden [NAME ...]`; then read `git diff`."""

import sys
import tempfile
from pathlib import Path

from tests.golden import lines
from tests.golden.answers import KEPT, REPORT, answer
from tests.golden.commands import ASKED, fill
from tests.golden.schemas import FILE, made


def main(names):
    """Write the files of these names, or all and no other."""
    lines.FILE.write_text(lines.made(), encoding="utf-8")
    KEPT.mkdir(exist_ok=True)
    for path in KEPT.iterdir():
        if not names and path.stem not in (*ASKED, REPORT):
            path.unlink()
    with tempfile.TemporaryDirectory() as folder:
        fill(Path(folder))
        for name in names or (*ASKED, REPORT):
            (KEPT / f"{name}.txt").write_text(answer(Path(folder), name), encoding="utf-8")
            print(name, flush=True)
    FILE.write_text(made(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
