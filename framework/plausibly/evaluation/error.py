"""How far a Monte Carlo calibration of m draws is from the expected one, as m grows."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.calibration.alphas import AlphaLike, Alphas, read_alphas
from plausibly.conformal.calibrate import calibrate
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.data import align, names, validate
from plausibly.errors import InputError, PlausiblyWarning, listed
from plausibly.evaluation import inputs
from plausibly.evaluation.intervals import check_method
from plausibly.evaluation.splits import check_share, split
from plausibly.kernels import coverage
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Bools
from plausibly.progress import Progress, ticking
from plausibly.protocols import ComponentLike, ScoreFunction

DRAWS = "draws"
SEED = "seed"
_MEASURES = ("threshold", "coverage", "set_size")


def monte_carlo_error(
    predictions: xr.DataArray,
    plausibilities: xr.DataArray | xr.Dataset,
    *,
    alphas: Alphas = (0.1,),
    draws: Sequence[int] = (1, 2, 5, 10, 20, 50),
    seeds: int = 20,
    score: ComponentLike[ScoreFunction] = "probability",
    test: float = 0.5,
    group: str | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Measure what the draws alone do: `monte-carlo` of m draws against `expected`, on one split.

    Parameters
    ----------
    predictions : DataArray, (example, label)
    plausibilities : DataArray or Dataset, (example, label)
        Of the same examples; dense, packed, or an annotation table.
    alphas : number or text, or a sequence of them
        Miscoverage rates.
    draws : sequence of int
        Numbers of draws m.
    seeds : int
        How many times labels are drawn anew, 2 or more, on the same calibration examples.
    score : str, mapping or ScoreFunction
    test : float
        Share of the examples to measure coverage on; the others calibrate.
    group : str, optional
        Coordinate of the examples whose groups stay on one side.
    confidence : float
        Of the intervals of mean differences over seeds.
    seed : int
        Of the split; draw number r uses seed ``seed + r``.
    progress : bool or callable, optional
        True for a bar on a terminal or in a notebook, silent elsewhere. A function is called with
        the number of finished calibrations, and of all.

    Returns
    -------
    Dataset
        `threshold`, `coverage` (aggregated) and `set_size`, (draws, seed, alpha), and the same with
        the prefix ``expected_``, (alpha). For each of the three, (draws, alpha): ``*_difference``,
        the mean over seeds less the expected one, with ``*_difference_low`` and ``*_high``, and
        ``*_sd``, the standard deviation over seeds. `coverage_sd_predicted`, (draws, alpha): the
        first-order ``sqrt(V_w / (m n))``, V_w the mean over calibration examples of
        ``L (1 - L)``, L the plausibility that sets leave out.

    Raises
    ------
    InputError
        ``draws-malformed``, ``seeds-range``; as `plausibly.calibrate`.

    Notes
    -----
    ``sd`` is about the draws alone: from one set of calibration examples to another coverage varies
    more, see `plausibly.compare`. Intervals are Student's, over seeds, given the examples: where
    all seeds give the same, and only there, they have no width. Thresholds that are infinite (every
    label, or none) have no difference: NaN.
    """
    _check(draws, seeds)
    check_method("t", confidence)
    check_share(test)
    exact = [float(alpha) for alpha in read_alphas(alphas)]
    given: list[AlphaLike] = np.asarray(alphas, dtype=object).ravel().tolist()
    model = validate.check_predictions(predictions)
    lam = inputs.as_plausibilities(plausibilities)
    labels = tuple(map(str, model[names.LABEL].values))
    lam = align.match_labels(lam, labels, whose="plausibilities", other="predictions")
    model, lam = align.match_examples(model, lam)
    groups = None if group is None else inputs.example_values(group, (model, lam))
    hashes = hash_names(model[names.EXAMPLE].values)
    tested = split(hashes, Keys(seed).child("monte-carlo-error"), test=test, groups=groups)
    order = np.argsort(hashes, kind="stable")  # no sum depends on the order of the rows
    rows = order[tested[order]]
    new = model.isel({names.EXAMPLE: rows})
    new_lam = lam.values[rows]
    old = model.isel({names.EXAMPLE: order[~tested[order]]})
    old_lam = lam.isel({names.EXAMPLE: order[~tested[order]]})

    def measured(predictor: ConformalPredictor) -> NDArray[np.float64]:
        """Return threshold, coverage and set size, (measure, alpha)."""
        sets = predictor.predict(new, given).transpose(names.ALPHA, names.EXAMPLE, names.LABEL)
        planes: list[Bools] = list(sets.values)
        covered = [float(coverage.aggregated(plane, new_lam).mean()) for plane in planes]
        sizes = [float(coverage.sizes(plane).mean()) for plane in planes]
        return np.array([predictor.threshold(given).values, covered, sizes], dtype=np.float64)

    exact_one = calibrate(old, old_lam, calibrator="expected", score=score, seed=seed)
    expected = measured(exact_one)
    found = np.empty((len(_MEASURES), len(draws), seeds, len(exact)))
    with ticking(progress, "calibrating") as tick, warnings.catch_warnings():
        warnings.simplefilter("ignore", PlausiblyWarning)  # the expected one warned of the same
        for place, m in enumerate(draws):
            for repeat in range(seeds):
                table = {"name": "monte-carlo", "draws": int(m)}
                one = calibrate(old, old_lam, calibrator=table, score=score, seed=seed + repeat)
                found[:, place, repeat] = measured(one)
                tick(place * seeds + repeat + 1, len(draws) * seeds)
        within = _within(exact_one.predict(old, given), old_lam)
    predicted = np.sqrt(within[None, :] / (np.array(draws)[:, None] * old.sizes[names.EXAMPLE]))
    result = xr.Dataset(
        {"coverage_sd_predicted": ((DRAWS, names.ALPHA), predicted)},
        coords={
            DRAWS: np.array([int(m) for m in draws]),
            SEED: seed + np.arange(seeds),
            names.ALPHA: exact,
        },
        attrs={
            "n_calibration": old.sizes[names.EXAMPLE],
            "n_test": len(rows),
            "confidence": confidence,
            "split_seed": seed,
        },
    )
    for place, name in enumerate(_MEASURES):
        result = result.assign(_compared(name, found[place], expected[place], confidence))
    return result


def _within(sets: xr.DataArray, lam: xr.DataArray) -> NDArray[np.float64]:
    """Return the mean over examples of ``L (1 - L)``, (alpha,): the variance of one drawn label."""
    planes = sets.transpose(names.ALPHA, names.EXAMPLE, names.LABEL).values
    covered = np.stack([coverage.aggregated(plane, lam.values) for plane in planes])
    found: NDArray[np.float64] = (covered * (1.0 - covered)).mean(axis=1)
    return found


def _compared(
    name: str,
    values: NDArray[np.float64],
    expected: NDArray[np.float64],
    confidence: float,
) -> dict[str, tuple[tuple[str, ...], NDArray[np.float64]]]:
    """Return what one measure is, how it varies over seeds, and how far it is from the expected.

    Parameters
    ----------
    values : ndarray of float64, (draws, seed, alpha)
    expected : ndarray of float64, (alpha,)
    """
    by = (DRAWS, names.ALPHA)
    from scipy.special import stdtrit

    finite = np.isfinite(values).all(axis=1) & np.isfinite(expected)
    with np.errstate(invalid="ignore"):
        mean = np.where(finite, (values - expected).mean(axis=1), np.nan)
        spread = np.where(finite, values.std(axis=1, ddof=1), np.nan)
    seeds = values.shape[1]
    reach = float(stdtrit(seeds - 1, (1.0 + confidence) / 2.0)) * spread / np.sqrt(seeds)
    return {
        name: ((DRAWS, SEED, names.ALPHA), values),
        f"expected_{name}": ((names.ALPHA,), expected),
        f"{name}_difference": (by, mean),
        f"{name}_difference_low": (by, mean - reach),
        f"{name}_difference_high": (by, mean + reach),
        f"{name}_sd": (by, spread),
    }


def _check(draws: Sequence[int], seeds: int) -> None:
    if not len(draws) or any(int(m) != m or m < 1 for m in draws) or len(set(draws)) < len(draws):
        raise InputError(
            "draws-malformed",
            "these are no numbers of draws to compare",
            expected="whole numbers from 1 on, each once",
            got=listed(draws) or "none",
            do="draws=(1, 2, 5, 10, 20, 50)",
            whose="draws",
        )
    if seeds < 2:
        raise InputError(
            "seeds-range",
            "one seed shows no spread",
            expected="2 seeds or more",
            got=str(seeds),
            do="seeds=20",
            whose="seeds",
        )
