"""What every part of deniable agrees on: survey, channel, report, digest. Standard library only."""

from .blind import PublicKey as PublicKey
from .blind import Token as Token
from .channel import Channel as Channel
from .channel import odds_at_most as odds_at_most
from .errors import AnswerError as AnswerError
from .errors import BudgetError as BudgetError
from .errors import ChannelError as ChannelError
from .errors import DeniableError as DeniableError
from .errors import EntropyError as EntropyError
from .errors import EstimateError as EstimateError
from .errors import EventError as EventError
from .errors import MechanismError as MechanismError
from .errors import PrivacyError as PrivacyError
from .errors import ReportError as ReportError
from .errors import SettingError as SettingError
from .errors import StoreError as StoreError
from .errors import SubmitError as SubmitError
from .errors import SurveyError as SurveyError
from .errors import TokenError as TokenError
from .question import Item as Item
from .question import Question as Question
from .question import Text as Text
from .report import Report as Report
from .survey import Survey as Survey

__all__ = [
    "AnswerError",
    "BudgetError",
    "Channel",
    "ChannelError",
    "DeniableError",
    "EntropyError",
    "EstimateError",
    "EventError",
    "Item",
    "MechanismError",
    "PrivacyError",
    "PublicKey",
    "Question",
    "Report",
    "ReportError",
    "SettingError",
    "StoreError",
    "SubmitError",
    "Survey",
    "SurveyError",
    "Text",
    "Token",
    "TokenError",
    "odds_at_most",
]
