"""Each page of the README's pictures can still be photographed, and the committed pictures are whole and small."""

import io

import pytest
from PIL import Image

from tests.browser.pictures import FOLDER, LARGEST_BYTES, PICTURES, SIZE, photograph

EACH = pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.page)
LEAST_COLOURS = 16


def check(taken):
    image = Image.open(io.BytesIO(taken))
    assert image.size == (SIZE["width"], SIZE["height"])
    assert len(taken) <= LARGEST_BYTES
    assert len(image.convert("RGB").getcolors(2**20)) >= LEAST_COLOURS


@pytest.mark.soak
@EACH
def test_a_page_can_be_photographed(whole, visitors, picture):
    check(photograph(visitors(whole.server), picture, whole.hashes))


@EACH
def test_the_committed_picture_is_whole_and_small(picture):
    check((FOLDER / picture.name).read_bytes())
