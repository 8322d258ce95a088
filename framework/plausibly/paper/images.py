"""Sections 4.2 and 4.3, on images of digits: label sets of two overlaid ones, and augmentations."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeAlias

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.ndimage import map_coordinates

from plausibly.conformal.calibrate import calibrate
from plausibly.data import names
from plausibly.data.names import text_array
from plausibly.demo.subjects import normals
from plausibly.errors import counted
from plausibly.evaluation.result import decimal
from plausibly.extras import require
from plausibly.kernels import coverage
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Bools, Ints
from plausibly.paper import figure
from plausibly.paper.data import SOURCE, Data, one_thread
from plausibly.paper.figure import (
    METHOD,
    SPLIT,
    Claim,
    Drawing,
    Figure,
    Study,
    close,
    framed,
    mean_spread,
    monte_carlo,
)
from plausibly.plots import style

ALPHA = "0.1"
Images = NDArray[np.float64]
SIDE = 8
LABELS = tuple(map(str, range(10)))
UNIFORMS = 3 + 2 * SIDE * SIDE  # number of uniforms that `perturbed` takes per image

_TURN, _SHIFT, _NOISE = 10.0, 0.5, 0.1
"""Largest rotation in degrees, largest shift in pixels, standard deviation of the noise."""

Digits: TypeAlias = tuple[Images, Ints]  # images with their digits


@cache
def load() -> tuple[Digits, Digits]:
    dataset = require("sklearn.datasets", extra="demo", source=SOURCE).load_digits()
    images: Images = np.asarray(dataset.images, dtype=np.float64) / 16
    digits, half = np.asarray(dataset.target, dtype=np.int64), len(images) // 2
    return (images[:half], digits[:half]), (images[half:], digits[half:])


def perturbed(images: Images, uniform: NDArray[np.float64]) -> Images:
    angle = np.deg2rad(_TURN * (2 * uniform[:, 0] - 1))
    shift = _SHIFT * (2 * uniform[:, 1:3] - 1)
    radius, turn = uniform[:, 3:].reshape(len(images), 2, SIDE, SIDE).swapaxes(0, 1)
    noise, _ = normals(radius, turn)
    middle = (SIDE - 1) / 2
    row, column = np.mgrid[:SIDE, :SIDE] - middle
    cos, sin = np.cos(angle)[:, None, None], np.sin(angle)[:, None, None]
    there = np.broadcast_arrays(
        np.arange(len(images))[:, None, None],
        cos * row + sin * column + middle - shift[:, 0, None, None],
        cos * column - sin * row + middle - shift[:, 1, None, None],
    )
    # Pixels outside of an image are 0.
    moved = map_coordinates(images, np.stack(there), order=1, mode="grid-constant")
    return np.clip(moved + _NOISE * noise, 0, 1)


def _flat(images: Images) -> Images:
    return images.reshape(len(images), -1)


def _fitted(images: Images, target: NDArray[np.generic]) -> Any:  # Any: scikit-learn has no types
    linear = require("sklearn.linear_model", extra="demo", source=SOURCE)
    with one_thread():
        return linear.LogisticRegression(C=1.0, max_iter=2000).fit(_flat(images), target)


def _cells(
    values: NDArray[np.float64], examples: NDArray[np.str_], **attributes: str
) -> xr.DataArray:
    coords = {names.EXAMPLE: examples, names.LABEL: text_array(LABELS)}
    return xr.DataArray(values, coords, list(coords), "predictions", attributes)


TRAINING = 3000
IMAGES = 2000
SINGLE = 0.25


@cache
def overlaid(seed: int) -> Data:
    train, study = load()
    seen, known = _compose(train, TRAINING, Keys(seed, "reproduce/overlaid/train"))
    images, holds = _compose(study, IMAGES, Keys(seed, "reproduce/overlaid/study"))
    values = [_fitted(seen, target).predict_proba(_flat(images))[:, 1] for target in known.T]
    examples = text_array([f"image{number}" for number in range(1, IMAGES + 1)])
    return Data(
        name="digits",
        about=f"{counted(IMAGES)} images of one or two overlaid digits, ten logistic regressions "
        f"fitted to {counted(TRAINING)} others",
        predictions=_cells(np.stack(values, axis=1), examples, scale="independent"),
        plausibilities=_cells(holds / holds.sum(axis=1, keepdims=True), examples),
    )


def _compose(source: Digits, count: int, keys: Keys) -> tuple[Images, Bools]:
    """Return images of one or two digits, the darker pixel of both, and which digits they hold."""
    images, digits = source
    uniform = keys.uniform(hash_names(range(count)), 3)
    first, second = np.floor(uniform[:, :2] * len(digits)).astype(np.int64).T
    second = np.where(uniform[:, 2] < SINGLE, first, second)
    one_of, every = np.eye(len(LABELS), dtype=np.bool_), np.maximum(images[first], images[second])
    return every, one_of[digits[first]] | one_of[digits[second]]


def label_sets(study: Study) -> xr.Dataset:
    data, method = study.data, monte_carlo()
    over = study.compared({"": method}).isel({METHOD: 0}, drop=True)
    rows = study.rows(0)
    test = data.predictions[rows]
    predictor = study.calibrated(rows, method, seed=study.seed)
    sets = predictor.predict_array(test.values, study.alpha)
    shares = data.plausibilities.values[rows]
    base = coverage.aggregated(data.predictions.values >= 0.5, data.plausibilities.values)
    return xr.Dataset(
        {
            "aggregated_coverage": over["aggregated_coverage"].variable,
            "set_size": over["set_size"].variable,
            "coverage_at_one_half": ((), float(base.mean())),
            "realised": (names.EXAMPLE, coverage.aggregated(sets, shares)),
            "labels": (names.EXAMPLE, (shares > 0).sum(axis=1)),
            "size": (names.EXAMPLE, coverage.sizes(sets)),
        },
        coords={SPLIT: over[SPLIT], names.EXAMPLE: test[names.EXAMPLE].values},
    )


def draw_label_sets(numbers: xr.Dataset) -> Drawing:
    drawn = figure.new_page(11, 3.6)
    first, second, third = drawn.subplots(1, 3)
    values, level = numbers["aggregated_coverage"].values, figure.wanted(numbers)
    label = f"aggregated, mean {values.mean():.3f}"
    bins = np.histogram_bin_edges([*values, level], 25)
    style.histogram(first, values, bins, style.AGGREGATED, label)
    framed(first, "aggregated coverage (share)", "splits", "over splits", level=level, room=0.3)
    realised, sizes = numbers["realised"].values, numbers["size"].values
    for count, look in ((1, style.OTHERS[3]), (2, style.AGGREGATED)):
        of_some = realised[numbers["labels"].values == count]
        label = "one digit" if count == 1 else "two digits"
        style.histogram(second, of_some, np.linspace(-0.25, 1.25, 4), look, label)
    framed(second, "realised coverage of an image (share)", "test images", "one split")
    heights = np.bincount(sizes, minlength=11)
    style.bars(third, np.arange(11.0), heights, 0.8, style.SIZE, "sets")
    title = f"one split: mean set size {sizes.mean():.2f}"
    framed(third, "labels in a set", "test images", title, key="")
    return figure.finish(drawn, "Label sets: 90% of the mass, not of every image", numbers)


def claim_label_sets(numbers: xr.Dataset, level: float) -> Claim:
    values, realised = numbers["aggregated_coverage"].values, numbers["realised"].values
    partly = float(((realised > 0) & (realised < 1)).mean())
    base = float(numbers["coverage_at_one_half"])
    return Claim(
        says=f"Monte Carlo on label sets covers {level:g} of the mass on average, with sets "
        "that hold only some of the digits of some images; the classifiers alone cover less",
        measured=f"aggregated {mean_spread(values)}, mean set size "
        f"{float(numbers['set_size'].mean()):.2f}; covered in part {decimal(partly)}; "
        f"classifiers at one half {decimal(base)}",
        parts={
            f"at {level:g}": close(values, level),
            "some in part": partly > 0,
            "classifiers alone less": base < level,
        },
    )


MULTI_LABEL = Figure(overlaid, ALPHA, label_sets, draw_label_sets, claim_label_sets)

AUGMENTATIONS = 25
COUNTS = (1, 2, 10)
RISE = 0.03
COUNT = "images_an_example"
POOLED = {"name": "augmentation", "scores": "pooled"}
_LOOKS = {"original": style.VOTED, "augmented": style.AGGREGATED}
_COVERED, _SIZES = (
    tuple((f"{measure}_{images}", f"{images}, ", look) for images, look in _LOOKS.items())
    for measure in ("coverage", "set_size")
)


@cache
def every_view(seed: int) -> tuple[xr.DataArray, NDArray[np.bool_]]:
    """Return predictions of originals and augmentations, and which labels are the digits."""
    train, (originals, digits) = load()
    model = _fitted(*train)
    examples = text_array([f"digit{number}" for number in range(1, len(digits) + 1)])
    hashes, keys = hash_names(examples), Keys(seed, "reproduce/augmentation")
    uniform = (keys.child(str(j)).uniform(hashes, UNIFORMS) for j in range(AUGMENTATIONS))
    images = [originals, *(perturbed(originals, each) for each in uniform)]
    arrays = [
        _cells(model.predict_proba(_flat(each)), examples, scale="probability") for each in images
    ]
    numbered = xr.Variable(names.AUGMENTATION, text_array([str(j) for j in range(len(images))]))
    return xr.concat(arrays, numbered), np.eye(len(LABELS), dtype=np.bool_)[digits]


def _accuracy(seed: int) -> tuple[float, float]:
    views, known = every_view(seed)
    hit = views.values.argmax(axis=2) == known.argmax(axis=1)
    return float(hit[0].mean()), float(hit[1:].mean())


@cache
def augmented(seed: int) -> Data:
    views, known = every_view(seed)
    original, others = _accuracy(seed)
    return Data(
        name="digits",
        about=f"{counted(len(known))} digits, {AUGMENTATIONS} augmentations each, a logistic "
        f"regression right on {decimal(original, 2)} of originals and "
        f"{decimal(others, 2)} of augmentations",
        predictions=views[0].reset_coords(drop=True),
        plausibilities=_cells(known.astype(np.float64), views[names.EXAMPLE].values),
    )


def augmentation(study: Study) -> xr.Dataset:
    views, known = every_view(study.seed)
    measures = [name for name, _, _ in (*_COVERED, *_SIZES)]

    def measure(_: int, rows: Bools) -> Images:
        test, results = views.values[:, rows], []
        for count in COUNTS:
            few, plausibilities = views[:count, ~rows], study.data.plausibilities[~rows]
            predictor = calibrate(few, plausibilities, calibrator=POOLED)
            flat = test.reshape(-1, test.shape[-1])
            sets = predictor.predict_array(flat, study.alpha).reshape(test.shape)
            covered, sizes = (sets & known[rows]).sum(axis=2), sets.sum(axis=2)
            parts = (covered[0], covered[1:], sizes[0], sizes[1:])
            results.append([part.mean() for part in parts])
        return np.transpose(results)

    arrays = zip(measures, study.over_splits(measure), strict=True)
    original, others = _accuracy(study.seed)
    return xr.Dataset(
        {
            **{name: ((COUNT, SPLIT), values) for name, values in arrays},
            "accuracy_original": ((), original),
            "accuracy_augmented": ((), others),
        },
        {COUNT: list(COUNTS), SPLIT: np.arange(study.splits)},
    )


def draw_augmentation(numbers: xr.Dataset) -> Drawing:
    extra = ["only", *(f"and {count - 1} augmented" for count in COUNTS[1:])]
    columns = {
        f"m = {count}: original {more}": numbers.sel({COUNT: count})
        for count, more in zip(COUNTS, extra, strict=True)
    }
    title = "Calibrated on augmented images too"
    return figure.draw_columns(columns, title, numbers, covered=_COVERED, sizes=_SIZES)


def claim_augmentation(numbers: xr.Dataset, level: float) -> Claim:
    there = numbers["coverage_augmented"].mean(SPLIT).values
    sizes = numbers["set_size_augmented"].mean(SPLIT).values
    plain = numbers["coverage_original"].values[0]
    first_rise, second_rise = float(there[1] - there[0]), float(there[2] - there[0])
    by_count = ", ".join(
        f"m = {count} {decimal(float(covered))} with {size:.2f} labels"
        for count, covered, size in zip(COUNTS, there, sizes, strict=True)
    )
    return Claim(
        says=f"calibrated on originals, sets cover originals at {level:g} and augmented "
        "images less; calibrated on augmented ones too they cover clearly more of these, with "
        "larger sets, the more the more augmentations calibrate",
        measured=f"originals by originals {mean_spread(plain)}; augmented: {by_count}; a rise of "
        f"{decimal(first_rise)} and {decimal(second_rise)}",
        parts={
            f"originals at {level:g}": close(plain, level),
            "augmented less": float(there[0]) < level - RISE,
            f"a rise of {RISE:g} or more for m = {COUNTS[1]}": first_rise >= RISE,
            f"and for m = {COUNTS[2]} more": second_rise > first_rise,
            "larger sets": bool((np.diff(sizes) > 0).all()),
        },
    )


AUGMENTATION = Figure(augmented, ALPHA, augmentation, draw_augmentation, claim_augmentation)
