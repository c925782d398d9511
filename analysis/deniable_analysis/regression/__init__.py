"""Regression on noisy reports: of a noisy answer, on noisy answers, or both."""

from .averages import Effect as Effect
from .averages import Prediction as Prediction
from .covariance import COVARIANCES as COVARIANCES
from .hypotheses import ChiSquareTest as ChiSquareTest
from .regress import FAMILIES as FAMILIES
from .regress import regress as regress
from .results import RegressionResults as RegressionResults

__all__ = [
    "COVARIANCES",
    "FAMILIES",
    "ChiSquareTest",
    "Effect",
    "Prediction",
    "RegressionResults",
    "regress",
]
