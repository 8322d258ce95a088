"""Exclude: any aggregator, without the responses of some annotators."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Literal

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.plugin import (
    AGGREGATOR,
    Aggregator,
    ComponentLike,
    InputError,
    Keys,
    Rows,
    answered_rows,
    counted,
    listed,
    names,
    ordered_sum,
    resolve,
    select_annotations,
    several,
    warn,
    with_left_out,
)
from plausibly_builtins.aggregation import Around, example_names, refuse_or_warn
from plausibly_builtins.crowd_models.em import annotators_of, known_annotators

EXCLUDED = "excluded"
_REASON = "responses by excluded annotators"
_FINITE = attrs.validators.and_(attrs.validators.gt(0.0), attrs.validators.lt(math.inf))


def _aggregator(like: ComponentLike[Aggregator]) -> Aggregator:
    return resolve(AGGREGATOR, like)


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
    inner : Aggregator, optional
        By name, as a table or itself; by default the one for the kind of annotation.
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
        factory=lambda: _aggregator("worker-agreement"), converter=_aggregator
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
        if not self.annotators and self.fewer_than < 1 and self.below is None:
            warn(
                "exclude-unused",
                "exclude is not told whom to leave out",
                expected="names of annotators, a number of answers, or a weight",
                found="none of them: all responses count",
                hint='annotators = ["..."], fewer_than = 5 or below = 0.5',
                source="aggregator exclude",
            )
        reasons = self._reasons(rows)
        out = self._without_lost(rows, _by(rows, reasons), reasons)
        table = rows.take(np.flatnonzero(~out)) if out.any() else rows.table
        plausibilities = self.inner_for(table).aggregate(table, keys)
        gone = {who: why for who, why in zip(annotators_of(rows), reasons, strict=True) if why}
        if not gone:
            return plausibilities
        # Empty answers, which say nothing, are not counted.
        number = int((out & (rows.mentions > 0)).sum())
        return with_left_out(plausibilities, {_REASON: number}).assign_attrs(
            {EXCLUDED: json.dumps(gone)}
        )

    def _reasons(self, rows: Rows) -> list[str]:
        """Return why each annotator is left out; empty where they are not."""
        known = known_annotators(rows, self.annotators, "exclude names", "annotators")
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
                expected="an aggregator with a method reliability(annotations)",
                found="nothing of that name",
                hint='by = "worker-agreement", "one-coin" or "dawid-skene"',
                source="aggregator exclude",
            )
        weights: list[float] = estimated[names.WEIGHT].sel({names.ANNOTATOR: known}).values.tolist()
        for place, weight in enumerate(weights):
            if not reasons[place] and weight < self.below:
                reasons[place] = f"weight {weight:.2f}, below {self.below:g}"
        return reasons

    def _without_lost(
        self, rows: Rows, out: NDArray[np.bool_], reasons: list[str]
    ) -> NDArray[np.bool_]:
        """Return which responses are left out, once no example loses all of its."""
        counts = (rows.mentions > 0) & (rows.weight > 0)
        left = np.bincount(rows.example[counts & ~out], minlength=rows.n) > 0
        if left.all():
            return out
        shown = example_names(rows, ~left)
        several_lost = f"{counted(len(shown))} of {several(rows.n, 'example')}"
        who = sum(1 for reason in reasons if reason)
        kept = (
            f"exclude keeps all responses of {several_lost} ({listed(shown)}), which only those "
            "who are left out have answered"
        )
        refuse_or_warn(
            "annotators-needed",
            refused=f"exclude leaves {several_lost} without a response ({listed(shown)})",
            hint='lost = "keep" keeps all responses of these; or leave out fewer annotators',
            accepted=kept if self.lost == "keep" else None,
            otherwise='lost = "error" refuses them',
            expected="a response left for each example",
            found=f"{several(who, 'annotator')} of {len(reasons)} left out",
            source="aggregator exclude",
            details={"examples": shown},
        )
        return out & left[rows.example]


def _by(rows: Rows, reasons: list[str]) -> NDArray[np.bool_]:
    """Return which responses are of annotators for whom there is a reason; none of unknown ones."""
    return np.array([*map(bool, reasons), False])[rows.annotator]
