"""Every kind of file through the uploader of the Data page, no field touched: all rows there, nothing rejected."""

import pytest

from tests.formats.one_of_each import FILES
from tests.pages.conftest import problems
from tests.pages.test_import import finish, upload


@pytest.mark.some(2)
@pytest.mark.parametrize("kind", FILES)
def test_a_dropped_file_loads(app, house, kind):
    dropped = FILES[kind]
    test = upload(app, house, dropped.name, dropped.content)
    assert problems(test) == []
    for button in [button for button in test.button if button.key == "map_import"]:  # the guesses, as they are proposed
        assert not button.disabled
        button.click().run()
        test = finish(test, house)
        assert problems(test) == []
    (entry,) = house().workbench.datasets()
    assert (entry.format, entry.rows) == (dropped.format, dropped.rows)
    assert house().workbench.ingest_report(entry.name).rejected == 0
    assert list((house().settings.home / "spool").glob("upload-*")) == []
