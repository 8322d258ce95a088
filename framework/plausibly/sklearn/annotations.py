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
from plausibly.io import frames
from plausibly.io.annotations import build_annotations
from plausibly.io.label_tables import named_predictions
from plausibly.kernels.random import hash_names
from plausibly.kernels.types import Bools, Floats, Hashes, Ints
from plausibly.protocols import Aggregator, ComponentLike

Annotations: TypeAlias = xr.DataArray | xr.Dataset
"""Plausibilities, dense or packed, or an annotation table, under names."""

Coordinates = Mapping[str, Sequence[object]]
"""More that is known of each row, by name."""

_DISTINCT = 0.9


@attrs.frozen
class Rows:
    """Names of the rows of X."""

    names: list[str]
    named: bool

    @classmethod
    def of(cls, x: object, examples: Sequence[object] | None = None) -> Rows:
        """Return the names of the rows of X: those of its index, where it names them."""
        shape: tuple[int, ...] | None = getattr(x, "shape", None)
        size = int(shape[0]) if shape else len(x)  # type: ignore[arg-type]  # a list of rows
        whose = "the index of X"
        index: Iterable[object] | None = naming_index(x)
        if examples is not None:
            index, whose = examples, "examples"
            check_length(len(name_texts(examples)), size, whose)
        if index is None:
            return cls(list(map(str, range(size))), named=False)
        found = name_texts(index)
        check_names(found, names.EXAMPLE, whose=whose)
        return cls(found, named=True)

    def __len__(self) -> int:
        return len(self.names)

    def labelled(
        self,
        values: NDArray[np.floating],
        labels: Sequence[str],
        coordinates: Coordinates | None = None,
        *,
        prefix: str = "",
    ) -> xr.DataArray:
        """Return probabilities under the names of rows and labels."""
        called = self.names if self.named else [f"{prefix}{name}" for name in self.names]
        array = named_predictions(values, called, labels, {names.SCALE: "probability"})
        for name, column in (coordinates or {}).items():
            found = np.asarray(column)
            check_length(len(found), len(self), f"coordinates of {name}")
            array = array.assign_coords({name: (names.EXAMPLE, found)})
        return array


def naming_index(data: object) -> pd.Index | None:
    """Return the index of pandas data, or None where it says no more than a row's place."""
    if not isinstance(data, (pd.DataFrame, pd.Series)):
        return None
    index = data.index
    counts = isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1
    return None if counts else index


def check_length(given: int, rows: int, whose: str) -> None:
    """Raise ``rows-differ`` where something with one entry a row has another length."""
    if given != rows:
        raise InputError(
            "rows-differ",
            f"{whose} have {several(given, 'row')}, and X has {counted(rows)}",
            expected="one a row of X, in its order",
            got=counted(given),
            do="pass both from one split, or name the rows: examples=[...]",
            whose=whose,
        )


def plausibilities(
    annotations: Annotations, aggregator: ComponentLike[Aggregator] | None, seed: int
) -> Annotations:
    """Return plausibilities, aggregated where these are annotations."""
    if isinstance(annotations, xr.Dataset) and not is_sparse(annotations):
        return aggregated(annotations, aggregator, seed=seed).array
    return annotations


def majority_vote(
    annotations: Annotations, rows: Rows, aggregator: ComponentLike[Aggregator] | None, seed: int
) -> list[str]:
    """Return the label with the largest plausibility of each row, the first of equal ones."""
    found = plausibilities(annotations, aggregator, seed)
    mean = mean_over_draws(check_plausibilities(found, whose="y"))
    nothing = rows.labelled(np.empty((len(rows), 0)), [])
    _, matched = align.match_examples(nothing, mean, whose="X", other="y")
    return name_texts(matched[names.LABEL].values[np.argmax(matched.values, axis=1)])


@attrs.frozen
class Seen:
    """Names of the rows that a model was fitted on, or else hashes of their numbers."""

    named: bool
    marks: Hashes

    @classmethod
    def of(cls, x: object) -> Seen | None:
        """Return what to remember of the rows of X, or None where they cannot be told apart."""
        index = naming_index(x)
        if index is not None:
            return cls(True, hash_names(name_texts(index)))
        marks = _contents(x)
        alike = marks is None or np.unique(marks).size < _DISTINCT * marks.size
        return None if marks is None or alike else cls(False, marks)

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
            f"the model was fitted on {counted(len(which))} of {counted(len(rows))} rows of X",
            expected="rows that the model has not seen: else sets cover less than they promise",
            got=listed(which) if rows.named else "rows with the same numbers",
            do="train_test_split first, then fit on one part and conformalize on the other",
            whose="X",
            details={"examples": which},
            stacklevel=3,
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


_LONG = ("example", "annotator", "label")
_WHOSE = "annotations"


def _refused(
    name: str, what: str, expected: str, got: str, do: str, **details: object
) -> InputError:
    what = f"{_WHOSE} {what}"
    return InputError(name, what, expected=expected, got=got, do=do, whose=_WHOSE, details=details)


SINGLE, COUNTS = "single-label", "counts"
_TABLES = (COUNTS, SINGLE)
_BY_ANNOTATOR = 'kind="single-label", if the columns are annotators and the cells are labels'


@attrs.frozen(eq=False)
class Labels:
    """The labels of a model: as scikit-learn has them, and their names as text."""

    values: NDArray[np.generic]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names as text, in the order of ``classes_``."""
        return tuple(map(name_text, self.values.tolist()))

    def text(self, value: object) -> object:
        """Return the name of a label, equal by value (``1.0`` is ``1``), or what holds labels."""
        if isinstance(value, Mapping):
            return {self.text(label): weight for label, weight in value.items()}
        if isinstance(value, (set, frozenset)):
            value = sorted(value, key=str)
        if isinstance(value, (list, tuple, np.ndarray)):
            return [self.text(one) for one in value]
        if is_name(value) and value in self._name_of:
            return self._name_of[value]
        # A column of whole numbers with gaps is one of floats.
        return int(value) if isinstance(value, float) and value.is_integer() else value

    @cached_property
    def _name_of(self) -> dict[object, str]:
        return dict(zip(self.values.tolist(), self.names, strict=True))


def read_annotations(given: object, rows: Rows, labels: Labels, kind: str | None) -> Annotations:
    """Return the annotations of the rows of X under names."""
    if isinstance(given, (str, os.PathLike)):
        raise _refused(
            "annotations-path",
            f"are the path {quoted(given)}",
            "annotations in memory",
            "a path",
            f'plausibly.read_annotations("{given}"), then pass what it returns',
        )
    if hasattr(given, "toarray"):  # sparse
        given = given.toarray()
    if isinstance(given, (xr.DataArray, xr.Dataset)):
        _check_kind(kind, "xarray")
        table = isinstance(given, xr.Dataset) and not is_sparse(given)
        if table and names.LABEL in given.coords:
            declared = name_texts(given[names.LABEL].values)
            lacking = not_among(labels.names, declared)
            if lacking:
                raise _refused(
                    "labels-differ",
                    f"do not declare {listed(map(quoted, lacking))}, which the model knows",
                    f"the {len(labels.names)} labels of the model",
                    f"{len(labels.names) - len(lacking)} of them",
                    "declare them where annotations are read: labels=[...]",
                    only_there=lacking,
                )
        return named(given, rows)
    if hasattr(given, "columns"):
        _check_kind(kind, "a frame", *_TABLES)
        return _of_frame(given, rows, labels, kind)
    if isinstance(given, pd.Series):
        called = _names_of(given, rows)
        return _answers([[value] for value in given.tolist()], called, labels, kind)
    if kind == COUNTS and isinstance(given, Sequence) and len(set(map(np.size, given))) == 1:
        given = np.asarray(given)
    if isinstance(given, np.ndarray) and given.ndim == 2 and given.dtype.kind in "iufb":
        _check_kind(kind, "numbers", *_TABLES)
        if kind != SINGLE:
            check_length(len(given), len(rows), _WHOSE)
            return _numbers(given, rows.names, None, labels, kind)
    if isinstance(given, np.ndarray) and given.ndim == 2:
        given = given.tolist()
    answers = list(given) if isinstance(given, (Sequence, np.ndarray)) else [given]
    check_length(len(answers), len(rows), _WHOSE)
    return _answers(answers, rows.names, labels, kind)


def _check_kind(kind: str | None, whose: str, *known: str) -> None:
    if kind is not None and kind not in known:
        raise _refused(
            "kind-unfit",
            f"in {whose} say themselves what they are",
            f"no kind, or {' or '.join(known)}" if known else "no kind",
            f'kind "{kind}"',
            "leave kind= out",
        )


def named(given: Annotations, rows: Rows) -> Annotations:
    """Return what has names already, if these can be names of the rows."""
    if names.EXAMPLE in given.coords and not rows.named:
        theirs = [str(name) for name in given[names.EXAMPLE].values]
        unlike = not_among(theirs, rows.names)
        if unlike:
            raise InputError(
                "rows-unnamed",
                "annotations name their examples, and the rows of X have no names",
                expected="names to match by",
                got=f"{listed(unlike)}, and rows 0 to {len(rows) - 1}",
                do="examples=[...], one name a row; or X as a pandas frame, named by its index",
                whose="X",
                details={"examples": unlike},
            )
    return given


def _of_frame(given: object, rows: Rows, labels: Labels, kind: str | None) -> Annotations:
    if not isinstance(given, pd.DataFrame):
        cells: dict[str, Sequence[object]] = {}
        for one in frames.columns_of(given)[1]:
            if one.content != "number":
                cells[one.name] = [text or None for text in one.texts()]
                continue
            values = one.numbers()
            whole = one.type.startswith(("Int", "UInt")) and np.isfinite(values).all()
            cells[one.name] = values.astype(np.int64 if whole else np.float64).tolist()
        given = pd.DataFrame(cells)
    if kind != COUNTS and set(_LONG) <= set(given.columns):
        long = given[list(_LONG)].astype(object).itertuples(index=False, name=None)
        answers = [(name_text(task), by, label) for task, by, label in long]
        return named(_table(SINGLE, answers, labels), rows)
    called = _names_of(given, rows)
    columns_as = [str(labels.text(column)) for column in given.columns]
    if kind != SINGLE and all(map(pd.api.types.is_numeric_dtype, given.dtypes)):
        unknown = not_among(columns_as, labels.names)
        if unknown:
            raise _refused(
                "columns-differ",
                f"have a column {quoted(unknown[0])}, which is no label",
                "one column per label with numbers, one per annotator with names of labels, "
                f"or {listed(_LONG)}",
                f"numbers in {listed(map(quoted, columns_as))}",
                f"name the labels {listed(labels.names)}"
                if len(unknown) < len(columns_as)
                else _BY_ANNOTATOR,
                columns=unknown,
            )
        numbers = given.to_numpy(np.float64, na_value=np.nan)
        if not np.isnan(numbers).any() and not any(map(pd.api.types.is_float_dtype, given.dtypes)):
            numbers = numbers.astype(np.int64)
        return _numbers(numbers, called, columns_as, labels, kind)
    _check_kind(kind, "a frame of text", SINGLE)
    answered = zip(called, given.astype(object).to_numpy(), strict=True)
    cells_of = ((name, zip(columns_as, row, strict=True)) for name, row in answered)
    answers = [(name, by, cell) for name, pairs in cells_of for by, cell in pairs]
    return _table(SINGLE, answers, labels)


def _names_of(given: pd.DataFrame | pd.Series, rows: Rows) -> list[str]:
    """Return the names of pandas annotations: their index, where X has names too, else places."""
    index = naming_index(given)
    if index is not None and rows.named:
        return [name_text(name) for name in index]
    check_length(len(given), len(rows), _WHOSE)
    return rows.names


def _numbers(
    given: Floats | Ints | Bools,
    called: Sequence[str],
    headed: Sequence[str] | None,
    labels: Labels,
    kind: str | None,
) -> xr.DataArray:
    """Return plausibilities from numbers: floats as they are, counts as shares of the votes."""
    columns = labels.names if headed is None else headed
    if given.shape[1] != len(columns):
        raise _refused(
            "columns-differ",
            f"have {given.shape[1]} columns of numbers",
            f"one per label, in the order of classes_: {listed(labels.names)}",
            str(given.shape[1]),
            _BY_ANNOTATOR,
        )
    coords = {names.EXAMPLE: text_array(called), names.LABEL: text_array(columns)}
    if kind is None and _may_be_labels(given, labels, headed=headed is not None):
        raise _refused(
            "kind-unsaid",
            "are whole numbers, which may be counts of votes or labels",
            "what they are",
            listed(map(str, given[0].tolist())),
            'kind="counts", or kind="single-label"',
        )
    if kind is None and given.dtype.kind == "f":
        return xr.DataArray(given, coords, (names.EXAMPLE, names.LABEL))
    unfit = ~((given >= 0) & (np.mod(given, 1) == 0)).all(axis=1) | (given.sum(axis=1) == 0)
    if unfit.any():
        which = [name for name, bad in zip(called, unfit.tolist(), strict=True) if bad]
        raise _refused(
            "counts-unfit",
            f"have no vote, or fewer than none, in {listed(which)}",
            "counts of votes, one or more per row",
            "rows of 0, or numbers below 0",
            "leave these rows out, of X too",
            examples=which,
        )
    total = given.sum(axis=1).astype(np.int64)
    array = xr.DataArray(given / total[:, None], coords, (names.EXAMPLE, names.LABEL))
    return array.assign_coords({names.DENOMINATOR: (names.EXAMPLE, total)})


def _may_be_labels(given: Floats | Ints | Bools, labels: Labels, *, headed: bool) -> bool:
    """Return whether numbers may be labels, not votes or plausibilities."""
    if not given.size:
        return False
    if given.dtype.kind == "f":
        there = given[np.isfinite(given)]
        return there.size < given.size and bool((there % 1 == 0).all())
    named = {str(labels.text(cell)) for cell in np.unique(given).tolist()}
    return not named.isdisjoint(labels.names) or (given.dtype.kind != "b" and not headed)


def _answers(
    given: Sequence[object], called: Sequence[str], labels: Labels, kind: str | None
) -> xr.Dataset:
    """Return the table of a list of answers for each row; a lone label, set or mapping is one."""
    rows = [list(row) if isinstance(row, (list, tuple, np.ndarray)) else [row] for row in given]
    rows = [[answer for answer in row if not is_missing(answer)] for row in rows]
    kind = kind or _kind_of(next(filter(None, rows), [SINGLE]))
    records: list[tuple[str, object, object]] = []
    for name, row, answers in zip(called, given, rows, strict=True):
        lone = isinstance(row, (list, tuple, np.ndarray)) and any(map(is_name, answers))
        if lone and kind == "partial-ranking":
            raise _refused(
                "answers-unfit",
                f"of row {name} are labels, not rankings",
                "a list of rankings per row, each a list of labels or tied labels, best first",
                repr(row),
                "[ranking], also where there is only one",
                example=name,
            )
        unfit = [one for one in answers if isinstance(one, float) and one % 1]
        if unfit and kind == SINGLE:
            raise _refused(
                "answers-unfit",
                f"of row {name} name {unfit[0]}, which is no label",
                "answers in lists, numbers in arrays",
                repr(unfit[0]),
                "numpy.asarray(annotations), if they are plausibilities",
                example=name,
            )
        records += [
            (name, None, one) for one in ([answers] if lone and kind == "label-set" else answers)
        ]
    return _table(kind, records, labels)


def _kind_of(answers: Sequence[object]) -> str:
    """Return the kind of the answers of a row."""
    if isinstance(answers[0], (list, tuple)):
        raise _refused(
            "kind-unsaid",
            "are lists of lists of labels, which may be sets or rankings",
            "what they are",
            repr(answers),
            'kind="partial-ranking", or kind="label-set"',
        )
    if isinstance(answers[0], Mapping):
        return "soft-label"
    return "label-set" if isinstance(answers[0], (set, frozenset)) else SINGLE


def _table(kind: str, records: Sequence[tuple[str, object, object]], labels: Labels) -> xr.Dataset:
    read = [(n, by, labels.text(answer)) for n, by, answer in records if not is_missing(answer)]
    return build_annotations(kind, read, labels.names)
