"""The look of a report on screen and on paper."""

STYLE = """
:root { color-scheme: light; }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; color: #1f2733; background: #fff; }
main { max-width: 1080px; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.7rem; } h2 { font-size: 1.35rem; border-top: 2px solid #3079cf; padding-top: .75rem; }
h3 { font-size: 1.05rem; margin-bottom: .25rem; }
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
thead th { position: sticky; top: 0; background: #fff; }
pre { overflow-x: auto; background: #f5f7fa; padding: .5rem; }
@media print {
  main { max-width: none; padding: 0; } nav, .modebar { display: none; }
  section { break-before: page; } figure, tr, .headlines div { break-inside: avoid; }
  .wide { overflow: visible; } td, th { white-space: normal; overflow-wrap: anywhere; font-size: .7rem; }
  thead { display: table-header-group; }
}
"""
