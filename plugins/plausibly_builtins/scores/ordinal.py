"""Scores of ordered labels, whose sets have no holes."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, cast

import attrs
import numpy as np

from plausibly.plugin import SCORE, ComponentLike, Floats, Ints, ScoreFunction, hull, resolve
from plausibly_builtins.scores.unordered import Adaptive, Probability


def _resolved(like: ComponentLike[ScoreFunction]) -> ScoreFunction:
    return resolve(SCORE, like)


@attrs.frozen(kw_only=True)
class Ordinal(ScoreFunction):
    """Score ordered labels so that every set is an interval: the hull of another score.

    ``E'(x, k) = min(max_(l <= k) E(x, l), max_(l >= k) E(x, l))``, along the order of the labels.
    The labels with ``E' >= tau`` are those from the first to the last with ``E >= tau``.

    With `greedy` the interval grows from the likeliest label outwards, by the likelier one of its
    two neighbours. Let ``p_1, ..., p_K`` be the probabilities in this order of joining. Then
    ``E(x, k_j) = p_K + ... + p_(j+1) + (1 - U) p_j``, with one uniform U per example where
    `randomised`, else ``U = 0``. Equal probabilities join from the lower end of the order.

    Attributes
    ----------
    order : str
        Coordinate of the labels with numbers from one end of the scale to the other, or
        ``"columns"`` where the predictions list the labels in their order. Never choose it by the
        annotations of the calibration examples.
    inner : ScoreFunction
        Score whose hull is taken.
    greedy : bool
        Grow the interval outwards instead.
    randomised : bool
        With `greedy`, whether the mass of a label itself counts in part. A hull is randomised as
        the inner score is.

    References
    ----------
    Lu, Angelopoulos & Pomerantz, Improving trustworthiness of AI disease severity rating in
    medical imaging with ordinal conformal prediction sets, arXiv 2207.02238 (greedy; there with
    the other sign).
    """

    order: str = attrs.field(default="order", validator=attrs.validators.min_len(1))
    # Any: the default is a name, which the converter makes a component of.
    inner: ScoreFunction = attrs.field(default=cast("Any", "probability"), converter=_resolved)
    greedy: bool = False
    randomised: bool = attrs.field()

    @randomised.default
    def _of_inner(self) -> bool:
        return self.inner.randomised

    def __attrs_post_init__(self) -> None:
        msg = ""
        if self.inner.order:
            msg = "'inner' must be a score that reads no order"
        elif self.greedy and not isinstance(self.inner, Probability):
            msg = "'greedy' adds probabilities up, and has no other 'inner' score"
        elif not self.greedy and self.randomised != self.inner.randomised:
            msg = "'randomised' belongs to 'greedy', or to the 'inner' score"
        if msg:
            raise ValueError(msg)

    @property
    def reads(self) -> Literal["probability", "log-probability"]:
        """Form of the predictions that the inner score reads."""
        return self.inner.reads

    def score(self, probabilities: Floats, uniform: Floats | None) -> Floats:
        if self.greedy:
            return _Greedy(randomised=self.randomised).score(probabilities, uniform)
        return hull(self.inner.score(probabilities, uniform))


@attrs.frozen(kw_only=True)
class _Greedy(Adaptive):
    """Mass that joins the interval with a label or later."""

    name: ClassVar[str] = "ordinal"
    randomised: bool

    def _summed(self, probabilities: Floats, uniform: Floats | None) -> Floats:
        rows = probabilities.reshape(-1, probabilities.shape[-1])
        joining = _outwards(rows)
        own = np.take_along_axis(rows, joining, axis=1).astype(np.float64)
        # Adding a number from 0 on never makes a float smaller: scores fall along the joining.
        sums = np.cumsum(own[:, ::-1], axis=1)[:, ::-1]
        if uniform is not None:
            later = np.pad(sums[:, 1:], ((0, 0), (0, 1)))
            sums = later + (1 - uniform.reshape(-1, 1)) * own
        scores = np.empty_like(rows)
        np.put_along_axis(scores, joining, sums.astype(rows.dtype), axis=1)
        return scores.reshape(probabilities.shape)


def _outwards(rows: Floats) -> Ints:
    """Return the labels in the order in which they join the interval, (example, place)."""
    bordered = np.pad(rows, ((0, 0), (1, 1)), constant_values=-1)
    example = np.arange(len(rows))
    first = last = rows.argmax(axis=1) + 1
    joining = [first]
    for _ in range(rows.shape[1] - 1):
        lower = bordered[example, first - 1] >= bordered[example, last + 1]
        first, last = first - lower, last + ~lower
        joining.append(np.where(lower, first, last))
    return np.stack(joining, axis=1) - 1
