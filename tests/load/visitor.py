"""A browser tab without a browser: Streamlit's own web socket and messages, what the tab shows, and what can be done.

A run of the script answers with messages: `new_session` begins it, each `delta` puts an element or a block at a place
of the page, `script_finished` ends it. A tab sends the state of the controls that its visitor touched; Streamlit keeps
the others as they are.
"""

import asyncio
import contextlib
import urllib.parse
from dataclasses import dataclass, field

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg  # noqa: TID251  a tab speaks Streamlit's messages
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg  # noqa: TID251  a tab speaks Streamlit's messages
from streamlit.proto.WidgetStates_pb2 import WidgetState  # noqa: TID251  a tab speaks Streamlit's messages

PATIENCE_S = 240.0
CLOSING_S = 1.0
LARGEST_MESSAGE = 2**28
MAIN, SIDEBAR = 0, 1
CONTROLS = ("selectbox", "slider", "number_input", "button_group", "multiselect", "checkbox", "text_input", "button")
ENDS = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_WITH_COMPILE_ERROR)


class Troubled(AssertionError):
    """A page raised or the server did not answer; the message says where."""


@dataclass
class Tab:
    """One session: its page, its address, and the elements and blocks of its last answer by their place."""

    socket: websockets.ClientConnection
    name: str
    page: str = ""
    query: str = ""
    pages: dict = field(default_factory=dict)
    shown: dict = field(default_factory=dict)
    touched: dict = field(default_factory=dict)
    runs: int = 0

    async def visit(self, page="", **query):
        """Open an address, as a link does that is followed within the tab."""
        self.touched.clear()
        self.query = urllib.parse.urlencode(query, doseq=True)
        self.page = self.pages.get(page, "")
        return await self.run(page_name="" if self.page else page)

    async def change(self, state, *, once=False):
        """Set a control and return when the page has answered; `once` = a button's press, which is not kept."""
        self.touched[state.id] = state
        try:
            return await self.run()
        finally:
            if once:
                del self.touched[state.id]

    async def run(self, page_name=""):
        asked = BackMsg()
        rerun = asked.rerun_script
        rerun.query_string, rerun.page_script_hash, rerun.page_name = self.query, self.page, page_name
        rerun.widget_states.widgets.extend(self.touched.values())
        rerun.context_info.url = "http://127.0.0.1/"
        await self.socket.send(asked.SerializeToString())
        async with asyncio.timeout(PATIENCE_S):
            while not self._take(ForwardMsg.FromString(await self.socket.recv())):
                pass
        self.runs += 1
        self._forget_controls_that_are_gone()
        return self

    def of(self, kind, root=None):
        """Return the elements (or blocks) of a kind, in the order of the page."""
        places = sorted(place for place in self.shown if root is None or place[0] == root)
        found = [self.shown[place] for place in places]
        return [getattr(one, kind) for one in found if one.WhichOneof("type") == kind]

    def words(self):
        """Return every text of the page."""
        texts = [one.body for one in self.of("markdown", MAIN)] + [one.body for one in self.of("alert", MAIN)]
        texts += [one.body for one in self.of("heading", MAIN)]
        return "\n".join(texts + [f"{one.label} {one.body}" for one in self.of("metric", MAIN)])

    def everything(self):
        """Return every element of the page as bytes."""
        return [one.SerializeToString() for one in self.shown.values()]

    def labelled(self, kind, label):
        return next(one for one in self.of(kind) if one.label == label)

    def _take(self, message):
        """Take in one message and return whether the answer is complete."""
        kind = message.WhichOneof("type")
        if kind == "new_session":
            if not message.metadata.run.fragment_ids:
                self.shown.clear()
            self.page = message.new_session.page_script_hash
        elif kind == "navigation":
            self.pages = {one.url_pathname: one.page_script_hash for one in message.navigation.app_pages}
            self.page = message.navigation.page_script_hash
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "page_not_found":
            raise Troubled(f"{self.name}: page {message.page_not_found.page_name!r} was not found")
        elif kind == "delta":
            self._put(tuple(message.metadata.delta_path), message.delta)
        return kind == "script_finished" and message.script_finished in ENDS

    def _put(self, place, delta):
        kind = delta.WhichOneof("type")
        if kind == "new_element":
            self.shown[place] = delta.new_element
        elif kind == "add_block":
            self.shown[place] = delta.add_block

    def _forget_controls_that_are_gone(self):
        here = {getattr(one, one.WhichOneof("type")).id for one in self.shown.values() if _has_id(one)}
        self.touched = {name: state for name, state in self.touched.items() if name in here}


def _has_id(one):
    kind = one.WhichOneof("type")
    return kind is not None and "id" in getattr(one, kind).DESCRIPTOR.fields_by_name


@contextlib.asynccontextmanager
async def opened(port, name, page="", **query):
    """Give a new session that has opened an address."""
    address = f"ws://127.0.0.1:{port}/_stcore/stream"
    times = {"open_timeout": PATIENCE_S, "close_timeout": CLOSING_S, "ping_interval": None}
    options = {"subprotocols": ["streamlit"], "max_size": LARGEST_MESSAGE, "compression": None}
    async with websockets.connect(address, **times, **options) as socket:
        yield await Tab(socket, name).visit(page, **query)


def state(control, value):
    """Return what a tab sends once a control has been set to a value."""
    match value:
        case bool():
            return WidgetState(id=control.id, bool_value=value)
        case int() | float():
            return WidgetState(id=control.id, double_value=value)
        case str():
            return WidgetState(id=control.id, string_value=value)
    kept = WidgetState(id=control.id)
    kept.string_array_value.data.extend(value)
    return kept


def moved(slider, value):
    kept = WidgetState(id=slider.id)
    kept.double_array_value.data.append(value)
    return kept


def pressed(button):
    return WidgetState(id=button.id, trigger_value=True)
