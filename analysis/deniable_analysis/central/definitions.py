"""What is promised: the definitions of differential privacy a mechanism can be calibrated to.

Each is a value that names its neighbouring relation. Smaller numbers promise more. They are listed
from the simplest to the finest: pure ε; (ε, δ); zero-concentrated ρ; a Rényi curve; Gaussian μ;
and a trade-off function, which is the whole truth about how well two neighbours can be told apart.

References:
    [DR14] C. Dwork and A. Roth, *Algorithmic Foundations of Differential Privacy*, 2014, Def. 2.4.
    [BS16] M. Bun and T. Steinke, *Concentrated Differential Privacy*, TCC 2016 (arXiv:1605.02065).
    [Mir17] I. Mironov, *Rényi Differential Privacy*, CSF 2017 (arXiv:1702.07476).
    [DRS22] J. Dong, A. Roth and W. Su, *Gaussian Differential Privacy*, JRSS-B 84 (2022).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from deniable_protocol.errors import MechanismError

from .arguments import above_zero, inside_unit
from .events import Neighbours


@dataclass(frozen=True)
class PureDP:
    """Promise ε: no output becomes more than e^ε times likelier through one person's data.

    Args:
        epsilon: Above 0, in nats.
        neighbours: Which data sets count as neighbours.

    >>> str(PureDP(1))
    'epsilon = 1, replace-one neighbours'
    """

    epsilon: float
    neighbours: Neighbours = Neighbours.REPLACE_ONE

    def __post_init__(self) -> None:
        _named(self.neighbours)
        above_zero("epsilon", self.epsilon)

    def __str__(self) -> str:
        return f"epsilon = {self.epsilon:g}, {self.neighbours.value} neighbours"


@dataclass(frozen=True)
class ApproximateDP:
    """Promise (ε, δ): as ε, except for a probability δ. δ is to be far below 1/n.

    Args:
        epsilon: Above 0, in nats.
        delta: Strictly between 0 and 1 (δ = 0 is :class:`PureDP`).
        neighbours: Which data sets count as neighbours.
    """

    epsilon: float
    delta: float
    neighbours: Neighbours = Neighbours.REPLACE_ONE

    def __post_init__(self) -> None:
        _named(self.neighbours)
        above_zero("epsilon", self.epsilon)
        inside_unit("delta", self.delta)

    def __str__(self) -> str:
        pair = f"epsilon = {self.epsilon:g}, delta = {self.delta:g}"
        return f"{pair}, {self.neighbours.value} neighbours"


@dataclass(frozen=True)
class ZeroConcentratedDP:
    """Promise ρ: Rényi divergence at most ρα at every order α > 1 [BS16].

    Args:
        rho: Above 0, in nats.
        neighbours: Which data sets count as neighbours.
    """

    rho: float
    neighbours: Neighbours = Neighbours.REPLACE_ONE

    def __post_init__(self) -> None:
        _named(self.neighbours)
        above_zero("rho", self.rho)

    def __str__(self) -> str:
        return f"rho = {self.rho:g}, {self.neighbours.value} neighbours"


@dataclass(frozen=True)
class RenyiDP:
    """Promise a Rényi divergence at each of several orders [Mir17].

    Args:
        curve: Pairs (order α > 1, divergence > 0 in nats); at least one.
        neighbours: Which data sets count as neighbours.
    """

    curve: tuple[tuple[float, float], ...]
    neighbours: Neighbours = Neighbours.REPLACE_ONE

    def __post_init__(self) -> None:
        _named(self.neighbours)
        if not self.curve:
            raise MechanismError("a Rényi curve needs at least one (order, divergence), got none")
        for order, divergence in self.curve:
            above_zero("Rényi divergence", divergence)
            if above_zero("order", order) <= 1:
                raise MechanismError(f"a Rényi order must be above 1, got {order!r}")

    def __str__(self) -> str:
        points = ", ".join(f"{value:g} at order {order:g}" for order, value in self.curve)
        return f"Rényi divergence {points}, {self.neighbours.value} neighbours"


@dataclass(frozen=True)
class GaussianDP:
    """Promise μ: telling neighbours apart is as hard as telling N(0, 1) from N(μ, 1) [DRS22].

    Args:
        mu: Above 0, in standard deviations.
        neighbours: Which data sets count as neighbours.
    """

    mu: float
    neighbours: Neighbours = Neighbours.REPLACE_ONE

    def __post_init__(self) -> None:
        _named(self.neighbours)
        above_zero("mu", self.mu)

    def __str__(self) -> str:
        return f"mu = {self.mu:g}, {self.neighbours.value} neighbours"


@dataclass(frozen=True)
class TradeOffDP:
    """Promise a trade-off function: any test of false alarm rate α misses at least at rate f(α).

    Args:
        trade_off: f, convex and decreasing on [0, 1], with f(α) ≤ 1 − α.
        name: What to call it.
        neighbours: Which data sets count as neighbours.

    >>> TradeOffDP(lambda alpha: 1 - alpha, "perfect privacy").trade_off(0.25)
    0.75
    """

    trade_off: Callable[[float], float] = field(compare=False)
    name: str
    neighbours: Neighbours = Neighbours.REPLACE_ONE

    def __post_init__(self) -> None:
        _named(self.neighbours)
        if not callable(self.trade_off):
            raise MechanismError(f"trade_off must be a function, got {self.trade_off!r}")

    def __str__(self) -> str:
        return f"trade-off {self.name}, {self.neighbours.value} neighbours"


Definition: TypeAlias = (
    PureDP | ApproximateDP | ZeroConcentratedDP | RenyiDP | GaussianDP | TradeOffDP
)


def _named(neighbours: Neighbours) -> None:
    if not isinstance(neighbours, Neighbours):
        raise MechanismError(f"neighbours must be a Neighbours, got {neighbours!r}")
