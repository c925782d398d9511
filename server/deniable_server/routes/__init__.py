"""Routes by area: taking reports, publishing surveys, pages for people, and files."""

from typing import Final

from . import files, intake, operator, pages, results, surveys, tokens

BLUEPRINTS: Final = tuple(
    area.blueprint for area in (intake, surveys, tokens, pages, results, operator, files)
)
