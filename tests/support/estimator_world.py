"""Examples of the estimator: points on a line, and readers who disagree near its middle."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

LABELS = ("benign", "malignant", "unsure")
READERS = 4


def line(count: int, *, seed: int = 0) -> tuple[NDArray[np.float64], list[list[str]]]:
    """Return two features of each example, and the answers of four readers."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(count, 2))
    logits = np.stack([-2 * x[:, 0], 2 * x[:, 0], 1.5 * x[:, 1]], axis=1)
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    votes = [[LABELS[random.choice(3, p=row)] for _ in range(READERS)] for row in shares]
    return x, votes


def majority(votes: list[list[str]]) -> NDArray[np.str_]:
    """Return the label that most readers gave, the first in order of equal ones."""
    largest: NDArray[np.str_] = np.array(LABELS)[shares(votes).argmax(axis=1)]
    return largest


def shares(votes: list[list[str]]) -> NDArray[np.float64]:
    """Return the share of the readers who gave each label, (example, label)."""
    return counts(votes) / READERS


def counts(votes: list[list[str]]) -> NDArray[np.int64]:
    return np.array([[row.count(label) for label in LABELS] for row in votes])


def frame(x: NDArray[np.float64], prefix: str) -> pd.DataFrame:
    index = pd.Index([f"{prefix} {row}" for row in range(len(x))])
    return pd.DataFrame(x, index=index, columns=["first", "second"])
