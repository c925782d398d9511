"""The contract of the server as an OpenAPI document, made from what the server itself checks by.

Statuses, reasons and limits come from ``PROBLEMS`` and the protocol, so that the document cannot
say anything else than the server does. The operator's page is no part of it.
"""

from __future__ import annotations

from http import HTTPStatus
from importlib.metadata import version
from typing import Any, Final, get_args

from deniable_protocol.survey import MAX_REPORT_BYTES, SURVEY_NAME

from .problems import MAX_BATCH, PROBLEMS, RETRY_SECONDS
from .readiness import Unready

Part = dict[str, Any]

_JSON, _TEXT, _HTML = "application/json", "text/plain", "text/html"
_SENT: Final = ("not-json", "shape", "survey", "id", "arm", "token", "questions", "subset",
                "too-large")  # fmt: skip
_BECAME: Final = ("conflict", "closed", "erased", "spent")
_NAME: Final = f"^{SURVEY_NAME.pattern}$"
_HEX: Final = "^(?:[0-9a-fA-F]{2})+$"
_SURVEY: Final[Part] = {
    "name": "name", "in": "path", "required": True, "description": "The survey's name.",
    "schema": {"type": "string", "pattern": _NAME},
}  # fmt: skip


def document() -> Part:
    """Make the document, OpenAPI 3.1."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "deniable",
            "version": version("deniable"),
            "description": "Takes noisy reports of surveys in which every answer is deniable.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": _intake() | _pages() | _around(),
        "components": {
            "schemas": {
                "Report": _report(), "Result": _result(), "Problem": _problem(),
                "TokenRequest": _token_request(),
            },
        },
    }  # fmt: skip


def _intake() -> dict[str, Part]:
    found = _plain("The newest version, as its digest names it.", _JSON, {"type": "object"})
    published = _operation(
        "getSurvey", "A published survey.", {"200": found} | _problems("unknown-survey", "erased")
    )
    return {
        "/v1/surveys/{name}": {"parameters": [_SURVEY], "get": published},
        "/v1/surveys/{name}/reports": {"parameters": [_SURVEY], "post": _send_reports()},
        "/v1/surveys/{name}/tokens": {"parameters": [_SURVEY], "post": _get_token()},
    }


def _send_reports() -> Part:
    done = {"type": "object", "properties": {"status": {"enum": ["stored", "same"]}},
            "required": ["status"], "additionalProperties": False}  # fmt: skip
    results = {"type": "array", "items": _reference("Result"), "maxItems": MAX_BATCH}
    taken = {
        "201": _plain("Stored, on disk.", _JSON, done),
        "200": _plain("The same report is stored already.", _JSON, done),
        "207": _plain("For each report of an array, in order, what became of it.", _JSON, results),
    }
    refused = _problems(
        *_SENT, *_BECAME, "batch-too-large", "unknown-survey", "too-many", "unavailable"
    )
    report = _reference("Report")
    body = {"oneOf": [report, {"type": "array", "items": report, "maxItems": MAX_BATCH}]}
    return _operation("sendReports", "Send one report, or an array of them.", taken | refused) | {
        "description": f"One report is at most {MAX_REPORT_BYTES >> 10} KiB. It may be sent as any "
        "content type: browsers send text/plain. Sending the same report again is safe.",
        "requestBody": _body(body),
    }


def _get_token() -> Part:
    signed = {"type": "object", "properties": {"signed": {"type": "string", "pattern": _HEX}},
              "required": ["signed"], "additionalProperties": False}  # fmt: skip
    answers = {"200": _plain("The blind signature, in hexadecimal digits.", _JSON, signed)}
    refused = _problems("token-request", "code", "too-many", "unavailable", "batch-too-large")
    nowhere = _errors(HTTPStatus.NOT_FOUND, "This server signs no invitations.")
    return _operation(
        "getToken", "Turn an invitation code into a blind signature.", answers | refused | nowhere
    ) | {
        "description": "RFC 9474, RSABSSA-SHA384-PSS-Randomized. A code is signed for once; the "
        "same request again gives the same signature. It may be sent as any content type.",
        "requestBody": _body(_reference("TokenRequest")),
    }


def _pages() -> dict[str, Part]:
    arm = {"name": "arm", "in": "query", "description": "The collection arm of a link.",
           "schema": {"type": "string"}}  # fmt: skip
    missing = _plain("There is no survey of this name here.", _HTML, {"type": "string"})
    form = {
        "200": _page("The form, or that the survey is closed."),
        "404": missing,
        "410": _page("The survey was erased."),
    }
    results = {
        "200": _page("The results so far."),
        "404": _page("There is no such survey, it shows no results, or it has too few reports."),
    }
    drawing = _errors(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "The first results are being drawn, or the database does not answer.",
    )["503"]
    drawing["content"] |= _page("")["content"]
    reason = {"name": "reason", "in": "path", "required": True,
              "schema": {"enum": list(PROBLEMS)}}  # fmt: skip
    return {
        "/": {"get": _operation(
            "listSurveys", "A page of the surveys that are open.", {"200": _page("The page.")},
        )},
        "/s/{name}": {"parameters": [_SURVEY], "get": _operation(
            "getForm", "The page with a survey's form.", form,
        ) | {"parameters": [arm]}},
        "/s/{name}/results": {"parameters": [_SURVEY], "get": _operation(
            "getResults", "The page with a survey's results, where it shows them.",
            results | {"503": drawing},
        )},
        "/problems/{reason}": {"parameters": [reason], "get": _operation(
            "explain", "What the type of a problem means.",
            {"200": _page("In words.")} | _errors(HTTPStatus.NOT_FOUND, "No such problem."),
        )},
    }  # fmt: skip


def _around() -> dict[str, Part]:
    name = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}
    file = {
        "description": "The file.",
        "content": {
            kind: {"schema": {"type": "string"}} for kind in ("text/javascript", "text/css")
        },
    }
    words = {"type": "string"}
    return {
        "/client/{name}": {"parameters": [name], "get": _operation(
            "getClientFile", "A file of the browser module.",
            {"200": file, "304": {"description": "It has not changed."}}
            | _errors(HTTPStatus.NOT_FOUND, "No such file."),
        )},
        "/healthz": {"get": _operation(
            "isAlive", "Whether the server answers.", {"200": _plain("It does.", _TEXT, words)},
        )},
        "/readyz": {"get": _operation(
            "isReady", "Whether reports can be stored now.",
            {"200": _plain("They can.", _TEXT, words)} | _problems(*get_args(Unready)),
        )},
        "/metrics": {"get": _operation(
            "getMetrics", "Counts for Prometheus, in tens.",
            {"200": _plain("The counts.", _TEXT, words)}
            | _errors(HTTPStatus.NOT_FOUND, "This server has no metrics.")
            | _problems("unavailable"),
        )},
        "/openapi.json": {"get": _operation(
            "describe", "This document.",
            {"200": _plain("The document.", _JSON, {"type": "object"})},
        )},
    }  # fmt: skip


def _report() -> Part:
    indices = {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 1}
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["survey", "id", "answers"],
        "properties": {
            "survey": {"type": "string", "description": "Digest of the survey."},
            "id": {"type": "string", "pattern": "^[0-7][0-9a-f]{15}$"},
            "answers": {"type": "object", "additionalProperties": indices},
            "arm": {"type": "string", "pattern": _NAME},
            "token": {"type": "string", "contentEncoding": "base64"},
        },
    }


def _result() -> Part:
    reasons = [*_SENT, *_BECAME]
    refused = sorted({PROBLEMS[reason].status for reason in reasons})
    return {
        "oneOf": [
            {"type": "object", "properties": {"status": {"enum": [200, 201]}},
             "required": ["status"], "additionalProperties": False},
            {"type": "object",
             "properties": {"status": {"enum": refused}, "reason": {"enum": reasons}},
             "required": ["status", "reason"], "additionalProperties": False},
        ]
    }  # fmt: skip


def _token_request() -> Part:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["code", "blinded"],
        "properties": {
            "code": {"type": "string", "description": "The invitation code, as people type it."},
            "blinded": {"type": "string", "pattern": _HEX,
                        "description": "The blinded message, in hexadecimal digits."},
        },
    }  # fmt: skip


def _problem() -> Part:
    return {
        "type": "object",
        "required": ["type", "title", "status"],
        "properties": {
            "type": {"type": "string", "format": "uri-reference"},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "reason": {"enum": list(PROBLEMS)},
        },
        "additionalProperties": False,
    }


def _problems(*reasons: str) -> dict[str, Part]:
    """Describe the answers for some reasons, joined by status."""
    by_status: dict[int, list[str]] = {}
    for reason in reasons:
        by_status.setdefault(PROBLEMS[reason].status, []).append(PROBLEMS[reason].title)
    return {
        status: answer
        for number, titles in by_status.items()
        for status, answer in _errors(HTTPStatus(number), " ".join(titles)).items()
    }


def _errors(status: HTTPStatus, description: str) -> dict[str, Part]:
    answer = _plain(description, "application/problem+json", _reference("Problem"))
    if status in (HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS):
        wait = {"description": "Seconds to wait.", "schema": {"const": RETRY_SECONDS}}
        answer["headers"] = {"Retry-After": wait}
    return {str(status.value): answer}


def _operation(name: str, summary: str, responses: Part) -> Part:
    return {"operationId": name, "summary": summary, "responses": responses}


def _page(description: str) -> Part:
    return _plain(description, _HTML, {"type": "string"})


def _plain(description: str, kind: str, schema: Part) -> Part:
    return {"description": description, "content": {kind: {"schema": schema}}}


def _body(schema: Part) -> Part:
    return {"required": True, "content": {kind: {"schema": schema} for kind in (_JSON, _TEXT)}}


def _reference(name: str) -> Part:
    return {"$ref": f"#/components/schemas/{name}"}
