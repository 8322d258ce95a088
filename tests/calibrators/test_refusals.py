"""Pairs without a guarantee are refused by name, and every refusal says what goes instead."""

from __future__ import annotations

import math

import pytest

import plausibly
from calibrators_labelled import AUGMENTED, CALIBRATORS, POOLED, inside, plausibilities, predictions
from refusals import refused

Table = dict[str, object]

N = 24
SMOOTHED: Table = {"name": "average", "smoothed": True}
PLAIN: dict[str, Table] = {
    "expected": {"name": "expected"},
    "draws": {"name": "monte-carlo", "draws": 3},
    "votes": {"name": "majority-vote"},
    **CALIBRATORS,
}


def views(scores: str) -> Table:
    return {"name": "augmentation", "scores": scores}


def calibrate(
    calibrator: Table, combiner: Table | str = "average", *, augmentations: int = 0
) -> plausibly.ConformalPredictor:
    given = predictions(N, augmentations=augmentations)
    return plausibly.calibrate(given, plausibilities(N), calibrator=calibrator, combiner=combiner)


@pytest.mark.parametrize(
    "rule", ["held-out-rank", "ecdf", {"name": "pac", "bound": "held-out"}], ids=str
)
@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("group", 'ranks that mix the values of "site"'),
        ("label", "ranks that mix labels"),
        ("weights", "weights, by which held-out examples are not as likely as new ones"),
        ("group of weights", 'ranks that mix the values of "site"'),
        ("patients", 'examples of one "patient", which may be alike'),
        ("risk", "a mean, of which a rank says nothing"),
        ("mass", "one label of each, and the guarantee is about all of them"),
    ],
)
def test_ranks_of_held_out_examples(name: str, found: str, rule: Table | str) -> None:
    called = rule if isinstance(rule, str) else rule["name"]
    pair = f"combiner {called} does not go with calibrator {CALIBRATORS[name]['name']}"
    with refused("pair-incompatible", pair, f"found {found} hint combiner average"):
        calibrate(CALIBRATORS[name], rule)


ONLY_MEAN = "expected one p-value per replicate found only their mean: no label is drawn"
APART = ("maximum", "bonferroni", "median", "exchangeable-average", "geometric", "e-value")
NOT_APART = ("group", "label", "label of draws", "weights", "patients", "risk", "mass")
UNEQUAL = "expected atoms that all weigh the same found masses or weights that differ"
SPLITS = "splits ties among equal masses with one shared test score"
PAIRS: list[tuple[Table, Table | str, int, str]] = [
    *((CALIBRATORS[name], rule, 0, ONLY_MEAN) for rule in APART for name in NOT_APART),
    *((views(s), "maximum", 2, "expected one p-value per replicate") for s in ("mean", "pooled")),
    *(
        (CALIBRATORS[name], "e-value", 0, UNEQUAL)
        for name in ("weights of draws", "patients of draws")
    ),
    (AUGMENTED["separate"], "e-value", 2, "expected atoms that all weigh the same"),
    *(
        (CALIBRATORS[name], SMOOTHED, 0, "hint average(smoothed=False)")
        for name in ("weights", "weights of draws", "weights of risk")
    ),
    (AUGMENTED["separate"], SMOOTHED, 2, SPLITS),
]


@pytest.mark.parametrize(("calibrator", "rule", "count", "piece"), PAIRS)
def test_pairs(calibrator: Table, rule: Table | str, count: int, piece: str) -> None:
    pair = f"combiner {rule} does not go with calibrator {calibrator['name']}"
    with refused("pair-incompatible", SPLITS if rule == SMOOTHED else pair, piece):
        calibrate(calibrator, rule, augmentations=count)


OUTSIDE = "put mondrian outside; weights are per example"
INSIDE = [
    ("mondrian", inside("mondrian", "same"), "name one coordinate that has both"),
    ("mondrian", inside("mondrian", "label"), "name one coordinate that has both"),
    ("weighted", inside("mondrian", "site"), "put mondrian outside, weighted inside"),
    ("weighted", inside("weighted", "weight"), "put mondrian outside"),
    ("weighted", inside("clustered", "patient"), "weights are one per example"),
    ("weighted", inside("clustered", "alone"), "weights are one per example"),
    ("clustered", inside("mondrian", "site"), OUTSIDE),
    ("clustered", inside("weighted", "weight"), OUTSIDE),
    ("clustered", inside("clustered", "patient"), "groups inside groups"),
    ("clustered", inside("clustered", "alone"), "groups inside groups"),
]
BY = {"mondrian": "site", "weighted": "weight", "clustered": "patient"}


@pytest.mark.parametrize(("outer", "table", "reason"), INSIDE)
def test_wrappers_that_do_not_nest(outer: str, table: Table, reason: str) -> None:
    pair = f"calibrator {outer} cannot have {str(table['name']).title()} inside"
    with refused(
        "pair-incompatible", pair, f"found {reason}", 'hint inner = { name = "expected" }'
    ):
        calibrate(inside(outer, BY[outer], table))


@pytest.mark.parametrize(
    ("inner", "reason"),
    [
        ({"name": "risk", "by": "risk"}, "found atoms that are not of one label of one example"),
        ({"name": "mass-coverage"}, "found atoms that are not of one label of one example"),
        (inside("clustered", "patient"), "found atoms that are not of one label of one example"),
        (inside("clustered", "alone"), "found atoms that are not of one label of one example"),
        (inside("weighted", "weight"), "found masses of a label without weights"),
        *((views(scores), "") for scores in ("mean", "separate", "pooled")),
    ],
)
def test_label_cells_need_labels_of_examples(inner: Table, reason: str) -> None:
    called = str(inner["name"]).title().replace("-", "")
    pair = f"calibrator mondrian cannot have {called} inside"
    with refused("pair-incompatible", pair, reason):
        augmentations = 2 if inner["name"] == "augmentation" else 0
        calibrate(inside("mondrian", "label", inner), augmentations=augmentations)


@pytest.mark.parametrize(
    ("risks", "found"),
    [
        ([1.0, -1.0, 2.0], "found -1.0 hint"),
        ([1.0, math.inf, 2.0], "found inf hint"),
        (["a", "1", "2"], "found a, 1, 2 hint"),
        ([0.0, 0.0, 0.0], "found only 0 hint"),
    ],
)
def test_risks_that_are_none(risks: list[object], found: str) -> None:
    given = predictions(N).assign_coords(risk=("label", risks))
    with refused("risks-range", found):
        plausibly.calibrate(given, plausibilities(N), calibrator=CALIBRATORS["risk"])


@pytest.mark.parametrize(
    ("table", "found"),
    [
        (inside("mondrian", "sight"), "example found alone, patient, same, … (5 in all) hint"),
        (inside("weighted", "sight"), "example found alone, patient, same, … (5 in all) hint"),
        (inside("clustered", "sight"), "example found alone, patient, same, … (5 in all) hint"),
        ({"name": "risk", "by": "sight"}, "label found ones, risk hint"),
    ],
)
def test_coordinates_that_are_not_there(table: Table, found: str) -> None:
    with refused("coordinate-missing", str(table["name"]), '"sight"', f"a coordinate over {found}"):
        calibrate(table)


@pytest.mark.parametrize("scores", ["mean", "separate", "pooled"])
def test_augmentation_without_augmentations(scores: str) -> None:
    hint = "hint xarray.concat(parts, dim='augmentation'), or calibrator expected"
    with refused("augmentations-missing", f"found dims example, label {hint}"):
        calibrate(views(scores))


@pytest.mark.parametrize("table", PLAIN.values(), ids=PLAIN)
def test_augmentations_that_nobody_reads(table: Table) -> None:
    hint = "hint calibrator augmentation, or predictions.isel(augmentation=0)"
    with refused("augmentations-unread", str(table["name"]), f"found 2 augmentations {hint}"):
        calibrate(table, augmentations=2)


def test_new_examples_without_augmentations() -> None:
    new = predictions(3, prefix="new")
    for table in AUGMENTED.values():
        predictor = calibrate(table, augmentations=2)
        with refused("augmentations-missing", "and the predictor"):
            predictor.predict(new, "0.3")
    assert calibrate(POOLED, augmentations=2).predict(new, "0.3").dims == ("example", "label")
