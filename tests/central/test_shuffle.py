"""Shuffling: the bound against every small case, other people's numbers, and exact sums."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, permutations

import mpmath
import numpy as np
import pytest
from scipy.stats import binom

from deniable_analysis.central.shuffle import Shuffled
from deniable_protocol import Channel
from deniable_protocol.errors import MechanismError

F = Fraction
Multisets = dict[tuple[tuple[tuple[int, ...], int], ...], Fraction]
SMALL = [(2, 1, F(3)), (3, 1, F(3)), (3, 2, F(2)), (4, 2, F(3)), (4, 1, F(9))]


def mixed_law(channel: Channel, answers: tuple[int, ...]) -> Multisets:
    """Return the law of the multiset of reports, by adding one report after the other."""
    found: Multisets = {(): F(1)}
    for answer in answers:
        law, further = channel.law(answer), Counter[object]()
        for multiset, chance in found.items():
            for report, weight in law.items():
                held = Counter(dict(multiset))
                held[report] += 1
                further[tuple(sorted(held.items()))] += chance * weight  # type: ignore[operator]
        found = dict(further)  # type: ignore[arg-type]
    return found


def exact_delta(one: Multisets, other: Multisets, grow: Fraction) -> Fraction:
    return sum((max(F(0), p - grow * other.get(s, F(0))) for s, p in one.items()), F(0))


def true_deltas(channel: Channel, n: int, grow: Fraction) -> Fraction:
    """Return the worst exact δ over all answers of the others and both of the victim."""
    worst = F(0)
    for others in combinations_with_replacement(range(channel.options), n - 1):
        laws = {x: mixed_law(channel, (x, *others)) for x in range(channel.options)}
        for x, y in permutations(range(channel.options), 2):
            worst = max(worst, exact_delta(laws[x], laws[y], grow))
    return worst


@pytest.mark.parametrize(("options", "subset", "odds"), SMALL)
def test_no_small_case_passes_the_bound(options: int, subset: int, odds: Fraction) -> None:
    """Over all answers of up to four people, the exact δ of the mixed reports is below the bound.

    With one respondent the two are equal; a blanket said to be certain is caught.
    """
    channel = Channel(options=options, subset=subset, odds=odds)
    caught = False
    for n in (1, 2, 3) if options > 3 else (1, 2, 3, 4):
        mixed = Shuffled.of(channel, n)
        wrong = dataclasses.replace(mixed, blanket=1.0)
        for grow in (F(1), F(5, 4), F(3, 2), F(odds) * F(9, 10)):
            truth = float(true_deltas(channel, n, grow))
            found = mixed.delta(math.log(grow))
            assert truth <= found <= 1
            if n == 1:
                assert found == pytest.approx(truth, rel=1e-7)
            caught |= wrong.delta(math.log(grow)) < truth
    assert caught


def exact_binary(n: int, ones: int, odds: float, epsilon: float) -> float:
    """Return δ(ε) for yes-no reports where `ones` of the other n − 1 would say yes."""
    keep = odds / (1 + odds)
    others = np.convolve(
        binom.pmf(np.arange(ones + 1), ones, keep),
        binom.pmf(np.arange(n - ones), n - 1 - ones, 1 - keep),
    )
    yes = np.convolve(others, [1 - keep, keep])
    no = np.convolve(others, [keep, 1 - keep])
    return float(np.maximum(yes - math.exp(epsilon) * no, 0).sum())


@pytest.mark.parametrize("odds", [1.5, 3.0, 9.0])
def test_yes_no_at_two_hundred(odds: float) -> None:
    """Against the exact δ for every number of yes among the others: never below, and close."""
    n, delta = 200, 1e-5
    mixed = Shuffled.of(Channel(options=2, subset=1, odds=F(odds)), n)
    epsilon = mixed.epsilon(delta)
    worst = max(exact_binary(n, ones, odds, epsilon) for ones in range(n))
    assert delta / 10 < worst <= delta
    # An ε a sixth smaller does not hold: the bound is that close to the truth.
    assert max(exact_binary(n, ones, odds, epsilon / 1.2) for ones in range(n)) > delta


@pytest.mark.parametrize(
    ("n", "local", "delta", "low", "high"),
    [
        (1000, 1.0, 1e-5, 0.15404190739844947, 0.16285443826969637),
        (1000, 2.0, 1e-6, 0.545403003692627, 0.5627031326293945),
        (10_000, 1.0, 1e-6, 0.053005236281592615, 0.055561628567755934),
        (10_000, 4.0, 1e-6, 0.6008443832397461, 0.6253337860107422),
        (300, 0.5, 1e-4, 0.08749868035511077, 0.09509930192740002),
        (100_000, 4.0, 1e-6, 0.16954511178506076, 0.1751213788391566),
    ],
)
def test_any_randomizer_against_its_authors(
    n: int, local: float, delta: float, low: float, high: float
) -> None:
    """Between the two numbers of the authors' program (Feldman, McMillan & Talwar 2021).

    Made with apple/ml-shuffling-amplification at 993d285: ``numericalanalysis(n, local, delta, 22,
    step, upper)`` for upper False and True, step 1 up to n = 10,000 and 10 above.
    """
    found = Shuffled.of_epsilon(local, n).epsilon(delta)
    assert low <= found * (1 + 1e-5)
    assert found <= high


@pytest.mark.parametrize(
    ("n", "options", "delta", "theirs"),
    [(1000, 2, 1e-6, 0.16828346938474953), (3000, 10, 1e-6, 0.05170594697767246),
     (1000, 3, 1e-6, 0.14894992316321418), (100_000, 10, 1e-8, 0.010742255969728595)],
)  # fmt: skip
def test_k_ary_response_against_another_program(
    n: int, options: int, delta: float, theirs: float
) -> None:
    """Within one per cent of the variation-ratio bound (Wang et al. 2023) at odds 3:1.

    Made with wangsw/PrivacyAmplification, ``amplificationUB`` with the parameters of ``krr``, 20
    bisections. For two options the two are the same bound. For more, that one takes the step in
    whose proof the errata of [FMT23] report an error, so close is all that is asked.
    """
    found = Shuffled.of(Channel(options=options, subset=1, odds=F(3)), n).epsilon(delta)
    assert found == pytest.approx(theirs, rel=1e-5 if options == 2 else 1e-2)


def test_never_above_the_published_formula() -> None:
    """The closed form of Theorem 3.1, where it applies, is larger."""
    for n in (1000, 30_000, 10**6):
        for local in (0.1, 1.0, 3.0):
            for delta in (1e-4, 1e-10):
                if local > math.log(n / (16 * math.log(2 / delta))):
                    continue
                grow = math.exp(local)
                spread = 8 * math.sqrt(grow * math.log(4 / delta) / n) + 8 * grow / n
                closed = math.log1p((grow - 1) / (grow + 1) * spread)
                assert Shuffled.of_epsilon(local, n).epsilon(delta) <= closed


@pytest.mark.parametrize("subset", [1, 3])
@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.2, 0.6])
def test_the_sum_against_forty_digits(subset: int, epsilon: float) -> None:
    """The divergence of the two multisets, term by term from their likelihoods."""
    n, channel = 25, Channel(options=8, subset=subset, odds=F(4))
    mixed = Shuffled.of(channel, n)
    mpmath.mp.dps = 40
    grow, excess = mpmath.exp(epsilon), mpmath.mpf(3)
    pair, blanket = mpmath.mpf(mixed.pair), mpmath.mpf(mixed.blanket)
    total = mpmath.mpf(0)
    for hidden in range(n):
        size = hidden + 1
        weight = mpmath.binomial(n - 1, hidden) * blanket**hidden
        weight *= (1 - blanket) ** (n - 1 - hidden)
        for i in range(size + 1):
            for j in range(size + 1 - i):
                law = mpmath.factorial(size) / mpmath.factorial(i) / mpmath.factorial(j)
                law *= pair ** (i + j) * (1 - 2 * pair) ** (size - i - j)
                law /= mpmath.factorial(size - i - j) * size * (1 + excess * pair)
                gain = size + excess * i - grow * (size + excess * j)
                total += weight * law * max(gain, 0)
    truth = float(total * mixed.distinct)
    assert truth <= mixed.delta(epsilon) <= truth * (1 + 1e-6) + 1e-30


def test_more_reports_hide_more() -> None:
    """ε falls with n and grows with δ's strictness; it never passes the local ε."""
    channel = Channel(options=5, subset=2, odds=F(3))
    found = [Shuffled.of(channel, n).epsilon(1e-6) for n in (1, 10, 100, 1000, 10_000)]
    assert found[0] == pytest.approx(math.log(3), rel=1e-5)
    assert all(a >= b for a, b in pairwise(found))
    assert found[-1] < 0.1
    strict = [Shuffled.of(channel, 1000).epsilon(delta) for delta in (0.5, 1e-3, 1e-9, 1e-30)]
    assert strict == sorted(strict)
    assert Shuffled.of(channel, 1000).epsilon(1e-300) <= math.log(3) * (1 + 1e-15)
    assert Shuffled.of(channel, 1000).epsilon(5e-324) <= math.log(3) * (1 + 1e-15)
    assert Shuffled.of(channel, 1000).meets(1.1, 5e-324)
    assert not Shuffled.of(channel, 1000).meets(0.5, 5e-324)
    assert Shuffled.of(channel, 10).delta(5.0) == 0
    many = Shuffled.of(Channel(options=2, subset=1, odds=F(3)), 10**12)
    assert 0 < many.epsilon(1e-9) < 0.01
    assert Shuffled.of(channel, 1000).epsilon(0.9) == 0


def test_what_is_found_is_met() -> None:
    """epsilon(δ) satisfies delta(ε) ≤ δ, and a hundredth less does not."""
    for odds in (F(11, 10), F(3), F(50)):
        for n in (50, 5000):
            mixed = Shuffled.of(Channel.best(4, odds), n)
            epsilon = mixed.epsilon(1e-6)
            assert mixed.meets(epsilon, 1e-6)
            assert mixed.delta(epsilon) <= 1e-6
            assert not mixed.meets(0.99 * epsilon, 1e-6)
            assert mixed.event(1e-6).epsilon == epsilon


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, 2.5, True, "3", None], ids=repr)
def test_impossible_arguments(bad: object) -> None:
    """No number of respondents, ε or δ that is not one."""
    channel = Channel(options=2, subset=1, odds=F(3))
    with pytest.raises(MechanismError, match="respondents"):
        Shuffled.of(channel, bad)  # type: ignore[arg-type]
    with pytest.raises(MechanismError, match="delta"):
        Shuffled.of(channel, 10).epsilon(bad)  # type: ignore[arg-type]
    if bad not in (0, 2.5):
        with pytest.raises(MechanismError, match="epsilon"):
            Shuffled.of(channel, 10).delta(bad)  # type: ignore[arg-type]
        with pytest.raises(MechanismError, match="epsilon"):
            Shuffled.of_epsilon(bad, 10)  # type: ignore[arg-type]


def test_by_hand() -> None:
    """Built by hand, parameters are checked."""
    good = Shuffled(F(3), 0.5, 0.5, 1.0, 10)
    for change in ({"odds": F(1)}, {"blanket": 0.0}, {"pair": 0.6}, {"distinct": math.nan}):
        with pytest.raises(MechanismError):
            dataclasses.replace(good, **change)  # type: ignore[arg-type]
    with pytest.raises(MechanismError, match="at most 500"):
        Shuffled.of_epsilon(501, 10)


@pytest.mark.parametrize("trials", [1000, 10**5, 10**7])
def test_binomials_are_as_right_as_the_certificate_says(trials: int) -> None:
    """Terms and tails of a fair binomial, far out, to 1e-11; a thousandfold is what is added."""
    mpmath.mp.dps = 40
    for deviations in (0.5, 5.0, 11.0) if trials < 10**6 else (8.0,):
        first = int(trials / 2 + deviations * math.sqrt(trials) / 2)
        term = mpmath.binomial(trials, first) / mpmath.mpf(2) ** trials
        tail, left, k = mpmath.mpf(0), term, first
        while left > tail * mpmath.mpf(10) ** -30:
            tail += left
            left = left * (trials - k) / (k + 1)
            k += 1
        assert float(binom.pmf(first, trials, 0.5) / term - 1) == pytest.approx(0, abs=1e-11)
        assert float(binom.sf(first - 1, trials, 0.5) / tail - 1) == pytest.approx(0, abs=1e-11)
