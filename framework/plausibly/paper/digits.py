"""Handwritten digits that come with scikit-learn, overlaid and perturbed for two case studies.

1,797 images of 8 by 8 pixels (Alpaydin & Kaynak 1998). The first half trains models, the second
half is what studies are made of.
"""

from __future__ import annotations

from functools import cache

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.extras import require
from plausibly.kernels.types import Ints
from plausibly.paper.data import WHOSE

Images = NDArray[np.float64]
SIDE = 8
LABELS = tuple(map(str, range(10)))

_TURN, _SHIFT, _NOISE = 10.0, 0.5, 0.1
"""Most degrees of a rotation, most pixels of a shift, standard deviation of the noise of pixels."""


@attrs.frozen(kw_only=True, eq=False)
class Digits:
    """Images with their digits.

    Attributes
    ----------
    images : ndarray, (image, row, column)
        Ink of each pixel, from 0 to 1.
    digits : ndarray of int, (image,)
    """

    images: Images
    digits: Ints


@cache
def load() -> tuple[Digits, Digits]:
    """Return images to train on, and other ones to study.

    Raises
    ------
    MissingExtra
        ``extra-missing`` without scikit-learn.
    """
    found = require("sklearn.datasets", extra="demo", whose=WHOSE).load_digits()
    images: Images = np.asarray(found.images, dtype=np.float64) / 16
    digits: Ints = np.asarray(found.target, dtype=np.int64)
    half = len(images) // 2
    return (
        Digits(images=images[:half], digits=digits[:half]),
        Digits(images=images[half:], digits=digits[half:]),
    )


def perturbed(images: Images, uniform: NDArray[np.float64]) -> Images:
    """Return each image rotated, shifted and with noise.

    Parameters
    ----------
    images : ndarray, (image, row, column)
    uniform : ndarray, (image, 3 + 2 row column)
        In [0, 1): angle, shifts, and pairs for the noise of each pixel (Box & Muller 1958).
    """
    count = len(images)
    angle = np.deg2rad(_TURN * (2 * uniform[:, 0] - 1))
    shift = _SHIFT * (2 * uniform[:, 1:3] - 1)
    pairs = uniform[:, 3:].reshape(count, 2, SIDE, SIDE)
    noise = np.sqrt(-2 * np.log1p(-pairs[:, 0])) * np.cos(2 * np.pi * pairs[:, 1])
    blurred: Images = np.clip(_moved(images, angle, shift) + _NOISE * noise, 0, 1)
    return blurred


def uniforms_needed() -> int:
    """Return how many uniforms `perturbed` takes an image."""
    return 3 + 2 * SIDE * SIDE


def _moved(images: Images, angle: NDArray[np.float64], shift: NDArray[np.float64]) -> Images:
    """Return images turned about their middle and shifted, by bilinear interpolation."""
    middle = (SIDE - 1) / 2
    row, column = np.meshgrid(np.arange(SIDE) - middle, np.arange(SIDE) - middle, indexing="ij")
    cos, sin = np.cos(angle)[:, None, None], np.sin(angle)[:, None, None]
    there = (
        cos * row + sin * column + middle - shift[:, 0, None, None],
        cos * column - sin * row + middle - shift[:, 1, None, None],
    )
    low = [np.floor(axis).astype(np.int64) for axis in there]
    part = [axis - start for axis, start in zip(there, low, strict=True)]
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    image = np.arange(len(images))[:, None, None]
    found = np.zeros_like(images)
    for down in (0, 1):
        for right in (0, 1):
            weight = (part[0] if down else 1 - part[0]) * (part[1] if right else 1 - part[1])
            # One pixel of nothing around each image: what lies outside of it is nothing too.
            at = [
                np.clip(start + step + 1, 0, SIDE + 1)
                for start, step in zip(low, (down, right), strict=True)
            ]
            found += weight * padded[image, at[0], at[1]]
    return found
