"""Annotations to plausibilities, through the aggregator that fits their kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, overload

import attrs
import xarray as xr

from plausibly import registry
from plausibly.data import names
from plausibly.data.annotations import Rows, answered_rows, check_table, read_only
from plausibly.data.labels import without_parents
from plausibly.data.names import name_texts, several
from plausibly.data.plausibilities import FEW_LABELS, Plausibilities, is_sparse, to_dense, to_sparse
from plausibly.data.select import answered, select_annotations
from plausibly.data.states import amount, with_left_out
from plausibly.errors import InputError, an, listed, warn
from plausibly.kernels.random import Keys
from plausibly.protocols import AGGREGATOR, Aggregator, ComponentLike
from plausibly.registry import called
from plausibly.registry.entries import calling, failed

DEFAULT_AGGREGATORS: Mapping[str, str] = {
    "single-label": "label-frequency",
    "partial-ranking": "inverse-rank",
    "label-set": "label-set",
    "soft-label": "soft-label",
}


def default_aggregator(kind: str) -> str:
    """Return the name of the default aggregator of a kind of annotation."""
    try:
        return DEFAULT_AGGREGATORS[kind]
    except KeyError:
        raise InputError(
            "aggregator-missing",
            f"annotations of kind {kind} have no default aggregator",
            expected="an aggregator by name",
            hint='aggregator="NAME"; all: plausibly plugins list --kind aggregator',
            source="annotations",
        ) from None


@overload
def aggregate(
    annotations: xr.Dataset,
    aggregator: ComponentLike[Aggregator] | None = None,
    *,
    seed: int = 0,
    unanswered: Literal["error", "drop"] = "error",
    sparse: Literal[False] = False,
    **params: object,
) -> xr.DataArray: ...
@overload
def aggregate(
    annotations: xr.Dataset,
    aggregator: ComponentLike[Aggregator] | None = None,
    *,
    seed: int = 0,
    unanswered: Literal["error", "drop"] = "error",
    sparse: Literal[True],
    **params: object,
) -> xr.Dataset: ...
def aggregate(
    annotations: xr.Dataset,
    aggregator: ComponentLike[Aggregator] | None = None,
    *,
    seed: int = 0,
    unanswered: Literal["error", "drop"] = "error",
    sparse: bool = False,
    **params: object,
) -> xr.DataArray | xr.Dataset:
    """Turn annotations into plausibilities.

    Parameters
    ----------
    annotations : Dataset
        An annotation table, from `read_annotations` or an annotation kind.
    aggregator : str, mapping or Aggregator, optional
        Name, table or object; by default the one for the kind of annotation.
    seed : int
        For aggregators that draw; keyed by example.
    unanswered : {"error", "drop"}
        What to do with examples without answers. Dropped ones are counted in
        ``attrs["left_out"]``.
    sparse : bool
        Return the sparse form, for thousands of labels: only what is above 0. Aggregators with
        a method `aggregate_sparse` then make no dense array. `calibrate`, `evaluate` and
        `write_plausibilities` take either form, with the same results to the last bit.
    **params
        Parameters of the aggregator, with its name.

    Returns
    -------
    DataArray, ([draw,] example, label), or with `sparse` a Dataset
        Rows sum to 1; the coordinate `denominator` holds the totals where rows are counts. The dim
        ``draw`` is there where the aggregator draws plausibilities, as ``bootstrap`` does. The
        attribute ``joint`` names the aggregator where the plausibilities of an example depend on
        the other examples (`joint` of the aggregator). The attribute ``parents`` is the policy by
        which the plausibility of labels that stand above others went to those below (aggregator
        ``spread``); the labels are then those that stand above none.

    Raises
    ------
    InputError
        Where examples have no response, the table is detached from its labels, or the aggregator
        does not read this kind; ``sparse-draws`` where plausibilities are drawn.
    """
    array = aggregated(
        annotations, aggregator, params=params, seed=seed, unanswered=unanswered, sparse=sparse
    ).array
    if sparse == isinstance(array, xr.Dataset):
        return array
    if isinstance(array, xr.Dataset):
        return to_dense(array)
    if names.DRAW in array.dims:
        raise InputError(
            "sparse-draws",
            f"{several(array.sizes[names.DRAW], 'draw')} of plausibilities have no sparse form",
            expected="an aggregator that gives each example one row",
            hint="sparse=False",
            source="aggregator",
        )
    return to_sparse(array)


def warn_of_one_annotator(table: xr.Dataset) -> None:
    """Warn of a table with the answers of one annotator, which show no disagreement."""
    rows, annotators = Rows.of(table), name_texts(table[names.ANNOTATOR].values)
    if len(annotators) != 1 or (rows.annotator == names.UNKNOWN_ANNOTATOR).any():
        return
    source, (name,) = str(table.attrs.get("source", "annotations")), annotators
    warn(
        "one-annotator",
        f"{source} has answers of one annotator only",
        expected="several annotators per example, to measure disagreement",
        found=f"{amount(float(rows.votes.sum()))} answers of {name}",
        hint=f"the sets cover what {name} answers; add answers of other annotators",
        source=source,
    )


def aggregated(
    annotations: xr.Dataset,
    aggregator: ComponentLike[Aggregator] | None = None,
    *,
    params: Mapping[str, object] | None = None,
    seed: int = 0,
    unanswered: Literal["error", "drop"] = "error",
    sparse: bool | None = None,
) -> Plausibilities:
    """Return checked plausibilities, sparse where that is wanted and the aggregator can.

    By default in the form that is computed with: sparse where labels are many.
    """
    table = check_table(annotations)
    kind = str(table.attrs[names.KIND])
    chosen = default_aggregator(kind) if aggregator is None else aggregator
    component = registry.resolve(AGGREGATOR, chosen, params or None)
    if kind not in component.accepts:
        raise InputError(
            "kind-unsuitable",
            f"aggregator {called(AGGREGATOR, component)} does not read {kind} annotations",
            expected=listed(sorted(component.accepts)),
            found=kind,
            hint="another aggregator: plausibly plugins list --kind aggregator",
            source="annotations",
        )
    dropped = 0
    if unanswered == "drop":
        kept = answered(table)
        dropped = table.sizes[names.EXAMPLE] - len(kept)
        table = select_annotations(table, example=kept) if dropped else table
    keys, name = Keys(seed, "aggregator"), called(AGGREGATOR, component)
    source, table = f"aggregator {name}", read_only(table)
    answered_rows(table, component.accepts)
    result: object = None
    if table.sizes[names.LABEL] > FEW_LABELS if sparse is None else sparse:
        method = "aggregate_sparse"
        with calling(source, method):
            result = component.aggregate_sparse(table, keys)
    if result is None:
        method = "aggregate"
        with calling(source, method):
            result = component.aggregate(table, keys)
    expected = "a DataArray (example, label) of plausibilities"
    found, plausibilities = an(type(result).__name__), None
    if isinstance(result, xr.DataArray) or is_sparse(result):
        try:
            plausibilities = Plausibilities.from_xarray(result)
        except InputError as error:
            expected, found = error.expected, f"{error.what}: {error.found}".removesuffix(": ")
    others: list[str] = []
    if plausibilities is not None:
        expected = "the examples and labels of the annotations"
        examples, labels = plausibilities.examples.index, plausibilities.labels.index
        others += examples.symmetric_difference(table.indexes[names.EXAMPLE]).tolist()
        others += labels.symmetric_difference(table.indexes[names.LABEL]).tolist()
        found = f"more or less: {listed(others)}"
    if plausibilities is None or others:
        what = f"{method}() returned no plausibilities"
        raise failed(source, what, expected=expected, found=found)
    array = plausibilities.array
    if component.joint:
        array = array.assign_attrs({names.JOINT: name})
    if dropped:
        array = with_left_out(array, {"without a response": dropped})
    plausibilities = attrs.evolve(plausibilities, array=array)
    return without_parents(plausibilities) if names.PARENTS in array.attrs else plausibilities
