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

# Every kind of question.
KINDS: dict[str, Any] = {
    "name": "kinds",
    "title": {"en": "Work and health", "bn": "কাজ ও স্বাস্থ্য", "zh-Hant": "工作與健康"},
    "intro": {"en": "Six questions, about two minutes.", "bn": "ছয়টি প্রশ্ন, প্রায় দুই মিনিট।",
              "zh-Hant": "六個問題，約兩分鐘。"},
    "privacy": {"epsilon": 4},
    "questions": [
        {"name": "works", "kind": "yes-no",
         "text": {"en": "Do you work for pay?", "bn": "আপনি কি বেতনের বিনিময়ে কাজ করেন?",
                  "zh-Hant": "您有支薪的工作嗎？"}},
        {"name": "pay", "kind": "number", "min": 0, "max": 999_999, "step": 1, "optional": True,
         "unit": {"en": "taka a month", "bn": "টাকা মাসে", "zh-Hant": "塔卡／月"},
         "show_if": {"question": "works", "is": "Yes"},
         "text": {"en": "How much do you earn?", "bn": "আপনি কত আয় করেন?",
                  "zh-Hant": "您的收入是多少？"}},
        {"name": "used", "kind": "multiple", "ask": 2,
         "options": [{"en": "Alcohol", "bn": "মদ", "zh-Hant": "酒"},
                     {"en": "Sleeping pills", "bn": "ঘুমের ওষুধ", "zh-Hant": "安眠藥"},
                     {"en": "Painkillers", "bn": "ব্যথানাশক", "zh-Hant": "止痛藥"}],
         "text": {"en": "Which of these did you use last week?",
                  "bn": "গত সপ্তাহে এগুলোর কোনটি ব্যবহার করেছেন?",
                  "zh-Hant": "上星期您用過以下哪些？"}},
        {"name": "tired", "kind": "scale", "optional": True, "scores": [0, 1, 2, 3, 4],
         "options": [{"en": "Never", "bn": "কখনো না", "zh-Hant": "從不"},
                     {"en": "Rarely", "bn": "কদাচিৎ", "zh-Hant": "很少"},
                     {"en": "Sometimes", "bn": "মাঝে মাঝে", "zh-Hant": "有時"},
                     {"en": "Often", "bn": "প্রায়ই", "zh-Hant": "經常"},
                     {"en": "Always", "bn": "সবসময়", "zh-Hant": "總是"}],
         "text": {"en": "How often are you too tired to work?",
                  "bn": "কত ঘন ঘন আপনি এত ক্লান্ত থাকেন যে কাজ করতে পারেন না?",
                  "zh-Hant": "您有多常累得無法工作？"}},
        {"name": "weight", "kind": "number", "min": 30, "max": 200, "step": 0.5, "unit": "kg",
         "text": {"en": "How much do you weigh?", "bn": "আপনার ওজন কত?",
                  "zh-Hant": "您的體重是多少？"}},
        {"name": "month", "kind": "choice", "options": [f"Month {n}" for n in range(1, 13)],
         "text": {"en": "In which month were you born?", "bn": "আপনি কোন মাসে জন্মেছেন?",
                  "zh-Hant": "您在哪個月出生？"}},
    ],
}  # fmt: skip

ARMS: dict[str, Any] = {
    "name": "arms",
    "title": "Arms",
    "arms": ["spring", "autumn"],
    "privacy": {"epsilon": 2, "allocation": "sample", "ask": 1},
    "questions": [
        {"name": "smokes", "kind": "yes-no", "text": "Do you smoke?"},
        {"name": "drinks", "kind": "yes-no", "text": "Do you drink?"},
    ],
}

CALLED = 412_867_530
"""A true answer that occurs nowhere else, to be looked for everywhere."""

CALLS: dict[str, Any] = {
    "name": "calls",
    "title": "Calls",
    "privacy": {"epsilon": 1},
    "questions": [
        {"name": "called", "kind": "number", "min": 412_000_000, "max": 412_999_999, "step": 1,
         "text": "Which number did you call?"},
    ],
}  # fmt: skip

ELEVEN: dict[str, Any] = {
    "name": "eleven",
    "title": "Trust",
    "privacy": {"epsilon": 1},
    "questions": [
        {"name": "trust", "kind": "scale", "text": "How far do you trust your employer?",
         "options": [str(n) for n in range(11)], "scores": list(range(11))},
    ],
}  # fmt: skip

# Short enough for a picture.
LEAVE: dict[str, Any] = {
    "name": "leave",
    "title": {"en": "Sick leave", "bn": "অসুস্থতার ছুটি", "zh-Hant": "病假"},
    "intro": {"en": "Three questions about your work. Nobody sees what you answer.",
              "bn": "আপনার কাজ নিয়ে তিনটি প্রশ্ন। আপনার উত্তর কেউ দেখে না।",
              "zh-Hant": "關於您工作的三個問題。沒有人會看到您的答案。"},
    "privacy": {"epsilon": 3},
    "questions": [
        {"name": "feigned", "kind": "yes-no", "truth": "3/4",
         "text": {"en": "Did you ever call in sick without being ill?",
                  "bn": "আপনি কি কখনো অসুস্থ না হয়েও অসুস্থতার ছুটি নিয়েছেন?",
                  "zh-Hant": "您曾經沒有生病卻請病假嗎？"},
         "options": [{"en": "Yes", "bn": "হ্যাঁ", "zh-Hant": "有"},
                     {"en": "No", "bn": "না", "zh-Hant": "沒有"}]},
        {"name": "days", "kind": "number", "min": 0, "max": 60, "step": 1, "optional": True,
         "unit": {"en": "days", "bn": "দিন", "zh-Hant": "天"},
         "text": {"en": "How many days were you on leave last year?",
                  "bn": "গত বছর আপনি কত দিন ছুটিতে ছিলেন?",
                  "zh-Hant": "去年您請了幾天假？"}},
        {"name": "stress", "kind": "scale", "scores": [0, 1, 2, 3, 4],
         "options": [{"en": "Never", "bn": "কখনো না", "zh-Hant": "從不"},
                     {"en": "Rarely", "bn": "কদাচিৎ", "zh-Hant": "很少"},
                     {"en": "Sometimes", "bn": "মাঝে মাঝে", "zh-Hant": "有時"},
                     {"en": "Often", "bn": "প্রায়ই", "zh-Hant": "經常"},
                     {"en": "Always", "bn": "সবসময়", "zh-Hant": "總是"}],
         "text": {"en": "How often does work keep you awake?",
                  "bn": "কাজের চিন্তায় কত ঘন ঘন আপনার ঘুম আসে না?",
                  "zh-Hant": "您有多常因為工作而睡不著？"}},
    ],
}  # fmt: skip

LOUD: dict[str, Any] = {
    "name": "loud",
    "title": "More than a device allows",
    "privacy": {"epsilon": 4.5},
    "questions": [{"name": "smokes", "kind": "yes-no", "text": "Do you smoke?"}],
}

# Names that mean something to a form, or to every object.
NAMES: dict[str, Any] = {
    "name": "names",
    "title": "Names",
    "privacy": {"epsilon": 1, "allocation": "sample", "ask": 1},
    "questions": [
        {"name": name, "kind": "yes-no", "text": f"{name}?"}
        for name in ("reset", "submit", "elements", "onsubmit", "constructor")
    ],
}

# Published with the key of the site's own issuer.
INVITED: dict[str, Any] = {
    "name": "invited",
    "title": "By invitation",
    "privacy": {"epsilon": 1},
    "questions": [{"name": "smokes", "kind": "yes-no", "text": "Do you smoke?"}],
}

SOURCES = (SHORT, WIDE, KINDS, ARMS, CALLS, ELEVEN, LEAVE, LOUD, NAMES)
SURVEYS = {source["name"]: Survey.load(source) for source in SOURCES}
