"""The survey's randomizer as a central event: the bridge from local to central."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction

from deniable_protocol import Channel, odds_at_most
from deniable_protocol.errors import MechanismError

from .arguments import at_least_zero
from .definitions import Definition, PureDP
from .events import Neighbours, RandomizedResponseEvent
from .profiles import ResponseProfile


@dataclass(frozen=True)
class RandomizedResponse:
    """Account for one answer that a respondent's own device randomized.

    There is no ``release`` here: the curator never holds the true answer, and only the client
    draws reports. What is here is what such a report costs, in every definition.

    Privacy:
        P(S | x) ≤ odds · P(S | x′) for any two answers of one respondent, and equality is attained
        (see :class:`deniable_protocol.Channel`), so ε = ln(odds) exactly.

    Args:
        promise: The definition it is to meet.
        channel: The question's channel.

    >>> from fractions import Fraction
    >>> coin = RandomizedResponse(PureDP(1.1), Channel(options=2, subset=1, odds=Fraction(3)))
    >>> coin.event
    RandomizedResponseEvent(options=2, odds=Fraction(3, 1), subset=1)
    """

    promise: Definition
    channel: Channel

    def __post_init__(self) -> None:
        if self.promise.neighbours is not Neighbours.REPLACE_ONE:
            raise MechanismError(
                "randomized response hides one answer among others: use replace-one neighbours"
            )

    @classmethod
    def calibrate(cls, definition: Definition, options: int) -> RandomizedResponse:
        """Choose the most accurate channel with at most this ε.

        Args:
            definition: PureDP.
            options: Number of possible answers.

        Raises:
            MechanismError: For another definition.
        """
        if not isinstance(definition, PureDP):
            raise MechanismError(
                f"randomized response is calibrated to PureDP, got {type(definition).__name__}"
            )
        return cls(definition, Channel.best(options, odds_at_most(definition.epsilon)))

    @property
    def event(self) -> RandomizedResponseEvent:
        """One answer through this channel."""
        return RandomizedResponseEvent(self.channel.options, self.channel.odds, self.channel.subset)

    @property
    def profile(self) -> ResponseProfile:
        """The exact profile for any two answers."""
        return ResponseProfile(self.channel.options, self.channel.odds, self.channel.subset)

    def delta(self, epsilon: float) -> float:
        """Return δ(ε), exactly."""
        return float(self.profile.delta(float(at_least_zero("epsilon", epsilon))))

    @property
    def largest_loss(self) -> Fraction:
        """ln(odds), rounded up in the fiftieth digit."""
        context = Context(prec=60)
        a, b = Decimal(self.channel.odds.numerator), Decimal(self.channel.odds.denominator)
        loss = context.ln(context.divide(a, b))
        return Fraction(loss) + Fraction(1, 10**50)

    @property
    def rho(self) -> None:
        """None: it is not Gaussian noise."""
        return None
