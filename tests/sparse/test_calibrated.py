"""Calibration with sparse plausibilities of many labels: predictors and refusals of dense ones."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import plausibly
from plausibly import to_sparse
from plausibly.conformal.predictor import ConformalPredictor
from sparse_world import mentions, plausibilities, predictions, shuffled

pytestmark = pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")

LABELS, EXAMPLES = 40, 60
MODEL, NEW = predictions(EXAMPLES, LABELS), predictions(9, LABELS, seed=5, start=1000)
DENSE = plausibilities(EXAMPLES, LABELS)


def calibrate(
    answers: xr.DataArray | xr.Dataset, calibrator: str = "expected"
) -> ConformalPredictor:
    return plausibly.calibrate(MODEL, answers, calibrator=calibrator)


@pytest.mark.parametrize("calibrator", ["expected", "monte-carlo", "mass-coverage"])
def test_inputs_are_read_and_never_written(calibrator: str) -> None:
    dense = DENSE.isel(label=np.random.default_rng(3).permutation(LABELS))
    sparse = shuffled(to_sparse(dense))
    before = sparse.copy(deep=True)
    for name in ("weight", "label"):
        sparse[name].values.flags.writeable = False
    expected = calibrate(DENSE, calibrator)
    predictor = calibrate(sparse, calibrator)
    assert sparse.identical(before)
    assert predictor.fingerprint == expected.fingerprint
    assert predictor.p_values(NEW).identical(expected.p_values(NEW))


@pytest.mark.parametrize("kind", ["single-label", "partial-ranking", "label-set", "soft-label"])
def test_annotations_of_many_labels(kind: str) -> None:
    table = mentions(kind, EXAMPLES, LABELS)
    direct, dense = calibrate(table), calibrate(plausibly.aggregate(table))
    np.testing.assert_array_equal(direct.p_values(NEW).values, dense.p_values(NEW).values)


def test_refusals_are_those_of_dense_plausibilities() -> None:
    # A label above others may have nothing, and is named where it has.
    wide = DENSE.drop_vars(["denominator", "risk"]).pad(label=(0, 1), constant_values=0)
    names = [*DENSE.label.values, "above"]
    wide = wide.assign_coords(label=names, parent=("label", ["above"] * 3 + [""] * (LABELS - 2)))
    assert calibrate(shuffled(to_sparse(wide))).fingerprint == calibrate(wide).fingerprint
    above = wide.copy(deep=True)
    above[7] = np.eye(LABELS + 1)[LABELS]
    fewer_labels = (DENSE[:, 1:] / DENSE[:, 1:].sum("label")).fillna(1 / (LABELS - 1))
    for name, wrong in (
        ("parents-named", above),
        ("labels-differ", fewer_labels),
        ("examples-differ", DENSE[1:]),
    ):
        texts = []
        for form in (to_sparse(wrong), wrong):
            with pytest.raises(plausibly.InputError) as caught:
                calibrate(form)
            assert caught.value.name == name
            texts.append(str(caught.value))
        assert texts[0] == texts[1]
