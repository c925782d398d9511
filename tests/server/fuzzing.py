"""Requests that the server's own contract allows, and some that it does not, and what is answered.

Schemathesis makes requests from ``/openapi.json`` and holds each answer against it: status, media
type, headers and shape. What it cannot know is which surveys there are; so names and reports of
real ones are put into many of its requests, and what comes of them is counted.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.core.parameters import ParameterLocation

from deniable_protocol import Survey

from .samples import INVITED, SHOWN, SURVEY, body, token

SURVEYS = (SURVEY, SHOWN, INVITED)
REPORTS = "/v1/surveys/{name}/reports"
NAMED = (
    REPORTS,
    "/v1/surveys/{name}/tokens",
    "/v1/surveys/{name}",
    "/s/{name}",
    "/s/{name}/results",
)
DEEP = NAMED[:3]

Seen = Counter[tuple[str, int]]


def fuzz(schema: Any, examples: int, few: int, *, anew: bool = False) -> Seen:
    """Send requests of every operation, and raise what the contract does not say of an answer.

    Args:
        schema: The contract, as schemathesis loaded it.
        examples: How many requests of each kind (allowed, not allowed) go to the intake's routes.
        few: How many go to each of the others.
        anew: Whether to make other requests than in the last run.

    Returns:
        How often each operation answered with each status.
    """
    load_all_checks()
    seen: Seen = Counter()
    for found in schema.get_all_operations():
        operation = found.ok()
        for mode in GenerationMode:
            if mode is GenerationMode.NEGATIVE and not _can_be_wrong(operation):
                continue
            count = examples if operation.path in DEEP else few
            _send_many(operation, mode, count, seen, anew=anew)
    return seen


def _send_many(operation: Any, mode: GenerationMode, count: int, seen: Seen, *, anew: bool) -> None:
    strategy = operation.as_strategy(generation_mode=mode)

    @settings(
        max_examples=count, deadline=None, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck), verbosity=Verbosity.quiet, derandomize=not anew,
    )  # fmt: skip
    @given(case=strategy, survey=st.sampled_from([None, *SURVEYS]), change=_CHANGES)
    def send(case: Any, survey: Survey | None, change: str) -> None:
        allowed = mode is GenerationMode.POSITIVE
        if survey is not None and (allowed or _has_wrong_body(case)) and operation.path in NAMED:
            case.path_parameters["name"] = survey.name
            if allowed and operation.path == REPORTS:
                case.body = _changed(case.body, survey, change)
        answer = case.call()
        seen[operation.label, answer.status_code] += 1
        case.validate_response(answer, excluded_checks=_no_promise(operation, answer.status_code))

    send()


def _no_promise(operation: Any, status: int) -> list[Any]:
    """Leave out what the contract does not say: only a survey says what its answers are.

    So an allowed report may be refused, and an array is not refused for one that is not allowed.
    That 413 is a refusal too, schemathesis does not know.
    """
    if operation.path != REPORTS:
        return []
    refused = ["negative_data_rejection"] if status in (207, 413) else []
    return list(CHECKS.get_by_names(["positive_data_acceptance", *refused]))


_CHANGES = st.sampled_from(["", "survey", "id", "answers", "whole", "whole", "several"])


def _changed(made: Any, survey: Survey, change: str) -> Any:
    """Put a real report, or a part of one, into what was made."""
    real = body(survey) | ({"token": token()} if survey is INVITED else {})
    if change == "whole":
        return real
    if change == "several":
        return [real, *(made if isinstance(made, list) else [made]), real]
    if change and isinstance(made, dict):
        return real | {key: value for key, value in made.items() if key == change}
    return made


def _has_wrong_body(case: Any) -> bool:
    """Say whether a request is not allowed whatever its path is."""
    body = case.meta.components.get(ParameterLocation.BODY)
    return body is not None and body.mode is GenerationMode.NEGATIVE


def _can_be_wrong(operation: Any) -> bool:
    """Say whether a request of this operation can be one that the contract does not allow."""
    return bool(operation.body) or (
        bool(operation.path_parameters) and operation.path != "/client/{name}"
    )


def load(app_or_url: Any) -> Any:
    """Load the contract from an application, or from a server's address."""
    if isinstance(app_or_url, str):
        return schemathesis.openapi.from_url(f"{app_or_url}/openapi.json")
    return schemathesis.openapi.from_wsgi("/openapi.json", app_or_url)
