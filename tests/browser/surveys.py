"""Surveys that the browser tests answer: one of every kind of question, one short, one long."""

from __future__ import annotations

from typing import Any

from deniable_protocol import Survey

SHORT: dict[str, Any] = {
    "name": "short",
    "title": {"en": "Exams", "bn": "পরীক্ষা", "zh-Hant": "考試", "ar": "الامتحانات"},
    "intro": {"en": "Three questions.", "bn": "তিনটি প্রশ্ন।", "zh-Hant": "三個問題。",
              "ar": "ثلاثة أسئلة."},
    "privacy": {"epsilon": 3},
    "questions": [
        {"name": "cheated", "kind": "yes-no",
         "text": {"en": "Did you ever cheat in an exam?", "bn": "আপনি কি কখনো পরীক্ষায় নকল করেছেন?",
                  "zh-Hant": "您曾在考試中作弊嗎？", "ar": "هل سبق أن غششت في امتحان؟"}},
        {"name": "subject", "kind": "choice", "optional": True, "text": "In which subject?",
         "options": ["Arithmetic", "Botany", "Chemistry"]},
        {"name": "regret", "kind": "scale", "text": "How much do you regret it?",
         "options": ["Not at all", "A little", "Somewhat", "Much", "Very much"],
         "scores": [0, 1, 2, 3, 4]},
    ],
}  # fmt: skip

WIDE: dict[str, Any] = {
    "name": "wide",
    "title": "Months",
    "privacy": {"epsilon": 1},
    "questions": [
        {"name": "month", "kind": "choice", "text": "In which month were you born?",
         "options": [f"Month {number}" for number in range(1, 13)]},
    ],
}  # fmt: skip

SOURCES = (SHORT, WIDE)
SURVEYS = {source["name"]: Survey.load(source) for source in SOURCES}
