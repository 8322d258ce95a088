"""Calibration with sparse plausibilities: the predictor that dense ones give, for every pair."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import plausibly
from plausibly import to_dense, to_sparse
from plausibly.conformal.inputs import matched_inputs
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.kernels.sparse import Sparse
from refusals import refused
from sparse_world import mentions, plausibilities, predictions, shuffled

pytestmark = pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")

LABELS, EXAMPLES = 40, 60

CALIBRATORS: dict[str, dict[str, object]] = {
    "expected": {"name": "expected"},
    "monte-carlo": {"name": "monte-carlo", "draws": 4},
    "majority-vote": {"name": "majority-vote"},
    "mondrian": {"name": "mondrian", "by": "group"},
    "mondrian by label": {"name": "mondrian", "by": "label"},
    "weighted": {"name": "weighted", "by": "odds"},
    "clustered": {"name": "clustered", "by": "patient"},
    "risk": {"name": "risk", "by": "risk"},
    "mass-coverage": {"name": "mass-coverage", "leave_out": 0.3},
}


def made(
    lam: xr.DataArray | xr.Dataset, dtype: str = "float32", calibrator: str = "expected"
) -> ConformalPredictor:
    model = predictions(EXAMPLES, LABELS, dtype=dtype)
    return plausibly.calibrate(model, lam, calibrator=CALIBRATORS[calibrator])


def answers(predictor: ConformalPredictor) -> list[object]:
    """Return everything that a predictor says of new examples."""
    new = predictions(9, LABELS, seed=5, start=1000)
    sets = predictor.predict(new, [0.1, 0.35])
    p = predictor.p_values(new) if predictor.has_p_values else sets
    guarantee = predictor.guarantee(0.1).to_json()
    return [sets.values.tobytes(), p.values.tobytes(), guarantee, dict(sets.attrs)]


def demand_same(first: ConformalPredictor, second: ConformalPredictor) -> None:
    assert first.fingerprint == second.fingerprint
    assert answers(first) == answers(second)


@pytest.mark.parametrize(("dtype", "counts"), [("float32", True), ("float64", False)])
@pytest.mark.parametrize("called", CALIBRATORS)
def test_every_calibrator_gives_the_same(called: str, dtype: str, counts: bool) -> None:
    lam = plausibilities(EXAMPLES, LABELS, dtype=dtype, counts=counts)
    turned = lam.isel(label=np.random.default_rng(3).permutation(LABELS))
    dense = made(lam, dtype, called)
    for sparse in (to_sparse(lam), shuffled(to_sparse(turned))):
        demand_same(made(sparse, dtype, called), dense)


@pytest.mark.parametrize("kind", ["single-label", "partial-ranking", "label-set", "soft-label"])
def test_annotations_of_many_labels_are_sparse_inside(kind: str) -> None:
    table = mentions(kind, EXAMPLES, LABELS)
    dense = plausibly.aggregate(table)
    model = predictions(EXAMPLES, LABELS)
    found = matched_inputs(model, table, seed=0, only_common=False)[1]
    assert isinstance(found.stored, Sparse)
    first, second = made(table), made(dense)
    assert answers(first)[:2] == answers(second)[:2]
    np.testing.assert_array_equal(first.pools.calibration.scores, second.pools.calibration.scores)


def test_other_names_are_refused_as_for_dense_ones() -> None:
    lam = plausibilities(EXAMPLES, LABELS)
    for wrong in (lam.isel(label=slice(1, None)), lam.isel(example=slice(1, None))):
        lam_ok = wrong / wrong.sum("label")
        texts = []
        for form in (to_sparse(lam_ok.fillna(1 / LABELS)), lam_ok.fillna(1 / LABELS)):
            with pytest.raises(plausibly.InputError) as caught:
                made(form)
            texts.append(str(caught.value))
        assert texts[0] == texts[1]


def test_parents_of_labels() -> None:
    """Labels above others may be besides where they have nothing, and are named where they do."""
    lam = plausibilities(EXAMPLES, LABELS)
    wide = lam.drop_vars("denominator").pad(label=(0, 1), constant_values=0)
    names = [*lam.label.values, "above"]
    wide = wide.assign_coords(label=names, parent=("label", ["above"] * 3 + [""] * (LABELS - 2)))
    wide = wide.drop_vars("risk")
    demand_same(made(shuffled(to_sparse(wide))), made(wide))
    said = wide.copy(data=np.where(np.arange(EXAMPLES)[:, None] == 7, 0, wide.values))
    said[7, LABELS] = 1
    texts = []
    for form in (to_sparse(said), said):
        with refused("parents-named") as caught:
            made(form)
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


def test_nothing_is_written_into_what_was_given() -> None:
    sparse = to_sparse(plausibilities(EXAMPLES, LABELS))
    before = sparse.copy(deep=True)
    for name in ("weight", "label"):
        sparse[name].values.flags.writeable = False
    made(sparse, calibrator="mass-coverage")
    made(sparse, calibrator="monte-carlo")
    assert sparse.identical(before)
    assert to_dense(sparse).identical(to_dense(before))
