"""The digest of a dataset: made of what its answers say, previewed, and sent where that is configured."""

import csv
import re
import smtplib
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from workprof.answers.digest import Letter, Outcome, digest_text, team_letter, user_letters
from workprof.core.alerts import Told
from workprof.core.errors import ColumnMissing, NotEnoughData, SettingsError
from workprof.core.progress import Progress, silent
from workprof.core.roles import NOTICE
from workprof.core.units import DAY_S
from workprof.store.outputs import write_whole
from workprof.watch import sending
from workprof.watch.numbers import checked
from workprof.workbench import Workbench

WEBHOOK, SMTP = "webhook", "smtp"
AGAIN_S = 14 * DAY_S
MOST_MAILS, PAUSE_S = 200, 0.05
"""Of one digest; what is more waits for the next one. Between two mails."""
ADDRESS = re.compile(r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*")
USER = "{user}"


def letters_of(
    bench: Workbench, dataset: str, again_s: float = AGAIN_S, progress: Progress = silent
) -> tuple[list[Letter], list[Outcome]]:
    """The team's page and the text of each user, and who gets none for which reason; computed where it is not kept."""
    entry, now_s = bench.dataset(dataset), time.time()
    verdict, changes, unknown = None, None, []
    try:
        verdict = bench.verdict(entry.hash, None, progress)
    except (ColumnMissing, NotEnoughData) as error:
        unknown.append(f"What to request is not known: {error}")
    try:
        changes = bench.changes(entry.hash, None, progress)
    except (ColumnMissing, NotEnoughData) as error:
        unknown.append(f"What changed is not known: {error}")
    if verdict is None and changes is None:
        raise NotEnoughData(f"there is nothing to send of {entry.name}. {'. '.join(unknown)}")
    alerts = checked(bench, (one for one in bench.alerts() if one.dataset == entry.name))
    for runs in bench.benchmarks_of(entry.hash):
        with suppress(NotEnoughData):
            bench.node_history(runs.hash, None, progress)
    nodes = [(runs.name, history) for runs, history in bench.followed_nodes(entry.hash)]
    letters = [team_letter((entry.name, entry.hash), verdict, changes, alerts, nodes, unknown)]
    if verdict is None:
        return letters, []
    told = {
        (who.removeprefix(f"{entry.name}\n"), what): at_s
        for (who, what), at_s in bench.told_before().items()
        if who.startswith(f"{entry.name}\n")
    }
    own, skipped = user_letters(entry.name, verdict, changes, told, bench.opted_out(), (now_s, again_s))
    team = told.get(("", entry.hash))
    if team is not None and now_s - team < again_s:
        letters = []
        skipped.insert(0, Outcome("", "", "skipped", "the same page was sent"))
    return [*letters, *own], skipped


def addresses_of(text: str) -> Callable[[str], str]:
    """What tells a user's address: a pattern such as '{user}@example.org', or a CSV file with columns user and address.

    A user without a safe address has none (''). Raises SettingsError for another text.
    """
    if not text:
        return lambda _: ""
    if USER in text:
        if not ADDRESS.fullmatch(text.replace(USER, "user")):
            raise SettingsError(f"--addresses is {text[:80]!r}; give such as {USER}@example.org, or a CSV file")
        return lambda user: _safe(text.replace(USER, user)) if "@" not in user else ""
    try:
        with Path(text).open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SettingsError(f"--addresses {text[:80]} cannot be read ({type(error).__name__})") from None
    if not rows or not {"user", "address"} <= rows[0].keys():
        raise SettingsError(f"--addresses {text[:80]} has no columns user and address")
    known = {row["user"]: _safe(row["address"] or "") for row in rows}
    return lambda user: known.get(user, "")


def _safe(address: str) -> str:
    return address if ADDRESS.fullmatch(address) else ""


def deliver(
    bench: Workbench, dataset: str, letters: Sequence[Letter], to: str, address_of: Callable[[str], str]
) -> list[Outcome]:
    """Send texts by webhook or mail, or write them to a file, and keep who was told of what.

    Raises:
        SettingsError: where the way is not configured.
        NotAllowed: to others than an admin.
    """
    if to in (WEBHOOK, SMTP):
        bench.refuse(NOTICE)
    name = bench.dataset(dataset).name
    if to == WEBHOOK:
        return [_one(bench, name, one, "", lambda one, _: sending.post(one)) for one in letters if not one.who]
    if to == SMTP:
        team = sending.setting(sending.TEAM)
        named = [(one, address_of(one.who) if one.who else _safe(team)) for one in letters]
        result: list[Outcome] = []
        with sending.mail_server() as server:
            for one in named:
                result.append(_mailed(bench, name, sum(each.state == "sent" for each in result), one, server))
        return result
    if "://" in to:
        raise SettingsError(f"--to takes no URL, which may be a secret: set {sending.WEBHOOK} and give --to {WEBHOOK}")
    write_whole(Path(to), digest_text(letters).encode())
    return [Outcome(one.who, "", "written") for one in letters]


def _mailed(bench: Workbench, name: str, sent: int, named: tuple[Letter, str], server: smtplib.SMTP) -> Outcome:
    letter, address = named
    if not address:
        return Outcome(letter.who, "", "skipped", "no address that can be used")
    if sent >= MOST_MAILS:
        return Outcome(letter.who, address, "skipped", f"{MOST_MAILS} mails were sent; the rest waits")
    time.sleep(PAUSE_S if sent else 0)
    return _one(bench, name, letter, address, lambda one, to: sending.mail(server, one, to))


def _one(bench: Workbench, name: str, letter: Letter, address: str, send: Callable[[Letter, str], None]) -> Outcome:
    result = Outcome(letter.who, address, "sent")
    try:
        send(letter, address)
    except sending.NotSent as error:
        return replace(result, state="failed", why=str(error))
    bench.told(Told(f"{name}\n{letter.who}", row, time.time()) for row in letter.rows)
    return result
