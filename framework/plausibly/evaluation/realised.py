"""What the sets hold of each example, sorted: the paper's picture of how ambiguous examples are."""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.evaluation import inputs
from plausibly.evaluation.judged import judge
from plausibly.kernels import coverage

SHARE = "share"


def sorted_coverage(
    sets: xr.DataArray,
    plausibilities: xr.DataArray | xr.Dataset,
    *,
    only_common: bool = False,
    whose: str = inputs.SETS,
) -> xr.Dataset:
    """Return realised coverage of every example in ascending order, beside how ambiguous they are.

    Parameters
    ----------
    sets, plausibilities, only_common, whose
        See `plausibly.evaluate`.

    Returns
    -------
    Dataset
        Over the dim ``share``, ``1/n, 2/n, ..., 1``, the share of examples up to this place, each
        sorted on its own, ``(share[, alpha])``: `aggregated_coverage`,
        ``sum_k lambda_ik 1[k in C_i]``; `voted_coverage`, a step function, where a tied vote is its
        first label; `tied_coverage`, where each of L tied labels has credit 1/L; and
        `largest_plausibility`, (share). The attribute `tied_share` is the share of tied votes.

    Raises
    ------
    InputError
        As `evaluate`.

    References
    ----------
    Stutz et al., TMLR 2023, the figures of realised coverage of the main text and the appendix.
    """
    judged = judge(sets, plausibilities, only_common=only_common, whose=whose)
    first, tied = judged.measured("first"), judged.measured("fractional")
    largest = judged.largest
    dims = [SHARE, *judged.alpha_dims]

    def ascending(values: NDArray[np.float64]) -> tuple[list[str], NDArray[np.float64]]:
        found = np.sort(values, axis=0)
        return dims, found if judged.alpha_dims else found[:, 0]

    n = len(largest)
    return (
        judged.result(tied_share=float((coverage.tie_counts(judged.opinions) > 1).mean()))
        .assign_coords({SHARE: np.arange(1, n + 1) / n})
        .assign(
            aggregated_coverage=ascending(first["aggregated_coverage"]),
            voted_coverage=ascending(first["voted_coverage"]),
            tied_coverage=ascending(tied["voted_coverage"]),
            largest_plausibility=(SHARE, np.sort(largest)),
        )
    )
