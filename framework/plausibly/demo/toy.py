"""Three overlapping Gaussians, whose true posterior is known: why a vote misleads, in a picture.

The toy of Stutz et al., *Conformal prediction under ambiguous ground truth*, TMLR 2023, section
2.2: a label Y with P(Y = k) = w_k, then a point X ~ N(mu_k, diag(sigma_k^2)) in the plane. Points
between the means are ambiguous, and Bayes' rule says by how much. Many annotators would agree on
the most plausible label, and their vote hides the rest.
"""

from __future__ import annotations

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.data import names
from plausibly.data.names import text_array
from plausibly.errors import InputError, counted
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Hashes

AXIS = "axis"

LABELS = ("red", "green", "blue")
WEIGHTS = np.array([0.4, 0.35, 0.25])
MEANS = np.array([[0.38, 0.44], [0.62, 0.47], [0.49, 0.64]])
SIGMAS = np.array([[0.10, 0.10], [0.12, 0.10], [0.09, 0.11]])

TRAINING = 200

Reals = NDArray[np.float64]


@attrs.frozen(kw_only=True, eq=False)
class Toy:
    """Examples with everything that is hidden elsewhere.

    Attributes
    ----------
    predictions : DataArray, (example, label)
        Probabilities of a linear discriminant that was fitted to other examples.
    plausibilities : DataArray, (example, label)
        The true posterior P(Y = k | X = x).
    true : DataArray, (example)
        The label that each point was drawn from.
    points : DataArray, (example, axis)
        The points in the plane.
    """

    predictions: xr.DataArray
    plausibilities: xr.DataArray
    true: xr.DataArray
    points: xr.DataArray


def make_toy(examples: int = 2000, *, seed: int = 1) -> Toy:
    """Return `examples` drawn examples; the first ones do not depend on how many there are.

    Parameters
    ----------
    examples : int
        How many; at least 1.
    seed : int
        Seed of points, labels and training points.

    Raises
    ------
    InputError
        ``count-too-small`` for less than one example.
    """
    if examples < 1:
        raise InputError(
            "count-too-small",
            f"the toy cannot have {counted(examples)} examples",
            expected="1 or more",
            got=counted(examples),
            do="examples=2000",
            whose="the toy",
        )
    keys = Keys(seed, "toy")
    example = text_array([f"x{i}" for i in range(1, examples + 1)])
    training = hash_names(f"t{i}" for i in range(1, TRAINING + 1))
    means, variance, shares = fit(*draw(training, keys))
    labels, points = draw(hash_names(example), keys)
    coords = {names.EXAMPLE: example, names.LABEL: text_array(LABELS)}
    dims = (names.EXAMPLE, names.LABEL)
    predictions = xr.DataArray(
        posterior(points, means, np.full_like(means, np.sqrt(variance)), shares),
        dims=dims,
        coords=coords,
        name="predictions",
        attrs={names.SCALE: "probability"},
    )
    plausibilities = xr.DataArray(
        posterior(points, MEANS, SIGMAS, WEIGHTS), dims=dims, coords=coords, name="plausibilities"
    )
    return Toy(
        predictions=predictions,
        plausibilities=plausibilities,
        true=xr.DataArray(
            coords[names.LABEL][labels],
            dims=names.EXAMPLE,
            coords={names.EXAMPLE: example},
            name="true",
        ),
        points=xr.DataArray(
            points,
            dims=(names.EXAMPLE, AXIS),
            coords={names.EXAMPLE: example, AXIS: text_array(["first", "second"])},
            name="points",
        ),
    )


def draw(hashes: Hashes, keys: Keys) -> tuple[NDArray[np.intp], Reals]:
    """Return label codes (example,) and points (example, 2), from the examples' own uniforms.

    The normals are those of Box and Muller (1958): sqrt(-2 log(1 - u)) (cos 2 pi v, sin 2 pi v).
    """
    pick, radius, angle = keys.uniform(hashes, 3).T
    labels = np.searchsorted(np.cumsum(WEIGHTS)[:-1], pick, side="right")
    length = np.sqrt(-2 * np.log1p(-radius))
    normals = length[:, None] * np.stack(
        [np.cos(2 * np.pi * angle), np.sin(2 * np.pi * angle)], axis=1
    )
    return labels, MEANS[labels] + SIGMAS[labels] * normals


def posterior(points: Reals, means: Reals, sigmas: Reals, weights: Reals) -> Reals:
    """Return P(Y = k | X = x), (example, label), by Bayes' rule for Gaussians with these moments.

    Proportional to w_k prod_d exp(-((x_d - mu_kd) / sigma_kd)^2 / 2) / sigma_kd.
    """
    steps = (points[:, None, :] - means) / sigmas
    logs = np.log(weights) - np.log(sigmas).sum(axis=1) - (steps**2).sum(axis=2) / 2
    shares = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def fit(labels: NDArray[np.intp], points: Reals) -> tuple[Reals, float, Reals]:
    """Return means, the pooled variance and shares of the labels: a linear discriminant.

    It takes all Gaussians for equally wide and round, which they are not: a good model, and wrong.
    """
    counts = np.bincount(labels, minlength=len(LABELS))
    members = np.eye(len(LABELS))[labels]
    means = members.T @ points / counts[:, None]
    variance = float(np.mean((points - means[labels]) ** 2))
    return means, variance, counts / counts.sum()
