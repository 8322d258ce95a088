"""What a calibrator answered: checked, and turned into the facts that guarantees rest on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from plausibly.calibration.data import CalibrationData
from plausibly.calibration.evidence import Evidence
from plausibly.calibration.pvalues import PValues
from plausibly.calibration.replicates import (
    DRAWN_LABELS,
    EXCHANGEABLE,
    LABEL_CELLS,
    UNIFORMS,
    Replicates,
)
from plausibly.errors import IncompatibleComponents
from plausibly.kernels.random import Keys
from plausibly.kernels.types import Floats
from plausibly.protocols import Calibrator
from plausibly.registry.calls import calling, failed

if TYPE_CHECKING:
    from plausibly.conformal.predictor import ConformalPredictor

_JOINT = (
    "plausibilities are those that {} would estimate from calibration and new examples together"
)
_JOINT_HELD_OUT = (
    "held-out examples share that estimate and are not independent: a promise with probability "
    "over the calibration is not proved for them"
)
_TRIED = 32  # scores with which a combiner is tried
_ROUNDING = 1e-9
_RESAMPLED = "plausibilities are the means of the given draws of them, such as bootstrap resamples"


def replicates_of(
    calibrator: Calibrator, data: CalibrationData, keys: Keys, whose: str
) -> Replicates:
    """Return what a calibrator, called `whose`, answers: checked."""
    try:
        with calling(whose, "replicates"):
            found: object = calibrator.replicates(data, keys)
    except IncompatibleComponents as error:
        if error.name == "replicates-malformed":
            # What it made itself does not know its name.
            error.what = error.what.replace("a calibrator", whose, 1)
            error.whose = whose
        raise
    if not isinstance(found, Replicates):
        raise failed(
            whose,
            "replicates() returned no Replicates",
            expected="plausibly.plugin.Replicates",
            got=f"a {type(found).__name__}",
        )
    found.require(found.contents() or _unfit(found, data), whose=whose)
    return found


def _unfit(replicates: Replicates, data: CalibrationData) -> str:
    """Return what is expected instead of replicates that do not fit the data, or nothing."""
    if replicates.scores.dtype != data.dtype:
        return f"scores of {data.dtype}, as they were given"
    if replicates.label is not None and replicates.label.max() >= len(data.labels):
        return f"label below {len(data.labels)}"
    if replicates.by == LABEL_CELLS and replicates.cells != data.labels:
        return "cells as the labels are called, in their order"
    lacking = {replicates.by, replicates.weight_by} - {"", LABEL_CELLS, *data.coordinates}
    if lacking:
        return f"by and weight_by among {sorted(data.coordinates)}"
    views = 0 if data.augmented is None else len(data.augmented)
    if replicates.reads != "plain" and not views:
        return 'reads "plain": there are no augmentations'
    if replicates.reads == "separate" and len(replicates.scores) != views:
        return f"one replicate for each of {views} augmentations"
    return ""


def check_replicates(
    replicates: Replicates, data: CalibrationData, called: Mapping[str, str], *, held_out: bool
) -> None:
    """Raise `IncompatibleComponents` where calibrator, data and combiner do not go together.

    Parameters
    ----------
    replicates : Replicates
    data : CalibrationData
        All of it, held-out examples included.
    called : mapping
        Names of the components.
    held_out : bool
        Whether the combiner sets examples aside.
    """
    calibrator, combiner = called["calibrator"], called["combiner"]
    if data.augmented is not None and replicates.reads == "plain":
        raise IncompatibleComponents(
            "augmentations-unread",
            f"calibrator {calibrator} reads one row an example, and predictions have augmentations",
            expected="predictions over example and label",
            got=f"{len(data.augmented)} augmentations",
            do="calibrator augmentation, or predictions.isel(augmentation=0)",
            whose=f"calibrator {calibrator}",
        )
    if held_out and replicates.held_out:
        raise IncompatibleComponents(
            "pair-incompatible",
            f"combiner {combiner} does not go with calibrator {calibrator}",
            expected="held-out examples among which a new one is as likely at every rank",
            got=replicates.held_out,
            do="combiner average",
            whose=f"combiner {combiner}",
        )


def held_out_scores(held: CalibrationData, replicates: Replicates, keys: Keys) -> Floats:
    """Return the scores of the one label of each held-out example.

    Parameters
    ----------
    held : CalibrationData
    replicates : Replicates
        Say how an example gets its label, and which of its scores are compared.
    keys : Keys

    Returns
    -------
    ndarray, (held-out example,), or (augmentation, held-out example)
    """
    codes = held.voted() if replicates.truth == "voted" else held.draw(1, keys)[0]
    if held.augmented is None or replicates.reads not in ("separate", "single"):
        return held.scores_at(codes)
    rows = np.arange(len(held))
    if replicates.reads == "separate":
        own: Floats = held.augmented[:, rows, codes]
        return own
    # A new example is seen in one of its augmentations: so is a held-out one, at random.
    uniform = keys.child("augmentation").uniform(held.hashes)[:, 0]
    seen = np.floor(uniform * len(held.augmented)).astype(np.intp)
    single: Floats = held.augmented[seen, rows, codes]
    return single


def evidence_of(
    replicates: Replicates,
    called: Mapping[str, str],
    *,
    examples: int,
    held_out: int,
    group: str,
    resampled: bool,
    randomised: bool,
    joint: str,
    allow_no_guarantee: bool,
) -> Evidence:
    """Return the facts on which the guarantee of a pair depends.

    Parameters
    ----------
    replicates : Replicates
    called : mapping
        Names of calibrator and combiner.
    examples, held_out : int
        Examples that calibrate, and that are set aside.
    group : str
        Coordinate of which each held-out example has a value of its own, or empty.
    resampled : bool
        Whether draws have plausibilities of their own.
    randomised : bool
        Whether the score has a uniform for each example.
    joint : str
        Name of the aggregator, where plausibilities depend on other examples; else empty.
    allow_no_guarantee : bool
    """
    notes = (*replicates.notes, _RESAMPLED) if resampled else replicates.notes
    assumptions, of_what = replicates.assumptions, replicates.of_what
    if group:
        of_what = f'{of_what}; the example is a random one of a new "{group}"'
        whole = EXCHANGEABLE.replace("examples", f'values of "{group}", each with its examples,')
        assumptions = tuple(whole if one == EXCHANGEABLE else one for one in assumptions)
    if joint:
        assumptions = (*assumptions, _JOINT.format(joint))
        notes = (*notes, _JOINT_HELD_OUT) if held_out else notes
    random = replicates.random
    if resampled:
        random = (*random, "draws of plausibilities")
    if held_out and replicates.truth == "drawn" and DRAWN_LABELS not in random:
        random = (*random, DRAWN_LABELS)
    if randomised:
        random = (*random, UNIFORMS)
    return Evidence(
        random=random,
        n=largest_cell(replicates),
        m=len(replicates.scores),
        n_held_out=held_out,
        of_what=of_what,
        target=replicates.target,
        assumptions=assumptions,
        separate=replicates.separate,
        calibrator=called["calibrator"],
        combiner=called["combiner"],
        allow_no_guarantee=allow_no_guarantee,
        event=replicates.event,
        share=replicates.share,
        counted=replicates.counted,
        each=replicates.each,
        cluster=group or replicates.cluster,
        why=replicates.why,
        reference=replicates.reference,
        notes=notes,
        examples=examples,
        shared_score=replicates.reads != "separate",
        counting=replicates.counting,
        own=replicates.own,
    )


def largest_cell(replicates: Replicates) -> int:
    """Return how many examples the largest cell has: all of them where there is one cell."""
    if replicates.cell is None or replicates.of_atoms:
        return replicates.examples
    return int(max(replicates.cell_sizes(), default=0))


def try_combiner(predictor: ConformalPredictor) -> None:
    """Raise where the combiner cannot merge these p-values, or lowers one for a larger score.

    Better now than at the first set.
    """
    pools = predictor.pools.cells[0]
    replicates = pools.replicates
    ordered = pools.pooled.ordered
    places = np.linspace(0, len(ordered) - 1, min(len(ordered), _TRIED)).astype(np.intp)
    scores = ordered[places]
    one = np.ones(len(scores))
    if replicates.reads == "separate":
        scores = np.broadcast_to(scores, (len(replicates.scores), len(scores)))
    found = predictor.combine(
        PValues.of(
            pools,
            scores,
            weight=one if replicates.weight is not None else None,
            uniform=one / 2,
        )
    )
    fall = float(np.diff(found).min(initial=0.0))
    if fall < -_ROUNDING:
        raise failed(
            f"combiner {predictor.facts.combiner}",
            "combine() lowers the p-value of a larger score",
            expected="p-values that do not fall where those that they are made of rise",
            got=f"{-fall:.3g} less",
        )
