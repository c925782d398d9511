"""Taking reports: one, or many at once. Everything that is not a report is refused as a whole."""

from __future__ import annotations

from typing import Any, Final

from flask import Blueprint, Response, jsonify, request

from deniable_protocol import ReportError
from deniable_protocol.canonical import read_strict
from deniable_protocol.survey import MAX_REPORT_BYTES
from deniable_server.problems import MAX_BATCH, PROBLEMS, problem
from deniable_server.published import Entry, Outcome, Published
from deniable_server.services import services

blueprint = Blueprint("intake", __name__)

_STATUS: Final = {Outcome.STORED: 201, Outcome.SAME: 200}


@blueprint.post("/v1/surveys/<name>/reports")
def take(name: str) -> Response:
    """Take one report, or an array of up to 1,000.

    One: 201 when it is stored, 200 when the same report is stored already. An array: 207 with a
    list that has, for each report in order, the status it would have had alone.
    """
    newest = services().store.newest(name)
    if newest is None:
        return problem("unknown-survey")
    body = request.get_data(cache=False)
    several = body.lstrip()[:1] == b"["
    if len(body) > MAX_REPORT_BYTES and not several:
        raise ReportError("too-large")
    try:
        found = read_strict(body)
    except ValueError:
        raise ReportError("not-json") from None
    if not services().admits(request.remote_addr, len(found) if several else 1):
        return problem("too-many")
    return _take_many(found, newest) if several else _take_one(found, newest)


def _take_one(found: Any, newest: Published) -> Response:
    (outcome,) = services().writer.submit([_entry(found, newest)])
    if outcome not in _STATUS:
        return problem(outcome.value)
    return _answer({"status": outcome.value}, _STATUS[outcome])


def _take_many(found: list[Any], newest: Published) -> Response:
    if len(found) > MAX_BATCH:
        return problem("batch-too-large")
    summary: list[dict[str, Any]] = []
    entries: dict[int, Entry] = {}
    for place, item in enumerate(found):
        try:
            entries[place] = _entry(item, newest)
        except ReportError as error:
            summary.append(_refused(error.reason))
        else:
            summary.append({})
    outcomes = services().writer.submit(list(entries.values()))
    for place, outcome in zip(entries, outcomes, strict=True):
        taken = outcome in _STATUS
        summary[place] = {"status": _STATUS[outcome]} if taken else _refused(outcome.value)
    return _answer(summary, 207)


def _entry(found: Any, newest: Published) -> Entry:
    """Check a report against the version it was made for; the newest if it names none of them."""
    digest = found.get("survey") if isinstance(found, dict) else None
    named = services().store.find(digest) if isinstance(digest, str) else None
    if named is None or named.survey.name != newest.survey.name:
        named = newest
    return named, named.parse(found)


def _refused(reason: str) -> dict[str, Any]:
    return {"status": PROBLEMS[reason].status, "reason": reason}


def _answer(body: object, status: int) -> Response:
    response = jsonify(body)
    response.status_code = status
    return response
