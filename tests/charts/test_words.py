"""Colours, fields and texts."""

import pytest

from workprof.charts.theme import COLOURS, DARK_BACKGROUND, LIGHT_BACKGROUND, OUTLIER_COLOUR, ink_on, mark
from workprof.core.text import spreadsheet_text
from workprof.core.words import column_words, formatted, label, listed, markdown_text, plotly_text, shortened, title


def luminance(colour):
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("colour", [*COLOURS, OUTLIER_COLOUR])
@pytest.mark.parametrize("background", [LIGHT_BACKGROUND, DARK_BACKGROUND])
def test_every_mark_stands_out_on_both_backgrounds(colour, background):
    assert contrast(colour, background) >= 3


@pytest.mark.parametrize("colour", [*COLOURS, OUTLIER_COLOUR, LIGHT_BACKGROUND, DARK_BACKGROUND, "#777777"])
def test_words_stand_out_on_any_colour(colour):
    assert contrast(ink_on(colour), colour) >= 4.5


def test_sixty_four_profiles_look_different():
    assert len({mark(profile) for profile in range(-1, 64)}) == 65


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("peak_memory_bytes", "Peak memory (bytes)"),
        ("gpu_usage_percent", "GPU usage (% of one GPU)"),
        ("cpu_usage_percent", "CPU usage (% of one core)"),
        ("duration_s", "Duration (s)"),
        ("workload", "Workload"),
    ],
)
def test_axis_titles_carry_units(field, expected):
    assert title(field) == expected


def test_values_are_written_with_their_units():
    assert formatted("peak_memory_bytes", 2 * 1024**3) == "2.15 GB"
    assert formatted("duration_s", 3780.0) == "1 h 03 min"
    assert formatted("duration_s", float("nan")) == "no data"
    assert formatted("read_count", 12345.0) == "12,345"
    assert [formatted("read_count", value) for value in (0.0488791, 1234.56)] == ["0.0489", "1,235"]
    assert [formatted("cpu_usage_percent", value) for value in (2, 631.7, 1250.4)] == ["2 %", "632 %", "1,250 %"]
    assert label("read_count") == "read count"


def test_texts_of_files_are_made_harmless():
    assert "<" not in plotly_text("<b>x</b>")
    assert markdown_text("*a* [b](c) $x$ :red[y]") == r"\*a\* \[b\]\(c\) \$x\$ \:red\[y\]"
    assert spreadsheet_text("=1+1") == "'=1+1"
    assert spreadsheet_text("plain") == "plain"
    assert shortened("a\nb" * 100).count("\n") == 0
    assert len(shortened("x" * 1000)) == 48


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("duration_p95_s", "duration p95 (s)"),
        ("peak_memory_bytes", "peak memory (bytes)"),
        ("cpu_usage_percent", "CPU usage (%)"),
        ("price_per_h", "price (per hour)"),
        ("wasted_gb_h", "wasted (GB·h)"),
        ("times_as_good", "times as good"),
        ("row_id", "row ID"),
        ("share", "share"),
    ],
)
def test_columns_are_called_in_words_with_their_unit(column, words):
    assert column_words(column) == words


def test_lists_are_read_aloud():
    assert [listed(words) for words in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == ["", "a", "a and b", "a, b and c"]
