"""What Streamlit's theme has no setting for: the room that a page has, and the look of its answer."""

from __future__ import annotations

import streamlit as st

from pages._parts.figures import ANSWER

CHOSEN = "light-dark(#1f66b0, #7db4f0)"
"""Of what is chosen: the theme's colours of links. Its primary colour has less than 4.5:1 on black."""
CSS = f"""
<style>
@media (min-width: 768px) {{
  [data-testid="stMainBlockContainer"] {{ max-width: calc(1400px + 6rem); padding: 1.25rem 3rem 4rem; }}
  [data-testid="stHeader"] {{ background: transparent; }}
  [data-testid="stHeader"], [data-testid="stHeader"] * {{ pointer-events: none; }}
  [data-testid="stHeader"] button, [data-testid="stHeader"] button * {{ pointer-events: auto; }}
}}
.st-key-{ANSWER} p {{ font-size: 1.2rem; line-height: 1.4; }}
[role="tab"][aria-selected="true"] p, [data-testid="stSliderThumbValue"],
[data-testid="stButtonGroup"] [data-selected="true"] p {{ color: {CHOSEN}; }}
</style>
"""


def show() -> None:
    """Send the style; it takes no room on the page."""
    st.html(CSS)
