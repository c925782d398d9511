"""Valid statistics from deniable reports: shares with intervals, and a page that explains them."""

from .association import Association as Association
from .association import correlation as correlation
from .bootstrap import Bootstrap as Bootstrap
from .bootstrap import bootstrap as bootstrap
from .cheating import cheater_detection as cheater_detection
from .cheating import honesty_test as honesty_test
from .cheating import stochastic_lie as stochastic_lie
from .cheating_anchor import anchored_crosswise as anchored_crosswise
from .compare_groups import Comparison as Comparison
from .compare_groups import compare as compare
from .crosstab import CrossTab as CrossTab
from .crosstab import crosstab as crosstab
from .design import Design as Design
from .diagnostics import compare_batches as compare_batches
from .diagnostics import compare_counts as compare_counts
from .diagnostics import forgery as forgery
from .diagnostics import impossible_reports as impossible_reports
from .diagnostics import impossible_share as impossible_share
from .diagnostics_fit import compare_designs as compare_designs
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
from .paper import crosswise as crosswise
from .paper import design_epsilon as design_epsilon
from .paper import design_odds as design_odds
from .paper import direct_question as direct_question
from .paper import forced_response as forced_response
from .paper import kuk as kuk
from .paper import mangat as mangat
from .paper import triangular as triangular
from .paper import unrelated_question as unrelated_question
from .paper import warner as warner
from .paper_data import PaperAnswers as PaperAnswers
from .paper_data import read_paper as read_paper
from .paper_estimate import PaperEstimate as PaperEstimate
from .paper_estimate import estimate_paper as estimate_paper
from .paper_matrix import MatrixDesign as MatrixDesign
from .paper_unknown import unrelated_unknown as unrelated_unknown
from .planning import Allocation as Allocation
from .planning import Plan as Plan
from .planning import plan as plan
from .reading import read_reports as read_reports
from .regression import RegressionResults as RegressionResults
from .regression import regress as regress
from .reported import Reported as Reported
from .reports import Reports as Reports
from .results import Results as Results
from .results import analyse as analyse
from .sample_design import SampleDesign as SampleDesign
from .sensitivity_bounds import compliance_bounds as compliance_bounds
from .sensitivity_bounds import tipping_rate as tipping_rate
from .sequential import always_valid as always_valid
from .sequential import always_valid_mean as always_valid_mean
from .simulate import simulate as simulate
from .survey_plan import SurveyPlan as SurveyPlan
from .survey_plan import plan_survey as plan_survey
from .tally import Tally as Tally
from .targets import Cell as Cell
from .targets import Difference as Difference
from .targets import Share as Share
from .weights import poststratify as poststratify
from .weights import rake as rake
from .weights_estimate import WeightedEstimate as WeightedEstimate
from .weights_estimate import estimate_weighted as estimate_weighted

__all__ = [
    "METHODS",
    "Allocation",
    "AmongEstimate",
    "Association",
    "Bootstrap",
    "Cell",
    "Comparison",
    "CrossTab",
    "Design",
    "Difference",
    "Estimate",
    "Interval",
    "MatrixDesign",
    "Measured",
    "Method",
    "NumberEstimate",
    "OptionEstimate",
    "PaperAnswers",
    "PaperEstimate",
    "Plan",
    "RegressionResults",
    "Reported",
    "Reports",
    "Results",
    "SampleDesign",
    "Share",
    "SurveyPlan",
    "Tally",
    "WeightedEstimate",
    "always_valid",
    "always_valid_mean",
    "analyse",
    "anchored_crosswise",
    "bootstrap",
    "cheater_detection",
    "compare",
    "compare_batches",
    "compare_counts",
    "compare_designs",
    "compliance_bounds",
    "correlation",
    "crosstab",
    "crosswise",
    "describe",
    "design_epsilon",
    "design_odds",
    "direct_question",
    "estimate",
    "estimate_paper",
    "estimate_share",
    "estimate_weighted",
    "forced_response",
    "forgery",
    "group_share",
    "honesty_test",
    "impossible_reports",
    "impossible_share",
    "interval",
    "kuk",
    "mangat",
    "mean_value",
    "plan",
    "plan_survey",
    "poststratify",
    "rake",
    "ratio",
    "read_paper",
    "read_reports",
    "regress",
    "report",
    "simulate",
    "stochastic_lie",
    "tipping_rate",
    "triangular",
    "unrelated_question",
    "unrelated_unknown",
    "warner",
]
