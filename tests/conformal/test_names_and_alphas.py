"""Names are read once and hashed when needed; a predictor answers for any number of alphas."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, strategies as st

import plausibly
from conformal_world import world
from plausibly.calibration.examples import HashedNames
from plausibly.data import names as module, validate
from plausibly.data.names import Named, Names
from plausibly.errors import InputError
from plausibly.kernels.random import hash_names

LONG = st.sampled_from(["", "example 10", "an example beyond two words "])
TEXTS = st.lists(st.builds(str.__add__, LONG, st.text("ab\0", max_size=2)), max_size=6)


def array(examples: list[str], labels: str = "ab") -> xr.DataArray:
    values = np.full((len(examples), len(labels)), 1 / len(labels))
    coords = {"example": examples, "label": list(labels)}
    return xr.DataArray(values, coords, ("example", "label"), attrs={"scale": "probability"})


@given(TEXTS)
def test_names_are_what_they_are_one_by_one(texts: list[str]) -> None:
    names = Names.of(texts)
    wanted = len(set(texts)) == len(texts) and all(one and "\0" not in one for one in texts)
    assert names.usable is wanted
    assert names.hashes.tolist() == hash_names(texts).tolist()
    assert (len(names), names.texts) == (len(texts), texts)
    assert names.distinct == frozenset(texts)


@given(TEXTS, TEXTS)
def test_common_names_are_counted_once_each(here: list[str], there: list[str]) -> None:
    first, second = Names.of(here), Names.of(there)
    assert first.common(second) == len(set(here) & set(there))
    once = [sorted(set(texts)) for texts in (here, there)]
    assert HashedNames(hash_names(once[0])).common(Names.of(once[1])) == first.common(second)
    joined = Names(first.index.append(second.index))
    assert joined.usable is Names.of([*here, *there]).usable
    assert joined.common(first) == len(set(here))


@given(st.lists(st.text(max_size=3), unique=True, max_size=12))
def test_some_names_are_hashed_as_they_would_be_alone(texts: list[str]) -> None:
    rows = np.arange(len(texts))[::-2]
    alone = hash_names([texts[row] for row in rows]).tolist()
    assert Names.of(texts).take(rows).hashes.tolist() == alone
    assert HashedNames(hash_names(texts)).take(rows).hashes.tolist() == alone


@pytest.mark.parametrize(
    ("these", "those", "same"),
    [
        (pd.Index([1, 0]), pd.Index([True, False]), False),
        (pd.Index([0.1], dtype=np.float32), pd.Index([np.float64(np.float32(0.1))]), False),
        (pd.Index([7, 8]), pd.Index([7.0, 8.0]), True),
        (pd.Index([7, 8]), pd.Index(["7", "8"], dtype=object), True),
        (pd.Index(["a", "b"]), pd.Index(["a", "b"], dtype=object), True),
        (pd.Index(["a", "b"]), pd.Index(["b", "a"]), False),
    ],
)
def test_names_are_the_same_where_their_texts_are(
    these: pd.Index, those: pd.Index, same: bool
) -> None:
    assert Names(these).same(Names(those)) is same
    assert Names(those).same(Names(these)) is same


@pytest.mark.parametrize("kind", [object, None])
def test_long_names_are_the_same_however_they_are_kept(kind: type | None) -> None:
    texts = [f"case {number}" for number in range(2_000)]
    model = array(texts).assign_coords(example=pd.Index(texts, dtype=kind))
    lam = array(texts).isel(example=slice(None, None, -1)).drop_attrs()
    predictor = plausibly.calibrate(model, lam)
    assert predictor.predict(model[5:], 0.2).attrs["calibration_overlap"] == 1_995
    new = array([f"new {number}" for number in range(1_999)])
    assert predictor.predict(new, 0.2).attrs["calibration_overlap"] == 0
    here, there = Named.of(lam.assign_coords(example=texts)), Named.of(model)
    assert here.examples.common(there.examples) == len(texts)
    twice = array([*texts, "case 7"])
    for _ in range(2):
        with pytest.raises(InputError, match="name case 7 in rows 8 and 2,001"):
            predictor.predict(twice, 0.2)


def test_names_are_hashed_only_where_a_hash_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(names: object) -> None:
        raise AssertionError("hashed")

    model, lam = world(40)
    new, _ = world(40, start=100)
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


@pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")
def test_a_predictor_answers_for_more_alphas_than_it_remembers() -> None:
    generator = np.random.default_rng(0)
    model = array([str(place) for place in range(50)]).copy(data=generator.dirichlet([1, 1], 50))
    predictor = plausibly.calibrate(model, model.drop_attrs())
    asked = [f"0.{number:04d}" for number in range(1, 140)]
    first = [predictor.threshold_array(one).tolist() for one in asked]
    for one in asked:
        predictor.predict(model[:2], one)
    assert [predictor.threshold_array(one).tolist() for one in asked] == first


@pytest.mark.parametrize("index", [pd.RangeIndex(2_000), pd.Index([f"é{n}" for n in range(2_000)])])
def test_an_index_without_text_coordinate_is_turned_into_one(index: pd.Index) -> None:
    frame = pd.DataFrame(np.full((2_000, 2), 0.5), index=index, columns=["a", "b"])
    given_ = xr.DataArray(frame, dims=("example", "label"))
    first = validate.check_predictions(given_ + 0)
    texts = [str(name) for name in index]
    wanted = array(texts)
    assert first.coords.to_dataset().identical(wanted.coords.to_dataset())
    assert first.sel(example=texts[7]).dims == ("label",)
    assert given_.indexes["example"] is index or given_.indexes["example"].equals(index)
    turned = given_.rename(example="label", label="example").T
    assert validate.check_predictions(turned, scale="any").label.values.tolist() == texts
