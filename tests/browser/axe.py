"""What axe-core finds on a page, less the little that Streamlit draws by itself and lets nobody change."""

from dataclasses import dataclass

from axe_playwright_python.base import AXE_SCRIPT

IMPACTS = ("serious", "critical")
MOST_LOOKS = 30
PATIENCE_MS = 1000
MARKS = (".scatterlayer", ".barlayer", ".boxlayer", ".heatmaplayer", ".iciclelayer", ".imagelayer", ".waterfalllayer")
"""Marks of figures have no words; their text is `alt` and the table under "Show data". Axe takes seconds over them."""
LEAST_RATIO = 3.5
"""What stands out less is never excused."""

FIND = """
async ([marks, impacts]) => {
  const around = marks.map(name => ['.main-svg ' + name]);
  const found = await axe.run({exclude: around}, {resultTypes: ['violations'], elementRef: true});
  return found.violations.filter(rule => impacts.includes(rule.impact)).flatMap(rule => rule.nodes.map(node => {
    const checks = [...node.any, ...node.all, ...node.none];
    window.axeFound = (window.axeFound || []).concat([node.element]);
    return {
      rule: rule.id, html: node.html.slice(0, 200), why: checks.map(check => check.message).join(' | ').slice(0, 240),
      ratio: checks.map(check => check.data && check.data.contrastRatio).find(Boolean) || 0,
      place: window.axeFound.length - 1,
    };
  }));
}
"""
INSIDE = "([place, selector]) => Boolean(window.axeFound[place].closest(selector))"


@dataclass(frozen=True)
class Chrome:
    """One thing of Streamlit's own: the rule that it breaks, where, a page on which axe always sees it ('' = none)."""

    rule: str
    selector: str
    shown_on: str = ""


CHROME_IN_DARK = (
    Chrome("color-contrast", '[data-testid="stButtonGroup"] [data-selected="true"]', "profiles"),
    Chrome("color-contrast", '[data-testid="stSliderThumbValue"]'),
    Chrome("color-contrast", '[role="tab"][aria-selected="true"]'),
)
"""Streamlit writes what is chosen in the primary colour on near-black, and primary buttons in white on that colour: no
colour has 4.5:1 both ways (tests/pages/test_theme.py computes it). Ours has at least 3.5:1, and what is chosen is told
by a border, a line or a place as well."""


def violations(page, *, dark):
    """Return what axe holds to be serious or critical, as sentences; [] = nothing.

    What is found is looked for once more after a second: a page that is being drawn is not judged.
    """
    chrome = CHROME_IN_DARK if dark else ()
    told = _unexcused(page, chrome)
    if told:
        page.wait_for_timeout(PATIENCE_MS)
        told = _unexcused(page, chrome)
    return told


def excused(page, entry):
    """Return whether a page still shows what an entry of the list excuses, once it is drawn."""
    for _ in range(MOST_LOOKS):
        if any(_excuses(page, entry, one) for one in _found(page)):
            return True
        page.wait_for_timeout(PATIENCE_MS)
    return False


def _unexcused(page, chrome):
    found = [one for one in _found(page) if not any(_excuses(page, entry, one) for entry in chrome)]
    return [f"{one['rule']}: {one['html']} ({one['why']})" for one in found]


def _excuses(page, entry, one):
    if one["rule"] != entry.rule or one["ratio"] < LEAST_RATIO:
        return False
    return page.evaluate(INSIDE, [one["place"], entry.selector])


def _found(page):
    if not page.evaluate("() => Boolean(window.axe)"):
        page.evaluate(AXE_SCRIPT + ";0")
    return page.evaluate(FIND, [list(MARKS), list(IMPACTS)])
