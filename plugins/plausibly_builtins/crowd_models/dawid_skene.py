"""Dawid and Skene: every annotator confuses labels in their own way."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ClassVar

import attrs
import numpy as np
import xarray as xr

from plausibly.plugin import names
from plausibly_builtins.crowd_models._em import (
    UNKNOWN,
    Column,
    Estimated,
    Maximised,
    Pairs,
    Unknown,
    log_prevalence,
    summed,
)


@attrs.frozen(kw_only=True)
class DawidSkene(Estimated):
    """Plausibility of a label = its chance of being the one true label, given who said what.

    Each example has one true label k, drawn with the prevalence ``p_k``; annotator q says l of it
    with chance ``pi_qkl``, independently of all others. Prevalence, confusion matrices and
    plausibilities are estimated together, by expectation maximisation::

        lambda_ik  =  p_k prod_r pi_{q_r k l_r}^w_r  /  the same, summed over labels
        p_k        =  (sum_i lambda_ik + label_smoothing) / (n + K label_smoothing)
        pi_qkl     =  (N_qkl + smoothing + diagonal 1[k = l]) / the same, summed over l
        N_qkl      =  sum of w_r lambda_ik over responses r of q that say l

    w_r is the `response_weight` (1 where the table has none). The start is label frequency; a label
    that nobody says of any example has no plausibility, unless `label_smoothing` gives it some.

    What is covered by sets that are calibrated on these plausibilities is *the label that the model
    believes in*, not what an annotator would say: they are often nearly 0 or 1 where annotators
    split. An example's plausibilities depend on all other examples of the table (`joint`).

    Attributes
    ----------
    smoothing : float
        Responses that every annotator has given before the first, of every true label, of every
        label: a Dirichlet prior. With 0, what an annotator never confused is ruled out for good.
    diagonal : float
        Further such responses that are right: a prior that annotators are better than a guess.
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
    Dawid & Skene, Maximum likelihood estimation of observer error-rates using the EM algorithm,
    Applied Statistics 28 (1979), 20-28.
    """

    called: ClassVar[str] = "dawid-skene"

    smoothing: float = attrs.field(default=0.01, validator=attrs.validators.ge(0.0))
    diagonal: float = attrs.field(default=0.0, validator=attrs.validators.ge(0.0))
    label_smoothing: float = attrs.field(default=0.0, validator=attrs.validators.ge(0.0))
    tolerance: float = attrs.field(default=1e-6, validator=attrs.validators.ge(0.0))
    iterations: int = attrs.field(default=500, validator=attrs.validators.ge(1))
    unknown: Unknown = attrs.field(default="together", validator=UNKNOWN)

    def _judged(self, pairs: Pairs, plausible: Column) -> xr.Dataset:
        cells = pairs.cells
        labels, known = cells.labels, cells.annotators - 1
        with np.errstate(invalid="ignore"):
            weight = cells.right(plausible) / cells.responses
            counts = np.full((cells.annotators, labels, labels), self.smoothing)
            counts[pairs.annotator, :, pairs.label] += pairs.mass(plausible).T
            counts += self.diagonal * np.eye(labels)
            total = counts.sum(axis=2, keepdims=True)
            chance = np.where(total > 0, counts / total, 1 / labels)
        chance[cells.responses == 0] = np.nan
        ordered = chance[:known][cells.of_annotator][:, cells.of_label][:, :, cells.of_label]
        dims = (names.ANNOTATOR, names.LABEL, "said")
        table = cells.reliability(weight, confusion=xr.Variable(dims, ordered))
        return table.assign_coords(said=cells.rows.table[names.LABEL].values)

    def _maximise(self, pairs: Pairs) -> Callable[[Column], Maximised]:
        # 1 where the annotator ever says the label: (label, annotator)
        says = np.zeros((pairs.cells.labels, pairs.cells.annotators))
        says[pairs.label, pairs.annotator] = 1.0
        return partial(self._maximised, pairs, says)

    def _maximised(self, pairs: Pairs, says: Column, plausible: Column) -> Maximised:
        labels = pairs.cells.labels
        log_p, log_prior = log_prevalence(plausible, self.label_smoothing)
        counts = pairs.mass(plausible)
        total = np.empty_like(says)
        for row, of_label in zip(total, counts, strict=True):
            row[:] = summed(pairs.annotator, of_label, row.size)
        total += labels * self.smoothing + self.diagonal
        counts += self.smoothing
        if self.diagonal:
            counts += self.diagonal * pairs.diagonal
        with np.errstate(divide="ignore", invalid="ignore"):
            log_total = np.log(total)
            log_chance = np.log(counts)
            log_chance -= log_total[:, pairs.annotator]
        # An annotator who never saw an example of this label: nothing is known, all is as likely.
        log_chance[np.isnan(log_chance)] = -np.log(labels)
        if self.smoothing or self.diagonal:
            log_prior += self._log_density(pairs, says, log_chance, log_total)
        return Maximised(log_prevalence=log_p, log_chance=log_chance, log_prior=log_prior)

    def _log_density(
        self, pairs: Pairs, says: Column, log_chance: Column, log_total: Column
    ) -> float:
        """Return the log prior density of the confusion matrices, unseen pairs included."""
        answers = says.any(axis=0)
        says, log_total = says[:, answers], log_total[:, answers]
        found = 0.0
        if self.smoothing:
            unseen = len(says) - says.sum(axis=0) - (1 - says)
            log_least = np.log(self.smoothing) - log_total
            found += self.smoothing * float(log_chance.sum() + (unseen * log_least).sum())
        if self.diagonal:
            found += self.diagonal * float(log_chance[pairs.diagonal > 0].sum())
        weight = self.smoothing + self.diagonal
        return found + weight * float(((1 - says) * (np.log(weight) - log_total)).sum())
