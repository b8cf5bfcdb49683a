"""The dashboard: the server that it runs in, and its page settings, gate, menu, and the page of the address."""

import os
import sys

import streamlit as st
from starlette.types import ASGIApp

from pages._frame import ahead, header, link, look
from pages._login import login
from pages._login.gate import Gate
from pages._login.strangers import Strangers
from workprof.core.errors import SettingsError
from workprof.core.settings import frame_ancestors, from_environment

# An inline picture: a material icon or an emoji would be fetched from another machine.
ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="5" cy="10" r="4" fill="#3079cf"/>'
    '<circle cx="11.5" cy="5" r="3" fill="#c9601f"/><circle cx="12" cy="12" r="2" fill="#2a8f57"/></svg>'
)


def show() -> None:
    """Run once for every answer to a visitor."""
    st.set_page_config(page_title="workprof", page_icon=ICON, layout="wide")
    st.session_state["app"] = True  # pages/_shell.py hands over to this file when a page was started without it
    pages = header.pages()
    page = st.navigation(pages, position="hidden")  # Streamlit's own menu would show every file of pages/ at first
    look.show()  # a phone's browser answers it at once, and names the page only if it has been told which one it is
    login.require_login(page)  # ends the run here for a visitor who has to log in first
    login.go_on(pages, page)
    link.watch(page.title)
    header.show(pages)
    login.account()
    page.run()


if __name__ == "__main__":  # Streamlit runs this file as the script of a visit
    show()
else:  # and loads it once as a module, before it listens
    app: ASGIApp = st.App(__file__)  # `streamlit run` looks for a name that is given such an application
    ahead.load_pages()
    try:
        app = Strangers(Gate(ahead.Ahead(app), from_environment().home), frame_ancestors(os.environ))
    except SettingsError as error:
        sys.exit(f"workprof: {error}")
