"""Which mechanism for which question: the decision tree, with its reasons and the usual mistakes.

The tree asks, in this order: who may see the answers; whether the output is a choice or numbers;
whether the promise is pure ε or (ε, δ); and, for numbers, how one person's change is bounded, in L1
or in L2. Where two mechanisms remain, the one with less noise is named, and both numbers are shown.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from textwrap import fill
from typing import Final, Literal, get_args

from deniable_protocol.errors import MechanismError

from .accountants.composition import LEAST_SLACK, MOST_STEPS, optimal_epsilon
from .arguments import Number, above_zero, exact, inside_unit, root_up, whole
from .definitions import ApproximateDP, PureDP
from .events import Neighbours
from .gaussian import Gaussian, analytic_multiplier
from .laplace import Laplace
from .sensitivity import Sensitivity

Output = Literal["number", "vector", "choice"]
Norm = Literal["l1", "l2"]
Mistake = Literal[
    "delta", "delta-unchecked", "unclipped", "many-releases", "classic-gaussian", "unaccounted"
]

LARGE_EPSILON: Final = 10.0
"""A total ε from which an answer is hardly hidden: odds of e^10 = 22,026 to 1."""


@dataclass(frozen=True)
class Warned:
    """One usual mistake, found in what was asked for.

    Args:
        mistake: Which one.
        text: What is wrong and what to do, in plain English.
    """

    mistake: Mistake
    text: str


@dataclass(frozen=True)
class Choice:
    """The mechanism to use, why, and what to beware of.

    Args:
        mechanism: Its name, in words.
        start: The Python that makes it, with placeholders for what is not known here.
        reasons: The path through the tree, one sentence for each turn.
        warnings: Usual mistakes that the request contains.
    """

    mechanism: str
    start: str
    reasons: tuple[str, ...]
    warnings: tuple[Warned, ...]

    def __str__(self) -> str:
        lines = [f"Use {self.mechanism}:", f"    {self.start}", "", "Why:"]
        lines += [_item(f"{place}.", why) for place, why in enumerate(self.reasons, start=1)]
        if self.warnings:
            lines += ["", "Beware:", *(_item("-", warned.text) for warned in self.warnings)]
        return "\n".join(lines)


def _item(mark: str, sentence: str) -> str:
    start = f"  {mark} "
    return fill(sentence, 82, initial_indent=start, subsequent_indent=" " * len(start))


@dataclass(frozen=True)
class _Request:
    output: Output
    trusted: bool
    epsilon: Fraction
    delta: float
    records: int | None
    sensitivity: Sensitivity
    integers: bool
    clipped: bool
    releases: int
    accounted: bool


def choose(
    output: Output,
    *,
    trusted: bool,
    epsilon: Number = 1,
    delta: float = 0.0,
    records: int | None = None,
    sensitivity: Sensitivity | None = None,
    norm: Norm | None = None,
    coordinates: int | None = None,
    integers: bool = False,
    clipped: bool = True,
    releases: int = 1,
    accounted: bool = False,
) -> Choice:
    """Name the mechanism for a question, with the reason, and warn of the usual mistakes.

    Args:
        output: A ``number``, a ``vector`` of numbers, or a ``choice`` among candidates.
        trusted: Whether a curator may hold the true answers.
        epsilon: ε of one release, in nats.
        delta: δ of one release; 0 asks for pure ε.
        records: n, the number of people; to judge δ.
        sensitivity: How far one person moves the output; without it `norm` and `coordinates` say.
        norm: For a vector: whether one person's change is at most 1 in ``l1`` or in ``l2``.
        coordinates: For a vector: how many numbers.
        integers: Whether the numbers are whole, as counts are.
        clipped: Whether every record is clipped to a range fixed beforehand.
        releases: How often the same data will be asked.
        accounted: Whether a ledger adds the releases up.

    Raises:
        MechanismError: If an argument is out of range, or a vector's change has no stated bound.

    >>> found = choose("number", trusted=True, epsilon=1, records=1000)
    >>> found.mechanism
    'Laplace noise'
    >>> [warned.mistake for warned in choose("number", trusted=True, clipped=False).warnings]
    ['unclipped']
    """
    request = _checked(output, trusted, epsilon, delta, records, sensitivity, norm, coordinates,
                       integers, clipped, releases, accounted)  # fmt: skip
    if not trusted:
        mechanism, start, reasons = _local(request)
    elif output == "choice":
        mechanism, start, reasons = _selection(request)
    else:
        mechanism, start, reasons = _numbers(request)
    gaussian = mechanism == "Gaussian noise"
    return Choice(mechanism, start, reasons, tuple(_warnings(request, gaussian=gaussian)))


def _checked(
    output: Output, trusted: bool, epsilon: Number, delta: float, records: int | None,
    sensitivity: Sensitivity | None, norm: Norm | None, coordinates: int | None,
    integers: bool, clipped: bool, releases: int, accounted: bool,
) -> _Request:  # fmt: skip
    if output not in get_args(Output):
        raise MechanismError(f"output must be number, vector or choice, got {output!r}")
    if norm is not None and norm not in get_args(Norm):
        raise MechanismError(f"norm must be l1 or l2, got {norm!r}")
    if exact("delta", delta) != 0:
        inside_unit("delta", delta)
    if sensitivity is None:
        sensitivity = _unit_sensitivity(output, trusted, norm, coordinates)
    return _Request(
        output, trusted, above_zero("epsilon", epsilon), float(delta),
        None if records is None else whole("records", records), sensitivity, integers, clipped,
        whole("releases", releases), accounted,
    )  # fmt: skip


def _unit_sensitivity(
    output: Output, trusted: bool, norm: Norm | None, coordinates: int | None
) -> Sensitivity:
    k = 1 if coordinates is None else whole("coordinates", coordinates)
    if output == "vector" and trusted and (norm is None or coordinates is None):
        raise MechanismError(
            "a vector needs its sensitivity: give one, or norm (l1 or l2) and coordinates"
        )
    l1 = Fraction(root_up(Fraction(k))) if norm == "l2" else Fraction(1)
    return Sensitivity("change of 1", l1, 1.0, Neighbours.REPLACE_ONE, k)


def _local(request: _Request) -> tuple[str, str, tuple[str, ...]]:
    reasons = [
        "Nobody may hold the true answers, so each respondent's own device adds the noise.",
        "Randomized response over the possible answers does that for every kind of question, and "
        "for each number of options and epsilon the survey takes the subset size with the least "
        "noise.",
    ]
    if request.output == "choice":
        reasons.append("The most popular option is the one with the largest estimated share.")
    if request.delta:
        reasons.append("Its promise is pure: the delta is not needed.")
    start = f"RandomizedResponse.calibrate(PureDP({float(request.epsilon):g}), options=…)"
    return "randomized response", start, tuple(reasons)


def _selection(request: _Request) -> tuple[str, str, tuple[str, ...]]:
    reasons = [
        "A trusted curator holds the answers, so noise is added once and not by everyone.",
        "The output is a name and not a number: noise on the name would mean nothing, so good "
        "candidates are made likelier.",
        "Permute-and-flip has the same epsilon as the exponential mechanism and is never worse.",
    ]
    if request.delta:
        reasons.append("Its promise is pure: the delta is not needed.")
    start = f"PermuteAndFlip.calibrate(PureDP({float(request.epsilon):g}), sensitivity)"
    return "permute-and-flip", start, tuple(reasons)


def _numbers(request: _Request) -> tuple[str, str, tuple[str, ...]]:
    reasons = ["A trusted curator holds the answers, so noise is added once and not by everyone."]
    laplace, gaussian = _deviations(request)
    if gaussian is None:
        reasons.append("The promise is pure epsilon. Gaussian noise never keeps one; Laplace does.")
    else:
        total = "epsilon = {:g} and delta = {:g}".format(*_shared(request))
        many = f" of {request.releases:,} releases together" if request.releases > 1 else ""
        reasons.append(
            f"The promise allows a delta. For {total}{many}, Laplace noise has standard deviation "
            f"{laplace:.4g} and Gaussian noise {gaussian:.4g}."
        )
    kind = "Laplace" if gaussian is None or laplace <= gaussian else "Gaussian"
    if request.sensitivity.coordinates > 1:
        reasons.append(_scaling(request, kind))
    if request.integers:
        reasons.append("The numbers are whole, so the noise is too: the output stays a count.")
    if kind == "Gaussian" and request.releases > 1 and not request.integers:
        reasons.append("Releases that are Gaussian with mu each are, together, Gaussian with mu "
                       "times the root of their number: nothing is lost in adding up.")  # fmt: skip
    name = f"Discrete{kind}" if request.integers else kind
    words = f"discrete {kind} noise" if request.integers else f"{kind} noise"
    return words, f"{name}.calibrate({_promise(request, kind)}, sensitivity)", tuple(reasons)


def _scaling(request: _Request, kind: str) -> str:
    one = request.sensitivity
    name, size, what = (
        ("L1", float(one.l1), "the sum of the changes")
        if kind == "Laplace"
        else ("L2", one.l2, "the Euclidean length of the change")
    )
    return (
        f"{kind} noise is scaled by the {name} sensitivity, here {size:.4g}: {what} that one "
        f"person makes in the {one.coordinates:,} numbers."
    )


def _promise(request: _Request, kind: str) -> str:
    epsilon = float(request.epsilon)
    if kind == "Laplace":
        return f"PureDP({epsilon:g})"
    if request.releases == 1 or request.integers:
        return f"ApproximateDP({epsilon:g}, {request.delta:g})"
    mu = 1 / analytic_multiplier(*_shared(request)) / math.sqrt(request.releases)
    # Cut after the third digit, and not rounded: less mu promises more.
    digits = 2 - math.floor(math.log10(mu))
    return f"GaussianDP({math.floor(mu * 10.0**digits) / 10.0**digits:g})"


def _shared(request: _Request) -> tuple[float, float]:
    """Give the total (kε, kδ) that all releases share."""
    return float(request.releases * request.epsilon), min(request.releases * request.delta, 0.5)


def _deviations(request: _Request) -> tuple[float, float | None]:
    """Give the standard deviation of each noise when all releases share one (kε, kδ)."""
    k, one = request.releases, request.sensitivity
    epsilon, delta = _shared(request)
    stacked = Sensitivity(one.query, k * one.l1, root_up(k * exact("l2", one.l2) ** 2),
                          one.neighbours, k * one.coordinates)  # fmt: skip
    laplace = Laplace.calibrate(PureDP(epsilon, one.neighbours), stacked).standard_deviation
    if not delta:
        return laplace, None
    promise = ApproximateDP(epsilon, delta, one.neighbours)
    return laplace, Gaussian.calibrate(promise, stacked).standard_deviation


def _warnings(request: _Request, *, gaussian: bool) -> list[Warned]:
    found = []
    if request.trusted and request.delta and request.records is None:
        found.append(Warned("delta-unchecked", "Delta has to be far below 1/n for n people; say "
                            "how many records there are to have it checked."))  # fmt: skip
    spent = request.releases * request.delta
    if request.trusted and request.records is not None and spent * request.records >= 1:
        inall = f" in {request.releases:,} releases" if request.releases > 1 else ""
        found.append(Warned(
            "delta",
            f"Delta = {spent:g}{inall} is not below 1/n = {1 / request.records:.3g}: publishing "
            "one person's record in full would satisfy it. Take a hundredth of 1/n or less.",
        ))  # fmt: skip
    if request.trusted and not request.clipped:
        found.append(Warned(
            "unclipped",
            "Without clipping one person can move a sum or mean by any amount: no noise is enough. "
            "Clip every record to a range fixed without looking at the data.",
        ))  # fmt: skip
    total, least = _totals(request)
    if request.releases > 1 and least >= LARGE_EPSILON:
        found.append(Warned(
            "many-releases",
            f"{request.releases:,} releases at epsilon = {float(request.epsilon):g} add up to "
            f"{total:.4g}, and even by the best possible composition to {least:.4g}: hardly "
            "anything stays hidden. Divide the epsilon you can afford among the releases first.",
        ))  # fmt: skip
    if gaussian and request.epsilon > 1:
        found.append(Warned(
            "classic-gaussian",
            "The textbook formula for Gaussian noise holds up to epsilon = 1 only; above, it gives "
            "too little. Gaussian.calibrate uses the analytic one, which holds for all.",
        ))  # fmt: skip
    if request.releases > 1 and not request.accounted:
        found.append(Warned(
            "unaccounted",
            "The same data is asked more than once: every release spends again. Keep a ledger, and "
            "check it before each release.",
        ))  # fmt: skip
    return found


def _totals(request: _Request) -> tuple[float, float]:
    """Give kε, and the least total that k releases of which only ε is known can have."""
    total, delta = float(request.releases * request.epsilon), request.delta or 1e-6
    if request.releases > MOST_STEPS or delta < LEAST_SLACK or total > 1e6:
        return total, total
    least = optimal_epsilon(float(request.epsilon), request.releases, delta)
    return total, min(total, least)
