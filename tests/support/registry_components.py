"""Small components, and plugins made of them in memory or written to a folder."""

from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction
from types import ModuleType
from typing import Any, ClassVar, Literal

import attrs
import pytest
import xarray as xr

from plausibly.plugin import (
    AGGREGATOR,
    Aggregator,
    CalibrationData,
    CalibrationScores,
    CalibrationSummary,
    Calibrator,
    Claim,
    Floats,
    Guarantee,
    Keys,
    PValueCombiner,
    PValues,
    Registrar,
    hookimpl,
)
from plausibly.protocols import Kind
from plausibly.registry import Plugin, Registry, Source
from plausibly.registry.entries import VARIABLE

Hook = Callable[[Registrar], None]


@attrs.frozen(kw_only=True)
class Frequency(Aggregator):
    """An aggregator without parameters."""

    accepts: ClassVar[frozenset[str]] = frozenset({"single-label"})

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        raise NotImplementedError


@attrs.frozen(kw_only=True)
class Smoothed(Frequency):
    """An aggregator with parameters of several types."""

    prior: float = attrs.field(default=1.0, validator=attrs.validators.gt(0.0))
    rounds: int = attrs.field(default=10, validator=attrs.validators.ge(1))
    ties: Literal["first", "random"] = "first"
    names: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class Drawn:
    """A calibrator with one parameter."""

    draws: int = attrs.field(default=10, validator=attrs.validators.ge(1))

    def calibrate(self, data: CalibrationData, keys: Keys) -> CalibrationScores:
        raise NotImplementedError


@attrs.frozen(kw_only=True)
class By:
    """A calibrator that wraps others."""

    by: str
    inner: Calibrator = attrs.field(factory=Drawn)
    many: tuple[Calibrator, ...] = ()

    def calibrate(self, data: CalibrationData, keys: Keys) -> CalibrationScores:
        raise NotImplementedError


@attrs.frozen(kw_only=True)
class Least(PValueCombiner):
    """A combiner without parameters."""

    held_out: ClassVar[float] = 0.0
    needs: ClassVar[Literal["mean"]] = "mean"

    def combine(self, p: PValues, held_out: PValues | None) -> Floats:
        raise NotImplementedError

    def guarantee(self, claim: Claim, summary: CalibrationSummary, alpha: Fraction) -> Guarantee:
        raise NotImplementedError


class HouseMin(Least):
    """A combiner with the signature of another library."""

    def combine(self, p_values: object, alpha: object) -> object:  # type: ignore[override]  # the mistake
        return None


def offering(
    name: str = "frequency",
    target: Any = Smoothed,  # Any: it may be wrong on purpose
    kind: Kind[Any] = AGGREGATOR,  # Any: each kind has its own Protocol
    extra: str = "",
) -> Hook:
    def hook(registrar: Registrar) -> None:
        registrar.add(kind, name, target, extra=extra)

    return hook


class Plugins:
    """Plugins in memory: each a module with a hook, ours or of another distribution."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self.own: list[Plugin] = []
        self.others: list[Plugin] = []
        self.scans = 0
        self.imported: list[str] = []

    def add(self, plugin: str, hook: Hook, *, distribution: str = "", version: str = "0.2") -> None:
        module = ModuleType(f"in_memory_{plugin}_{distribution}".replace("-", "_"))

        def register(registrar: Registrar) -> None:
            self.imported.append(plugin)
            hook(registrar)

        module.__dict__["register"] = hookimpl(register)
        self._monkeypatch.setitem(sys.modules, module.__name__, module)
        source = Source(plugin, distribution or "plausibly", version, builtin=not distribution)
        (self.others if distribution else self.own).append(Plugin(source, module.__name__))

    def registry(self, *, disabled: str = "") -> Registry:
        """Return a registry that knows these plugins and no installed one."""
        self._monkeypatch.setenv(VARIABLE, disabled)

        def others() -> list[Plugin]:
            self.scans += 1
            return list(map(attrs.evolve, self.others))

        return Registry(lambda: map(attrs.evolve, self.own), others)
