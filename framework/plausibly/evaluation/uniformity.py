"""Uniformity of the p-values of majority votes, drawn and true labels of new examples."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import xarray as xr

from plausibly.calibration.alphas import Alphas, read_alphas
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.data import align, names
from plausibly.data.names import Named
from plausibly.evaluation import inputs, intervals
from plausibly.evaluation.inputs import as_predictions, p_value_rows
from plausibly.evaluation.intervals import Averaging, Doubles, IntervalMethod, variables
from plausibly.evaluation.result import decimal, each, wrapped
from plausibly.kernels.draws import draw_labels
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Ints

OF = "of"
VOTED, DRAWN, TRUE = "majority-vote", "drawn", "true"
_QUANTILES = np.linspace(0.05, 0.95, 19)
_SAME = 1e-12  # p-values are ratios of integers: nearer than this they are one


def p_value_uniformity(
    predictor: ConformalPredictor,
    predictions: xr.DataArray,
    plausibilities: xr.DataArray | xr.Dataset,
    *,
    true_label: str | xr.DataArray | None = None,
    alphas: Alphas = (0.05, 0.1, 0.2),
    cluster: str | None = None,
    interval_method: IntervalMethod = "auto",
    confidence: float = 0.95,
    seed: int = 0,
    only_common: bool = False,
) -> xr.Dataset:
    """Measure how far p-values of the majority vote, a drawn and the true label are from uniform.

    Parameters
    ----------
    predictor : ConformalPredictor
    predictions : DataArray, (example, label)
        Of examples that did not calibrate it.
    plausibilities, true_label, only_common, interval_method, confidence
        See `plausibly.evaluate`.
    alphas : number or text, or a sequence of them
        At which to state the share of p-values that are not larger: what sets at alpha miss.
    cluster : str, optional
        Coordinate of the examples, such as the patient: examples of one count for less. Where the
        predictor guarantees for a new patient (``clustered``), each patient counts for one, if the
        examples have that coordinate.
    seed : int
        Of the label that is drawn from the plausibilities of each example, keyed by its name.

    Returns
    -------
    Dataset
        Over the dim ``of`` (``majority-vote``: the first most plausible label in the predictor's
        order; ``drawn``; ``true``, where it is known): `p_value`, (of, example); `ks_above`,
        ``D+ = sup_t (F(t) - t)``; `ks_below`, ``D- = sup_t (t - F(t))``; `ks`, the larger of both;
        `p_super_uniform`, for the hypothesis ``P(p <= t) <= t`` for every t, from D+ alone;
        `p_uniform`, for exact uniformity, from `ks`; `guaranteed`, whether the predictor
        guarantees ``P(p <= t) <= t`` of this label at every alpha, on average over calibrations;
        `missed_mean`, ``*_low`` and ``*_high``, (of, alpha): the share of p-values that are at most
        alpha; `effective`, on how many examples the tests count. The attribute `grid` is the least
        p-value of any label that was met.

    Raises
    ------
    InputError
        Where inputs are malformed or do not match.

    Warns
    -----
    PlausiblyWarning
        ``evaluated-on-calibration``.

    Notes
    -----
    `p_super_uniform` is ``exp(-2 e D+^2)`` (Massart 1990). All p-values share one calibration set,
    so the tests compare two samples, with ``e = 1 / (1 / n + 1 / h)`` (`effective`), n calibration
    and h test examples, h divided by the design effect of clusters.

    References
    ----------
    Stutz et al., TMLR 2023, appendix: histograms of p-values. Bates et al., Testing for outliers
    with conformal p-values, 2023: the dependence through the calibration set.
    """
    from scipy.stats import kstwo  # slow to import, and this is all that needs it

    intervals.check_method(interval_method, confidence)
    exact = read_alphas(alphas)
    record, labels = inputs.read_plausibilities(plausibilities), list(predictor.labels)
    named = Named.of(as_predictions(predictions))
    named, record = align.same_examples(named, record, only_common=only_common)
    record = align.with_labels(record, labels, source="plausibilities", other="the predictor")
    p, known = named.array, predictor.hashes
    hashes = hash_names(p[names.EXAMPLE].values)
    overlap = 0 if known is None else int(np.isin(hashes, known).sum())
    if overlap:
        inputs.warn_of_overlap(overlap, len(hashes), source="the predictions")
    uniform = Keys(seed).child("uniformity/drawn").uniform(hashes)
    stored, about = record.stored, (p, record.about)
    codes: dict[str, Ints] = {VOTED: stored.argmax(), DRAWN: draw_labels(stored, uniform)[0]}
    true = inputs.true_codes(true_label, about, labels)
    codes |= {} if true is None else {TRUE: true}
    clusters = None
    if cluster is not None:
        clusters = inputs.codes_of(inputs.example_values(cluster, about))[1]
    wanted = np.stack(list(codes.values()))
    chosen, least = np.empty(wanted.shape), math.inf
    for rows, p_values in p_value_rows(predictor, p):
        chosen[:, rows] = np.take_along_axis(p_values, wanted[:, rows].T, axis=1).T
        least = min(least, float(p_values.min()))
    about_new = predictor.pools.calibration.claim.cluster
    units = inputs.known_values(about_new, about) if about_new else None
    # How many examples a test against the uniform distribution may count on.
    tested, weights = np.full(len(chosen), float(len(hashes))), None
    if units is not None:
        clusters = inputs.codes_of(units)[1]
        weights = 1.0 / np.bincount(clusters)[clusters]
        tested[:] = weights.sum()
    elif clusters is not None:
        for place, row in enumerate(chosen):
            # How much more the distribution function varies than that of unrelated examples.
            below = row[:, None] <= np.quantile(row, _QUANTILES)[None, :]
            share = below.mean(axis=0)
            sums = [np.bincount(clusters, weights=column) for column in (below - share).T]
            expected = float((len(row) * share * (1.0 - share)).sum())
            effect = float(np.square(np.stack(sums)).sum()) / expected if expected else math.inf
            tested[place] /= max(1.0, effect)
    above, below = np.array([distances(row, weights) for row in chosen]).T
    larger = np.maximum(above, below)
    effective = 1.0 / (1.0 / tested + 1.0 / (predictor.summary.n_held_out or predictor.n))
    claim, guaranteed = predictor.pools.calibration.claim, ""
    levels = (*exact, Fraction(1, 1000), Fraction(1, 2), Fraction(999, 1000))
    guarantees = [predictor.combiner.guarantee(claim, predictor.summary, level) for level in levels]
    holds = all(
        guarantee.level is not None
        and guarantee.level >= 1 - alpha
        and guarantee.confidence is None
        for guarantee, alpha in zip(guarantees, levels, strict=True)
    )
    if holds and (units is not None or not claim.cluster):
        guaranteed = {"aggregated": DRAWN, "majority-vote": VOTED}.get(claim.target, "")
    order = inputs.drawn_order(hashes, seed)
    clusters = None if clusters is None else clusters[order]
    averaging = Averaging(clusters, len(labels), interval_method, confidence)
    weights = None if weights is None else weights[order]
    missed = [
        [averaging.interval((row[order] <= float(alpha)) * 1.0, weights) for alpha in exact]
        for row in chosen
    ]
    return xr.Dataset(
        {
            "p_value": ((OF, names.EXAMPLE), chosen),
            "ks_above": (OF, above),
            "ks_below": (OF, below),
            "ks": (OF, larger),
            "p_super_uniform": (OF, np.exp(-2.0 * effective * np.square(above))),
            "p_uniform": (OF, kstwo.sf(larger, np.maximum(1, np.floor(effective)))),
            "effective": (OF, effective),
            "guaranteed": (OF, [name == guaranteed for name in codes]),
            **variables("missed", missed, (OF, names.ALPHA)),
        },
        coords={
            OF: np.array(list(codes)),
            names.EXAMPLE: p[names.EXAMPLE].values,
            names.ALPHA: [float(alpha) for alpha in exact],
        },
        attrs={
            "n_calibration": predictor.n,
            "n": len(hashes),
            "grid": least,
            "seed": seed,
            "confidence": confidence,
            "fingerprint": predictor.fingerprint,
        },
    )


def distances(values: Doubles, weights: Doubles | None = None) -> tuple[float, float]:
    """Return D+ and D-, how far the share of values at most t lies above and below t."""
    places, code = np.unique(values, return_inverse=True)
    counts = np.bincount(code, weights=weights)
    upto = np.cumsum(counts) / counts.sum()
    before = upto - counts / counts.sum()
    above = max(0.0, float((upto - places).max()))
    return (0.0 if above < _SAME else above), float((places - before).max())


def describe_uniformity(result: xr.Dataset) -> list[str]:
    """Return the distances of p-values from uniform, a line per kind of label."""
    lines = [f"{'p-values of the':<21}{'D+':>8}{'p':>10}{'D-':>10}  guaranteed"]
    titles = {VOTED: "majority vote", DRAWN: "drawn label", TRUE: "true label"}
    for part in each(result, OF):
        above, below = (decimal(float(part[f"ks_{side}"])) for side in ("above", "below"))
        chance = float(part["p_super_uniform"])
        p = "< 0.001" if chance < 0.001 else decimal(chance)
        answer = "yes" if bool(part["guaranteed"]) else "no"
        lines.append(f"  {titles[part[OF].item()]:<19}{above:>8}{p:>10}{below:>10}  {answer}")
    note = (
        "D+: the largest excess of the share of p-values up to t over t, and p its probability by "
        "chance; D-: the largest lack, which breaks no guarantee."
    )
    return [*lines, *wrapped(note)]
