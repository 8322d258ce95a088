"""The real PyTorch, where it is installed (``tox -e torch``): modes, number types and samplers."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, TypeAlias

import numpy as np
import pytest
import xarray as xr

from refusals import refused

pytestmark = pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
Torch: TypeAlias = Any  # the library, its modules and tensors: an extra


@pytest.fixture(scope="module")
def torch() -> Torch:
    return pytest.importorskip("torch")


@pytest.fixture
def network(torch: Torch) -> Torch:
    nn = torch.nn
    return nn.Sequential(nn.Linear(64, 32), nn.BatchNorm1d(32), nn.Dropout(0.5), nn.Linear(32, 10))


def predicted(
    torch: Torch, module: Torch, *tensors: object, examples: Torch = None, **options: object
) -> xr.DataArray:
    from plausibly.torch import predictions

    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*tensors), **options)
    return predictions(module, loader, labels=list("0123456789"), examples=examples)


def test_batches_give_the_result_of_one_call(torch: Torch, network: Torch) -> None:
    x = torch.rand(100, 64)
    network.train()
    network[1].eval()  # a part that its owner keeps from training
    result = predicted(torch, network, x, batch_size=33)
    assert [part.training for part in network.modules()] == [True, True, False, True, True]
    network.eval()
    with torch.no_grad():
        expected = network(x).numpy()
    np.testing.assert_allclose(result.values, expected, rtol=1e-5, atol=1e-5)
    assert result.dtype == np.float32
    assert predicted(torch, network.double(), x.double(), batch_size=50).dtype == np.float64
    half = torch.nn.Linear(64, 10).bfloat16()
    assert predicted(torch, half, x.bfloat16(), batch_size=4).dtype == np.float32


def test_shuffled_loaders_are_refused_or_name_their_rows(torch: Torch, network: Torch) -> None:
    x, place = torch.rand(100, 64), torch.arange(100)
    with refused("loader-shuffles"):
        predicted(torch, network, x, place, batch_size=16, shuffle=True)
    named = predicted(torch, network, x, place, examples=1, batch_size=16, shuffle=True)
    still = predicted(torch, network, x, batch_size=16)
    order = [str(row) for row in range(100)]
    np.testing.assert_allclose(named.sel(example=order).values, still.values, atol=1e-5)
