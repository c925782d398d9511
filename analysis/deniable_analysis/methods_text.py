"""The methods paragraph of a paper: what was done, in words, with citations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .estimate import format_level
from .intervals import Method
from .results import Results
from .wording import ratio

CITATIONS: Final = {
    "War65": "Warner, S. L. (1965). Randomized response: A survey technique for eliminating "
    "evasive answer bias. Journal of the American Statistical Association, 60, 63–69.",
    "YB18": "Ye, M., & Barg, A. (2018). Optimal schemes for discrete distribution estimation "
    "under locally differential privacy. IEEE Transactions on Information Theory, 64, 5662–5676.",
    "KLNRS11": "Kasiviswanathan, S. P., Lee, H. K., Nissim, K., Raskhodnikova, S., & Smith, A. "
    "(2011). What can we learn privately? SIAM Journal on Computing, 40, 793–826.",
    "HH02": "van den Hout, A., & van der Heijden, P. G. M. (2002). Randomized response, "
    "statistical disclosure control and misclassification: A review. International Statistical "
    "Review, 70, 269–288.",
    "FC98": "Feldman, G. J., & Cousins, R. D. (1998). Unified approach to the classical "
    "statistical analysis of small signals. Physical Review D, 57, 3873–3889.",
    "Wil27": "Wilson, E. B. (1927). Probable inference, the law of succession, and statistical "
    "inference. Journal of the American Statistical Association, 22, 209–212.",
    "CP34": "Clopper, C. J., & Pearson, E. S. (1934). The use of confidence or fiducial limits "
    "illustrated in the case of the binomial. Biometrika, 26, 404–413.",
    "Goo65": "Goodman, L. A. (1965). On simultaneous confidence intervals for multinomial "
    "proportions. Technometrics, 7, 247–254.",
    "DJW18": "Duchi, J. C., Jordan, M. I., & Wainwright, M. J. (2018). Minimax optimal "
    "procedures for locally private estimation. Journal of the American Statistical Association, "
    "113, 182–201.",
    "Woo52": "Woodruff, R. S. (1952). Confidence intervals for medians and other position "
    "measures. Journal of the American Statistical Association, 47, 635–646.",
    "Haj71": "Hájek, J. (1971). Discussion of D. Basu, An essay on the logical foundations of "
    "survey sampling. In V. P. Godambe & D. A. Sprott (Eds.), Foundations of statistical "
    "inference. Holt, Rinehart and Winston.",
    "Hol79": "Holm, S. (1979). A simple sequentially rejective multiple test procedure. "
    "Scandinavian Journal of Statistics, 6, 65–70.",
    "Fie54": "Fieller, E. C. (1954). Some problems in interval estimation. Journal of the Royal "
    "Statistical Society, Series B, 16, 175–185.",
}
_INTERVALS: Final[dict[Method, tuple[str, str]]] = {
    "feldman-cousins": ("are Feldman and Cousins' (1998) on the exact binomial law of the noisy "
                        "count, restricted to shares from 0 to 1", "FC98"),
    "likelihood-ratio": ("invert the likelihood-ratio test on the binomial law of the noisy count, "
                         "restricted to shares from 0 to 1", ""),
    "wilson": ("are Wilson's (1927) for the reported share, mapped to the true one", "Wil27"),
    "clopper-pearson": ("are Clopper and Pearson's (1934) for the reported share, mapped to the "
                        "true one", "CP34"),
    "wald": ("are normal intervals of the unbiased estimate", ""),
}  # fmt: skip


def methods_paragraph(results: Results) -> str:
    """Write what was done as a paragraph for a paper, and the works it cites.

    Say who was asked, when and how beside it: the reports do not know that.
    """
    sentences, cited = zip(*_sentences(results), strict=True)
    keys = dict.fromkeys(key for keys in cited for key in keys)
    references = sorted((CITATIONS[key] for key in keys), key=str.casefold)
    return "\n\n".join([" ".join(sentences), *references]) + "\n"


def _sentences(results: Results) -> Iterator[tuple[str, tuple[str, ...]]]:
    survey, n = results.reports.survey, results.reports.n
    yield _collection(results), ("War65", "KLNRS11")
    if results.reports.note is not None:
        yield results.reports.note, ()
    yield from _questions(results)
    if survey.ask is not None:
        text = (
            f"Each device drew {survey.ask} of the {len(survey.questions)} questions at random "
            "before it looked at the answers and reported only those."
        )
        yield text, ()
    text = (
        f"The {n:,} reports were de-biased with the known law of the noise, which gives unbiased "
        "shares (van den Hout & van der Heijden, 2002); best-fit shares are maximum-likelihood "
        "estimates within 0 to 1."
    )
    yield text, ("HH02",)
    yield from _interval_sentences(results)
    yield from _more(results)
    if results.limit is not None:
        points = f"{100 * results.limit:g} percentage points"
        yield f"No single share is reported where its interval is longer than {points}.", ()


def _questions(results: Results) -> Iterator[tuple[str, tuple[str, ...]]]:
    questions = results.reports.survey.questions
    if any(question.channel.subset > 1 for question in questions):
        text = (
            "Questions with many options used the subset mechanism of Ye and Barg (2018), in which "
            "a report names several options."
        )
        yield text, ("YB18",)
    if any(question.kind == "number" for question in questions):
        text = (
            "Numbers were rounded at random, without bias, to a few points before they were "
            "randomized (Duchi et al., 2018)."
        )
        yield text, ("DJW18",)
    if any(question.extras for question in questions):
        text = (
            "Not answering was randomized like an answer; shares among those who answered are "
            "ratios with Fieller's (1954) intervals."
        )
        yield text, ("Fie54",)


def _more(results: Results) -> Iterator[tuple[str, tuple[str, ...]]]:
    if any(block.weighted for block in results.blocks):
        text = (
            "Population shares are weighted means of the de-biased scores (Hájek, 1971) with "
            "linearised variances, which contain the noise."
        )
        yield text, ("Haj71",)
    if results.relations:
        text = (
            "Joint shares of two answers are means of products of their de-biased scores; "
            "independence of the true answers was tested on the noisy table or on the covariance "
            "of the scores, which is valid because the noises are independent (van den Hout & van "
            "der Heijden, 2002)."
        )
        yield text, ("HH02",)
    if results.differences:
        yield "Arms were compared with Holm's (1979) correction for all differences.", ("Hol79",)


def _collection(results: Results) -> str:
    survey = results.reports.survey
    return (
        f"Answers were collected with deniable (survey {survey.name}, {survey.digest}). Each "
        "answer was randomized on the respondent's own device before it was sent, by randomized "
        "response (Warner, 1965), so that the whole report of a respondent satisfies "
        f"{survey.epsilon:.2f}-local differential privacy (Kasiviswanathan et al., 2011): it "
        f"shifts the odds between any two sets of answers by at most {ratio(survey.odds)}."
    )


def _interval_sentences(results: Results) -> Iterator[tuple[str, tuple[str, ...]]]:
    level = format_level(results.level)
    for method in dict.fromkeys(block.method for block in results.blocks):
        words, key = _INTERVALS[method]
        once = ""
        keys = (key,) if key else ()
        if results.simultaneous:
            once = ", with Bonferroni's correction over the options of a question (Goodman, 1965)"
            keys = (*keys, "Goo65")
        yield f"The {level} confidence intervals of shares {words}{once}.", keys
    if any(block.number for block in results.blocks):
        text = (
            "Means have score intervals of their unbiased values, and quantiles Woodruff's (1952) "
            "intervals."
        )
        yield text, ("Woo52",)
