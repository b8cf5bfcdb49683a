"""The audit of the pinned packages: it never says 'clean' where nothing was looked up."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HOLE = {"name": "jinja2", "version": "2.4.1", "vulns": [{"id": "X-1", "fix_versions": ["3.1"], "aliases": []}]}
SOUND = {"name": "alpha", "version": "1.0", "vulns": []}
BAD = {"name": "beta", "version": "2.0", "vulns": [{"id": "X-2", "fix_versions": [], "aliases": []}]}
UNKNOWN = {"name": "beta", "skip_reason": "not found"}

# A stand-in for the tool: what it writes and how it ends are given, whatever it is asked about.
TOOL = """#!{python}
import json, sys
answers = json.loads({answers!r})
answer = answers["canary" if "canary" in sys.argv[2] else "pinned"]
if answer is None:
    sys.exit("the registry does not answer")
open(sys.argv[-1], "w").write(json.dumps({{"dependencies": answer, "fixes": []}}))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("canary", "pinned", "status", "words"),
    [
        ([HOLE], [SOUND, SOUND], 0, "2 of 2 pinned packages looked up, 0 with"),
        ([HOLE], [SOUND, BAD], 1, "beta 2.0: X-2"),
        ([HOLE], [SOUND, UNKNOWN], 3, "NOT CHECKED: beta"),
        ([HOLE], [UNKNOWN, BAD], 1, "1 of 2 pinned packages looked up, 1 with"),
        ([HOLE], [SOUND], 3, "NOT CHECKED"),
        ([HOLE], None, 3, "NOT CHECKED: all of them"),
        ([{"name": "jinja2", "skip_reason": "not found"}], [SOUND, SOUND], 3, "no vulnerability data"),
        ([SOUND], [SOUND, SOUND], 3, "no vulnerability data"),
        (None, [SOUND, SOUND], 3, "no vulnerability data"),
    ],
)
def test_the_status_tells_what_was_looked_up(tmp_path, canary, pinned, status, words):
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "audit", tmp_path / ".ci" / "audit")
    (tmp_path / ".ci" / "constraints.txt").write_text("alpha==1.0\nbeta==2.0\n")
    tool = tmp_path / "build" / "audit" / "venv" / "bin" / "pip-audit"
    tool.parent.mkdir(parents=True)
    tool.write_text(TOOL.format(python=sys.executable, answers=json.dumps({"canary": canary, "pinned": pinned})))
    tool.chmod(0o755)
    ended = subprocess.run(
        [sys.executable, tmp_path / ".ci" / "audit"], capture_output=True, text=True, timeout=300, check=False
    )
    assert ended.returncode == status, ended.stderr
    assert words in ended.stdout
