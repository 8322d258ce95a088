"""Annotators weighed by expectation maximisation, agreement or given weights, or left out."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import ClassVar, Literal

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
from plausibly_builtins.aggregation import (
    Around,
    Codes,
    Column,
    as_aggregator,
    by_name,
    convergence,
    example_names,
    most_voted,
    refuse_or_warn,
    summed,
)

Unknown = Literal["together", "error"]
"""What to do with responses of unknown annotators."""


def known_annotators(rows: Rows, annotators: Iterable[str], called: str) -> list[str]:
    """Return the annotators of a table, or raise ``annotators-unknown`` where others are named."""
    known = [str(name) for name in rows.table.indexes[names.ANNOTATOR]]
    lost = sorted(set(annotators).difference(known))
    if lost:
        raise InputError(
            "annotators-unknown",
            f"{called} names annotators that are not in the annotations",
            expected=f"names of annotators: {listed(known)}",
            found=listed(lost),
            hint=f"take them out of the parameters of {called}",
            source=f"aggregator {called}",
        )
    return known


@attrs.frozen(kw_only=True, eq=False)
class Cells:
    """Responses that name a label: each (example, annotator, label) once, in order of names."""

    rows: Rows
    labels: int
    annotators: int  # all unknown ones are one more, the last
    example: Codes  # places in the order of names
    annotator: Codes
    label: Codes
    weight: Column  # how many times it was answered, more than 0
    of_example: Codes  # these places of all in the table
    of_label: Codes
    of_annotator: Codes

    @classmethod
    def of(
        cls, annotations: xr.Dataset, accepts: frozenset[str], unknown: Unknown, called: str
    ) -> Cells:
        rows = answered_rows(annotations, accepts)
        known = rows.table.sizes[names.ANNOTATOR]
        weight = rows.weight[rows.response]
        counts = weight > 0
        of_example, of_annotator, of_label = (
            by_name(rows, dim) for dim in (names.EXAMPLE, names.ANNOTATOR, names.LABEL)
        )
        who = np.append(of_annotator, known)[rows.annotator[rows.response[counts]]]
        if number := int((who == known).sum()):
            done, other = ", taken as one annotator", 'unknown = "error" refuses them'
            if refuse := unknown == "error":
                done, other = "", f'{called} with unknown = "together" takes them as one annotator'
            refuse_or_warn(
                "annotators-anonymous",
                f"annotations: {several(number, 'response')} of unknown annotators{done}",
                refuse=refuse,
                expected=f"annotators by name: {called} estimates what each is worth",
                hint="plausibly.select_annotations(ann, annotator=ann.annotator.values) leaves "
                f"them out; {other}",
                source="annotations",
            )
        example = of_example[rows.example[rows.response[counts]]]
        key = (example * (known + 1) + who) * rows.labels + of_label[rows.label[counts]]
        once, cell = np.unique(key, return_inverse=True)
        pair, label = np.divmod(once, max(rows.labels, 1))
        example, annotator = np.divmod(pair, known + 1)
        return cls(
            rows=rows,
            labels=rows.labels,
            annotators=known + 1,
            example=example,
            annotator=annotator,
            label=label,
            weight=ordered_sum(cell, weight[counts], once.size),
            of_example=of_example,
            of_label=of_label,
            of_annotator=of_annotator,
        )

    def weighted(self, worth: Column) -> Column:
        """Return the answers by label and example: (label, example)."""
        n = self.rows.n
        terms = self.weight * worth[self.annotator]
        sums = summed(self.label * n + self.example, terms, self.labels * n)
        return sums.reshape(self.labels, n)

    @cached_property
    def votes(self) -> Column:
        """Total weight by label and example: (label, example)."""
        return self.weighted(np.ones(self.annotators))

    @cached_property
    def responses(self) -> Column:
        """Total weight of the responses of each annotator: (annotator,)."""
        return summed(self.annotator, self.weight, self.annotators)

    @cached_property
    def pairs(self) -> tuple[Codes, Codes, Codes]:
        """Annotator and label of each pair in the cells, sorted, and the pair of each cell."""
        key = self.annotator * self.labels + self.label
        once, pair = np.unique(key, return_inverse=True)
        annotator, label = np.divmod(once, max(self.labels, 1))
        return annotator, label, pair

    @cached_property
    def diagonal(self) -> Bools:
        """True if the label of a pair is the true one: (label, pair)."""
        matches: Bools = self.pairs[1] == np.arange(self.labels)[:, None]
        return matches

    def mass(self, plausible: Column) -> Column:
        """Return how often each pair is answered for examples of each label: (label, pair)."""
        return self._by_label(plausible, self.example, self.pairs[2], self.pairs[0].size)

    def evidence(self, log_chance: Column) -> Column:
        """Return what all responses of an example say for each label: (label, example)."""
        return self._by_label(log_chance, self.pairs[2], self.example, self.rows.n)

    def _by_label(self, values: Column, source: Codes, target: Codes, size: int) -> Column:
        """Return the weighted sum of the values of each cell: (label, place that it adds to)."""
        sums = np.empty((self.labels, size))
        for row, of_label in zip(sums, values, strict=True):
            row[:] = summed(target, self.weight * of_label.take(source), size)
        return sums

    def right(self, plausible: Column) -> Column:
        """Return how much of the responses of each annotator is right: (annotator,)."""
        terms = self.weight * plausible[self.label, self.example]
        return summed(self.annotator, terms, self.annotators)

    def as_table(self, values: Column) -> Column:
        """Return (label, example) values in the order of names as (example, label) of the table."""
        return np.ascontiguousarray(values[self.of_label].T[self.of_example])

    def reliability(self, weight: Column) -> xr.Dataset:
        """Return the table of annotators, as `plausibly.reliability` reads it."""
        named = (names.ANNOTATOR, names.LABEL)
        return xr.Dataset(
            {names.WEIGHT: (names.ANNOTATOR, weight[self.of_annotator])},
            {name: self.rows.table.coords[name].variable for name in named},
            {"unknown_weight": float(weight[-1])} if self.responses[-1] else {},
        )

    def with_confusion(self, table: xr.Dataset, chance: Column) -> xr.Dataset:
        """Return the table of annotators with their chances (annotator, label, said)."""
        ordered = chance[self.of_annotator][:, self.of_label][:, :, self.of_label]
        table = table.assign(confusion=((names.ANNOTATOR, names.LABEL, "said"), ordered))
        return table.assign_coords(said=self.rows.table[names.LABEL].values)


@attrs.frozen(kw_only=True)
class Estimated(Aggregator, ABC):
    """An aggregator that estimates what annotators are worth together with the true labels.

    Attributes
    ----------
    label_smoothing : float
        Examples of every label before the first.
    tolerance : float
        It has converged where no plausibility changes by more in an iteration.
    iterations : int
        The most iterations; it warns where that is too few.
    unknown : {"together", "error"}
        Take all responses of unknown annotators as those of one annotator, with a warning, or
        refuse them.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"single-label"})
    joint: ClassVar[bool] = True
    called: ClassVar[str]

    label_smoothing: float = attrs.field(default=0.0, validator=attrs.validators.ge(0.0))
    tolerance: float = attrs.field(default=1e-6, validator=attrs.validators.ge(0.0))
    iterations: int = attrs.field(default=500, validator=attrs.validators.ge(1))
    unknown: Unknown = "together"

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        cells, plausible, attributes = self._fitted(annotations)
        return cells.rows.plausibilities(cells.as_table(plausible)).assign_attrs(attributes)

    def reliability(self, annotations: xr.Dataset) -> xr.Dataset:
        cells, plausible, attributes = self._fitted(annotations)
        return self._of_annotators(cells, plausible).assign_attrs(attributes)

    def _fitted(self, annotations: xr.Dataset) -> tuple[Cells, Column, dict[str, str]]:
        """Return plausibilities (label, example) once they stay, and how they came there."""
        cells = Cells.of(annotations, self.accepts, self.unknown, self.called)
        plausible: Column = cells.votes / cells.votes.sum(axis=0)
        count, change = 0, np.inf if plausible.size else 0.0
        while change > self.tolerance and count < self.iterations:
            smoothing, (labels, n) = self.label_smoothing, plausible.shape
            with np.errstate(divide="ignore"):  # log share of examples of each label
                prevalence = np.log(plausible.sum(axis=1) + smoothing)
            prevalence -= np.log(n + labels * smoothing)
            joint = cells.evidence(self._log_chance(cells, plausible))
            joint += prevalence[:, None]
            joint -= joint.max(axis=0)
            np.exp(joint, out=joint)
            joint /= joint.sum(axis=0)
            count += 1
            change = float(np.abs(joint - plausible).max())
            plausible = joint
        settled = change <= self.tolerance
        attributes = convergence(self.called, count, change, self.tolerance, settled=settled)
        return cells, plausible, attributes

    @abstractmethod
    def _log_chance(self, cells: Cells, plausible: Column) -> Column:
        """Return the log-chances (label, pair) that fit best."""

    @abstractmethod
    def _of_annotators(self, cells: Cells, plausible: Column) -> xr.Dataset:
        """Return the table of annotators."""


@attrs.frozen(kw_only=True)
class DawidSkene(Estimated):
    """Plausibility of a label = its chance of being the one true label, given all answers.

    Each example has one true label k, drawn with the prevalence ``p_k``; annotator q says l of it
    with chance ``pi_qkl``, independently of all others. Prevalence, confusion matrices and
    plausibilities are estimated together, by expectation maximisation::

        lambda_ik  =  p_k prod_r pi_{q_r k l_r}^w_r  /  the same, summed over labels
        p_k        =  (sum_i lambda_ik + label_smoothing) / (n + K label_smoothing)
        pi_qkl     =  (N_qkl + smoothing + diagonal 1[k = l]) / the same, summed over l
        N_qkl      =  sum of w_r lambda_ik over responses r of q that say l

    w_r is the `response_weight` (1 where the table has none). The start is label frequency. Sets
    that are calibrated on these plausibilities cover *the estimated true label*, not an annotator's
    answer, and an example's plausibilities depend on all others (`joint`).

    Attributes
    ----------
    smoothing : float
        Responses that every annotator has given before the first, of every true label, of every
        label: a Dirichlet prior. With 0, what an annotator never confused is ruled out for good.
    diagonal : float
        Further such responses that are right: a prior that annotators are better than a guess.

    References
    ----------
    Dawid & Skene, Maximum likelihood estimation of observer error-rates using the EM algorithm,
    Applied Statistics 28 (1979), 20-28.
    """

    called: ClassVar[str] = "dawid-skene"

    smoothing: float = attrs.field(default=0.01, validator=attrs.validators.ge(0.0))
    diagonal: float = attrs.field(default=0.0, validator=attrs.validators.ge(0.0))

    def _of_annotators(self, cells: Cells, plausible: Column) -> xr.Dataset:
        labels = cells.labels
        annotator, label, _ = cells.pairs
        with np.errstate(invalid="ignore"):
            weight = cells.right(plausible) / cells.responses
            # Here of all labels, not of the pairs in the answers alone.
            counts = np.full((cells.annotators, labels, labels), self.smoothing)
            counts[annotator, :, label] += cells.mass(plausible).T
            counts += self.diagonal * np.eye(labels)
            total = counts.sum(axis=2, keepdims=True)
            chance = np.where(total > 0, counts / total, 1 / labels)
        chance[cells.responses == 0] = np.nan
        return cells.with_confusion(cells.reliability(weight), chance)

    def _log_chance(self, cells: Cells, plausible: Column) -> Column:
        labels, annotator = cells.labels, cells.pairs[0]
        counts = cells.mass(plausible)
        total = np.stack([summed(annotator, of_label, cells.annotators) for of_label in counts])
        total += labels * self.smoothing + self.diagonal
        counts += self.smoothing
        if self.diagonal:
            counts += self.diagonal * cells.diagonal
        with np.errstate(divide="ignore", invalid="ignore"):
            log_chance = np.log(counts)
            log_chance -= np.log(total)[:, annotator]
        # An annotator who never saw an example of this label: nothing is known, all is as likely.
        log_chance[np.isnan(log_chance)] = -np.log(labels)
        return log_chance


@attrs.frozen(kw_only=True)
class OneCoin(Estimated):
    """Plausibility of a label = its chance of being the one true label, given all answers.

    The model of `dawid-skene` with one number per annotator: q says the true label with chance
    ``c_q``, and each of the K - 1 others with ``(1 - c_q) / (K - 1)``. All labels of the table
    count, also those that no annotator gives::

        c_q  =  (N_q + right) / (sum of w_r + right + wrong)
        N_q  =  sum of w_r lambda_{i l_r} over responses r of q

    Attributes
    ----------
    right, wrong : float
        Responses of each kind that every annotator has given before the first: a Beta prior. With
        0, an annotator who was never wrong cannot be.

    References
    ----------
    Zhang, Chen, Zhou & Jordan, Spectral methods meet EM, JMLR 17 (2016), section 2.
    """

    called: ClassVar[str] = "one-coin"

    right: float = attrs.field(default=0.01, validator=attrs.validators.ge(0.0))
    wrong: float = attrs.field(default=0.01, validator=attrs.validators.ge(0.0))

    def _of_annotators(self, cells: Cells, plausible: Column) -> xr.Dataset:
        chance = self._chance(cells, plausible)[0]
        return cells.reliability(np.where(cells.responses > 0, chance, np.nan))

    def _chance(self, cells: Cells, plausible: Column) -> tuple[Column, Column]:
        """Return the chances (annotator,) to be right and to be wrong."""
        right = cells.right(plausible)
        # By rounding alone, a sum of plausibilities may pass the number of responses.
        wrong = np.maximum(cells.responses - right, 0.0) + self.wrong
        right = right + self.right
        with np.errstate(invalid="ignore"):
            return right / (right + wrong), wrong / (right + wrong)

    def _log_chance(self, cells: Cells, plausible: Column) -> Column:
        annotator = cells.pairs[0]
        chance, error = self._chance(cells, plausible)
        with np.errstate(divide="ignore"):
            log_right, log_wrong = np.log(chance), np.log(error)
        others = np.log(max(cells.labels - 1, 1))
        return np.where(cells.diagonal, log_right[annotator], log_wrong[annotator] - others)


@attrs.frozen(kw_only=True)
class WorkerAgreement(Aggregator):
    """Plausibility of a label = the weight of those who chose it / the weight of all who answered.

    The weight of an annotator is how often they agree with the majority of all; where L labels tie
    for the most votes, to say one of them is 1/L of an agreement::

        a_q        =  sum_r w_r 1[l_r in top_i] / |top_i|  /  sum_r w_r,   over responses r of q
        lambda_ik  =  sum_r w_r a_{q_r} 1[l_r = k]  /  sum_r w_r a_{q_r},  over responses r of i

    top_i are the labels with the most votes for example i, and w_r is the `response_weight`.

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

    unknown: Unknown = "together"

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        cells, agreement = self._agreement(annotations)
        shares = cells.weighted(agreement)
        return cells.rows.plausibilities(cells.as_table(shares / shares.sum(axis=0)))

    def reliability(self, annotations: xr.Dataset) -> xr.Dataset:
        cells, agreement = self._agreement(annotations)
        return cells.reliability(agreement)

    def _agreement(self, annotations: xr.Dataset) -> tuple[Cells, Column]:
        """Return the answers, and how often each annotator agrees with the majority."""
        cells = Cells.of(annotations, self.accepts, self.unknown, "worker-agreement")
        top = most_voted(cells.rows, cells.votes, axis=0)
        with np.errstate(invalid="ignore"):
            return cells, cells.right(top / top.sum(axis=0)) / cells.responses


def _weights(_: object, __: object, value: Mapping[str, float]) -> None:
    bad = [name for name, weight in value.items() if not (math.isfinite(weight) and weight >= 0)]
    if bad:
        msg = f"the weights of {listed(bad)} must be finite numbers, 0 or more"
        raise ValueError(msg)


@attrs.frozen(kw_only=True)
class WeightedVote(Aggregator):
    """Plausibility of a label = the weight of those who chose it / the weight of all who answered.

    ``lambda_ik = sum_r w_r a_{q_r} 1[l_r = k] / sum_r w_r a_{q_r}`` over the responses r of example
    i, w_r their `response_weight` and a_q the weight of annotator q, from *other* examples such as
    a qualification test. Examples with answers of weight 0 alone are refused.

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
        known = known_annotators(rows, self.weights, "weighted-vote")
        # Unknown annotators look at the last one.
        worth = np.array([*(self.weights.get(name, self.others) for name in known), self.others])
        terms = (rows.weight * worth[rows.annotator])[rows.response]
        total = rows.by_example(terms)
        if not (total > 0).all():
            shown = example_names(rows, total <= 0)
            raise InputError(
                "weights-zero",
                f"weighted-vote: only responses of weight 0 to {several(len(shown), 'example')}",
                expected="an annotator of some weight for each example",
                found=listed(shown),
                hint="a small weight instead of 0",
                source="aggregator weighted-vote",
            )
        return rows.plausibilities(rows.by_label(terms) / total[:, None])


_FINITE = attrs.validators.and_(attrs.validators.gt(0.0), attrs.validators.lt(math.inf))


def _listed(annotators: Iterable[str]) -> tuple[str, ...]:
    return (annotators,) if isinstance(annotators, str) else tuple(annotators)


@attrs.frozen(kw_only=True)
class Exclude(Around):
    """Plausibilities by another aggregator, of the responses that are left.

    Left out are the responses of annotators whom you name, who gave few answers, or whose weight is
    low, as the aggregator `by` estimates it from the responses that the other rules leave. The
    attribute `left_out` counts the responses; `excluded` names the annotators, as JSON, each with
    the reason. Responses of unknown annotators are kept.

    Attributes
    ----------
    annotators : sequence of str
        Names of annotators to leave out.
    fewer_than : int
        Answers that an annotator must have given, by total `response_weight`.
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
        )
        return out & left[rows.example]


def _by(rows: Rows, reasons: list[str]) -> Bools:
    """Return which responses are of annotators for whom there is a reason; none of unknown ones."""
    return np.array([*map(bool, reasons), False])[rows.annotator]
