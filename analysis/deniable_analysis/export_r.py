"""An R script with which a reviewer redoes the analysis, from the counts, with other software."""

from __future__ import annotations

import math
from fractions import Fraction

from deniable_protocol import Channel

from .estimate import Estimate
from .results import Results


def to_r(results: Results) -> str:
    """Write an R script that computes shares and standard errors again and compares them.

    Base R does it from the two numbers of each design. Where the packages RRreg and rr are
    installed they are called too, with the parameters of the design that they take, and must agree;
    neither knows reports that hold several options. rr fits a logit from a random start, which has
    no answer for a share that is not between 0 and 1: it is not asked there.
    """
    survey = results.reports.survey
    parts = [
        f"# {_line(str(survey.title))}: survey {survey.name}, {survey.digest}",
        "# Run with: Rscript FILE. It stops if any number differs.",
        _SHARES,
    ]
    for block in results.blocks:
        for place, found in enumerate(block.estimates, start=1):
            if found.n > 1:
                group = f", arm {block.group}" if block.group else ""
                box = f", box {place}" if found.box is not None else ""
                title = f"# {_line(found.item.name)}{box}{group}"
                parts.append("\n".join([title, *_item(found)]))
    parts.append('cat("All shares and standard errors agree.\\n")')
    return "\n\n".join(parts) + "\n"


_SHARES = """\
# The unbiased shares: reported = slope * share + offset, and n - 1 in the variance.
shares <- function(counts, n, slope, offset) {
  seen <- counts / n
  list(share = (seen - offset) / slope,
       se = sqrt(seen * (1 - seen) / (n - 1)) / abs(slope))
}
agree <- function(found, expected) stopifnot(max(0, abs(found - expected)) < 1e-9)"""


def _item(found: Estimate) -> list[str]:
    channel = found.item.channel
    slope, offset = channel.p - channel.q, channel.q
    counts = ", ".join(str(option.count) for option in found.options)
    labels = ", ".join(_quoted(option.label) for option in found.options)
    lines = [
        f"counts <- c({counts})",
        f"names(counts) <- c({labels})",
        f"found <- shares(counts, {found.n}, {_exact(slope)}, {_exact(offset)})",
        f"agree(found$share, c({_numbers([o.share for o in found.options])}))",
        f"agree(found$se, c({_numbers([o.se for o in found.options])}))",
        "print(round(cbind(share = found$share, se = found$se), 4))",
    ]
    if channel.subset > 1:
        return [
            *lines,
            f"# Each report holds {channel.subset} options: RRreg and rr do not have it.",
        ]
    if channel.options == 2:
        return [*lines, *_two(channel, found.options[0].share)]
    return [*lines, *_several(channel)]


def _two(channel: Channel, share: float) -> list[str]:
    """Two options are Warner's design; their first is the trait."""
    truth = _exact(channel.p)
    return [
        "trait <- rep(c(1, 0), counts)",
        *_rrreg(f'trait, model = "Warner", p = {truth}', "found$share[1]", "found$se[1]"),
        *(_rr(truth) if 0 < share < 1 else []),
    ]


def _rrreg(call: str, share: str, se: str) -> list[str]:
    return [
        'if (requireNamespace("RRreg", quietly = TRUE)) {',
        f"  theirs <- RRreg::RRuni({call}, MLest = FALSE)",
        "  print(theirs)",
        f"  agree(theirs$pi, {share})",
        "  known <- !is.na(theirs$piSE)  # it gives no error for an option that nobody reported",
        f"  agree(theirs$piSE[known], {se}[known])",
        "}",
    ]


def _rr(truth: str) -> list[str]:
    return [
        'if (requireNamespace("rr", quietly = TRUE)) {',
        "  set.seed(1)",
        f"  theirs <- rr::rrreg(trait ~ 1, data = data.frame(trait), p = {truth},",
        '                      design = "mirrored")',
        "  print(plogis(coef(theirs)))",
        "  stopifnot(abs(plogis(coef(theirs)) - found$share[1]) < 1e-3)",
        "}",
    ]


def _several(channel: Channel) -> list[str]:
    return [
        "answer <- rep(seq_along(counts) - 1, counts)",
        f"law <- matrix({_exact(channel.q)}, {channel.options}, {channel.options})",
        f"diag(law) <- {_exact(channel.p)}",
        "# Its log-likelihood for this design is wrong; its shares are right.",
        *_rrreg('answer, model = "custom", p = law', "found$share", "found$se"),
    ]


def _numbers(values: list[float]) -> str:
    return ", ".join("NA" if math.isnan(value) else repr(float(value)) for value in values)


def _exact(value: Fraction) -> str:
    return f"({value.numerator} / {value.denominator})"


def _quoted(text: str) -> str:
    escaped = "".join(
        char
        if char.isascii() and char.isprintable() and char not in '"\\'
        else f"\\u{{{ord(char):x}}}"
        for char in text
    )
    return f'"{escaped}"'


def _line(text: str) -> str:
    """Keep a comment on its line."""
    return " ".join(text.split())
