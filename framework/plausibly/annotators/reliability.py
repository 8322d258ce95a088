"""Reliability of each annotator, by any aggregator that estimates it, in one table."""

from __future__ import annotations

import json

import numpy as np
import xarray as xr

from plausibly import registry, text
from plausibly.data import names
from plausibly.data.annotations import Rows, check_table, read_only
from plausibly.data.names import name_texts, quoted, several, text_array
from plausibly.data.select import answered, select_annotations
from plausibly.errors import ComponentError, InputError, an, counted
from plausibly.kernels.masses import ordered_sum
from plausibly.kernels.types import Floats
from plausibly.protocols import AGGREGATOR, Aggregator, ComponentLike
from plausibly.registry import called
from plausibly.registry.entries import calling

RESPONSES = "responses"
NOTE = "note"
AGGREGATOR_NAME = "aggregator"
UNKNOWN_WEIGHT = "unknown_weight"
UNKNOWN_RESPONSES = "unknown_responses"

_SHOWN = 10
_ONE_SIDED = 0.9  # share of one label among an annotator's responses that is worth a note
_OVERALL = 0.75  # of that share: what all annotators together may give that label at most
_FROM = 5  # responses below which an annotator has no estimate


class ReliabilityTable(xr.Dataset):  # type: ignore[no-untyped-call]  # xarray lacks the hint
    """A Dataset over annotators that prints as a table, the least reliable first."""

    __slots__ = ()

    def __repr__(self) -> str:
        return _printed(self) if _is_whole(self) else super().__repr__()

    def _repr_html_(self) -> str:
        variables = text.Html(super()._repr_html_())
        if not _is_whole(self):
            return variables
        return text.framed(
            "reliability", text.preformatted(_printed(self)), text.unfolded("variables", variables)
        )


def reliability(
    annotations: xr.Dataset, aggregator: ComponentLike[Aggregator], **params: object
) -> ReliabilityTable:
    """Return what each annotator is worth, as an aggregator estimates it.

    Parameters
    ----------
    annotations : Dataset
        An annotation table; examples without an answer are left out.
    aggregator : str, mapping or Aggregator
        One that estimates annotators, such as ``dawid-skene``, ``one-coin`` or
        ``worker-agreement``: it has a method ``reliability(annotations)``.
    **params
        Parameters of the aggregator, with its name.

    Returns
    -------
    ReliabilityTable, (annotator)
        In the order of `annotations`; prints the least reliable first. Variables `responses` (total
        weight of the answers), `weight` (share of them that is right, as the aggregator estimates
        it; NaN without answers), `note` (nearly all answers are one label, or are right less often
        than a guess), and what else the aggregator returns, such as `confusion` (annotator, label,
        said). Attributes hold the same of unknown annotators, taken together, and how the estimate
        converged.

    Raises
    ------
    InputError
        ``reliability-none`` where the aggregator estimates no annotators, ``kind-unsuitable``, and
        what the aggregator says.
    ComponentError
        ``reliability-malformed`` where the answer of a plugin is no table of these annotators.
    """
    table = check_table(annotations)
    component = registry.resolve(AGGREGATOR, aggregator, params or None)
    source = called(AGGREGATOR, component)
    check_table(table, component.accepts)
    kept = answered(table)
    if len(kept) < table.sizes[names.EXAMPLE]:
        table = select_annotations(table, example=kept)
    with calling(f"aggregator {source}", "reliability"):
        estimate: object = component.reliability(read_only(table))
    if estimate is None:
        raise InputError(
            "reliability-none",
            f"aggregator {source} does not estimate what annotators are worth",
            expected="a method reliability(annotations)",
            hint="dawid-skene, one-coin or worker-agreement, which do",
            source=f"aggregator {source}",
        )
    wanted = name_texts(table.indexes[names.ANNOTATOR])
    if (
        not isinstance(estimate, xr.Dataset)
        or names.WEIGHT not in estimate
        or estimate[names.WEIGHT].dims != (names.ANNOTATOR,)
        or sorted(name_texts(estimate[names.ANNOTATOR].values)) != sorted(wanted)
    ):
        raise ComponentError(
            "reliability-malformed",
            f"aggregator {source} gives no table of the annotators",
            expected=f"a Dataset with weight over {several(len(wanted), 'annotator')}",
            found=an(type(estimate).__name__),
            hint="fix its method reliability",
            source=f"aggregator {source}",
        )
    by_annotator = estimate.reindex({names.ANNOTATOR: wanted})
    rows = Rows.of(table)
    # The total weight of the answers of each annotator; the last are unknown ones.
    size, answers = table.sizes[names.ANNOTATOR], rows.mentions > 0
    annotator = np.where(rows.annotator < 0, size, rows.annotator)
    responses = ordered_sum(annotator[answers], rows.weight[answers], size + 1)
    known = responses[:-1]
    labels = name_texts(table.indexes[names.LABEL])
    cell = annotator[rows.response].astype(np.int64) * rows.labels + rows.label
    counts = ordered_sum(cell, rows.weight[rows.response], (size + 1) * rows.labels)
    counts = counts.reshape(size + 1, rows.labels)
    overall, guess = counts.sum(axis=0), 1 / max(rows.labels, 1)
    notes = []
    for place, (number, weight) in enumerate(
        zip(known, by_annotator[names.WEIGHT].values, strict=True)
    ):
        note = [] if number else ["no response"]
        if number >= _FROM:
            most = int(counts[place].argmax())
            share = counts[place, most] / number
            if share >= _ONE_SIDED and overall[most] <= _OVERALL * share * overall.sum():
                note.append(f"says {quoted(labels[most])} to {100 * share:.0f}%")
            if weight < guess:
                note.append("right less often than a guess")
        notes.append("; ".join(note))
    further = {
        name: by_annotator[name].variable for name in by_annotator.data_vars if name != names.WEIGHT
    }
    made = ReliabilityTable(
        {
            RESPONSES: (names.ANNOTATOR, known.astype(np.int64) if rows.counts else known),
            names.WEIGHT: by_annotator[names.WEIGHT].variable,
            **further,
            NOTE: (names.ANNOTATOR, text_array(notes)),
        },
        coords=by_annotator.coords,
        attrs={**by_annotator.attrs, AGGREGATOR_NAME: source},
    )
    return made.assign_attrs({UNKNOWN_RESPONSES: float(responses[-1])}) if responses[-1] else made


def _is_whole(table: xr.Dataset) -> bool:
    """Return whether the columns that are printed are there, as they are not in every part."""
    columns = (RESPONSES, names.WEIGHT, NOTE)
    return names.ANNOTATOR in table.indexes and all(
        name in table and table[name].dims == (names.ANNOTATOR,) for name in columns
    )


def _printed(table: xr.Dataset) -> str:
    """Return the table as text: a head line, then annotators, the least reliable first."""
    weight: Floats = table[names.WEIGHT].values
    annotators = name_texts(table.indexes[names.ANNOTATOR])
    head = [f"reliability  {several(len(annotators), 'annotator')}"]
    if AGGREGATOR_NAME in table.attrs:
        head.append(f"by {table.attrs[AGGREGATOR_NAME]}")
    facts = json.loads(str(table.attrs.get(names.CONVERGENCE, "null")))
    if facts:
        done = facts["change"] <= facts["tolerance"]
        rounds = several(facts["iterations"], "iteration")
        head.append(f"{'converged' if done else 'NOT converged'} after {rounds}")
    columns = (
        annotators,
        list(map(_amount, table[RESPONSES].values)),
        list(map(_share, weight)),
        list(map(str, table[NOTE].values)),
    )
    # NaN goes last; names break ties, so that the order is always the same.
    order = np.lexsort((text_array(annotators), weight))
    rows = [[column[i] for column in columns] for i in order[:_SHOWN]]
    rows.insert(0, [names.ANNOTATOR, RESPONSES, names.WEIGHT, NOTE])
    first, second, third = (max(len(row[column]) for row in rows) for column in range(3))
    lines = [", ".join(head)]
    for name, number, share, note in rows:
        lines.append(f"{name:<{first}}  {number:>{second}}  {share:>{third}}   {note}".rstrip())
    rest = [weight[i] for i in order[_SHOWN:] if not np.isnan(weight[i])]
    if len(order) > _SHOWN:
        span = f", {_share(rest[0])} to {_share(rest[-1])}" if rest else ""
        lines.append(f"{several(len(order) - _SHOWN, 'other annotator')}{span}")
    if UNKNOWN_RESPONSES in table.attrs:
        number = _amount(table.attrs[UNKNOWN_RESPONSES])
        text = f"{number} responses of unknown annotators"
        if UNKNOWN_WEIGHT in table.attrs:
            text += f", taken as one: weight {_share(table.attrs[UNKNOWN_WEIGHT])}"
        lines.append(text)
    return "\n".join(lines)


def _amount(number: float) -> str:
    return counted(int(number)) if float(number).is_integer() else f"{number:,.1f}"


def _share(weight: float) -> str:
    """Return a weight with two decimals, as shares are printed; more than 1 stays as it is."""
    return "-" if np.isnan(weight) else f"{weight:.2f}"
