"""Rules of score functions, tried on made-up probabilities."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from plausibly.kernels.types import Floats, unwritable
from plausibly.protocols import SCORE, ScoreFunction
from plausibly.testing import data
from plausibly.testing.rules import RuleSet, demand, enter_common, farthest, same

_ROWS, _LABELS = 12, 5
_CLOSE = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-12}


def _read(score: ScoreFunction, rows: ArrayLike) -> Floats:
    """Return probabilities, or their logarithms, as the score function reads them."""
    probabilities: Floats = np.array(rows, copy=True)
    with np.errstate(divide="ignore"):
        return np.log(probabilities) if score.reads == "log-probability" else probabilities


def _rows(
    score: ScoreFunction, labels: int = _LABELS, dtype: type[np.floating] = np.float64
) -> Floats:
    """Return probabilities (example, label) without ties, as they are read."""
    rows = data.probabilities(f"score/{labels}", _ROWS, labels).astype(dtype)
    return _read(score, rows)


def _uniform(score: ScoreFunction, rows: Floats) -> Floats | None:
    """Return a uniform (..., 1) for these probabilities, None where none is wanted."""
    if not score.randomised:
        return None
    shape = (*rows.shape[:-1], 1)
    flat = data.uniforms("score/uniform", int(np.prod(shape)), 1)
    return flat.reshape(shape).astype(rows.dtype)


def _scores(score: ScoreFunction, rows: Floats, uniform: Floats | None = None) -> Floats:
    """Return scores, by default with uniforms of the kit: floats that can be compared."""
    scores = np.asarray(score.score(rows, _uniform(score, rows) if uniform is None else uniform))
    demand(scores.shape == rows.shape, f"from {rows.shape} it gives {scores.shape}")
    demand(scores.dtype.kind == "f", f"it gives {scores.dtype}")
    demand(not np.isnan(scores).any(), "it gives NaN")
    return scores


RULES: RuleSet[ScoreFunction, None] = RuleSet(SCORE, lambda score: None)
enter_common(
    RULES,
    lambda score, _: [
        _scores(score, _rows(score)),
        _scores(score, _rows(score, labels=3, dtype=np.float32)),
    ],
)


@RULES.rule
def shape(score: ScoreFunction, _: None) -> None:
    """It gives one number per label: for one example, many, stacks, none, 0 and 1, and ties."""
    rows = _rows(score)
    for batch in (rows, rows[0], rows.reshape(3, 4, _LABELS), rows[:0]):
        _scores(score, batch)
    with np.errstate(all="ignore"):
        _scores(score, _read(score, [[1.0, 0.0, 0.0], [0.0, 0.5, 0.5], [0.2, 0.8, 0.0]]))
    for row in ([0.25] * 4, [0.4, 0.4, 0.1, 0.1], [1.0]):
        _scores(score, _read(score, [row]))


@RULES.rule
def float32_kept(score: ScoreFunction, _: None) -> None:
    """From float32 it gives float32, and from float64 float64."""
    for dtype in (np.float32, np.float64):
        scores = _scores(score, _rows(score, dtype=dtype))
        demand(scores.dtype == dtype, f"from {np.dtype(dtype)} it gives {scores.dtype}")


@RULES.rule
def identity(score: ScoreFunction, _: None) -> None:
    """With `identity`, its scores are the numbers that it reads."""
    if score.identity:
        rows = _rows(score)
        demand(same(_scores(score, rows), rows), "it says identity, and gives other numbers")


@RULES.rule
def label_order(score: ScoreFunction, _: None) -> None:
    """Without `order`, scores move with their labels: in which order these come does not matter."""
    if score.order:
        return
    rows = _rows(score)
    for order in ([4, 2, 0, 1, 3], [1, 0, 2, 3, 4]):
        scores = _scores(score, np.ascontiguousarray(rows[:, order]))
        off = farthest(_scores(score, rows)[:, order], scores)
        demand(off <= _CLOSE[scores.dtype], f"labels in another order, scores change by {off:.3g}")


@RULES.rule
def rows_alone(score: ScoreFunction, _: None) -> None:
    """An example gets the same scores alone as in a batch."""
    rows = _rows(score)
    uniform, every = _uniform(score, rows), _scores(score, rows)
    for place in range(len(rows)):
        row = slice(place, place + 1)
        alone = _scores(score, rows[row], None if uniform is None else uniform[row])
        off = farthest(every[row], alone)
        demand(off <= _CLOSE[every.dtype], f"alone, the scores of an example change by {off:.3g}")


@RULES.rule
def inputs_unchanged(score: ScoreFunction, _: None) -> None:
    """The probabilities are afterwards what they were before, and read-only ones are enough."""
    rows = _rows(score)
    uniform = _uniform(score, rows)
    score.score(rows, uniform)
    demand(same(rows, _rows(score)), "it changes the probabilities")
    demand(same(uniform, _uniform(score, rows)), "it changes the uniforms")
    score.score(unwritable(rows), None if uniform is None else unwritable(uniform))


@RULES.rule
def larger_fits_better(score: ScoreFunction, _: None) -> None:
    """On average the likeliest label scores no less than the least likely: larger = fits better."""
    rows = _rows(score)
    scores, places = _scores(score, rows), np.arange(len(rows))
    best = scores[places, rows.argmax(axis=1)].mean()
    worst = scores[places, rows.argmin(axis=1)].mean()
    what = f"the likeliest label scores {best:.3g}, the least likely {worst:.3g}: turn the sign"
    demand(best >= worst, what)
