"""What can be read from a page about how it reads: its headings, the words of its figures, cards and links."""

import itertools

LEAST_CONTRAST = 4.5

OUTLINE = """
() => [...document.querySelectorAll('[data-testid=stMain] :is(h1, h2, h3, h4, h5, h6)')]
  .filter(heading => heading.offsetParent !== null).map(heading => Number(heading.tagName[1]))
"""

# Words in a box of their own (notes with a ground) and on bars are measured against that ground, others against the
# page. Labels on the cells of heat maps lie on a picture: tests/charts measure those against the colour scale.
FAINT = """
least => {
  const numbers = text => text.match(/[\\d.]+/g).map(Number);
  const part = value => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const luminance = rgb => 0.2126 * part(rgb[0]) + 0.7152 * part(rgb[1]) + 0.0722 * part(rgb[2]);
  const page = numbers(getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor);
  const over = (rgb, share, ground) => ground.map((value, i) => rgb[i] * share + value * (1 - share));
  const ground = text => {
    const note = text.closest('.annotation');
    const shape = note ? note.querySelector('rect.bg') : text.closest('.point, .slice')?.querySelector('path');
    const inside = note || text.classList.contains('bartext-inside') || text.classList.contains('slicetext');
    if (!shape || !inside) return page;
    const look = getComputedStyle(shape);
    return look.fill === 'none' ? page : over(numbers(look.fill), Number(look.fillOpacity), page);
  };
  const told = [];
  for (const text of document.querySelectorAll('.js-plotly-plot text')) {
    const box = text.getBoundingClientRect();
    const picture = text.closest('.js-plotly-plot').querySelector('.heatmaplayer image');
    const label = text.closest(picture ? '.heatmap-label, .annotation' : '.heatmap-label');
    if (!box.width || !text.textContent.trim() || label) continue;
    const look = getComputedStyle(text);
    let share = Number(look.fillOpacity);
    for (let at = text; at && at.tagName !== 'svg'; at = at.parentElement) {
      share *= Number(getComputedStyle(at).opacity);
    }
    const behind = ground(text);
    const two = [luminance(over(numbers(look.fill), share, behind)), luminance(behind)].sort((a, b) => b - a);
    const ratio = (two[0] + 0.05) / (two[1] + 0.05);
    if (ratio < least) told.push(`${text.textContent.trim().slice(0, 30)}: ${ratio.toFixed(2)}`);
  }
  return told.slice(0, 5);
}
"""

CUT = """
() => [...document.querySelectorAll(
  '[data-testid=stMain] :is([data-testid=stMetric], [data-testid=stBaseButton-tertiary]) *')]
  .filter(one => one.scrollWidth > one.clientWidth && one.clientWidth && one.textContent.trim())
  .filter(one => getComputedStyle(one).clipPath === 'none')
  .map(one => `cut: ${one.textContent.trim()}`)
"""


def outline_faults(page):
    """Return what is wrong with the headings: not one title at first, or a level that is left out."""
    levels = page.evaluate(OUTLINE)
    faults = [] if levels.count(1) == 1 and levels[0] == 1 else [f"titles: {levels}"]
    skipped = [pair for pair in itertools.pairwise(levels) if pair[1] > pair[0] + 1]
    return faults + [f"h{low} is followed by h{high}" for low, high in skipped]


def faint_words(page):
    """Return the words of figures that stand out less than 4.5:1."""
    return page.evaluate(FAINT, LEAST_CONTRAST)


def cut_words(page):
    """Return the words of cards and links that are wider than their place."""
    return sorted(set(page.evaluate(CUT)))
