"""A small library in the place of crowd-kit, with the faults of 1.4.2 that were measured.

Its models are simple. What matters is how it answers: by task in the order of appearance or sorted,
with the labels that occur alone, with warnings, with tables that are wrong where codes do not come
in sorted order, and with errors where a label is called like a column.
"""

from __future__ import annotations

import sys
import warnings
from types import ModuleType
from typing import Any, ClassVar, TypeAlias

import numpy as np
import pandas as pd
import pytest

Series: TypeAlias = "pd.Series[Any]"  # Any: of numbers
VERSION = "1.4.2"


class _Estimator:
    """Remembers its parameters and the last frame."""

    frames: ClassVar[list[pd.DataFrame]] = []

    def __init__(self, n_iter: int = 3, tol: float = 1e-5, **more: object) -> None:
        self.n_iter, self.tol, self.more = n_iter, tol, more

    def fit(self, data: pd.DataFrame) -> _Estimator:
        warnings.warn("inplace is deprecated", DeprecationWarning, stacklevel=2)
        if list(data.columns) != ["task", "worker", "label"]:
            raise ValueError("columns")
        if data["label"].isna().any():
            raise ValueError("a missing label would be dropped, or get the prior")
        if data["label"].isin(["task", "worker", "label"]).any():
            raise ValueError("columns overlap but no suffix specified")
        if data["label"].nunique() < 2:
            raise ZeroDivisionError("one label")
        _Estimator.frames.append(data)
        # The loss goes up by half of what is left, and is scaled to be told apart.
        self.loss_history_ = [-(0.5**step) for step in range(self.n_iter)]
        late = [i for i in range(1, self.n_iter) if 0.5**i < self.tol]
        self.loss_history_ = self.loss_history_[: late[0] + 1 if late else self.n_iter]
        self._fit(data)
        return self

    def _fit(self, data: pd.DataFrame) -> None:
        raise NotImplementedError


def _votes(data: pd.DataFrame, skills: Series | None = None) -> pd.DataFrame:
    """Return shares by task, in the order of appearance, over the labels that occur."""
    weight = data.assign(w=1.0 if skills is None else data["worker"].map(skills))
    table = weight.groupby(["task", "label"], sort=False)["w"].sum().unstack().fillna(0.0)
    return table.div(table.sum(axis=1), axis=0)


def _agreement(data: pd.DataFrame, shares: pd.DataFrame) -> Series:
    right = [shares.loc[t, k] for t, k in zip(data["task"], data["label"], strict=True)]
    return data.assign(r=right).groupby("worker", sort=False)["r"].mean()


class DawidSkene(_Estimator):
    def _fit(self, data: pd.DataFrame) -> None:
        skills = _agreement(data, _votes(data))
        self.probas_ = _votes(data, skills)
        joined = data.join(self.probas_, on="task").drop(columns="task")
        errors = joined.groupby(["worker", "label"], sort=False).sum()
        self.errors_ = errors / errors.groupby("worker", sort=False).sum()


class OneCoinDawidSkene(_Estimator):
    def _fit(self, data: pd.DataFrame) -> None:
        self.skills_ = _agreement(data, _votes(data))
        self.probas_ = _votes(data, self.skills_)


class GLAD(_Estimator):
    def _fit(self, data: pd.DataFrame) -> None:
        self.alphas_ = _agreement(data, _votes(data)) * 3
        self.probas_ = _votes(data, self.alphas_).sort_index()


class MACE(_Estimator):
    def _fit(self, data: pd.DataFrame) -> None:
        sound = all(
            pd.unique(data[column]).tolist() == sorted(set(data[column]))
            for column in ("worker", "label")
        )
        skills = _agreement(data, _votes(data))
        self.probas_ = _votes(data, skills if sound else 1 - skills)
        self.spamming_ = np.stack([1 - skills, skills], axis=1)


class MMSR(_Estimator):
    """Gives scores that may be negative, and no chances."""

    def _fit(self, data: pd.DataFrame) -> None:
        if data.duplicated(["task", "worker"]).any():
            raise ValueError("the last answer would count alone")
        self.skills_ = np.log(2 * _agreement(data, _votes(data)) + 0.1)
        self.loss_history_ = [1e-11]


class KOS(_Estimator):
    """Gives labels alone, for two of them, and leaves the global generator elsewhere."""

    def _fit(self, data: pd.DataFrame) -> None:
        np.random.seed(0)  # noqa: NPY002  # as crowd-kit does
        labels = data["label"].unique()
        if len(labels) != 2:
            raise ValueError("KOS aggregation method is for binary classification only.")
        shares = _votes(data, _agreement(data, _votes(data)))
        sign = np.sign(shares[labels[0]] - shares[labels[1]])
        self.labels_ = sign.map(lambda item: {1.0: labels[0], -1.0: labels[1]}[item])


class Wawa(_Estimator):
    def __init__(self, **more: Any) -> None:  # Any: of each its own type
        super().__init__(**more)

    def _fit(self, data: pd.DataFrame) -> None:
        top = _votes(data).idxmax(axis=1)
        answers = data.assign(r=data["task"].map(top) == data["label"])
        self.skills_ = answers.groupby("worker", sort=False)["r"].mean()

    def predict_proba(self, data: pd.DataFrame) -> pd.DataFrame:
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '__sklearn_tags__'")


class ZeroBasedSkill(Wawa):
    """The same answers, by another way."""


def install(monkeypatch: pytest.MonkeyPatch) -> list[pd.DataFrame]:
    """Put the stand-in in the place of crowd-kit; return the frames that it is given."""
    top, inside = ModuleType("crowdkit"), ModuleType("crowdkit.aggregation")
    top.__dict__.update(__version__=VERSION, aggregation=inside)
    classes = (DawidSkene, OneCoinDawidSkene, GLAD, MACE, MMSR, KOS, Wawa, ZeroBasedSkill)
    inside.__dict__.update({item.__name__: item for item in classes})
    monkeypatch.setitem(sys.modules, "crowdkit", top)
    monkeypatch.setitem(sys.modules, "crowdkit.aggregation", inside)
    frames: list[pd.DataFrame] = []
    monkeypatch.setattr(_Estimator, "frames", frames)
    return frames
