"""Each complaint about other libraries and tools, and the tests that show it is none here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

COMPLAINTS: dict[str, tuple[str, ...]] = {
    # Libraries for local differential privacy.
    "the true value stands at the front of a subset": (
        "tests/exact/test_randomizer.py::test_unsorted_is_caught",
        "tests/exact/test_randomizer.py::test_law",
    ),
    "an answer outside the domain is randomized all the same": (
        "tests/client/test_respond.py::test_refused",
        "tests/vectors/test_python.py::test_refused_answers",
        "tests/js/vectors.test.mjs::answers that do not fit are refused after all noise is drawn",
    ),
    "an epsilon of 0, -1, NaN or 800 is taken": (
        "tests/protocol/test_channel.py::test_no_such_epsilon",
        "tests/authoring/test_mistakes.py::test_epsilon_that_is_none",
    ),
    "a server believes forged reports": (
        "tests/vectors/test_python.py::test_refused_reports",
        "tests/server/test_intake.py::test_mutated_reports",
        "tests/server/store_contract.py::test_schema_refuses_every_impossible_answer",
    ),
    "forked processes draw the same noise": (
        "tests/client/test_respond.py::test_forked_processes_differ",
    ),
    "a client that should remember draws again, and averaging recovers everyone": (
        "tests/client/test_panel.py::test_same_answer_same_report",
        "tests/client/test_panel.py::test_fresh_noise_would_be_caught",
        "tests/embedding/test_once.py::test_a_panel_sends_the_same_in_every_wave",
    ),
    "chances are rounded without a word": (
        "tests/exact/test_randomizer.py::test_law",
        "tests/protocol/test_channel.py::test_odds_never_exceed_epsilon",
    ),
    "randomness of floats cannot reach the flip at a large epsilon": (
        "tests/exact/test_randomizer.py::test_below_is_uniform",
        "tests/js/law.test.mjs::every report has exactly the stated probability",
    ),
    # Survey tools.
    "two options have one name": (
        "tests/complaints/test_surveys.py::test_two_options_of_one_name",
        "tests/complaints/test_surveys.py::test_two_options_of_one_name_in_another_language",
        "tests/authoring/test_mistakes.py::test_mistakes_all_at_once",
    ),
    "a translation is missing": (
        "tests/complaints/test_surveys.py::"
        "test_a_missing_translation_is_found_and_never_shown_as_nothing",
        "tests/complaints/test_surveys.py::test_an_interface_that_lacks_a_language_is_said",
        "tests/authoring/test_check.py::test_missing_translations",
        "tests/browser/test_languages.py::test_from_right_to_left_everything_is_mirrored",
    ),
    "an option is removed from a survey that runs": (
        "tests/complaints/test_surveys.py::test_a_removed_option_mixes_with_nothing",
        "tests/authoring/test_check.py::test_removed_option_of_a_changed_survey",
        "tests/embedding/test_once.py::test_a_changed_survey_is_another",
    ),
    "a draft was answered and never published": (
        "tests/complaints/test_surveys.py::test_a_draft_that_was_never_published",
        "tests/browser/test_preview.py::test_a_draft",
    ),
    "a label runs as a formula": (
        "tests/complaints/test_formula.py::test_results_as_csv",
        "tests/complaints/test_formula.py::test_results_as_json",
        "tests/complaints/test_formula.py::test_results_as_a_page",
        "tests/complaints/test_formula.py::test_results_as_an_r_script",
        "tests/complaints/test_formula.py::test_reports",
        "tests/complaints/test_formula.py::test_counts",
        "tests/complaints/test_formula.py::test_every_page_of_the_server",
        "tests/complaints/test_formula.py::test_what_is_pasted",
        "tests/complaints/test_formula.py::test_a_workbook",
    ),
    "arrow keys in a radio group of five skip, leave or send": (
        "tests/browser/test_answering.py::test_arrows_in_five_options",
        "tests/browser/test_answering.py::test_arrows_and_enter_neither_send_nor_move_on",
    ),
    "a device whose clock is in 2099 cannot answer, or never again": (
        "tests/browser/test_answering.py::test_a_clock_that_is_wrong",
        "tests/server/test_intake.py::test_dates_and_target",
        "tests/server/drills.py::clock_jumps",
    ),
    "a request is blocked and the respondent is thanked": (
        "tests/browser/test_answering.py::test_a_blocked_request_is_shown_to_the_respondent",
        "tests/embedding/test_ways.py::test_a_blocked_request_is_shown_in_a_plain_form",
        "tests/client/test_submit.py::test_no_detour_counts_as_an_acknowledgement",
    ),
}


@pytest.mark.parametrize("complaint", COMPLAINTS)
def test_has_its_tests(complaint: str) -> None:
    """Every test that is named here exists."""
    for test in COMPLAINTS[complaint]:
        path, _, name = test.partition("::")
        source = (ROOT / path).read_text(encoding="utf-8")
        known = re.escape(name) if path.endswith(".mjs") else rf"def {name}\("
        assert re.search(known, source), test
