"""Files of planners through the real uploader of a real browser, no field touched."""

import re

import pytest

from tests.browser.conftest import PATIENCE_MS
from tests.formats.one_of_each import FILES

KINDS = ("xlsx", "sacct", "kubectl", "sacct.xlsx", "swf", "azure", "feather", "semicolon")
ALWAYS = KINDS[:1]
"""What every test run drops; `make soak` drops the others."""


@pytest.mark.soak
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[] if kind in ALWAYS else pytest.mark.soak) for kind in KINDS]
)
def test_a_dropped_file_is_seen_loaded(server, visitors, tmp_path, kind):
    dropped = FILES[kind]
    path = tmp_path / f"{kind.replace('.', '_')}_{dropped.name}"
    path.write_bytes(dropped.content)
    visitor = visitors(server, width=1440, height=1000)
    page = visitor.open("/data").page
    visitor.import_file(path)
    read = page.get_by_text(re.compile(rf"{dropped.rows:,} rows( and [\d,]+ lines of steps)? read")).first
    mapping = visitor.button("Import with this mapping")
    read.or_(mapping).first.wait_for(timeout=PATIENCE_MS)
    if mapping.is_visible():
        mapping.click()
    read.wait_for(timeout=PATIENCE_MS)
