"""Small worlds with every nuisance at once: ties, two float widths, votes, odd alphas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import xarray as xr
from hypothesis import strategies as st
from numpy.typing import NDArray

from plausibly.kernels.types import Floats
from tables import labelled, shares

SPECIAL_ALPHAS = ("0.1", "0.29", "0.57", "0.7", "0.05", "0.2", "0.3", "0.5", "0.000001", "0.999999")


@dataclass(frozen=True)
class World:
    """Inputs of a user, with their exact plausibilities."""

    predictions: xr.DataArray
    plausibilities: xr.DataArray
    test: xr.DataArray
    masses: tuple[tuple[Fraction, ...], ...]
    counted: bool
    draws: int
    seed: int
    alphas: tuple[str, ...]

    @property
    def scores(self) -> list[list[float]]:
        """Calibration scores as Python floats, exactly (the score is the probability itself)."""
        rows: list[list[float]] = self.predictions.values.tolist()
        return rows

    @property
    def test_scores(self) -> list[list[float]]:
        rows: list[list[float]] = self.test.values.tolist()
        return rows

    @property
    def names(self) -> list[str]:
        return [str(name) for name in self.predictions["example"].values]


def table(values: Floats, names: Sequence[str], labels: Sequence[str]) -> xr.DataArray:
    return labelled(values, list(names), list(labels), attrs={"scale": "any"})


def plausibilities_of(
    votes: NDArray[np.int64], names: list[str], labels: list[str], *, counted: bool
) -> xr.DataArray:
    """Return shares of votes; `counted` says what their denominators are."""
    return shares(votes, names, labels, counted=counted)


def exact_masses(plausibilities: xr.DataArray) -> tuple[tuple[Fraction, ...], ...]:
    """Return each plausibility as the fraction that its double is."""
    return tuple(tuple(Fraction(float(value)) for value in row) for row in plausibilities.values)


def alpha_texts() -> st.SearchStrategy[str]:
    """Return decimals in (0, 1) with one to six decimals, as a user types them."""
    typed = st.integers(1, 6).flatmap(
        lambda digits: st.integers(1, 10**digits - 1).map(lambda units: f"0.{units:0{digits}d}")
    )
    return st.one_of(st.sampled_from(SPECIAL_ALPHAS), typed)


@st.composite
def worlds(
    draw: st.DrawFn, *, most: int = 40, draws: int = 12, alphas: int = 4, counted: bool = True
) -> World:
    """Return worlds of up to `most` calibration examples, 6 labels, `draws` draws."""
    n, k, t = draw(st.integers(1, most)), draw(st.integers(1, 6)), draw(st.integers(1, 5))
    dtype = np.dtype(draw(st.sampled_from([np.float32, np.float64])))
    values = draw(st.sampled_from([2, 3, 6, 1000]))
    # Tenths are not doubles, and their float32 differs from their float64.
    scale = draw(st.sampled_from([0.1, 0.125, -0.3]))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scores = (random.integers(values, size=(n + t, k)) * scale).astype(dtype)
    votes = np.zeros((n, k), dtype=np.int64)
    for i in range(n):
        annotators = int(random.integers(1, 13))
        np.add.at(votes[i], random.integers(k, size=annotators), 1)
        if random.random() < 0.2:
            votes[i] = np.eye(k, dtype=np.int64)[random.integers(k)] * annotators
    names = [f"case {i}" for i in range(n)]
    labels = [f"label {i}" for i in range(k)]
    plausibilities = plausibilities_of(votes, names, labels, counted=counted)
    masses = tuple(tuple(Fraction(int(v), int(row.sum())) for v in row) for row in votes)
    texts = st.lists(alpha_texts(), min_size=2, max_size=alphas, unique_by=Fraction)
    return World(
        predictions=table(scores[:n], names, labels),
        plausibilities=plausibilities,
        test=table(scores[n:], [f"new {i}" for i in range(t)], labels),
        masses=masses if counted else exact_masses(plausibilities),
        counted=counted,
        draws=draw(st.integers(1, draws)),
        seed=draw(st.integers(0, 1000)),
        alphas=tuple(draw(texts)),
    )
