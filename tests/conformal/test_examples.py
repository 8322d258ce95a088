"""Examples are hashed when a hash is asked for; overlap is the same by name and by hash."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, strategies as st

import plausibly
from plausibly.calibration.examples import HashedNames
from plausibly.data import names as module
from plausibly.data.names import Names
from plausibly.kernels.random import hash_names

NAMES = st.lists(st.text(max_size=3), unique=True, max_size=12)


@given(NAMES, NAMES)
def test_common_by_name_and_by_hash(these: list[str], those: list[str]) -> None:
    wanted = len(set(these) & set(those))
    for left in (Names.of(these), HashedNames(hash_names(these))):
        assert left.common(Names.of(those)) == wanted


@given(NAMES)
def test_some_of_them(these: list[str]) -> None:
    rows = np.arange(len(these))[::-2]
    kept = [these[row] for row in rows]
    assert Names.of(these).take(rows).hashes.tolist() == hash_names(kept).tolist()
    assert HashedNames(hash_names(these)).take(rows).hashes.tolist() == hash_names(kept).tolist()


def arrays(prefix: str) -> tuple[xr.DataArray, xr.DataArray]:
    generator = np.random.default_rng(3)
    coords = {"example": [f"{prefix}{row}" for row in range(40)], "label": list("abc")}
    model = xr.DataArray(
        generator.dirichlet(np.ones(3), 40), coords=coords, attrs={"scale": "probability"}
    )
    return model, xr.DataArray(generator.dirichlet(np.ones(3), 40), coords=coords)


def test_nothing_is_hashed_that_nobody_asks_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(names: object) -> None:
        raise AssertionError("hashed")

    model, lam = arrays("c")
    new, _ = arrays("t")
    before = plausibly.calibrate(model, lam)
    with monkeypatch.context() as patched:
        patched.setattr(module, "hash_names", never)
        predictor = plausibly.calibrate(model, lam)
        assert predictor.predict(new, 0.2).attrs["calibration_overlap"] == 0
        assert predictor.predict(model[5:25], 0.2).attrs["calibration_overlap"] == 20
        predictor.p_values(new)
        with pytest.raises(plausibly.errors.ComponentError, match="hashed"):
            plausibly.calibrate(model, lam, calibrator="monte-carlo")
    assert predictor.hashes is not None
    assert predictor.hashes.tolist() == hash_names(model.example.values).tolist()
    assert predictor.fingerprint == before.fingerprint
