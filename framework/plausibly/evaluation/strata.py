"""Coverage by how hard an example is: by ambiguity, by any other number, and by size of its set.

How much experts disagree on a new example is not known beforehand: coverage by it is reported and
never promised. What can be computed from predictions is known, and a calibrator can equalise it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import xarray as xr

from plausibly.data import names
from plausibly.errors import InputError, listed
from plausibly.evaluation import inputs, summary
from plausibly.evaluation.ambiguity import number_of_each
from plausibly.evaluation.intervals import IntervalMethod
from plausibly.evaluation.judged import judge
from plausibly.kernels.coverage import Ties
from plausibly.kernels.types import Floats, Ints

STRATUM = "stratum"
SIZE = "size"
SINGLE_SIZES = 12
RANGES_FROM = (0, 1, 2, 3, 4, 6, 11, 21, 51, 101, 201, 501, 1001)
_SLACK = 1e-9  # a number this close below an edge is on it: sums of decimals end in any last bit


def coverage_by_strata(
    sets: xr.DataArray,
    plausibilities: xr.DataArray | xr.Dataset,
    of: str | xr.DataArray,
    *,
    edges: Sequence[float] | None = None,
    quantiles: int | Sequence[float] | None = None,
    ties: Ties = "first",
    cluster: str | None = None,
    interval: IntervalMethod = "auto",
    confidence: float = 0.95,
    seed: int = 0,
    only_common: bool = False,
    whose: str = inputs.SETS,
) -> xr.Dataset:
    """Measure coverage and set size in strata of a number that each example has.

    Parameters
    ----------
    sets, plausibilities
        See `plausibly.evaluate`.
    of : str or DataArray, (example,)
        The number: a coordinate of sets or plausibilities, or by the name of the example, such as
        ``entropy(plausibilities)`` (ambiguity, known only afterwards) or ``entropy(predictions)``
        (known of a new example).
    edges : sequence of float, optional
        Where strata begin, ascending: n edges make n + 1 strata, each with its lower edge.
    quantiles : int or sequence of float, optional
        Instead of edges: into how many parts of equally many examples, or the shares at which to
        cut. Equal numbers stay together, so parts can differ, and there can be fewer of them.
        Halves, where neither is given.
    ties, cluster, interval, confidence, seed, only_common, whose
        See `plausibly.evaluate`.

    Returns
    -------
    Dataset
        Over the dim ``stratum`` (text, with the numbers ``stratum_from`` and ``stratum_to``):
        `count` of examples, and `aggregated_coverage`, `voted_coverage` and `set_size`, each as
        ``*_mean``, ``*_low`` and ``*_high``, ``(stratum[, alpha])``.

    Raises
    ------
    InputError
        As `evaluate`; ``edges-malformed``, ``strata-of-text``.

    Notes
    -----
    Intervals are of each stratum on its own, not of all together, and edges that were chosen after
    looking at the coverage make the weak strata look weaker than they are.
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
    values, called = number_of_each(of, judged)
    cuts = _cuts(values, edges, quantiles)
    codes = np.digitize(values + _SLACK * max(1.0, float(np.abs(values).max())), cuts)
    found = summary.grouped(
        judged.outcomes(judged.measured(ties)),
        codes[judged.order],
        np.array(_titles(cuts)),
        dim=STRATUM,
        prefix="",
        alpha_dims=judged.alpha_dims,
    ).rename(n="count")
    bounds = [-np.inf, *cuts, np.inf]
    found = found.assign_coords(
        stratum_from=(STRATUM, bounds[:-1]), stratum_to=(STRATUM, bounds[1:])
    )
    about = judged.result(of=called, ties=ties)
    return about.merge(found, join="exact", compat="no_conflicts").assign_attrs(about.attrs)


def coverage_by_size(
    sets: xr.DataArray,
    plausibilities: xr.DataArray | xr.Dataset,
    *,
    starts: Sequence[int] | None = None,
    ties: Ties = "first",
    cluster: str | None = None,
    interval: IntervalMethod = "auto",
    confidence: float = 0.95,
    seed: int = 0,
    only_common: bool = False,
    whose: str = inputs.SETS,
) -> xr.Dataset:
    """Measure coverage by the number of labels in the set.

    Parameters
    ----------
    sets, plausibilities
        See `plausibly.evaluate`.
    starts : sequence of int, optional
        Where ranges of sizes begin, ascending. By default each size on its own, and from 13 labels
        on ranges from 0, 1, 2, 3, 4, 6, 11, 21, 51, 101, 201, 501 and 1,001 labels.
    ties, cluster, interval, confidence, seed, only_common, whose
        See `plausibly.evaluate`.

    Returns
    -------
    Dataset
        Over the dim ``size`` (text, with ``size_from`` and ``size_to``, both inside): `count` of
        sets, and `aggregated_coverage` and `voted_coverage` as ``*_mean``, ``*_low`` and
        ``*_high``, all ``(size[, alpha])``.

    Raises
    ------
    InputError
        As `evaluate`; ``edges-malformed``.

    Notes
    -----
    The size of a set is known of a new example. Size-stratified coverage: Angelopoulos et al.,
    Uncertainty sets for image classifiers using conformal prediction, ICLR 2021.
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
    begins = _starts(len(judged.labels), starts)
    ends = [*(begin - 1 for begin in begins[1:]), len(judged.labels)]
    titles = [str(a) if a == b else f"{a}-{b}" for a, b in zip(begins, ends, strict=True)]
    measured = judged.measured(ties)
    sizes = measured.pop(summary.SET_SIZE)
    planes = []
    for place in range(sizes.shape[1]):
        codes: Ints = np.digitize(sizes[:, place], begins) - 1
        one = {name: values[:, [place]] for name, values in measured.items()}
        planes.append(
            summary.grouped(
                judged.outcomes(one),
                codes[judged.order],
                np.array(titles),
                dim=SIZE,
                prefix="",
                alpha_dims=[],
            ).rename(n="count")
        )
    found = planes[0]
    if judged.alpha_dims:
        found = xr.concat(
            planes, dim=names.ALPHA, coords="different", compat="equals", join="exact"
        ).transpose(SIZE, names.ALPHA)
    about = judged.result(ties=ties)
    found = found.assign_coords(size_from=(SIZE, begins), size_to=(SIZE, ends))
    return about.merge(found, join="exact", compat="no_conflicts").assign_attrs(about.attrs)


def _cuts(
    values: Floats, edges: Sequence[float] | None, quantiles: int | Sequence[float] | None
) -> list[float]:
    """Return where strata begin, but for the first."""
    if edges is not None:
        if quantiles is not None:
            raise _malformed("edges and quantiles", "one of them", "both")
        return _ascending(edges, "edges")
    parts = 2 if quantiles is None else quantiles
    if isinstance(parts, int):
        if parts < 1:
            raise _malformed("quantiles", "a number of strata from 1 on", str(parts))
        shares = [place / parts for place in range(1, parts)]
    else:
        shares = _ascending(parts, "quantiles")
        if shares and not 0 < shares[0] <= shares[-1] < 1:
            raise _malformed("quantiles", "shares between 0 and 1", listed(parts))
    if not shares:
        return []
    # Numbers that there are, not between them: each stratum holds the number that it begins with.
    cuts = np.unique(np.quantile(values, shares, method="higher"))
    return [float(cut) for cut in cuts if cut > values.min()]


def _ascending(numbers: Sequence[float], what: str) -> list[float]:
    found = [float(number) for number in numbers]
    if any(not a < b for a, b in pairwise(found)) or not np.isfinite(found).all():
        raise _malformed(what, "numbers in ascending order, each once", listed(numbers))
    return found


def _starts(labels: int, starts: Sequence[int] | None) -> list[int]:
    """Return the sizes at which ranges begin; the first is 0."""
    if starts is None:
        begins = range(labels + 1) if labels <= SINGLE_SIZES else RANGES_FROM
        return [begin for begin in begins if begin <= labels]
    asked = _ascending(starts, "starts")
    if any(start != int(start) or not 0 <= start <= labels for start in asked):
        raise _malformed("starts", f"whole numbers from 0 to {labels}", listed(starts))
    return sorted({0, *(int(start) for start in asked)})


def _titles(cuts: Sequence[float]) -> list[str]:
    """Return what strata are called."""
    if not cuts:
        return ["all"]
    short = [f"{cut:.4g}" for cut in cuts]
    if len(set(short)) < len(short):
        short = [repr(cut) for cut in cuts]
    between = [f"{a} to {b}" for a, b in pairwise(short)]
    return [f"below {short[0]}", *between, f"{short[-1]} and more"]


def _malformed(what: str, expected: str, got: str) -> InputError:
    return InputError(
        "edges-malformed",
        f"{what} make no strata",
        expected=expected,
        got=got,
        do="edges=[0.5, 0.8], or quantiles=2 for halves",
        whose=what,
    )
