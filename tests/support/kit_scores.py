"""A small score function that keeps every rule, one that draws, and one that breaks each rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Literal

import attrs
import numpy as np

from kit_mutants import Mutant, changed, common
from plausibly.kernels.types import Floats
from plausibly.plugin import ScoreFunction


@attrs.frozen(kw_only=True)
class Scaled(ScoreFunction):
    """The probability, scaled."""

    randomised: ClassVar[bool] = False
    reads: ClassVar[Literal["probability"]] = "probability"
    scale: float = 2.0

    def score(self, probabilities: Floats, uniform: Floats | None) -> Floats:
        return probabilities * probabilities.dtype.type(self.scale)


@attrs.frozen(kw_only=True)
class Smoothed(ScoreFunction):
    """Minus the probability of the likelier labels, and a random share of the label's own."""

    randomised: ClassVar[bool] = True
    reads: ClassVar[Literal["probability"]] = "probability"

    def score(self, probabilities: Floats, uniform: Floats | None) -> Floats:
        if uniform is None:
            raise ValueError("a uniform per example")
        likelier = probabilities[..., None, :] > probabilities[..., :, None]
        before = (likelier * probabilities[..., None, :]).sum(axis=-1)
        scores: Floats = -(before + uniform * probabilities).astype(probabilities.dtype)
        return scores


def _score(change: Callable[[Floats], Floats], **members: object) -> object:
    return changed(
        Scaled, score=lambda self, probabilities, uniform: change(probabilities), **members
    )


def _doubles_in_place(p: Floats) -> Floats:
    result: Floats = p / p.sum(axis=-1, keepdims=True)
    if p.flags.writeable:
        p *= 2
    return result


def _writes_the_same(p: Floats) -> Floats:
    p *= 1
    return p * 1


def _divides_by_gaps(p: Floats) -> Floats:
    if p.shape[-1] < 2:
        return p * 1
    gaps = np.diff(np.sort(p, axis=-1), axis=-1).min(axis=-1, keepdims=True, initial=1)
    result: Floats = p * (gaps / gaps)
    return result


MUTANTS = {
    **common(Scaled, "score", lambda result: result * 2),
    "readable/parameters": Mutant(changed(Scaled, __repr__=lambda self: "Scaled()")),
    "shape": Mutant(_score(lambda p: p.reshape(-1, p.shape[-1]) if p.ndim > 2 else p * 1)),
    "float32-kept": Mutant(_score(lambda p: p.astype(np.float64))),
    "identity": Mutant(_score(lambda p: p * 2, identity=True)),
    "label-order": Mutant(_score(lambda p: p + np.arange(p.shape[-1], dtype=p.dtype) / 1000)),
    "rows-alone": Mutant(_score(lambda p: p - p.dtype.type(p.sum(dtype=np.float64)))),
    "inputs-unchanged": Mutant(_score(_doubles_in_place)),
    "inputs-unchanged/read-only": Mutant(_score(_writes_the_same)),
    "larger-fits-better": Mutant(_score(lambda p: -p)),
    "shape/extremes": Mutant(_score(lambda p: p * (p / p))),
    "shape/ties": Mutant(_score(_divides_by_gaps)),
    "shape/one label": Mutant(_score(lambda p: p - np.partition(p, -2, axis=-1)[..., -2:-1])),
    "shape/no examples": Mutant(_score(lambda p: p + 0 * p.max())),
}
