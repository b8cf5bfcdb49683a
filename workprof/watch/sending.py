"""Ways out: a webhook (Slack, Teams, or JSON) and SMTP. Where they lead comes from the environment alone.

No message names an address that is a secret. Nothing is followed: redirects are errors.
"""

import contextlib
import ipaddress
import json
import os
import smtplib
import ssl
from collections.abc import Iterator
from email.errors import MessageError
from email.message import EmailMessage
from urllib.parse import urlsplit

from workprof.answers.digest import Letter
from workprof.core.errors import SettingsError, WorkprofError
from workprof.sources.source import secret

WEBHOOK, KIND = "WORKPROF_WEBHOOK_URL", "WORKPROF_WEBHOOK_KIND"
SMTP, PASSWORD, SENDER, TEAM = (
    *("WORKPROF_SMTP_URL", "WORKPROF_SMTP_PASSWORD", "WORKPROF_MAIL_FROM", "WORKPROF_MAIL_TO"),
)
CERTIFICATES = "WORKPROF_SMTP_CA"
SLACK, TEAMS, JSON = KINDS = ("slack", "teams", "json")
CONNECT_S, READ_S = 5.0, 10.0
TRIES, BACKOFF_S = 2, 0.5
BLOCK = 2_900
"""Characters of a block, of which Slack takes 3,000."""


class NotSent(WorkprofError):
    """Something could not be sent."""


def setting(name: str, what: str = "") -> str:
    """The value of a variable, or what the 0600 file holds that it names as file:PATH; '' where it may be missing.

    Raises SettingsError where something is needed (`what`) and not set.
    """
    value = os.environ.get(name, "").strip()
    if not value and what:
        raise SettingsError(f"{name} is not set; set it to {what}, or to file:PATH of a file that only you may read")
    return secret(value) if value.startswith("file:") else value


def body_of(kind: str, letter: Letter) -> bytes:
    """What a webhook of a kind takes, as plain text: no name is read as markup.

    Raises SettingsError for another kind.
    """
    if kind == SLACK:
        text = "\n".join(letter.lines)
        parts = [text[at : at + BLOCK] for at in range(0, len(text), BLOCK)]
        plain = [{"type": "section", "text": {"type": "plain_text", "text": one, "emoji": False}} for one in parts]
        head = {"type": "header", "text": {"type": "plain_text", "text": letter.subject[:150], "emoji": False}}
        escaped = letter.subject.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        return json.dumps({"text": escaped, "mrkdwn": False, "blocks": [head, *plain]}).encode()
    if kind == TEAMS:
        runs = [[{"type": "TextRun", "text": one}] for one in (letter.subject, *letter.lines) if one]
        card = {
            "type": "AdaptiveCard",
            "version": "1.4",
            "body": [{"type": "RichTextBlock", "inlines": one} for one in runs],
        }
        about = {"contentType": "application/vnd.microsoft.card.adaptive", "content": card}
        return json.dumps({"type": "message", "attachments": [about]}).encode()
    if kind == JSON:
        return json.dumps({"subject": letter.subject, "lines": letter.lines, "text": letter.text}).encode()
    raise SettingsError(f"{KIND} is {kind!r}; give {', '.join(KINDS)}")


def post(letter: Letter, read_s: float = READ_S) -> None:
    """Send a text to the webhook of the environment.

    Raises:
        SettingsError: where it is not configured.
        NotSent: where it refuses, is too slow or cannot be reached.
    """
    import urllib3  # noqa: PLC0415  most commands send nothing

    url, kind = setting(WEBHOOK, "the URL of a webhook"), setting(KIND) or JSON
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname or "")):
        raise SettingsError(f"{WEBHOOK} is no https:// URL; only a webhook on this machine may have http://")
    retries = urllib3.Retry(
        total=TRIES,
        connect=TRIES,
        read=0,  # it may have come through
        redirect=0,
        status_forcelist=(429, 503),
        allowed_methods=None,
        backoff_factor=BACKOFF_S,
        respect_retry_after_header=False,
        raise_on_status=False,
        raise_on_redirect=False,
    )
    with urllib3.PoolManager(retries=retries, timeout=urllib3.Timeout(connect=CONNECT_S, read=read_s)) as pool:
        try:
            answer = pool.request("POST", url, body=body_of(kind, letter), headers={"Content-Type": "application/json"})
        except (urllib3.exceptions.HTTPError, OSError) as error:
            why = getattr(error, "reason", None) or error
            raise NotSent(f"the webhook of {WEBHOOK} cannot be reached ({type(why).__name__})") from None
    if not 200 <= answer.status < 300:
        raise NotSent(f"the webhook of {WEBHOOK} answered {answer.status}")


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


@contextlib.contextmanager
def mail_server() -> Iterator[smtplib.SMTP]:
    """The mail server of the environment, over TLS; one on this machine may do without, if no certificates are named.

    Raises:
        SettingsError: where it is not configured.
        NotSent: where it cannot be reached, or refuses the login.
    """
    url = urlsplit(setting(SMTP, "smtps://USER@HOST:465 or smtp://HOST:587"))
    try:
        host, port = url.hostname or "", url.port
    except ValueError:
        host, port = "", None
    if url.scheme not in ("smtp", "smtps") or not host or url.password:
        raise SettingsError(f"{SMTP} is no smtps://USER@HOST:465 or smtp://HOST:587; a password goes to {PASSWORD}")
    context = ssl.create_default_context(cafile=setting(CERTIFICATES) or None)
    try:
        if url.scheme == "smtps":
            server: smtplib.SMTP = smtplib.SMTP_SSL(host, port or 465, timeout=READ_S, context=context)
        else:
            server = smtplib.SMTP(host, port or 587, timeout=READ_S)
        with server:
            if url.scheme == "smtp" and (not is_loopback(host) or setting(CERTIFICATES)):
                server.starttls(context=context)
            if url.username:
                server.login(url.username, setting(PASSWORD, "the password"))
            yield server
    except (smtplib.SMTPException, OSError) as error:
        raise NotSent(f"the mail server of {SMTP} failed ({_code(error)})") from None


def mail(server: smtplib.SMTP, letter: Letter, address: str) -> None:
    """Send a text to an address; raises NotSent where the server refuses it."""
    message = EmailMessage()
    try:
        message["From"], message["To"], message["Subject"] = setting(SENDER, "the sender"), address, letter.subject
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(letter.text)
        server.send_message(message)
    except (smtplib.SMTPException, MessageError, ValueError, OSError) as error:
        raise NotSent(f"the mail server of {SMTP} refused {address} ({_code(error)})") from None


def _code(error: Exception) -> str:
    return f"{type(error).__name__} {getattr(error, 'smtp_code', '')}".strip()
