"""Comparisons of two labels: a kind of answer, its reader and its aggregator."""

from __future__ import annotations

from plausibly.plugin import AGGREGATOR, ANNOTATION, READER, Registrar, hookimpl


@hookimpl
def tell_plausibly(registrar: Registrar) -> None:
    """Register the three."""
    registrar.add(
        ANNOTATION,
        "pairwise",
        "pairs_reader.annotation:Pairwise",
        summary="of two labels, which fits better; any number of such pairs a response",
    )
    registrar.add(
        READER,
        "pairwise",
        "pairs_reader.reader:PairwiseTable",
        summary="one row a comparison: example, annotator, better, worse",
    )
    registrar.add(
        AGGREGATOR,
        "bradley-terry",
        "pairs_reader.bradley_terry:BradleyTerry",
        summary="chances of being preferred, fitted to all comparisons",
    )
