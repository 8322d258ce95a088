"""What a calibrator answered: checked, and turned into the facts that guarantees rest on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from plausibly.arrays import Floats
from plausibly.conformal.data import CalibrationData
from plausibly.conformal.evidence import Evidence
from plausibly.conformal.pvalues import PValues
from plausibly.conformal.replicates import Replicates
from plausibly.errors import IncompatibleComponents
from plausibly.keys import Keys

if TYPE_CHECKING:
    from plausibly.conformal.predictor import ConformalPredictor

_JOINT = (
    "plausibilities are those that {} would estimate from calibration and new examples together"
)
_JOINT_HELD_OUT = (
    "held-out examples share that estimate and are not independent: a promise with probability "
    "over the calibration is not proved for them"
)
_RESAMPLED = "plausibilities are the means of the given draws of them, such as bootstrap resamples"


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
    if replicates.scores.dtype != data.dtype:
        raise IncompatibleComponents(
            "replicates-malformed",
            f"calibrator {calibrator} changed the float type of the scores",
            expected=str(data.dtype),
            got=str(replicates.scores.dtype),
            do="return scores as they were given",
            whose=f"calibrator {calibrator}",
        )
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
    resampled: bool,
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
    resampled : bool
        Whether draws have plausibilities of their own.
    joint : str
        Name of the aggregator, where plausibilities depend on other examples; else empty.
    allow_no_guarantee : bool
    """
    notes = (*replicates.notes, _RESAMPLED) if resampled else replicates.notes
    assumptions = replicates.assumptions
    if joint:
        assumptions = (*assumptions, _JOINT.format(joint))
        notes = (*notes, _JOINT_HELD_OUT) if held_out else notes
    return Evidence(
        n=largest_cell(replicates),
        m=len(replicates.scores),
        n_held_out=held_out,
        of_what=replicates.of_what,
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
        cluster=replicates.cluster,
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
    """Raise where the combiner cannot merge these p-values: better now than at the first set."""
    pools = predictor.pools.cells[0]
    replicates = pools.replicates
    count = 1 if replicates.scores.shape[1] else 0
    scores = replicates.scores[:, :count]
    one = np.ones(1)
    predictor.combine(
        PValues.of(
            pools,
            scores if replicates.reads == "separate" else scores[0],
            weight=one if replicates.weight is not None else None,
            uniform=one / 2,
        )
    )
