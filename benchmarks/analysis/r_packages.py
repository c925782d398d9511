"""Time a share and a logit against R's rr and RRreg, on the same reports.

R reads the reports from a file and times its own calls, so that neither its start nor the reading
counts. rr starts from random numbers and gives up for some of them: its seed is fixed.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
from scipy.special import expit

from deniable_analysis import Design, Reported, estimate_paper, regress, warner

ROWS = 10_000
SCRIPT = """\
files <- commandArgs(TRUE)
share <- read.csv(files[1])
logit <- read.csv(files[2])
clock <- function(name, work) {
  times <- sapply(1:3, function(turn) { set.seed(1); system.time(work())[["elapsed"]] })
  cat("TIME", name, median(times), "\\n")
}
have <- function(package) requireNamespace(package, quietly = TRUE)
if (have("RRreg")) {
  clock("share RRreg", function()
    RRreg::RRuni(share$report, model = "Warner", p = .75, MLest = FALSE))
  clock("logit RRreg", function()
    RRreg::RRlog(report ~ a + b + c, logit, "Warner", p = .75, LR.test = FALSE, fit.n = 1))
}
if (have("rr")) {
  clock("share rr", function()
    rr::rrreg(report ~ 1, data = share, p = .75, design = "mirrored"))
  clock("logit rr", function()
    rr::rrreg(report ~ a + b + c, data = logit, p = .75, design = "mirrored"))
}
"""


def compare(
    reports: int,
    timed: Callable[[Callable[[], object]], float],
    line: Callable[[str, float, float], None],
) -> None:
    """Print our times for both tasks and, where R and its packages are, theirs."""
    rng = np.random.default_rng(3)
    design = Design(Fraction(1, 2), Fraction(1, 4))

    def noisy(answers: np.ndarray) -> np.ndarray:
        return np.where(rng.random(len(answers)) < 0.75, answers, 1 - answers)

    share = noisy(rng.random(reports) < 0.3)
    columns = {name: rng.normal(size=ROWS) for name in "abc"}
    scale = -1 + columns["a"] - 0.5 * columns["b"]
    logit = noisy(rng.random(ROWS) < expit(scale))
    ours = {
        "share": timed(lambda: estimate_paper(np.bincount(share, minlength=2), warner("3/4"))),
        "logit": timed(lambda: regress(Reported.of(logit, design), columns)),
    }
    theirs = _r(share, np.column_stack([logit, *columns.values()]))
    for task, title in (
        ("share", f"a share of {reports:,} yes-no reports"),
        ("logit", f"a logit of {ROWS:,} yes-no reports on three numbers"),
    ):
        print(title)
        line("deniable", ours[task], ours[task])
        for name, seconds in theirs.items():
            if name.startswith(task):
                line(f"{name.removeprefix(task + ' ')} (R)", seconds, ours[task])
    if not theirs:
        print("  R, or its packages rr and RRreg, are not installed")


def _r(share: np.ndarray, logit: np.ndarray) -> dict[str, float]:
    if shutil.which("Rscript") is None:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        script, one, two = (Path(folder, name) for name in ("time.R", "share.csv", "logit.csv"))
        script.write_text(SCRIPT, encoding="ascii")
        np.savetxt(one, share, fmt="%d", header="report", comments="")
        np.savetxt(two, logit, delimiter=",", header="report,a,b,c", comments="")
        command = ["Rscript", "--vanilla", script, one, two]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    words = [text.split() for text in done.stdout.splitlines() if text.startswith("TIME")]
    return {f"{task} {package}": float(seconds) for _, task, package, seconds in words}
