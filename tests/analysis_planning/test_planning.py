"""Planning: other packages' numbers where they are right, enumeration where they are not."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom, multinomial

from deniable_analysis.design import DIRECT, Design
from deniable_analysis.intervals import unclipped
from deniable_analysis.planning import Allocation, plan
from deniable_analysis.planning_power import exact_power, normal_power
from deniable_analysis.targets import Cell, Difference, Share, Target
from deniable_protocol import Channel, EstimateError

FORCED = Design(Fraction(2, 3), Fraction(1, 6))
WARNER = Design(Fraction(1, 2), Fraction(1, 4))
UNRELATED = Design(Fraction(7, 10), Fraction(3, 40))

# Power of one-sample tests against a share of 0, from rr 1.4.2, power.rr.test.
RR_POWER = [
    (FORCED, 200, 0.2, 0.01, "greater", 0.9868871581954),
    (FORCED, 250, 0.05, 0.01, "greater", 0.1977095345731),
    (FORCED, 250, 0.1, 0.01, "greater", 0.6708998245165),
    (FORCED, 250, 0.15, 0.01, "greater", 0.9468398273788),
    (FORCED, 500, 0.05, 0.01, "greater", 0.3805423550121),
    (FORCED, 500, 0.1, 0.01, "greater", 0.9298550275809),
    (FORCED, 500, 0.15, 0.01, "greater", 0.9990191479611),
    (FORCED, 1000, 0.05, 0.01, "greater", 0.6800307266258),
    (FORCED, 1000, 0.1, 0.01, "greater", 0.9983302349319),
    (FORCED, 1000, 0.15, 0.01, "greater", 0.9999998951012),
    (FORCED, 2000, 0.05, 0.01, "greater", 0.9405412431764),
    (FORCED, 2000, 0.1, 0.01, "greater", 0.9999997122299),
    (FORCED, 2000, 0.15, 0.01, "greater", 1),
    (FORCED, 2500, 0.05, 0.01, "greater", 0.97720772256),
    (FORCED, 2500, 0.1, 0.01, "greater", 0.9999999972498),
    (FORCED, 2500, 0.15, 0.01, "greater", 1),
    (WARNER, 200, 0.05, 0.05, "two-sided", 0.1372843397931),
    (UNRELATED, 200, 0.05, 0.05, "greater", 0.578205349192),
    (WARNER, 200, 0.2, 0.05, "two-sided", 0.8821229483104),
    (UNRELATED, 200, 0.2, 0.05, "greater", 0.9999166545672),
    (WARNER, 200, 0.5, 0.05, "two-sided", 0.9999999614291),
    (UNRELATED, 200, 0.5, 0.05, "greater", 1),
    (WARNER, 1000, 0.05, 0.05, "two-sided", 0.448339205008),
    (UNRELATED, 1000, 0.05, 0.05, "greater", 0.9843287669684),
    (WARNER, 1000, 0.2, 0.05, "two-sided", 0.9999993845547),
    (UNRELATED, 1000, 0.2, 0.05, "greater", 1),
    (WARNER, 1000, 0.5, 0.05, "two-sided", 1),
    (UNRELATED, 1000, 0.5, 0.05, "greater", 1),
]


@pytest.mark.parametrize(("design", "n", "share", "size", "alternative", "power"), RR_POWER)
def test_power_of_rr(
    design: Design, n: int, share: float, size: float, alternative: str, power: float
) -> None:
    """Power at a given n is that of the R package rr, to 1e-12."""
    found = normal_power(Share(share, null=0), n, design, 1 - size, alternative=alternative)
    assert found == pytest.approx(power, abs=1e-12)


def test_power_of_two_samples() -> None:
    """Power of two groups of 500 is that of rr, to 1e-12."""
    found = plan(target=Difference(0.3, 0.2), design=WARNER, respondents=1000)
    assert found.power == pytest.approx(0.3828748969871, abs=1e-12)


@pytest.mark.parametrize(
    ("design", "alternative", "needed", "theirs"),
    [(FORCED, "greater", 212, 205), (WARNER, "two-sided", 610, 594)],
)
def test_respondents_where_rr_stops_early(
    design: Design, alternative: str, needed: int, theirs: int
) -> None:
    """The n found is the least that reaches the power; the one rr prints does not reach it."""
    target = Share(0.1, null=0)
    found = plan(target=target, design=design, power=0.8, alternative=alternative)
    assert found.respondents == needed

    def reaches(n: int) -> bool:
        return normal_power(target, n, design, 0.95, alternative=alternative) >= 0.8

    assert [reaches(n) for n in (theirs, needed - 1, needed)] == [False, False, True]


def test_power_that_is_reached_at_once() -> None:
    """A goal that one respondent meets is found, and the exact test tells how far to trust it."""
    design = Design(Fraction(19, 20), Fraction(1, 40))
    found = plan(target=Share(0.9, null=0), design=design, power=0.9, alternative="greater")
    assert found.respondents == 1
    assert found.power == pytest.approx(0.967, abs=5e-4)
    assert found.exact_power == pytest.approx(0.88)  # a single yes rejects: 0.025 + 0.95 · 0.9


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("design", [WARNER, FORCED, WARNER.mirrored, DIRECT])
def test_exact_power_by_enumeration(design: Design, alternative: str) -> None:
    """Exact power is the sum over the counts whose exact p-value is at most the size."""
    n, size = 60, 0.05
    counts = np.arange(n + 1)
    null, truth = (float(design.reported(Fraction(share))) for share in ("0.3", "0.45"))
    high = binom.sf(counts - 1, n, null)
    low = binom.cdf(counts, n, null)
    if design.slope < 0:
        high, low = low, high
    ends = {"greater": high, "less": low, "two-sided": 2 * np.minimum(high, low)}
    expected = binom.pmf(counts, n, truth)[ends[alternative] <= size].sum()
    target = Share(0.45, null=0.3)
    assert exact_power(target, n, design, 0.95, alternative=alternative) == pytest.approx(expected)


# Efficiency loss at shares of .01, .05, .1, .2, .5, and n for ±3 points at .2.
LOSS = [
    ("3/5", (607, 127, 68, 38, 25), 26293),
    ("7/10", (134, 29, 16, 9.2, 6.3), 6286),
    ("3/4", (77, 17, 9.3, 5.7, 4.0), 3885),
    ("4/5", (46, 10, 5.9, 3.8, 2.8), 2580),
    ("9/10", (15, 4.0, 2.6, 1.9, 1.6), 1284),
]


@pytest.mark.parametrize(("truth", "losses", "needed"), LOSS)
def test_efficiency_loss(truth: str, losses: tuple[float, ...], needed: int) -> None:
    """Loss against a direct question and n for ±3 points are those of the published table."""
    p = Fraction(truth)
    design = Design(2 * p - 1, 1 - p)
    for share, loss in zip((0.01, 0.05, 0.1, 0.2, 0.5), losses, strict=True):
        found = plan(target=Share(share), design=design, respondents=1000).loss
        assert found == pytest.approx(loss, abs=0.51 if loss >= 10 else 0.051)
    assert plan(target=Share(0.2), design=design, half_width=0.03).respondents == needed


def chance_of_short(n: int, design: Design, share: float, half_width: float) -> float:
    """Enumerate the counts and the length of each one's Wilson interval."""
    counts = np.arange(n + 1)
    low, high, _ = unclipped(counts, n, design, method="wilson")
    chances = binom.pmf(counts, n, float(design.offset) + float(design.slope) * share)
    return float(chances[(high - low) / 2 <= half_width].sum())


@pytest.mark.parametrize("design", [WARNER, FORCED, WARNER.mirrored])
@pytest.mark.parametrize("share", [0.0, 0.05, 0.3])
def test_assurance_by_enumeration(design: Design, share: float) -> None:
    """Assurance is exact, in every direction, and the n found is past the last that fails."""
    goal, half_width = 0.9, 0.08
    found = plan(target=Share(share), design=design, half_width=half_width, assurance=goal)
    assert found.assurance == pytest.approx(
        chance_of_short(found.respondents, design, share, half_width), abs=1e-10
    )
    n = found.respondents
    assert chance_of_short(n - 1, design, share, half_width) < goal
    assert all(chance_of_short(m, design, share, half_width) >= goal for m in range(n, n + 40))
    back = plan(target=Share(share), design=design, respondents=n, assurance=goal)
    assert back.half_width <= half_width
    assert chance_of_short(n, design, share, back.half_width + 1e-12) >= goal
    assert chance_of_short(n, design, share, back.half_width - 1e-9) < goal
    width = plan(target=Share(share), design=design, respondents=n, half_width=half_width)
    assert width.assurance == found.assurance


def test_expected_width_is_not_assured() -> None:
    """The usual formula for n gives the width in hardly more than half of the studies."""
    usual = plan(target=Share(0.1), design=WARNER, half_width=0.05).respondents
    assert chance_of_short(usual, WARNER, 0.1, 0.05) < 0.6
    assured = plan(target=Share(0.1), design=WARNER, half_width=0.05, assurance=0.9)
    assert chance_of_short(assured.respondents, WARNER, 0.1, 0.05) >= 0.9


def test_assurance_of_a_difference() -> None:
    """For two groups, the probability is the sum over all pairs of counts."""
    target, n, half = Difference(0.3, 0.1, fraction=0.4), 200, 0.26
    counts = [np.arange(81), np.arange(121)]
    chances = np.outer(binom.pmf(counts[0], 80, 0.4), binom.pmf(counts[1], 120, 0.3))
    seen = counts[0] / 80, counts[1] / 120
    width = (
        2
        * 1.959963984540054
        * np.sqrt((seen[0] * (1 - seen[0]) / 80)[:, None] + seen[1] * (1 - seen[1]) / 120)
    )
    found = plan(target=target, design=WARNER, respondents=n, half_width=half)
    assert found.assurance == pytest.approx(chances[width <= half].sum(), abs=1e-9)
    found = plan(target=target, design=WARNER, respondents=n, assurance=0.8)
    assert chances[width <= found.half_width + 1e-12].sum() >= 0.8
    assert chances[width <= found.half_width - 1e-9].sum() < 0.8


@pytest.mark.parametrize("design", [WARNER, FORCED, FORCED.mirrored, DIRECT])
def test_variance_of_a_cell(design: Design) -> None:
    """The variance of z₁z₂ is that of its 16 outcomes."""
    cell = Cell(0.15, first=0.3, second=0.2)
    truths = {(1, 1): 0.15, (1, 0): 0.15, (0, 1): 0.05, (0, 0): 0.65}
    first = second = 0.0
    for (a, b), x, y in product(truths, (0, 1), (0, 1)):
        chance = truths[a, b]
        for truth, report in ((a, x), (b, y)):
            yes = float(design.reported(Fraction(truth)))
            chance *= yes if report else 1 - yes
        z = float(design.share(Fraction(x)) * design.share(Fraction(y)))
        first, second = first + chance * z, second + chance * z * z
    assert first == pytest.approx(0.15)
    assert cell.variance(design) == pytest.approx(second - first**2)


def test_assurance_of_a_cell() -> None:
    """The approximation is within 2 % of the sum over all tables of 120 pairs of reports."""
    cell, n, half = Cell(0.1, first=0.25, second=0.2), 120, 0.17
    zero, one = -0.5, 1.5
    truths = {(1, 1): 0.1, (1, 0): 0.15, (0, 1): 0.1, (0, 0): 0.65}
    both = sum(t * (0.75 if a else 0.25) * (0.75 if b else 0.25) for (a, b), t in truths.items())
    none = sum(t * (0.25 if a else 0.75) * (0.25 if b else 0.75) for (a, b), t in truths.items())
    counts = np.array([(a, b, n - a - b) for a in range(n + 1) for b in range(n + 1 - a)])
    chances = multinomial.pmf(counts, n, [none, 1 - none - both, both])
    values = np.array([zero**2, zero * one, one**2])
    means = counts @ values / n
    spread = (counts @ values**2 - n * means**2) / (n - 1)
    widths = 1.959963984540054 * np.sqrt(spread / n)
    expected = float(chances[widths <= half].sum())
    found = plan(target=cell, design=WARNER, respondents=n, half_width=half).assurance
    assert 0.2 < expected < 0.8
    assert found == pytest.approx(expected, abs=0.02)
    back = plan(target=cell, design=WARNER, respondents=n, assurance=found).half_width
    assert back == pytest.approx(half)
    needed = plan(target=cell, design=WARNER, half_width=0.1, assurance=0.9).respondents
    reached = [cell.assurance(m, WARNER, 0.1, 0.95) >= 0.9 for m in (needed - 1, needed)]
    assert reached == [False, True]


TARGETS: list[Target] = [
    Share(0.2, null=0.15), Difference(0.3, 0.2), Cell(0.1, 0.25, 0.2, null=0.05),
]  # fmt: skip


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("allocation", [Allocation(4), Allocation(4, ask=2)])
def test_each_from_the_others(target: Target, allocation: Allocation) -> None:
    """Respondents and ε that are found reach the goal, and a little less does not."""
    for goal in ({"half_width": 0.05}, {"power": 0.8}):
        found = plan(target=target, epsilon=3.0, allocation=allocation, **goal)

        def reached(n: int, epsilon: float) -> bool:
            there = plan(target=target, respondents=n, epsilon=epsilon, allocation=allocation)
            return there.half_width <= 0.05 if "half_width" in goal else there.power >= 0.8  # noqa: B023

        n = found.respondents
        assert reached(n, 3.0)
        assert not reached(n - 2 * math.ceil(1 / allocation.reach(target.items)), 3.0)
        back = plan(target=target, respondents=n, allocation=allocation, **goal).epsilon
        assert 2.95 <= back <= 3.0
        assert reached(n, back)
        assert not reached(n, back - 0.01)


def test_allocation() -> None:
    """Sampling s of m reaches C(m−2, s−2)/C(m, s) of the pairs and gives each question ε/s."""
    assert Allocation(6, ask=3).reach(1) == Fraction(1, 2)
    assert Allocation(6, ask=3).reach(2) == Fraction(1, 5)
    assert Allocation(6).reach(2) == 1
    sampled = plan(epsilon=2.0, respondents=900, allocation=Allocation(3, ask=1))
    alone = plan(epsilon=2.0, respondents=300)
    assert sampled.half_width == alone.half_width
    assert sampled.loss == pytest.approx(3 * alone.loss)


def test_rounded_up_epsilon_can_be_typed() -> None:
    """The ε found is in thousandths, and its channel is the one an author gets for it."""
    found = plan(target=Share(0.2), respondents=2000, half_width=0.04)
    assert found.epsilon == round(found.epsilon, 3)
    assert Channel.best(2, Fraction(3)).epsilon < found.epsilon < 1.2


REFUSED = [
    ({}, "give respondents"),
    ({"respondents": 10}, "give the half_width or the power"),
    ({"respondents": 10, "epsilon": 1.0, "half_width": 0.1, "assurance": 0.9}, "nothing is left"),
    ({"respondents": 0, "epsilon": 1.0}, "from 1 to"),
    ({"respondents": 10, "epsilon": math.nan}, "epsilon must be"),
    ({"epsilon": 1.0, "power": 0.8}, "a null"),
    ({"epsilon": 1.0, "power": 0.8, "target": Share(0.2, null=0.2)}, "differs"),
    ({"epsilon": 1.0, "half_width": 0.0}, "half_width must be"),
    ({"respondents": 10, "half_width": 0.01}, "no epsilon"),
    ({"epsilon": 0.001, "half_width": 1e-9}, "not even"),
    ({"epsilon": 1.0, "half_width": 0.1, "assurance": 1.5}, "assurance must be"),
    ({"epsilon": 1.0, "design": WARNER, "half_width": 0.1}, "not both"),
    ({"epsilon": 1.0, "half_width": 0.1, "alternative": "up"}, "alternative must be"),
    ({"epsilon": 4.0, "respondents": 10, "target": Cell(0.1, 0.2, 0.2),
      "allocation": Allocation(4, ask=1)}, "nobody would answer"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "message"), REFUSED)
def test_refusals(given: dict[str, object], message: str) -> None:
    """What cannot be planned is refused in words."""
    with pytest.raises(EstimateError, match=message):
        plan(**given)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Share(1.2), "share must be"),
        (lambda: Share(0.2, null=math.nan), "null must be"),
        (lambda: Difference(0.2, 0.1, fraction=1.0), "fraction must be"),
        (lambda: Cell(0.3, 0.2, 0.5), "both must be"),
        (lambda: Cell(0.1, 0.2, 0.5, null=0.3), "null must be"),
        (lambda: Allocation(3, ask=4), "ask from 1"),
    ],
)
def test_impossible_targets(make: object, message: str) -> None:
    """Shares that cannot be are refused where they are written."""
    with pytest.raises(EstimateError, match=message):
        make()  # type: ignore[operator]


def test_plan_in_words() -> None:
    """A plan prints as one line with its units."""
    found = plan(target=Share(0.2, null=0.1), epsilon=1.0, half_width=0.04, assurance=0.9)
    assert str(found) == (
        "2,628 respondents, epsilon 1, half-width 4.00 percentage points, assurance 0.909, "
        "power 0.999 (0.999 by the exact test), 6.8 times the respondents of a direct question"
    )
