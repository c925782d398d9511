"""What a survey needs of the machine that serves it, looked at before anybody visits."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

from deniable_protocol import StoreError, Survey

_ANALYSIS: Final = ("numpy", "scipy")


def cannot_draw(survey: Survey) -> str | None:
    """Say why this machine could not draw a survey's results page; None if it can, or has none."""
    missing = [name for name in _ANALYSIS if find_spec(name) is None]
    if survey.results is None or not missing:
        return None
    return (
        f"survey '{survey.name}' shows its results to everyone, and drawing them needs "
        f"{' and '.join(missing)}: pip install 'deniable[analysis]'"
    )


def check(survey: Survey) -> None:
    """See that a survey can be served from here.

    Raises:
        StoreError: If something has to be installed first, with the name of the extra.
    """
    if missing := cannot_draw(survey):
        raise StoreError(missing)
