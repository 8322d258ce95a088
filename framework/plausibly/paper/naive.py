"""Appendix C: the standard quantile on pooled drawn labels, beside the rank of Algorithm 1.

The baseline takes the level ``floor(alpha (n + 1)) / n`` of all ``m n`` drawn scores, so their
``m floor(alpha (n + 1))``-th smallest; Algorithm 1 takes the ``floor(alpha m (n + 1)) - m + 1``-th.
"""

from __future__ import annotations

import math
from fractions import Fraction

import attrs
import numpy as np
import xarray as xr

from plausibly.calibration.alphas import read_alpha
from plausibly.data import names
from plausibly.evaluation.design import MethodTable
from plausibly.paper import page, splitting
from plausibly.paper.casestudy import ALPHA
from plausibly.paper.data import nodules
from plausibly.paper.page import Asked, Claim, Drawing, close, mean_spread

COUNTS = (1, splitting.DRAWS)
RULE, SPLIT = "rule", "split"
RULES = ("standard quantile", "Algorithm 1")
_MEASURES = ("voted_coverage", "aggregated_coverage", "set_size")


@attrs.frozen(kw_only=True)
class Naive:
    """Coverage and set size of both ranks, by number of draws."""

    alpha: str = ALPHA

    def measure(self, asked: Asked) -> xr.Dataset:
        """Return coverage and set size, (rule, draw, split)."""
        data = asked.data or nodules(asked.seed)
        alpha = asked.alpha or self.alpha
        found = np.zeros((len(_MEASURES), len(RULES), len(COUNTS), asked.splits))
        for number in range(asked.splits):
            rows = splitting.one_split(data, asked.seed, number)
            for place, count in enumerate(COUNTS):
                method: MethodTable = {"calibrator": "monte-carlo", "draws": count}
                predictor = splitting.calibrated(data, ~rows, method, seed=number)
                naive = standard(read_alpha(alpha), predictor.n, count)
                for rule, level in enumerate((naive, read_alpha(alpha))):
                    one = splitting.measured(predictor, data, rows, level)
                    found[:, rule, place, number] = one.voted, one.aggregated, one.size
            asked.tick(number + 1, asked.splits)
        dims = (RULE, names.DRAW, SPLIT)
        return xr.Dataset(
            {name: (dims, values) for name, values in zip(_MEASURES, found, strict=True)},
            coords={
                RULE: np.array(RULES),
                names.DRAW: list(COUNTS),
                SPLIT: np.arange(asked.splits),
            },
            attrs=splitting.facts(data, asked, alpha),
        )

    def draw(self, numbers: xr.Dataset) -> Drawing:
        """Return coverage above and set size below, a column a number of draws and rule."""
        chosen = {
            f"{rule}, m = {count}": numbers.sel({RULE: rule, names.DRAW: count})
            for count in COUNTS
            for rule in RULES
        }
        return page.draw(chosen, "The standard quantile on drawn labels", numbers)

    def claim(self, numbers: xr.Dataset) -> Claim:
        """Return whether the baseline reaches the level on average, though nothing promises it."""
        wanted = 1 - numbers.attrs[names.ALPHA]
        there = numbers["aggregated_coverage"]
        values = {
            (rule, count): there.sel({RULE: rule, names.DRAW: count}).values
            for rule in RULES
            for count in COUNTS
        }
        said = ", ".join(
            f"{rule} m = {count} {mean_spread(covered)}"
            for (rule, count), covered in values.items()
        )
        standards = [values[RULES[0], count] for count in COUNTS]
        same = bool((values[RULES[0], 1] == values[RULES[1], 1]).all())
        return Claim(
            says=f"the standard quantile on m drawn labels covers {wanted:g} on average too, "
            "without a guarantee for m > 1; for m = 1 it is Algorithm 1",
            measured=said,
            parts={
                f"at {wanted:g}": all(close(float(one.mean()), wanted) for one in standards),
                "one rule for m = 1": same,
            },
        )


NAIVE = Naive()


def standard(alpha: Fraction, n: int, draws: int) -> Fraction:
    """Return the alpha at which Algorithm 1 has the rank of the standard quantile."""
    rank = draws * math.floor(alpha * (n + 1))
    return Fraction(rank + draws - 1, draws * (n + 1))
