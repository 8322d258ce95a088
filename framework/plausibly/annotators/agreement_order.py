"""The order of labels from one end to the other, for measures of agreement that know one."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import xarray as xr

from plausibly.annotators.agreement_answers import SINGLE, Answers
from plausibly.data import names
from plausibly.data.names import name_texts, near, not_among, positions, quoted
from plausibly.errors import InputError, counted, listed, warn
from plausibly.kernels.types import Floats, Ints

ORDER = names.ORDER


def order_positions(
    annotations: xr.Dataset, answers: Answers, order: Sequence[object] | None
) -> Ints | None:
    """Return the place of the label of each value in the order, None where there is no order."""
    if order is None:
        wanted = _of_table(annotations, answers)
        if not wanted:
            return None
    else:
        wanted = name_texts(order)
    if answers.kind != SINGLE:
        raise InputError(
            "order-unfit",
            f"an order of labels has no meaning for {answers.kind} answers",
            expected="single-label answers",
            got=answers.kind,
            do="leave order (--order) out",
            whose="order",
        )
    place = positions(wanted, answers.labels)
    said = [answers.labels[k] for k in answers.mention_label.tolist() if place[k] < 0]
    if said or len(set(wanted)) < len(wanted):
        twice = [label for label in dict.fromkeys(wanted) if wanted.count(label) > 1]
        guess = near(said[0], wanted) if said else None
        raise InputError(
            "order-incomplete",
            f"the order of labels lacks {quoted(said[0])}, which annotators say"
            if said
            else f"the order of labels names {quoted(twice[0])} twice",
            expected="each label that is said, once",
            got=f"{listed(wanted)}; {counted(len(said) or len(twice))} "
            f"{'missing' if said else 'repeated'}",
            do=f"{quoted(said[0])} instead of {quoted(guess)} in the order"
            if guess
            else f"order={answers.labels} (--order {','.join(answers.labels)}), in their order",
            whose="order",
            details={"missing": said, "repeated": twice},
        )
    found: Ints = place[answers.mention_label]
    return found


def _of_table(annotations: xr.Dataset, answers: Answers) -> list[str]:
    """Return the labels by their numbers in the coordinate ``order``; none without an order."""
    if answers.kind != SINGLE or ORDER not in annotations.coords:
        return []
    column = annotations.coords[ORDER]
    if column.dims != (names.LABEL,) or column.dtype.kind not in "iuf":
        return []
    numbers: Floats = column.values.astype(np.float64)
    labels = name_texts(annotations.indexes[names.LABEL])
    ascending = np.argsort(numbers, kind="stable").tolist()
    wanted = [labels[code] for code in ascending if not np.isnan(numbers[code])]
    said = dict.fromkeys(answers.labels[code] for code in answers.mention_label.tolist())
    without = not_among(said, wanted)
    if wanted and without:
        warn(
            "order-partial",
            f"{counted(len(without))} of {counted(len(said))} labels that annotators say "
            f"{'has' if len(without) == 1 else 'have'} no place in the order "
            f"({listed(map(quoted, without))})",
            expected="a number in the column order for each label that is said",
            got="agreement without the measures that know an order",
            do=f"number them, or --missing {without[0]}, if it means no answer",
            whose=ORDER,
            stacklevel=4,
        )
        return []
    return wanted


def order_in_words(answers: Answers, position: Ints) -> str:
    """Return the labels that are said, in their order, as JSON."""
    place = np.argsort(position, kind="stable")
    return json.dumps([answers.labels[answers.mention_label[k]] for k in place])
