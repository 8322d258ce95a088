"""Simulated examples: three overlapping Gaussians in the plane, and five annotators of each."""

from __future__ import annotations

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

LABELS = ("a", "b", "c")
ANNOTATORS = 5
RISKS = (1 / 3, 2 / 3, 1.0)

_TILT = 1.0
_MEANS = np.array([[-1.0, -0.6], [1.0, -0.6], [0.0, 0.9]])

Numbers = NDArray[np.float64]


@attrs.frozen(eq=False)
class Examples:
    """What a model and five annotators say of simulated examples.

    Attributes
    ----------
    x : ndarray, (example, 2)
    scores : ndarray, (example, label), or (augmentation, example, label)
        Probabilities of a model that is less sure than it could be.
    votes : ndarray of int, (example, label)
    coordinates : mapping of str to ndarray, (example,)
    """

    x: Numbers
    scores: Numbers
    votes: NDArray[np.int64]
    coordinates: dict[str, NDArray[np.generic]] = attrs.field(factory=dict)

    def take(self, rows: NDArray[np.intp]) -> Examples:
        """Return some examples; one may be taken several times."""
        return Examples(
            self.x[rows],
            self.scores[..., rows, :],
            self.votes[rows],
            {name: values[rows] for name, values in self.coordinates.items()},
        )

    def known(self, name: str, values: NDArray[np.generic]) -> Examples:
        """Return the same examples with one more coordinate."""
        return attrs.evolve(self, coordinates={**self.coordinates, name: values})

    def features(self, name: str) -> xr.DataArray:
        """Return the points, (example, feature)."""
        example = [f"{name} {place}" for place in range(len(self.x))]
        return xr.DataArray(
            self.x,
            dims=("example", "feature"),
            coords={"example": example, "feature": ["x", "y"]},
        )

    def tables(self, name: str = "case") -> tuple[xr.DataArray, xr.DataArray]:
        """Return predictions and plausibilities under names of their own."""
        example = [f"{name} {place}" for place in range(len(self.votes))]
        coords: dict[str, object] = {"example": example, "label": list(LABELS)}
        known = {key: ("example", values) for key, values in self.coordinates.items()}
        predictions = xr.DataArray(
            self.scores,
            dims=("augmentation", "example", "label")[-self.scores.ndim :],
            coords={**coords, **known, "risk": ("label", list(RISKS))},
            attrs={"scale": "any"},
        )
        total = np.full(len(self.votes), ANNOTATORS)
        lam = xr.DataArray(
            self.votes / ANNOTATORS,
            dims=("example", "label"),
            coords={**coords, "denominator": ("example", total)},
        )
        return predictions, lam


def posterior(x: Numbers, spread: Numbers) -> Numbers:
    """Return the probability of each Gaussian, (example, label)."""
    return _softmax(_logits(x, spread))


def _logits(x: Numbers, spread: Numbers) -> Numbers:
    squared = ((x[:, None, :] - _MEANS) ** 2).sum(axis=2)
    logits: Numbers = -squared / (2 * spread[:, None] ** 2)
    return logits


def _softmax(logits: Numbers) -> Numbers:
    shares = np.exp(logits - logits.max(axis=-1, keepdims=True))
    found: Numbers = shares / shares.sum(axis=-1, keepdims=True)
    return found


def said_of(
    x: Numbers,
    random: np.random.Generator,
    *,
    spread: Numbers | float = 1.0,
    ties: bool = False,
    noise: Numbers | None = None,
) -> Examples:
    """Return what the model and the annotators say of points.

    Parameters
    ----------
    x : ndarray, (example, 2)
    random : Generator
    spread : ndarray, (example,), or float
        How far the Gaussians spread: the larger, the less is known of an example.
    ties : bool
        The model says tenths only.
    noise : ndarray, (augmentation, example, label), optional
        Added to the logits, a layer an augmentation.
    """
    wide = np.broadcast_to(np.asarray(spread, dtype=np.float64), (len(x),))
    votes = random.multinomial(ANNOTATORS, posterior(x, wide))
    # Spreads are no secret of the annotators: the model does not know them.
    logits = 0.7 * _logits(x, np.ones(len(x)))
    scores = _softmax(logits if noise is None else logits + noise)
    return Examples(x, np.round(scores, 1) if ties else scores, votes)


def points(
    count: int, random: np.random.Generator, *, spread: Numbers | float = 1.0, tilt: float = 0.0
) -> Numbers:
    """Return points of the three Gaussians, (example, 2).

    With `tilt` their density is that of the Gaussians times ``exp(tilt x)``, where `spread` is 1.
    """
    odds = np.exp(tilt * _MEANS[:, 0])
    truth = random.choice(len(LABELS), size=count, p=odds / odds.sum())
    wide = np.broadcast_to(np.asarray(spread, dtype=np.float64), (count,))
    found: Numbers = _MEANS[truth] + wide[:, None] * random.normal(size=(count, 2))
    found[:, 0] += tilt
    return found


def plain(count: int, random: np.random.Generator, *, ties: bool = False) -> Examples:
    """Return examples that are all of one kind."""
    return said_of(points(count, random), random, ties=ties)


def sites(count: int, random: np.random.Generator, *, ties: bool = False) -> Examples:
    """Return examples of two sites, one of which sees harder ones."""
    far = random.integers(2, size=count).astype(bool)
    spread = np.where(far, 1.5, 0.6)
    found = said_of(points(count, random, spread=spread), random, spread=spread, ties=ties)
    return found.known("site", np.where(far, "far", "near"))


def augmented(
    count: int, random: np.random.Generator, *, ties: bool = False, copies: int = 3
) -> Examples:
    """Return examples with augmentations, of which each is noise on the logits."""
    noise = random.normal(size=(copies, count, len(LABELS)))
    return said_of(points(count, random), random, ties=ties, noise=noise)


def shifted(count: int, random: np.random.Generator, *, new: bool, ties: bool = False) -> Examples:
    """Return examples with the coordinate ``weight``; new ones lie further to the right.

    There annotators agree less than the model knows.
    """
    x = points(count, random, tilt=_TILT if new else 0.0)
    spread = 1 + 2 / (1 + np.exp(-4 * (x[:, 0] - 1)))
    examples = said_of(x, random, spread=spread, ties=ties)
    return examples.known("weight", np.exp(_TILT * x[:, 0]))


def patients(
    count: int, random: np.random.Generator, *, ties: bool = False, large: int = 30
) -> Examples:
    """Return all examples of patients: three in ten have many, which are alike and easy."""
    many = random.random(count) < 0.3
    sizes = np.where(many, large, 1 + random.integers(2, size=count))
    patient = np.repeat(np.arange(count), sizes)
    centre = points(count, random, spread=np.where(many, 0.4, 1.3))
    own = 0.2 * random.normal(size=(len(patient), 2))
    spread = np.where(many, 0.4, 1.3)[patient]
    found = said_of(centre[patient] + own, random, spread=spread, ties=ties)
    names = np.array([f"patient {place}" for place in range(count)])
    return found.known("patient", names[patient])


def one_each(found: Examples, random: np.random.Generator) -> Examples:
    """Return one random example of each patient."""
    order = random.permutation(len(found.votes))
    first = np.unique(found.coordinates["patient"][order], return_index=True)[1]
    return found.take(order[first])
