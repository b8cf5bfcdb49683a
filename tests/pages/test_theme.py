"""The colours of .streamlit/config.toml: words stand out at 4.5:1."""

import ast
import re
import tomllib

import pytest

from pages._frame import look
from tests.pages.conftest import ROOT
from workprof.charts.theme import relative_luminance

ENOUGH = 4.5
CAPTION = 0.6
"""Share of the text colour in captions, labels' help and placeholders, as Streamlit mixes it with the background."""
TINT = 0.1
"""Share of the primary colour in the ground of a chosen option."""
WHITE = (255, 255, 255)


def rgb(colour):
    return tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5))


def mixed(one, share, other):
    return tuple(a * share + b * (1 - share) for a, b in zip(one, other, strict=True))


def contrast(one, other):
    low, high = sorted((relative_luminance(one), relative_luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.fixture(params=["light", "dark"])
def theme(request):
    colours = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["theme"][request.param]
    return request.param, {name: rgb(value) for name, value in colours.items() if isinstance(value, str)}


def grounds(colours):
    return colours["backgroundColor"], colours["secondaryBackgroundColor"]


def test_words_and_captions_stand_out_on_page_and_sidebar(theme):
    _, colours = theme
    for ground in grounds(colours):
        assert contrast(colours["textColor"], ground) >= ENOUGH
        assert contrast(mixed(colours["textColor"], CAPTION, ground), ground) >= ENOUGH
        assert contrast(colours["linkColor"], ground) >= ENOUGH
    assert contrast(colours["grayTextColor"], colours["grayBackgroundColor"]) >= ENOUGH


def test_white_words_stand_out_on_primary_buttons(theme):
    assert contrast(WHITE, theme[1]["primaryColor"]) >= ENOUGH


def test_what_is_chosen_stands_out_on_the_page_and_on_its_own_ground(theme):
    name, colours = theme
    chosen = rgb(re.findall(r"#[0-9a-f]{6}", look.CHOSEN)[name == "dark"])
    assert chosen == colours["linkColor"]
    page = colours["backgroundColor"]
    for ground in (page, mixed(colours["primaryColor"], TINT, page)):
        assert contrast(chosen, ground) >= ENOUGH


def captions_with_code(path):
    """Yield the line of every caption of a page's source with words in backquotes, whose green is too faint there."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "caption":
            texts = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]
            if any("`" in text for text in texts if isinstance(text, str)):
                yield f"{path.name}:{node.lineno}"


def test_no_caption_holds_code():
    assert [found for path in sorted((ROOT / "pages").rglob("*.py")) for found in captions_with_code(path)] == []
