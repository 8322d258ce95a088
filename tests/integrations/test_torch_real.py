"""The real PyTorch, where it is installed (``tox -e torch``): a network on digits, to sets."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, TypeAlias

import numpy as np
import pytest
import xarray as xr

from refusals import refused

pytestmark = pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
Torch: TypeAlias = Any  # the library, its modules and tensors: an extra
LABELS = [str(digit) for digit in range(10)]


@pytest.fixture(scope="module")
def torch() -> Torch:
    return pytest.importorskip("torch")


@pytest.fixture(scope="module")
def digits(torch: Torch) -> tuple[Torch, Torch]:
    datasets = pytest.importorskip("sklearn.datasets", reason="the digits are scikit-learn's")
    x, y = datasets.load_digits(return_X_y=True)
    # They come in blocks of one hand each.
    mixed = np.random.default_rng(0).permutation(len(x))
    return torch.tensor(x[mixed] / 16, dtype=torch.float32), torch.tensor(y[mixed])


@pytest.fixture(scope="module")
def network(torch: Torch, digits: tuple[Torch, Torch]) -> Torch:
    torch.manual_seed(0)
    nn = torch.nn
    module = nn.Sequential(
        nn.Linear(64, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.5), nn.Linear(32, 10)
    )
    x, y = digits[0][:600], digits[1][:600]
    step = torch.optim.Adam(module.parameters(), lr=0.02)
    for _ in range(60):
        step.zero_grad()
        nn.functional.cross_entropy(module(x), y).backward()
        step.step()
    return module


def loader(torch: Torch, *tensors: object, **options: object) -> Torch:
    data = torch.utils.data
    return data.DataLoader(data.TensorDataset(*tensors), **options)


def test_batches_give_what_the_module_gives_at_once(
    torch: Torch, digits: tuple[Torch, Torch], network: Torch
) -> None:
    x = digits[0][600:700]
    network.train()
    network[1].eval()  # a part that its owner keeps from training
    result = predicted(network, loader(torch, x, batch_size=33))
    assert [part.training for part in network.modules()] == [True, True, False, True, True, True]
    assert all(parameter.grad is not None for parameter in network.parameters())
    network.eval()
    with torch.no_grad():
        expected = network(x).numpy()
    np.testing.assert_allclose(result.values, expected, rtol=1e-5, atol=1e-5)
    assert result.dtype == np.float32
    double = predicted(network.double(), loader(torch, x.double(), batch_size=50))
    assert double.dtype == np.float64
    network.float()
    half = loader(torch, x.bfloat16(), batch_size=4)
    assert predicted(torch.nn.Linear(64, 10).bfloat16(), half).dtype == np.float32


def predicted(module: Torch, batches: Torch, **options: Torch) -> xr.DataArray:
    from plausibly.torch import predictions

    return predictions(module, batches, labels=LABELS, **options)


def test_shuffled_loaders_are_refused_or_name_their_rows(
    torch: Torch, digits: tuple[Torch, Torch], network: Torch
) -> None:
    x, place = digits[0][600:700], torch.arange(600, 700)
    shuffled = loader(torch, x, place, batch_size=16, shuffle=True)
    with refused("loader-shuffles"):
        predicted(network, shuffled)
    named = predicted(network, shuffled, examples=1)
    order = [str(row) for row in range(600, 700)]
    still = predicted(network, loader(torch, x, batch_size=16), examples=list(range(600, 700)))
    np.testing.assert_allclose(named.sel(example=order).values, still.values, atol=1e-5)
