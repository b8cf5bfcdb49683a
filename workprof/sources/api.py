"""A server's HTTP API: secrets, retries with back-off, errors in words, answers of a bounded size."""

import json
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlencode

from workprof.core.errors import WorkprofError
from workprof.sources.source import Credentials, secret

TRIES, BACKOFF_S, LONGEST_BACKOFF_S = 4, 0.5, 30.0
CONNECT_S, READ_S = 10.0, 180.0
LARGEST_ANSWER_BYTES = 400_000_000
AGAIN = (429, 502, 503, 504)
FORBIDDEN = (401, 403)
EXCERPT = 200


class SourceUnreachable(WorkprofError):
    """A source did not answer, or only in part; the last good state stays."""


class Refused(SourceUnreachable):
    """The server answered that it will not do what was requested."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class Api:
    """One server; use it as a context."""

    def __init__(self, url: str, credentials: Credentials, more_headers: Mapping[str, str] | None = None) -> None:
        import urllib3  # noqa: PLC0415  most commands ask no server

        self.url = url.rstrip("/")
        headers = dict(more_headers or {})
        if credentials.password:
            headers |= urllib3.make_headers(basic_auth=f"{credentials.user}:{secret(credentials.password)}")
        elif credentials.token and "authorization" not in {name.lower() for name in headers}:
            headers["Authorization"] = f"Bearer {secret(credentials.token)}"
        headers |= {name: secret(reference) for name, reference in credentials.headers.items()}
        retries = urllib3.Retry(
            total=TRIES,
            redirect=0,  # a secret goes to the named server alone
            backoff_factor=BACKOFF_S,
            backoff_max=LONGEST_BACKOFF_S,
            status_forcelist=AGAIN,
            allowed_methods=None,  # every question here can be put again
            raise_on_status=False,
            raise_on_redirect=False,
        )
        self._pool = urllib3.PoolManager(
            headers=headers,
            retries=retries,
            timeout=urllib3.Timeout(connect=CONNECT_S, read=READ_S),
            ca_certs=credentials.ca_file or None,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._pool.clear()

    def json(self, path: str, query: Mapping[str, str] | None = None, *, post: bool = False) -> Any:
        """The JSON that the server answers.

        Raises:
            Refused: when its status is an error; with the server's own words.
            SourceUnreachable: when it does not answer, or not with whole JSON.
        """
        import urllib3  # noqa: PLC0415  as above

        text = urlencode(query or {})
        shown = f"{self.url}{path}"
        try:
            if post:
                form = {"Content-Type": "application/x-www-form-urlencoded"}
                answer = self._pool.request(
                    "POST", shown, body=text, headers={**self._pool.headers, **form}, preload_content=False
                )
            else:
                answer = self._pool.request("GET", f"{shown}?{text}" if text else shown, preload_content=False)
            body = answer.read(LARGEST_ANSWER_BYTES + 1)
            answer.release_conn()
        except urllib3.exceptions.MaxRetryError as error:
            raise SourceUnreachable(
                f"{shown} cannot be reached ({_words(error.reason)}), tried {TRIES + 1} times"
            ) from error
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise SourceUnreachable(f"{shown} broke off ({_words(error)})") from error
        if len(body) > LARGEST_ANSWER_BYTES:
            raise Refused(f"{shown}: the answer is larger than {LARGEST_ANSWER_BYTES:,} bytes", 413)
        if answer.status != 200:
            raise Refused(f"{shown} answered {answer.status} ({_told(body)}){_advice(answer.status)}", answer.status)
        try:
            return json.loads(body)
        except ValueError as error:
            raise SourceUnreachable(f"{shown} answered no whole JSON ({_told(body)})") from error


def _words(error: BaseException | None) -> str:
    cause = getattr(error, "reason", None)
    inner = cause if isinstance(cause, BaseException) else error
    return " ".join(str(inner).rsplit(": ", 1)[-1].split())[:EXCERPT] or type(inner).__name__


def _told(body: bytes) -> str:
    text = body[: 4 * EXCERPT].decode("utf-8", "replace")
    try:
        document = json.loads(body) if len(body) < 1_000_000 else None
    except ValueError:
        document = None
    if isinstance(document, dict):
        text = str(document.get("error") or document.get("message") or text)
    return " ".join(text.split())[:EXCERPT] or "no words"


def _advice(status: int) -> str:
    return "; check the token or password, and whether it has expired" if status in FORBIDDEN else ""
