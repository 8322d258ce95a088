"""Coverage of each label: which share of what experts say in its favour the sets hold."""

from __future__ import annotations

import math

import numpy as np
import xarray as xr

from plausibly.data import names
from plausibly.evaluation import inputs
from plausibly.evaluation.intervals import IntervalMethod
from plausibly.evaluation.judged import judge


def coverage_by_label(
    sets: xr.DataArray,
    plausibilities: xr.DataArray | xr.Dataset,
    *,
    cluster: str | None = None,
    interval: IntervalMethod = "auto",
    confidence: float = 0.95,
    simultaneous: bool = False,
    seed: int = 0,
    only_common: bool = False,
    whose: str = inputs.SETS,
) -> xr.Dataset:
    """Measure which share of the plausibility of each label the sets cover.

    Parameters
    ----------
    sets, plausibilities
        See `plausibly.evaluate`.
    cluster, interval, confidence, seed, only_common, whose
        See `plausibly.evaluate`.
    simultaneous : bool
        Whether the intervals shall hold for all labels together (Bonferroni, over the labels that
        somebody named): so for the question which label is covered least.

    Returns
    -------
    Dataset
        Over the dim ``label``, in the order of the sets: `mass`, ``sum_i lambda_ik``, the evidence
        there is, in examples, and `mass_share`; `examples`, how many give the label any
        plausibility; `covered_mean`, `covered_low` and `covered_high`,
        ``sum_i lambda_ik 1[k in C_i] / sum_i lambda_ik``, ``(label[, alpha])``; `in_sets_mean`,
        ``*_low`` and ``*_high``, the share of the sets that hold the label. NaN where nobody named
        a label.

    Raises
    ------
    InputError
        As `evaluate`.

    Notes
    -----
    ``P(k in C | an expert says k)``. The intervals are those of a ratio (`interval` with weights
    ``lambda_ik``): a label with much mass in few examples has a wide one, whatever its mass. The
    mean of the shares, weighted by `mass`, is the aggregated coverage.
    """
    judged = judge(
        sets,
        plausibilities,
        cluster=cluster,
        interval=interval,
        confidence=confidence,
        seed=seed,
        only_common=only_common,
        whose=whose,
    )
    heard = np.array([np.count_nonzero(lam) for lam, _ in judged.columns()])
    among = max(1, int((heard > 0).sum())) if simultaneous else 1
    covered, inside, masses = [], [], []
    for lam, planes in judged.columns():
        covered.append([judged.interval(plane, lam, among=among) for plane in planes])
        inside.append([judged.interval(plane, among=among) for plane in planes])
        masses.append(lam.sum())
    mass = np.array(masses)
    found = judged.result(simultaneous=int(simultaneous))
    found = found.assign_coords({names.LABEL: judged.sets[names.LABEL].variable})
    return found.assign(
        {
            "mass": (names.LABEL, mass),
            "mass_share": (names.LABEL, mass / math.fsum(mass)),
            "examples": (names.LABEL, heard),
            **judged.found({"covered": covered, "in_sets": inside}, names.LABEL),
        }
    )
