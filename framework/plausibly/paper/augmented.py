"""Section 4.3: calibrated on augmented images too, sets cover augmented images.

Digits turned, shifted and with noise. A calibration on originals alone covers new originals; one
on the original and m - 1 augmentations of each image, pooled, covers more of the augmented ones.
"""

from __future__ import annotations

from functools import cache

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.conformal.calibrate import calibrate
from plausibly.data import names
from plausibly.data.names import text_array
from plausibly.errors import counted
from plausibly.extras import require
from plausibly.kernels.random import Keys, hash_names
from plausibly.paper import data, page, splitting
from plausibly.paper.data import WHOSE, Data, one_thread
from plausibly.paper.page import Asked, Claim, Drawing, close, decimal, mean_spread

ALPHA = "0.1"
AUGMENTATIONS = 25
COUNTS = (1, 2, 10)
RISE = 0.03
COUNT, SPLIT = "images_an_example", "split"
POOLED = {"name": "augmentation", "scores": "pooled"}
_COVERED = (
    ("coverage_original", "original", page.VOTED),
    ("coverage_augmented", "augmented", page.AGGREGATED),
)
_SIZES = (
    ("set_size_original", "original", page.VOTED),
    ("set_size_augmented", "augmented", page.AGGREGATED),
)
_MEASURES = tuple(name for name, _, _ in _COVERED + _SIZES)


@attrs.frozen(kw_only=True, eq=False)
class Augmented:
    """Predictions of originals and augmentations, and the digits."""

    predictions: xr.DataArray
    data: Data
    accuracy: tuple[float, float]


@cache
def augmented(seed: int) -> Augmented:
    """Return what a classifier that was fitted to other originals says of every image."""
    linear = require("sklearn.linear_model", extra="demo", whose=WHOSE)
    train, study = data.load()
    model = linear.LogisticRegression(C=1.0, max_iter=2000)
    with one_thread():
        model.fit(train.images.reshape(len(train.images), -1), train.digits)
    count = len(study.images)
    examples = text_array([f"digit{number}" for number in range(1, count + 1)])
    hashes, keys = hash_names(examples), Keys(seed, "reproduce/augmentation")
    every = [study.images]
    for number in range(AUGMENTATIONS):
        uniform = keys.child(str(number)).uniform(hashes, data.uniforms_needed())
        every.append(data.perturbed(study.images, uniform))
    values = np.stack(
        [model.predict_proba(images.reshape(count, -1)).astype(np.float64) for images in every]
    )
    hit = values.argmax(axis=2) == study.digits
    coords = {names.EXAMPLE: examples, names.LABEL: text_array(data.LABELS)}
    predictions = xr.DataArray(
        values,
        dims=(names.AUGMENTATION, names.EXAMPLE, names.LABEL),
        coords={names.AUGMENTATION: text_array([str(j) for j in range(len(every))]), **coords},
        name="predictions",
        attrs={names.SCALE: "probability"},
    )
    sure = (study.digits[:, None] == np.arange(len(data.LABELS))).astype(np.float64)
    accuracy = float(hit[0].mean()), float(hit[1:].mean())
    return Augmented(
        predictions=predictions,
        data=Data(
            name="digits",
            about=f"{counted(count)} digits, {AUGMENTATIONS} augmentations each, a logistic "
            f"regression right on {decimal(accuracy[0], 2)} of originals and "
            f"{decimal(accuracy[1], 2)} of augmentations",
            predictions=predictions[0].drop_vars(names.AUGMENTATION),
            plausibilities=xr.DataArray(sure, dims=(names.EXAMPLE, names.LABEL), coords=coords),
        ),
        accuracy=accuracy,
    )


@attrs.frozen(kw_only=True)
class Augmentation:
    """Coverage and set size on originals and augmentations, by what calibrates."""

    def measure(self, asked: Asked) -> xr.Dataset:
        """Return coverage and set size, (images an example, split)."""
        made = augmented(asked.seed)
        data, alpha = made.data, asked.alpha or ALPHA
        known = data.plausibilities.values > 0
        found = np.zeros((len(_MEASURES), len(COUNTS), asked.splits))
        for number in range(asked.splits):
            rows = splitting.one_split(data, asked.seed, number)
            test = made.predictions.values[:, rows]
            for place, count in enumerate(COUNTS):
                predictor = calibrate(
                    made.predictions[:count, ~rows],
                    data.plausibilities[~rows],
                    calibrator=POOLED,
                )
                shape = (-1, test.shape[-1])
                sets = predictor.predict_array(test.reshape(shape), alpha).reshape(test.shape)
                found[:, place, number] = _means(sets, known[rows])
            asked.tick(number + 1, asked.splits)
        return xr.Dataset(
            {
                **{
                    name: ((COUNT, SPLIT), values)
                    for name, values in zip(_MEASURES, found, strict=True)
                },
                "accuracy_original": ((), made.accuracy[0]),
                "accuracy_augmented": ((), made.accuracy[1]),
            },
            coords={COUNT: list(COUNTS), SPLIT: np.arange(asked.splits)},
            attrs=splitting.facts(data, asked, alpha),
        )

    def draw(self, numbers: xr.Dataset) -> Drawing:
        """Return coverage above and set size below, a column a number of images."""
        chosen = {_called(count): numbers.sel({COUNT: count}) for count in COUNTS}
        title = "Calibrated on augmented images too"
        return page.draw(chosen, title, numbers, covered=_COVERED, sizes=_SIZES)

    def claim(self, numbers: xr.Dataset) -> Claim:
        """Return whether augmented calibration covers augmented images better."""
        wanted = 1 - numbers.attrs[names.ALPHA]
        there = numbers["coverage_augmented"].mean(SPLIT).values
        sizes = numbers["set_size_augmented"].mean(SPLIT).values
        plain = numbers["coverage_original"].values[0]
        few, many = float(there[1] - there[0]), float(there[2] - there[0])
        said = ", ".join(
            f"m = {count} {decimal(float(one))} with {size:.2f} labels"
            for count, one, size in zip(COUNTS, there, sizes, strict=True)
        )
        return Claim(
            says=f"calibrated on originals, sets cover originals at {wanted:g} and augmented "
            "images less; calibrated on augmented ones too they cover clearly more of these, with "
            "larger sets, the more the more augmentations calibrate",
            measured=f"originals by originals {mean_spread(plain)}; augmented: {said}; a rise of "
            f"{decimal(few)} and {decimal(many)}",
            parts={
                f"originals at {wanted:g}": close(float(plain.mean()), wanted),
                "augmented less": float(there[0]) < wanted - RISE,
                f"a rise of {RISE:g} or more for m = {COUNTS[1]}": few >= RISE,
                f"and for m = {COUNTS[2]} more": many > few,
                "larger sets": bool((np.diff(sizes) > 0).all()),
            },
        )


AUGMENTATION = Augmentation()


def _called(count: int) -> str:
    extra = "only" if count == 1 else f"and {count - 1} augmented"
    return f"m = {count}: original {extra}"


def _means(sets: NDArray[np.bool_], known: NDArray[np.bool_]) -> tuple[float, ...]:
    """Return coverage of originals and augmentations, then set sizes of both."""
    covered: NDArray[np.float64] = (sets & known).sum(axis=2, dtype=np.float64)
    sizes: NDArray[np.float64] = sets.sum(axis=2, dtype=np.float64)
    return tuple(float(part.mean()) for part in (covered[0], covered[1:], sizes[0], sizes[1:]))
