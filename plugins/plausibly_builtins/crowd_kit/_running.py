"""Responses as crowd-kit reads them, and what it estimates as plausibilities.

crowd-kit takes a frame with one row a response, and its results may hang on the order of rows and
on what labels are called. So it gets codes in place of names, in an order that belongs to names
alone, and its results come back by code: with every example and label of the table.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import attrs
import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from plausibly.plugin import (
    Rows,
    answered_rows,
    listed,
    names,
    require,
    several,
)
from plausibly_builtins.crowd_kit._saying import check_known, failure, times_of

ACCEPTS: frozenset[str] = frozenset({"single-label"})

Column = NDArray[np.float64]
Codes = NDArray[np.intp]
Estimator = Any  # Any: crowd-kit is optional, and unknown to a type checker without it


def crowd_kit(called: str) -> ModuleType:
    """Return crowd-kit's aggregators, or raise ``extra-missing``."""
    return require("crowdkit.aggregation", extra="crowd", whose=f"aggregator crowd-kit:{called}")


def present(called: str) -> None:
    """Raise ``extra-missing`` where there is no crowd-kit; its top package takes no time."""
    require("crowdkit", extra="crowd", whose=f"aggregator crowd-kit:{called}")


@attrs.frozen(kw_only=True, eq=False)
class Given:
    """The responses of a table that name a label, in the order of names.

    Attributes
    ----------
    called : str
        Name of the component.
    rows : Rows
    example, annotator, label : ndarray of int, (row,)
        By annotator, then example: places of examples and annotators in the order of names, and
        labels in the order in which they first come. A response that counts w times is w rows.
    said : ndarray of int, (label that somebody says,)
        Code of the table of each of these labels.
    of_example, of_annotator : ndarray of int
        Place in the order of names of each example and annotator of the table.
    """

    called: str
    rows: Rows
    example: Codes
    annotator: Codes
    label: Codes
    said: Codes
    of_example: Codes
    of_annotator: Codes

    @classmethod
    def of(cls, annotations: xr.Dataset, called: str, *, repeats: bool) -> Given:
        """Return the responses of an annotation table."""
        rows = answered_rows(annotations, ACCEPTS)
        counts = rows.weight[rows.response] > 0
        response = rows.response[counts]
        who = rows.annotator[response]
        check_known(who, called)
        times = times_of(rows.weight[response], called, repeats=repeats)
        of_example, of_annotator = (_places(rows, dim) for dim in (names.EXAMPLE, names.ANNOTATOR))
        example, annotator = of_example[rows.example[response]], of_annotator[who]
        order = np.lexsort((example, annotator))
        label = rows.label[counts].astype(np.intp)[order]
        first = np.sort(np.unique(label, return_index=True)[1])
        said = label[first]
        coded = np.empty(rows.labels, np.intp)
        coded[said] = np.arange(said.size)
        times = times[order]
        return cls(
            called=called,
            rows=rows,
            example=np.repeat(example[order], times),
            annotator=np.repeat(annotator[order], times),
            label=np.repeat(coded[label], times),
            said=said,
            of_example=of_example,
            of_annotator=of_annotator,
        )

    @property
    def settled(self) -> bool:
        """Whether there is nothing to estimate, since nobody says a second label."""
        return self.said.size < 2

    @property
    def texts(self) -> list[str]:
        """What crowd-kit calls the labels: texts, which it mistakes for nothing else."""
        return [f"label{code:06}" for code in range(self.said.size)]

    @property
    def frame(self) -> pd.DataFrame:
        """Columns task, worker and label, with codes."""
        texts = np.array(self.texts, dtype=object)
        return pd.DataFrame(
            {"task": self.example, "worker": self.annotator, "label": texts[self.label]}
        )

    def fitted(self, estimator: Estimator) -> Estimator:
        """Return an estimator of crowd-kit, fitted to the responses."""
        with self._apart():
            return estimator.fit(self.frame)

    @contextmanager
    def _apart(self) -> Iterator[None]:
        """Keep crowd-kit's warnings and its use of the global random state to itself."""
        state = np.random.get_state()  # noqa: NPY002  # crowd-kit seeds it, and others may use it
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                yield
        except Exception as error:  # whatever it is, it is said in one form
            raise failure(self.called, f"{type(error).__name__}: {error}") from error
        finally:
            np.random.set_state(state)  # noqa: NPY002  # as it was before

    def by_label(self, found: pd.DataFrame) -> Column:
        """Return crowd-kit's table of tasks and labels as (example, label that somebody says)."""
        ordered = found.reindex(index=np.arange(self.rows.n), columns=self.texts)
        values: Column = ordered.to_numpy(np.float64)
        return values

    def by_annotator(self, found: pd.Series[Any]) -> Column:  # Any: of numbers
        """Return crowd-kit's series of workers as (annotator,) in the order of names, NaN else."""
        values: Column = found.reindex(np.arange(self.of_annotator.size)).to_numpy(np.float64)
        return values

    def weighted(self, worth: Column) -> Column:
        """Return the worth of who says each label: (example, label that somebody says)."""
        size = self.said.size
        cells = self.example * size + self.label
        found = np.bincount(cells, worth[self.annotator], self.rows.n * size)
        return found.reshape(self.rows.n, size).astype(np.float64, copy=False)

    def plausibilities(self, values: Column) -> xr.DataArray:
        """Return (example, label that somebody says) values as plausibilities of the table."""
        bad = ~np.isfinite(values).all(axis=1) | (values < 0).any(axis=1)
        sums = np.where(bad, 1.0, values.sum(axis=1))
        bad |= sums <= 0
        if bad.any():
            by_name = np.flatnonzero(bad[self.of_example])
            shown = [str(name) for name in self.rows.table.indexes[names.EXAMPLE][by_name]]
            got = f"none for {several(len(shown), 'example')} ({listed(shown)})"
            raise failure(self.called, got, details={"examples": shown})
        table = np.zeros((self.rows.n, self.rows.labels))
        table[:, self.said] = (values / sums[:, None])[self.of_example]
        return self.rows.plausibilities(table)

    @property
    def everybody(self) -> Column:
        """1 for each annotator: (annotator,)."""
        return np.ones(self.of_annotator.size)

    def right(self, values: Column) -> Column:
        """Return the share of the responses of each annotator that is right: (annotator,)."""
        size = self.of_annotator.size
        found = np.bincount(self.annotator, values[self.example, self.label], size)
        with np.errstate(invalid="ignore"):
            share: Column = found / np.bincount(self.annotator, minlength=size)
        return share

    def reliability(self, weight: Column, **more: xr.Variable) -> xr.Dataset:
        """Return the table of annotators, as `plausibly.reliability` reads it."""
        named = (names.ANNOTATOR, names.LABEL)
        return xr.Dataset(
            {names.WEIGHT: (names.ANNOTATOR, weight[self.of_annotator]), **more},
            coords={name: self.rows.table.coords[name].variable for name in named},
        )


def weighed(given: Given, estimator: Estimator) -> Column:
    """Return the sums of `skills_` by label: (example, label that somebody says)."""
    skill = given.by_annotator(estimator.skills_)
    return given.weighted(np.where(np.isnan(skill), 0.0, skill))


def _places(rows: Rows, dim: str) -> Codes:
    """Return the place of each name of a dim in the order of names."""
    order = np.argsort(rows.table[dim].values, kind="stable")
    places = np.empty(order.size, np.intp)
    places[order] = np.arange(order.size)
    return places
