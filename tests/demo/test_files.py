"""The demo's files are read back as what they were, by the readers of everybody."""

from __future__ import annotations

from pathlib import Path

import pytest

import plausibly
from plausibly.demo import study
from plausibly.errors import InputError
from plausibly.io import read_plausibilities

from .runs import subject


def test_nodules_come_as_counted_votes(tmp_path: Path) -> None:
    data = subject("nodules")
    data.plausibilities.values.flags.writeable = False
    assert study.write_data(data, tmp_path) == ["votes.csv", "probabilities.csv", "patients.csv"]
    votes = plausibly.read_annotations(tmp_path / "votes.csv", reader="counts")
    assert votes.attrs["reader"] == "counts"
    lam = plausibly.aggregate(votes).sel(example=data.plausibilities.example)
    assert (lam.values == data.plausibilities.values).all()
    assert (lam.denominator.values == data.plausibilities.denominator.values).all()
    predictions = plausibly.read_predictions(tmp_path / "probabilities.csv")
    assert list(predictions.label.values) == list(data.predictions.label.values)
    assert (predictions.values == data.predictions.values).all()
    patients = plausibly.read_examples(tmp_path / "patients.csv")
    assert list(patients.patient.values) == list(data.predictions.patient.values)
    assert list(patients.example.values) == list(data.predictions.example.values)


def test_the_toy_comes_as_plausibilities(tmp_path: Path) -> None:
    data = subject("toy")
    assert study.write_data(data, tmp_path) == ["plausibilities.csv", "probabilities.csv"]
    assert (
        read_plausibilities(tmp_path / "plausibilities.csv").values == data.plausibilities.values
    ).all()
    predictions = plausibly.read_predictions(tmp_path / "probabilities.csv")
    assert (predictions.values == data.predictions.values).all()


def test_what_a_user_may_have_edited_is_never_replaced(tmp_path: Path) -> None:
    data = subject("toy")

    def written(splits: int) -> None:
        study.write_data(data, tmp_path)
        study.write_study_file(data, tmp_path, splits=splits, seed=1)

    written(5)
    written(9)  # an older study file that nobody edited is no hindrance
    for name in (study.PLAUSIBILITIES, study.PREDICTIONS, study.STUDY):
        path = tmp_path / name
        whole = path.read_bytes()
        path.write_bytes(whole + b"# mine\n")
        with pytest.raises(InputError) as refused:
            written(9)
        assert refused.value.name == "output-occupied"
        assert path.read_bytes() == whole + b"# mine\n"
        path.write_bytes(whole)
