"""`workprof digest DATASET`: one page for the team and one text per user; a dry run unless --send is given."""

from typing import Annotated

import typer

from workprof.cli.console import Home, Json, dataset_names, emit, opened, progress_line, width

NAMED = "Name, or 8 characters of the hash; default: the job trace that was loaded last."
ADDRESSES = "Of users: '{user}@example.org', or a CSV file with columns user and address."
TO = "webhook, smtp, or a FILE. Where the first two lead stands in the environment."


def digest(
    dataset: Annotated[str, typer.Argument(help=NAMED, show_default=False, autocompletion=dataset_names)] = "",
    to: Annotated[str, typer.Option("--to", help=TO, show_default=False)] = "",
    send: Annotated[bool, typer.Option("--send", help="Send it; else it is shown alone.")] = False,
    addresses: Annotated[str, typer.Option("--addresses", help=ADDRESSES, envvar="WORKPROF_MAIL_ADDRESSES")] = "",
    again: Annotated[str, typer.Option("--again", help="Send nobody the same row sooner.")] = "14d",
    opt_out: Annotated[str, typer.Option("--opt-out", metavar="USER", help="Send this user none any more.")] = "",
    opt_in: Annotated[str, typer.Option("--opt-in", metavar="USER", help="Send this user one again.")] = "",
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Show what changed and whom it concerns: a page for the team, own rows for each user; --send sends it."""
    from workprof.answers.digest import Outcome, digest_answer, digest_text  # noqa: PLC0415  `--version` stays quick
    from workprof.core.answer import to_json, to_text  # noqa: PLC0415
    from workprof.core.errors import SettingsError  # noqa: PLC0415
    from workprof.core.scope import split  # noqa: PLC0415
    from workprof.sources.source import seconds_of  # noqa: PLC0415
    from workprof.watch.digest import SMTP, WEBHOOK, addresses_of, deliver, letters_of  # noqa: PLC0415
    from workprof.workbench import JOBS  # noqa: PLC0415

    address_of = addresses_of(addresses)
    if send and not to:
        raise SettingsError("--send needs --to: webhook, smtp or a FILE")
    with opened(home) as workbench:
        if not split(dataset)[0]:
            newest = next((one for one in workbench.datasets() if one.kind == JOBS), None)
            if newest is None:
                raise SettingsError("no job trace is loaded; `workprof ingest FILE` loads one")
            dataset = f"{newest.hash}{dataset}"
        for user, back in ((opt_out, False), (opt_in, True)):
            if user:
                workbench.opt_out(user, again=back)
        letters, skipped = letters_of(workbench, dataset, seconds_of(again, "--again"), progress_line())
        writes = to not in ("", SMTP, WEBHOOK)
        done = (
            deliver(workbench, dataset, letters, to, address_of)
            if send or writes
            else [Outcome(one.who, address_of(one.who) if one.who else "", "preview") for one in letters]
        )
    answer = digest_answer(letters, [*done, *skipped], to, sent=send or writes)
    preview = "" if send or writes else f"{digest_text(letters)}\n"
    emit(to_json(answer), as_json, lambda: f"{preview}{to_text(answer, width())}")
    if any(one.state == "failed" for one in done):
        raise typer.Exit(2)


def register(tree: typer.Typer) -> None:
    """Add the command to the tree."""
    tree.command()(digest)
