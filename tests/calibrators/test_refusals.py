"""Pairs without a guarantee are refused by name, and every refusal says what goes instead."""

from __future__ import annotations

import pytest

import plausibly
from calibrators_labelled import AUGMENTED, CALIBRATORS, POOLED, inside, plausibilities, predictions
from call_files import each_call
from refusals import refused

Table = dict[str, object]

N = 24
SMOOTHED: Table = {"name": "average", "smoothed": True}
VIEWS: dict[str, Table] = {
    scores: {"name": "augmentation", "scores": scores} for scores in ("mean", "separate", "pooled")
}


def calibrate(
    calibrator: Table, combiner: Table | str = "average", *, augmentations: int = 0
) -> plausibly.ConformalPredictor:
    model = predictions(N, augmentations=augmentations)
    return plausibly.calibrate(model, plausibilities(N), calibrator=calibrator, combiner=combiner)


RANKS = {
    "group": 'groups by "site"',
    "label": 'groups by "label"',
    "weights": 'weights by "weight"',
    "patients": 'clusters by "patient"',
    "risk": "a guarantee about the risk",
    "mass": "a guarantee about the mass",
}
RANKING: list[Table | str] = ["held-out-rank", "ecdf", {"name": "pac", "bound": "held-out"}]
ONLY_MEAN = "expected one p-value per replicate found only their mean: no label is drawn"
APART = ("maximum", "bonferroni", "median", "exchangeable-average", "geometric", "e-value")
NOT_APART = ("group", "label", "label of draws", "weights", "patients", "risk", "mass")
UNEQUAL = "expected scores that all weigh the same"
SPLITS = "splits ties among equal masses with one shared test score"
PAIRS: list[tuple[Table, Table | str, int, str]] = [
    *(
        (CALIBRATORS[name], rule, 0, f"found {reason}")
        for name, reason in RANKS.items()
        for rule in RANKING
    ),
    *((CALIBRATORS[name], rule, 0, ONLY_MEAN) for rule in APART for name in NOT_APART),
    *((VIEWS[s], "maximum", 2, "expected one p-value per replicate") for s in ("mean", "pooled")),
    *((CALIBRATORS[f"{name} of draws"], "e-value", 0, UNEQUAL) for name in ("weights", "patients")),
    (AUGMENTED["separate"], "e-value", 2, "expected scores that all weigh the same"),
    *(
        (CALIBRATORS[name], SMOOTHED, 0, "hint average(smoothed=False)")
        for name in ("weights", "weights of draws", "weights of risk")
    ),
    (AUGMENTED["separate"], SMOOTHED, 2, SPLITS),
]


@pytest.mark.parametrize(("calibrator", "rule", "count", "piece"), PAIRS)
def test_pairs(calibrator: Table, rule: Table | str, count: int, piece: str) -> None:
    name = rule if isinstance(rule, str) else rule["name"]
    pair = f"combiner {name} does not go with calibrator {calibrator['name']}"
    with refused("pair-incompatible", SPLITS if rule == SMOOTHED else pair, piece):
        calibrate(calibrator, rule, augmentations=count)


SEVERAL_THRESHOLDS = (inside("mondrian", "site"), inside("weighted", "weight"))
NESTED: list[tuple[Table, Table]] = [
    *((inside("mondrian", "site"), inside("mondrian", by)) for by in ("same", "label")),
    *((inside("weighted", "weight"), inner) for inner in SEVERAL_THRESHOLDS),
    (inside("weighted", "weight"), inside("clustered", "patient")),
    *((inside("clustered", "patient"), inner) for inner in SEVERAL_THRESHOLDS),
    (inside("clustered", "patient"), inside("clustered", "alone")),
    # Groups of labels need atoms of labels of examples.
    *((inside("mondrian", "label"), CALIBRATORS[name]) for name in ("risk", "mass")),
    (inside("mondrian", "label"), inside("clustered", "alone")),
    (inside("mondrian", "label"), inside("weighted", "weight")),
    *((inside("mondrian", "label"), view) for view in VIEWS.values()),
]


@pytest.mark.parametrize(("outer", "inner"), NESTED)
def test_wrappers_that_do_not_nest(outer: Table, inner: Table) -> None:
    name = str(inner["name"]).title().replace("-", "")
    pair = f"calibrator {outer['name']} cannot have {name} inside"
    with refused("pair-incompatible", pair, 'hint inner = { name = "expected" }'):
        augmentations = 2 if inner["name"] == "augmentation" else 0
        calibrate({**outer, "inner": inner}, augmentations=augmentations)


def with_risks(*risks: object) -> plausibly.ConformalPredictor:
    model = predictions(N).assign_coords(risk=("label", list(risks)))
    return plausibly.calibrate(model, plausibilities(N), calibrator=CALIBRATORS["risk"])


@pytest.mark.parametrize("name", ["mondrian", "weighted", "clustered", "risk"])
def test_coordinates_that_are_not_there(name: str) -> None:
    known = "label found ones, risk hint"
    if name != "risk":
        known = "example found alone, patient, same, … (5 in all) hint"
    with refused("coordinate-missing", name, '"sight"', f"a coordinate over {known}"):
        calibrate({"name": name, "by": "sight"})


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_augmentation_without_augmentations(view: Table) -> None:
    hint = "hint xarray.concat(parts, dim='augmentation'), or calibrator expected"
    with refused("augmentations-missing", f"found dims example, label {hint}"):
        calibrate(view)
    predictor, new = calibrate(view, augmentations=2), predictions(3, prefix="new")
    if view == POOLED:
        assert predictor.predict(new, "0.3").dims == ("example", "label")
        return
    with refused("augmentations-missing", "and the predictor"):
        predictor.predict(new, "0.3")


@pytest.mark.parametrize(
    "table", [{"name": name} for name in ("expected", "majority-vote")] + [*CALIBRATORS.values()]
)
def test_augmentations_that_are_not_read(table: Table) -> None:
    hint = "hint calibrator augmentation, or predictions.isel(augmentation=0)"
    with refused("augmentations-unread", str(table["name"]), f"found 2 augmentations {hint}"):
        calibrate(table, augmentations=2)


test_each_call_gives_its_text = each_call(__file__, globals())
