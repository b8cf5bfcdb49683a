"""The dashboard: page settings and the list of pages. A page stands here once it works."""

import streamlit as st

PAGES = {
    "": [
        st.Page("pages/home.py", title="Home", icon=":material/home:", default=True, help="Where you are."),
    ],
    "Profile": [
        st.Page("pages/data.py", title="Data", icon=":material/database:", url_path="data", help="Load and inspect."),
        st.Page(
            "pages/profiles.py",
            title="Profiles",
            icon=":material/bubble_chart:",
            url_path="profiles",
            help="Kinds of jobs.",
        ),
        st.Page(
            "pages/classify.py",
            title="Classify",
            icon=":material/label:",
            url_path="classify",
            help="A job before it runs.",
        ),
        st.Page("pages/sweep.py", title="Sweep", icon=":material/tune:", url_path="sweep", help="Which settings suit."),
        st.Page(
            "pages/durations.py",
            title="Durations",
            icon=":material/timer:",
            url_path="durations",
            help="How long, and how sure.",
        ),
        st.Page(
            "pages/memory.py",
            title="Memory",
            icon=":material/memory:",
            url_path="memory",
            help="What sizes save and break.",
        ),
    ],
}

# An inline picture: a material icon or an emoji would be fetched from another machine.
ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="5" cy="10" r="4" fill="#3079cf"/>'
    '<circle cx="11.5" cy="5" r="3" fill="#c9601f"/><circle cx="12" cy="12" r="2" fill="#2a8f57"/></svg>'
)

st.set_page_config(page_title="workprof", page_icon=ICON, layout="wide")
st.session_state["app"] = True  # pages/_shell.py hands over to this file when a page was started without it
page = st.navigation(PAGES, position="hidden")  # Streamlit's own menu would show every file of pages/ at first
with st.sidebar:
    for section, members in PAGES.items():
        if section:
            st.caption(section)
        for member in members:
            st.page_link(member, width="stretch")
page.run()
