"""Pairs without a guarantee are refused by name, and every refusal says what goes instead."""

from __future__ import annotations

import pytest

import plausibly
from calibrators_labelled import AUGMENTED, CALIBRATORS, POOLED, inside, plausibilities, predictions
from plausibly.errors import IncompatibleComponents, InputError
from refusals import refused

Table = dict[str, object]

N = 24
DRAWS: Table = {"name": "monte-carlo", "draws": 3}
SMOOTHED: Table = {"name": "average", "smoothed": True}
HELD_OUT = ("held-out-rank", "ecdf", "pac")
NOT_HELD_OUT = {
    "group": 'ranks that mix the values of "site"',
    "label": "ranks that mix labels",
    "weights": "weights, by which held-out examples are not as likely as new ones",
    "group of weights": 'ranks that mix the values of "site"',
    "patients": 'examples of one "patient", which may be alike',
    "risk": "a mean, of which a rank says nothing",
    "mass": "one label of each, and the promise is about all of them",
}


def refusal(
    calibrator: Table | str,
    combiner: Table | str = "average",
    *,
    augmentations: int = 0,
    allow: bool = False,
) -> str:
    """Return the message of what is refused, in one line."""
    with pytest.raises((IncompatibleComponents, InputError)) as caught:
        plausibly.calibrate(
            predictions(N, augmentations=augmentations),
            plausibilities(N),
            calibrator=calibrator,
            combiner=combiner,
            allow_no_guarantee=allow,
        )
    return " ".join(str(caught.value).split())


@pytest.mark.parametrize("rule", HELD_OUT)
@pytest.mark.parametrize("name", list(NOT_HELD_OUT))
def test_ranks_of_held_out_examples(name: str, rule: str) -> None:
    text = refusal(CALIBRATORS[name], rule)
    called = str(CALIBRATORS[name]["name"])
    assert text == (
        f"error pair-incompatible: combiner {rule} does not go with calibrator {called} expected "
        "held-out examples among which a new one is as likely at every rank; got "
        f"{NOT_HELD_OUT[name]} do combiner average"
    )


APART = ("maximum", "bonferroni", "median", "exchangeable-average", "geometric", "e-value")


@pytest.mark.parametrize("rule", APART)
@pytest.mark.parametrize(
    "name", ["group", "label", "label of draws", "weights", "patients", "risk", "mass"]
)
def test_rules_of_separate_p_values_where_there_is_only_a_mean(name: str, rule: str) -> None:
    text = refusal(CALIBRATORS[name], rule)
    called = CALIBRATORS[name]["name"]
    assert text.startswith(
        f"error pair-incompatible: combiner {rule} does not go with calibrator {called} "
    )
    assert "expected one p-value a replicate; got only their mean: no label is drawn" in text


@pytest.mark.parametrize("scores", ["mean", "pooled"])
def test_rules_of_separate_p_values_of_joined_augmentations(scores: str) -> None:
    text = refusal({"name": "augmentation", "scores": scores}, "maximum", augmentations=2)
    assert "expected one p-value a replicate" in text


@pytest.mark.parametrize("name", ["weights of draws", "patients of draws"])
def test_e_values_of_masses(name: str) -> None:
    text = refusal(CALIBRATORS[name], "e-value")
    assert "combiner e-value does not go with calibrator" in text
    assert "expected atoms that all weigh the same; got masses or weights that differ" in text
    assert "do combiner average, or calibrator monte-carlo" in text


def test_e_values_of_separate_augmentations() -> None:
    text = refusal(AUGMENTED["separate"], "e-value", augmentations=2)
    assert "expected atoms that all weigh the same" in text


@pytest.mark.parametrize("name", ["weights", "weights of draws", "weights of risk"])
def test_smoothing_with_weights(name: str) -> None:
    text = refusal(CALIBRATORS[name], SMOOTHED)
    assert text.startswith(
        "error pair-incompatible: average(smoothed=True) splits ties among equal masses with one "
    )
    assert "do average(smoothed=False)" in text


def test_smoothing_separate_augmentations() -> None:
    text = refusal(AUGMENTED["separate"], SMOOTHED, augmentations=2)
    assert "splits ties among equal masses with one shared test score" in text


@pytest.mark.parametrize("rule", ["cauchy", "fisher", "stouffer"])
@pytest.mark.parametrize("name", ["group of draws", "weights of draws", "patients of draws"])
def test_rules_without_a_guarantee(name: str, rule: str) -> None:
    text = refusal(CALIBRATORS[name], rule)
    assert text.startswith(f"error guarantee-none: combiner {rule} has no guarantee")
    assert "combiner average (1 - alpha), or allow_no_guarantee=True" in text
    predictor = plausibly.calibrate(
        predictions(N),
        plausibilities(N),
        calibrator=CALIBRATORS[name],
        combiner=rule,
        allow_no_guarantee=True,
    )
    assert predictor.guarantee("0.1").statement() == "no guarantee"


INSIDE = [
    ("mondrian", "mondrian", inside("mondrian", "same"), "name one coordinate that has both"),
    ("mondrian", "mondrian", inside("mondrian", "label"), "name one coordinate that has both"),
    ("weighted", "mondrian", inside("mondrian", "site"), "put mondrian outside, weighted inside"),
    ("weighted", "weighted", inside("weighted", "weight"), "put mondrian outside"),
    ("weighted", "grouped", inside("grouped", "patient"), "weights are one an example"),
    ("weighted", "grouped", inside("grouped", "alone"), "weights are one an example"),
    (
        "grouped",
        "mondrian",
        inside("mondrian", "site"),
        "put mondrian outside; weights are per example",
    ),
    (
        "grouped",
        "weighted",
        inside("weighted", "weight"),
        "put mondrian outside; weights are per example",
    ),
    ("grouped", "grouped", inside("grouped", "patient"), "groups inside groups"),
    ("grouped", "grouped", inside("grouped", "alone"), "groups inside groups"),
]
BY = {"mondrian": "site", "weighted": "weight", "grouped": "patient"}


@pytest.mark.parametrize(("outer", "inner", "table", "reason"), INSIDE)
def test_wrappers_that_do_not_nest(outer: str, inner: str, table: Table, reason: str) -> None:
    text = refusal(inside(outer, BY[outer], table))
    assert text.startswith(
        f"error pair-incompatible: calibrator {outer} cannot have {inner} inside "
    )
    assert f"got {reason}" in text
    assert text.endswith('do inner = { name = "expected" }')


@pytest.mark.parametrize(
    ("inner", "called"),
    [
        ({"name": "risk", "by": "risk"}, "risk"),
        ({"name": "mass-coverage"}, "mass-coverage"),
        (inside("grouped", "patient"), "grouped"),
        (inside("grouped", "alone"), "grouped"),
    ],
)
def test_label_cells_need_labels_of_examples(inner: Table, called: str) -> None:
    text = refusal(inside("mondrian", "label", inner))
    assert f"calibrator mondrian cannot have {called} inside" in text
    assert "got atoms that are not of one label of one example" in text


def test_label_cells_and_weights() -> None:
    text = refusal(inside("mondrian", "label", inside("weighted", "weight")))
    assert "calibrator mondrian cannot have weighted inside" in text
    assert "got masses of a label without weights" in text


@pytest.mark.parametrize("scores", ["mean", "separate", "pooled"])
def test_label_cells_and_augmentations(scores: str) -> None:
    table = inside("mondrian", "label", {"name": "augmentation", "scores": scores})
    assert "calibrator mondrian cannot have augmentation inside" in refusal(table, augmentations=2)


@pytest.mark.parametrize("scores", ["mean", "separate", "pooled"])
def test_augmentation_without_augmentations(scores: str) -> None:
    text = refusal({"name": "augmentation", "scores": scores})
    assert text == (
        "error augmentations-missing: predictions have no augmentations expected the dim "
        "augmentation: predictions of each augmentation of an example; got dims example, label "
        "do xarray.concat(parts, dim='augmentation'), or calibrator expected"
    )


@pytest.mark.parametrize(
    "table", [{"name": "expected"}, DRAWS, {"name": "voted"}, *CALIBRATORS.values()], ids=str
)
def test_augmentations_that_nobody_reads(table: Table) -> None:
    text = refusal(table, augmentations=2)
    assert text.startswith(f"error augmentations-unread: calibrator {table['name']} reads one row")
    assert "expected predictions over example and label; got 2 augmentations" in text
    assert "do calibrator augmentation, or predictions.isel(augmentation=0)" in text


def test_new_examples_without_augmentations() -> None:
    for table in AUGMENTED.values():
        predictor = plausibly.calibrate(
            predictions(N, augmentations=2), plausibilities(N), calibrator=table
        )
        with refused(
            "augmentations-missing", "predictions have no augmentations, and the predictor"
        ):
            predictor.predict(predictions(3, prefix="new"), "0.3")
    pooled = plausibly.calibrate(
        predictions(N, augmentations=2), plausibilities(N), calibrator=POOLED
    )
    assert pooled.predict(predictions(3, prefix="new"), "0.3").dims == ("example", "label")
