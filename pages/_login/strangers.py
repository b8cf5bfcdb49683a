"""What pages of other sites may do with this server: nothing, but for the frames that the operator allows.

An ASGI application around Streamlit's own. Streamlit admits a session to other sites by looking for their address among
its own ones, and asks a machine of the internet for one of those: so the question is answered here, before it.
"""

import logging
import urllib.parse
from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

RESPONSES = {"http.response.start", "websocket.accept"}
POLICY_VIOLATION = 1008
"""Status of a closed web socket (RFC 6455, section 7.4.1)."""

_LOG = logging.getLogger(__name__)


class Strangers:
    """An application whose every answer says who may frame it, and whose sessions are for its own pages alone.

    `ancestors` are origins of pages that may frame it, besides its own.
    """

    def __init__(self, app: ASGIApp, ancestors: Sequence[str] = ()) -> None:
        policy = " ".join(("frame-ancestors", "'self'", *ancestors))
        self._app = app
        self._headers = [
            (b"content-security-policy", policy.encode("ascii")),
            (b"x-content-type-options", b"nosniff"),
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""

        async def respond(message: Message) -> None:
            if message["type"] in RESPONSES:
                ours = {name for name, _ in self._headers}
                others = [one for one in message.get("headers", ()) if one[0].lower() not in ours]
                message = {**message, "headers": [*others, *self._headers]}
            await send(message)

        if scope["type"] == "websocket" and not from_own_page(headers := Headers(scope=scope)):
            refusal = "a page of %.200r requested a session of %.200r: refused (a proxy must pass the Host header on)"
            _LOG.warning(refusal, headers.get("origin"), headers.get("host"))
            await send({"type": "websocket.close", "code": POLICY_VIOLATION})  # answered with status 403
            return
        await self._app(scope, receive, respond)


def from_own_page(headers: Headers) -> bool:
    """Return whether a web socket is requested by a page of this server, or by a program that is no browser.

    The port counts, too: another program of this machine has pages of its own. The comparison is Streamlit's, to the
    letter: where it does not hold, Streamlit goes on to look for its own addresses.
    """
    origin = headers.get("origin")
    if origin is None:  # browsers always tell it
        return True
    try:
        return urllib.parse.urlparse(origin).netloc == headers.get("host")
    except ValueError:
        return False
