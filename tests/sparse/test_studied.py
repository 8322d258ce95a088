"""Plans, tuned scores, uniformity, joint ranks: from sparse plausibilities as from dense ones."""

from __future__ import annotations

from collections.abc import Callable

import dask
import dask.array as da
import numpy as np
import pytest
import xarray as xr

import plausibly
from memory import at_most
from plausibly.evaluation import p_value_uniformity
from plausibly.kernels.types import Floats
from sparse_world import label_names, mentions, shuffled
from tables import labelled

pytestmark = pytest.mark.filterwarnings("ignore::plausibly.PlausiblyWarning")

LABELS, EXAMPLES = 45, 120


def predictions(seed: int, examples: int = EXAMPLES, *, prefix: str = "case") -> xr.DataArray:
    rng = np.random.default_rng(seed)
    return labelled(
        rng.dirichlet(np.ones(LABELS), examples).astype(np.float32),
        f"{prefix} ",
        label_names(LABELS)[::-1],
        patient=[f"p{row // 3}" for row in range(examples)],
    )


def augmented(examples: int, prefix: str) -> xr.DataArray:
    parts = [predictions(seed, examples, prefix=prefix) for seed in (3, 4)]
    return xr.concat(parts, dim="augmentation").assign_coords(augmentation=["a", "b"])


MODEL, NEW = predictions(1), predictions(2, 30, prefix="new")
DENSE = plausibly.aggregate(mentions("single-label", EXAMPLES, LABELS))
SPARSE = plausibly.to_sparse(DENSE)
DREW = plausibly.calibrate(
    MODEL.assign_coords(example=[f"old {row}" for row in range(EXAMPLES)]),
    DENSE.assign_coords(example=[f"old {row}" for row in range(EXAMPLES)]),
)


def planned(model: xr.DataArray, lam: xr.DataArray | xr.Dataset) -> xr.Dataset:
    return plausibly.plan(model, lam, alpha=[0.2, 0.3], resamples=3, cluster="patient").data


def uniform(model: xr.DataArray, lam: xr.DataArray | xr.Dataset) -> xr.Dataset:
    return p_value_uniformity(DREW, model, lam, cluster="patient")


def tuned(model: xr.DataArray, lam: xr.DataArray | xr.Dataset) -> xr.Dataset:
    found = plausibly.tune_raps(model, lam, share=0.5, splits=2, penalties=(0, 0.1))
    return found.candidates.assign_attrs(score=found.score, on=found.tuned_on)


@pytest.mark.parametrize("study", [planned, uniform, tuned])
def test_same_bits_from_sparse_plausibilities_and_lazy_predictions(
    study: Callable[[xr.DataArray, xr.DataArray | xr.Dataset], xr.Dataset],
) -> None:
    expected = study(MODEL, DENSE)
    for lam in (SPARSE, shuffled(SPARSE)):
        assert study(MODEL, lam).identical(expected)
    assert study(MODEL.chunk(example=50), SPARSE).identical(expected)


@pytest.mark.parametrize("score", ["probability", "aps"])
def test_joint_ranks(score: str) -> None:
    new = augmented(20, "new")
    model = augmented(EXAMPLES, "case")
    expected = plausibly.joint_rank(model, DENSE, new, score=score)
    assert plausibly.joint_rank(model, shuffled(SPARSE), new, score=score).identical(expected)


def test_a_plan_of_annotations_reads_the_sparse_form() -> None:
    table = mentions("single-label", EXAMPLES, LABELS)
    found = plausibly.plan(MODEL, table, alpha=0.2, resamples=2).data
    whole = plausibly.plan(MODEL, DENSE, alpha=0.2, resamples=2).data
    assert (found["spread"] == whole["spread"]).all()
    assert (found["responses_distance"] >= 0).all()


MANY, ROWS = 20_000, 400


def many(prefix: str) -> xr.DataArray:
    """Return predictions in chunks of 50 rows; plausibilities as many would be 61 MiB."""
    row: Floats = np.random.default_rng(0).random(MANY).astype(np.float32)

    def rows(block: Floats, block_info: dict[int, dict[str, tuple[int, ...]]]) -> Floats:
        turned = np.roll(row, 37 * block_info[0]["chunk-location"][0])
        return np.broadcast_to(turned, block.shape) + block

    zeros = da.zeros((ROWS, MANY), np.float32, chunks=(50, -1))
    return labelled(
        zeros.map_blocks(rows, dtype=np.float32),
        f"{prefix} ",
        label_names(MANY),
        attrs={"scale": "independent"},
    )


def test_20_000_labels_are_never_dense() -> None:
    sparse = plausibly.aggregate(mentions("single-label", ROWS, MANY), sparse=True)
    model = many("case")
    augmentations = labelled(
        np.broadcast_to(np.float32(0.5), (2, 40, MANY)).copy(),
        model["example"].values[:40],
        model["label"].values,
        augmentation=("augmentation", ["a", "b"]),
        attrs={"scale": "independent"},
    )

    with dask.config.set(scheduler="synchronous"):
        old = sparse.assign_coords(example=[f"old {place}" for place in range(ROWS)])
        predictor = plausibly.calibrate(many("old"), old)
        with at_most(48):
            plausibly.plan(model, sparse, alpha=0.3, resamples=2)
        with at_most(48):
            p_value_uniformity(predictor, model, sparse)
        with at_most(48):
            plausibly.tune_raps(model, sparse, alpha=0.3, splits=1, penalties=(0.1,))
    new = augmentations[:, :4].assign_coords(example=list("abcd"))
    said = sparse.isel(example=slice(40))
    # The scores of four new examples with all labels, and what is compared at once.
    with at_most(64):
        plausibly.joint_rank(augmentations, said, new)
