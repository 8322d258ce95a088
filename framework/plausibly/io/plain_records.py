"""Annotations from plain Python data."""

from __future__ import annotations

from collections.abc import Iterable

import xarray as xr

from plausibly import registry
from plausibly.data.annotations import AnnotationTable, rebuilt
from plausibly.data.names import LABEL
from plausibly.data.seal import check_table
from plausibly.io.declared import read_declared
from plausibly.io.tables import Names, table_from
from plausibly.protocols import ANNOTATION, Annotation, ComponentLike, Record
from plausibly.registry.calls import calling


def build_annotations(
    kind: ComponentLike[Annotation], records: Iterable[Record], labels: Names | None = None
) -> AnnotationTable:
    """Return the annotation table of plain records.

    Parameters
    ----------
    kind : str, mapping or Annotation
        What an answer is: ``"single-label"`` (a label), ``"label-set"`` (a list of labels),
        ``"partial-ranking"`` (a list of labels and of lists of tied ones, best first),
        ``"soft-label"`` (a mapping of labels to weights), or a plugin's.
    records : iterable of (example, annotator, answer)
        One a response, in any order. Names are taken as text; annotator None = unknown.
    labels : sequence of str, Path, str or Dataset, optional
        The declared labels, in order, as in `plausibly.read_annotations`.

    Returns
    -------
    AnnotationTable

    Raises
    ------
    InputError
        ``record-invalid``, ``response-twice``, ``label-unknown``, ``annotations-empty``, and what
        the kind says of an answer.

    Examples
    --------
    >>> import plausibly
    >>> said = [("scan 1", "ann", "cat"), ("scan 1", "bob", "dog")]
    >>> table = plausibly.build_annotations("single-label", said, ["cat", "dog", "fox"])
    >>> plausibly.aggregate(table).sel(example="scan 1").values.tolist()
    [0.5, 0.5, 0.0]
    """
    component = registry.resolve(ANNOTATION, kind)
    held, whose = list(records), f"annotation {component.name}"

    def build(declared: list[str] | None) -> xr.Dataset:
        with calling(whose, "build"):
            table = component.build(held, declared)
        return check_table(table, whose=whose)

    if labels is None:
        return rebuilt(build(None))
    return rebuilt(read_declared(build, table_from(labels, LABEL)))
