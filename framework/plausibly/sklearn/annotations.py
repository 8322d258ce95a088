"""Annotations of the rows of X, in each of the forms that `conformalize` takes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import compress
from typing import TypeAlias

import attrs
import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from plausibly.conformal.aggregate import aggregated
from plausibly.data import align, names
from plausibly.data.names import (
    check_names,
    is_missing,
    is_name,
    name_text,
    name_texts,
    not_among,
    quoted,
    several,
    text_array,
)
from plausibly.data.plausibilities import check_plausibilities, is_sparse, mean_over_draws
from plausibly.errors import InputError, counted, listed, warn
from plausibly.io.annotations import build_annotations
from plausibly.io.label_tables import named_predictions
from plausibly.kernels.random import hash_names
from plausibly.kernels.types import Bools, Floats, Hashes, Ints
from plausibly.protocols import Aggregator, ComponentLike

Annotations: TypeAlias = xr.DataArray | xr.Dataset
"""Plausibilities, dense or sparse, or an annotation table, under names."""

Coordinates = Mapping[str, Sequence[object]]
"""Further columns of the rows, by name."""


@attrs.frozen
class Rows:
    names: list[str]
    named: bool

    @classmethod
    def of(cls, x: object, examples: Sequence[object] | None = None) -> Rows:
        """Return the names of the rows of X: those of its index, where it names them."""
        shape: tuple[int, ...] | None = getattr(x, "shape", None)
        size = int(shape[0]) if shape else len(x)  # type: ignore[arg-type]  # a list of rows
        index: Iterable[object] | None = naming_index(x) if examples is None else examples
        if index is None:
            return cls(list(map(str, range(size))), named=False)
        texts, source = name_texts(index), "the index of X" if examples is None else "examples"
        check_length(len(texts), size, source)
        check_names(texts, names.EXAMPLE, source=source)
        return cls(texts, named=True)

    def labelled(
        self,
        values: NDArray[np.floating],
        labels: Sequence[str],
        coordinates: Coordinates | None = None,
        *,
        prefix: str = "",
    ) -> xr.DataArray:
        examples = self.names if self.named else [f"{prefix}{name}" for name in self.names]
        array = named_predictions(values, examples, labels, {names.SCALE: "probability"})
        for name, column in (coordinates or {}).items():
            check_length(len(column), len(self.names), f"coordinates of {name}")
            array = array.assign_coords({name: (names.EXAMPLE, np.asarray(column))})
        return array


def naming_index(data: object) -> pd.Index | None:
    """Return the index of pandas data, or None where it only counts rows."""
    if not isinstance(data, (pd.DataFrame, pd.Series)):
        return None
    index = data.index
    counts = isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1
    return None if counts else index


def check_length(length: int, rows: int, source: str) -> None:
    """Raise ``rows-differ`` where something with one entry per row has another length."""
    if length != rows:
        raise InputError(
            "rows-differ",
            f"{source} have {several(length, 'row')}, and X has {counted(rows)}",
            expected="one per row of X, in its order",
            found=counted(length),
            hint="pass both from one split, or name the rows: examples=[...]",
            source=source,
        )


def plausibilities(
    annotations: Annotations, aggregator: ComponentLike[Aggregator] | None, seed: int
) -> Annotations:
    if isinstance(annotations, xr.Dataset) and not is_sparse(annotations):
        return aggregated(annotations, aggregator, seed=seed).array
    return annotations


def majority_vote(
    annotations: Annotations, rows: Rows, aggregator: ComponentLike[Aggregator] | None, seed: int
) -> list[str]:
    """Return the label with the largest plausibility of each row, the first of equal ones."""
    dense = check_plausibilities(plausibilities(annotations, aggregator, seed), source="y")
    nothing = rows.labelled(np.empty((len(rows.names), 0)), [])
    _, matched = align.match_examples(nothing, mean_over_draws(dense), source="X", other="y")
    return name_texts(matched[names.LABEL].values[np.argmax(matched.values, axis=1)])


@attrs.frozen
class Seen:
    """Names of the rows that a model was fitted on, or else hashes of their numbers."""

    named: bool
    marks: Hashes

    @classmethod
    def of(cls, x: object) -> Seen | None:
        """Return the names or hashes of the rows of X, or None where many rows are equal."""
        index = naming_index(x)
        if index is not None:
            return cls(True, hash_names(name_texts(index)))
        marks = _contents(x)
        if marks is None or np.unique(marks).size < 0.9 * marks.size:
            return None
        return cls(False, marks)

    def warn_if_again(self, x: object, rows: Rows) -> None:
        """Warn where the rows of X that calibrate are rows that the model was fitted on."""
        marks = hash_names(rows.names) if rows.named else _contents(x)
        if marks is None or self.named != rows.named:
            return
        again = np.isin(marks, self.marks)
        if not again.any() or (not rows.named and again.sum() * 2 < again.size):
            return
        which = list(compress(rows.names, again.tolist()))
        warn(
            "model-saw-examples",
            f"the model was fitted on {counted(len(which))} of {counted(again.size)} rows of X",
            expected="rows that the model has not seen: else sets cover less than is guaranteed",
            found=listed(which) if rows.named else "rows with the same numbers",
            hint="train_test_split first, then fit on one part and conformalize on the other",
            source="X",
        )


def _contents(x: object) -> Hashes | None:
    """Return a hash of the numbers in each row, or None where X is no matrix of numbers."""
    values = x.to_numpy() if isinstance(x, pd.DataFrame) else x
    if not isinstance(values, np.ndarray) or values.ndim != 2 or not values.size:
        return None
    if values.dtype.kind not in "iuf":
        return None
    hashed = pd.util.hash_pandas_object(pd.DataFrame(values), index=False)
    return hashed.to_numpy().astype(np.uint64)


@attrs.frozen(eq=False)
class Labels:
    """The labels of a model: as scikit-learn has them, and their names as text."""

    values: NDArray[np.generic]

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(map(name_text, self.values.tolist()))

    @cached_property
    def _name_of(self) -> dict[object, str]:
        return dict(zip(self.values.tolist(), self.names, strict=True))

    def text(self, value: object) -> object:
        """Return the name of a label, by value (``1.0`` is ``1``), also of labels in containers."""
        if isinstance(value, Mapping):
            return {self.text(label): weight for label, weight in value.items()}
        if isinstance(value, (set, frozenset)):
            value = sorted(value, key=str)
        if isinstance(value, (list, tuple, np.ndarray)):
            return [self.text(label) for label in value]
        if is_name(value) and value in self._name_of:
            return self._name_of[value]
        # pandas makes floats of a column of whole numbers with gaps.
        return int(value) if isinstance(value, float) and value.is_integer() else value


_LONG = ("example", "annotator", "label")
_SOURCE = "annotations"
SINGLE, COUNTS = "single-label", "counts"
_NUMBERS_OR_LABELS = "in a frame or an array are numbers or labels"


def _refused(name: str, what: str, expected: str, found: str, hint: str) -> InputError:
    what = f"{_SOURCE} {what}"
    return InputError(name, what, expected=expected, found=found, hint=hint, source=_SOURCE)


def named(annotations: Annotations, rows: Rows) -> Annotations:
    """Return annotations under names, if these can be names of the rows."""
    if names.EXAMPLE in annotations.coords and not rows.named:
        unlike = not_among(map(str, annotations[names.EXAMPLE].values), rows.names)
        if unlike:
            raise InputError(
                "rows-unnamed",
                "annotations name their examples, and the rows of X have no names",
                expected="names to match by",
                found=f"{listed(unlike)}, and rows 0 to {len(rows.names) - 1}",
                hint="examples=[...], one name per row; or X as a pandas frame, named by its index",
                source="X",
            )
    return annotations


@attrs.frozen
class Reading:
    """Reading of annotations in memory: the rows of X, the labels, and their kind."""

    rows: Rows
    labels: Labels
    kind: str | None

    def read(self, source: object) -> Annotations:
        if isinstance(source, (str, os.PathLike)):
            raise _refused(
                "annotations-path",
                f"are the path {quoted(source)}",
                "annotations in memory",
                "a path",
                f'plausibly.read_annotations("{source}"), and pass the result',
            )
        if hasattr(source, "toarray"):  # sparse
            source = source.toarray()
        if isinstance(source, (xr.DataArray, xr.Dataset)):
            self._check_kind("under names have their kind")
            return named(source, self.rows)
        if hasattr(source, "to_pandas"):  # a frame of another library
            source = source.to_pandas()
        if isinstance(source, pd.DataFrame):
            self._check_kind(_NUMBERS_OR_LABELS, COUNTS, SINGLE)
            return self._of_frame(source)
        if isinstance(source, pd.Series):
            return self._of_answers([[value] for value in source.tolist()], self._names_of(source))
        if self.kind == COUNTS and isinstance(source, Sequence):
            sizes = set(map(np.size, source))
            source = np.asarray(source) if len(sizes) == 1 else source
        if isinstance(source, np.ndarray) and source.ndim == 2:
            if source.dtype.kind in "iufb":
                self._check_kind(_NUMBERS_OR_LABELS, COUNTS, SINGLE)
                if self.kind != SINGLE:
                    check_length(len(source), len(self.rows.names), _SOURCE)
                    return self._of_numbers(source, self.rows.names)
            source = source.tolist()
        answers = list(source) if isinstance(source, (Sequence, np.ndarray)) else [source]
        check_length(len(answers), len(self.rows.names), _SOURCE)
        return self._of_answers(answers, self.rows.names)

    def _check_kind(self, what: str, *known: str) -> None:
        if self.kind not in (None, *known):
            raise _refused(
                "kind-unfit",
                what,
                f"no kind, or {' or '.join(known)}" if known else "no kind",
                f'kind "{self.kind}"',
                "leave kind= out",
            )

    def _of_frame(self, source: pd.DataFrame) -> Annotations:
        usual = source.rename(columns={"task": "example", "worker": "annotator"})
        if self.kind != COUNTS and set(_LONG) <= set(usual.columns):
            long = usual[list(_LONG)].astype(object).itertuples(index=False, name=None)
            answers = [(name_text(task), by, label) for task, by, label in long]
            return named(self._table(SINGLE, answers), self.rows)
        examples = self._names_of(source)
        columns = [str(self.labels.text(column)) for column in source.columns]
        types = pd.api.types
        if self.kind == SINGLE or not all(map(types.is_numeric_dtype, source.dtypes)):
            rows = zip(examples, source.astype(object).to_numpy(), strict=True)
            pairs = [(name, zip(columns, row, strict=True)) for name, row in rows]
            return self._table(SINGLE, [(name, *pair) for name, row in pairs for pair in row])
        if not_among(columns, self.labels.names):
            raise self._columns_differ(f"numbers in {listed(map(quoted, columns))}")
        numbers = source.to_numpy(np.float64, na_value=np.nan)
        if not np.isnan(numbers).any() and not any(map(types.is_float_dtype, source.dtypes)):
            numbers = numbers.astype(np.int64)
        return self._of_numbers(numbers, examples, columns)

    def _names_of(self, source: pd.DataFrame | pd.Series) -> list[str]:
        """Return the index of pandas annotations, where X has names too, else those of the rows."""
        index = naming_index(source)
        if index is not None and self.rows.named:
            return [name_text(name) for name in index]
        check_length(len(source), len(self.rows.names), _SOURCE)
        return self.rows.names

    def _of_numbers(
        self,
        values: Floats | Ints | Bools,
        examples: Sequence[str],
        headed: Sequence[str] | None = None,
    ) -> xr.DataArray:
        """Return plausibilities from numbers: floats as they are, counts as shares of the votes."""
        columns = self.labels.names if headed is None else headed
        if values.shape[1] != len(columns):
            raise self._columns_differ(str(values.shape[1]))
        coords = {names.EXAMPLE: text_array(examples), names.LABEL: text_array(columns)}
        if self.kind is None and self._may_be_labels(values, headed=headed is not None):
            raise _refused(
                "kind-missing",
                "are whole numbers, which may be counts of votes or labels",
                "the kind of the numbers",
                listed(map(str, values[0].tolist())),
                'kind="counts", or kind="single-label"',
            )
        if self.kind is None and values.dtype.kind == "f":
            return xr.DataArray(values, coords, list(coords))
        unfit = ~((values >= 0) & (np.mod(values, 1) == 0)).all(axis=1) | (values.sum(axis=1) == 0)
        if unfit.any():
            which = list(compress(examples, unfit.tolist()))
            raise _refused(
                "counts-unfit",
                f"have no vote, or a negative number, in {listed(which)}",
                "counts of votes, one or more per row",
                "rows of 0, or numbers below 0",
                "leave these rows out, of X too",
            )
        total = values.sum(axis=1).astype(np.int64)
        array = xr.DataArray(values / total[:, None], coords, list(coords))
        return array.assign_coords({names.DENOMINATOR: (names.EXAMPLE, total)})

    def _columns_differ(self, found: str) -> InputError:
        return _refused(
            "columns-differ",
            "have other columns than the labels",
            f"one per label, in arrays in the order of classes_: {listed(self.labels.names)}",
            found,
            'kind="single-label", if the columns are annotators; else name them like the labels',
        )

    def _may_be_labels(self, values: Floats | Ints | Bools, *, headed: bool) -> bool:
        """Return whether numbers may be labels, not votes or plausibilities."""
        if not values.size:
            return False
        if values.dtype.kind == "f":
            finite = values[np.isfinite(values)]
            return finite.size < values.size and bool((finite % 1 == 0).all())
        texts = {str(self.labels.text(cell)) for cell in np.unique(values).tolist()}
        return not texts.isdisjoint(self.labels.names) or (values.dtype.kind != "b" and not headed)

    def _of_answers(self, answers: Sequence[object], examples: Sequence[str]) -> xr.Dataset:
        """Return the table of a list of answers per row; a single label, set or mapping is one."""
        lists = (list, tuple, np.ndarray)
        rows = [
            [cell for cell in (row if isinstance(row, lists) else [row]) if not is_missing(cell)]
            for row in answers
        ]
        kind = self.kind or _kind_of(next(filter(None, rows), [SINGLE]))
        records: list[tuple[str, object, object]] = []
        for name, row, cells in zip(examples, answers, rows, strict=True):
            one_set = kind == "label-set" and isinstance(row, lists) and any(map(is_name, cells))
            records += [(name, None, cell) for cell in ([cells] if one_set else cells)]
        return self._table(kind, records)

    def _table(self, kind: str, records: Sequence[tuple[str, object, object]]) -> xr.Dataset:
        texts = [
            (n, by, self.labels.text(value)) for n, by, value in records if not is_missing(value)
        ]
        return build_annotations(kind, texts, self.labels.names)


def _kind_of(answers: Sequence[object]) -> str:
    if isinstance(answers[0], (list, tuple)):
        raise _refused(
            "kind-missing",
            "are lists of lists of labels, which may be sets or rankings",
            "the kind of the answers",
            repr(answers),
            'kind="partial-ranking", or kind="label-set"',
        )
    if isinstance(answers[0], Mapping):
        return "soft-label"
    return "label-set" if isinstance(answers[0], (set, frozenset)) else SINGLE
