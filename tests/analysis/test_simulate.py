"""Simulated reports follow the channel's law, and say that they protect nobody."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare

from deniable_analysis import bootstrap, estimate, simulate
from deniable_analysis.simulate import draw_bits
from deniable_protocol import EstimateError

from .samples import (
    EVERY_KIND,
    SAMPLED,
    SURVEY,
    WARNER,
    WIDE,
    gathered,
    likelihood_matrix,
)


@pytest.mark.parametrize("channel", [WARNER, WIDE])
def test_draws_follow_the_law(channel):
    """Every subset comes as often as the enumerated law says (a fixed seed, so never flaky)."""
    matrix, subsets = likelihood_matrix(channel)
    rng = np.random.default_rng(11)
    keys = {sum(1 << j for j in subset): place for place, subset in enumerate(subsets)}
    for true in (0, channel.options - 1):
        bits = draw_bits(channel, np.full(40_000, true), rng)[:, 0]
        seen = np.bincount([keys[key] for key in bits.tolist()], minlength=len(subsets))
        assert chisquare(seen, 40_000 * matrix[:, true]).pvalue > 1e-6
        # Another answer's law is told apart.
        assert chisquare(seen, 40_000 * matrix[:, int(true == 0)]).pvalue < 1e-6


def answers(n):
    return {
        "drank": np.arange(n) % 2,
        "often": np.zeros(n, dtype=int),
        "drugs.1": np.zeros(n, dtype=int),
        "drugs.2": np.ones(n, dtype=int),
        "drugs.3": np.arange(n) % 2,
        "mood": np.full(n, 2),
        "sleep": np.where(np.arange(n) % 4 == 0, np.nan, 7.5),
    }


def test_every_kind_comes_back():
    """Estimates from simulated reports are near what they were simulated from."""
    reports = simulate(EVERY_KIND, answers(60_000), seed=3)
    assert "protects nobody" in reports.note
    for name, expected in [
        ("drank", [0.5, 0.5]),
        ("often", [0.5, 0, 0, 0, 0.5]),  # hidden from those who did not drink
        ("drugs.3", [0.5, 0.5]),
        ("mood", [0, 0, 1]),
        ("sleep", [0, 0, 0.375, 0.375, 0, 0.25]),  # 7.5 is rounded to 6 or 9
    ]:
        found = estimate(reports, name)
        for option, share in zip(found.options, expected, strict=True):
            assert option.share == pytest.approx(share, abs=5 * option.se), (name, option)


def test_sampling_and_seeds():
    """Each device sends as many questions as it is asked for; a seed repeats everything."""
    given = {"one": [0] * 500, "two": [3] * 500, "three": [1] * 500}
    reports = simulate(SAMPLED, given, seed=1)
    again, other = (simulate(SAMPLED, given, seed=seed) for seed in (1, 2))
    sent = np.stack([tally.sent for tally in reports.tallies.values()])
    assert (sent.sum(axis=0) == SAMPLED.ask).all()
    assert np.array_equal(reports["two"].rows, again["two"].rows)
    assert not np.array_equal(reports["two"].rows, other["two"].rows)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"mood": np.full(4, 3)}, "from 0 to 2"),
        ({"mood": np.full(4, 1.5)}, "option indices"),
        ({"sleep": np.full(4, 12.5)}, "from 0 to 12"),
        ({"sleep": np.full(4, 7.3)}, "steps of 1/2"),
        ({"mood": np.zeros(3, dtype=int)}, "same order"),
        ({"moods": np.zeros(4, dtype=int)}, "moods unknown"),
    ],
)
def test_answers_that_cannot_be_are_refused(change, words):
    """What no respondent can answer is refused."""
    with pytest.raises(EstimateError, match=words):
        simulate(EVERY_KIND, answers(4) | change, seed=1)
    with pytest.raises(EstimateError, match="mood missing"):
        simulate(EVERY_KIND, {k: v for k, v in answers(4).items() if k != "mood"}, seed=1)


@pytest.mark.parametrize("estimator", ["mle", "moments"])
def test_bootstrap_scatters_as_the_error_says(estimator):
    """Resamples scatter around the estimate by its standard error, for one option and several."""
    reports = gathered(400)
    for name in ("stolen", "dish"):
        found = bootstrap(reports, name, estimator=estimator, replicates=200, seed=4)
        expected = estimate(reports, name)
        shares = np.array([getattr(o, "mle" if estimator == "mle" else "share")
                           for o in expected.options])  # fmt: skip
        errors = np.array([o.se for o in expected.options])
        assert found.replicates.sum(axis=1) == pytest.approx(1)
        if estimator == "moments":
            assert found.se == pytest.approx(errors, rel=0.2)
            assert found.replicates.mean(axis=0) == pytest.approx(shares, abs=4 * errors.max() / 14)
        else:
            assert found.replicates.min() >= 0
        again = bootstrap(reports, name, estimator=estimator, replicates=200, seed=4)
        assert np.array_equal(found.low, again.low)
    with pytest.raises(EstimateError, match="at least 200"):
        bootstrap(reports, "stolen", replicates=50)
    with pytest.raises(EstimateError, match="no reports"):
        bootstrap(gathered(0), "stolen")


def test_simulating_never_touches_the_client():
    """The names of both packages are kept apart: nothing here can be taken for a device."""
    assert "Not private" in simulate.__doc__
    assert SURVEY.name == "canteen"
