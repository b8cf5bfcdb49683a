"""Digests: what is said, to whom, once; nothing leaves without being configured, and names are hostile texts."""

import email
import email.policy
import ipaddress
import json
import ssl
import time
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.command_line import run_here
from tests.watch.conftest import HOSTILE, MONDAY
from workprof.answers.digest import Letter
from workprof.core.errors import NotAllowed, NotEnoughData, SettingsError, WorkprofError
from workprof.core.roles import Role
from workprof.store.reports import IngestOptions
from workprof.watch import sending
from workprof.watch.digest import addresses_of, deliver, letters_of
from workprof.workbench import Workbench

pytestmark = pytest.mark.slow

PATTERN = "{user}@example.org"


def digest(bench, *words):
    return run_here("digest", "jobs", *words, "--json", home=bench.settings.home)


def states(ran):
    return {one["who"]: (one["state"], one["why"]) for one in ran.json["outcomes"]}


def test_a_dry_run_shows_everything_and_sends_nothing(bench, webhook, mails):
    for to in ((), ("--to", "webhook"), ("--to", "smtp", "--addresses", PATTERN)):
        ran = digest(bench, *to)
        assert ran.status == 0
        assert ran.json["sent"] is False
        assert {one["who"] for one in ran.json["letters"]} == {"", "ann", "bob", HOSTILE}
    assert webhook.got == mails.got == []
    assert bench.told_before() == {}


def test_the_trace_that_was_loaded_last_is_meant_where_none_is_named(bench, tmp_path):
    named = digest(bench)
    assert run_here("digest", "--json", home=bench.settings.home).json["letters"] == named.json["letters"]
    of_ann = run_here("digest", "--user", "ann", home=bench.settings.home)
    assert (of_ann.status, of_ann.out.splitlines()[0]) == (0, "What changed in jobs: user ann")
    empty = run_here("digest", home=tmp_path / "empty")
    assert (empty.status, "no job trace is loaded" in empty.err) == (2, True)


def test_a_user_is_told_of_own_rows_alone(bench):
    letters, _ = letters_of(bench, "jobs")
    texts = {one.who: one.text for one in letters}
    assert "ann, train: lower 64 GB" in texts["ann"]
    assert "bob" not in texts["ann"]
    assert "eve" not in texts["ann"] + texts["bob"]
    assert "12 runs were killed" in texts[""]
    assert all(line.isprintable() for one in letters for line in (one.subject, *one.lines))


def test_the_page_says_what_could_not_be_told_and_why(bench, tmp_path):
    rows = "".join(f"j{at},ann,sort,{MONDAY + at * 3600},{MONDAY + at * 3600 + 3000},8e9,2e9\n" for at in range(60))
    head = "job_name,user,task_name,start_time_s,end_time_s,requested_memory_bytes,peak_memory_bytes\n"
    (tmp_path / "some.csv").write_text(head + rows)
    bench.ingest(tmp_path / "some.csv", IngestOptions(name="some days"))
    (page, *_), _ = letters_of(bench, "some days")
    assert "What changed is not known: no run starts before the last full week (2025-12-29 to 2026-01-04)" in page.text
    (tmp_path / "bare.csv").write_text("job_name,start_time_s,duration_s\nj1,1767571200,60\n")
    bench.ingest(tmp_path / "bare.csv", IngestOptions(name="bare"))
    with pytest.raises(
        NotEnoughData, match=r"nothing to send of bare\. What to request is not known: .*What changed is"
    ):
        letters_of(bench, "bare")


def test_mails_go_once_and_say_when_again(bench, mails):
    ran = digest(bench, "--to", "smtp", "--send", "--addresses", PATTERN)
    assert {to: state for to, (state, _) in states(ran).items()} == {
        "the team": "skipped", "ann": "sent", "bob": "sent", HOSTILE: "skipped"}  # fmt: skip
    assert sorted(to for to, _ in mails.got) == [["ann@example.org"], ["bob@example.org"]]
    message = email.message_from_bytes(mails.got[0][1], policy=email.policy.default)
    assert (message["From"], message["To"]) == ("workprof@example.org", "ann@example.org")
    assert message["Auto-Submitted"] == "auto-generated"
    assert "ann, train: lower 64 GB" in message.get_content()
    again = digest(bench, "--to", "smtp", "--send", "--addresses", PATTERN)
    assert len(mails.got) == 2
    today = time.strftime("%Y-%m-%d", time.gmtime())
    assert states(again)["ann"][1].startswith(f"sent on {today}, not again before ")
    digest(bench, "--to", "smtp", "--send", "--addresses", PATTERN, "--again", "0s")
    assert len(mails.got) == 4


def test_who_opted_out_gets_none_until_opted_in(bench, mails):
    assert states(digest(bench, "--opt-out", "ann", "--to", "smtp", "--send", "--addresses", PATTERN))["ann"] == (
        "skipped",
        "opted out",
    )
    assert [to for to, _ in mails.got] == [["bob@example.org"]]
    digest(bench, "--opt-in", "ann", "--to", "smtp", "--send", "--addresses", PATTERN)
    assert [to for to, _ in mails.got] == [["bob@example.org"], ["ann@example.org"]]


def test_a_refused_address_fails_alone_and_is_tried_again(bench, mails, tmp_path):
    table = tmp_path / "users.csv"
    table.write_text('user,address\nann,refused@example.org\nbob,bob@example.org\n"eve","x@example.org\nBcc: y"\n')
    ran = digest(bench, "--to", "smtp", "--send", "--addresses", str(table))
    assert ran.status == 2
    assert states(ran)["ann"][0] == "failed"
    assert states(ran)["bob"][0] == "sent"
    assert {who for who, _ in bench.told_before()} == {"jobs\nbob"}


def test_letters_without_an_address_take_no_mails_place(bench, mails, monkeypatch):
    monkeypatch.setattr("workprof.watch.digest.MOST_MAILS", 1)
    letters, _ = letters_of(bench, "jobs")
    known = {"bob": "bob@example.org", "ann": "ann@example.org"}
    ordered = sorted(letters, key=lambda one: one.who in known)
    told = deliver(bench, "jobs", ordered, "smtp", lambda user: known.get(user, ""))
    assert [one.state for one in told][-2:] == ["sent", "skipped"]
    assert len(mails.got) == 1


@pytest.mark.parametrize(
    "user", [HOSTILE, "a b", "a,b", "a@evil.example,", "a\r\nBcc: b@c.d", "<x>", "é", "", "x" * 70]
)
def test_a_name_that_makes_no_address_gets_none(user):
    assert addresses_of(PATTERN)(user) == ""


def test_addresses_that_are_none_are_refused(tmp_path):
    for wrong in ("{user}", "{user}@", "nowhere.csv", "x{user}\n@example.org"):
        with pytest.raises(SettingsError, match="--addresses"):
            addresses_of(wrong)


@pytest.mark.parametrize("kind", sending.KINDS)
def test_a_webhook_takes_the_page_as_plain_text(bench, webhook, monkeypatch, kind):
    monkeypatch.setenv("WORKPROF_WEBHOOK_KIND", kind)
    ran = digest(bench, "--to", "webhook", "--send")
    assert [state for state, _ in states(ran).values()] == ["sent"]
    (got,) = webhook.got
    text = json.dumps(got)
    assert "12 runs were killed" in text
    if kind == "slack":
        assert {one["text"]["type"] for one in got["blocks"]} == {"plain_text"}
        assert got["mrkdwn"] is False
    if kind == "teams":
        body = got["attachments"][0]["content"]["body"]
        assert {one["type"] for one in body} == {"RichTextBlock"}
    assert "\\r\\nBcc" not in text
    assert states(digest(bench, "--to", "webhook", "--send"))["the team"] == ("skipped", "the same page was sent")


def test_slack_reads_no_markup_of_a_name():
    got = json.loads(sending.body_of("slack", Letter("", "<!channel> & *x*", ("<b>",) * 2000, ())))
    assert got["text"] == "&lt;!channel&gt; &amp; *x*"
    assert max(len(one["text"]["text"]) for one in got["blocks"]) <= 3000


@pytest.mark.parametrize("status", [302, 404, 500])
def test_a_webhook_that_answers_otherwise_is_a_failure_without_its_url(bench, webhook, status):
    webhook.status = status
    ran = digest(bench, "--to", "webhook", "--send")
    assert ran.status == 2
    assert states(ran)["the team"] == ("failed", f"the webhook of WORKPROF_WEBHOOK_URL answered {status}")
    assert len(webhook.got) == 1
    assert "secret-path" not in ran.out + ran.err
    assert bench.told_before() == {}


def test_a_slow_webhook_is_given_up_and_not_posted_to_again(webhook):
    webhook.slow_s = 1.0
    with pytest.raises(sending.NotSent, match="cannot be reached"):
        sending.post(Letter("", "s", ("a",), ()), read_s=0.3)
    time.sleep(1.2)
    assert len(webhook.got) == 1


def test_nobody_there_is_a_failure_in_words(bench, monkeypatch):
    monkeypatch.setenv("WORKPROF_WEBHOOK_URL", "http://127.0.0.1:9/secret-path")
    ran = digest(bench, "--to", "webhook", "--send")
    assert (ran.status, states(ran)["the team"][0]) == (2, "failed")
    assert "secret-path" not in ran.out + ran.err
    monkeypatch.setenv("WORKPROF_SMTP_URL", "smtp://127.0.0.1:9")
    ran = digest(bench, "--to", "smtp", "--send", "--addresses", PATTERN)
    assert ran.status == 2
    assert "the mail server of WORKPROF_SMTP_URL failed" in ran.err


@pytest.mark.some(3)
@pytest.mark.parametrize(
    ("name", "value", "to"),
    [
        ("WORKPROF_WEBHOOK_URL", "", "webhook"),
        ("WORKPROF_WEBHOOK_URL", "http://example.org/x", "webhook"),
        ("WORKPROF_WEBHOOK_KIND", "fax", "webhook"),
        ("WORKPROF_SMTP_URL", "", "smtp"),
        ("WORKPROF_SMTP_URL", "smtps://me:hidden@example.org", "smtp"),
        ("WORKPROF_SMTP_URL", "ftp://example.org", "smtp"),
    ],
)
def test_what_is_not_configured_is_not_sent(bench, webhook, mails, monkeypatch, name, value, to):
    monkeypatch.setenv(name, value)
    ran = run_here("digest", "jobs", "--to", to, "--send", "--addresses", PATTERN, home=bench.settings.home)
    assert ran.status == 2
    assert name in ran.err
    assert "hidden" not in ran.err
    assert webhook.got == mails.got == []


def test_a_url_is_no_option(bench):
    ran = run_here("digest", "jobs", "--to", "https://hooks.example.org/x", "--send", home=bench.settings.home)
    assert ran.status == 2
    assert "set WORKPROF_WEBHOOK_URL" in ran.err


def test_a_secret_stands_in_a_file_that_only_its_owner_reads(webhook, monkeypatch, tmp_path):
    path = tmp_path / "url"
    path.write_text(f"http://127.0.0.1:{webhook.server_port}/x\n")
    monkeypatch.setenv("WORKPROF_WEBHOOK_URL", f"file:{path}")
    path.chmod(0o644)
    with pytest.raises(SettingsError, match="chmod 600"):
        sending.post(Letter("", "s", ("a",), ()))
    path.chmod(0o600)
    sending.post(Letter("", "s", ("a",), ()))
    assert webhook.got[0]["lines"] == ["a"]


def test_a_mail_server_whose_certificate_nobody_signed_gets_nothing(mails, monkeypatch):
    port = mails.server_address[1]
    monkeypatch.setenv("WORKPROF_SMTP_URL", f"smtps://127.0.0.1:{port}")
    with pytest.raises(WorkprofError, match="SSL"), sending.mail_server():
        pass
    assert mails.got == []


def self_signed(folder, address):
    """Write a key and a certificate that it signed itself; return both paths."""
    key, moment = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "sink")])
    signed = (
        x509.CertificateBuilder(name, name, key.public_key(), 1, moment - timedelta(days=1), moment + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    paths = folder / "key.pem", folder / "certificate.pem"
    plain = serialization.NoEncryption()
    form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    paths[0].write_bytes(key.private_bytes(*form, plain))
    paths[1].write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    return paths


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2"])
def test_mails_go_over_tls_that_the_named_certificate_signs(bench, mails, monkeypatch, tmp_path, address):
    """The sink's own certificate, whose address is that of the server, or another one's."""
    key, certificate = self_signed(tmp_path, address)
    mails.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    mails.tls.load_cert_chain(certificate, key)
    monkeypatch.setenv("WORKPROF_SMTP_CA", str(certificate))
    ran = digest(bench, "--to", "smtp", "--send", "--addresses", PATTERN)
    if address == "127.0.0.1":
        assert (ran.status, bool(mails.got), mails.secured) == (0, True, 1)
    else:
        assert (ran.status, mails.got) == (2, [])
        assert "the mail server of WORKPROF_SMTP_URL failed" in ran.err


def test_a_file_has_every_text_and_only_an_admin_sends(bench, webhook, tmp_path):
    path = tmp_path / "digest.txt"
    assert {state for state, _ in states(digest(bench, "--to", str(path))).values()} == {"written"}
    assert path.read_text().count("Your requests in jobs (to ") == 3
    letters, _ = letters_of(bench, "jobs")
    with Workbench(bench.settings.seen_by(Role.PLANNER)) as planner, pytest.raises(NotAllowed):
        deliver(planner, "jobs", letters, "webhook", addresses_of(""))
    assert webhook.got == []
