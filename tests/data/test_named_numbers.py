"""The name of a value depends on that value alone, whatever array or file it comes in."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, strategies as st

import plausibly
from plausibly.calibration.coordinates import group_names
from plausibly.data.names import name_texts
from plausibly.errors import PlausiblyWarning
from plausibly.kernels.random import hash_names, name_text
from tables import labelled


@given(st.lists(st.one_of(st.integers(-(2**53), 2**53), st.floats(allow_nan=False)), max_size=6))
def test_a_number_has_one_name_in_every_array(values: list[float]) -> None:
    alone = [name_text(value) for value in values]
    assert name_texts(np.array(values, dtype=np.float64)) == alone
    assert name_texts(np.array(values, dtype=object)) == alone
    assert name_texts(pd.Index(values, dtype=np.float64)) == alone
    assert group_names(np.array(values, dtype=np.float64)).tolist() == alone
    assert hash_names(np.array(values, dtype=np.float64)).tolist() == hash_names(alone).tolist()


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (1.0, "1"),
        (np.float32(0.1), "0.1"),
        (-0.0, "0"),
        (1e18, "1" + "0" * 18),
        (Decimal("1.00"), "1"),
        (Decimal("0.50"), "0.5"),
        (np.int8(3), "3"),
        (True, "True"),
        ("1.0", "1.0"),
        (b"caf\xc3\xa9", "café"),
        (date(2024, 1, 2), "2024-01-02"),
        (datetime(2024, 1, 2), "2024-01-02"),
        (np.datetime64("2024-01-02T00:00:00.000000000"), "2024-01-02"),
        (np.datetime64("2024-01-02T10:00:00.500000000"), "2024-01-02 10:00:00.5"),
        (pd.Timestamp("2024-01-02 10:00:00.5"), "2024-01-02 10:00:00.5"),
    ],
)
def test_names(value: object, name: str) -> None:
    assert name_text(value) == name


def test_text_that_is_a_number_is_the_group_of_that_number() -> None:
    mixed = np.array(["1.0", "0.50", "007", "north", "1e400"])
    assert group_names(mixed).tolist() == ["1", "0.5", "007", "north", "1e400"]
    large = np.array([1e300, 1e299, np.inf])
    assert len(set(group_names(large).tolist())) == 3


def doses(values: list[float], prefix: str) -> xr.DataArray:
    generator = np.random.default_rng(0)
    return labelled(
        generator.dirichlet(np.ones(3), len(values)),
        [f"{prefix}{row}" for row in range(len(values))],
        list("abc"),
        dose=np.array(values),
    )


def test_a_group_is_known_again_without_its_neighbours(recwarn: pytest.WarningsRecorder) -> None:
    model = doses([0.5, 1.0, 2.0] * 30, "c")
    predictor = plausibly.calibrate(
        model, model.copy(), calibrator={"name": "mondrian", "by": "dose"}
    )
    beside, alone = doses([1.0, 0.5], "n"), doses([1], "n")
    alone.values[0] = beside.values[0]
    sets = predictor.predict(beside, 0.1)[0], predictor.predict(alone, 0.1)[0]
    assert sets[0].values.tolist() == sets[1].values.tolist()
    written = alone.assign_coords(dose=("example", ["1.0"]))
    assert predictor.predict(written, 0.1)[0].values.tolist() == sets[0].values.tolist()
    days = np.datetime64("2024-01-01") + np.arange(3).repeat(30)
    model = model.assign_coords(dose=("example", days))
    predictor = plausibly.calibrate(
        model, model.drop_vars("dose"), calibrator={"name": "mondrian", "by": "dose"}
    )
    alone, written = (
        alone.assign_coords(dose=("example", [day])) for day in (days[40], "2024-01-02")
    )
    assert predictor.predict(alone, 0.1).equals(
        predictor.predict(written, 0.1).assign_coords(dose=alone["dose"])
    )
    assert not [w for w in recwarn if isinstance(w.message, PlausiblyWarning)]


def test_a_known_label_in_a_column_of_numbers(tmp_path: Path) -> None:
    table = tmp_path / "examples.csv"
    table.write_text("example,answer\nx0,1.0\nx1,2.0\n")
    lam = labelled(np.eye(2), ["x0", "x1"], ["1.0", "2.0"])
    sets = (lam > 0).assign_coords(
        answer=("example", plausibly.read_examples(table)["answer"].values)
    )
    found = plausibly.evaluate(sets, lam, true_label="answer")
    assert float(found["true_coverage_mean"]) == 1.0
