"""A small library in the place of PyTorch: tensors around numpy, modules with parts and modes."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

Array = NDArray[Any]  # Any: numbers of any type


class Device:
    """Counts what is brought to it."""

    def __init__(self) -> None:
        self.brought = 0


class Tensor:
    """Numbers that have to be detached and brought back before numpy may read them."""

    def __init__(
        self,
        values: Array | Sequence[object],
        *,
        dtype: str = "",
        device: object = None,
        attached: bool = True,
    ) -> None:
        self.values = np.asarray(values)
        self.dtype = dtype or f"torch.{self.values.dtype}"
        self.device = device
        self.attached = attached

    def to(self, device: object) -> Tensor:
        if isinstance(device, Device):
            device.brought += 1
        return Tensor(self.values, dtype=self.dtype, device=device)

    def detach(self) -> Tensor:
        return Tensor(self.values, dtype=self.dtype, device=self.device, attached=False)

    def float(self) -> Tensor:
        return Tensor(self.values.astype(np.float32), device=self.device, attached=self.attached)

    def cpu(self) -> Tensor:
        return Tensor(self.values, dtype=self.dtype, attached=self.attached)

    def numpy(self) -> Array:
        if self.attached or self.device is not None or self.dtype == "torch.bfloat16":
            raise RuntimeError("numpy cannot read this tensor")
        return self.values

    def __iter__(self) -> Iterator[Tensor]:
        return (Tensor(row) for row in self.values)

    def tolist(self) -> list[object]:
        found: list[object] = self.values.tolist()
        return found


class Module:
    """A module with parts, each in training or not; its outputs are twice its inputs."""

    def __init__(self, *parts: Module, training: bool = True, device: object = None) -> None:
        self.parts = parts
        self.training = training
        self.device = device
        self.modes: list[tuple[bool, bool]] = []

    def modules(self) -> Iterator[Module]:
        yield self
        for part in self.parts:
            yield from part.modules()

    def parameters(self) -> Iterator[Tensor]:
        if self.device is not None:
            yield Tensor([0.0], device=self.device)

    def eval(self) -> Module:
        for part in self.modules():
            part.training = False
        return self

    def __call__(self, batch: Tensor) -> Tensor:
        self.modes.append((any(part.training for part in self.modules()), NoGrad.on))
        if self.device is not None:
            assert batch.device is self.device
        return Tensor(2 * batch.values, dtype=batch.dtype, device=batch.device)


class NoGrad:
    """Whether gradients are off."""

    on = False

    def __enter__(self) -> None:
        NoGrad.on = True

    def __exit__(self, *raised: object) -> None:
        NoGrad.on = False


class RandomSampler:
    """Shuffles, by its name."""


class SequentialSampler:
    """Does not."""


class Loader:
    """Batches of rows, with a data set that has a length."""

    def __init__(self, batches: Sequence[object], *, rows: int, sampler: object = None) -> None:
        self.batches = batches
        self.dataset = range(rows)
        self.sampler = sampler or SequentialSampler()

    def __iter__(self) -> Iterator[object]:
        return iter(self.batches)


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ``import torch`` find this library."""
    torch = ModuleType("torch")
    torch.no_grad = NoGrad  # type: ignore[attr-defined]  # a module made here
    monkeypatch.setitem(sys.modules, "torch", torch)
