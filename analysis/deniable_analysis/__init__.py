"""Valid statistics from deniable reports: shares with intervals, and a page that explains them."""

from .design import Design as Design
from .estimate import Estimate as Estimate
from .estimate import OptionEstimate as OptionEstimate
from .estimate import estimate as estimate
from .estimate import estimate_share as estimate_share
from .intervals import METHODS as METHODS
from .intervals import Interval as Interval
from .intervals import Method as Method
from .intervals import interval as interval
from .page import report as report
from .reading import read_reports as read_reports
from .reports import Reports as Reports
from .tally import Tally as Tally

__all__ = [
    "METHODS",
    "Design",
    "Estimate",
    "Interval",
    "Method",
    "OptionEstimate",
    "Reports",
    "Tally",
    "estimate",
    "estimate_share",
    "interval",
    "read_reports",
    "report",
]
