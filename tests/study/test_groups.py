"""Examples that belong together: said, split whole, thinned out, and where sets are weak."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest
import xarray as xr

import plausibly
from cli_world import World, run
from plausibly.errors import PlausiblyWarning
from plausibly.study import StudyResult, prepare, run_study
from plausibly.study.prepare import groups_of, owners, plural
from plausibly.study.run import assumptions, warn_of_groups
from study_world import WHOLE, inputs
from tables import labelled

UNGROUPED = WHOLE.replace('cluster = "patient"\n', "")


def ran(world: World, text: str) -> tuple[StudyResult, list[str]]:
    world.write("study.toml", text)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = run_study("study.toml")
    return result, [str(item.message) for item in caught]


def examples(**coordinates: Any) -> xr.DataArray:  # Any: lists of names or numbers
    count = len(next(iter(coordinates.values())))
    return labelled(np.full((count, 2), 0.5), **coordinates)


def test_patients_on_both_sides_or_with_several_examples_are_warned_of(world: World) -> None:
    result, caught = ran(world, UNGROUPED)
    patients = result.prepared.predictions["patient"].values
    test = np.isin(result.prepared.predictions["example"].values, result.sets["example"].values)
    both = set(patients[test]) & set(patients[~test])
    (warned,) = caught
    start = f"warning cluster-on-both-sides: {len(both)} patients are in calibration and in test\n"
    assert warned.startswith(start)
    assert f"  found     {2 * len(both)} of 30 examples shared\n" in warned
    assert warned.endswith('[examples] cluster = "patient"')
    assert "15 of 15 patients have several" in assumptions(result.prepared.predictions, None)
    result, caught = ran(world, WHOLE)
    assert [item.splitlines()[0] for item in caught] == [
        "warning cluster-repeats: there are 30 examples of 15 patients"
    ]
    assert int(result.compared["n_test"].min()) % 2 == 0


def test_examples_with_the_predictions_of_others_are_warned_of(world: World) -> None:
    values = np.random.default_rng(0).dirichlet([1, 1, 1], 30).round(6)
    values[9] = values[0]
    header, *rows = world.path("probabilities.csv").read_text().splitlines()
    lines = [
        f"{row.split(',')[0]},{','.join(map(str, v))}" for row, v in zip(rows, values, strict=True)
    ]
    world.write("probabilities.csv", "\n".join([header, *lines]) + "\n")
    _, caught = ran(world, WHOLE)
    assert [text.partition(": ")[2][:22] for text in caught if "examples-alike" in text] == [
        "2 of 30 examples have "
    ]


def test_one_example_per_patient_is_kept(world: World) -> None:
    text = WHOLE.replace('"patients.csv"', '"patients.csv"\none_per = "patient"')
    text = text.replace("[0.1, 0.25]", "[0.3, 0.25]")
    result, caught = ran(world, text)
    assert caught == []
    model = result.prepared.predictions
    assert sorted(model["patient"].values) == sorted(f"p{number}" for number in range(15))
    assert result.prepared.left_out == {"beside another of the same patient": 15}
    assert result.predictor.n == 15
    another, _ = ran(world, text.replace("seed = 1", "seed = 2"))
    assert set(another.prepared.predictions["example"].values) != set(model["example"].values)
    predictions, plausibilities = (array.sel(example=model["example"]) for array in inputs())
    expected = plausibly.compare(
        predictions,
        plausibilities,
        {"everyone": {}},
        alphas=["0.3", "0.25"],
        splits=6,
        cluster="patient",
        seed=1,
    ).data
    measured = result.compared["aggregated_coverage"].sel({"method": "everyone"}).values
    np.testing.assert_array_equal(measured, expected["aggregated_coverage"].values[0])


OWNERS: dict[str, tuple[list[object], bool]] = {
    "patient": (["a", "a", "b"], True),
    "Patient_ID": ([1, 1, 2], True),
    "id": (["a", "b", "a"], True),
    "speaker name": (["a", "b", "a"], True),
    "patient_age": ([30.5, 30.5, 40.0], False),
    "age": ([30, 30, 40], False),
    "site": (["a", "a", "b"], False),
    "widow": (["a", "a", "b"], False),
    "subject": (["a", "b", "c"], False),
    "group": (["a", "a", "a"], False),
}


@pytest.mark.parametrize("name", OWNERS)
def test_coordinates_of_clusters_are_recognised_by_name(name: str) -> None:
    values, result = OWNERS[name]
    assert [item.name for item in owners(examples(**{name: values}))] == [name] * result


def test_the_smallest_clusters_come_first() -> None:
    made = examples(family=["f", "f", "f", "g"], patient=["a", "a", "b", "c"])
    assert [item.name for item in owners(made)] == ["patient", "family"]
    item = groups_of(made, "patient")
    assert (item.examples, item.groups, item.several, plural(item.name)) == (4, 3, 1, "patients")
    test = np.array([True, True, False, False])
    with pytest.warns(PlausiblyWarning, match="cluster-on-both-sides: 1 families are in"):
        warn_of_groups(made, test, None)
    with pytest.warns(PlausiblyWarning, match="cluster-repeats: there are 4 examples of 3 pat"):
        warn_of_groups(made, test, "patient")


# ---- weak groups


def test_numbers_and_true_labels_are_no_groups(world: World) -> None:
    rows = world.path("patients.csv").read_text().splitlines()
    wide = [f"{rows[0]},age,weight,serial,same"]
    wide += [f"{row},{n % 3},{n}.5,s{n},x" for n, row in enumerate(rows[1:])]
    world.write("patients.csv", "\n".join(wide) + "\n")
    text = WHOLE.replace("[output]", '[evaluation]\ntrue_label = "diagnosis"\n[output]')
    world.write("study.toml", text)
    # 30 serial numbers are 30 groups, which is the most that is looked through.
    assert prepare("study.toml").study.evaluation.by == ("site", "age", "serial")
    world.write("study.toml", text.replace("true_label =", 'by = ["same"]\ntrue_label ='))
    assert prepare("study.toml").study.evaluation.by == ("same",)


# ---- components inside others


def test_components_inside_are_shown_and_data_that_they_lack_are_mistakes(world: World) -> None:
    inner = '{ name = "monte-carlo", draws = 3 }'
    grouped = f'{{ name = "mondrian", by = "site", inner = {inner} }}'
    world.edit("study.toml", '"majority-vote"', grouped)
    out = run("config", "show", "study.toml").out
    for key in ('by = "site"', 'inner.name = "monte-carlo"', "inner.draws = 3"):
        assert re.search(rf"^calibrator\.{re.escape(key)} +# line 18$", out, re.M), key
    assert re.search(r"^calibrator\.inner\.systematic = false +# default$", out, re.M)
    world.edit("study.toml", 'by = "site"', 'by = "sit"')
    world.edit(
        "study.toml", '{ name = "monte-carlo", draws = 4 }', '{ name = "risk", by = "rank" }'
    )
    ran = run("config", "check", "study.toml")
    assert (ran.code, ran.width <= 80) == (2, True)
    assert 'line 18 methods[1].calibrator: calibrator mondrian needs "sit" of the ex' in ran.text
    assert 'did you mean "site"? line 21 methods[2].calibrator: calibrator risk needs' in ran.text
    assert ran.text.endswith("[labels] path, a table with such a column")
