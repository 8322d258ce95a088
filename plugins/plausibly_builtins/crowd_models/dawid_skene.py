"""Dawid and Skene: every annotator confuses labels in their own way."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import attrs
import numpy as np
import xarray as xr

from plausibly.plugin import Keys, names
from plausibly_builtins.crowd_models._em import (
    UNKNOWN,
    Cells,
    Column,
    Fit,
    Maximised,
    Pairs,
    Unknown,
    fit,
    log_prevalence,
    summed,
)

_CALLED = "dawid-skene"
_SAID = "said"


@attrs.frozen(kw_only=True)
class DawidSkene:
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

    accepts: ClassVar[frozenset[str]] = frozenset({"single-label"})
    joint: ClassVar[bool] = True

    smoothing: float = attrs.field(default=0.01, validator=attrs.validators.ge(0.0))
    diagonal: float = attrs.field(default=0.0, validator=attrs.validators.ge(0.0))
    label_smoothing: float = attrs.field(default=0.0, validator=attrs.validators.ge(0.0))
    tolerance: float = attrs.field(default=1e-6, validator=attrs.validators.ge(0.0))
    iterations: int = attrs.field(default=500, validator=attrs.validators.ge(1))
    unknown: Unknown = attrs.field(default="together", validator=UNKNOWN)

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        """Return plausibilities (example, label)."""
        found, cells = self._fitted(annotations)
        values = cells.as_table(found.plausible)
        return cells.rows.plausibilities(values).assign_attrs(found.attributes)

    def reliability(self, annotations: xr.Dataset) -> xr.Dataset:
        """Return what each annotator is worth."""
        found, cells = self._fitted(annotations)
        pairs = Pairs.of(cells)
        labels, known = cells.labels, cells.annotators - 1
        with np.errstate(invalid="ignore"):
            weight = cells.right(found.plausible) / cells.responses
            counts = np.full((cells.annotators, labels, labels), self.smoothing)
            counts[pairs.annotator, :, pairs.label] += pairs.mass(found.plausible).T
            counts += self.diagonal * np.eye(labels)
            total = counts.sum(axis=2, keepdims=True)
            chance = np.where(total > 0, counts / total, 1 / labels)
        chance[cells.responses == 0] = np.nan
        ordered = chance[:known][cells.of_annotator][:, cells.of_label][:, :, cells.of_label]
        named = cells.rows.table[names.LABEL].values
        table = cells.reliability(
            weight,
            confusion=xr.Variable((names.ANNOTATOR, names.LABEL, _SAID), ordered),
        )
        return table.assign_coords({_SAID: named}).assign_attrs(found.attributes)

    def _fitted(self, annotations: xr.Dataset) -> tuple[Fit, Cells]:
        cells = Cells.of(annotations, self.accepts, self.unknown, _CALLED)
        pairs = Pairs.of(cells)
        step = _Step(
            pairs=pairs,
            smoothing=self.smoothing,
            diagonal=self.diagonal,
            label_smoothing=self.label_smoothing,
        )
        found = fit(
            pairs,
            step.maximise,
            tolerance=self.tolerance,
            iterations=self.iterations,
            called=_CALLED,
        )
        return found, cells


@attrs.frozen(kw_only=True, eq=False)
class _Step:
    """The M-step, with what is the same in every iteration."""

    pairs: Pairs
    smoothing: float
    diagonal: float
    label_smoothing: float

    @cached_property
    def says(self) -> Column:
        """1 where the annotator ever says the label: (label, annotator)."""
        found = np.zeros((self.pairs.cells.labels, self.pairs.cells.annotators))
        found[self.pairs.label, self.pairs.annotator] = 1.0
        return found

    def maximise(self, plausible: Column) -> Maximised:
        """Return prevalence and confusion matrices that fit plausibilities (label, example)."""
        pairs, labels = self.pairs, self.pairs.cells.labels
        log_p, log_prior = log_prevalence(plausible, self.label_smoothing)
        counts = pairs.mass(plausible)
        total = np.empty_like(self.says)
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
            log_prior += self._log_density(log_chance, log_total)
        return Maximised(log_prevalence=log_p, log_chance=log_chance, log_prior=log_prior)

    def _log_density(self, log_chance: Column, log_total: Column) -> float:
        """Return the log prior density of the confusion matrices, unseen pairs included."""
        answers = self.says.any(axis=0)
        says, log_total = self.says[:, answers], log_total[:, answers]
        found = 0.0
        if self.smoothing:
            unseen = len(says) - says.sum(axis=0) - (1 - says)
            log_least = np.log(self.smoothing) - log_total
            found += self.smoothing * float(log_chance.sum() + (unseen * log_least).sum())
        if self.diagonal:
            found += self.diagonal * float(log_chance[self.pairs.diagonal > 0].sum())
        weight = self.smoothing + self.diagonal
        return found + weight * float(((1 - says) * (np.log(weight) - log_total)).sum())
