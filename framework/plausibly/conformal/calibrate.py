"""From predictions and plausibilities to a calibrated predictor."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly import registry
from plausibly.calibration.alphas import exact
from plausibly.calibration.coordinates import group_names
from plausibly.calibration.facts import Facts
from plausibly.calibration.held_out import keyed_share, one_of_each
from plausibly.calibration.pools import Pools
from plausibly.conformal.array_predictor import stated_by
from plausibly.conformal.calibration import (
    check_replicates,
    evidence_of,
    held_out_scores,
    replicates_of,
    try_combiner,
)
from plausibly.conformal.components import called as called_as
from plausibly.conformal.components import described
from plausibly.conformal.inputs import calibration_data, matched_inputs
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.data import names
from plausibly.data.names import several
from plausibly.errors import InputError, counted
from plausibly.kernels.random import Keys
from plausibly.protocols import (
    CALIBRATOR,
    COMBINER,
    SCORE,
    Aggregator,
    Calibrator,
    ComponentLike,
    PValueCombiner,
    ScoreFunction,
)


def _share(held_out: float) -> Fraction:
    share = exact(held_out)
    if share is None or not 0 <= share < 1:
        raise InputError(
            "held-out-range",
            f"held_out {held_out!r} is not a share of the calibration examples",
            expected="0 <= held_out < 1",
            got=repr(held_out),
            do="held_out=0.5",
            whose="combiner",
        )
    return share


def _groups(predictions: xr.DataArray, group: str | None) -> NDArray[np.str_] | None:
    if group is None:
        return None
    coordinate = predictions.coords.get(group)
    if coordinate is None or coordinate.dims != (names.EXAMPLE,):
        found = [str(name) for name, c in predictions.coords.items() if c.dims == (names.EXAMPLE,)]
        raise InputError(
            "coordinate-missing",
            f'predictions have no coordinate "{group}" of the examples',
            expected="the name of a coordinate over example",
            got=", ".join(sorted(found)),
            do="predictions.assign_coords(...), or -e/--examples with such a column",
            whose="predictions",
        )
    return group_names(coordinate.values)


def calibrate(
    predictions: xr.DataArray,
    plausibilities: xr.DataArray | xr.Dataset,
    *,
    calibrator: ComponentLike[Calibrator] = "expected",
    score: ComponentLike[ScoreFunction] = "probability",
    combiner: ComponentLike[PValueCombiner] = "average",
    aggregator: ComponentLike[Aggregator] | None = None,
    draws: int | None = None,
    seed: int = 0,
    group: str | None = None,
    only_common: bool = False,
    allow_no_guarantee: bool = False,
) -> ConformalPredictor:
    """Calibrate a conformal predictor on everything that experts said.

    Parameters
    ----------
    predictions : DataArray, ([augmentation,] example, label)
        What the model says of the calibration examples; it must not have been trained on them.
        ``attrs["scale"]`` says on which scale (`read_predictions`). Several augmentations of the
        examples are for the calibrator ``augmentation``. Coordinates of examples and labels are
        what calibrators can tell them apart by.
    plausibilities : DataArray or Dataset, ([draw,] example, label)
        Plausibilities, dense or packed, or an annotation table, which is aggregated first.
        Aligned with the predictions by the names of examples and labels. With the dim ``draw``,
        draw j is from the j-th of them.
    calibrator, score, combiner : str, mapping or object
        Components by name, as a table ``{"name": ..., parameters}``, or themselves.
    aggregator : str, mapping or Aggregator, optional
        For annotations; by default the one for their kind.
    draws : int, optional
        Shorthand for the calibrator's parameter, with its name.
    seed : int
        Seed of draws and held-out examples, which are keyed by the examples' names. In another
        order of the predictions' columns the same seed draws other labels.
    group : str, optional
        Coordinate of the predictions, such as a patient: combiners that set examples aside then set
        aside that share of its values, and rank among one random example of each. What they promise
        is for a random example of a new value.
    only_common : bool
        Leave out the examples that only one side has, instead of refusing.
    allow_no_guarantee : bool
        Calibrate also with a combiner that has no guarantee for these p-values; everything that is
        made of them then says "no guarantee".

    Returns
    -------
    ConformalPredictor

    Raises
    ------
    InputError
        Where inputs are malformed or do not match.
    IncompatibleComponents
        Where calibrator and combiner do not go together, or have no guarantee together and
        `allow_no_guarantee` is not set.

    References
    ----------
    Stutz et al., Conformal prediction under ambiguous ground truth, TMLR 2023; Angelopoulos et
    al., Conformal risk control, arXiv 2208.02814.
    """
    inputs = matched_inputs(
        predictions, plausibilities, aggregator=aggregator, seed=seed, only_common=only_common
    )
    params = None if draws is None else {"draws": draws}
    the_calibrator = registry.resolve(CALIBRATOR, calibrator, params)
    the_score = registry.resolve(SCORE, score)
    the_combiner = registry.resolve(COMBINER, combiner)
    called = {
        "calibrator": called_as(CALIBRATOR, the_calibrator),
        "score": called_as(SCORE, the_score),
        "combiner": called_as(COMBINER, the_combiner),
        "aggregator": inputs.aggregated_by,
    }
    keys = Keys(seed)
    data = calibration_data(inputs, the_score, called["score"], keys)
    groups = _groups(inputs.predictions, group)
    away = np.zeros(len(data), dtype=np.bool_)
    if the_combiner.held_out != 0:
        share = _share(the_combiner.held_out)
        away = keyed_share(share, data.hashes, keys.child("held-out"), groups)
    kept = np.flatnonzero(~away)
    if groups is not None and away.any():
        # Examples of one group are alike, and a new one is of a group that is not among them.
        away &= one_of_each(data.hashes, keys.child("held-out-example"), groups)
    aside = np.flatnonzero(away)
    if not kept.size or (the_combiner.held_out > 0 and not aside.size):
        of = "" if groups is None else f" of {several(len(np.unique(groups)), 'group')}"
        raise InputError(
            "calibration-empty",
            f"{counted(len(data))} examples{of} are too few for combiner {called['combiner']}",
            expected="one calibration example, and one held out where the combiner asks",
            got=f"{counted(kept.size)} and {counted(aside.size)}",
            do="annotate more, or combiner average",
            whose="predictions",
        )
    replicates = replicates_of(
        the_calibrator,
        data.take(kept),
        keys.child("calibrator"),
        f"calibrator {called['calibrator']}",
    )
    check_replicates(replicates, data, called, held_out=bool(aside.size))
    held_out = None
    if aside.size:
        held_out = held_out_scores(data.take(aside), replicates, keys.child("held-out-label"))
    evidence = evidence_of(
        replicates,
        called,
        examples=kept.size,
        held_out=aside.size,
        group=group if aside.size and group else "",
        randomised=the_score.randomised,
        resampled=data.resampled is not None,
        joint=str(inputs.plausibilities.attrs.get(names.JOINT, "")),
        allow_no_guarantee=allow_no_guarantee,
    )
    # Asked once, so that a pair without a guarantee never becomes a predictor.
    stated_by(the_combiner, evidence, Fraction(1, 10))
    augmented = replicates.reads in ("separate", "mean")
    predictor = ConformalPredictor(
        labels=data.labels,
        score=the_score,
        combiner=the_combiner,
        calibrator=described(CALIBRATOR, the_calibrator),
        pools=Pools(replicates),
        held_out_scores=held_out,
        examples=None if data.examples.numbered else data.examples,
        evidence=evidence,
        reference=np.sort(data.largest()),
        facts=Facts(
            scale=inputs.scale,
            seed=seed,
            augmentations=inputs.augmentations if augmented else (),
            **called,
        ),
    )
    try_combiner(predictor)
    return predictor
