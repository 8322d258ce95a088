"""Predictions on their scale to the scores of a score function."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from plausibly.errors import IncompatibleComponents
from plausibly.kernels.types import Floats, unwritable
from plausibly.protocols import ScoreFunction
from plausibly.registry.calls import calling

Scale: TypeAlias = Literal["probability", "logit", "independent", "any"]


def score_input(values: Floats, scale: str, score: ScoreFunction, name: str) -> Floats:
    """Return predictions in the form that a score function reads.

    Parameters
    ----------
    values : ndarray, (example, label)
        Predictions on `scale`.
    scale : {"probability", "logit", "independent", "any"}
        Logits go through the softmax, or through its logarithm without leaving log space.
    score : ScoreFunction
        Says what it reads.
    name : str
        Its name, for messages.
    """
    if score.reads == "log-probability":
        if scale == "any":
            raise IncompatibleComponents(
                "scale-unsuitable",
                f"score {name} reads log-probabilities, and the predictions are of scale any",
                expected="scale probability, logit or independent",
                got="any",
                do="score probability, or say scale='logit' (--scale logit) if they are logits",
                whose=f"score {name}",
            )
        if scale == "logit":
            from scipy.special import log_softmax

            logs: Floats = log_softmax(values, axis=-1)
            return logs
        with np.errstate(divide="ignore"):
            return np.log(values)
    if scale == "logit":
        from scipy.special import softmax

        probabilities: Floats = softmax(values, axis=-1)
        return probabilities
    return values


def scores_of(
    values: Floats,
    scale: str,
    score: ScoreFunction,
    name: str,
    uniform: Floats | None,
    *,
    room: Floats | None = None,
) -> Floats:
    """Return conformity scores (example, label) in the dtype of `values`; larger = fits better.

    Parameters
    ----------
    values : ndarray, (example, label)
    scale : str
    score : ScoreFunction
    name : str
        Name of the score function, for messages.
    uniform : ndarray, (example, 1), or None
        One uniform an example, for randomised score functions.
    room : ndarray, (example, label), optional
        Where the score function gets its copy of `values`, in their dtype; what is returned may be
        this. Memory that is used again and again is had at no cost.

    Raises
    ------
    IncompatibleComponents
        ``score-malformed`` where the score function answers with another shape, with NaN or inf.
        -inf is the logarithm of a probability of 0.
    ComponentError
        ``component-failed`` where it raises.
    """
    read = score_input(values, scale, score, name)
    if room is None or read is not values:
        given = np.array(read, copy=True, order="C")
    else:
        np.copyto(room, read)
        given = room
    if uniform is not None:
        uniform = unwritable(uniform)
    with calling(f"score {name}", "score"):
        scores = np.asarray(score.score(given, uniform))
    got = ""
    if scores.shape != values.shape:
        got = f"shape {scores.shape}"
    elif scores.dtype.kind not in "fiu":
        got = str(scores.dtype)
    else:
        with np.errstate(over="ignore"):
            same = scores.astype(values.dtype, copy=False)
        # The least and the largest of numbers are NaN where one of them is: no mask of their size.
        if same.size and np.isnan(same.min()):
            got = "NaN"
        elif same.size and same.max() == np.inf and values.max() < np.inf:
            got = "inf"
    if got:
        raise IncompatibleComponents(
            "score-malformed",
            f"score {name} returned what cannot be compared",
            expected=f"numbers of shape {values.shape}, finite or -inf",
            got=got,
            do="mend the score function's score()",
            whose=f"score {name}",
        )
    # Adding zero turns -0.0 into 0.0, which compare equal but are different bits.
    # What was handed over is a copy that nobody else has.
    return np.add(same, values.dtype.type(0), out=same if same is given else None)
