"""Modules and loaders, on a small library in the place of PyTorch: what plausibly does itself."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
import pytest

import plausibly
from doors_torch import Array, Device, Loader, Module, RandomSampler, Tensor, install
from plausibly.torch import predictions
from refusals import refused, warned

LABELS = ["cat", "dog", "fox"]
ROWS = np.arange(21, dtype=np.float32).reshape(7, 3) - 10


@pytest.fixture(autouse=True)
def standin(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch)


def batches(rows: Array = ROWS, size: int = 3) -> list[Tensor]:
    return [Tensor(rows[start : start + size]) for start in range(0, len(rows), size)]


def test_outputs_come_in_order_under_names() -> None:
    names = [f"image {row}" for row in range(7)]
    found = predictions(Module(), batches(), labels=LABELS, examples=names)
    assert found.dims == ("example", "label")
    assert (found.values == 2 * ROWS).all()
    assert found.dtype == np.float32
    assert list(found["example"].values) == names
    assert list(found["label"].values) == LABELS
    assert found.attrs["scale"] == "logit"
    tensor = Tensor(np.arange(7) + 600)
    numbered = predictions(Module(), batches(), labels=LABELS, examples=tensor)
    assert list(numbered["example"].values) == [str(row) for row in range(600, 607)]
    unnamed = predictions(Module(), Loader(batches(), rows=7), labels=LABELS)
    assert list(unnamed["example"].values) == [str(row) for row in range(7)]


def test_it_does_not_matter_how_rows_are_cut() -> None:
    whole = predictions(Module(), batches(size=7), labels=LABELS)
    for size in (1, 2, 6):
        assert whole.identical(predictions(Module(), batches(size=size), labels=LABELS))


def test_double_stays_double_and_halves_become_single() -> None:
    double = predictions(Module(), batches(ROWS.astype(np.float64)), labels=LABELS)
    assert double.dtype == np.float64
    for half in ("torch.bfloat16", "torch.float16"):
        found = predictions(Module(), [Tensor(ROWS, dtype=half)], labels=LABELS)
        assert found.dtype == np.float32
        assert (found.values == 2 * ROWS).all()


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

    loader = Loader(mapped, rows=7, sampler=RandomSampler())
    found = predictions(Module(), loader, labels=LABELS, examples="id", call=call)
    assert list(found["example"].values) == [str(row) for row in order]
    assert (found.values == 2 * ROWS[order]).all()
    pairs = [
        (rows, Tensor(np.arange(len(rows.values)) + 3 * n)) for n, rows in enumerate(batches())
    ]
    expected = predictions(Module(), batches(), labels=LABELS)
    assert expected.attrs.pop("numbered") == 1  # nobody named these
    assert expected.identical(predictions(Module(), pairs, labels=LABELS, examples=1))
    by = predictions(Module(), pairs, labels=LABELS, examples=lambda batch: batch[1])
    assert expected.identical(by)


def test_outputs_with_logits() -> None:
    class Answer:
        def __init__(self, logits: Tensor) -> None:
            self.logits = logits

    found = predictions(lambda rows: Answer(rows), batches(), labels=LABELS)
    assert (found.values == ROWS).all()


def test_an_iterator_of_unknown_length() -> None:
    def stream() -> Iterator[Tensor]:
        yield from batches(size=2)

    assert (predictions(Module(), stream(), labels=LABELS).values == 2 * ROWS).all()


def test_probabilities_are_checked_and_logits_that_look_like_them() -> None:
    shares = np.full((7, 3), 1 / 3, dtype=np.float32)
    found = predictions(lambda rows: rows, batches(shares), labels=LABELS, scale="probability")
    assert found.attrs["scale"] == "probability"
    with warned("logits-look-normalised", "got probabilities, it seems") as caught:
        predictions(lambda rows: rows, batches(shares), labels=LABELS)
    assert caught[0].filename == __file__
    with pytest.raises(plausibly.InputError, match="the module: 7 of 7 rows sum to 2"):
        predictions(lambda rows: rows, batches(2 * shares), labels=LABELS, scale="probability")


def test_numbers_that_are_not_finite() -> None:
    broken = ROWS.copy()
    broken[4, 1] = np.nan
    broken[5, 2] = np.inf
    with refused("outputs-not-finite", "got nan for dog of 4, 5") as caught:
        predictions(Module(), batches(broken), labels=LABELS)
    assert caught.value.details == {"batch": 2, "examples": ["4", "5"]}


def test_outputs_of_another_shape() -> None:
    with refused("outputs-shape", "got (3, 3)"):
        predictions(Module(), batches(), labels=["cat", "dog"])
    pad = "torch.nn.functional.pad(model(batch).reshape(-1, 1), (1, 0))"
    with refused("outputs-shape", f"do call=lambda model, batch: {pad}, if it is the logit of the"):
        predictions(Module(), batches(ROWS[:, :1]), labels=["cat", "dog"])
    with pytest.raises(plausibly.InputError, match="int64"):
        predictions(Module(), [Tensor(np.eye(3, dtype=np.int64))], labels=LABELS)


def test_names_that_do_not_fit() -> None:
    for names, told in (
        (range(5), "examples= has 5 names, and the loader has given by batch 2 6 rows"),
        (range(8), "examples= has 8 names, and the loader gave 7 rows"),
    ):
        with refused("names-differ", told, "DataLoader(..., drop_last=False)"):
            predictions(Module(), batches(), labels=LABELS, examples=names)
    pairs = [(rows, ["one"]) for rows in batches()]
    with refused("names-differ"):
        predictions(Module(), pairs, labels=LABELS, examples=1)
    twice = [(rows, ["a", "b", "c"][: len(rows.values)]) for rows in batches()]
    with refused("example-twice", "got batches 1 and 2"):
        predictions(Module(), twice, labels=LABELS, examples=1)
    with pytest.raises(plausibly.InputError, match="got batch 1"):
        predictions(Module(), batches(), labels=LABELS, examples=["a"] * 7)


def test_a_loader_that_shuffles_names_nobody() -> None:
    loader = Loader(batches(), rows=7, sampler=RandomSampler())
    for names in (None, [f"image {row}" for row in range(7)]):
        with refused("loader-shuffles", "got RandomSampler"):
            predictions(Module(), loader, labels=LABELS, examples=names)


def test_batches_that_cannot_be_read() -> None:
    with refused("batch-unfit", "got dict with pixels"):
        predictions(Module(), [{"pixels": Tensor(ROWS)}], labels=LABELS)
    with pytest.raises(plausibly.InputError, match="the module gives no tensor of batch 1"):
        predictions(lambda rows: [rows], batches(), labels=LABELS)
    with pytest.raises(plausibly.InputError, match="batch 1 has no item 'id'"):
        predictions(Module(), batches(), labels=LABELS, examples="id")
    with refused("loader-empty", "got none"):
        predictions(Module(), [], labels=LABELS)


def test_without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with refused(
        "extra-missing", 'do pip install "plausibly[torch]"', kind=plausibly.errors.MissingExtra
    ):
        predictions(Module(), batches(), labels=LABELS)
