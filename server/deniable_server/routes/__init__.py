"""Routes by area: taking reports, publishing surveys, pages for people, and files."""

from typing import Final

from . import files, intake, pages, surveys

BLUEPRINTS: Final = (intake.blueprint, surveys.blueprint, pages.blueprint, files.blueprint)
