"""The real crowd-kit, where it is installed (``tox -e crowd``): figures of published crowds.

Made with crowd-kit 1.4.2, Python 3.11, numpy 2.4, pandas 3.1 and scikit-learn 1.9.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
import xarray as xr

import plausibly
from crowd_models_worlds import accuracy, likeliest, published, true_labels
from plausibly.plugin import AGGREGATOR, resolve
from plausibly.testing import check
from refusals import quiet

Parameter: TypeAlias = Any  # by its name; what checks it is the component
pytestmark = [
    pytest.mark.realdata,
    pytest.mark.skipif(find_spec("crowdkit") is None, reason="crowd-kit is not installed"),
]


@pytest.fixture(scope="module")
def crowds(shared: Path) -> dict[str, xr.Dataset]:
    return published(shared)


def lam(name: str, table: xr.Dataset, **more: Parameter) -> xr.DataArray:
    with quiet():
        return plausibly.aggregate(table, f"crowd-kit:{name}", **more)


def farthest(name: str, table: xr.Dataset, rounds: int, ours: dict[str, float]) -> float:
    """Return how far apart crowd-kit's model and ours are after the same number of iterations."""
    theirs = lam(name, table, iterations=rounds, tolerance=1e-300)
    took = json.loads(theirs.attrs["convergence"])["iterations"]
    with quiet():
        own = plausibly.aggregate(
            table, {"name": name, "iterations": took, "tolerance": 0.0, **ours}
        )
    return float(abs(theirs - own).max())


def defined(table: xr.Dataset) -> xr.Dataset:
    """Leave out annotators of whom nothing is known for some label: their examples allow one."""
    shares = plausibly.aggregate(table)
    responses = plausibly.to_frame(table)
    known = []
    for annotator in table["annotator"].values.tolist():
        mine = responses[responses["annotator"] == annotator]["example"].unique().tolist()
        if (shares.sel(example=mine) > 0).any("example").all():
            known.append(annotator)
    return plausibly.select_annotations(table, annotator=known)


@pytest.mark.parametrize("crowd", ["toy", "mozafari", "temp"])
@pytest.mark.parametrize("rounds", [1, 3, 10])
def test_dawid_skene_is_ours(crowds: dict[str, xr.Dataset], crowd: str, rounds: int) -> None:
    table = defined(crowds[crowd])
    assert farthest("dawid-skene", table, rounds, {"smoothing": 0.0}) < 1e-9
    assert table.sizes["annotator"] == {"toy": 5, "mozafari": 79, "temp": 76}[crowd]


def test_where_one_of_them_has_to_choose(crowds: dict[str, xr.Dataset]) -> None:
    """Four of 83 annotators gave one response, of a label that is certain: the other is 0 / 0."""
    off = farthest("dawid-skene", crowds["mozafari"], 3, {"smoothing": 0.0})
    assert off == pytest.approx(2.8e-4, rel=0.01)


@pytest.mark.parametrize("crowd", ["toy", "mozafari", "temp"])
def test_one_coin_is_ours(crowds: dict[str, xr.Dataset], crowd: str) -> None:
    assert farthest("one-coin", crowds[crowd], 10, {"right": 0.0, "wrong": 0.0}) < 1e-9


@pytest.mark.parametrize(
    ("name", "share"),
    [
        ("dawid-skene", 0.709),
        ("one-coin", 0.668),
        ("kos", 0.658),
        ("glad", 0.694),
        ("mace", 0.722),
        ("mmsr", 0.687),
        ("wawa", 0.696),
        ("zero-based-skill", 0.696),
    ],
)
def test_mozafari(crowds: dict[str, xr.Dataset], shared: Path, name: str, share: float) -> None:
    result = lam(name, crowds["mozafari"])
    assert accuracy(result, true_labels(shared, "mozafari")) == pytest.approx(share, abs=5e-4)


def test_the_one_whom_the_majority_gets_wrong(crowds: dict[str, xr.Dataset]) -> None:
    """Study: flagged 0 by both models of Dawid and Skene, 0.008 by GLAD, 0.003 by MACE."""
    for name, most in {"dawid-skene": 1e-6, "one-coin": 1e-6, "glad": 0.009, "mace": 0.003}.items():
        assert float(lam(name, crowds["toy"]).sel(example="url5", label="flagged")) < most
    for name in ("kos", "mmsr"):
        assert likeliest(lam(name, crowds["toy"]))["url5"] == "clean"
    assert lam("wawa", crowds["toy"]).sel(label="flagged").values == pytest.approx(
        np.array([4, 16, 4, 16, 9]) / 17
    )


@pytest.mark.parametrize("name", ["dawid-skene", "mace", "mmsr", "wawa", "kos"])
def test_the_authors_kit(crowds: dict[str, xr.Dataset], name: str) -> None:
    few = {"iterations": 5} if name in ("mace", "kos") else {}
    component = resolve(AGGREGATOR, f"crowd-kit:{name}", few)
    expected: dict[str, str] = {}
    more: dict[str, Parameter] = {}
    if name == "kos":  # for two labels
        expected = {"example-alone": "an example alone has no message to pass on"}
        more = {"annotations": crowds["toy"]}
    report = check(AGGREGATOR, component, expected_failures=expected, **more)
    others = {item.name for item in report.rules if item.state != "holds"}
    assert others == {"counted-responses", *expected}  # of unknown annotators
