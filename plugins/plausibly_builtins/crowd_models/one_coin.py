"""One coin: every annotator has one chance to be right, whatever the label."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ClassVar

import attrs
import numpy as np
import xarray as xr

from plausibly_builtins.crowd_models._em import (
    UNKNOWN,
    Cells,
    Column,
    Estimated,
    Maximised,
    Pairs,
    Unknown,
    log_prevalence,
)


@attrs.frozen(kw_only=True)
class OneCoin(Estimated):
    """Plausibility of a label = its chance of being the one true label, given who said what.

    The model of `dawid-skene` with one number an annotator: q says the true label with chance
    ``c_q``, and each of the K - 1 others with ``(1 - c_q) / (K - 1)``. All labels of the table
    count, also those that nobody says::

        lambda_ik  =  p_k prod_r P(l_r | k, q_r)^w_r  /  the same, summed over labels
        p_k        =  (sum_i lambda_ik + label_smoothing) / (n + K label_smoothing)
        c_q        =  (N_q + right) / (sum of w_r + right + wrong)
        N_q        =  sum of w_r lambda_{i l_r} over responses r of q

    It needs far fewer responses than confusion matrices do, and is misled where labels differ in
    how hard they are. The start is label frequency. As with `dawid-skene`, sets that are calibrated
    on these plausibilities cover the label that the model believes in, and an example's
    plausibilities depend on all other examples of the table (`joint`).

    Attributes
    ----------
    right, wrong : float
        Responses of each kind that every annotator has given before the first: a Beta prior. With
        0, an annotator who was never wrong cannot be.
    label_smoothing : float
        Examples of every label before the first.
    tolerance : float
        It has converged where no plausibility changes by more in an iteration.
    iterations : int
        The most iterations; it warns where that is too few.
    unknown : {"together", "error"}
        Take all responses of unknown annotators as those of one annotator, with a warning, or
        refuse them.

    References
    ----------
    Zhang, Chen, Zhou & Jordan, Spectral methods meet EM, JMLR 17 (2016), section 2.
    """

    called: ClassVar[str] = "one-coin"

    right: float = attrs.field(default=0.01, validator=attrs.validators.ge(0.0))
    wrong: float = attrs.field(default=0.01, validator=attrs.validators.ge(0.0))
    label_smoothing: float = attrs.field(default=0.0, validator=attrs.validators.ge(0.0))
    tolerance: float = attrs.field(default=1e-6, validator=attrs.validators.ge(0.0))
    iterations: int = attrs.field(default=500, validator=attrs.validators.ge(1))
    unknown: Unknown = attrs.field(default="together", validator=UNKNOWN)

    def _judged(self, pairs: Pairs, plausible: Column) -> xr.Dataset:
        cells = pairs.cells
        chance = self._chance(cells, plausible)[0]
        return cells.reliability(np.where(cells.responses > 0, chance, np.nan))

    def _maximise(self, pairs: Pairs) -> Callable[[Column], Maximised]:
        return partial(self._maximised, pairs)

    def _chance(self, cells: Cells, plausible: Column) -> tuple[Column, Column]:
        """Return the chances (annotator,) to be right and to be wrong."""
        right = cells.right(plausible)
        # By rounding alone, a sum of plausibilities may pass the number of responses.
        wrong = np.maximum(cells.responses - right, 0.0) + self.wrong
        right = right + self.right
        with np.errstate(invalid="ignore"):
            return right / (right + wrong), wrong / (right + wrong)

    def _maximised(self, pairs: Pairs, plausible: Column) -> Maximised:
        cells = pairs.cells
        log_p, log_prior = log_prevalence(plausible, self.label_smoothing)
        chance, error = self._chance(cells, plausible)
        with np.errstate(divide="ignore"):
            log_right, log_wrong = np.log(chance), np.log(error)
        log_chance = np.where(
            pairs.diagonal > 0,
            log_right[pairs.annotator],
            log_wrong[pairs.annotator] - np.log(max(cells.labels - 1, 1)),
        )
        answers = cells.responses > 0
        for pseudo, log in ((self.right, log_right), (self.wrong, log_wrong)):
            if pseudo:
                log_prior += pseudo * float(log[answers].sum())
        return Maximised(log_prevalence=log_p, log_chance=log_chance, log_prior=log_prior)
