"""Write ``protocol/vectors/*.json`` from the Python reference: ``python -m tests.vectors.make``.

The random bytes of a case are SHAKE-256 of its name, so the files can be made again exactly; some
cases start with words that ``below`` must refuse.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import Any

from deniable_client.entropy import below
from deniable_client.randomizer import apply_noise, draw_noise
from deniable_client.respond import respond_with
from deniable_protocol import Channel, EntropyError, Survey

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
        "surveys.json": _file("Published surveys, sound and tampered with.", _surveys()),
        "refused-reports.json": _file("Reports that an intake refuses.", _refused_reports()),
    }


def render(content: dict[str, Any]) -> str:
    """Write one file's text."""
    return json.dumps(content, indent=1, sort_keys=True, ensure_ascii=True) + "\n"


def _file(comment: str, cases: Iterator[dict[str, Any]]) -> dict[str, Any]:
    return {"format": FORMAT, "comment": comment, "cases": list(cases)}


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


def sample_surveys() -> list[Survey]:
    """Surveys that the vectors use."""
    yes_no = {"name": "used", "kind": "yes-no", "text": "Have you used it?"}
    ages = {"name": "age", "kind": "choice", "text": {"en": "Age?", "bn": "বয়স?"},
            "options": ["under 30", "30 to 49", "50 or over"], "optional": True}  # fmt: skip
    district = {"name": "district", "kind": "choice", "text": "District?",
                "options": [f"District {n}" for n in range(1, 31)], "epsilon": 1}  # fmt: skip
    mood = {"name": "mood", "kind": "scale", "text": "Mood?", "share": 2,
            "options": ["low", "so-so", "fine"], "scores": [-1, 0, 1.5]}  # fmt: skip
    return [
        Survey.load({"name": "one", "title": "One", "questions": [yes_no | {"odds": "3:1"}]}),
        Survey.load({"name": "two", "title": {"en": "Two", "bn": "দুই"}, "intro": "Hello “you” <b>",
                     "privacy": {"epsilon": 2}, "questions": [yes_no, ages, mood]}),
        Survey.load({"name": "three", "title": "Three", "privacy": {"epsilon": 3.5},
                     "questions": [district, mood, yes_no]}),
    ]  # fmt: skip


def _reports() -> Iterator[dict[str, Any]]:
    for survey in sample_surveys():
        for case in range(20):
            indices = {
                question.name: (case + 2 * place) % question.channel.options
                for place, question in enumerate(survey.questions)
            }
            answers = {
                name: str(survey[name].options[index])
                if index < len(survey[name].options)
                else None
                for name, index in indices.items()
            }
            source = BytesIO(bytes.fromhex(_stream(f"{survey.name} {case}", 1024)))
            report = respond_with(source.read, survey, answers)
            yield {
                "survey": survey.to_json().decode(),
                "answers": indices,
                "bytes": source.getvalue()[: source.tell()].hex(),
                "report": report.to_json().decode(),
            }


def _surveys() -> Iterator[dict[str, Any]]:
    for survey in sample_surveys():
        yield {
            "survey": survey.to_json().decode(),
            "digest": survey.digest,
            "odds": [str(survey.odds.numerator), str(survey.odds.denominator)],
            "max-epsilon": 4,
        }
    for survey in sample_surveys():
        yield {"survey": survey.to_json().decode(), "digest": survey.digest, "reason": "limit",
               "max-epsilon": round(survey.epsilon, 3) - 0.002}  # fmt: skip
        text = survey.to_json().decode()
        yield {"survey": text + " ", "digest": survey.digest, "reason": "digest", "max-epsilon": 4}
        for comment, broken in _tampered(survey):
            data = json.dumps(broken, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
            digest = "sha256-" + _base64(hashlib.sha256(data.encode()).digest())
            yield {"survey": data, "digest": digest, "reason": "survey", "max-epsilon": 4,
                   "comment": comment}  # fmt: skip


def _base64(data: bytes) -> str:
    import base64

    return base64.b64encode(data).decode()


def _tampered(survey: Survey) -> Iterator[tuple[str, dict[str, Any]]]:
    def fresh() -> dict[str, Any]:
        found: dict[str, Any] = json.loads(survey.to_json())
        return found

    def with_channel(**change: object) -> dict[str, Any]:
        found = fresh()
        found["questions"][0]["channel"] |= change
        return found

    channel = fresh()["questions"][0]["channel"]
    yield "stronger odds than the total states", with_channel(a=channel["a"] * 10)
    yield "weaker odds than the total states", with_channel(a=channel["a"] + 1)
    yield "odds of 1 hide everything and measure nothing", with_channel(a=1, b=1)
    yield "odds below 1", with_channel(a=channel["b"], b=channel["a"])
    yield "b is 0: no noise at all", with_channel(b=0)
    yield "the subset is every option", with_channel(d=channel["k"])
    yield "the subset is empty", with_channel(d=0)
    yield "more options in the channel than in the question", with_channel(k=channel["k"] + 1)
    yield "fewer options in the channel than in the question", with_channel(k=channel["k"] - 1)
    yield "a draw that needs more than four bytes", with_channel(a=2**32, b=1)
    yield "odds as a text", with_channel(a=str(channel["a"]))
    yield "a subset that is not whole", with_channel(d=None)
    yield "another format", fresh() | {"format": "deniable-survey/2"}
    yield "no questions", fresh() | {"questions": []}
    yield "a total that is too small", fresh() | {"odds": ["2", "1"]}
    yield "a question twice", fresh() | {"questions": fresh()["questions"] * 2}


def _refused_reports() -> Iterator[dict[str, Any]]:
    survey = sample_surveys()[2]
    text = survey.to_json().decode()
    source = BytesIO(bytes.fromhex(_stream("refused", 1024)))
    answers = {"district": "District 3", "mood": "fine", "used": "Yes"}
    good = json.loads(respond_with(source.read, survey, answers).to_json())

    def case(reason: str, body: object) -> dict[str, Any]:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return {"survey": text, "body": data.hex(), "reason": reason}

    for body in (b"", b"{", b"\xff\xfe", b'{"a":1,"a":2}', b"[" * 5000, b"1" * 5000, b"NaN",
                 json.dumps(good).replace("[1]", "[1.0]").replace("[0]", "[0.0]").replace(
                     "[2]", "[2.0]").encode()):  # fmt: skip
        yield case("not-json", body)
    yield case("too-large", b" " * 65537)
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


if __name__ == "__main__":
    main()
