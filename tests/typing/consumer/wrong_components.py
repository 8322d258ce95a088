"""Components that do not satisfy their Protocol: each marked line is an error, and no other."""

from __future__ import annotations

from typing import ClassVar

import xarray as xr

import plausibly
from plausibly.plugin import (
    AGGREGATOR,
    COMBINER,
    SCORE,
    Aggregator,
    Floats,
    Keys,
    Registrar,
    hookimpl,
    resolve,
)


class WithoutAccepts:
    """Lacks a data member."""

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        raise NotImplementedError


class Misspelt:
    """Has another name for its method."""

    accepts: ClassVar[frozenset[str]] = frozenset({"single-label"})

    def agregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        raise NotImplementedError


class WithoutKeys:
    """Takes too few arguments."""

    accepts: ClassVar[frozenset[str]] = frozenset({"single-label"})

    def aggregate(self, annotations: xr.Dataset) -> xr.DataArray:
        raise NotImplementedError


class TextAccepts:
    """Has a data member of another type."""

    accepts: ClassVar[str] = "single-label"

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        raise NotImplementedError


class ReadsLogits:
    """Says that it reads what no score reads."""

    randomised: ClassVar[bool] = False
    reads: ClassVar[str] = "logits"

    def score(self, probabilities: Floats, uniform: Floats | None) -> Floats:
        return probabilities


@hookimpl
def register(registrar: Registrar) -> None:
    registrar.add(AGGREGATOR, "without-accepts", WithoutAccepts)  # error: arg-type
    registrar.add(AGGREGATOR, "misspelt", Misspelt)  # error: arg-type
    registrar.add(AGGREGATOR, "without-keys", WithoutKeys)  # error: arg-type
    registrar.add(AGGREGATOR, "text-accepts", TextAccepts)  # error: arg-type
    registrar.add(SCORE, "reads-logits", ReadsLogits)  # error: arg-type
    registrar.add(SCORE, "object", ReadsLogits())  # error: arg-type
    registrar.add("aggregator", "kind-as-text", "package:Name")  # error: arg-type
    registrar.add(AGGREGATOR, "number", 7)  # error: arg-type
    registrar.add(AGGREGATOR, "no-such-word", "package:Name", sumary="")  # error: call-arg


CONFORMS: type[Aggregator] = WithoutKeys  # error: assignment

plausibly.register(AGGREGATOR, "without-keys", WithoutKeys)  # error: arg-type
resolve(AGGREGATOR, WithoutKeys())  # error: misc
resolve(COMBINER, 3)  # error: misc
