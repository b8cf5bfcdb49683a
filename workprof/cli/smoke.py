"""Open every page of a running dashboard once, without a browser, and tell what went wrong."""

import json
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any

PATH = "/_stcore/agent/interact"
PATIENCE_S = 120.0


@dataclass(frozen=True)
class OpenedPage:
    """One page: its name, and the problem that opening it met ('' = none)."""

    name: str
    problem: str


def open_every_page(base_url: str) -> tuple[OpenedPage, ...]:
    """Return how every registered page opened.

    The server runs with Streamlit's agent interface on (for this check only): a request opens a page the way a browser
    would and answers when its script has finished.
    """
    first = _request(base_url, {})
    session = first["session_id"]
    opened = []
    for page in first["pages"]:
        snapshot = _request(base_url, {"session_id": session, "page": page["url_path"]})
        opened.append(OpenedPage(page["title"], _problem(snapshot)))
    return tuple(opened)


def _request(base_url: str, body: dict[str, Any]) -> dict[str, Any]:
    end = time.monotonic() + PATIENCE_S
    while True:
        status, result = _post(base_url + PATH, body)
        if status == 202 and time.monotonic() < end:  # still running: wait for the same run
            body = {"session_id": result["session_id"]}
            continue
        return result


def _post(url: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as response:  # noqa: S310  loopback, our own server
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, {"status": "error", "error": {"message": f"HTTP {error.code}: {error.read(300)!r}"}}


def _problem(snapshot: dict[str, Any]) -> str:
    if snapshot.get("status") == "ready":
        return ""
    raised = [node for node in _nodes(snapshot.get("tree")) if node.get("type") == "exception"]
    result = [str(node["props"].get("message", "")) for node in raised]
    return "; ".join(result) or str(snapshot.get("error", "the page raised"))


def _nodes(tree: Any) -> list[dict[str, Any]]:
    if isinstance(tree, list):
        return [node for item in tree for node in _nodes(item)]
    if not isinstance(tree, dict):
        return []
    here = [tree] if "type" in tree else []
    return here + [node for item in tree.values() for node in _nodes(item)]
