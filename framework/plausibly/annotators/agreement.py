"""Agreement of annotators: overall, by label, by annotator, by group of examples."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.annotators import measures
from plausibly.annotators.answers import (
    ORDER,
    RANKINGS,
    SETS,
    SINGLE,
    TIED,
    Answers,
    Resampling,
    column,
    matrix,
    order_positions,
    summed,
)
from plausibly.annotators.measures import Likeness, Measure, likenesses, mean, ratio
from plausibly.calibration.data import group_names
from plausibly.data import names
from plausibly.data.annotations import is_annotations
from plausibly.data.names import name_texts, not_among, positions, quoted, several, text_array
from plausibly.data.states import read_left_out
from plausibly.errors import InputError, counted
from plausibly.evaluation import inputs, intervals
from plausibly.evaluation.inputs import as_plausibilities
from plausibly.evaluation.intervals import Doubles, Variables
from plausibly.evaluation.result import (
    ENDS,
    Result,
    decimal,
    each,
    ends,
    figure_line,
    head_line,
    wrapped,
)
from plausibly.evaluation.splits import check_resamples
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Bools, Ints
from plausibly.text import percent

TOGETHER, OTHER = "together", "other"
MEASURE, GROUP = "measure", "group"
_FIGURES = ("value", "low", "high", "reason")


def label_disagreement(answers: xr.DataArray | xr.Dataset) -> xr.Dataset:
    """Return how often two answers to one example are each pair of labels.

    With d_i answers to example i, of which c_ik are k, and without examples of one answer,
    ``mean_i c_ik (c_il - 1[k = l]) / (d_i (d_i - 1))``; of plausibilities
    ``mean_i lambda_ik lambda_il``, as if two labels were drawn.

    Parameters
    ----------
    answers : Dataset or DataArray
        An annotation table, or plausibilities (example, label), dense or sparse. Tables of other
        kinds than single labels are aggregated by the default of their kind.

    Returns
    -------
    Dataset
        `together`, (label, other): the probability that the first of two answers to an example is
        `label` and the second `other`. `share`, (label): how often a label is named. `examples`,
        (label, other): to how many examples both are named. Attributes: `n` examples, `compared` of
        them, and `pairs`, of what: ``answers`` or ``draws``.

    Raises
    ------
    InputError
        ``pairs-none`` where no example has two answers, and what is wrong with the input.
    """
    if is_annotations(answers) and answers.attrs.get(names.KIND) == SINGLE:
        single = Answers.of(answers)
        labels, n, compared = text_array(single.labels), single.n, int(single.paired.sum())
        if not compared:
            raise InputError(
                "pairs-none",
                f"none of {several(n, 'example')} has two answers",
                expected="two answers or more to an example",
                hint='plausibly.aggregate(annotations, "dawid-skene"), and what that gives',
                source="annotations",
            )
        support, pairs = single.support, "answers"
        kept = single.paired[support.example]
        example, label = support.example[kept], support.label[kept]
        counts = support.named[kept].astype(np.float64)
        total = single.answers[example].astype(np.float64)
        shares, numbers, there = (
            matrix(values, example, label, (n, len(labels)))
            for values in (counts / (total * (total - 1)), counts, np.ones(len(counts)))
        )
        # An answer makes no pair with itself.
        alone = np.diag(np.asarray(shares.sum(axis=0)).ravel())
        together = ((shares.T @ numbers).toarray() - alone) / compared
        both = (there.T @ there).toarray()
    else:
        plausibilities = as_plausibilities(answers)
        # The order of the rows must not reach the last bits of the sums.
        order = np.argsort(hash_names(plausibilities[names.EXAMPLE].values), kind="stable")
        values = plausibilities.values[order].astype(np.float64)
        named = (values > 0).astype(np.float64)
        labels, n = text_array(name_texts(plausibilities[names.LABEL].values)), len(values)
        compared, pairs = n, "draws"
        together, both = values.T @ values / n, named.T @ named
    return xr.Dataset(
        {
            TOGETHER: ((names.LABEL, OTHER), together),
            "share": (names.LABEL, together.sum(axis=1)),
            "examples": ((names.LABEL, OTHER), np.rint(both).astype(np.int64)),
        },
        coords={names.LABEL: labels, OTHER: labels},
        attrs={"n": n, "compared": compared, "pairs": pairs},
    )


class Agreement(Result):
    """Agreement of annotators, from `plausibly.agreement`: prints measures and verdict."""

    def lines(self) -> list[str]:
        data, titles = self.data, measure_titles(self.data.attrs["kind"])
        annotators = int((data["annotator_answers"].values > 0).sum())
        counts = [several(int(data.attrs["examples"]), "example")]
        counts += [several(annotators, "annotator")] if annotators else []
        counts += [several(int(data.attrs["answers"]), "answer")]
        lines, further = [f"Agreement: {', '.join(counts)}"], []
        without = []
        for measure in each(data, MEASURE):
            name, figures = measure[MEASURE].item(), [float(measure[end]) for end in _FIGURES[:3]]
            if math.isnan(figures[0]):
                if name in _TITLES and data.attrs["compared"]:
                    without += wrapped(f"No value for {name}: {measure['reason'].item()}.")
            elif name in _FURTHER:
                between = "" if math.isnan(figures[1]) else f" ({ends(figures[1], figures[2])})"
                further.append(f"{titles[name]} {decimal(figures[0])}{between}")
            elif name in _TITLES:
                lines.append(_line(titles[name], figures))
        again, labels = data["label_again"].values, data[names.LABEL].values.tolist()
        known = np.flatnonzero(~np.isnan(again))
        often = np.argsort(-data["label_answers"].values[known], kind="stable")
        frequent = sorted(known[often[:_MOST_LABELS]].tolist())
        if frequent:
            most = f", the {len(frequent)} most frequent of {counted(len(known))}"
            most = most if len(known) > len(frequent) else ""
            by_label = [f"{quoted(labels[code])} ({decimal(again[code], 2)})" for code in frequent]
            further.append(f"agreement by label{most}: {', '.join(by_label)}")
        lines += wrapped(_verdict(data, frequent))
        lines += [*wrapped("; ".join(further), "further"), *without]
        if GROUP not in data.dims:
            return lines
        # All of a few groups, or those with the lowest agreement.
        title, parts = f"by {data.attrs['by']}", each(data, GROUP)
        if len(parts) > 2 * _MOST_ROWS:
            title += f": the {_MOST_ROWS} of {counted(len(parts))} with the lowest agreement"
            order = np.argsort(data["group_value"].sel(measure="percent").values, kind="stable")
            parts = [parts[place] for place in order[:_MOST_ROWS]]
        lines += [head_line("", data, "examples", "agreement", "alpha"), title]
        for group in parts:
            same, alpha = group.sel(measure="percent"), group.sel(measure="krippendorff-nominal")
            figures = [float(same[f"group_{figure}"]) for figure in _FIGURES[:3]]
            name, count = f"  {group[GROUP].item()}", counted(int(group["group_examples"]))
            lines += figure_line(name, count, figures, decimal(float(alpha["group_value"])))
        return lines

    def annotator_lines(self) -> list[str]:
        """Return the annotators that agree less than the others do, as text."""
        data = self.data
        agreed = data["annotator_agreement"].values
        known = np.flatnonzero(~np.isnan(agreed))
        if not known.size:
            return ["No annotator who is named answered an example that others answered, too."]
        low = sorted(np.flatnonzero(data["annotator_low"].values).tolist(), key=agreed.__getitem__)
        shown, lines = low[:_MOST_ROWS], []
        likeness = f"{_LIKENESS[data.attrs['likeness']]} {{}} (usual {{}})"
        for row in each(data.isel({names.ANNOTATOR: shown}), names.ANNOTATOR):
            name, number = str(row[names.ANNOTATOR].item()), int(row["annotator_answers"])
            values = (float(row["annotator_agreement"]), float(np.nanmedian(agreed)))
            text = likeness.format(*(decimal(value, 2) for value in values))
            lines.append(f"{name}  {counted(number)} answers   {text}")
            # A label that is named too often.
            share, others = (float(row[f"annotator_says_{end}"]) for end in ("share", "others"))
            if share - others >= _OFTEN:
                label = quoted(row["annotator_says"].item())
                shares = f"{percent(share)}, others {percent(others)}"
                lines.append(f"{'':<{len(name)}}  says {label} to {shares}")
        rest = not_among(known.tolist(), shown)
        if rest:
            span = dict.fromkeys(decimal(end) for end in (agreed[rest].min(), agreed[rest].max()))
            count = several(len(rest), "other annotator" if shown else "annotator")
            prefix = "" if shown else "No annotator stands out: "
            lines += wrapped(f"{prefix}{count}, {' to '.join(span)}. No annotator is left out.")
        return lines

    def to_json(self) -> dict[str, object]:
        result = self.data
        data: dict[str, object] = {
            **{name: value for name, value in self.attrs.items() if name != names.LEFT_OUT},
            "left_out": read_left_out(result.attrs),
            "measures": _table(result, MEASURE, _FIGURES, ""),
        }
        for dim, prefix in ((names.LABEL, "label_"), (names.ANNOTATOR, "annotator_")):
            columns = [str(name) for name in result if str(name).startswith(prefix)]
            data[f"by_{dim}"] = _table(result, dim, columns, prefix)
        if GROUP in result.dims:
            of_group = [f"{GROUP}_{figure}" for figure in _FIGURES]
            data["by_group"] = [
                {
                    "group": group[GROUP].item(),
                    "examples": int(group["group_examples"]),
                    "measures": _table(group, MEASURE, of_group, "group_"),
                }
                for group in each(result, GROUP)
            ]
        return data


def _table(
    data: xr.Dataset, dim: str, columns: Sequence[str], prefix: str
) -> list[dict[str, object]]:
    """Return one dict for each name along a dim."""
    values = {name.removeprefix(prefix): data[name].values.tolist() for name in columns}
    return [
        {dim: str(name), **{title: column[place] for title, column in values.items()}}
        for place, name in enumerate(data[dim].values)
    ]


_TITLE = 42
_MOST_LABELS, _MOST_ROWS = 12, 10
_OFTEN = 0.1  # a label is named too often from this much above the others on
_TITLES = {
    "percent": "two annotators give the same {answer}",
    "neighbouring": "the same or a neighbouring label",
    "krippendorff-nominal": "Krippendorff's alpha, nominal",
    "krippendorff-ordinal": "Krippendorff's alpha, ordinal",
    "krippendorff-jaccard": "Krippendorff's alpha, distance 1 - Jaccard",
    "krippendorff-masi": "Krippendorff's alpha, distance 1 - MASI",
    "krippendorff-overlap": "Krippendorff's alpha, distance 1 - overlap",
    "fleiss-kappa": "Fleiss' kappa",
    "jaccard": "Jaccard similarity of two sets",
    "masi": "MASI similarity of two sets",
    "first-choice": "the same first choice",
    "average-overlap": "average overlap",
    "partial-average-overlap": "partial average overlap",
    "left-out-vote": "same as the majority of the others",
}
_FURTHER = ("fleiss-kappa", "left-out-vote")  # below the verdict
_SHARES = {
    "unanimous": "examples on which all agree",
    "tied": "examples with a tied majority vote",
    "entropy": "mean entropy of the plausibilities, in nats",
}
_ANSWERS = {SINGLE: "answer", SETS: "set", RANKINGS: "ranking"}
_LIKENESS = {
    "percent": "agrees with others",
    "jaccard": "Jaccard with others",
    "partial-average-overlap": "overlap with others",
}


def measure_titles(kind: str) -> dict[str, str]:
    answer = _ANSWERS[kind]
    return {name: title.format(answer=answer) for name, title in {**_TITLES, **_SHARES}.items()}


def describe_certainty(certainty: xr.Dataset) -> list[str]:
    """Return in words how certain the most plausible label is.

    Parameters
    ----------
    certainty : Dataset
        From `plausibly.annotators.annotation_certainty`.
    """
    titles = {"": "certainty of the most plausible label", "level_": "of its level"}
    lines = [
        _line(title, [float(certainty[prefix + end]) for end in ENDS])
        for prefix, title in titles.items()
        if f"{prefix}mean" in certainty
    ]
    values = certainty["certainty"].values
    return lines + wrapped(
        f"by {certainty.attrs['draws']} resamples of the responses of each example: "
        f"{percent(float((values >= 1).mean()))} of {several(len(values), 'example')} have one "
        f"label in all of them, {percent(float((values < 0.5).mean()))} none in half of them"
    )


def _line(title: str, measured: Sequence[float]) -> str:
    value, low, high = measured
    between = "" if math.isnan(low) else ends(low, high)
    return f"{title:<{_TITLE}}{decimal(value):<7}{between}".rstrip()


def _verdict(data: xr.Dataset, frequent: list[int]) -> str:
    """Return the verdict: by label, by example, by annotator."""
    compared, every = int(data.attrs["compared"]), int(data.attrs["examples"])
    if not compared:
        return f"None of {several(every, 'example')} has answers of two annotators."
    parts = []
    value = dict(zip(data[MEASURE].values.tolist(), data["value"].values.tolist(), strict=True))
    again, labels = data["label_again"].values, data[names.LABEL].values.tolist()
    if frequent and np.ptp(again[frequent]) > 0:
        most, least = (
            f"{quoted(labels[code])} ({decimal(again[code], 2)})"
            for code in (max(frequent, key=again.__getitem__), min(frequent, key=again.__getitem__))
        )
        parts.append(f"Agreement is highest on {most} and lowest on {least}.")
    among = "the examples"
    if compared < every:
        among = f"{several(compared, 'example')} with two answers or more, of {counted(every)}"
    parts.append(
        f"All annotators agree on {percent(value['unanimous'])} of {among}; "
        f"{percent(value['tied'])} have a tied majority vote."
    )
    same, near = value["percent"], value.get("neighbouring", math.nan)
    if same < 1 and not math.isnan(near):
        share = (near - same) / (1 - same)
        parts.append(f"{percent(share)} of disagreement is by one step of the order.")
    agreed, low = data["annotator_agreement"].values, data["annotator_low"].values
    if low.any():
        place = min(np.flatnonzero(low).tolist(), key=lambda code: (agreed[code], code))
        others = np.delete(agreed, place)
        others = others[~np.isnan(others)]
        text = f"{data[names.ANNOTATOR].values[place]} agrees least with the others: "
        text += decimal(agreed[place], 2)
        if others.size:
            span = dict.fromkeys(decimal(end, 2) for end in (others.min(), others.max()))
            text += f", where the others reach {' to '.join(span)}"
        parts.append(f"{text}.")
    return " ".join(parts)


LEAST_COMPARED = 10  # answers of an annotator before anything is made of them
_LEVEL = 0.05  # chance that an annotator is noted where none differs


def left_out_votes(answers: Answers) -> Doubles:
    """Return the chance that what the others vote for is named by an answer of a cell: (cell,)."""
    cell, _, left, where, mention = answers.left(answers.cells.example, answers.cells.value)
    named = np.zeros(len(left), dtype=bool)
    named[where] = answers.mention_block[mention] == 1
    most = np.zeros(len(answers.cells.value))
    np.maximum.at(most, cell, left)
    leading = left >= (most * (1 - TIED))[cell]
    above = np.bincount(cell, weights=leading & named, minlength=len(most))
    below = np.bincount(cell, weights=leading, minlength=len(most))
    return np.where(answers.paired[answers.cells.example], above / np.maximum(below, 1), np.nan)


def by_annotator(answers: Answers, likeness: Likeness, votes: Doubles) -> Variables:
    """Return measures of each known annotator; unknown ones only count as others."""
    from scipy.special import ndtri

    who, owner, cell = answers.annotator, answers.owner, answers.cells.of_answer
    count = len(answers.annotators)
    known = who >= 0
    number = np.bincount(who[known], minlength=count)
    mine = known & answers.paired[owner]
    m = answers.answers[owner].astype(np.float64)
    alike = likeness.cells[cell] / np.maximum(m - 1, 1)
    own = 2 * likeness.cells[cell]
    among = ratio(likeness.pairs[owner] - own, (m - 1) * (m - 2))

    def average(values: Doubles, rows: Bools) -> Doubles:
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
    limit = float(-ndtri(_LEVEL / max(int(tested.sum()), 1)))
    columns = {
        "answers": number,
        "compared": np.bincount(who[mine], minlength=count),
        "agreement": average(alike, mine),
        "others": average(among, thrice),
        "vote": average(votes[cell], mine),
        "low": tested & (gap < -limit * error) & (gap < 0),
        **_says_too_much(answers, mine),
    }
    return {f"annotator_{name}": ([names.ANNOTATOR], values) for name, values in columns.items()}


def _says_too_much(answers: Answers, mine: Bools) -> dict[str, NDArray[np.generic]]:
    """Return the label that each annotator names most above the others, its share, and theirs."""
    rows = np.flatnonzero(mine)
    count, labels = len(answers.annotators), len(answers.labels)
    value = answers.value[rows]
    row, named, others, where, mention = answers.left(answers.owner[rows], value)
    who = answers.annotator[rows][row]
    mass, of_value = answers.mention_mass, answers.mention_value
    size = np.bincount(of_value, weights=mass, minlength=answers.values)
    own = np.zeros(len(row))
    own[where] = mass[mention] / size[of_value[mention]]
    total = np.bincount(row, weights=others, minlength=len(rows))
    others = np.maximum(others, 0.0) / total[row]
    pair, of = np.unique(who * labels + named, return_inverse=True)
    n = np.maximum(np.bincount(answers.annotator[rows], minlength=count), 1)
    person = pair // max(labels, 1)
    share = np.bincount(of, weights=own, minlength=len(pair)) / n[person]
    theirs = np.bincount(of, weights=others, minlength=len(pair)) / n[person]
    label, most, usual = np.full(count, -1), np.full(count, np.nan), np.full(count, np.nan)
    # The largest excess of each annotator comes last, and stays: the first label of equal ones.
    order = np.lexsort((-pair, np.round(share - theirs, 12), person))
    label[person[order]] = pair[order] % max(labels, 1)
    most[person[order]], usual[person[order]] = share[order], theirs[order]
    texts = [answers.labels[code] if code >= 0 else "" for code in label.tolist()]
    return {"says": text_array(texts), "says_share": most, "says_others": usual}


def by_label(answers: Answers, resampling: Resampling) -> Variables:
    """Return how often a label is named, and named by another where one names it."""
    paired = answers.paired[answers.support.example]
    # Of the labels that are named alone: there may be a million others.
    codes, label = np.unique(answers.support.label[paired], return_inverse=True)
    example, named = answers.support.example[paired], answers.support.named[paired]
    shape = (answers.n, len(codes))
    both = named * (named - 1) / (answers.answers[example] - 1)
    features = {
        "both": matrix(both, example, label, shape),
        "named": matrix(named, example, label, shape),
        "total": column(np.where(answers.paired, answers.answers, 0)),
    }
    sums = summed(features, np.ones((answers.n, 1)))
    again = ratio(sums["both"], sums["named"])[:, 0]
    share = ratio(sums["named"], sums["total"])[:, 0]
    low, high = np.full((2, len(codes)), np.nan)
    if len(codes):
        low, high = resampling.intervals(features, lambda sums: ratio(sums["both"], sums["named"]))
    columns = {
        "share": share,
        "again": again,
        "again_low": low,
        "again_high": high,
        "kappa": ratio(again - share, np.maximum(1 - share, 0.0)),
    }
    number = np.bincount(answers.support.label, answers.support.named, len(answers.labels))
    result: Variables = {"label_answers": ([names.LABEL], number.astype(np.int64))}
    for name, of_codes in columns.items():
        nothing = 0.0 if name == "share" and answers.paired.any() else math.nan
        values = np.full(len(answers.labels), nothing)
        values[codes] = of_codes
        result[f"label_{name}"] = [names.LABEL], values
    return result


def agreement(
    annotations: xr.Dataset,
    *,
    order: Sequence[object] | None = None,
    depth: int | None = None,
    by: str | None = None,
    cluster: str | None = None,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Agreement:
    """Measure how much the annotators of a table agree.

    Parameters
    ----------
    annotations : Dataset
        An annotation table of single labels, label sets or partial rankings.
    order : sequence of str, optional
        The labels from one end to the other, for measures that know an order; by default the
        numbers in the coordinate ``order`` of the labels, where there is one.
    depth : int, optional
        Of rankings: the first places that are compared; by default those of the longest ranking.
    by : str, optional
        Coordinate of the examples, such as the site: the measures of each group as well.
    cluster : str, optional
        Coordinate of the examples, such as the patient, that is resampled instead of examples.
    resamples : int
        Of the bootstrap behind the intervals; 0 for none.
    confidence : float
        Of the intervals.
    seed : int
        Of the resamples, which are keyed by the names of the examples or clusters.

    Returns
    -------
    Agreement
        Prints its measures and verdict. In `data`, over the dim ``measure`` (docs/agreement.md
        defines each): `value`, `low` and `high`, and `reason`, why there is no value.

        By label: `label_answers` that name it, `label_share`, `label_again` (another names it too,
        if one does) with ``*_low`` and ``*_high``, and `label_kappa`,
        ``(again - share) / (1 - share)``. By annotator: `annotator_answers`, `annotator_compared`
        (to others), `annotator_agreement` with others (the mean likeness, see the attribute
        ``likeness``), `annotator_others` (how the others agree on the same examples),
        `annotator_vote` (says what the others vote for), `annotator_low` (agrees less than the
        others do, beyond chance), and `annotator_says`, the label that this annotator names most
        above the others, with `annotator_says_share` and `annotator_says_others`. By example:
        `example_answers`, `example_agreement` and `example_entropy`. With `by`, over ``group``:
        `group_examples`, and `group_value`, ``*_low``, ``*_high``, ``*_reason`` by measure.

    Raises
    ------
    InputError
        ``agreement-kind``, ``weights-fractional``, ``order-unfit``, ``order-incomplete``,
        ``depth-unfit``, ``option-range``, and what is wrong with the table or a coordinate.

    Warns
    -----
    PlausiblyWarning
        ``order-partial`` where the coordinate ``order`` lacks labels that answers name.

    Notes
    -----
    Measures of pairs are over examples with two answers or more. Intervals are BCa over resamples
    of the examples, with Student's t for few. An annotator is low where the mean difference to the
    others of the same examples is more standard errors below 0 than chance gives one annotator in
    twenty tables, of ten answers or more.

    References
    ----------
    Fleiss, Measuring nominal scale agreement among many raters, Psychological Bulletin 1971.
    Krippendorff, Content analysis, 2004, chapter 11.
    Efron, Better bootstrap confidence intervals, JASA 1987.
    """
    intervals.check_method("auto", confidence)
    answers = Answers.of(annotations)
    position = order_positions(annotations, answers, order)
    if position is not None:  # the labels that annotators name, in their order
        places = np.argsort(position, kind="stable")
        in_order = [answers.labels[answers.mention_label[entry]] for entry in places]
    if depth is not None and answers.kind != RANKINGS:
        raise answers.unfit("depth", RANKINGS)
    deep = int(np.bincount(answers.mention_value).max(initial=1))  # of the longest ranking
    if depth is not None:
        deep = measures.check_depth(depth, len(answers.labels))
    resamples = check_resamples(resamples)
    keys = Keys(seed).child("agreement")
    place = positions(answers.examples.tolist(), name_texts(annotations.indexes[names.EXAMPLE]))
    coords = {k: v for k, v in annotations.coords.items() if v.dims == (names.EXAMPLE,)}
    about = xr.Dataset(coords=coords).isel({names.EXAMPLE: np.argsort(place)})
    drawn_names = answers.examples
    if cluster is not None:
        drawn_names = group_names(inputs.example_values(cluster, (about,)))

    def resampling(wanted: Bools, keys: Keys) -> Resampling:
        """Return how examples are resampled: those that can be compared, or their clusters."""
        compared = answers.paired[wanted]
        units, codes = np.unique(drawn_names[wanted][compared], return_inverse=True)
        hashes = hash_names(units.tolist())
        place = np.argsort(hashes, kind="stable")
        # -1, the last unit, is that of all examples in which nothing can be compared.
        of = np.full(len(compared), -1, dtype=np.int64)
        of[compared] = np.argsort(place, kind="stable")[codes]
        return Resampling(
            hashes=hashes[place], of=of, resamples=resamples, keys=keys, confidence=confidence
        )

    plan = resampling(np.ones(answers.n, dtype=bool), keys)
    alike, votes = likenesses(answers, deep), left_out_votes(answers)
    all_measures, entropies = _measures(answers, alike, votes, position)
    shares = np.where(answers.paired, measures.pair_shares(alike[-1]), np.nan)
    result = xr.Dataset(
        {
            **{
                name: (MEASURE, column)
                for name, column in measures.measured(all_measures, plan).items()
            },
            "example_answers": (names.EXAMPLE, answers.answers[place]),
            "example_agreement": (names.EXAMPLE, shares[place]),
            "example_entropy": (names.EXAMPLE, entropies[place]),
            **by_label(answers, plan),
            **by_annotator(answers, alike[-1], votes),
        },
        coords={
            MEASURE: text_array([measure.name for measure in all_measures]),
            names.EXAMPLE: answers.examples[place],
            names.LABEL: text_array(answers.labels),
            names.ANNOTATOR: text_array(answers.annotators),
        },
        attrs={
            "kind": answers.kind,
            "examples": answers.n,
            "compared": int(answers.paired.sum()),
            "answers": int(answers.answers.sum()),
            "unknown": int(answers.weight[answers.annotator < 0].sum()),
            "likeness": alike[-1].name,
            "resamples": resamples,
            "confidence": confidence,
            "seed": seed,
            names.LEFT_OUT: str(annotations.attrs.get(names.LEFT_OUT, "{}")),
            **({} if position is None else {ORDER: json.dumps(in_order)}),
            **({} if answers.kind != RANKINGS else {"depth": deep}),
            **({} if cluster is None else {"cluster": cluster, "clusters": len(plan.hashes)}),
            **({} if by is None else {"by": by}),
        },
    )
    if by is None:
        return Agreement(result)
    groups, codes = inputs.codes_of(inputs.example_values(by, (about,)))
    rows = []
    for code, group in enumerate(groups):
        mine = codes == code
        few = answers.only(mine)
        group_measures = _measures(few, likenesses(few, deep), left_out_votes(few), position)[0]
        rows.append(
            measures.measured(group_measures, resampling(mine, keys.child(f"group-{group}")))
        )
    result["group_examples"] = (GROUP, np.bincount(codes, minlength=len(groups)))
    for figure in _FIGURES:
        result[f"group_{figure}"] = ((GROUP, MEASURE), np.stack([row[figure] for row in rows]))
    return Agreement(result.assign_coords({GROUP: groups}))


def _measures(
    answers: Answers, likenesses: Sequence[Likeness], votes: Doubles, position: Ints | None
) -> tuple[list[Measure], Doubles]:
    """Return the measures in the order in which they are printed, and entropies of the examples."""
    of_order = [] if position is None else measures.ordered_measures(answers, position)
    # How often a known annotator names what the others vote for, the mean over examples.
    mine = (answers.annotator >= 0) & answers.paired[answers.owner]
    owner = answers.owner[mine]
    n = np.bincount(owner, minlength=answers.n)
    agreed = np.bincount(owner, votes[answers.cells.of_answer[mine]], answers.n) / np.maximum(n, 1)
    why = measures.NO_PAIRS
    if answers.paired.any():
        why = "no example with two answers says who gave one of them"
    support, lonely = answers.support, "no example has two answers"
    different = np.bincount(answers.cells.example, minlength=answers.n)
    tops = np.bincount(support.example[answers.leading], minlength=answers.n)
    total = np.bincount(support.example, weights=support.mass, minlength=answers.n)
    share = support.mass / total[support.example]
    spread = np.bincount(support.example, -share * np.log(share), answers.n)
    entropy = np.maximum(spread, 0.0)
    result = [
        *map(measures.pair_mean, likenesses),
        *of_order[:1],
        *(measures.krippendorff(likeness) for likeness in likenesses if likeness.alpha),
        *of_order[1:],
        *([measures.fleiss_kappa(likenesses[0])] if answers.kind == SINGLE else []),
        mean("left-out-vote", agreed, n > 0, why),
        mean("unanimous", (different == 1).astype(np.float64), answers.paired, lonely),
        mean("tied", (tops > 1).astype(np.float64), answers.paired, lonely),
        mean("entropy", entropy, answers.paired, lonely),
    ]
    return result, np.where(answers.answers > 0, entropy, np.nan)
