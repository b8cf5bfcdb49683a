"""A report as one HTML file: opens without a network and without a server, and prints."""

import html
import json
import math
from collections.abc import Iterator

from workprof.answers.help.terms import heading
from workprof.charts.shapes import Chart, Headline
from workprof.charts.theme import readable
from workprof.core.records import to_json
from workprof.core.scope import titled
from workprof.core.shares import in_words
from workprof.core.table import MISSING, Column
from workprof.core.text import visible
from workprof.core.units import format_duration
from workprof.core.words import counted
from workprof.report.parts import Decision, Section, Table
from workprof.report.report import Report
from workprof.store.reports import lines_lost
from workprof.workbench import JOBS

STYLE = """
:root { color-scheme: light; }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; color: #1f2733; background: #fff; }
main { max-width: 1080px; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.7rem; } h2 { font-size: 1.35rem; border-top: 2px solid #3079cf; padding-top: .75rem; }
h3 { font-size: 1.05rem; margin-bottom: .25rem; }
.answer { font-size: 1.2rem; font-weight: 600; } .part { font-size: 1rem; color: #4a5464; text-transform: uppercase; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(480px, 100%), 1fr)); gap: 0 1.5rem; }
.figures > figure { min-width: 0; } .figures > figure:first-child { grid-column: 1 / -1; }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; padding: 0; list-style: none; }
a { color: #1f5fa8; }
figure { margin: 1rem 0; } .takeaway { font-weight: 600; margin: 0 0 .25rem; }
.small, small { font-size: .85rem; color: #4a5464; } dd small { display: block; }
.flag { display: inline-block; padding: .1rem .5rem; border: 1px solid #a85a00; color: #8a4a00; border-radius: .3rem; }
.missing { padding: .5rem .75rem; border-left: 4px solid #a85a00; background: #fdf6ec; }
.note { padding: .5rem .75rem; border-left: 4px solid #3079cf; background: #eef4fb; white-space: pre-wrap; }
.headlines { display: grid; grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); gap: .5rem; }
.headlines div { border: 1px solid #d5dae2; border-radius: .4rem; padding: .4rem .6rem; }
.headlines dt { font-size: .85rem; color: #4a5464; } .headlines dd { margin: 0; font-size: 1.25rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; }
th, td { border-bottom: 1px solid #e3e7ed; padding: .2rem .6rem; text-align: left; white-space: nowrap; }
td.n { text-align: right; font-variant-numeric: tabular-nums; }
thead th { position: sticky; top: 0; background: #fff; }
pre { overflow-x: auto; background: #f5f7fa; padding: .5rem; }
@media print {
  main { max-width: none; padding: 0; } nav, .modebar { display: none; }
  section { break-before: page; } .figures { display: block; } .part { display: none; }
  .decision, header { font-size: 12px; } .decision .answer { font-size: 14px; } .decision h3 { font-size: 13px; }
  .decision td, .decision th { padding: .05rem .4rem; } .decision details { display: none; }
  .decision p, .decision ul, .decision figure, .decision h3, h1, header p { margin: .25rem 0; } h1 { font-size: 20px; }
  .decision .headlines dd { font-size: 15px; } .decision .headlines small, .decision .small { font-size: 10px; }
  figure, tr, .headlines div { break-inside: avoid; }
  .wide { overflow: visible; } td, th { white-space: normal; overflow-wrap: anywhere; font-size: .7rem; }
  td.n { white-space: nowrap; }
  thead { display: table-header-group; }
}
"""


MOST_ROWS = 200
"""Of a table; the CSV bundle has all."""
LONG_ROWS = 12
"""A longer table is folded on screen, and opened for print."""

FIGURE = {"displaylogo": False, "showSendToCloud": False, "plotlyServerURL": "", "responsive": True}

DRAW = """
for (const place of document.querySelectorAll(".plot")) {
  const read = part => JSON.parse(document.getElementById(`${place.id}-${part}`).textContent);
  const figure = read("figure");
  Plotly.newPlot(place, figure.data, figure.layout, read("config"));
}
const folds = document.querySelectorAll("details.rows");
addEventListener("beforeprint", () => folds.forEach(one => { one.open = true; }));
"""


def report_html(report: Report) -> str:
    """Return the whole file; every text that came from a trace is escaped."""
    return "".join(_pieces(report))


def _pieces(report: Report) -> Iterator[str]:
    title = _text(f"Workload report: {titled(report.dataset.name)}")
    yield (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n{_plotly()}\n</head>\n<body>\n<main>\n"
    )
    yield f"<header><h1>{title}</h1>{_about(report)}</header>\n"
    if report.decision is not None:
        yield _decision(report.decision)
    yield _contents(report)
    for part, appendix in (("Evidence", False), ("Appendix", True)):
        within = [section for section in report.sections if section.kind.appendix == appendix]
        if within or appendix:
            yield f'<p class="part">{part}</p>\n'
        for section in within:
            yield _section(section)
    yield f"{_basis(report)}</main>\n<script>{DRAW}</script>\n</body>\n</html>\n"


def _plotly() -> str:
    from plotly.offline import get_plotlyjs  # noqa: PLC0415  heavy

    return f"<script>{get_plotlyjs()}</script>"


def _about(report: Report) -> str:
    dataset = report.dataset
    lost = f" ({lines_lost(report.lost)} when it was loaded)" if report.lost else ""
    rows = counted(dataset.rows, "run" if dataset.kind == JOBS else "row")
    facts = f"{rows}{lost} · {dataset.format} · {dataset.hash} · {report.created[:16].replace('T', ' ')} UTC"
    flag = '<p class="flag">Published definitions (the join of this dataset)</p>' if dataset.mode == "faithful" else ""
    shares = f"<p>{_text(in_words(report.machine_shares))}</p>" if report.machine_shares else ""
    note = f'<p class="note">{_text(report.note)}</p>' if report.note else ""
    return f"<p>{_text(facts)}</p>{flag}{shares}{note}"


NO_ROWS = "None."
"""Below the title of a table without rows."""


def _decision(decision: Decision) -> str:
    """Return the first page: what to do, one chart, the largest waste, the risks."""
    advice = f"<p>{_text(decision.advice)}</p>" if decision.advice else ""
    chart = _chart(decision.chart, "decision-0") if decision.chart is not None else ""
    risks = "".join(f"<li>{_text(words)}</li>" for words in decision.risks)
    text = f"<h3>Risks and limits</h3><ul>{risks}</ul>" if risks else ""
    tables = "".join(f"<h3>{_text(table.title)}</h3>{_rows(table)}" for table in decision.tables)
    return (
        f'<div id="decision" class="decision"><p class="answer">{_text(decision.summary)}</p>{advice}'
        f"{_headlines(decision.headlines)}{chart}{tables}{text}</div>\n"
    )


def _contents(report: Report) -> str:
    first = '<li><a href="#decision">Decision</a></li>' if report.decision is not None else ""
    items = first + "".join(
        f'<li><a href="#{section.kind.name}">{_text(section.kind.title)}</a></li>'
        for section in sorted(report.sections, key=lambda section: section.kind.appendix)
        if section.status == "done"
    )
    return f'<nav aria-label="Sections"><ul>{items}</ul></nav>\n'


def _section(section: Section) -> str:
    title = f"<h2>{_text(section.kind.title)}</h2>"
    if section.status != "done":
        words = f"{section.kind.title} is left out: {section.reason}"
        return f'<p id="{section.kind.name}" class="missing">{_text(words)}</p>\n'
    content = section.content
    flag = '<p class="flag">Published definitions</p>' if content.published else ""
    words = "".join(f"<p>{_text(text)}</p>" for text in content.words)
    drawn = "".join(_chart(chart, f"{section.kind.name}-{at}") for at, chart in enumerate(content.charts))
    figures = f'<div class="figures">{drawn}</div>' if drawn else ""
    tables = "".join(_table(table) for table in content.tables)
    settings = "".join(_settings(name, record) for name, record in content.settings.items())
    return (
        f'<section id="{section.kind.name}">{title}{flag}{_headlines(content.headlines)}{words}{figures}{tables}'
        f"{settings}</section>\n"
    )


def _headlines(headlines: tuple[Headline, ...]) -> str:
    if not headlines:
        return ""
    items = "".join(
        f'<div title="{_text(item.help)}"><dt>{_text(item.label)}</dt><dd>{_text(item.value)}'
        f"<small>{_text(item.detail)}</small></dd></div>"
        for item in headlines
    )
    return f'<dl class="headlines">{items}</dl>'


def _chart(chart: Chart, place: str) -> str:
    spec = readable(chart.figure, dark=False).update_layout(template="plotly_white").to_json()
    config = json.dumps(FIGURE | {"toImageButtonOptions": {"format": "svg", "filename": chart.name}})
    drawn = f'<div class="plot" id="{place}"></div>{_data(place + "-figure", spec)}{_data(place + "-config", config)}'
    note = f'<figcaption class="small">{_text(chart.note)}</figcaption>' if chart.note else ""
    return (
        f'<figure><p class="takeaway">{_text(chart.takeaway)}</p>'
        f'<div role="img" aria-label="{_text(chart.alt)}">{drawn}</div>{note}'
        f"<details><summary>Data</summary>{_rows(Table('', '', chart.data))}</details></figure>\n"
    )


def _data(place: str, document: str) -> str:
    """Return JSON as an element that is no code: a text in it cannot end the element."""
    safe = document.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return f'<script type="application/json" id="{place}">{safe}</script>'


def _table(table: Table) -> str:
    title, rows = _text(table.title), len(table.frame)
    if rows <= LONG_ROWS:
        return f"<h3>{title}</h3>{_rows(table)}"
    return f'<details class="rows"><summary>{title} ({rows:,} lines)</summary>{_rows(table)}</details>'


def _rows(table: Table) -> str:
    frame, told = table.frame, table.told
    if not len(frame):
        return f"<p>{NO_ROWS}</p>"
    if told is None:
        names = [heading(str(name)) for name in frame.columns]
        lines = ["".join(map(_td, row)) for row in frame.head(MOST_ROWS).itertuples(index=False, name=None)]
    else:
        names = [heading(column.title) for column in told.seen]
        lines = ["".join(_told(column, row) for column in told.seen) for row in told.rows[:MOST_ROWS]]
    head = "".join(f'<th scope="col">{_text(name)}</th>' for name in names)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    more = f'<p class="small">The first {MOST_ROWS} of {len(frame):,} rows; the CSV bundle has all.</p>'
    shown = f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    return shown + (more if len(frame) > MOST_ROWS else "")


def _told(column: Column, row: object) -> str:
    return f"<td{' class=n' if column.number else ''}>{_text(column.cell(row) or MISSING)}</td>"


def _td(value: object) -> str:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return f"<td{' class=n' if number else ''}>{_text(_cell(value))}</td>"


MANY = 1000
"""From here on no digits after the point."""


def _cell(value: object) -> str:
    if isinstance(value, float):
        if value != value:  # noqa: PLR0124  NaN alone differs from itself
            return "no data"
        return f"{value:,.0f}" if MANY <= abs(value) < math.inf else f"{value:.4g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return "" if value is None else str(value)


def _settings(name: str, record: object) -> str:
    shown = json.dumps(to_json(record), indent=1, ensure_ascii=False)
    return f"<details><summary>Settings: {_text(name)}</summary><pre>{_text(shown)}</pre></details>"


def _basis(report: Report) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in report.versions.items())
    return (
        f'<section id="methods"><h2>Methods and versions</h2><p>Dataset {_text(report.dataset.name)}, content hash '
        f"{report.dataset.hash}. Generated with {_text(versions)} in {_text(format_duration(report.seconds))}. Each "
        "section lists its settings; every number is the one that the page, the command and the library give for the "
        "same settings. The application's Help page describes the methods and their sources.</p></section>\n"
    )


def _text(text: object) -> str:
    return html.escape(visible(str(text)), quote=True)
