"""Annotations to plausibilities, through the aggregator that fits their kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import xarray as xr

from plausibly import registry
from plausibly.conformal.components import called
from plausibly.errors import InputError, listed
from plausibly.keys import Keys
from plausibly.labelled import borders, names, seal, verbs
from plausibly.labelled.hierarchy import without_parents
from plausibly.labelled.left_out import with_left_out
from plausibly.protocols import AGGREGATOR, Aggregator, ComponentLike, is_joint

DEFAULT_AGGREGATORS: Mapping[str, str] = {
    "single-label": "label-frequency",
    "partial-ranking": "inverse-rank",
    "label-set": "label-set",
    "soft-label": "soft-label",
}


def default_kinds() -> frozenset[str]:
    """Return the kinds of annotation that have a default aggregator."""
    return frozenset(DEFAULT_AGGREGATORS)


def default_aggregator(kind: str) -> str:
    """Return the name of the default aggregator of a kind of annotation."""
    try:
        return DEFAULT_AGGREGATORS[kind]
    except KeyError:
        raise InputError(
            "aggregator-unsaid",
            f"annotations of kind {kind} have no default aggregator",
            expected="an aggregator by name",
            do="aggregator=... (--aggregator); all: plausibly plugins list --kind aggregator",
            whose="annotations",
        ) from None


def aggregate(
    annotations: xr.Dataset,
    aggregator: ComponentLike[Aggregator] | None = None,
    *,
    seed: int = 0,
    unanswered: Literal["error", "drop"] = "error",
    **params: object,
) -> xr.DataArray:
    """Turn expert annotations into plausibilities.

    Parameters
    ----------
    annotations : Dataset
        An annotation table, from `read_annotations` or an annotation kind.
    aggregator : str, mapping or Aggregator, optional
        Name, table or object; by default the one for the kind of annotation.
    seed : int
        For aggregators that draw; keyed by example.
    unanswered : {"error", "drop"}
        What to do with examples that nobody answered. Dropped ones are counted in
        ``attrs["left_out"]``.
    **params
        Parameters of the aggregator, with its name.

    Returns
    -------
    DataArray, ([draw,] example, label)
        Rows sum to 1; the coordinate `denominator` holds the totals where rows are counts. The dim
        ``draw`` is there where the aggregator draws plausibilities, as ``bootstrap`` does. The
        attribute ``joint`` names the aggregator where the plausibilities of an example depend on
        the other examples (`plausibly.plugin.is_joint`). The attribute ``parents`` is the policy by
        which the plausibility of labels that stand above others went to those below (aggregator
        ``spread``); the labels are then those that stand above none.

    Raises
    ------
    InputError
        Where examples have no response, the table is detached from its labels, or the aggregator
        does not read this kind.
    """
    table = seal.check_table(annotations)
    kind = str(table.attrs[names.KIND])
    chosen = default_aggregator(kind) if aggregator is None else aggregator
    component = registry.resolve(AGGREGATOR, chosen, params or None)
    if kind not in component.accepts:
        raise InputError(
            "kind-unsuitable",
            f"aggregator {called(AGGREGATOR, component)} does not read {kind} annotations",
            expected=listed(sorted(component.accepts)),
            got=kind,
            do="another aggregator: plausibly plugins list --kind aggregator",
            whose="annotations",
        )
    dropped = 0
    if unanswered == "drop":
        kept = verbs.answered(table)
        dropped = table.sizes[names.EXAMPLE] - len(kept)
        table = verbs.select(table, example=kept) if dropped else table
    borders.check_answered(table)
    with seal.vouched(table):
        found = component.aggregate(table, Keys(seed, "aggregator"))
    plausibilities = borders.check_plausibilities(found)
    if names.PARENTS in plausibilities.attrs:
        plausibilities = without_parents(plausibilities)
    if is_joint(component):
        plausibilities = plausibilities.assign_attrs({names.JOINT: called(AGGREGATOR, component)})
    if dropped:
        plausibilities = with_left_out(plausibilities, {"without a response": dropped})
    return plausibilities
