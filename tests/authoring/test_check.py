"""The verbs of authors: a draft to start from, the certificate, cautions, changed surveys."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from deniable_protocol import Survey
from deniable_protocol.cautions import cautions, percent_up, surest
from deniable_protocol.certificate import Certificate, odds_text
from deniable_protocol.changes import changes
from deniable_protocol.cli import main

ROOT = Path(__file__).resolve().parents[2]

BASE: dict[str, Any] = {
    "name": "demo",
    "title": "Demo",
    "privacy": {"epsilon": 2},
    "questions": [
        {"name": "used", "kind": "yes-no", "text": "Used?", "odds": "3:1"},
        {"name": "often", "kind": "choice", "text": "How often?", "options": ["a", "b", "c"],
         "show_if": {"question": "used", "is": "Yes"}},
    ],
}  # fmt: skip


def survey(**change: Any) -> Survey:
    return Survey.load(BASE | change)


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


def kinds(found: Survey) -> list[str]:
    return [caution.kind for caution in cautions(found)]


def test_draft_checks_clean(tmp_path: Path) -> None:
    """What `init` writes is a survey without mistakes and cautions, and is never overwritten."""
    path = tmp_path / "survey.toml"
    first = run("init", path)
    assert first.exit_code == 0
    assert f"deniable check {path}" in first.output
    assert run("check", "--strict", path).exit_code == 0
    path.write_text("mine")
    again = run("init", path)
    assert again.exit_code == 1
    assert "exists already; it was not touched" in again.output
    assert path.read_text() == "mine"
    assert "No such file" in run("init", tmp_path / "no" / "survey.toml").output


def test_every_comment_of_the_draft_works(tmp_path: Path) -> None:
    """Each line that is commented out can be put in, and the survey still has no mistake."""
    path = tmp_path / "survey.toml"
    run("init", path)
    plain = []
    for line in path.read_text(encoding="utf-8").splitlines():
        bare = line.removeprefix("# ")
        key = bare.partition("=")[0].strip()
        code = bare.startswith("[[") or (" = " in bare and key.replace("_", "").isalpha())
        plain.append(bare if line.startswith("# ") and code else line)
    text = "\n".join(plain).replace('odds = "3:1"', "").replace("ask = 2\n", "ask = 2\n", 1)
    path.write_text(text, encoding="utf-8")
    found = Survey.load(path)
    assert [q.kind for q in found.questions] == [
        "yes-no", "choice", "scale", "number", "multiple", "yes-no"
    ]  # fmt: skip
    assert found.ask == 2
    assert found.memoize
    assert found.arms == ("site-a", "site-b")
    assert found["noticed"].show_if is not None


def test_certificate_numbers() -> None:
    """Odds, epsilon and belief are the exact ones, rounded so that nothing is understated."""
    found = Certificate(survey()).as_json()
    used, often = found["questions"]
    assert (used["odds"], used["channel_odds"]) == (["3", "1"], [3, 1])
    assert used["belief_at_most"] == ["3", "4"]
    assert used["chance_that_truth_is_in_report"] == ["3", "4"]
    assert often["options"] == 4
    total = survey().odds
    assert found["odds"] == [str(total.numerator), str(total.denominator)]
    assert total == Fraction(3) * Fraction(*map(int, often["odds"]))
    assert found["epsilon"] == survey().epsilon <= 2.0000001
    assert Fraction(*map(int, found["belief_at_most"])) == total / (1 + total)
    assert percent_up(surest(total)) == "89 %"
    assert found["digest"] == survey().digest


def test_belief_is_reached_and_never_passed() -> None:
    """Bayes on the whole law of a channel: the worst posterior from one half is the stated one."""
    channel = survey()["often"].channel
    worst = max(
        channel.law(x)[report] / (channel.law(x)[report] + channel.law(y)[report])
        for x in range(4)
        for y in range(4)
        for report in channel.law(0)
        if x != y
    )
    assert worst == surest(channel.odds)


def test_nearly_certain_is_not_called_certain() -> None:
    """A belief of 99.33 % is 99.4 %, not 100 %; and never less than it is."""
    assert percent_up(surest(Fraction(148))) == "99.4 %"
    assert percent_up(surest(Fraction(22026))) == "99.996 %"
    assert percent_up(surest(Fraction(10**20))) == "nearly 100 %"


def test_long_lists_of_missing_translations() -> None:
    """At most six places are named, the others counted."""
    question = {"name": "a", "kind": "choice", "text": {"en": "A?", "bn": "ক?"},
                "options": [f"o{i}" for i in range(9)]}  # fmt: skip
    (caution,) = cautions(survey(questions=[question]))
    assert "option 5 of “a” and 4 more. Respondents" in caution.text


@pytest.mark.parametrize(
    ("odds", "text"),
    [(Fraction(3), "3:1"), (Fraction(1264, 465), "2.72:1"), (Fraction(10**9), "10^10:1"),
     (Fraction(200001, 100000), "2.01:1")],
)  # fmt: skip
def test_odds_are_never_understated(odds: Fraction, text: str) -> None:
    """Odds are rounded up."""
    assert odds_text(odds) == text


def test_what_silence_hides(tmp_path: Path) -> None:
    """For each question the page says whether skipping, and being asked, are hidden."""
    source = BASE["questions"][0] | {"optional": True}
    found = Certificate(survey(questions=[source, BASE["questions"][1]]))
    skipped, shown = (question.hides for question in found.questions)
    assert skipped.startswith("Whether someone answered is hidden as well: “No answer”")
    assert "does not show who was asked because of “used”" in shown
    assert Certificate(survey()).questions[0].hides.startswith("Everybody has to choose")


def test_the_page(tmp_path: Path) -> None:
    """The certificate as an author reads it."""
    path = tmp_path / "survey.toml"
    path.write_text(
        'name = "s"\ntitle = "Work"\n[[questions]]\nname = "drunk"\nkind = "yes-no"\n'
        'text = "Drunk?"\nodds = "3:1"\noptional = true\n'
    )
    found = run("check", path)
    digest = Survey.load(path).digest
    assert found.output == (
        f"Work (s)\ndigest {digest}\n\n"
        "question  kind    options  in report  odds  epsilon  50 % becomes at most\n"
        "drunk     yes-no        3          1   3:1    1.099                  75 %\n\n"
        "drunk: Whether someone answered is hidden as well: “No answer” is one more option of the "
        "noise, so nobody is given away by a blank.\n\n"
        "A whole report shifts anyone's odds about a respondent by at most 3:1 (epsilon 1.099): a "
        "belief of 50 % becomes at most 75 %.\n\n"
        "This is a draft: nothing is published until a server serves it, and every edit changes "
        "the digest.\n"
    )
    assert list(tmp_path.iterdir()) == [path], "checking a draft publishes and writes nothing"


def test_examples_have_no_caution() -> None:
    """The surveys that the project shows are as it advises."""
    for path in ROOT.glob("examples/**/survey.toml"):
        assert run("check", "--strict", path).exit_code in (0, 2), path
        assert all(kind != "translation" for kind in kinds(Survey.load(path))), path


def test_epsilon_above_what_devices_allow() -> None:
    """Above 4 devices refuse, and the author hears it first."""
    found = survey(privacy={"epsilon": 4.5})
    assert kinds(found)[0] == "epsilon"
    assert "Devices refuse more than 4" in next(cautions(found)).text
    assert "epsilon" not in kinds(survey())


def test_questions_that_reveal_each_other() -> None:
    """A condition, a chain of them, and questions that read alike: with the joint odds."""
    found = survey()
    (caution,) = cautions(found)
    belief = percent_up(surest(found.odds))
    assert caution.kind == "reveal-each-other"
    assert "“often” depends on “used”, so its report tells about the answer to “used” too" in (
        caution.text
    )
    assert f"50 % becomes at most {belief}" in caution.text
    chain = [*BASE["questions"], {"name": "why", "kind": "yes-no", "text": "At work?",
                                  "show_if": {"question": "often", "is": "c"}}]  # fmt: skip
    texts = [caution.text for caution in cautions(survey(questions=chain))]
    assert texts[0].startswith("“often” and “why” depend on “used”, so their reports tell")
    alike = [
        {"name": "a", "kind": "yes-no", "text": "Did you steal from work last year?"},
        {"name": "b", "kind": "yes-no", "text": "Did you steal from work in the last year?"},
        {"name": "c", "kind": "yes-no", "text": "Do you like your boss?"},
    ]
    (caution,) = cautions(survey(questions=alike))
    assert "“a” and “b” read almost alike" in caution.text


def test_sampled_questions_count_only_what_is_sent() -> None:
    """If a device sends one question of two, their odds do not multiply."""
    privacy = {"epsilon": 1, "allocation": "sample", "ask": 1}
    questions = [{k: v for k, v in q.items() if k != "odds"} for q in BASE["questions"]]
    found = survey(questions=questions, privacy=privacy)
    (caution,) = cautions(found)
    assert f"together epsilon {found.epsilon:.2f}" in caution.text


@pytest.mark.parametrize(
    ("option", "change", "says"),
    [
        ("Prefer not to say", {}, "with optional = true the device adds “No answer” by itself"),
        ("Prefer not to say.", {"optional": True}, "“No answer” is an option already"),
        ("不願回答", {}, "with optional = true"),
        ("N/A", {"show_if": {"question": "used", "is": "No"}}, "“Not asked” is an option already"),
    ],
)
def test_options_that_nobody_will_pick(option: str, change: dict[str, Any], says: str) -> None:
    """An option for silence costs accuracy and helps nobody, since silence is hidden anyway."""
    question = {"name": "pay", "kind": "choice", "text": "Pay?", "options": ["low", "high", option]}
    found = survey(questions=[BASE["questions"][0], question | change])
    texts = [c.text for c in cautions(found) if c.kind == "needless-option"]
    assert len(texts) == 1
    assert says in texts[0]
    assert "option 3 of “pay”" in texts[0]


def test_cost_of_a_needless_option() -> None:
    """The stated loss is that of the standard error of a rare option, by the channels' law."""
    options = ["low", "middle", "high", "Prefer not to say"]
    question = {"name": "pay", "kind": "choice", "text": "?", "options": options, "odds": "3:1"}
    (caution,) = cautions(survey(questions=[question]))
    # P(reported | not true) and the slope, with 4 options and with 3.
    errors = [(1 / (k + 2) * (1 - 1 / (k + 2))) ** 0.5 * (k + 2) / 2 for k in (4, 3)]
    percent = -(-100 * (errors[0] / errors[1] - 1) // 1)
    assert f"about {percent:.0f} % smaller" in caution.text


def test_missing_translations() -> None:
    """Each text that lacks a language is named by its place; others are not."""
    question = {"name": "mood", "kind": "choice", "text": {"en": "Mood?", "bn": "মেজাজ?"},
                "options": [{"en": "good", "bn": "ভালো"}, "bad"]}  # fmt: skip
    found = survey(questions=[question], title="Moods", intro={"en": "Hello", "bn": "হ্যালো"})
    (caution,) = cautions(found)
    assert caution.kind == "translation"
    assert caution.text == (
        "the translation into “bn” lacks the title and option 2 of “mood”. Respondents would read "
        "these in “en”."
    )
    options = [{"en": "good", "bn": "ভালো"}, {"en": "bad", "bn": "খারাপ"}]
    whole = survey(questions=[question | {"options": options}], title={"en": "Moods", "bn": "মেজাজ"})
    assert kinds(whole) == []


def test_waves_without_memory() -> None:
    """Arms that look like waves, without panels, add up."""
    one = [BASE["questions"][0]]
    found = survey(questions=one, arms=["wave-1", "wave-2", "wave-3"])
    (caution,) = cautions(found)
    assert caution.kind == "waves"
    assert f"at most {percent_up(surest(Fraction(27)))}" in caution.text
    memory = {"epsilon": 2, "waves": "memoize"}
    assert kinds(survey(questions=one, arms=["wave-1", "wave-2"], privacy=memory)) == []
    assert kinds(survey(questions=one, arms=["north", "south"])) == []


def test_removed_option_of_a_changed_survey(tmp_path: Path) -> None:
    """What cannot be compared with an earlier version is said, option by option."""
    later = BASE["questions"][1] | {"options": ["c", "a", "d"], "text": "How often, then?"}
    before, after = survey(), survey(questions=[BASE["questions"][0], later])
    sentences = list(changes(before, after))
    assert any("option 2 (“b”) is gone or reworded" in s for s in sentences)
    assert any("option 3 (“d”) is new" in s for s in sentences)
    assert any("compare by label, never by number" in s for s in sentences)
    assert any("“often” is worded differently" in s for s in sentences)
    assert list(changes(before, before)) == ["Nothing has changed: the digest is the same."]
    old = tmp_path / "old.json"
    old.write_bytes(before.to_json())
    new = tmp_path / "new.json"
    new.write_bytes(after.to_json())
    found = run("check", "--previous", old, new)
    assert "Compared with old.json:" in found.output
    assert "This is a draft" not in found.output
    data = json.loads(run("check", "--json", "--previous", old, new).output)
    assert data["changes"] == sentences


def test_other_changes() -> None:
    """Questions, arms, kinds, ranges, noise and the total."""
    number = {"name": "n", "kind": "number", "text": "N?", "min": 0, "max": 9}
    before = survey(questions=[BASE["questions"][0], number], arms=["a", "b"])
    after = survey(
        questions=[BASE["questions"][0] | {"kind": "choice", "options": ["Yes", "No"]},
                   number | {"max": 10}, {"name": "x", "kind": "yes-no", "text": "X?"}],
        arms=["a"], privacy={"epsilon": 3},
    )  # fmt: skip
    sentences = " ".join(changes(before, after))
    assert "“used” was of kind yes-no and is of kind choice" in sentences
    assert "“n”: the range of numbers is another one" in sentences
    assert "“x” is new" in sentences
    assert "the arms b are gone" in sentences
    assert "epsilon was 2.000 and is 3.000" in sentences
    assert "“x” is gone" in " ".join(changes(after, before))


def test_stated_epsilon_is_never_below_the_true_one() -> None:
    """Odds are fractions, so an asked 1.1 is met from below and shown as what it is."""
    question = {"name": "a", "kind": "yes-no", "text": "?", "epsilon": 1.1}
    found = Certificate(survey(questions=[question])).as_json()
    a, b = map(int, found["odds"])
    assert Fraction(a, b) <= Fraction("3.0041660239464331")
    assert found["epsilon"] <= 1.1
    assert found["epsilon"] > 1.0999
