"""No figure of an evaluation depends on the order of the labels, not in its last bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest
import xarray as xr

import plausibly
from plausibly import evaluation as ev

N, LABELS = 100, [f"k{place}" for place in range(11)]
ORDERS = ([3, 0, 10, 1, 8, 2, 9, 5, 4, 7, 6],)


def world() -> tuple[xr.DataArray, xr.DataArray, xr.DataArray]:
    """Sets, plausibilities of three to nine votes, often tied, and logits."""
    rng = np.random.default_rng(5)
    coords = {
        "example": [f"e{place}" for place in range(N)],
        "label": LABELS,
        "site": ("example", rng.choice(["north", "south"], N)),
        "sex": ("example", rng.choice(["f", "m"], N)),
        "risk": ("label", rng.integers(0, 3, 11) * 0.7 + 0.1),
    }
    dims = ("example", "label")
    votes = np.stack([rng.multinomial(n, rng.dirichlet([0.5] * 11)) for n in rng.integers(3, 9, N)])
    lam = xr.DataArray(votes / votes.sum(axis=1, keepdims=True), coords, dims)
    logits = xr.DataArray(rng.normal(size=(N, 11)), coords, dims, attrs={"scale": "logit"})
    return xr.DataArray(rng.random((N, 11)) < 0.6, coords, dims), lam, logits


SETS, LAM, LOGITS = world()
# Any: plausibilities, dense or sparse
Call: TypeAlias = Callable[[xr.DataArray, Any, xr.DataArray], xr.Dataset]
CALLS: list[Call] = [
    *(
        lambda sets, lam, _, ties=ties: plausibly.evaluate(sets, lam, ties=ties, by="site").data
        for ties in ("random", "fractional", "any", "all")
    ),
    lambda sets, lam, _: ev.coverage_by(sets, lam, by=["site", "sex"]),
    lambda sets, lam, _: ev.coverage_by(sets, lam, by=ev.ByRange(ev.entropy(lam)), ties="random"),
    lambda sets, lam, logits: ev.coverage_by(
        sets, lam, by=ev.ByRange(ev.entropy(logits)), ties="any"
    ),
    lambda sets, lam, _: ev.coverage_by(sets, lam, by="set-size", ties="any"),
    lambda sets, lam, _: ev.coverage_by(sets, lam, by=ev.ByRisk("risk")),
    lambda sets, lam, _: ev.coverage_by(sets, lam, by="label"),
    lambda sets, lam, logits: ev.worst_slab_coverage(sets, lam, logits, directions=20),
    lambda sets, lam, logits: xr.Dataset({"of": ev.entropy(lam), "model": ev.entropy(logits)}),
]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("sparse", [False, True])
def test_the_bits_are_the_same(call: Call, *, sparse: bool) -> None:
    def made(order: list[int]) -> xr.Dataset:
        lam: Any = LAM.isel(label=order)  # Any: dense or sparse
        lam = plausibly.to_sparse(lam) if sparse else lam
        return call(SETS.isel(label=order), lam, LOGITS.isel(label=order))

    first = made(list(range(11)))
    for order in ORDERS:
        again = made(order)
        if "label" in first.dims:
            again = again.sel(label=first["label"])
        for name in (*first.data_vars, *first.coords):
            np.testing.assert_array_equal(first[name].values, again[name].values, str(name))
