"""Votes that weigh as much as their annotator: by agreement with the majority, or as given."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar

import attrs
import numpy as np
import xarray as xr

from plausibly.plugin import (
    Aggregator,
    InputError,
    Keys,
    answered_rows,
    counted,
    listed,
    several,
)
from plausibly_builtins.aggregation import example_names
from plausibly_builtins.crowd_models.em import UNKNOWN, Cells, Column, Unknown, known_annotators

_TIE_WITHIN = 1e-12


@attrs.frozen(kw_only=True)
class WorkerAgreement(Aggregator):
    """Plausibility of a label = the weight of those who chose it / the weight of all who answered.

    The weight of an annotator is how often they agree with the majority of all, themselves
    included; where L labels tie for the most votes, to say one of them is 1/L of an agreement::

        a_q        =  sum_r w_r 1[l_r in top_i] / |top_i|  /  sum_r w_r,   over responses r of q
        lambda_ik  =  sum_r w_r a_{q_r} 1[l_r = k]  /  sum_r w_r a_{q_r},  over responses r of i

    top_i are the labels with the most votes for example i (compared exactly where all response
    weights are whole numbers, else to 12 digits), and w_r is the `response_weight`. Weights come
    from the whole table, so that an example's plausibilities depend on all others (`joint`).

    Attributes
    ----------
    unknown : {"together", "error"}
        Take all responses of unknown annotators as those of one annotator, with a warning, or
        refuse them.

    References
    ----------
    "Worker agreement with aggregate" (Wawa), as crowdsourcing platforms use it.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"single-label"})
    joint: ClassVar[bool] = True

    unknown: Unknown = attrs.field(default="together", validator=UNKNOWN)

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        cells = self._cells(annotations)
        shares = cells.weighted(_agreement(cells))
        return cells.rows.plausibilities(cells.as_table(shares / shares.sum(axis=0)))

    def reliability(self, annotations: xr.Dataset) -> xr.Dataset:
        cells = self._cells(annotations)
        return cells.reliability(_agreement(cells))

    def _cells(self, annotations: xr.Dataset) -> Cells:
        return Cells.of(annotations, self.accepts, self.unknown, "worker-agreement")


def _agreement(cells: Cells) -> Column:
    """Return how often each annotator agrees with the majority: (annotator,)."""
    votes = cells.votes
    most = votes.max(axis=0, initial=0.0)
    top = votes >= (most if cells.rows.counts else most * (1 - _TIE_WITHIN))
    with np.errstate(invalid="ignore"):
        agreement: Column = cells.right(top / top.sum(axis=0)) / cells.responses
    return agreement


def _weights(_: object, __: object, value: Mapping[str, float]) -> None:
    bad = [name for name, weight in value.items() if not (math.isfinite(weight) and weight >= 0)]
    if bad:
        msg = f"the weights of {listed(bad)} must be finite numbers, 0 or more"
        raise ValueError(msg)


@attrs.frozen(kw_only=True)
class WeightedVote(Aggregator):
    """Plausibility of a label = the weight of those who chose it / the weight of all who answered.

    ``lambda_ik = sum_r w_r a_{q_r} 1[l_r = k] / sum_r w_r a_{q_r}`` over the responses r of example
    i, w_r their `response_weight` and a_q the weight of annotator q. Take weights of a
    qualification test, or from `plausibly.reliability` of *other* examples. An annotator of
    weight 0 is left out; examples without other answers are refused.

    Attributes
    ----------
    weights : mapping of str to float
        Weight by name of the annotator.
    others : float
        Weight of all others, unknown annotators included.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"single-label"})

    weights: Mapping[str, float] = attrs.field(factory=dict, validator=_weights)
    others: float = attrs.field(default=1.0, validator=attrs.validators.ge(0.0))

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        rows = answered_rows(annotations, self.accepts)
        known = known_annotators(rows, self.weights, "weighted-vote has weights of", "weights")
        # Unknown annotators look at the last one.
        worth = np.array([*(self.weights.get(name, self.others) for name in known), self.others])
        terms = (rows.weight * worth[rows.annotator])[rows.response]
        total = rows.by_example(terms)
        if not (total > 0).all():
            shown = example_names(rows, total <= 0)
            raise InputError(
                "weights-zero",
                f"weighted-vote: {counted(len(shown))} of {several(rows.n, 'example')} "
                f"{'has' if len(shown) == 1 else 'have'} only responses of weight 0 "
                f"({listed(shown)})",
                expected="an annotator of some weight for each example",
                found="weights that are 0, for all who answered",
                hint="a small weight instead of 0, or plausibly.select_annotations(ann, "
                "annotator=...) and "
                'unanswered="drop"',
                source="aggregator weighted-vote",
                details={"examples": shown},
            )
        return rows.plausibilities(rows.by_label(terms) / total[:, None])
