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
    alone, numbers = [name_text(value) for value in values], np.array(values, dtype=np.float64)
    for array in (numbers, np.array(values, dtype=object), pd.Index(values, dtype=np.float64)):
        assert name_texts(array) == alone
    assert group_names(numbers).tolist() == alone
    assert hash_names(numbers).tolist() == hash_names(alone).tolist()


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
    texts = np.array(["1.0", "0.50", "007", "north", "1e400"])
    assert group_names(texts).tolist() == ["1", "0.5", "007", "north", "1e400"]
    assert len(set(group_names(np.array([1e300, 1e299, np.inf])).tolist())) == 3


@pytest.mark.parametrize(
    ("doses", "dose", "text"),
    [
        (np.tile([0.5, 1.0, 2.0], 30), 1.0, "1.0"),
        (np.tile([0.5, 1.0, 2.0], 30), 1, "1.0"),
        (
            np.datetime64("2024-01-01") + np.arange(3).repeat(30),
            np.datetime64("2024-01-02"),
            "2024-01-02",
        ),
    ],
)
def test_a_group_is_known_again_without_its_neighbours(
    doses: np.ndarray, dose: object, text: str, recwarn: pytest.WarningsRecorder
) -> None:
    values = np.random.default_rng(0).dirichlet(np.ones(3), 90)
    model = labelled(values, "c", list("abc"), dose=doses)
    mondrian = {"name": "mondrian", "by": "dose"}
    predictor = plausibly.calibrate(model, labelled(values, "c"), calibrator=mondrian)

    def sets(*doses: object) -> list[bool]:
        new = labelled(values[: len(doses)], "n", list("abc"), dose=np.array(doses))
        kept: list[bool] = predictor.predict(new, 0.1).values[0].tolist()
        return kept

    assert sets(dose) == sets(text) == sets(dose, doses[0])
    assert not [w for w in recwarn if isinstance(w.message, PlausiblyWarning)]


def test_a_known_label_in_a_column_of_numbers(tmp_path: Path) -> None:
    path = tmp_path / "examples.csv"
    path.write_text("example,answer\nx0,1.0\nx1,2.0\n")
    answers = labelled(np.eye(2), ["x0", "x1"], ["1.0", "2.0"])
    known: xr.DataArray = plausibly.read_examples(path)["answer"]
    sets = (answers > 0).assign_coords(answer=("example", known.values))
    measured = plausibly.evaluate(sets, answers, true_label="answer")
    assert float(measured["true_coverage_mean"]) == 1.0
