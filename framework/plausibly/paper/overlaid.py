"""Section 4.2: images with up to two overlaid digits, ten small classifiers, label sets.

Plausibilities share the mass equally among an image's digits. Sets cover 90 % of that mass on
average, and decide themselves how many of an image's digits they cover.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly import registry
from plausibly.conformal.aggregate import aggregate
from plausibly.data import names
from plausibly.data.names import text_array
from plausibly.errors import counted
from plausibly.evaluation.design import MethodTable
from plausibly.extras import require
from plausibly.kernels import coverage
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Bools, Ints
from plausibly.palette import BLUE, GREY, INK, VERMILION
from plausibly.paper import page, splitting
from plausibly.paper.data import LABELS, WHOSE, Data, Digits, load, one_thread
from plausibly.paper.page import Asked, Claim, Drawing, close, decimal, mean_spread
from plausibly.protocols import ANNOTATION

ALPHA = "0.1"
TRAINING = 3000
IMAGES = 2000
SINGLE = 0.25
MONTE_CARLO: MethodTable = {"calibrator": "monte-carlo", "draws": splitting.DRAWS}
SHOWN = 2


@attrs.frozen(kw_only=True, eq=False)
class Overlaid:
    """Images, what is in them, and what ten classifiers say."""

    images: NDArray[np.float64]
    holds: Bools
    data: Data


@cache
def overlaid(seed: int) -> Overlaid:
    """Return the images of the study with predictions of classifiers that saw other digits."""
    linear = require("sklearn.linear_model", extra="demo", whose=WHOSE)
    train, study = load()
    seen, known = _compose(train, TRAINING, Keys(seed, "reproduce/overlaid/train"))
    images, holds = _compose(study, IMAGES, Keys(seed, "reproduce/overlaid/study"))
    values = np.zeros(holds.shape)
    for digit in range(holds.shape[1]):
        model: Any = linear.LogisticRegression(C=1.0, max_iter=2000)  # Any: it has no types
        with one_thread():
            model.fit(seen.reshape(len(seen), -1), known[:, digit])
        values[:, digit] = model.predict_proba(images.reshape(len(images), -1))[:, 1]
    examples = text_array([f"image{number}" for number in range(1, IMAGES + 1)])
    kind = registry.resolve(ANNOTATION, "label-set")
    table = kind.build(
        (
            (example, None, [LABELS[digit] for digit in np.flatnonzero(row)])
            for example, row in zip(examples.tolist(), holds, strict=True)
        ),
        LABELS,
    )
    lam = aggregate(table).sel({names.EXAMPLE: examples})
    predictions = xr.DataArray(
        values,
        dims=(names.EXAMPLE, names.LABEL),
        coords={names.EXAMPLE: examples, names.LABEL: text_array(LABELS)},
        name="predictions",
        attrs={names.SCALE: "independent"},
    )
    about = (
        f"{counted(IMAGES)} images of one or two overlaid digits, ten logistic regressions fitted "
        f"to {counted(TRAINING)} others"
    )
    data = Data(name="digits", about=about, predictions=predictions, plausibilities=lam)
    return Overlaid(images=images, holds=holds, data=data)


@attrs.frozen(kw_only=True)
class MultiLabel:
    """Aggregated coverage of label sets, and how it is shared out among images."""

    def measure(self, asked: Asked) -> xr.Dataset:
        """Return coverage over splits, and of one split all about its test images."""
        made = overlaid(asked.seed)
        data, alpha = made.data, asked.alpha or ALPHA
        study = splitting.compared(data, {"": MONTE_CARLO}, asked, alpha).isel(method=0, drop=True)
        rows = splitting.one_split(data, asked.seed, 0)
        test, lam = data.predictions[rows], data.plausibilities.values[rows]
        predictor = splitting.calibrated(data, ~rows, MONTE_CARLO, seed=asked.seed)
        sets = predictor.predict_array(test.values, alpha)
        covered, counts = coverage.aggregated(sets, lam), made.holds[rows].sum(axis=1)
        base = coverage.aggregated(data.predictions.values >= 0.5, data.plausibilities.values)
        few = _few(covered, counts)
        return xr.Dataset(
            {
                "aggregated_coverage": study["aggregated_coverage"].variable,
                "set_size": study["set_size"].variable,
                "coverage_at_one_half": ((), float(base.mean())),
                "realised": (names.EXAMPLE, covered),
                "labels": (names.EXAMPLE, counts),
                "size": (names.EXAMPLE, coverage.sizes(sets)),
                "shown_image": (("shown", "row", "column"), made.images[rows][few]),
                "shown_holds": (("shown", names.LABEL), made.holds[rows][few]),
                "p_value": (("shown", names.LABEL), predictor.p_values(test[few]).values),
            },
            coords={
                "split": study["split"],
                names.EXAMPLE: test[names.EXAMPLE].values,
                names.LABEL: test[names.LABEL].values,
                "shown": test[names.EXAMPLE].values[few],
            },
            attrs=study.attrs,
        )

    def draw(self, numbers: xr.Dataset) -> Drawing:
        """Return coverage, its shares and sizes above; two images with their p-values below."""
        drawn = page.new_page(11, 6.4)
        above, below = drawn.subfigures(2, 1)
        first, second, third = above.subplots(1, 3)
        values = numbers["aggregated_coverage"].values
        wanted = 1 - numbers.attrs[names.ALPHA]
        edges = page.edges([values, np.array([wanted])], bins=25)
        page.histogram(
            first, values, edges, page.AGGREGATED, f"aggregated, mean {values.mean():.3f}"
        )
        page.target(first, wanted)
        page.tidy(first, x="aggregated coverage (share)", y="splits", title="over splits")
        page.headroom(first)
        page.legend(first, place="upper left")
        _realised(second, numbers)
        sizes = numbers["size"].values
        bins = np.bincount(sizes, minlength=11)
        third.bar(np.arange(bins.size), bins, color=page.SIZE.colour, edgecolor=INK, linewidth=0.5)
        page.tidy(
            third,
            x="labels in a set",
            y="test images",
            title=f"one split: mean set size {sizes.mean():.2f}",
        )
        third.set_xticks(range(0, 11, 2))
        panels = below.subplots(1, 2 * SHOWN, width_ratios=(1, 2) * SHOWN)
        alpha = numbers.attrs[names.ALPHA]
        for place in range(SHOWN):
            _image(panels[2 * place], panels[2 * place + 1], numbers.isel(shown=place), alpha)
        title = "Label sets: 90 % of the mass, not of every image"
        return page.finish(drawn, title, numbers)

    def claim(self, numbers: xr.Dataset) -> Claim:
        """Return whether the level is reached, and how it is shared out."""
        wanted = 1 - numbers.attrs[names.ALPHA]
        values = numbers["aggregated_coverage"].values
        realised = numbers["realised"].values
        partly = float(((realised > 0) & (realised < 1)).mean())
        base = float(numbers["coverage_at_one_half"])
        return Claim(
            says=f"Monte Carlo on label sets covers {wanted:g} of the mass on average, with sets "
            "that hold only some of the digits of some images; the classifiers alone cover less",
            measured=f"aggregated {mean_spread(values)}, mean set size "
            f"{float(numbers['set_size'].mean()):.2f}; covered in part {decimal(partly)}; "
            f"classifiers at one half {decimal(base)}",
            parts={
                f"at {wanted:g}": close(float(values.mean()), wanted),
                "some in part": partly > 0,
                "classifiers alone less": base < wanted,
            },
        )


MULTI_LABEL = MultiLabel()


def _compose(source: Digits, count: int, keys: Keys) -> tuple[NDArray[np.float64], Bools]:
    """Return images of one or two digits, the darker pixel of both, and which digits they hold."""
    uniform = keys.uniform(hash_names(range(count)), 3)
    one, two = (np.floor(uniform[:, i] * len(source.digits)).astype(np.int64) for i in (0, 1))
    two = np.where(uniform[:, 2] < SINGLE, one, two)
    images = np.maximum(source.images[one], source.images[two])
    holds = np.zeros((count, len(LABELS)), dtype=np.bool_)
    holds[np.arange(count), source.digits[one]] = True
    holds[np.arange(count), source.digits[two]] = True
    return images, holds


def _few(covered: NDArray[np.float64], counts: Ints) -> Ints:
    """Return the first image of two digits covered in part, and the first wholly covered."""
    two = counts == 2
    partly = np.flatnonzero(two & (covered > 0) & (covered < 1))
    wholly = np.flatnonzero(two & (covered >= 1))
    # Where one kind is missing, any two images stand in.
    return np.array([*partly[:1], *wholly[:1], 0, 1])[:SHOWN]


def _realised(panel: page.Panel, numbers: xr.Dataset) -> None:
    """Draw how many images are covered by how much, by the number of their digits."""
    realised, labels = numbers["realised"].values, numbers["labels"].values
    levels = (0.0, 0.5, 1.0)
    for offset, count, look in ((-0.06, 1, page.OTHERS[3]), (0.06, 2, page.AGGREGATED)):
        there = realised[labels == count]
        bars = panel.bar(
            np.array(levels) + offset,
            [int((np.abs(there - level) < 0.25).sum()) for level in levels],
            0.11,
            facecolor=f"{look.colour}40",
            edgecolor=look.colour,
            hatch=look.hatch,
            label="one digit" if count == 1 else "two digits",
        )
        panel.bar_label(bars, fontsize=page.SMALL)
    panel.set_xticks(levels)
    page.tidy(panel, x="realised coverage of an image (share)", y="test images", title="one split")
    page.legend(panel, place="upper left")


def _image(picture: page.Panel, panel: page.Panel, one: xr.Dataset, alpha: float) -> None:
    """Draw an image beside the p-values of the digits; those that it holds in full colour."""
    picture.imshow(one["shown_image"].values, cmap="gray_r")
    picture.set_xticks([])
    picture.set_yticks([])
    holds, p = one["shown_holds"].values, one["p_value"].values
    said = " and ".join(str(label) for label in one[names.LABEL].values[holds])
    picture.set_title(f"holds {said}", fontsize=10, loc="left", color=INK)
    place = np.arange(len(p))
    panel.bar(place[holds], p[holds], color=BLUE, label="in the image")
    panel.bar(place[~holds], p[~holds], color="white", edgecolor=GREY, label="not in it")
    panel.axhline(alpha, color=VERMILION, linestyle="--", linewidth=1.2, label=f"alpha {alpha:g}")
    panel.set_xticks(place, [str(label) for label in one[names.LABEL].values])
    page.tidy(panel, x="digit", y="p-value", title="in the set: p-value above alpha")
    page.headroom(panel, 0.35)
    page.legend(panel, place="upper left", columns=3)
