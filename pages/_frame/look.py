"""What Streamlit's theme has no setting for: the room that a page has, and the look of its answer."""

from typing import Any

import streamlit as st

HEADLINE = "answer"
"""Key of the container of the page's answer."""
HEADER = "page_header"
"""Key of the row of a page's title, dataset and buttons."""

CHOSEN = "light-dark(#1f66b0, #7db4f0)"
"""Of what is chosen: the theme's colours of links. Its primary colour has less than 4.5:1 on black."""
WINDOW = "window"
"""Key of what tells the width of the window."""
PHONE_PX = 640
JS = f"""
export default function ({{ data, setStateValue }}) {{
  const phone = matchMedia("(max-width: {PHONE_PX}px)");
  const tell = () => {{ if (phone.matches !== data.narrow) setStateValue("narrow", phone.matches); }};
  tell();
  phone.addEventListener("change", tell);
  return () => phone.removeEventListener("change", tell);
}}
"""
_WINDOW = st.components.v2.component("workprof_window", js=JS)
CSS = f"""
<style>
@media (min-width: 768px) {{
  [data-testid="stMainBlockContainer"] {{ max-width: calc(1400px + 6rem); padding: 1.25rem 3rem 2rem; }}
  [data-testid="stHeader"] {{ background: transparent; }}
  [data-testid="stHeader"], [data-testid="stHeader"] * {{ pointer-events: none; }}
  [data-testid="stHeader"] button, [data-testid="stHeader"] button * {{ pointer-events: auto; }}
}}
@media (max-width: {PHONE_PX}px) {{
  [data-testid="stMainBlockContainer"] {{ padding-bottom: 1.5rem; }}
  [data-testid="stMainBlockContainer"] [data-testid="stVerticalBlock"] {{ gap: 0.45rem; }}
  .st-key-{HEADER} {{ flex-wrap: nowrap; gap: 0.25rem; }}
  .st-key-{HEADER} > * {{ flex-shrink: 0; }}
  .st-key-{HEADER} > :first-child {{ flex-grow: 1; }}
  .st-key-{HEADER} > :has(.stMarkdownBadge) {{ min-width: 0; flex-shrink: 1; }}
  .st-key-{HEADER} h1 {{ font-size: 1.15rem; white-space: nowrap; }}
  .st-key-{HEADER} .stMarkdownBadge {{ max-width: 5rem; overflow: hidden; text-overflow: ellipsis; }}
  .st-key-{HEADER} button {{ padding-inline: 0.3rem; }}
  .st-key-{HEADER} .stButton button p {{  /* its icon is seen, its name is read aloud */
    position: absolute; width: 0.1rem; height: 0.1rem; overflow: hidden; clip-path: circle(0); white-space: nowrap; }}
  .st-key-{HEADER} .wp-copy {{ font-size: 0; border: 0; }}
  .st-key-{HEADER} .wp-copy::before {{ content: "link"; font: 1.25rem "Material Symbols Rounded"; }}
}}
:is([data-testid="stMetric"], [data-testid="stBaseButton-tertiary"]) :is(.stMarkdownEllipsis, .stMarkdownEllipsis p) {{
  white-space: normal; overflow: visible; }}
[data-testid="stMetric"] [data-testid="stMetricDelta"] {{ border-radius: 0.6rem; }}
@media (hover: none) {{ .modebar-container, [data-testid="stElementToolbar"] {{ display: none !important; }} }}
.st-key-{WINDOW} {{ display: none; }}
/* The tour begun on Home. */
[data-testid="stSidebar"]:not(:has([data-testid="stElementContainer"])) {{ display: none; }}
[data-testid="stBaseButton-tertiary"] p {{ text-align: left; }}
.st-key-{HEADLINE} p {{ font-size: 1.2rem; line-height: 1.4; }}
[role="tab"][aria-selected="true"] p, [data-testid="stSliderThumbValue"],
[data-testid="stButtonGroup"] [data-selected="true"] p {{ color: {CHOSEN}; }}
</style>
"""


def show() -> None:
    """Send the style, and what tells the width of the window; they take no room on the page."""
    st.html(CSS)
    _WINDOW(key=WINDOW, data={"narrow": narrow()}, on_narrow_change=lambda: None)


def narrow() -> bool:
    """Return whether the window is as narrow as a phone; a first visit counts as wide until its browser tells."""
    window: Any = st.session_state.get(WINDOW) or {}
    return bool(window.get("narrow"))
