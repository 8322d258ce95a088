"""Modules and loaders, on a small library in the place of PyTorch: what plausibly does itself."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import plausibly
from call_files import each_call
from plausibly.torch import predictions
from refusals import refused, warned

Array = NDArray[Any]  # Any: numbers of any type


class Device:
    """Counts what is brought to it."""

    def __init__(self) -> None:
        self.brought = 0


class Tensor:
    """Numbers that have to be detached and brought back before numpy may read them."""

    def __init__(
        self, values: object, *, dtype: str = "", device: object = None, attached: bool = True
    ) -> None:
        self.values: Array = np.asarray(values)
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
        result: list[object] = self.values.tolist()
        return result


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
    """True if gradients are off."""

    on = False

    def __enter__(self) -> None:
        NoGrad.on = True

    def __exit__(self, *raised: object) -> None:
        NoGrad.on = False


class RandomSampler:
    """Shuffles, by its name."""


class Shuffled(list[object]):
    """Batches in an order that is drawn."""

    sampler = RandomSampler()


LABELS = ["cat", "dog", "fox"]
ROWS = np.arange(21, dtype=np.float32).reshape(7, 3) - 10


@pytest.fixture(autouse=True)
def standin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ``import torch`` find this library."""
    torch = ModuleType("torch")
    torch.no_grad = NoGrad  # type: ignore[attr-defined]  # a module made here
    monkeypatch.setitem(sys.modules, "torch", torch)


def batches(rows: Array = ROWS, size: int = 3) -> list[Tensor]:
    return [Tensor(rows[start : start + size]) for start in range(0, len(rows), size)]


def test_outputs_come_in_order_under_names() -> None:
    names = [f"image {row}" for row in range(7)]
    result = predictions(Module(), batches(), labels=LABELS, examples=names)
    assert result.dims == ("example", "label")
    assert (result.values == 2 * ROWS).all()
    assert result.dtype == np.float32
    assert list(result["example"].values) == names
    assert list(result["label"].values) == LABELS
    assert result.attrs["scale"] == "logit"
    tensor = Tensor(np.arange(7) + 600)
    numbered = predictions(Module(), batches(), labels=LABELS, examples=tensor)
    assert list(numbered["example"].values) == [str(row) for row in range(600, 607)]
    unnamed = predictions(Module(), batches(), labels=LABELS)
    assert list(unnamed["example"].values) == [str(row) for row in range(7)]
    for size in (1, 2, 6):  # also from an iterator of unknown length
        cut = predictions(Module(), iter(batches(size=size)), labels=LABELS)
        assert unnamed.identical(cut)
    answer = predictions(lambda rows: SimpleNamespace(logits=rows), batches(), labels=LABELS)
    assert (answer.values == ROWS).all()


def test_double_stays_double_and_halves_become_single() -> None:
    double = predictions(Module(), batches(ROWS.astype(np.float64)), labels=LABELS)
    assert double.dtype == np.float64
    for half in ("torch.bfloat16", "torch.float16"):
        result = predictions(Module(), [Tensor(ROWS, dtype=half)], labels=LABELS)
        assert result.dtype == np.float32
        assert (result.values == 2 * ROWS).all()


def test_modes_are_restored_part_by_part() -> None:
    frozen, part = Module(training=False), Module()
    module = Module(frozen, part)
    predictions(module, batches(), labels=LABELS)
    assert module.modes == [(False, True)] * 3
    assert (module.training, frozen.training, part.training) == (True, False, True)
    with pytest.raises(plausibly.InputError):
        predictions(module, batches(), labels=LABELS[:2])
    assert (module.training, frozen.training, part.training) == (True, False, True)


def test_batches_go_where_the_module_is() -> None:
    device = Device()
    pairs = [[rows, Tensor(np.zeros(len(rows.values)))] for rows in batches()]
    predictions(Module(device=device), pairs, labels=LABELS)
    assert device.brought == 6
    mapped: list[object] = [{"x": rows, "names": ["a"]} for rows in batches(size=7)]
    predictions(
        Module(device=device), mapped, labels=LABELS, call=lambda model, batch: model(batch["x"])
    )
    assert device.brought == 7
    named = Device()
    predictions(lambda rows: rows, batches(), labels=LABELS, device=named)
    assert named.brought == 3


def test_names_in_a_batch_let_a_loader_shuffle() -> None:
    order = [5, 3, 0, 1, 6, 2, 4]
    mapped: list[object] = [
        {"pixels": Tensor(ROWS[order[start : start + 4]]), "id": order[start : start + 4]}
        for start in (0, 4)
    ]

    def call(model: Module, batch: dict[str, Tensor]) -> Tensor:
        return model(batch["pixels"])

    result = predictions(Module(), Shuffled(mapped), labels=LABELS, examples="id", call=call)
    assert list(result["example"].values) == [str(row) for row in order]
    assert (result.values == 2 * ROWS[order]).all()
    pairs = [
        (rows, Tensor(np.arange(len(rows.values)) + 3 * n)) for n, rows in enumerate(batches())
    ]
    expected = predictions(Module(), batches(), labels=LABELS)
    assert expected.attrs.pop("numbered") == 1  # by position
    assert expected.identical(predictions(Module(), pairs, labels=LABELS, examples=1))
    by = predictions(Module(), pairs, labels=LABELS, examples=lambda batch: batch[1])
    assert expected.identical(by)


def test_probabilities_are_checked_and_logits_that_look_like_them() -> None:
    shares = np.full((7, 3), 1 / 3, dtype=np.float32)
    result = predictions(lambda rows: rows, batches(shares), labels=LABELS, scale="probability")
    assert result.attrs["scale"] == "probability"
    with warned("logits-look-normalised", "found probabilities, it seems") as caught:
        predictions(lambda rows: rows, batches(shares), labels=LABELS)
    assert caught[0].filename == __file__
    with refused("rows-do-not-sum", "the module: 7 of 7 rows sum to 2"):
        predictions(lambda rows: rows, batches(2 * shares), labels=LABELS, scale="probability")


BROKEN = ROWS.copy()
BROKEN[4, 1], BROKEN[5, 2] = np.nan, np.inf
NAMELESS: list[object] = [{"pixels": Tensor(ROWS)}]
FEWER: list[object] = [(rows, ["one"]) for rows in batches()]
TWICE: list[object] = [(rows, ["a", "b", "c"][: len(rows.values)]) for rows in batches()]
MIXED = Shuffled(batches())


def test_without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with refused(
        "extra-missing", 'hint pip install "plausibly[torch]"', kind=plausibly.errors.MissingExtra
    ):
        predictions(Module(), batches(), labels=LABELS)


test_each_call_gives_its_text = each_call(__file__, globals())
