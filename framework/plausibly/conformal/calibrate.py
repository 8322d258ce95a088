"""Calibration: from predictions and plausibilities to a calibrated predictor."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly import registry
from plausibly.calibration.data import CalibrationData, group_names, new_values
from plausibly.calibration.pvalues import Pools, PValues, exact, keyed_share, one_of_each
from plausibly.calibration.scores import CalibrationScores
from plausibly.conformal.aggregate import warn_of_one_annotator
from plausibly.conformal.array_predictor import Metadata
from plausibly.conformal.inputs import calibration_data, matched_inputs, scoring_of
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.data import names
from plausibly.data.annotations import is_annotations
from plausibly.data.names import several
from plausibly.errors import ComponentError, IncompatibleComponents, InputError, an, counted, listed
from plausibly.guarantee import BY_LABEL, DRAWN_LABELS, NO_GUARANTEE, UNIFORMS, Needs
from plausibly.io.accept import AnswersLike, PredictionsLike, as_answers, as_predictions
from plausibly.kernels.masses import storable_masses
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Floats
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
from plausibly.registry.entries import calling, failed

_JOINT = (
    "plausibilities are those that {} would estimate from calibration and new examples together"
)
_JOINT_DEPENDENT = (
    "{} share that estimate and are not independent: a guarantee with probability "
    "over the calibration is not proved for them"
)
_TRIED = 32  # scores, or p-values, with which a combiner is tried
_TRIED_ALPHA = Fraction(1, 10)
_ROUNDING = 1e-9
_RESAMPLED = "plausibilities are the means of the given draws of them, such as bootstrap resamples"


def calibration_scores_of(
    calibrator: Calibrator, data: CalibrationData, keys: Keys, source: str
) -> CalibrationScores:
    """Return the scores of a calibrator that messages call `source`: checked."""
    with calling(source, "calibrate"):
        calibration: object = calibrator.calibrate(data, keys)
    if not isinstance(calibration, CalibrationScores):
        raise failed(
            source,
            "calibrate() returned no CalibrationScores",
            expected="plausibly.plugin.CalibrationScores",
            found=an(type(calibration).__name__),
        )
    augmentations = 0 if data.augmented is None else len(data.augmented)
    lacking = {calibration.claim.by, calibration.claim.weights} - {"", BY_LABEL, *data.coordinates}
    expected = calibration.contents()
    if expected:
        pass
    elif calibration.scores.dtype != data.source.dtype:
        expected = f"scores of {data.source.dtype}, as they were given"
    elif calibration.label is not None and calibration.label.max() >= len(data.labels):
        expected = f"label below {len(data.labels)}"
    elif calibration.claim.by == BY_LABEL and calibration.groups != data.labels:
        expected = "groups as the labels are called, in their order"
    elif lacking:
        expected = f"claim.by and claim.weights among {sorted(data.coordinates)}"
    elif calibration.augmentation != "none" and not augmentations:
        expected = 'augmentation "none": there are no augmentations'
    elif calibration.augmentation == "separate" and len(calibration.scores) != augmentations:
        expected = f"one replicate for each of {augmentations} augmentations"
    if expected:
        raise IncompatibleComponents(
            "calibration-scores-malformed",
            f"{source} returned calibration scores that cannot be used",
            expected=expected,
            hint="fix the calibrator's calibrate()",
            source=source,
        )
    units, row, denominator = calibration.units, calibration.row, calibration.denominator
    if units is None or row is None or denominator is None:
        return calibration
    # The same after a file was written and read.
    units, denominator = storable_masses(units, row, denominator)
    return attrs.evolve(calibration, units=units, denominator=denominator)


def check_pair(
    calibration: CalibrationScores,
    data: CalibrationData,
    called: Mapping[str, str],
    *,
    held_out: bool,
    needs: Needs,
    cluster: str | None = None,
) -> None:
    """Raise `IncompatibleComponents` where calibrator, data and combiner do not go together."""
    calibrator, combiner = called["calibrator"], called["combiner"]
    if data.augmented is not None and calibration.augmentation == "none":
        raise IncompatibleComponents(
            "augmentations-unread",
            f"calibrator {calibrator} reads one row per example, and predictions have "
            "augmentations",
            expected="predictions over example and label",
            found=f"{len(data.augmented)} augmentations",
            hint="calibrator augmentation, or predictions.isel(augmentation=0)",
            source=f"calibrator {calibrator}",
        )
    expected = found = ""
    hint, claim = "combiner average", calibration.claim
    by = {"groups": claim.by, "weights": claim.weights, "clusters": claim.cluster}
    apart = [f'{what} by "{name}"' for what, name in by.items() if name]
    if held_out and (apart or claim.target in ("mass", "risk")):
        expected = "held-out examples among which a new one is as likely at every rank"
        found = listed(apart) or f"a guarantee about the {claim.target} of each example"
    elif needs == "losses" and (claim.by or claim.weights):
        expected, found = "one threshold for all examples", listed(apart)
    elif needs == "losses" and calibration.augmentation == "separate":
        expected, found = "one test score per label", "one of each augmentation"
        hint = 'combiner average, or pac(bound="held-out")'
    elif needs == "losses" and cluster and cluster != claim.cluster:
        expected = f'losses of each "{cluster}", whose examples may be alike'
        found, hint = "losses of each example", f'calibrator clustered(by="{cluster}")'
    elif needs == "each" and not calibration.separate:
        expected, found = "one p-value per replicate", "only their mean: no label is drawn"
        hint = "combiner average, or calibrator monte-carlo"
    if found:
        raise IncompatibleComponents(
            "pair-incompatible",
            f"combiner {combiner} does not go with calibrator {calibrator}",
            expected=expected,
            found=found,
            hint=hint,
            source=f"combiner {combiner}",
        )


def held_out_scores(held: CalibrationData, calibration: CalibrationScores, keys: Keys) -> Floats:
    """Return the scores of the one label of each held-out example."""
    voted = calibration.claim.target == "majority-vote"
    codes = held.majority_vote() if voted else held.draw(1, keys)[0]
    if held.augmented is None or calibration.augmentation not in ("separate", "pooled"):
        return held.scores_at(codes)
    rows = np.arange(len(held))
    seen: slice | NDArray[np.intp] = slice(None)
    if calibration.augmentation == "pooled":
        # A new example is seen in one of its augmentations: so is a held-out one, at random.
        uniform = keys.child("augmentation").uniform(held.hashes)[:, 0]
        seen = np.floor(uniform * len(held.augmented)).astype(np.intp)
    return held.augmented[seen, rows, codes]


def with_order(
    calibration: CalibrationScores, data: CalibrationData, keys: Keys
) -> CalibrationScores:
    """Return the scores with a random order of their examples, or clusters, keyed by name."""
    hashes = data.hashes
    if calibration.claim.cluster:
        clusters, _ = data.groups(calibration.claim.cluster, source="combiner")
        hashes = hash_names(clusters)
    order = np.empty(len(hashes), dtype=np.int64)
    order[np.lexsort((hashes, keys.uniform(hashes)[:, 0]))] = np.arange(len(hashes))
    # By place, so that a file without names holds nothing that names could be compared with.
    uniform = keys.child("draw").uniform(order.astype(np.uint64))[:, 0]
    return attrs.evolve(calibration, order=order, uniform=uniform)


def try_combiner(predictor: ConformalPredictor) -> None:
    """Raise where the combiner cannot merge these p-values, or lowers one for a larger score."""
    if predictor.combiner.needs == "losses":
        predictor.guarantee(_TRIED_ALPHA)
        return
    pools = predictor.pools.groups[0]
    calibration, pooled = pools.calibration, pools.pooled
    if predictor.combiner.needs == "mean":
        least = min(pooled.test_mass, pooled.total)  # a risk can pass the total
        more = pooled.total - least
        tried = [least + more * step // _TRIED for step in range(_TRIED + 1)]
        p = PValues(pools, np.array(tried, dtype=pooled.cumulative.dtype), pooled.total)
    else:
        ordered = pooled.ordered
        places = np.linspace(0, len(ordered) - 1, min(len(ordered), _TRIED)).astype(np.intp)
        scores = ordered[places]
        ones = np.ones(len(scores))
        if calibration.augmentation == "separate":
            scores = np.broadcast_to(scores, (len(calibration.scores), len(scores)))
        weight = ones if calibration.weight is not None else None
        p = PValues.of(pools, scores, weight=weight, uniform=ones / 2)
    values = predictor._combine(p)
    fall = float(np.diff(values).min(initial=0.0))
    if fall < -_ROUNDING:
        raise failed(
            f"combiner {predictor.metadata.combiner}",
            "combine() lowers the p-value of a larger score",
            expected="p-values that do not fall where those that they are made of rise",
            found=f"{-fall:.3g} less",
        )


def calibrate(
    predictions: PredictionsLike,
    plausibilities: AnswersLike,
    *,
    calibrator: ComponentLike[Calibrator] = "expected",
    score: ComponentLike[ScoreFunction] = "probability",
    combiner: ComponentLike[PValueCombiner] = "average",
    aggregator: ComponentLike[Aggregator] | None = None,
    draws: int | None = None,
    seed: int = 0,
    cluster: str | None = None,
    only_common: bool = False,
    allow_no_guarantee: bool = False,
) -> ConformalPredictor:
    """Calibrate a conformal predictor on all answers of the annotators.

    Parameters
    ----------
    predictions : DataArray, ([augmentation,] example, label), path or data frame
        What the model says of the calibration examples; it must not have been trained on them.
        ``attrs["scale"]`` says on which scale (`read_predictions`). Several augmentations of the
        examples are for the calibrator ``augmentation``. Coordinates of examples and labels are
        what calibrators can tell them apart by.
    plausibilities : DataArray or Dataset, ([draw,] example, label), path or data frame
        Plausibilities, dense or sparse, or an annotation table, which is aggregated first; a path
        or a data frame is read as annotations.
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
    cluster : str, optional
        Coordinate of the predictions, such as a patient: combiners that set examples aside then set
        aside that share of its values, and rank among one random example of each. What they
        guarantee is for a random example of a new value.
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
    try:
        probabilities = as_predictions(predictions)
    except InputError:
        if isinstance(predictions, str | Path) and isinstance(plausibilities, str | Path):
            from plausibly.io.predictions import files_swapped

            arguments = ("plausibilities=", "predictions=")
            if swapped := files_swapped(Path(plausibilities), Path(predictions), arguments):
                raise swapped from None
        raise
    answers = as_answers(plausibilities, beside=predictions)
    if is_annotations(answers):
        warn_of_one_annotator(answers)
    model, answered, aggregated_by = matched_inputs(
        probabilities, answers, aggregator=aggregator, seed=seed, only_common=only_common
    )
    params = None if draws is None else {"draws": draws}
    the_calibrator = registry.resolve(CALIBRATOR, calibrator, params)
    scoring = scoring_of(model, answered, score, seed)
    the_combiner = registry.resolve(COMBINER, combiner)
    called: dict[str, str] = {}
    components: dict[str, dict[str, object] | None] = {}
    for kind, component in (
        (CALIBRATOR, the_calibrator),
        (SCORE, scoring.component),
        (COMBINER, the_combiner),
    ):
        called[kind.name], components[kind.name] = type(component).__name__, None
        with suppress(ComponentError):  # an object of a class that is not registered has no table
            table = registry.default().describe(kind, component)
            called[kind.name], components[kind.name] = str(table["name"]), table
    keys = Keys(seed)
    data = calibration_data(model, answered, scoring)
    groups = None
    if cluster is not None:
        groups = group_names(new_values(model.array, cluster, source="cluster"))
    examples = len(model.examples)
    away = np.zeros(examples, dtype=np.bool_)
    if the_combiner.held_out != 0:
        share = exact(the_combiner.held_out)
        away = keyed_share(share, data.hashes, keys.child("held-out"), groups)
    kept = np.flatnonzero(~away)
    used = data.take(kept) if away.any() else data
    if groups is not None and away.any():
        # Examples of one group are alike, and a new one is of a group that is not among them.
        away &= one_of_each(data.hashes, keys.child("held-out-example"), groups)
    aside = np.flatnonzero(away)
    if not kept.size or (the_combiner.held_out > 0 and not aside.size):
        of = "" if groups is None else f" of {several(len(np.unique(groups)), 'group')}"
        raise InputError(
            "calibration-empty",
            f"{counted(examples)} examples{of} are too few for combiner {called['combiner']}",
            expected="one calibration example, and one held out where the combiner asks",
            found=f"{counted(kept.size)} and {counted(aside.size)}",
            hint="annotate more, or combiner average",
            source="predictions",
        )
    calibration = calibration_scores_of(
        the_calibrator, used, keys.child("calibrator"), f"calibrator {called['calibrator']}"
    )
    needs, held = the_combiner.needs, bool(aside.size)
    check_pair(calibration, data, called, held_out=held, needs=needs, cluster=cluster)
    held_out = None
    if aside.size:
        held_out = held_out_scores(data.take(aside), calibration, keys.child("held-out-label"))
    # The claim of the calibrator, with what the data and the combiner add to it.
    claim = calibration.claim.of_new(cluster) if held and cluster else calibration.claim
    conditions, notes, random = claim.conditions, claim.notes, claim.random
    if data.resampled is not None:
        notes = (*notes, _RESAMPLED)
        random = (*random, "draws of plausibilities")
    if joint := str(answered.array.attrs.get(names.JOINT, "")):
        conditions = (*conditions, _JOINT.format(joint))
        if held or needs == "losses":
            units = "held-out examples" if held else "calibration examples"
            notes = (*notes, _JOINT_DEPENDENT.format(units))
    if held and claim.target != "majority-vote" and DRAWN_LABELS not in random:
        random = (*random, DRAWN_LABELS)
    if scoring.component.randomised:
        random = (*random, UNIFORMS)
    claim = attrs.evolve(claim, conditions=conditions, notes=notes, random=random)
    calibration = attrs.evolve(calibration, claim=claim)
    if needs == "losses":
        calibration = with_order(calibration, used, keys.child("losses"))
    augmented = calibration.augmentation in ("separate", "mean")
    predictor = ConformalPredictor(
        labels=data.labels,
        scoring=scoring,
        combiner=the_combiner,
        components=components,
        pools=Pools(calibration),
        held_out_scores=held_out,
        examples=None if model.numbered else model.examples,
        reference=np.sort(data.source.largest()),
        metadata=Metadata(
            scale=model.scale,
            seed=seed,
            calibrated_on=kept.size,
            augmentations=model.augmentations if augmented else (),
            order=scoring.order,
            calibrator=called["calibrator"],
            score=called["score"],
            combiner=called["combiner"],
            aggregator=aggregated_by,
        ),
    )
    stated = predictor._stated(_TRIED_ALPHA)
    if stated.level is None and not allow_no_guarantee:
        raise IncompatibleComponents(
            "guarantee-none",
            f"combiner {called['combiner']} has no guarantee for our p-values",
            expected=stated.reason.removeprefix(NO_GUARANTEE),
            hint="combiner average (1 - alpha), or allow_no_guarantee=True",
            source=f"combiner {called['combiner']}",
        )
    try_combiner(predictor)
    return predictor
