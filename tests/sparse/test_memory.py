"""20,000 labels: no step makes an array over all labels and more than a chunk of examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module

import dask
import dask.array as da
import numpy as np
import pytest
import xarray as xr

import plausibly
from memory import at_most
from plausibly.evaluation import ByRisk, coverage_by, entropy, p_value_uniformity
from plausibly.kernels.types import Floats
from sparse_world import label_names, mentions
from tables import labelled

pytestmark = pytest.mark.filterwarnings("ignore::plausibly.PlausiblyWarning")

LABELS, ROWS = 20_000, 200  # dense: 31 MiB
LIMIT = 24
CALIBRATORS: tuple[dict[str, object], ...] = (
    {"name": "expected"},
    {"name": "monte-carlo", "draws": 10},
    {"name": "mass-coverage"},
    {"name": "risk", "by": "risk"},
)


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    for name in ("scipy.stats", "distributed"):  # what is imported on the way is no array
        with suppress(ImportError):
            import_module(name)
    with dask.config.set(scheduler="synchronous"):
        yield


def predictions(prefix: str) -> xr.DataArray:
    """Return predictions in chunks of 25 rows, labels in another order than those of the votes."""
    row: Floats = np.random.default_rng(0).random(LABELS).astype(np.float32)

    def rows(block: Floats, block_info: dict[int, dict[str, tuple[int, ...]]]) -> Floats:
        turned = np.roll(row, 37 * block_info[0]["chunk-location"][0])
        return np.broadcast_to(turned, block.shape) + block

    return labelled(
        da.zeros((ROWS, LABELS), np.float32, chunks=(25, -1)).map_blocks(rows, dtype=np.float32),
        f"{prefix} ",
        label_names(LABELS)[::-1],
        risk=("label", 1.0 + np.arange(LABELS) % 3),
        attrs={"scale": "independent"},
    )


@pytest.fixture(scope="module")
def sparse() -> xr.Dataset:
    return plausibly.aggregate(mentions("single-label", ROWS, LABELS), sparse=True)


@pytest.mark.parametrize("kind", ["single-label", "partial-ranking", "soft-label"])
def test_aggregation(kind: str) -> None:
    table = mentions(kind, 5_000, LABELS)
    with at_most(LIMIT):
        result = plausibly.aggregate(table, sparse=True)
    assert result.sizes["slot"] <= 5


def test_calibration_prediction_and_evaluation(sparse: xr.Dataset) -> None:
    model = predictions("case")
    new = sparse.assign_coords(example=predictions("new").example.values)
    for calibrator in CALIBRATORS:
        with at_most(LIMIT):
            predictor = plausibly.calibrate(model, sparse, calibrator=calibrator)
    table = mentions("single-label", ROWS, LABELS)
    with at_most(LIMIT):
        predictor = plausibly.calibrate(model, table)
    with at_most(LIMIT):
        sets = predictor.predict(predictions("new"), 0.3)
        plausibly.evaluate(sets, new, ties="fractional")


STEPS: dict[str, Callable[[xr.DataArray, xr.DataArray, xr.Dataset], object]] = {
    "evaluate": lambda model, sets, sparse: plausibly.evaluate(sets, sparse),
    "risk": lambda model, sets, sparse: coverage_by(sets, sparse, by=ByRisk()),
    "entropy": lambda model, sets, sparse: entropy(sparse),
    "plan": lambda model, sets, sparse: plausibly.plan(model, sparse, alpha=0.3, resamples=2),
    "tuning": lambda model, sets, sparse: plausibly.tune_raps(
        model, sparse, alpha=0.3, share=0.15, splits=1, penalties=(0.1,)
    ),
}


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_a_step(sparse: xr.Dataset, step: Callable[..., object]) -> None:
    model = predictions("case")
    sets = model.copy(data=np.zeros(model.shape, bool)).drop_attrs()
    with at_most(LIMIT):
        step(model, sets, sparse)


def test_uniformity_and_joint_ranks(sparse: xr.Dataset) -> None:
    old = sparse.assign_coords(example=predictions("old").example.values)
    predictor = plausibly.calibrate(predictions("old"), old)
    with at_most(LIMIT):
        p_value_uniformity(predictor, predictions("case"), sparse)
    views = predictions("case")[:40].astype(bool).astype(np.float32).expand_dims(augmentation=2)
    views = views.assign_coords(augmentation=["a", "b"]).load()
    # The scores of four new examples with all labels, and what is compared at once.
    with at_most(64):
        new = views[:, :4].assign_coords(example=list("abcd"))
        plausibly.joint_rank(views, sparse.isel(example=slice(40)), new)


def test_the_limit_would_notice_a_dense_array() -> None:
    table = mentions("single-label", ROWS, LABELS)
    with pytest.raises(AssertionError), at_most(LIMIT):
        plausibly.aggregate(table)
