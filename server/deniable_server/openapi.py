"""The contract of the intake as an OpenAPI document, made from what the server itself checks by.

Statuses, reasons and limits come from ``PROBLEMS`` and the protocol, so that the document cannot
say anything else than the server does.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any, Final

from deniable_protocol.survey import MAX_REPORT_BYTES, SURVEY_NAME

from .problems import MAX_BATCH, PROBLEMS

_REPORT_REASONS: Final = (
    "not-json", "shape", "survey", "id", "arm", "token", "questions", "subset",
)  # fmt: skip
_SURVEY: Final = {
    "name": "name", "in": "path", "required": True, "description": "The survey's name.",
    "schema": {"type": "string", "pattern": f"^{SURVEY_NAME.pattern}$"},
}  # fmt: skip


def document() -> dict[str, Any]:
    """Make the document, OpenAPI 3.1."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "deniable",
            "version": version("deniable"),
            "description": "Takes noisy reports of surveys in which every answer is deniable.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": {
            "/v1/surveys/{name}": {"parameters": [_SURVEY], "get": _published()},
            "/v1/surveys/{name}/reports": {"parameters": [_SURVEY], "post": _take()},
            "/healthz": {"get": _operation(
                "isAlive", "Tell whether the server answers.",
                {"200": _plain("It does.", "text/plain", {"type": "string"})},
            )},
            "/openapi.json": {"get": _operation(
                "describe", "This document.",
                {"200": _plain("The document.", "application/json", {"type": "object"})},
            )},
        },
        "components": {"schemas": {"Report": _report(), "Problem": _problem()}},
    }  # fmt: skip


def _operation(name: str, summary: str, responses: dict[str, Any]) -> dict[str, Any]:
    return {"operationId": name, "summary": summary, "responses": responses}


def _published() -> dict[str, Any]:
    found = _plain("The newest version, as its digest names it.", "application/json",
                   {"type": "object"})  # fmt: skip
    return _operation(
        "getSurvey", "A published survey.", {"200": found} | _problems("unknown-survey")
    )


def _take() -> dict[str, Any]:
    report = {"$ref": "#/components/schemas/Report"}
    status = {
        "type": "object",
        "properties": {
            "status": {"enum": [200, 201, 409, 422, 413, "stored", "same"]},
            "reason": {"enum": list(PROBLEMS)},
        },
        "required": ["status"],
    }
    taken = {
        "201": _plain("Stored, on disk.", "application/json", status),
        "200": _plain("The same report is stored already.", "application/json", status),
        "207": _plain("For each report of an array, in order, what became of it.",
                      "application/json", {"type": "array", "items": status}),
    }  # fmt: skip
    refused = _problems(
        *_REPORT_REASONS, "too-large", "batch-too-large", "conflict", "unknown-survey",
        "unavailable", *(later for later in ("closed", "spent", "too-many") if later in PROBLEMS),
    )  # fmt: skip
    body = {"oneOf": [report, {"type": "array", "items": report, "maxItems": MAX_BATCH}]}
    return _operation("sendReports", "Send one report, or an array of them.", taken | refused) | {
        "description": f"One report is at most {MAX_REPORT_BYTES >> 10} KiB. It may be sent as any "
        "content type: browsers send text/plain. Sending the same report again is safe.",
        "requestBody": {
            "required": True,
            "content": {kind: {"schema": body} for kind in ("application/json", "text/plain")},
        },
    }


def _report() -> dict[str, Any]:
    indices = {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 1}
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["survey", "id", "answers"],
        "properties": {
            "survey": {"type": "string", "description": "Digest of the survey."},
            "id": {"type": "string", "pattern": "^[0-7][0-9a-f]{15}$"},
            "answers": {"type": "object", "additionalProperties": indices},
            "arm": {"type": "string", "pattern": f"^{SURVEY_NAME.pattern}$"},
            "token": {"type": "string", "contentEncoding": "base64"},
        },
    }


def _problem() -> dict[str, Any]:
    return {
        "type": "object",
        "required": ["type", "title", "status"],
        "properties": {
            "type": {"type": "string", "format": "uri-reference"},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "reason": {"enum": list(PROBLEMS)},
        },
    }


def _problems(*reasons: str) -> dict[str, Any]:
    """Describe the answers for some reasons, joined by status."""
    by_status: dict[int, list[str]] = {}
    for reason in reasons:
        by_status.setdefault(PROBLEMS[reason].status, []).append(PROBLEMS[reason].title)
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        str(status): _plain(" ".join(titles), "application/problem+json", schema)
        for status, titles in by_status.items()
    }


def _plain(description: str, kind: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": description, "content": {kind: {"schema": schema}}}
