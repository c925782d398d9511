"""Models of people who do not follow the instructions, against RRreg and enumeration."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import beta, binom

from deniable_analysis.cheating import cheater_detection, honesty_test, stochastic_lie
from deniable_analysis.cheating_anchor import anchored_crosswise
from deniable_analysis.design import Design
from deniable_analysis.paper_unknown import unrelated_unknown
from deniable_analysis.sensitivity_bounds import compliance_bounds, tipping_rate
from deniable_protocol import Channel, EstimateError

WARNER = Design(Fraction(1, 2), Fraction(1, 4))
FORCED = ["0.25", "0.75"]


def test_cheater_detection_of_rrreg() -> None:
    """CDM and its symmetric form: shares and errors of RRreg 0.7.5."""
    found = cheater_detection([(110, 90), (50, 150)], FORCED)
    values = [(p.value, p.se) for p in (found.carriers, found.others, found.cheaters)]
    expected = [(0.3, 0.05508102756839), (0.6, 0.09350785310852), (0.1, 0.04930420390406)]
    for pair, theirs in zip(values, expected, strict=True):
        assert pair == pytest.approx(theirs, abs=1e-12)
    assert found.prevalence == pytest.approx((0.3, 0.4))
    symmetric = cheater_detection([(110, 90), (70, 130)], ["0.3", "0.6"], forced_no=["0.1", "0.1"])
    assert (symmetric.carriers.value, symmetric.carriers.se) == pytest.approx(
        (0.2777777777778, 0.08690913697196), abs=1e-12
    )
    assert (symmetric.cheaters.value, symmetric.cheaters.se) == pytest.approx(
        (0.05555555555556, 0.08474058390878), abs=1e-12
    )


def test_stochastic_lie_of_rrreg() -> None:
    """SLD on RRreg's count input, and on the data of Heck and Moshagen (2018)."""
    found = stochastic_lie([(80, 120), (130, 70)], ["0.2", "0.8"])
    assert (found.prevalence.value, found.prevalence.se) == pytest.approx(
        (0.5833333333333, 0.08078170569772), abs=1e-12
    )
    assert (found.truthful.value, found.truthful.se) == pytest.approx(
        (0.4571428571429, 0.04180927383789), abs=1e-12
    )
    minarets = stochastic_lie([(191, 373), (294, 398)], ["2/12", "10/12"])
    assert (minarets.prevalence.value, minarets.prevalence.se) == pytest.approx(
        (0.870695, 0.041118), abs=5e-7
    )
    assert (minarets.truthful.value, minarets.truthful.se) == pytest.approx(
        (0.635806, 0.017344), abs=5e-7
    )
    assert minarets.best == pytest.approx((0.870695, 0.635806), abs=5e-7)


def test_unrelated_question_of_rrreg() -> None:
    """An unknown unrelated trait: both shares and errors."""
    found = unrelated_unknown([(110, 90), (130, 70)], ["0.7", "0.3"])
    assert (found.trait.value, found.trait.se) == pytest.approx(
        (0.525, 0.06672291387658), abs=1e-12
    )
    assert (found.unrelated.value, found.unrelated.se) == pytest.approx(
        (0.275, 0.06481273759666), abs=1e-12
    )
    assert found.best == pytest.approx((0.525, 0.275), abs=1e-6)


def test_unrelated_question_at_the_boundary() -> None:
    """A negative moment becomes a best fit of 0, and the interval starts there."""
    found = unrelated_unknown([(190, 10), (150, 50)], ["0.7", "0.3"])
    assert found.trait.value < 0
    assert found.best[0] == 0
    assert found.trait.low == 0
    assert 0 < found.trait.high < 0.2


def chance_of(n: int, laws: tuple[float, float], wrong: Callable[[int, int], bool]) -> float:
    """Add up the chances of all pairs of counts for which something is wrong."""
    counts = np.arange(n + 1)
    first, second = (binom.pmf(counts, n, law) for law in laws)
    return sum(
        first[a] * second[b]
        for a in counts
        for b in counts
        if first[a] * second[b] > 1e-7 and wrong(int(a), int(b))
    )


def test_size_and_power_of_the_cheating_test() -> None:
    """Without cheaters it is wrong at most about as often as it says; with a third it sees them."""
    n = 25

    def alarm(a: int, b: int) -> bool:
        return honesty_test([(n - a, a), (n - b, b)], FORCED) <= 0.05

    honest = tuple(0.1 + 0.9 * p for p in (0.25, 0.75))
    cheating = tuple(0.1 + 0.4 * p for p in (0.25, 0.75))
    assert chance_of(n, honest, alarm) <= 0.065
    assert chance_of(n, cheating, alarm) > 0.8


def test_two_odds_on_devices_find_forgers() -> None:
    """Half of the devices use 3:1, half 9:1: honest reports agree, with 20 % forged they do not."""
    quiet = [Channel(2, 1, Fraction(odds)).q for odds in (3, 9)]

    def groups(forged: float) -> list[tuple[int, int]]:
        yes = [(1 - forged) * float(q + (1 - 2 * q) * Fraction(1, 5)) for q in quiet]
        return [(2000 - round(2000 * share), round(2000 * share)) for share in yes]

    assert honesty_test(groups(0.0), quiet, forced_no=quiet) > 0.4
    assert honesty_test(groups(0.2), quiet, forced_no=quiet) < 1e-3


def test_nobody_has_the_trait() -> None:
    """If nobody seems to have it, the part of them who tell the truth is not a number."""
    found = stochastic_lie([(20, 80), (80, 20)], ["0.2", "0.8"])
    assert found.prevalence.value == pytest.approx(0)
    assert np.isnan(found.truthful.value) or found.best[0] == pytest.approx(0, abs=1e-9)


def test_cheating_in_words() -> None:
    """Sentences give both ends, and say when there may be no cheaters at all."""
    found = cheater_detection([(110, 90), (50, 150)], FORCED).sentence()
    assert found.replace("\N{NO-BREAK SPACE}", " ") == (
        "About 10.0 % say no whatever they are told (0.8 % to 20.0 % is plausible). So the trait "
        "is had by 30.0 % if none of these have it, 40.0 % if all do."
    )
    none = cheater_detection([(75, 25), (25, 75)], FORCED)
    assert none.best[2] == pytest.approx(0, abs=1e-12)
    assert none.p_value == 1
    assert "That may be nobody at all." in none.sentence()
    lie = stochastic_lie([(191, 373), (294, 398)], ["2/12", "10/12"]).sentence()
    assert lie.replace("\N{NO-BREAK SPACE}", " ") == (
        "About 87.1 % have the trait (79.1 % to 95.2 % is plausible), and 63.6 % of them report it."
    )


def test_anchor_takes_the_bias_away() -> None:
    """With 80 % attentive people the plain estimate is off; the corrected one is exact."""
    p, anchor, share, attentive = 0.15, 0.15, 0.2, 0.8
    n = 100_000
    same = 0.5 + attentive * (2 * p - 1) * (share - 0.5)
    seen = 0.5 + attentive * (0.5 - anchor)
    # Careless people answer both at random, careful ones with independent innocent statements.
    careful = (0.5 + (2 * p - 1) * (share - 0.5)) * (1 - anchor)
    both = attentive * careful + (1 - attentive) / 4
    table = [[1 - same - seen + both, seen - both], [same - both, both]]
    counts = [[round(n * cell) for cell in row] for row in table]
    found = anchored_crosswise(counts, p, anchor)
    assert found.share.value == pytest.approx(share, abs=1e-3)
    assert found.attentive.value == pytest.approx(attentive, abs=1e-4)
    assert found.uncorrected == pytest.approx(0.26, abs=1e-4)
    # Four cells, one multinomial: the error from numerical derivatives.
    cells = np.array(counts).ravel() / n

    def estimate(c: np.ndarray) -> float:
        return 0.5 + (c[2] + c[3] - 0.5) * (0.5 - anchor) / ((c[1] + c[3] - 0.5) * (2 * p - 1))

    slopes = np.array([(estimate(cells + 1e-6 * e) - estimate(cells - 1e-6 * e)) / 2e-6
                       for e in np.eye(4)])  # fmt: skip
    spread = (slopes**2 @ cells - (slopes @ cells) ** 2) / (n - 1)
    assert found.share.se == pytest.approx(spread**0.5, rel=1e-6)
    assert "Corrected for the others" in found.sentence()


def test_anchor_coverage() -> None:
    """In 1,000 simulated studies of 400 people, the interval holds the share in about 95 %."""
    rng = np.random.default_rng(11)
    p = anchor = 0.15
    share, attentive, n = 0.15, 0.75, 400
    same = 0.5 + attentive * (2 * p - 1) * (share - 0.5)
    seen = 0.5 + attentive * (0.5 - anchor)
    both = attentive * (0.5 + (2 * p - 1) * (share - 0.5)) * (1 - anchor) + (1 - attentive) / 4
    law = [1 - same - seen + both, seen - both, same - both, both]
    held = 0
    for cells in rng.multinomial(n, law, 1000):
        found = anchored_crosswise(cells.reshape(2, 2), p, anchor)
        held += found.share.low <= share <= found.share.high
    assert 925 <= held <= 975  # 950 ± 3.6 standard errors


def test_anchor_where_hardly_anybody_follows() -> None:
    """If nobody follows, anything is possible, and the interval says so."""
    found = anchored_crosswise([[100, 100], [100, 100]], 0.15, 0.15)
    assert (found.share.low, found.share.high) == (0, 1)
    assert np.isnan(found.share.value)


@pytest.mark.parametrize("others", [(0.0, 1.0), (0.0, 0.0), (0.5, 0.5)])
@pytest.mark.parametrize("design", [WARNER, WARNER.mirrored])
def test_bounds_by_search(design: Design, others: tuple[float, float]) -> None:
    """Every share within the bounds can make the reports, and none outside them."""
    count, n, rate = 700, 2000, 0.9
    (found,) = compliance_bounds(count, n, design, rates=[rate], others=others).bounds
    says, part = np.meshgrid(np.linspace(*others, 101), np.linspace(rate, 1, 101))
    shares = ((count / n - (1 - part) * says) / part - float(design.offset)) / float(design.slope)
    expected = np.clip([shares.min(), shares.max()], 0, 1)
    assert (found.low, found.high) == pytest.approx(expected)
    assert found.low_interval < found.low or found.low == 0
    assert found.high_interval > found.high or found.high == 1
    low, high = (binom_end(count, n, side) for side in (0.025, 0.975))
    reach = [
        part * np.clip(((end - (1 - part) * says) / part - float(design.offset))
                       / float(design.slope), 0, 1) + (1 - part) * rest
        for end in (low, high) for rest in (0, 1)
    ]  # fmt: skip
    assert found.everyone == pytest.approx((np.min(reach), np.max(reach)))


def binom_end(count: int, n: int, side: float) -> float:
    """Give an end of the exact interval of a reported share."""
    return float(beta.ppf(side, count + (side > 0.5), n - count + (side < 0.5)))


@pytest.mark.parametrize("withhold", [0.0, 0.1, 0.3])
def test_those_who_have_it_say_no(withhold: float) -> None:
    """A share of those with the trait say no whatever they are told: only ``everyone`` holds.

    Others simulate such people for the direct question only, and then praise the randomized one.
    The interval for all respondents covers as it says, exactly; the estimate without it does not.
    """
    share, n, follow = 0.3, 400, 1 - 0.3 * withhold
    yes = share * (1 - withhold) * 0.75 + (1 - share) * 0.25
    counts = np.arange(n + 1)
    chance = binom.pmf(counts, n, yes)
    likely = counts[chance > 1e-12]
    covered = {"plain": 0.0, "everyone": 0.0}
    for count in likely:
        full, least = compliance_bounds(
            int(count), n, WARNER, rates=[1, follow], others=(0, 0)
        ).bounds
        covered["plain"] += chance[count] * (full.low_interval <= share <= full.high_interval)
        covered["everyone"] += chance[count] * (least.everyone[0] <= share <= least.everyone[1])
    assert covered["everyone"] >= 0.95
    if withhold == 0.3:
        assert covered["plain"] < 0.7


def test_bounds_grow_and_say_so() -> None:
    """Full compliance gives the exact interval; less gives more; the tipping point is one end."""
    found = compliance_bounds(700, 2000, WARNER)
    widths = [b.high_interval - b.low_interval for b in found.bounds]
    assert widths == sorted(widths)
    assert found.bounds[0].low == found.bounds[0].high == pytest.approx(0.2)
    sentence = found.sentence().replace("\N{NO-BREAK SPACE}", " ")
    assert sentence == (
        "If at least 80.0 % of the reports follow the instructions and the others say anything at "
        "all, the share among those who follow is between 0.0 % and 42.8 %, and among everybody "
        "between 0.0 % and 54.3 %, whoever the others are (95 % confidence)."
    )
    for others, words in [((0, 0), "always say no"), ((0.2, 0.4), "say yes 20.0 % to 40.0 %")]:
        sentence = compliance_bounds(700, 2000, WARNER, others=others).sentence()
        assert words in sentence.replace("\N{NO-BREAK SPACE}", " ")
    tip = tipping_rate(700, 2000, WARNER, 0.0)
    at_tip, above = compliance_bounds(700, 2000, WARNER, rates=[tip, tip + 0.01]).bounds[::-1]
    assert at_tip.low == pytest.approx(0, abs=1e-12)
    assert above.low > 0
    assert tipping_rate(700, 2000, WARNER, 0.2) == 1
    assert tipping_rate(700, 2000, WARNER, 0.0, others=(0.0, 0.0)) == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cheater_detection([(1, 2)], FORCED), "of two groups"),
        (lambda: cheater_detection([(0, 0), (1, 2)], FORCED), "at least one report"),
        (lambda: cheater_detection([(1, 2), (1, 2)], [0.5, 0.5]), "different chances"),
        (lambda: cheater_detection([(1, 2), (1, 2)], [0.5]), "each of two groups"),
        (lambda: stochastic_lie([(1, 2), (1, 2)], [0.5, 2]), "direct must be a chance"),
        (lambda: unrelated_unknown([(1, 2), (1, 2)], [0.5, 0.5]), "different chances"),
        (lambda: unrelated_unknown([(1, 2), (1, 2)], [0.5]), "each of two groups"),
        (lambda: anchored_crosswise([[1, 2]], 0.2, 0.2), "2 × 2"),
        (lambda: anchored_crosswise([[1, 2], [3, 4]], 0.5, 0.2), "one half"),
        (lambda: anchored_crosswise([[1, 0], [0, 0]], 0.2, 0.2), "two respondents"),
        (lambda: compliance_bounds(0, 0, WARNER), "no reports"),
        (lambda: compliance_bounds(3, 2, WARNER), "from 0 to the number"),
        (lambda: compliance_bounds(1, 2, WARNER, rates=[0]), "above 0"),
        (lambda: compliance_bounds(1, 2, WARNER, others=(1, 0)), "the least first"),
        (lambda: tipping_rate(1, 2, WARNER, 2), "a share from 0 to 1"),
    ],
)
def test_refusals(call: Callable[[], object], message: str) -> None:
    """What cannot be fitted is refused in words."""
    with pytest.raises(EstimateError, match=message):
        call()
