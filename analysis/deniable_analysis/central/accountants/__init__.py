"""Accountants: what a sequence of releases costs together, by every theorem worth having.

>>> from deniable_analysis.central.accountants import BestAccountant
>>> from deniable_analysis.central.events import GaussianEvent, Neighbours
>>> total = BestAccountant(Neighbours.ADD_OR_REMOVE_ONE).spend(GaussianEvent(5.0), 100)
>>> round(total.epsilon(1e-6), 4)
10.9972
"""

from .advanced import AdvancedAccountant as AdvancedAccountant
from .base import Accountant as Accountant
from .base import Bounds as Bounds
from .basic import BasicAccountant as BasicAccountant
from .best import ACCOUNTANTS as ACCOUNTANTS
from .best import BestAccountant as BestAccountant
from .best import accountant_for as accountant_for
from .composition import dwork_rothblum_vadhan as dwork_rothblum_vadhan
from .composition import kairouz_oh_viswanath as kairouz_oh_viswanath
from .composition import optimal_epsilon as optimal_epsilon
from .gdp import GDPAccountant as GDPAccountant
from .gdp import central_limit_mu as central_limit_mu
from .pld.accountant import PLDAccountant as PLDAccountant
from .rdp import RDPAccountant as RDPAccountant
from .zcdp import ZCDPAccountant as ZCDPAccountant
