"""Names of examples: read, hashed and kept as little as can be, never too many, never wrong."""

from __future__ import annotations

import gc
import weakref
from collections import OrderedDict
from collections.abc import ValuesView

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, strategies as st

import plausibly
from plausibly.calibration.examples import Examples
from plausibly.calibration.threshold import Kept
from plausibly.data import names, validate
from plausibly.data.named import with_values
from plausibly.errors import InputError
from plausibly.kernels import random as module
from plausibly.kernels.random import Names, hash_names
from tables import labelled

TEXTS = st.lists(st.text("ab\0", max_size=2), max_size=6)


def array(examples: list[str], labels: str = "ab") -> xr.DataArray:
    values = np.full((len(examples), len(labels)), 1 / len(labels))
    return labelled(values, examples, list(labels), attrs={"scale": "probability"})


@given(TEXTS)
def test_names_are_what_they_are_one_by_one(texts: list[str]) -> None:
    names = Names(texts)
    wanted = len(set(texts)) == len(texts) and all(one and "\0" not in one for one in texts)
    assert names.usable is wanted
    assert names.hashes.tolist() == hash_names(texts).tolist()
    assert (len(names), names.row) == (len(texts), tuple(texts))
    assert names.distinct == frozenset(texts)


def test_an_index_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = array(["one", "two"])
    first = names.names_of(seen, "example")
    with monkeypatch.context() as patched:
        patched.setattr(names, "name_texts", None)
        assert names.names_of(seen + 1, "example") is first
    assert names.names_of(array(["one", "three"]), "example").texts == ["one", "three"]


def alive() -> int:
    """Return how many names of indexes are kept."""
    gc.collect()
    return sum(isinstance(one, Names) for one in gc.get_objects())


def test_names_are_kept_for_few_indexes_and_forgotten_with_them() -> None:
    before = alive()
    many = [array([f"{place} {number}" for number in range(3)]) for place in range(100)]
    for one in many:
        names.names_of(one, "example")
    assert alive() - before <= 64
    del many, one
    assert alive() <= before


def test_long_names_that_are_the_same_are_checked_once() -> None:
    texts = [f"case {number}" for number in range(40)]
    these, those = array(texts), array([*texts])
    assert names.names_of(these, "example") is names.names_of(those, "example")
    other = names.names_of(array([*texts[:-1], "other"]), "example")
    assert other.texts == [*texts[:-1], "other"]


Held = tuple[weakref.ref[pd.Index], Names]


class Changing(OrderedDict[int, Held]):
    """What is kept, changed while it is looked through for the first time."""

    looks = 0

    def values(self) -> ValuesView[Held]:  # type: ignore[override]  # a dictionary's is private
        self.looks += 1
        if self.looks == 1:
            for _ in super().values():
                self.popitem()
        return super().values()


def test_an_index_may_end_while_others_are_looked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    held = Changing()
    monkeypatch.setattr(names, "_seen", held)
    texts = [f"case {number}" for number in range(40)]
    arrays = [array([*texts, f"and {place}"]) for place in range(3)]
    for place, one in enumerate(arrays):
        held.looks = 1 if place < 2 else 0
        assert names.names_of(one, "example").texts == [*texts, f"and {place}"]
    assert held.looks > 1


def test_many_names_are_kept_for_the_latest_indexes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "_KEPT", 3)
    long = [array([f"{kind} {place}" for place in range(40)]) for kind in range(12)]
    first = [names.names_of(one, "example") for one in long]
    again = [names.names_of(one, "example") for one in long[:3:-1]]
    assert all(one is other for one, other in zip(again, first[:3:-1], strict=True))
    assert names.names_of(long[0], "example") is not first[0]


@given(TEXTS, st.booleans(), st.data())
def test_names_in_bytes_are_those_in_texts(
    texts: list[str], narrow: bool, data: st.DataObject
) -> None:
    pa = pytest.importorskip("pyarrow")
    type_ = pa.string() if narrow else pa.large_string()
    dtype = pd.StringDtype("pyarrow", na_value=np.nan)
    index = pd.Index(pd.array(pa.array(["before", *texts], type_), dtype=dtype))[1:]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(names, "_LONG", 0)
        found = names._bytes(index)
        if data.draw(st.booleans()):
            other = names._bytes(pd.Index(texts[::-1], dtype=dtype))
        else:
            other = found
    assert found is not None
    assert other is not None
    these, those = Names(found), Names(other)
    assert list(these.texts) == texts
    assert these.usable is Names(texts).usable
    assert these.same(Names(texts))
    assert these.same(those) is (list(those.texts) == texts)
    assert these.common(those) == these.common(Names(texts)) == len(set(texts))
    assert these.hashes.tolist() == hash_names(texts).tolist()


def test_other_indexes_are_read_as_text() -> None:
    texts = [f"case {number}" for number in range(2_000)]
    for index in (pd.Index(texts, dtype=object), pd.Index(range(2_000)), pd.Index([*texts, None])):
        assert names._bytes(index) is None


@pytest.mark.parametrize("kind", [object, None])
def test_long_names_are_the_same_however_they_are_kept(kind: type | None) -> None:
    texts = [f"case {number}" for number in range(2_000)]
    model = array(texts).assign_coords(example=pd.Index(texts, dtype=kind))
    lam = array(texts).isel(example=slice(None, None, -1))
    predictor = plausibly.calibrate(model, lam)
    assert predictor.predict(model[5:], 0.2).attrs["calibration_overlap"] == 1_995
    new = array([f"new {number}" for number in range(1_999)])
    assert predictor.predict(new, 0.2).attrs["calibration_overlap"] == 0
    assert names.names_of(lam.assign_coords(example=texts), "example").common(
        names.names_of(model, "example")
    ) == len(texts)
    twice = array([*texts, "case 7"])
    with pytest.raises(InputError, match="name case 7 in rows 8 and 2,001"):
        predictor.predict(twice, 0.2)


def test_a_name_that_is_there_twice_is_refused_each_time() -> None:
    predictor = plausibly.calibrate(
        array([str(place) for place in range(30)]),
        lam := array([str(place) for place in range(30)]),
    )
    assert lam.sizes == {"example": 30, "label": 2}
    twice = array(["same", "same"])
    for _ in range(2):
        with pytest.raises(InputError, match="name same in rows 1 and 2"):
            predictor.predict(twice, 0.1)


def test_answers_are_bounded_and_the_latest_stay() -> None:
    kept: Kept[int, str] = Kept()
    for number in range(1_000):
        assert kept.keep(number, str(number)) == str(number)
    assert list(kept) == list(range(1_000 - 128, 1_000))


@pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")
def test_a_predictor_that_is_asked_for_many_alphas_keeps_few() -> None:
    generator = np.random.default_rng(0)
    model = array([str(place) for place in range(50)]).copy(data=generator.dirichlet([1, 1], 50))
    predictor = plausibly.calibrate(model, model)
    asked = [f"0.{number:04d}" for number in range(1, 400)]
    first = [predictor.threshold_array(one).tolist() for one in asked]
    for one in asked:
        predictor.predict(model[:2], one)
    assert [predictor.threshold_array(one).tolist() for one in asked] == first
    kept = (predictor._known, predictor._exact, predictor._promises, predictor._about)
    assert [len(one) for one in (*kept, predictor._decisions._thresholds)] == [128] * 5


def test_values_under_names_are_what_xarray_makes_of_them() -> None:
    given_ = array(["one", "two"]).assign_coords(site=("example", [3, 4])).T
    flags = np.array([[True, False], [False, True]])
    made = with_values(given_, flags, name="sets", attrs={"a": 1}, scalars={"alpha": 0.1})
    coords = {**given_.coords, "alpha": 0.1}
    assert made.identical(xr.DataArray(flags, coords, given_.dims, "sets", {"a": 1}))
    assert made.sel(label="b", example="one").item() is False
    assert "alpha" not in given_.coords


@given(st.lists(st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=3, max_size=3), min_size=1))
def test_hard_rows_are_counted_as_one_by_one(rows: list[list[float]]) -> None:
    assert validate.hard_rows(np.array(rows)) == sum(set(row) <= {0.0, 1.0} for row in rows)


@pytest.mark.parametrize("index", [pd.RangeIndex(2_000), pd.Index([f"é{n}" for n in range(2_000)])])
def test_an_index_without_text_coordinate_is_turned_once(index: pd.Index) -> None:
    frame = pd.DataFrame(np.full((2_000, 2), 0.5), index=index, columns=["a", "b"])
    given_ = xr.DataArray(frame, dims=("example", "label"))
    first, again = (validate.check_predictions(given_ + 0) for _ in range(2))
    texts = [str(name) for name in index]
    wanted = array(texts)
    assert first.coords.to_dataset().identical(wanted.coords.to_dataset())
    assert first.indexes["example"] is again.indexes["example"]
    assert names.names_of(first, "example") is names.names_of(given_, "example")
    assert first.sel(example=texts[7]).dims == ("label",)
    assert given_.indexes["example"] is index or given_.indexes["example"].equals(index)
    turned = given_.rename(example="label", label="example").T
    assert validate.check_predictions(turned, scale="any").label.values.tolist() == texts


def test_no_more_are_turned_than_is_said() -> None:
    names._texts.clear()
    many = [array(["a", "b"]).assign_coords(example=[place, -1 - place]) for place in range(20)]
    for one in many:
        validate.check_plausibilities(one)
    assert len(names._texts) == 8
    assert (id(many[-1].indexes["example"]), "example") in names._texts
    del many, one
    gc.collect()
    assert not names._texts


NAMES = st.lists(st.text(max_size=3), unique=True, max_size=12)


@given(NAMES, NAMES)
def test_common_by_name_and_by_hash(these: list[str], those: list[str]) -> None:
    wanted = len(set(these) & set(those))
    for left in (Examples(these), Examples(hash_names(these))):
        for right in (Examples(those), Examples(hash_names(those))):
            assert left.common(right) == wanted


@given(NAMES)
def test_some_of_them(these: list[str]) -> None:
    rows = np.arange(len(these))[::-2]
    kept = [these[row] for row in rows]
    assert Examples(these).take(rows).hashes.tolist() == hash_names(kept).tolist()
    assert Examples(hash_names(these)).take(rows).hashes.tolist() == hash_names(kept).tolist()


def arrays(prefix: str) -> tuple[xr.DataArray, xr.DataArray]:
    generator = np.random.default_rng(3)
    model, lam = (labelled(generator.dirichlet(np.ones(3), 40), prefix) for _ in range(2))
    return model.assign_attrs(scale="probability"), lam


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
