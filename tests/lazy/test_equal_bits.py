"""What is made in chunks has the bits of what is made in memory, however it is cut."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import dask
import numpy as np
import pytest

import plausibly
from lazy_world import cuts, plausibilities, predictions
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.errors import IncompatibleComponents

pytestmark = pytest.mark.filterwarnings("ignore::plausibly.PlausiblyWarning")

CAL, NEW = predictions(), predictions(seed=2, prefix="t")
LAM = plausibilities(CAL)
SOME_CUTS = [(5, 7), (3, 0, 9)]
CALIBRATORS: list[object] = [
    "expected",
    "monte-carlo",
    "majority-vote",
    "mass-coverage",
    {"name": "mondrian", "by": "site"},
    {"name": "mondrian", "by": "label"},
]


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    with dask.config.set(scheduler="synchronous"):
        yield


def alike(one: ConformalPredictor, other: ConformalPredictor) -> None:
    assert one.fingerprint == other.fingerprint
    assert one.reference is not None
    assert other.reference is not None
    np.testing.assert_array_equal(one.reference, other.reference)
    assert one.reference.dtype == other.reference.dtype


def test_twelve_examples_in_chunks_of_every_size_and_cut_at_every_place() -> None:
    whole = plausibly.calibrate(CAL, LAM, calibrator="monte-carlo")
    sets = whole.predict(NEW, 0.3)
    measured = plausibly.evaluate(sets, LAM.assign_coords(example=NEW["example"])).data
    for cut in cuts(12):
        made = plausibly.calibrate(CAL.chunk(example=cut), LAM, calibrator="monte-carlo")
        alike(made, whole)
        lazy = made.predict(NEW.chunk(example=cut), 0.3)
        assert lazy.chunks is not None
        assert lazy.chunks[0] == cut
        assert (
            plausibly.evaluate(lazy, LAM.assign_coords(example=NEW["example"]))
            .data.compute()
            .identical(measured)
        )


@pytest.mark.parametrize("calibrator", CALIBRATORS, ids=str)
@pytest.mark.parametrize("score", ["probability", "aps"])
@pytest.mark.parametrize("combiner", ["average", "ecdf"])
def test_components(calibrator: str, score: str, combiner: str) -> None:
    calibrate = partial(plausibly.calibrate, calibrator=calibrator, score=score, combiner=combiner)
    try:
        whole = calibrate(CAL, LAM)
    except IncompatibleComponents as refused:
        with pytest.raises(type(refused), match=refused.name):
            calibrate(CAL.chunk(example=5), LAM)
        return
    for cut in SOME_CUTS:
        made = calibrate(CAL.chunk(example=cut), LAM.chunk(example=cut))
        alike(made, whole)
        lazy = made.predict(NEW.chunk(example=cut), [0.2, 0.3])
        assert lazy.compute().identical(whole.predict(NEW, [0.2, 0.3]))
        assert made.p_values(NEW.chunk(example=cut)).compute().identical(whole.p_values(NEW))


@pytest.mark.parametrize(
    ("scale", "dtype"),
    [
        ("logit", "float32"),
        ("independent", "float32"),
        ("any", "float32"),
        ("probability", "float64"),
        ("probability", "float16"),
    ],
)
def test_scales_and_types(scale: str, dtype: str) -> None:
    cal, new = (one.astype(dtype).assign_attrs(scale=scale) for one in (CAL, NEW))
    whole = plausibly.calibrate(cal, LAM)
    made = plausibly.calibrate(cal.chunk(example=5), LAM)
    alike(made, whole)
    assert made.predict(new.chunk(example=5), 0.3).compute().identical(whole.predict(new, 0.3))


@pytest.mark.parametrize("alpha", [0.3, [0.2, 0.3]])
def test_dims_and_rows_in_any_order(alpha: float | list[float]) -> None:
    whole = plausibly.calibrate(CAL, LAM)
    order = np.random.default_rng(3).permutation(12)
    for given in (
        NEW.transpose("label", "example"),
        NEW.isel(example=order),
        NEW.isel(label=[2, 0, 3, 1]),
    ):
        lazy = given.chunk(example=5, label=-1)
        assert whole.predict(lazy, alpha).compute().identical(whole.predict(given, alpha))
        assert whole.p_values(lazy).compute().identical(whole.p_values(given))
    shuffled = CAL.isel(example=order).transpose("label", "example").chunk(example=5)
    alike(plausibly.calibrate(shuffled, LAM), whole)


def test_only_common_examples() -> None:
    whole = plausibly.calibrate(CAL, LAM[3:], only_common=True)
    alike(plausibly.calibrate(CAL.chunk(example=5), LAM[3:], only_common=True), whole)
    alike(
        plausibly.calibrate(CAL.chunk(example=5), LAM[3:].chunk(example=2), only_common=True), whole
    )
