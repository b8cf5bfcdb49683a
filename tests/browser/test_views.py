"""Every page in every view and state, light and dark, wide and narrow: sound, accessible, within its window.

One visitor per page and theme goes from view to view. Axe judges each view wide in the light and narrow in the dark;
the first view of each page, where header, sidebar and controls stand, in all four ways.
"""

import pytest

from tests.browser import axe
from tests.browser.conftest import running_server
from tests.browser.seen import cut_words, faint_words, outline_faults
from tests.browser.views import BY_NAME, PAGES

WIDE, MIDDLE, NARROW = (1440, 900), (768, 1024), (390, 844)
SIZES = {False: (WIDE, MIDDLE, NARROW), True: (NARROW,)}
"""Sizes at which a view is looked at, by whether it is dark; axe looks at the first of them."""
UNKNOWN = "ds=0123456789abcdef0123456789abcdef"
TURN_MS = 300
"""A window that has changed its size is drawn anew within this, or looked at once more."""
NAMES = [page.name for page in PAGES]

pytestmark = pytest.mark.soak


def resized(visitor, size):
    """Give the window a size and return what does not fit it."""
    visitor.page.set_viewport_size({"width": size[0], "height": size[1]})
    for wait in (TURN_MS, 4 * TURN_MS):
        visitor.page.wait_for_timeout(wait)
        beyond = visitor.wide()
        if beyond <= 0:
            return []
    return [f"{beyond} px wider than {size[0]}"]


def judged(visitor, size):
    return [f"at {size[0]}: {one}" for one in axe.violations(visitor.page)]


def look(visitor, *, dark, first):
    """Return what is wrong with a view."""
    told = []
    home = SIZES[dark][0]
    sizes = (WIDE, MIDDLE, NARROW) if first else SIZES[dark]
    for size in sizes:
        told += [*resized(visitor, size), *cut_words(visitor.page)]
        if size == home or (first and size != MIDDLE):
            told += judged(visitor, size)
    told += [*outline_faults(visitor.page), *faint_words(visitor.page)]
    return told if sizes[-1] == home else told + resized(visitor, home)


def show(visitor, page, hashes, tab):
    """Open a view: the first by its link, the others by a click."""
    if tab in ("", *page.tabs[:1]):
        return visitor.open(page.link(hashes, tab))
    visitor.page.get_by_role("tab", name=tab, exact=True).click()
    return visitor.settle()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", NAMES)
def test_every_view_is_sound(whole, visitors, name, dark):
    visitor, page = visitors(whole.server, dark=dark), BY_NAME[name]
    found = {}
    for tab in page.tabs or ("",):
        show(visitor, page, whole.hashes, tab)
        if tab:
            assert visitor.page.get_by_role("tab", selected=True).first.inner_text() == tab
        found[tab] = look(visitor, dark=dark, first=tab in ("", *page.tabs[:1]))
    assert {tab: told for tab, told in found.items() if told} == {}


def look_both(visitor):
    """Return what is wrong with a state without figures (they follow a change of the theme at the next run only)."""
    told = [*resized(visitor, WIDE), *judged(visitor, WIDE), *outline_faults(visitor.page)]
    told += resized(visitor, MIDDLE)
    visitor.page.emulate_media(color_scheme="dark")
    told += [*resized(visitor, NARROW), *judged(visitor, NARROW)]
    visitor.page.emulate_media(color_scheme="light")
    return told


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    with running_server(tmp_path_factory.mktemp("empty") / "home") as running:
        yield running


def sound(visitor, address):
    """Open every page by an address of it; assert that each is sound."""
    found = {}
    for page in PAGES:
        visitor.open(address(page))
        found[page.name] = look_both(visitor)
    assert {name: told for name, told in found.items() if told} == {}


def test_every_page_is_sound_on_an_empty_home(empty, visitors):
    sound(visitors(empty), lambda page: page.path)


def test_every_page_is_sound_under_a_link_to_data_that_is_not_there(whole, visitors):
    visitor = visitors(whole.server)
    sound(visitor, lambda page: f"{page.path}?{UNKNOWN}")
    assert visitor.page.get_by_text("This link is about the dataset").is_visible()


def test_every_page_is_sound_on_data_of_which_it_can_make_little(whole, visitors):
    sound(visitors(whole.server), lambda page: f"{page.path}?{whole.useless[page.data]}")
