"""Send a finished report, and only that: the same bytes until the server acknowledges them."""

from __future__ import annotations

import json
import secrets
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

from deniable_protocol import Report, SubmitError, Survey, SurveyError
from deniable_protocol.canonical import canonical, read_strict

WAITS: Final = (1.0, 2.0, 4.0, 8.0)
_MOST_BYTES: Final = 4 * 1024 * 1024
_LONGEST_WAIT: Final = 60.0


@dataclass(frozen=True)
class Receipt:
    """Say how the server acknowledged a report.

    Attributes:
        new: False if the server already held these same bytes, as after a lost acknowledgement.
        attempts: How often the report was sent.
    """

    new: bool
    attempts: int


def survey_address(url: str) -> str:
    """Turn any address of a survey (the form's, or the published JSON's) into the latter.

    Raises:
        SubmitError: If the address is not http or https, or not that of a survey.

    >>> survey_address("https://example.org/s/canteen")
    'https://example.org/v1/surveys/canteen'
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise SubmitError(f"expected an address that starts with https:// or http://, got {url!r}")
    head, _, name = parts.path.rstrip("/").removesuffix("/reports").rpartition("/")
    root = next((head[: -len(end)] for end in ("/v1/surveys", "/s") if head.endswith(end)), None)
    if root is None or not name:
        raise SubmitError(f"expected an address that ends in /s/NAME, got {url!r}")
    return urlunsplit((parts.scheme, parts.netloc, f"{root}/v1/surveys/{name}", "", ""))


def fetch_survey(url: str, *, digest: str | None = None, timeout: float = 10.0) -> Survey:
    """Fetch a published survey and check that it is the pinned one.

    Args:
        url: The survey's address.
        digest: The digest the survey must have; None takes whatever the server gives.
        timeout: Seconds to wait for the server.

    Raises:
        SubmitError: If the server cannot be reached.
        SurveyError: If what it gives is not a survey, or not the pinned one.
    """
    status, body = _exchange(_request(survey_address(url), None), timeout)
    if status != 200:
        raise SubmitError(f"expected a survey at {url}, the server answered {status}")
    survey = Survey.from_json(body)
    if digest is not None and survey.digest != digest:
        raise SurveyError([f"expected the survey {digest}, got {survey.digest}"])
    return survey


def submit(
    report: Report,
    url: str,
    *,
    timeout: float = 10.0,
    waits: Sequence[float] = WAITS,
    sleep: Callable[[float], object] = time.sleep,
) -> Receipt:
    """Send a report until it is acknowledged.

    A retry sends the same bytes. The server tells them by their id and stores one row, so a lost
    acknowledgement costs nothing, and no fresh noise is drawn that could be averaged away.

    Args:
        report: What ``respond`` gave.
        url: The survey's address.
        timeout: Seconds to wait for each answer.
        waits: Seconds to wait before each further attempt; up to half as much again is added at
            random, so that many devices do not come back at once.
        sleep: Called with the seconds to wait.

    Raises:
        SubmitError: If the server refuses the report or stays out of reach.
    """
    address, body = survey_address(url) + "/reports", report.to_json()
    status, attempts = _deliver(address, body, "status", timeout, waits, sleep)
    return Receipt(new=status == "stored", attempts=attempts)


def request_signature(
    url: str,
    code: str,
    blinded: bytes,
    *,
    timeout: float = 10.0,
    waits: Sequence[float] = WAITS,
    sleep: Callable[[float], object] = time.sleep,
) -> bytes:
    """Ask the issuer of a survey to sign a blinded message for an invitation code.

    The issuer signs one message for one code, and signs that one again if it is asked again.

    Args:
        url: The survey's address at the issuer.
        code: The invitation code.
        blinded: What ``blind`` made.
        timeout: As for ``submit``.
        waits: As for ``submit``.
        sleep: As for ``submit``.

    Raises:
        SubmitError: If the issuer refuses the code or stays out of reach.
    """
    body = canonical({"code": code, "blinded": blinded.hex()})
    address = survey_address(url) + "/tokens"
    signed, _ = _deliver(address, body, "signed", timeout, waits, sleep)
    try:
        return bytes.fromhex(signed)
    except ValueError:
        raise SubmitError("the issuer's answer is not a signature") from None


def _deliver(
    address: str,
    body: bytes,
    member: str,
    timeout: float,
    waits: Sequence[float],
    sleep: Callable[[float], object],
) -> tuple[str, int]:
    """Send the same bytes until they are accepted; give a member of the answer, and attempts.

    Whatever else says 200, such as a network's log-in page, has no such member.
    """
    problem = "no attempt was made"
    for attempt, wait in enumerate((*waits, None), 1):
        try:
            status, answer = _exchange(_request(address, body), timeout)
        except SubmitError as error:
            problem = str(error)
        else:
            if status in (200, 201) and (found := _member(answer, member)) is not None:
                return found, attempt
            problem = f"the server answered {status}: {_title(status, answer)}"
            if 201 < status < 500 and status not in (408, 425, 429):
                raise SubmitError(problem)
        if wait is not None:
            sleep(min(wait * (1 + secrets.randbelow(501) / 1000), _LONGEST_WAIT))
    raise SubmitError(f"{problem} (after {len(waits) + 1} attempts; it is safe to try again)")


def _member(answer: bytes, name: str) -> str | None:
    try:
        found = read_strict(answer)[name]
    except (ValueError, TypeError, KeyError):
        return None
    return found if isinstance(found, str) else None


def _request(address: str, body: bytes | None) -> urllib.request.Request:
    headers = {"User-Agent": "deniable"} | ({"Content-Type": "application/json"} if body else {})
    return urllib.request.Request(address, body, headers)  # noqa: S310  # the scheme was checked


class _NoDetour(urllib.request.HTTPRedirectHandler):
    """Follow a redirect of a survey, never one of a report.

    urllib would go there with an empty GET, and take whatever page comes (a network's log-in page)
    for the acknowledgement of a report that nobody stored.
    """

    def redirect_request(self, req: urllib.request.Request, *rest: Any) -> Any:
        return None if req.data is not None else super().redirect_request(req, *rest)


def _exchange(request: urllib.request.Request, timeout: float) -> tuple[int, bytes]:
    try:
        with urllib.request.build_opener(_NoDetour).open(request, timeout=timeout) as reply:
            return reply.status, reply.read(_MOST_BYTES)
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.read(_MOST_BYTES)
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", None) or error or type(error).__name__
        raise SubmitError(f"the server could not be reached: {reason}") from None


def _title(status: int, answer: bytes) -> str:
    """Take the title of a problem document; the server wrote it, so keep it short and plain."""
    if status < 300:
        return "with something that is no acknowledgement"
    if status < 400:
        return "it points to another address; give that one"
    try:
        title = json.loads(answer)["title"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return "no reason given"
    return "".join(letter for letter in str(title)[:200] if letter.isprintable())
