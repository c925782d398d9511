"""What a trusted curator would do with the same answers, and what privacy that costs.

Four steps, each a value: a *definition* (what is promised), a *sensitivity* (how far one person
moves the answer), a *mechanism* calibrated from the two, and a *proof* that it keeps the promise.

>>> from deniable_analysis.central import Laplace, PureDP, clipped_mean, verify
>>> mechanism = Laplace.calibrate(PureDP(1), clipped_mean(0, 100, records=1000))
>>> print(verify(mechanism).because)
the largest loss is 1, at most epsilon = 1
"""

from .additive import Additive as Additive
from .additive import Released as Released
from .choose import Choice as Choice
from .choose import choose as choose
from .compare import compare as compare
from .compare import compare_reports as compare_reports
from .compare import compare_survey as compare_survey
from .compare_rows import Comparison as Comparison
from .definitions import ApproximateDP as ApproximateDP
from .definitions import Definition as Definition
from .definitions import GaussianDP as GaussianDP
from .definitions import PureDP as PureDP
from .definitions import RenyiDP as RenyiDP
from .definitions import TradeOffDP as TradeOffDP
from .definitions import ZeroConcentratedDP as ZeroConcentratedDP
from .discrete import DiscreteGaussian as DiscreteGaussian
from .events import Neighbours as Neighbours
from .gaussian import Gaussian as Gaussian
from .gaussian import analytic_multiplier as analytic_multiplier
from .gaussian import classic_multiplier as classic_multiplier
from .laplace import DiscreteLaplace as DiscreteLaplace
from .laplace import Laplace as Laplace
from .proof import Proof as Proof
from .proof import verify as verify
from .response import RandomizedResponse as RandomizedResponse
from .selection import Chosen as Chosen
from .selection import Exponential as Exponential
from .selection import PermuteAndFlip as PermuteAndFlip
from .selection import ReportNoisyMax as ReportNoisyMax
from .sensitivity import Sensitivity as Sensitivity
from .sensitivity import by_brute_force as by_brute_force
from .sensitivity import clipped_mean as clipped_mean
from .sensitivity import clipped_mean_unknown_size as clipped_mean_unknown_size
from .sensitivity import clipped_sum as clipped_sum
from .sensitivity import clipped_vector_sum as clipped_vector_sum
from .sensitivity import count as count
from .sensitivity import histogram as histogram
from .sensitivity import quantile_score as quantile_score
from .shuffle import Shuffled as Shuffled
