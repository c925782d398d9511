"""Write ``protocol/vectors/*.json`` from the Python reference: ``python -m tests.vectors.make``.

The random bytes of a case are SHAKE-256 of its name, so the files can be made again exactly; some
cases start with words that ``below`` must refuse.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

from deniable_client import Device, device
from deniable_client.entropy import below
from deniable_client.invitation import blind, unblind
from deniable_client.randomizer import apply_noise, draw_noise
from deniable_client.respond import check_arm, respond_with
from deniable_protocol import (
    AnswerError,
    BudgetError,
    Channel,
    DeniableError,
    EntropyError,
    Survey,
    SurveyError,
)
from deniable_protocol.blind import PublicKey
from deniable_protocol.canonical import canonical, digest

from . import samples
from .samples import given, said

FOLDER = Path(__file__).resolve().parents[2] / "protocol" / "vectors"
FORMAT = "deniable-vectors/1"
REFUSED = "ffffffff"  # refused by every bound that does not divide 2^32


def main() -> None:
    """Write every file."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, content in build().items():
        (FOLDER / name).write_text(render(content), encoding="utf-8")


def build() -> dict[str, dict[str, Any]]:
    """Make the content of every file in memory."""
    return {
        "below.json": _file("Uniform integers: bytes in, value out.", _below()),
        "randomizer.json": _file("One answer: bytes in, subset out.", _randomizer()),
        "reports.json": _file("Whole reports: bytes in, canonical bytes out.", _reports()),
        "panels.json": _file("Waves that one device answers, with permanent noise.", _panels()),
        "surveys.json": _file("Published surveys, sound and tampered with.", _surveys()),
        "refused-answers.json": _file("Answers that a device refuses.", _refused_answers()),
        "blinding.json": _file(
            "Invitations: bytes in, blinded message and token out.", _blinding()
        ),
        "refused-reports.json": _file("Reports that an intake refuses.", _refused_reports()),
    }


def render(content: dict[str, Any]) -> str:
    """Write one file's text."""
    return json.dumps(content, indent=1, sort_keys=True, ensure_ascii=True) + "\n"


def _file(comment: str, cases: Iterator[dict[str, Any]]) -> dict[str, Any]:
    found = list(cases)
    used = {case["survey"] for case in found if "survey" in case}
    surveys = {name: s.to_json().decode() for name, s in samples.surveys().items() if name in used}
    content = {"format": FORMAT, "comment": comment, "cases": found}
    return content | ({"surveys": surveys} if surveys else {})


def _stream(name: str, size: int) -> str:
    return hashlib.shake_256(name.encode()).hexdigest(size)


def _below() -> Iterator[dict[str, Any]]:
    bounds = [1, 2, 3, 5, 6, 7, 10, 100, 255, 256, 1000, 65537, 2**31, 2**31 + 1, 2**32 - 1, 2**32]
    for bound in bounds:
        for case, data in enumerate((_stream(f"below {bound}", 16), REFUSED + "0000000b" * 2)):
            source = BytesIO(bytes.fromhex(data))
            value = below(bound, source.read)
            yield {"bound": bound, "bytes": data, "value": value, "read": source.tell()} | (
                {"comment": "the first word is at the top of the range"} if case else {}
            )
        highest = 2**32 // bound * bound - 1
        yield {"bound": bound, "bytes": f"{highest:08x}", "value": bound - 1, "read": 4}
        if highest + 1 < 2**32:
            comment = "one past the last word that is kept, and then too few bytes"
            yield _exhausted({"bound": bound, "comment": comment}, f"{highest + 1:08x}")
        yield _exhausted({"bound": bound, "comment": "three bytes are not a word"}, "000000")


def _exhausted(case: dict[str, Any], data: str) -> dict[str, Any]:
    try:
        below(case["bound"], BytesIO(bytes.fromhex(data)).read)
    except EntropyError:
        return case | {"bytes": data, "reason": "entropy"}
    raise AssertionError(f"{data} was enough for {case}")


CHANNELS = [
    Channel(2, 1, Fraction(3)), Channel(2, 1, Fraction(1001, 1000)), Channel(3, 1, Fraction(3, 2)),
    Channel(3, 2, Fraction(5, 4)), Channel(4, 1, Fraction(20)), Channel(4, 3, Fraction(2)),
    Channel(5, 2, Fraction(721, 240)), Channel(6, 3, Fraction(7, 5)),
    Channel(10, 3, Fraction(1264, 465)), Channel(100, 27, Fraction(1264, 465)),
    Channel(1000, 18, Fraction(54, 1)),
    Channel(2, 1, Fraction(3269017, 1)),
]  # fmt: skip


def _randomizer() -> Iterator[dict[str, Any]]:
    for channel in CHANNELS:
        k, d = channel.options, channel.subset
        shown = {"k": k, "d": d, "a": channel.a, "b": channel.b}
        for answer in sorted({0, 1, k // 2, k - 1}):
            for case in range(5):
                data = _stream(f"{k} {d} {channel.odds} {answer} {case}", 4 * d + 64)
                data = REFUSED + data if case == 4 else data
                source = BytesIO(bytes.fromhex(data))
                noise = draw_noise(channel, source.read)
                subset = list(apply_noise(channel, noise, answer))
                used = source.tell()
                yield shown | {"answer": answer, "bytes": data[: 2 * used], "subset": subset}
        short = _stream(f"short {k} {d}", 4 * d)
        yield shown | {"answer": 0, "bytes": short, "reason": "entropy",
                       "comment": "1 + d draws are always made"}  # fmt: skip


def _reports() -> Iterator[dict[str, Any]]:
    for survey in samples.surveys().values():
        if survey.memoize:
            continue
        for case in range(16):
            arm = {"arm": survey.arms[case % len(survey.arms)]} if survey.arms else {}
            source = BytesIO(bytes.fromhex(_stream(f"{survey.name} {case}", 4096)))
            answers = given(survey, case)
            report = respond_with(source.read, survey, said(survey, answers), **arm)
            yield {
                "survey": survey.name,
                "answers": answers,
                "bytes": source.getvalue()[: source.tell()].hex(),
                "report": report.to_json().decode(),
            } | arm
        short = source.getvalue()[: source.tell() - 1].hex()
        yield {"survey": survey.name, "answers": answers, "bytes": short, "reason": "entropy"} | arm


PANELS: dict[str, tuple[float, list[tuple[str, int]]]] = {
    "the same answers in every wave": (50, [("w1", 0), ("w2", 0), ("w3", 0)]),
    "other answers, then the first ones again": (50, [("w1", 0), ("w2", 1), ("w3", 2), ("w4", 0)]),
    "a wave twice": (50, [("w1", 0), ("w1", 0)]),
    "a limit that the second wave could pass": (4, [("w1", 0), ("w2", 0)]),
    "a limit that the first wave could pass": (2.5, [("w1", 0)]),
    "an arm that is none": (50, [("w7", 0)]),
}


def _panels() -> Iterator[dict[str, Any]]:
    """Answer waves with the one device; every wave after a refused one is left out."""
    survey = samples.surveys()["panel"]
    for comment, (limit, waves) in PANELS.items():
        with tempfile.TemporaryDirectory() as folder:
            own = Device(Path(folder) / "device.db", limit)
            done = [_wave(own, survey, f"{comment} {place}", *wave)
                    for place, wave in enumerate(waves)]  # fmt: skip
        yield {"survey": survey.name, "comment": comment, "max-epsilon": limit, "waves": done}


def _wave(own: Device, survey: Survey, name: str, arm: str, case: int) -> dict[str, Any]:
    source = BytesIO(bytes.fromhex(_stream(name, 4096)))
    answers = given(survey, case)
    wave = {"arm": arm, "answers": answers}
    try:
        with patch.object(device, "system", source.read):
            if own.pending(survey, arm=arm):
                wave["comment"] = "the report that waits is given again"
            report = own.respond(survey, said(survey, answers), arm=arm)
    except BudgetError:
        assert source.tell() == 0, "something was drawn before the limit was checked"
        return wave | {"reason": "limit"}
    except SurveyError:
        return wave | {"reason": "page"}
    spent = [str(part) for part in own.spent.as_integer_ratio()]
    return wave | {"bytes": source.getvalue()[: source.tell()].hex(), "spent": spent,
                   "report": report.to_json().decode()}  # fmt: skip


def _surveys() -> Iterator[dict[str, Any]]:
    for survey in samples.surveys().values():
        pinned = {"survey": survey.name, "digest": survey.digest}
        odds = [str(part) for part in survey.odds.as_integer_ratio()]
        yield pinned | {"odds": odds, "max-epsilon": 5}
        yield pinned | {"reason": "limit", "max-epsilon": round(survey.epsilon, 3) - 0.002}
        text = survey.to_json().decode()
        yield pinned | _change(text, text + " ") | {"reason": "digest", "max-epsilon": 5}
        for comment, broken in samples.tampered(survey):
            changed = canonical(broken).decode()
            yield {"survey": survey.name, "digest": digest(changed.encode()), "reason": "survey",
                   "max-epsilon": 5, "comment": comment} | _change(text, changed)  # fmt: skip
    text = samples.surveys()["one"].to_json().decode()
    for comment, old, new in (
        ("not canonical: a space", ",", ", "),
        ("not canonical: a float", '"k":2', '"k":2.0'),
        ("not canonical: a key twice", '"k":2', '"k":2,"k":2'),
        ("not canonical: unsorted", '"a":3,"b":1', '"b":1,"a":3'),
        ("a proxy's HTML", text, "<!doctype html>"),
    ):
        changed = text.replace(old, new, 1)
        yield {"survey": "one", "digest": digest(changed.encode()), "reason": "survey",
               "max-epsilon": 5, "comment": comment} | _change(text, changed)  # fmt: skip


def _change(old: str, new: str) -> dict[str, Any]:
    """Say briefly how one text becomes another: at a place, so many characters become others."""
    at = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b),
              min(len(old), len(new)))  # fmt: skip
    tail = 0
    while tail < min(len(old), len(new)) - at and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return {"at": at, "cut": len(old) - at - tail, "put": new[at : len(new) - tail]}


def _refused_answers() -> Iterator[dict[str, Any]]:
    survey = samples.surveys()["kinds"]
    data = _stream("refused answers", 4096)
    for comment, answers in samples.unfit(survey):
        yield _refused({"survey": "kinds", "answers": answers, "arm": "north", "bytes": data,
                        "reason": "answer", "comment": comment}, AnswerError)  # fmt: skip
    for arm in ("west", "North", "", None):
        yield _refused({"survey": "kinds", "answers": given(survey, 1), "bytes": "",
                        "reason": "page"} | ({} if arm is None else {"arm": arm}),
                       SurveyError)  # fmt: skip
    yield _refused({"survey": "one", "answers": {"used": 0}, "arm": "north", "bytes": "",
                    "reason": "page"}, SurveyError)  # fmt: skip


def _refused(case: dict[str, Any], kind: type[DeniableError]) -> dict[str, Any]:
    """Make sure that Python refuses it, and cut the bytes to those that were read."""
    survey = samples.surveys()[case["survey"]]
    source = BytesIO(bytes.fromhex(case["bytes"]))
    try:
        check_arm(survey, case.get("arm"))
        respond_with(source.read, survey, said(survey, case["answers"]), arm=case.get("arm"))
    except kind:
        return case | {"bytes": source.getvalue()[: source.tell()].hex()}
    raise AssertionError(f"not refused: {case}")


def _blinding() -> Iterator[dict[str, Any]]:
    """Blind under the key of RFC 9474, Appendix A.3; its secret half is published there."""
    found = json.loads((FOLDER / "blind-signature.json").read_text(encoding="utf-8"))
    n, secret = int(found["n"], 16), int(found["d"], 16)
    key = PublicKey(n)
    for survey in ("a", "canteen", "a-very-long-survey-name-of-forty-letters"):
        source = BytesIO(bytes.fromhex(_stream(f"blinding {survey}", 4096)))
        blinding = blind(key, survey, source.read)
        signed = key.to_bytes(pow(key.number(blinding.sent), secret, n))
        yield {
            "survey": survey,
            "bytes": source.getvalue()[: source.tell()].hex(),
            "prefix": blinding.prefix.hex(),
            "inverse": key.to_bytes(blinding.inverse).hex(),
            "sent": blinding.sent.hex(),
            "token": str(unblind(key, survey, blinding, signed)),
        }


def _refused_reports() -> Iterator[dict[str, Any]]:
    survey = samples.surveys()["three"]
    source = BytesIO(bytes.fromhex(_stream("refused", 1024)))
    answers = {"district": "District 3", "mood": "fine", "used": "Yes"}
    good = json.loads(respond_with(source.read, survey, answers).to_json())

    def case(reason: str, body: object, name: str = "three") -> dict[str, Any]:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return {"survey": name, "body": data.hex(), "reason": reason}

    for body in (b"", b"{", b"\xff\xfe", b'{"a":1,"a":2}', b"[" * 5000, b"1" * 5000, b"NaN",
                 json.dumps(good).replace("[1]", "[1.0]").replace("[0]", "[0.0]").replace(
                     "[2]", "[2.0]").encode()):  # fmt: skip
        yield case("not-json", body)
    yield case("too-large", b" ") | {"times": 65537}
    for body in ([], None, "x", 7, {}, {**good, "ip": "x"}, {k: good[k] for k in ("id", "survey")}):
        yield case("shape", body)
    for value in ("", None, 5, "sha256-" + "A" * 43 + "="):
        yield case("survey", good | {"survey": value})
    for value in ("", None, 5, "8" + "0" * 15, "0" * 15, "0" * 17, "0" * 15 + "A", "0" * 15 + "\n"):
        yield case("id", good | {"id": value})
    for value in ({}, [], None, good["answers"] | {"extra": [0]},
                  {"district": good["answers"]["district"]}):  # fmt: skip
        yield case("questions", good | {"answers": value})
    for value in ([], [2, 1], [True], [3], [-1], ["0"], [[0]], [0, 0], None, {}, 0, "0", [2**70]):
        yield case("subset", good | {"answers": good["answers"] | {"mood": value}})
    subset = good["answers"]["district"]
    for value in (subset[1:], subset[::-1], [*subset, 29], [*subset[:-1], 30], [0] * len(subset)):
        yield case("subset", good | {"answers": good["answers"] | {"district": value}})
    yield case("shape", good | {"arm": "north"})
    for name, reason, body in _refused_kinds():
        yield case(reason, body, name)


def _refused_kinds() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for name in ("kinds", "sampled"):
        survey = samples.surveys()[name]
        source = BytesIO(bytes.fromhex(_stream("refused kinds", 4096)))
        arm = survey.arms[0] if survey.arms else None
        report = respond_with(source.read, survey, said(survey, given(survey, 0)), arm=arm)
        good = json.loads(report.to_json())
        sent = good["answers"]
        if arm:
            for value in (None, "west", 0, ["north"]):
                yield name, "arm", good | {"arm": value}
            yield name, "shape", {key: good[key] for key in ("answers", "id", "survey")}
        for item in [item.name for item in survey.items]:
            if item in sent:
                less = {key: value for key, value in sent.items() if key != item}
                yield name, "questions", good | {"answers": less}
                yield name, "subset", good | {"answers": sent | {item: [survey_size(survey, item)]}}
            else:
                yield name, "questions", good | {"answers": sent | {item: [0]}}
        yield name, "questions", good | {"answers": sent | {"kinds": [0]}}
        yield name, "questions", good | {"answers": sent | {"kinds.9": [0]}}


def survey_size(survey: Survey, item: str) -> int:
    """Give the number of options of an item, one past its last index."""
    return next(i.channel.options for i in survey.items if i.name == item)


if __name__ == "__main__":
    main()
