"""The real crowd-kit, where it is installed (``tox -e crowd``): figures of published crowds.

Made with crowd-kit 1.4.2, Python 3.11, numpy 2.4, pandas 3.1 and scikit-learn 1.9.
"""

from __future__ import annotations

import csv
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
import xarray as xr

import plausibly
from crowd_models_worlds import quiet
from plausibly.plugin import AGGREGATOR, ANNOTATION, resolve
from plausibly.testing import check

Parameter: TypeAlias = Any  # by its name; what checks it is the component
pytestmark = [
    pytest.mark.realdata,
    pytest.mark.skipif(find_spec("crowdkit") is None, reason="crowd-kit is not installed"),
]

FIRST_WORKER = {"example": "2", "annotator": "1", "label": "3"}


@pytest.fixture(scope="module")
def folder(shared: Path) -> Path:
    return shared / "cases" / "annotations"


@pytest.fixture(scope="module")
def crowds(folder: Path) -> dict[str, xr.Dataset]:
    with (folder / "wide" / "temp_wide_noheader.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.reader(file) if any(row)]
    votes = [
        (f"item {item}", f"w{column}", said)
        for item, row in enumerate(rows)
        for column, said in enumerate(row)
        if said
    ]
    mozafari = folder / "long" / "mozafari_worker_task_label.tsv"
    return {
        "toy": plausibly.read_annotations(folder / "long" / "gal_toy_crowdkit.csv"),
        "mozafari": plausibly.read_annotations(mozafari, columns=FIRST_WORKER),
        "temp": resolve(ANNOTATION, "single-label").build(votes, ["before", "after"]),
    }


def lam(name: str, table: xr.Dataset, **more: Parameter) -> xr.DataArray:
    with quiet():
        return plausibly.aggregate(table, f"crowd-kit:{name}", **more)


def top(found: xr.DataArray) -> dict[str, str]:
    labels = found["label"].values[found.values.argmax(axis=1)]
    return dict(zip(found["example"].values.tolist(), labels.tolist(), strict=True))


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
def test_mozafari(crowds: dict[str, xr.Dataset], folder: Path, name: str, share: float) -> None:
    lines = (folder / "long" / "mozafari_truth.tsv").read_text(encoding="utf-8").splitlines()
    true = dict(line.split("\t")[:2] for line in lines)
    found = top(lam(name, crowds["mozafari"]))
    right = np.mean([true[example] == label for example, label in found.items()])
    assert float(right) == pytest.approx(share, abs=5e-4)


def test_the_one_whom_the_majority_gets_wrong(crowds: dict[str, xr.Dataset]) -> None:
    """Study: flagged 0 by both models of Dawid and Skene, 0.008 by GLAD, 0.003 by MACE."""
    for name, most in {"dawid-skene": 1e-6, "one-coin": 1e-6, "glad": 0.009, "mace": 0.003}.items():
        assert float(lam(name, crowds["toy"]).sel(example="url5", label="flagged")) < most
    for name in ("kos", "mmsr"):
        assert top(lam(name, crowds["toy"]))["url5"] == "clean"
    assert lam("wawa", crowds["toy"]).sel(label="flagged").values == pytest.approx(
        np.array([4, 16, 4, 16, 9]) / 17
    )


@pytest.mark.parametrize("name", ["dawid-skene", "mace", "mmsr", "wawa"])
def test_the_authors_kit(name: str) -> None:
    few = {"iterations": 5} if name == "mace" else {}
    report = check(AGGREGATOR, resolve(AGGREGATOR, f"crowd-kit:{name}", few))
    others = {one.name for one in report.rules if one.state != "holds"}
    assert others == {"counted-responses"}  # of unknown annotators


def test_the_authors_kit_for_two_labels(crowds: dict[str, xr.Dataset]) -> None:
    alone = {"example-alone": "an example alone has no message to pass on"}
    kos = resolve(AGGREGATOR, {"name": "crowd-kit:kos", "iterations": 5})
    report = check(AGGREGATOR, kos, annotations=crowds["toy"], expected_failures=alone)
    others = {one.name for one in report.rules if one.state != "holds"}
    assert others == {"counted-responses", "example-alone"}
