"""The binary algebra behind every share: P(reported) = slope · share + offset, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from deniable_protocol import Channel, EstimateError


@dataclass(frozen=True, slots=True)
class Design:
    """Describe how the share of an option turns into the share of reports that hold it.

    This is the one place where a design meets the statistics: estimates, intervals and planning
    see nothing of a channel, or of a paper-and-dice design, but these two numbers.

    Args:
        slope: c, how much the reported share moves when the true share goes from 0 to 1; not 0,
            and negative where a report tends to say the opposite.
        offset: d₀, the reported share where nobody truly has the option, 0 to 1.

    Raises:
        EstimateError: If the slope is 0, or a reported share would leave 0 to 1.

    References:
        [CM88] A. Chaudhuri and R. Mukerjee, Randomized Response: Theory and Techniques, 1988.

    >>> Design.of(Channel(options=2, subset=1, odds=Fraction(3)))
    Design(slope=Fraction(1, 2), offset=Fraction(1, 4))
    """

    slope: Fraction
    offset: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "slope", Fraction(self.slope))
        object.__setattr__(self, "offset", Fraction(self.offset))
        if self.slope == 0:
            raise EstimateError("slope must not be 0: such reports say nothing about the share")
        if not (0 <= self.offset <= 1 and 0 <= self.offset + self.slope <= 1):
            raise EstimateError(
                "offset and offset + slope must be from 0 to 1, "
                f"got {self.offset} and {self.offset + self.slope}"
            )

    @classmethod
    def of(cls, channel: Channel) -> Design:
        """Give the design of one option of a channel: a report holds it or does not.

        It is the same for every option, and the number of reports that hold an option is exactly
        binomial whatever the subset size: each respondent's report holds it with probability p
        or q, and respondents draw independently.
        """
        return cls(channel.p - channel.q, channel.q)

    @classmethod
    def of_group(cls, channel: Channel, options: int) -> Design:
        """Give the design of several options taken together, of a channel with subset size 1.

        A report is in the group with probability p + (m−1)q if the true answer is, else with mq:
        again a binary design, so the share of a group has exact intervals too.

        Args:
            channel: The channel; its reports hold one option.
            options: Number m of options in the group, 1 to k − 1.

        Raises:
            EstimateError: If reports hold several options, or the group is none or all of them.

        >>> Design.of_group(Channel(options=4, subset=1, odds=Fraction(3)), 2)
        Design(slope=Fraction(1, 3), offset=Fraction(1, 3))
        """
        if channel.subset != 1 or not 0 < options < channel.options:
            raise EstimateError(
                f"a group of 1 to {channel.options - 1} options needs reports of one option, "
                f"got a group of {options} and reports of {channel.subset}"
            )
        return cls(channel.p - channel.q, options * channel.q)

    @property
    def mirrored(self) -> Design:
        """The design of "not reported": counts become n − count, and the slope changes sign."""
        return Design(-self.slope, 1 - self.offset)

    def reported(self, share: Fraction) -> Fraction:
        """Turn a true share into the share of reports that hold the option, exactly."""
        return self.slope * share + self.offset

    def share(self, reported: Fraction) -> Fraction:
        """Turn a reported share into the moment estimate of the true one, exactly.

        For one report (reported 0 or 1) this is its de-biased score z, whose mean is the truth.

        >>> Design(slope=Fraction(1, 2), offset=Fraction(1, 4)).share(Fraction(1, 5))
        Fraction(-1, 10)
        """
        return (reported - self.offset) / self.slope


DIRECT: Final = Design(Fraction(1), Fraction(0))
"""A question that was asked without noise: every report is the answer, and there is no privacy."""
