"""Black or white: the words on a coloured ground, whichever stands out more."""

from __future__ import annotations

BLACK, WHITE = "#000000", "#ffffff"


def ink_on(colour: str) -> str:
    """Return the colour of words on '#rrggbb': at least 4.5:1 on every colour (WCAG 2, contrast)."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return ink_on_rgb((red, green, blue))


def ink_on_rgb(rgb: tuple[float, float, float]) -> str:
    """Return the same for red, green and blue, 0-255."""
    luminance = relative_luminance(rgb)
    return BLACK if (luminance + 0.05) / 0.05 >= 1.05 / (luminance + 0.05) else WHITE


def relative_luminance(rgb: tuple[float, float, float]) -> float:
    """Return the relative luminance of a colour, 0-1 (WCAG 2)."""
    parts = [value / 255 for value in rgb]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
