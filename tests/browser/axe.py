"""What axe-core finds on a page; nothing is excused."""

from axe_playwright_python.base import AXE_SCRIPT

IMPACTS = ("serious", "critical")
PATIENCE_MS = 1000
MARKS = (".scatterlayer", ".barlayer", ".boxlayer", ".heatmaplayer", ".iciclelayer", ".imagelayer", ".waterfalllayer")
"""Marks of figures have no words; their text is `alt` and the table under "Data". Axe takes seconds over them."""
FIND = """
async ([marks, impacts]) => {
  const around = marks.map(name => ['.main-svg ' + name]);
  const found = await axe.run({exclude: around}, {resultTypes: ['violations']});
  return found.violations.filter(rule => impacts.includes(rule.impact)).flatMap(rule => rule.nodes.map(node => {
    const checks = [...node.any, ...node.all, ...node.none];
    return {
      rule: rule.id, html: node.html.slice(0, 200), why: checks.map(check => check.message).join(' | ').slice(0, 240),
    };
  }));
}
"""


def violations(page):
    """Return what axe holds to be serious or critical, as sentences; [] = nothing.

    What is found is looked for once more after a second: a page that is being drawn is not judged.
    """
    told = _told(page)
    if told:
        page.wait_for_timeout(PATIENCE_MS)
        told = _told(page)
    return told


def _told(page):
    return [f"{one['rule']}: {one['html']} ({one['why']})" for one in _found(page)]


def _found(page):
    if not page.evaluate("() => Boolean(window.axe)"):
        page.evaluate(AXE_SCRIPT + ";0")
    return page.evaluate(FIND, [list(MARKS), list(IMPACTS)])
