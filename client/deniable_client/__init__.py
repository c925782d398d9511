"""The respondent's side: the only part that ever holds a true answer. Standard library only."""

from .device import Device as Device
from .respond import respond as respond
from .submit import Receipt as Receipt
from .submit import fetch_survey as fetch_survey
from .submit import submit as submit

__all__ = ["Device", "Receipt", "fetch_survey", "respond", "submit"]
