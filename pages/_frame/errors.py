"""What a page shows when something goes wrong: a clear sentence, or a number to look up in the log."""

import contextlib
import logging
import uuid
from collections.abc import Iterator

import streamlit as st

from workprof.core.errors import ColumnMissing, HomeBusy, NoRows, NotEnoughData, WorkprofError
from workprof.core.words import markdown_text

LOG = logging.getLogger("workprof.pages")
LONGEST_MESSAGE = 1200


@contextlib.contextmanager
def guard() -> Iterator[None]:
    """Show an error of the body as a panel; the rest of the page stays."""
    try:
        yield
    except HomeBusy as error:
        _busy(str(error))
    except (ColumnMissing, NoRows, NotEnoughData) as error:
        lacking(str(error))
    except WorkprofError as error:
        refused(str(error))
    except Exception:
        error_id = uuid.uuid4().hex[:8]
        LOG.exception("error %s", error_id)
        st.error(
            f"This part of the page failed (error **{error_id}**). The server's log has the details under that number; "
            "your data and results are unchanged.",
            icon=":material/report:",
        )


def lacking(message: str) -> None:
    """Show what a dataset lacks for an answer; nothing went wrong."""
    words = markdown_text(message[:1].upper() + message[1:], LONGEST_MESSAGE)
    st.info(words if words.endswith(".") else f"{words}.", icon=":material/info:")


def refused(message: str) -> None:
    """Show a refusal that the user can act on."""
    st.error(markdown_text(message, LONGEST_MESSAGE), icon=":material/error:")


def _busy(message: str) -> None:
    st.title("The home folder is in use")
    st.warning(markdown_text(message, LONGEST_MESSAGE), icon=":material/lock:")
    st.write("End the other program, or start this one with another home folder, then try again.")
    st.button("Try again", type="primary")
