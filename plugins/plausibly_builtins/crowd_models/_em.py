"""Expectation maximisation over the one true label of each example, in logarithms."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import cached_property

import attrs
import numpy as np

from plausibly.plugin import counted, names, warn
from plausibly_builtins.crowd_models._cells import Cells, Codes, Column, summed

_CLOSE = 1e-3  # a tolerance that may be advised


@attrs.frozen(kw_only=True, eq=False)
class Pairs:
    """Which labels each annotator says: the cells without their examples.

    Attributes
    ----------
    cells : Cells
    annotator, label : ndarray of int, (pair,)
        Sorted by annotator, then label.
    pair : ndarray of int, (cell,)
    """

    cells: Cells
    annotator: Codes
    label: Codes
    pair: Codes

    @classmethod
    def of(cls, cells: Cells) -> Pairs:
        """Return the pairs that occur."""
        key = cells.annotator * cells.labels + cells.label
        once, pair = np.unique(key, return_inverse=True)
        annotator, label = np.divmod(once, max(cells.labels, 1))
        return cls(cells=cells, annotator=annotator, label=label, pair=pair)

    def mass(self, plausible: Column) -> Column:
        """Return how often each pair is said of examples of each label: (label, pair).

        ``N_kql = sum_r w_r lambda_ik`` over the responses r of annotator q that say l.

        Parameters
        ----------
        plausible : ndarray of float64, (label, example)
        """
        cells, size = self.cells, self.label.size
        found = np.empty((cells.labels, size))
        for row, of_label in zip(found, plausible, strict=True):
            row[:] = summed(self.pair, cells.weight * of_label.take(cells.example), size)
        return found

    def evidence(self, log_chance: Column) -> Column:
        """Return what all responses of an example say for each label: (label, example).

        Parameters
        ----------
        log_chance : ndarray of float64, (label, pair)
            Logarithm of the chance that the annotator says this label of an example of that one.
        """
        cells = self.cells
        found = np.empty((cells.labels, cells.n))
        for row, of_label in zip(found, log_chance, strict=True):
            row[:] = summed(cells.example, cells.weight * of_label.take(self.pair), cells.n)
        return found

    @cached_property
    def diagonal(self) -> Column:
        """1 where the label that is said is the true one, else 0: (label, pair)."""
        true = np.arange(self.cells.labels)[:, None]
        found: Column = (self.label == true).astype(np.float64)
        return found


@attrs.frozen(kw_only=True, eq=False)
class Maximised:
    """Parameters that fit plausibilities best.

    Attributes
    ----------
    log_prevalence : ndarray of float64, (label,)
    log_chance : ndarray of float64, (label, pair)
    log_prior : float
        Logarithm of the prior density of the parameters, up to a constant.
    """

    log_prevalence: Column
    log_chance: Column
    log_prior: float


@attrs.frozen(kw_only=True, eq=False)
class Fit:
    """Plausibilities where the estimate stopped, and how it came there.

    Attributes
    ----------
    plausible : ndarray of float64, (label, example)
        In the order of names.
    objective : tuple of float
        Log-likelihood plus log-prior of the parameters at the start of each iteration.
    change : float
        Largest change of a plausibility in the last iteration.
    tolerance : float
    """

    plausible: Column
    objective: tuple[float, ...]
    change: float
    tolerance: float

    @property
    def attributes(self) -> dict[str, str]:
        """What result tables say of the estimate."""
        facts = {
            "iterations": len(self.objective),
            "change": self.change,
            "tolerance": self.tolerance,
            "objective": self.objective[-1] if self.objective else 0.0,
        }
        return {names.CONVERGENCE: json.dumps(facts)}


def fit(
    pairs: Pairs,
    maximise: Callable[[Column], Maximised],
    *,
    tolerance: float,
    iterations: int,
    called: str,
) -> Fit:
    """Return the plausibilities that the model gives after going round until they stay.

    They start as label frequency. Each iteration takes the parameters that fit the plausibilities
    best, then ``lambda_ik`` in proportion to ``p_k prod_r P(l_r | k, q_r)^w_r``. The objective
    never falls (Dempster, Laird & Rubin 1977), and where it ends depends on where it starts.

    Parameters
    ----------
    pairs : Pairs
    maximise : callable
        From plausibilities (label, example) to the parameters.
    tolerance : float
        It stops where no plausibility changes by more.
    iterations : int
        It stops after so many, with a warning.
    called : str
        Name of the aggregator, for the warning.
    """
    plausible = pairs.cells.shares
    objective: list[float] = []
    change = 0.0 if not plausible.size else np.inf
    while change > tolerance and len(objective) < iterations:
        found = maximise(plausible)
        joint = pairs.evidence(found.log_chance)
        joint += found.log_prevalence[:, None]
        most = joint.max(axis=0)
        joint -= most
        np.exp(joint, out=joint)
        total = joint.sum(axis=0)
        joint /= total
        objective.append(float((most + np.log(total)).sum()) + found.log_prior)
        change = float(np.abs(joint - plausible).max())
        plausible = joint
    if change > tolerance:
        enough = 10.0 ** math.ceil(math.log10(change))
        closer = f", or tolerance = {enough:g}" if enough <= _CLOSE else ""
        warn(
            "not-converged",
            f"{called} has not converged: in iteration {counted(len(objective))} a plausibility "
            f"still changes by {change:.2g}",
            expected=f"changes of {tolerance:g} or less",
            do=f"iterations = {iterations * 10}{closer}",
            whose=f"aggregator {called}",
            details={"iterations": len(objective), "change": change, "tolerance": tolerance},
            stacklevel=4,
        )
    return Fit(plausible=plausible, objective=tuple(objective), change=change, tolerance=tolerance)


def log_prevalence(plausible: Column, smoothing: float) -> tuple[Column, float]:
    """Return the log share of examples of each label, (label,), and its log prior density.

    ``p_k = (sum_i lambda_ik + smoothing) / (n + K smoothing)``.
    """
    labels, n = plausible.shape
    with np.errstate(divide="ignore"):
        log = np.log(plausible.sum(axis=1) + smoothing) - np.log(n + labels * smoothing)
    return log, smoothing * float(log.sum()) if smoothing else 0.0
