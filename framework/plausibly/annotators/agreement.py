"""How much annotators agree: overall, by label, by annotator, by group of examples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.annotators import agreement_likeness, agreement_measures
from plausibly.annotators import agreement_parts as parts
from plausibly.annotators import agreement_rankings as rankings
from plausibly.annotators.agreement_answers import RANKINGS, SINGLE, Answers
from plausibly.annotators.agreement_likeness import Likeness
from plausibly.annotators.agreement_measures import Measure
from plausibly.annotators.agreement_order import ORDER, order_in_words, order_positions
from plausibly.annotators.agreement_resampling import Resampling
from plausibly.calibration.coordinates import group_names
from plausibly.data import names
from plausibly.data.names import name_texts, positions, text_array
from plausibly.errors import InputError
from plausibly.evaluation import inputs, intervals
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Bools, Ints
from plausibly.planning.options import check_resamples

MEASURE, GROUP = "measure", "group"


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
) -> xr.Dataset:
    """Measure how much the annotators of a table agree.

    Parameters
    ----------
    annotations : Dataset
        An annotation table of single labels, label sets or partial rankings. Who answered need not
        be known; answers that are missing are no disagreement.
    order : sequence of str, optional
        The labels from one end to the other, for measures that know an order; by default the
        numbers in the coordinate ``order`` of the labels, where there is one.
    depth : int, optional
        Of rankings: the first places that are compared; by default those of the longest ranking.
    by : str, optional
        Coordinate of the examples, such as the site: the measures of each group beside those of
        all.
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
    Dataset
        Over the dim ``measure``: `value`, `low` and `high`, and `reason`, why there is no value.
        Of all kinds: ``percent`` (two answers to an example are equal, the mean over examples),
        ``krippendorff-nominal``, ``left-out-vote`` (an annotator says what the others vote for),
        ``unanimous`` and ``tied`` (shares of examples), ``entropy`` (mean, in nats, of the
        plausibilities by the default aggregator of the kind). Of single labels ``fleiss-kappa``,
        and with an order ``neighbouring`` (equal, or next to each other) and
        ``krippendorff-ordinal``. Of label sets ``jaccard`` and ``masi`` (mean likeness of two
        sets), ``krippendorff-jaccard`` and ``krippendorff-masi`` (with the distance 1 - likeness).
        Of rankings ``first-choice`` (labels drawn from the first ranks of two are the same),
        ``average-overlap`` and ``partial-average-overlap`` (see
        `plausibly.annotators.average_overlap`) and ``krippendorff-overlap`` (with the distance
        1 - partial average overlap).

        By label: `label_answers` that name it, `label_share`, `label_again` (another names it too,
        if one does) with ``*_low`` and ``*_high``, and `label_kappa`,
        ``(again - share) / (1 - share)``. By annotator: `annotator_answers`,
        `annotator_compared` (to others), `annotator_agreement` with others (the mean likeness:
        equal, jaccard, or partial average overlap, the attribute ``likeness``),
        `annotator_others` (how the others agree on the same examples, where there are two),
        `annotator_vote` (says what the others vote for), `annotator_low` (agrees less than the
        others do, beyond chance), and `annotator_says`, the label that this annotator names most
        above the others, with `annotator_says_share` and `annotator_says_others`. By example:
        `example_answers`, `example_agreement` and `example_entropy`. With `by`, over ``group``:
        `group_examples`, and `group_value`, ``*_low``, ``*_high``, ``*_reason`` by measure.

    Raises
    ------
    InputError
        ``agreement-kind``, ``weights-fractional``, ``order-unfit``, ``order-incomplete``,
        ``depth-unfit``, ``depth-range``, ``resamples-range``, and what is wrong with the table or
        a coordinate.

    Warns
    -----
    PlausiblyWarning
        ``annotator-repeats`` where one annotator answers an example several times;
        ``order-partial`` where the coordinate ``order`` lacks labels that are said.

    Notes
    -----
    Measures of pairs are over examples with two answers or more. Intervals are BCa over resamples
    of the examples, with Student's t for few: what other examples of the same kind, answered alike,
    would give. There is none where all resamples agree alike, as where nobody disagrees.
    An annotator is low where the mean difference to the others of the same examples is more
    standard errors below 0 than chance gives one annotator in twenty tables, and ten answers or
    more were compared.

    References
    ----------
    Fleiss, Measuring nominal scale agreement among many raters, Psychological Bulletin 1971.
    Krippendorff, Content analysis, 2004, chapter 11.
    Efron, Better bootstrap confidence intervals, JASA 1987.
    """
    intervals.check_method("auto", confidence)
    answers = Answers.of(annotations)
    position = order_positions(annotations, answers, order)
    deep = _depth(answers, depth)
    drawn = check_resamples(resamples)
    keys = Keys(seed).child("agreement")
    coordinates = _coordinates(annotations, answers)
    clusters = None if cluster is None else _texts(cluster, coordinates)

    def resampling(wanted: Bools, stream: Keys) -> Resampling:
        return _resampling(answers, clusters, wanted, stream, drawn, confidence)

    everybody = np.ones(answers.n, dtype=bool)
    plan = resampling(everybody, keys)
    likenesses = agreement_likeness.likenesses(answers, deep)
    votes = parts.left_out_votes(answers)
    measures, of_examples = _measures(answers, likenesses, votes, position)
    found = agreement_measures.measured(measures, plan)
    place = positions(
        list(map(str, answers.examples)), name_texts(annotations.indexes[names.EXAMPLE])
    )
    shares = np.where(answers.paired, agreement_measures.pair_shares(likenesses[-1]), np.nan)
    result = xr.Dataset(
        {
            "value": (MEASURE, found.value),
            "low": (MEASURE, found.low),
            "high": (MEASURE, found.high),
            "reason": (MEASURE, text_array(found.reason)),
            "example_answers": (names.EXAMPLE, answers.answers[place]),
            "example_agreement": (names.EXAMPLE, shares[place]),
            "example_entropy": (names.EXAMPLE, of_examples["entropy"][place]),
        },
        coords={
            MEASURE: text_array([one.name for one in measures]),
            names.EXAMPLE: answers.examples[place],
        },
        attrs={
            "kind": answers.kind,
            "examples": answers.n,
            "compared": int(answers.paired.sum()),
            "answers": int(answers.answers.sum()),
            "unknown": int(answers.weight[answers.annotator < 0].sum()),
            "likeness": likenesses[-1].name,
            "resamples": drawn,
            "confidence": confidence,
            "seed": seed,
            names.LEFT_OUT: str(annotations.attrs.get(names.LEFT_OUT, "{}")),
            **({} if position is None else {ORDER: order_in_words(answers, position)}),
            **({} if answers.kind != RANKINGS else {"depth": deep}),
            **({} if cluster is None else {"cluster": cluster, "clusters": len(plan.hashes)}),
            **({} if by is None else {"by": by}),
        },
    )
    result = result.merge(parts.by_label(answers, plan), join="exact", compat="no_conflicts")
    result = result.merge(
        parts.by_annotator(answers, likenesses[-1], votes), join="exact", compat="no_conflicts"
    )
    if by is None:
        return result
    groups, codes = inputs.codes_of(inputs.example_values(by, (coordinates,)))
    rows = []
    for code, group in enumerate(groups):
        mine = codes == code
        few = answers.only(mine)
        these = agreement_likeness.likenesses(few, deep)
        some = _measures(few, these, parts.left_out_votes(few), position)[0]
        rows.append(
            agreement_measures.measured(some, resampling(mine, keys.child(f"group-{group}")))
        )
    dims = (GROUP, MEASURE)
    return result.assign_coords({GROUP: groups}).assign(
        {
            "group_examples": (GROUP, np.bincount(codes, minlength=len(groups))),
            "group_value": (dims, [row.value for row in rows]),
            "group_low": (dims, [row.low for row in rows]),
            "group_high": (dims, [row.high for row in rows]),
            "group_reason": (dims, np.array([row.reason for row in rows], dtype=np.str_)),
        }
    )


def _measures(
    answers: Answers,
    likenesses: Sequence[Likeness],
    votes: NDArray[np.float64],
    position: Ints | None,
) -> tuple[list[Measure], dict[str, NDArray[np.float64]]]:
    """Return the measures in the order in which they are told, and numbers of the examples."""
    of_pairs = [agreement_measures.pair_mean(one) for one in likenesses]
    of_order: list[Measure] = []
    if position is not None:
        of_order = agreement_measures.ordered_measures(answers, position)
    alphas = [agreement_measures.krippendorff(one) for one in likenesses if one.alpha]
    kappa = [agreement_measures.fleiss_kappa(likenesses[0])] if answers.kind == SINGLE else []
    of_examples, values = parts.example_measures(answers)
    vote = parts.left_out_measure(answers, votes)
    found = [*of_pairs, *of_order[:1], *alphas, *of_order[1:], *kappa, vote, *of_examples]
    return found, values


def _coordinates(annotations: xr.Dataset, answers: Answers) -> xr.DataArray:
    """Return the coordinates of the examples in the order of the answers."""
    place = positions(
        name_texts(annotations.indexes[names.EXAMPLE]), list(map(str, answers.examples))
    )
    kept = {
        str(name): values
        for name, values in annotations.coords.items()
        if values.dims == (names.EXAMPLE,)
    }
    size = annotations.sizes[names.EXAMPLE]
    array = xr.DataArray(np.zeros(size), dims=names.EXAMPLE, coords=kept)
    return array.isel({names.EXAMPLE: place})


def _texts(coordinate: str, coordinates: xr.DataArray) -> NDArray[np.str_]:
    values = inputs.example_values(coordinate, (coordinates,))
    return group_names(values)


def _resampling(
    answers: Answers,
    clusters: NDArray[np.str_] | None,
    wanted: Bools,
    keys: Keys,
    resamples: int,
    confidence: float,
) -> Resampling:
    """Return how some examples are resampled: those that can be compared, or their clusters."""
    compared = answers.paired[wanted]
    if clusters is None:
        texts, codes = answers.examples[wanted][compared], np.arange(int(compared.sum()))
    else:
        texts, codes = np.unique(clusters[wanted][compared], return_inverse=True)
    hashes = hash_names(texts.tolist())
    place = np.argsort(hashes, kind="stable")
    rank = np.empty(len(place), dtype=np.int64)
    rank[place] = np.arange(len(place))
    # the last unit is that of all examples that nothing can be compared in
    of = np.full(len(compared), -1, dtype=np.int64)
    of[compared] = rank[codes]
    return Resampling(
        hashes=hashes[place], of=of, resamples=resamples, keys=keys, confidence=confidence
    )


def _depth(answers: Answers, depth: int | None) -> int:
    if depth is None:
        return rankings.longest(answers)
    if answers.kind != RANKINGS:
        raise InputError(
            "depth-unfit",
            f"depth {depth} has no meaning for {answers.kind} answers",
            expected="partial-ranking answers",
            got=answers.kind,
            do="leave depth (--depth) out",
            whose="depth",
        )
    return rankings.check_depth(depth, len(answers.labels))
