"""Every page once, light and wide: it opens on real data, fits its window, and axe and the console find nothing.

Its other views, the dark theme and narrow windows are looked at in `test_views`.
"""

import pytest

from tests.browser.seen import faint_words, outline_faults
from tests.browser.test_views import WIDE, judged
from tests.browser.views import PAGES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_is_sound(whole, visitors, page):
    visitor = visitors(whole.server).open(page.link(whole.hashes))
    assert visitor.wide() <= 0
    assert [*judged(visitor, WIDE), *outline_faults(visitor.page), *faint_words(visitor.page)] == []
