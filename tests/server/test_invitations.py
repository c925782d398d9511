"""Invitations with a real issuer and a real intake: one report each, and nothing joins the two."""

from __future__ import annotations

import json
import secrets
import shutil
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from deniable_client import Device, fetch_survey, submit
from deniable_client.cli import answer
from deniable_client.invitation import blind, unblind
from deniable_protocol import PublicKey, SubmitError, Survey, TokenError
from deniable_server import create_app
from deniable_server.cli import serve
from deniable_server.invite_cli import invite
from deniable_server.issuer import Issuer, _hash
from deniable_server.life import Limits
from deniable_server.services import services

from .running import Server
from .samples import SOURCE, SURVEY, body, report
from .verbs import Run, fill, published_file, typed_for

ANSWERS = {"order": True, "dish": "c"}


@pytest.fixture
def issuer(tmp_path: Path) -> Issuer:
    return Issuer(tmp_path / "issuer.db")


@pytest.fixture
def survey(issuer: Issuer) -> Survey:
    return Survey.load(SOURCE | {"name": "invited", "invite_key": issuer.key("invited").published})


@pytest.fixture
def url(tmp_path: Path, issuer: Issuer, survey: Survey) -> Iterator[str]:
    """Serve intake and issuer from one process, as one operator may."""
    with served(tmp_path, survey, tmp_path / "issuer.db") as server:
        yield address(server)


def served(folder: Path, survey: Survey, issuer: Path) -> Server:
    return Server(folder, published=survey, options=["--issuer", str(issuer)])


def address(server: Server) -> str:
    return f"http://127.0.0.1:{server.port}/s/invited"


def stored(tmp_path: Path) -> tuple[int, int]:
    with closing(sqlite3.connect(tmp_path / "survey.db")) as db:
        ((reports,),) = db.execute("SELECT count(*) FROM reports_invited_1")
        ((spent,),) = db.execute("SELECT count(*) FROM spent")
    return reports, spent


def test_from_code_to_report(tmp_path: Path, issuer: Issuer, survey: Survey, url: str) -> None:
    """A code is redeemed, later a report is sent with its token, and both happen once."""
    (code,) = issuer.invite("invited", 1)
    device = Device(tmp_path / "device.db")
    fetched = fetch_survey(url)
    assert fetched == survey
    with pytest.raises(TokenError, match="redeem your code first"):
        device.respond(fetched, ANSWERS)
    device.redeem(fetched, code.lower().replace("-", " "), url)
    device.redeem(fetched, code, url)  # changes nothing
    device.respond(fetched, ANSWERS)
    assert device.submit(fetched, url).new
    assert stored(tmp_path) == (1, 1)
    assert issuer.used("invited") == (1, 1)
    other = Device(tmp_path / "other.db")
    with pytest.raises(SubmitError, match="403"):
        other.redeem(fetched, code, url)
    with pytest.raises(SubmitError, match="403"):
        other.redeem(fetched, "AAAA-AAAA-AAAA-AAAA", url)


def test_one_token_one_report(tmp_path: Path, issuer: Issuer, survey: Survey, url: str) -> None:
    """Twenty reports sent at once with one token: one is stored, the others are told why not."""
    (code,) = issuer.invite("invited", 1)
    device = Device(tmp_path / "device.db")
    device.redeem(survey, code, url)
    token = str(device.respond(survey, ANSWERS).token)
    reports = [report(survey, token=token) for _ in range(20)]

    def send(number: int) -> str:
        try:
            return "new" if submit(reports[number], url).new else "same"
        except SubmitError as error:
            return str(error)

    with ThreadPoolExecutor(20) as pool:
        found = sorted(pool.map(send, range(20)))
    assert [text[:23] for text in found] == ["new"] + ["the server answered 409"] * 19
    assert stored(tmp_path) == (1, 1)


def test_a_code_is_signed_once(issuer: Issuer) -> None:
    """The issuer signs one message for one code, and that one as often as it is asked."""
    key = issuer.key("invited")
    (code,) = issuer.invite("invited", 1)
    messages = [key.to_bytes(number) for number in (12345, 54321)]
    first = issuer.sign("invited", code, messages[0])
    assert pow(key.number(first), key.exponent, key.modulus) == 12345
    assert issuer.sign("invited", code, messages[0]) == first
    for name, tried, message in (("invited", code, messages[1]), ("elsewhere", code, messages[0]),
                                 ("invited", code[:-1], messages[0])):  # fmt: skip
        with pytest.raises(TokenError) as caught:
            issuer.sign(name, tried, message)
        assert code not in str(caught.value)
    (code,) = issuer.invite("invited", 1)
    with pytest.raises(TokenError, match="bytes"):
        issuer.sign("invited", code, b"\xff" * key.size)
    assert issuer.used("invited") == (1, 2)


def test_nothing_joins_code_and_report(
    tmp_path: Path, issuer: Issuer, survey: Survey, url: str
) -> None:
    """No number of the issuer's file is in the intake's, and every pair of the two fits as well.

    For a token and a blinded message there is exactly one factor that joins them; the factor that
    the device drew is in neither file. A matcher has nothing to tell pairs apart by.
    """
    sent = []
    for place, code in enumerate(issuer.invite("invited", 5)):
        device = Device(tmp_path / f"{place}.db")
        device.redeem(survey, code, url)
        sent.append(device.respond(survey, ANSWERS))
        device.submit(survey, url)
    intake = b"".join(path.read_bytes() for path in tmp_path.glob("survey.db*"))
    with closing(sqlite3.connect(tmp_path / "issuer.db")) as db:
        rows = db.execute("SELECT hash, blinded, signed FROM codes").fetchall()
    assert len(rows) == 5
    for row in rows:
        for value in row:
            for start in range(0, len(value) - 7, 4):
                assert value[start : start + 8] not in intake
    key = survey.invite_key
    assert key is not None
    fits = {
        (place, blinded): pow(
            key.number(signed) * pow(int.from_bytes(each.token.signature, "big"), -1, key.modulus),
            key.exponent,
            key.modulus,
        )
        == key.number(blinded) * pow(pow(int.from_bytes(each.token.signature, "big"), key.exponent,
                                         key.modulus), -1, key.modulus) % key.modulus
        for place, each in enumerate(sent)
        if each.token is not None
        for _, blinded, signed in rows
    }  # fmt: skip
    assert len(fits) == 25
    assert all(fits.values())


def test_forged_and_foreign_tokens(tmp_path: Path, survey: Survey, url: str) -> None:
    """A token of another key, and one for another survey, are refused, and nothing is stored."""
    other = Issuer(tmp_path / "another.db")
    foreign = Survey.load(
        SOURCE | {"name": "invited", "invite_key": other.key("invited").published}
    )
    (code,) = other.invite("invited", 1)
    (tmp_path / "there").mkdir()
    with served(tmp_path / "there", foreign, tmp_path / "another.db") as server:
        device = Device(tmp_path / "device.db")
        there = address(server)
        device.redeem(foreign, code, there)
        token = device.respond(foreign, ANSWERS).token
        # An issuer that marks someone by a key of their own is caught by the survey's key.
        (code,) = other.invite("invited", 1)
        # (It may also find the message too large for its key, and then refuses.)
        with pytest.raises((TokenError, SubmitError), match=r"does not fit|below the key|403"):
            Device(tmp_path / "marked.db").redeem(survey, code, there)
    with pytest.raises(SubmitError, match="422"):
        submit(report(survey, token=str(token)), url)
    assert stored(tmp_path) == (0, 0)


def test_the_verbs(tmp_path: Path, url: str) -> None:
    """The key is printed to be pasted, codes are printed once, and the terminal takes one."""
    run = CliRunner().invoke
    file = str(tmp_path / "issuer.db")
    printed = run(invite, ["invited", "--issuer", file]).output
    assert printed.splitlines()[1] == "[invite_key]"
    modulus = printed.splitlines()[2].split('"')[1]
    assert PublicKey(int(modulus, 16)) == Issuer(file).key("invited")
    published = ["--database", str(tmp_path / "survey.db")]
    made = run(invite, ["invited", "--issuer", file, "--count", "3", *published])
    assert made.stderr == ""
    codes = made.stdout.splitlines()
    assert len({code for code in codes if len(code) == 19}) == 3
    assert all(code.encode() not in Path(file).read_bytes() for code in codes)
    made = run(invite, ["invited", "--issuer", file, "--count", "1", "--link", url])
    (link,) = made.stdout.split()
    assert "nobody checked" in made.stderr
    assert link.startswith(f"{url}#code=")
    device = str(tmp_path / "d.db")
    found = run(answer, [url, "--device", device, "--code", codes[0]], input="1\n3\ny\n")
    assert found.exit_code == 0, found.output
    assert "Sent and stored." in found.output
    assert run(invite, ["Not A Name"]).exit_code == 2


def test_serve_refuses_another_key(tmp_path: Path, survey: Survey) -> None:
    """A survey whose key the issuer does not have is refused before it is published."""
    Issuer(tmp_path / "another.db").key("invited")
    file = tmp_path / "survey.json"
    file.write_bytes(survey.to_json())
    found = CliRunner().invoke(
        serve, [str(file), "--database", str(tmp_path / "c.db"), "--issuer",
                str(tmp_path / "another.db")],
    )  # fmt: skip
    assert found.exit_code == 1
    assert "another.db is not the issuer's file of survey 'invited'" in found.output
    assert not (tmp_path / "c.db").exists()


@pytest.fixture
def typed(tmp_path: Path, survey: Survey) -> Run:
    """Type verbs about a database in which the survey and one without invitations are published."""
    database = str(tmp_path / "survey.db")
    fill(database, survey, [])
    fill(database, SURVEY, [])
    return typed_for(database)


def test_codes_of_another_issuer_are_not_made(tmp_path: Path, survey: Survey, typed: Run) -> None:
    """A file with another key, with no key, or none at all: refused, and it stays as it is."""
    another, none = tmp_path / "another.db", tmp_path / "none.db"
    Issuer(another).key("invited")
    Issuer(none).key("something-else")
    (file,) = published_file(tmp_path, survey)
    before = another.read_bytes(), none.read_bytes()
    for path, said in (
        (another, f"got {Issuer(another).key('invited').published['modulus'][:16]}"),
        (none, "got none for that name"),
        (tmp_path / "new.db", "there is no file"),
    ):
        for given in ((), ("--survey", file), ("--database", tmp_path / "survey.db")):
            words = ("invite", "invited", "--issuer", path, "--count", 5, *given)
            found = typed(*words, status=1)
            assert said in found.output
            assert found.stdout == ""
    assert (another.read_bytes(), none.read_bytes()) == before
    assert not (tmp_path / "new.db").exists()
    assert len(typed("invite", "invited", "--issuer", tmp_path / "issuer.db", "--count", 5)
               .stdout.split()) == 5  # fmt: skip


def test_codes_that_would_be_good_for_nothing(tmp_path: Path, survey: Survey, typed: Run) -> None:
    """A survey that takes everyone's report, one that is not there, and a file of another one."""
    words = ("--issuer", tmp_path / "issuer.db", "--count", 1)
    found = typed("invite", SURVEY.name, *words, status=1)
    assert "takes a report from everyone" in found.output
    here = ("--database", tmp_path / "survey.db")
    assert "there is no survey 'nowhere' in" in typed(
        "invite", "nowhere", *words, *here, status=1
    ).output  # fmt: skip
    (file,) = published_file(tmp_path, survey)
    found = typed("invite", "nowhere", *words, "--survey", file, status=1)
    assert "expected survey 'nowhere', got 'invited'" in found.output


def test_serving_with_another_issuer(tmp_path: Path, survey: Survey, typed: Run) -> None:
    """Also for what the database holds already; the file gets no key by being looked at."""
    another, none = tmp_path / "another.db", tmp_path / "none.db"
    Issuer(another).key("invited")
    Issuer(none).key("something-else")
    before = none.read_bytes()
    for path in (another, none):
        found = typed("serve", "--issuer", path, "--port", 0, status=1)
        assert f"{path} is not the issuer's file of survey 'invited'" in found.output
    assert none.read_bytes() == before
    elsewhere = Survey.load(
        SOURCE | {"name": "elsewhere", "invite_key": Issuer(another).key("elsewhere").published}
    )
    (tmp_path / "both").mkdir()
    more = [str(path) for path in published_file(tmp_path, survey)]
    fill(str(tmp_path / "both/survey.db"), elsewhere, [])
    issuer = ["--issuer", str(tmp_path / "issuer.db")]
    with Server(tmp_path / "both", published=SURVEY, options=[*more, *issuer]) as server:
        assert server.post(body())[0] == 201, "what is signed for elsewhere is no reason to refuse"


def test_the_file_does_not_tell_in_which_order_codes_were_used(
    tmp_path: Path, issuer: Issuer
) -> None:
    """Whatever the order in which the same codes are used, the issuer's file is the same bytes."""
    key = issuer.key("invited")
    codes = issuer.invite("invited", 80)
    messages = {code: key.to_bytes(secrets.randbelow(key.modulus)) for code in codes[:50]}
    orders = [list(messages), list(messages)[::-1], sorted(messages)]
    found = []
    for number, order in enumerate(orders):
        path = tmp_path / f"{number}.db"
        shutil.copy(tmp_path / "issuer.db", path)
        other = Issuer(path)
        for code in order:
            other.sign("invited", code, messages[code])
        assert other.used("invited") == (50, 80)
        found.append(path.read_bytes())
    assert all(content == found[0] for content in found[1:])
    assert list(tmp_path.glob("*.db-*")) == []


def test_a_file_of_before_forgets_the_order(tmp_path: Path, issuer: Issuer) -> None:
    """A file in which rows grew when their codes were used is written anew when it is opened."""
    key, codes = issuer.key("invited"), issuer.invite("invited", 30)
    messages = {code: key.to_bytes(secrets.randbelow(key.modulus)) for code in codes[:20]}
    used = {code: issuer.sign("invited", code, message) for code, message in messages.items()}
    found = []
    for number, order in enumerate((list(used), list(used)[::-1])):
        path = tmp_path / f"{number}.db"
        shutil.copy(tmp_path / "issuer.db", path)
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            rows = {row[0]: row for row in db.execute("SELECT * FROM codes ORDER BY hash")}
            db.execute("DROP TABLE codes")
            db.execute(
                "CREATE TABLE codes (hash BLOB PRIMARY KEY, survey TEXT NOT NULL,"
                " blinded BLOB, signed BLOB) STRICT, WITHOUT ROWID"
            )
            for row in rows.values():
                db.execute("INSERT INTO codes VALUES (?, ?, NULL, NULL)", row[:2])
            for code in order:
                row = rows[_hash("invited", code)]
                db.execute(
                    "UPDATE codes SET blinded = ?, signed = ? WHERE hash = ?",
                    (row[2], row[3], row[0]),
                )
        before = path.read_bytes()
        reopened = Issuer(path)
        assert reopened.used("invited") == (20, 30)
        assert all(reopened.sign("invited", c, messages[c]) == used[c] for c in used)
        found.append((before, path.read_bytes()))
    assert found[0][0] != found[1][0]
    assert found[0][1] == found[1][1]


def test_requests_that_are_none(tmp_path: Path, issuer: Issuer, survey: Survey) -> None:
    """Whatever else is asked of the issuer is refused in words that repeat nothing."""
    app = create_app({"DATABASE": tmp_path / "a.db", "ISSUER": tmp_path / "issuer.db", "LIMIT": 20})
    http = app.test_client()
    wrong = (b"", b"[]", b"{}", b'{"code": 1, "blinded": "00"}', b'{"code": "A", "blinded": 1}',
             b'{"code": "A", "blinded": "zz"}', b'{"code":"A","blinded":"0","x":1}')  # fmt: skip
    for sent in wrong:
        found = http.post("/v1/surveys/invited/tokens", data=sent)
        assert (found.status_code, json.loads(found.data)["reason"]) == (422, "token-request")
    code = json.dumps({"code": "CANARY-CANARY", "blinded": "00"}).encode()
    statuses = [http.post("/v1/surveys/invited/tokens", data=code).status_code for _ in range(20)]
    assert statuses == [403] * 13 + [429] * 7
    services(app).close()
    plain = create_app({"DATABASE": tmp_path / "b.db"})
    assert plain.test_client().post("/v1/surveys/invited/tokens", data=code).status_code == 404
    services(plain).close()


def test_codes_before_the_survey_opens(tmp_path: Path, issuer: Issuer, survey: Survey) -> None:
    """The form is there early, for codes alone: reports are refused until the survey opens."""
    app = create_app({"DATABASE": tmp_path / "a.db", "ISSUER": tmp_path / "issuer.db"})
    opens = datetime(2199, 3, 1, 12, tzinfo=UTC)
    services(app).store.publish(survey, Limits(opens=opens))
    services(app).store.publish(Survey.load(SOURCE), Limits(opens=opens))
    http = app.test_client()
    early, plain = http.get("/s/invited").text, http.get(f"/s/{SOURCE['name']}").text
    assert "opens on 1 March 2199 at 12:00 (UTC)" in early
    assert "<deniable-survey" in early
    assert "<deniable-survey" not in plain
    (code,) = issuer.invite("invited", 1)
    blinding = blind(issuer.key("invited"), "invited")
    asked = json.dumps({"code": code, "blinded": blinding.sent.hex()})
    assert http.post("/v1/surveys/invited/tokens", data=asked).status_code == 200
    token = str(unblind(issuer.key("invited"), "invited", blinding, bytes.fromhex(
        http.post("/v1/surveys/invited/tokens", data=asked).get_json()["signed"]
    )))  # fmt: skip
    sent = report(survey, token=token).to_json()
    assert http.post("/v1/surveys/invited/reports", data=sent).status_code == 403
    assert services(app).store.spent() == []
    services(app).close()
