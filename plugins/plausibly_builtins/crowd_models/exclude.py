"""Exclude: any aggregator, without the responses of some annotators."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Literal

import attrs
import numpy as np
import xarray as xr

from plausibly.plugin import (
    Aggregator,
    Bools,
    InputError,
    Keys,
    Rows,
    answered_rows,
    listed,
    names,
    ordered_sum,
    select_annotations,
    several,
    with_left_out,
)
from plausibly_builtins.aggregation import Around, as_aggregator, example_names, refuse_or_warn
from plausibly_builtins.crowd_models.em import known_annotators

_FINITE = attrs.validators.and_(attrs.validators.gt(0.0), attrs.validators.lt(math.inf))


def _listed(annotators: Iterable[str]) -> tuple[str, ...]:
    return (annotators,) if isinstance(annotators, str) else tuple(annotators)


@attrs.frozen(kw_only=True)
class Exclude(Around):
    """Plausibilities by another aggregator, of the responses that are left.

    Left out are the responses of annotators

    1. whom you name (`annotators`);
    2. who gave fewer than `fewer_than` answers (their total `response_weight`);
    3. whose weight, as the aggregator `by` estimates it from the responses that 1 and 2 leave, is
       below `below`. All are evaluated at once, and none again without the others.

    The attribute `left_out` counts the responses; `excluded` names the annotators, as JSON, each
    with the reason. Responses of unknown annotators are kept. Rules 2 and 3 depend on all examples
    of the table (`joint`). To exclude annotators who disagree is to exclude disagreement: what is
    then covered is what the others say.

    Attributes
    ----------
    annotators : sequence of str
        Names of annotators to leave out.
    fewer_than : int
        Answers that an annotator must have given.
    below : float, optional
        Weight that an annotator must have.
    by : Aggregator
        One that estimates annotators, such as ``worker-agreement``, ``one-coin`` or
        ``dawid-skene``.
    lost : {"error", "keep"}
        Examples that would lose all their responses are refused; or keep all of them, with a
        warning.
    """

    annotators: tuple[str, ...] = attrs.field(default=(), converter=_listed)
    fewer_than: int = attrs.field(default=0, validator=attrs.validators.ge(0))
    below: float | None = attrs.field(default=None, validator=attrs.validators.optional(_FINITE))
    by: Aggregator = attrs.field(
        factory=lambda: as_aggregator("worker-agreement"), converter=as_aggregator
    )
    lost: Literal["error", "keep"] = "error"

    @property
    def accepts(self) -> frozenset[str]:
        """Kinds of annotation that the inner aggregator reads, and `by` where it is asked."""
        inner = super().accepts
        return inner if self.below is None else inner & self.by.accepts

    @property
    def joint(self) -> bool:
        """True if who is left out, or the inner aggregator, depends on all examples."""
        return super().joint or self.below is not None or self.fewer_than > 1

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        rows = answered_rows(annotations, self.accepts)
        known = known_annotators(rows, self.annotators, "exclude")
        reasons = self._reasons(rows, known)
        out = self._without_lost(rows, _by(rows, reasons))
        table = rows.take(np.flatnonzero(~out)) if out.any() else rows.table
        plausibilities = self.inner_for(table).aggregate(table, keys)
        gone = {who: why for who, why in zip(known, reasons, strict=True) if why}
        if not gone:
            return plausibilities
        # Empty answers, which say nothing, are not counted.
        left_out = {"responses by excluded annotators": int((out & (rows.mentions > 0)).sum())}
        return with_left_out(plausibilities, left_out).assign_attrs(excluded=json.dumps(gone))

    def _reasons(self, rows: Rows, known: list[str]) -> list[str]:
        """Return why each annotator is left out; empty where they are not."""
        reasons = ["named" if name in self.annotators else "" for name in known]
        attributed = (rows.mentions > 0) & (rows.annotator >= 0)
        answers = ordered_sum(rows.annotator[attributed], rows.weight[attributed], len(known))
        for place, number in enumerate(answers.tolist()):
            if not reasons[place] and 0 < number < self.fewer_than:
                reasons[place] = f"{number:g} of {self.fewer_than} answers"
        if self.below is None:
            return reasons
        # What `by` estimates without those who are left out already.
        kept = ~_by(rows, reasons) & (rows.mentions > 0)
        table = rows.take(np.flatnonzero(kept))
        answered = np.bincount(rows.example[kept], minlength=rows.n) > 0
        table = table if answered.all() else select_annotations(table, example=answered)
        estimated = self.by.reliability(table)
        if estimated is None:
            raise InputError(
                "reliability-none",
                f"exclude: {type(self.by).__name__} does not estimate what annotators are worth",
                expected="an aggregator that does",
                hint='by = "worker-agreement", "one-coin" or "dawid-skene"',
                source="aggregator exclude",
            )
        weights: list[float] = estimated[names.WEIGHT].sel({names.ANNOTATOR: known}).values.tolist()
        for place, weight in enumerate(weights):
            if not reasons[place] and weight < self.below:
                reasons[place] = f"weight {weight:.2f}, below {self.below:g}"
        return reasons

    def _without_lost(self, rows: Rows, out: Bools) -> Bools:
        """Return which responses are left out, once no example loses all of its."""
        counts = (rows.mentions > 0) & (rows.weight > 0)
        left = np.bincount(rows.example[counts & ~out], minlength=rows.n) > 0
        if left.all():
            return out
        shown = example_names(rows, ~left)
        refuse_or_warn(
            "annotators-needed",
            f"only excluded annotators answered {several(len(shown), 'example')}",
            refuse=self.lost == "error",
            expected="an answer of another annotator to each example",
            found=listed(shown),
            hint='lost = "keep" keeps all responses to these, "error" refuses them',
            source="aggregator exclude",
            details={"examples": shown},
        )
        return out & left[rows.example]


def _by(rows: Rows, reasons: list[str]) -> Bools:
    """Return which responses are of annotators for whom there is a reason; none of unknown ones."""
    return np.array([*map(bool, reasons), False])[rows.annotator]
