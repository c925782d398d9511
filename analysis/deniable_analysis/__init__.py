"""Valid statistics from deniable reports: shares with intervals, and a page that explains them."""

from .bootstrap import Bootstrap as Bootstrap
from .bootstrap import bootstrap as bootstrap
from .design import Design as Design
from .estimate import AmongEstimate as AmongEstimate
from .estimate import Estimate as Estimate
from .estimate import OptionEstimate as OptionEstimate
from .estimate import estimate as estimate
from .estimate import estimate_share as estimate_share
from .intervals import METHODS as METHODS
from .intervals import Interval as Interval
from .intervals import Method as Method
from .intervals import interval as interval
from .linear import Measured as Measured
from .linear import group_share as group_share
from .linear import mean_value as mean_value
from .linear import ratio as ratio
from .numbers import NumberEstimate as NumberEstimate
from .numbers import describe as describe
from .page import report as report
from .reading import read_reports as read_reports
from .reports import Reports as Reports
from .simulate import simulate as simulate
from .tally import Tally as Tally

__all__ = [
    "METHODS",
    "AmongEstimate",
    "Bootstrap",
    "Design",
    "Estimate",
    "Interval",
    "Measured",
    "Method",
    "NumberEstimate",
    "OptionEstimate",
    "Reports",
    "Tally",
    "bootstrap",
    "describe",
    "estimate",
    "estimate_share",
    "group_share",
    "interval",
    "mean_value",
    "ratio",
    "read_reports",
    "report",
    "simulate",
]
