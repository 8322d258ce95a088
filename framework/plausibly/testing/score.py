"""Rules of score functions, tried on made-up probabilities."""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import ArrayLike

from plausibly.kernels.types import Floats, unwritable
from plausibly.protocols import SCORE, ScoreFunction
from plausibly.testing import data
from plausibly.testing.rules import RuleSet, demand, enter_common, farthest, same

_ROWS, _LABELS = 12, 5
_CLOSE = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-12}


@attrs.frozen
class ScoreFixture:
    """Probabilities as a score function reads them, and its uniforms."""

    logarithms: bool
    randomised: bool

    def read(self, rows: ArrayLike) -> Floats:
        probabilities: Floats = np.array(rows, copy=True)
        with np.errstate(divide="ignore"):
            return np.log(probabilities) if self.logarithms else probabilities

    def rows(
        self, stream: str = "rows", labels: int = _LABELS, dtype: type[np.floating] = np.float64
    ) -> Floats:
        """Return probabilities (example, label) without ties, as they are read."""
        return self.read(data.probabilities(f"score/{stream}", _ROWS, labels).astype(dtype))

    def uniform(self, rows: Floats) -> Floats | None:
        """Return a uniform (..., 1) for these probabilities, None where none is wanted."""
        if not self.randomised:
            return None
        shape = (*rows.shape[:-1], 1)
        flat = data.uniforms("score/uniform", int(np.prod(shape)), 1)
        return flat.reshape(shape).astype(rows.dtype)

    def score(self, score: ScoreFunction, rows: Floats, uniform: Floats | None = None) -> Floats:
        """Return scores, with the fixture's uniforms by default: floats that can be compared."""
        uniform = self.uniform(rows) if uniform is None else uniform
        scores = np.asarray(score.score(rows, uniform))
        demand(scores.shape == rows.shape, f"from {rows.shape} it gives {scores.shape}")
        demand(scores.dtype.kind == "f", f"it gives {scores.dtype}")
        demand(not np.isnan(scores).any(), "it gives NaN")
        return scores


def fixture_for(score: ScoreFunction) -> ScoreFixture:
    """Return the form that the score function reads; broken ones are tried too."""
    reads = getattr(score, "reads", "probability")
    return ScoreFixture(reads == "log-probability", bool(getattr(score, "randomised", False)))


RULES: RuleSet[ScoreFunction, ScoreFixture] = RuleSet(SCORE, fixture_for)
enter_common(
    RULES,
    lambda score, fixture: [
        fixture.score(score, fixture.rows()),
        fixture.score(score, fixture.rows("more", labels=3, dtype=np.float32)),
    ],
)


@RULES.rule
def shape(score: ScoreFunction, fixture: ScoreFixture) -> None:
    """It gives one number per label: for one example, many, stacks, none, 0 and 1, and ties."""
    rows = fixture.rows()
    for batch in (rows, rows[0], rows.reshape(3, 4, _LABELS), rows[:0]):
        fixture.score(score, batch)
    with np.errstate(all="ignore"):
        fixture.score(score, fixture.read([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5], [0.2, 0.8, 0.0]]))
    for row in ([0.25] * 4, [0.4, 0.4, 0.1, 0.1], [1.0]):
        fixture.score(score, fixture.read([row]))


@RULES.rule
def float32_kept(score: ScoreFunction, fixture: ScoreFixture) -> None:
    """From float32 it gives float32, and from float64 float64."""
    for dtype in (np.float32, np.float64):
        scores = fixture.score(score, fixture.rows(dtype=dtype))
        demand(scores.dtype == dtype, f"from {np.dtype(dtype)} it gives {scores.dtype}")


@RULES.rule
def identity(score: ScoreFunction, fixture: ScoreFixture) -> None:
    """With `identity`, its scores are the numbers that it reads."""
    if score.identity:
        rows = fixture.rows()
        demand(same(fixture.score(score, rows), rows), "it says identity, and gives other numbers")


@RULES.rule
def label_order(score: ScoreFunction, fixture: ScoreFixture) -> None:
    """Without `order`, scores move with their labels: in which order these come does not matter."""
    if score.order:
        return
    rows = fixture.rows()
    for order in ([4, 2, 0, 1, 3], [1, 0, 2, 3, 4]):
        scores = fixture.score(score, np.ascontiguousarray(rows[:, order]))
        off = farthest(fixture.score(score, rows)[:, order], scores)
        demand(off <= _CLOSE[scores.dtype], f"labels in another order, scores change by {off:.3g}")


@RULES.rule
def rows_alone(score: ScoreFunction, fixture: ScoreFixture) -> None:
    """An example gets the same scores alone as in a batch."""
    rows = fixture.rows()
    uniform, every = fixture.uniform(rows), fixture.score(score, rows)
    for place in range(len(rows)):
        row = slice(place, place + 1)
        alone = fixture.score(score, rows[row], None if uniform is None else uniform[row])
        off = farthest(every[row], alone)
        demand(off <= _CLOSE[every.dtype], f"alone, the scores of an example change by {off:.3g}")


@RULES.rule
def inputs_unchanged(score: ScoreFunction, fixture: ScoreFixture) -> None:
    """The probabilities are afterwards what they were before, and read-only ones are enough."""
    rows = fixture.rows()
    uniform = fixture.uniform(rows)
    score.score(rows, uniform)
    demand(same(rows, fixture.rows()), "it changes the probabilities")
    demand(same(uniform, fixture.uniform(rows)), "it changes the uniforms")
    score.score(unwritable(rows), None if uniform is None else unwritable(uniform))


@RULES.rule
def larger_fits_better(score: ScoreFunction, fixture: ScoreFixture) -> None:
    """On average the likeliest label scores no less than the least likely: larger = fits better."""
    rows = fixture.rows()
    scores, places = fixture.score(score, rows), np.arange(len(rows))
    best = scores[places, rows.argmax(axis=1)].mean()
    worst = scores[places, rows.argmin(axis=1)].mean()
    what = f"the likeliest label scores {best:.3g}, the least likely {worst:.3g}: turn the sign"
    demand(best >= worst, what)
