"""What annotators and labels have to do with it: who differs, and over which labels."""

from __future__ import annotations

import math

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.annotators.agreement_answers import Answers, most_tied
from plausibly.annotators.agreement_likeness import Likeness
from plausibly.annotators.agreement_measures import Measure, Values, mean, ratio
from plausibly.annotators.agreement_resampling import Resampling, column, matrix, summed
from plausibly.data import names
from plausibly.data.names import text_array
from plausibly.kernels.types import Ints

LEAST_COMPARED = 10  # answers of an annotator before anything is made of them
_LEVEL = 0.05  # chance that somebody is noted where nobody differs


def example_measures(answers: Answers) -> tuple[list[Measure], dict[str, Values]]:
    """Return what is known of each example with two answers, as means and one by one."""
    paired = answers.paired
    why = "no example has two answers"
    cells = np.bincount(answers.cell_example, minlength=answers.n)
    tops = np.bincount(answers.support_example[answers.leading], minlength=answers.n)
    total = np.bincount(answers.support_example, weights=answers.mass, minlength=answers.n)
    share = answers.mass / total[answers.support_example]
    spread = np.bincount(
        answers.support_example, weights=-share * np.log(share), minlength=answers.n
    )
    entropy = np.maximum(spread, 0.0)
    found = [
        mean("unanimous", (cells == 1).astype(np.float64), paired, why),
        mean("tied", (tops > 1).astype(np.float64), paired, why),
        mean("entropy", entropy, paired, why),
    ]
    return found, {"entropy": np.where(answers.answers > 0, entropy, np.nan)}


def left_out_votes(answers: Answers) -> Values:
    """Return the chance that what the others vote for is named by an answer of a cell: (cell,).

    The others vote for the label with the most plausibility without this answer; of tied ones for
    each with equal chances. Of a ranking the first rank counts. NaN where there are no others.
    """
    cell, support = answers.spread_support(answers.cell_example)
    left = answers.mass[support]
    named = np.zeros(len(left), dtype=bool)
    own, mention = answers.spread(answers.cell_value)
    # both run through the same pairs of a cell and a label
    keys = cell * len(answers.labels) + answers.support_label[support]
    where = np.searchsorted(keys, own * len(answers.labels) + answers.mention_label[mention])
    left = left.copy()
    left[where] -= answers.mention_mass[mention]
    named[where] = answers.mention_block[mention] == 1
    most = np.zeros(len(answers.cell_value))
    np.maximum.at(most, cell, left)
    leading = left >= (most * (1 - most_tied()))[cell]
    above = np.bincount(cell, weights=leading & named, minlength=len(most))
    below = np.bincount(cell, weights=leading, minlength=len(most))
    return np.where(answers.paired[answers.cell_example], above / np.maximum(below, 1), np.nan)


def left_out_measure(answers: Answers, votes: Values) -> Measure:
    """Return how often a real annotator says what the others vote for, the mean over examples."""
    mine = (answers.annotator >= 0) & answers.paired[answers.owner]
    n = np.bincount(answers.owner[mine], minlength=answers.n)
    agreed = np.bincount(
        answers.owner[mine], weights=votes[answers.cell[mine]], minlength=answers.n
    )
    why = (
        "no example with two answers says who gave one of them"
        if answers.paired.any()
        else "no example has answers of two annotators"
    )
    return mean("left-out-vote", agreed / np.maximum(n, 1), n > 0, why)


def by_annotator(answers: Answers, likeness: Likeness, votes: Values) -> xr.Dataset:
    """Return what there is to say of each known annotator: unknown ones only count as others."""
    who, owner, cell = answers.annotator, answers.owner, answers.cell
    count = len(answers.annotators)
    known = who >= 0
    given = np.bincount(who[known], minlength=count)
    mine = known & answers.paired[owner]
    m = answers.answers[owner].astype(np.float64)
    alike = likeness.cells[cell] / np.maximum(m - 1, 1)
    own = 2 * likeness.cells[cell]
    among = ratio(likeness.pairs[owner] - own, (m - 1) * (m - 2))
    compared = np.bincount(who[mine], minlength=count)

    def average(values: Values, rows: NDArray[np.bool_]) -> Values:
        n = np.bincount(who[rows], minlength=count)
        return ratio(np.bincount(who[rows], weights=values[rows], minlength=count), n)

    thrice = mine & (m >= 3)
    lower = alike - among
    gap = average(lower, thrice)
    n = np.bincount(who[thrice], minlength=count)
    away = np.zeros(len(who))
    away[thrice] = lower[thrice] - gap[who[thrice]]
    square = average(away**2, thrice)
    error = np.sqrt(ratio(square, np.maximum(n - 1, 0)))
    tested = n >= LEAST_COMPARED
    limit = _limit(int(tested.sum()))
    low = np.zeros(count, dtype=bool)
    low[tested] = (gap[tested] < -limit * error[tested]) & (gap[tested] < 0)
    says = _says_too_much(answers, mine)
    dim = names.ANNOTATOR
    return xr.Dataset(
        {
            "annotator_answers": (dim, given),
            "annotator_compared": (dim, compared),
            "annotator_agreement": (dim, average(alike, mine)),
            "annotator_others": (dim, average(among, thrice)),
            "annotator_vote": (dim, average(votes[cell], mine)),
            "annotator_low": (dim, low),
            "annotator_says": (
                dim,
                text_array([answers.labels[k] if k >= 0 else "" for k in says[0]]),
            ),
            "annotator_says_share": (dim, says[1]),
            "annotator_says_others": (dim, says[2]),
        },
        coords={dim: text_array(answers.annotators)},
    )


def _limit(tested: int) -> float:
    """Return how many standard errors below the others one must lie to be noted."""
    from scipy.special import ndtri

    return float(-ndtri(_LEVEL / tested)) if tested else 0.0


def _says_too_much(answers: Answers, mine: NDArray[np.bool_]) -> tuple[list[int], Values, Values]:
    """Return the label that each annotator names most above the others, its share, and theirs."""
    rows = np.flatnonzero(mine)
    count, labels = len(answers.annotators), len(answers.labels)
    row, support = answers.spread_support(answers.owner[rows])
    who = answers.annotator[rows][row]
    size = np.bincount(
        answers.mention_value, weights=answers.mention_mass, minlength=answers.values
    )
    own, mention = answers.spread(answers.value[rows])
    keys = row * labels + answers.support_label[support]
    where = np.searchsorted(keys, own * labels + answers.mention_label[mention])
    said = np.zeros(len(row))
    value = answers.value[rows][own]
    said[where] = answers.mention_mass[mention] / size[value]
    others = answers.mass[support].copy()
    others[where] -= answers.mention_mass[mention]
    total = np.bincount(row, weights=others, minlength=len(rows))
    others = np.maximum(others, 0.0) / total[row]
    pair, of = np.unique(who * labels + answers.support_label[support], return_inverse=True)
    n = np.maximum(np.bincount(answers.annotator[rows], minlength=count), 1)
    person = pair // max(labels, 1)
    share = np.bincount(of, weights=said, minlength=len(pair)) / n[person]
    theirs = np.bincount(of, weights=others, minlength=len(pair)) / n[person]
    label, most, usual = [-1] * count, np.full(count, np.nan), np.full(count, np.nan)
    # the largest excess of each annotator comes last, the first label of equal ones
    for place in np.lexsort((-pair, np.round(share - theirs, 12), person)).tolist():
        one = int(person[place])
        label[one] = int(pair[place] % labels)
        most[one], usual[one] = share[place], theirs[place]
    return label, most, usual


def by_label(answers: Answers, resampling: Resampling) -> xr.Dataset:
    """Return how often a label is named, and named by another where one names it."""
    paired = answers.paired[answers.support_example]
    # Of the labels that are named alone: there may be a million others.
    codes, label = np.unique(answers.support_label[paired], return_inverse=True)
    example, named = answers.support_example[paired], answers.named[paired]
    shape = (answers.n, len(codes))
    both = named * (named - 1) / (answers.answers[example] - 1)
    features = {
        "both": matrix(both, example, label, shape),
        "named": matrix(named, example, label, shape),
        "total": column(np.where(answers.paired, answers.answers, 0)),
    }
    one = np.ones((answers.n, 1))
    sums = summed(features, one)
    again = ratio(sums["both"], sums["named"])[:, 0]
    share = ratio(sums["named"], sums["total"])[:, 0]
    replicates = [
        ratio(now["both"], now["named"])
        for times in resampling.times()
        for now in (summed({key: features[key] for key in ("both", "named")}, times),)
    ]
    drawn = np.concatenate(replicates, axis=1) if replicates else np.empty((shape[1], 0))
    ends = [
        resampling.ends(row) if not math.isnan(value) else (math.nan, math.nan)
        for row, value in zip(drawn, again, strict=True)
    ]
    dim = names.LABEL
    columns = {
        "label_share": share,
        "label_again": again,
        "label_again_low": [low for low, _ in ends],
        "label_again_high": [high for _, high in ends],
        "label_kappa": ratio(again - share, np.maximum(1 - share, 0.0)),
    }
    found = xr.Dataset(
        {"label_answers": (dim, _named(answers))}, coords={dim: text_array(answers.labels)}
    )
    for name, column_of in columns.items():
        nothing = 0.0 if name == "label_share" and answers.paired.any() else math.nan
        values = np.full(len(answers.labels), nothing)
        values[codes] = column_of
        found[name] = (dim, values)
    return found


def _named(answers: Answers) -> Ints:
    found = np.zeros(len(answers.labels), dtype=np.int64)
    np.add.at(found, answers.support_label, answers.named)
    return found
