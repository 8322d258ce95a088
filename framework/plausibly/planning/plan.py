"""How many examples, annotators and draws: the spread of coverage that a pilot lets one expect."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import attrs
import numpy as np
import xarray as xr

from plausibly.calibration.alphas import Alphas, is_several, read_alphas
from plausibly.data import names
from plausibly.planning import options
from plausibly.planning.law import ONE_DRAW
from plausibly.planning.needed import default_combiners, examples_to_speak
from plausibly.planning.options import Draws
from plausibly.planning.parts import Goal, bootstrapped, thinned, variances
from plausibly.planning.read import read_pilot, warn_if_certain
from plausibly.protocols import Aggregator, ComponentLike, PValueCombiner, ScoreFunction


def plan(
    predictions: xr.DataArray | None = None,
    plausibilities: xr.DataArray | xr.Dataset | None = None,
    *,
    alpha: Alphas = 0.1,
    n: Sequence[int] | int | None = None,
    draws: Sequence[Draws] | None = None,
    within: float | None = None,
    confidence: float = 0.9,
    one_sided: bool = False,
    score: ComponentLike[ScoreFunction] = "probability",
    aggregator: ComponentLike[Aggregator] | None = None,
    responses: Sequence[int] | None = None,
    cluster: str | None = None,
    combiners: Sequence[ComponentLike[PValueCombiner]] | None = None,
    delta: float = 1e-4,
    resamples: int = 200,
    seed: int = 0,
    only_common: bool = False,
) -> xr.Dataset:
    """Say how far from 1 - alpha a calibration may land, by examples, draws and annotators.

    The guarantee is about all calibrations together: a single one covers more or less. With one
    draw its coverage has the law ``Beta(n + 1 - k, k)``, ``k = floor(alpha (n + 1))``, whatever the
    data. With m draws the variance is ``(V_b + V_w / m) / n``, with the missed plausibility L_i of
    the pilot's examples: ``V_b = Var L_i``, ``V_w = mean L_i (1 - L_i)``; m is infinite for the
    calibrator ``expected``. A bootstrap of the pilot stands beside it.

    Parameters
    ----------
    predictions : DataArray, (example, label), optional
        Of the pilot. Without a pilot the law of one draw is given, which is the worst case.
    plausibilities : DataArray or Dataset, (example, label), optional
        What experts said of the pilot: plausibilities, or an annotation table, which also shows
        what fewer responses an example would do.
    alpha : number, text, or a sequence of them
        Miscoverage rates; a sequence gives the result the dim ``alpha``.
    n : int or sequence of int, optional
        Numbers of calibration examples to look at; by default doubled from 100 on.
    draws : sequence of int or "expected", optional
        By default 1, 10 and expected; 1 alone without a pilot.
    within : float, optional
        How close to 1 - alpha coverage should be; from alpha on, sets of every label are.
    confidence : float
        Share of the calibrations that should be as close, and of those between the bounds.
    one_sided : bool
        Whether more coverage than 1 - alpha + `within` is as good.
    score : str, mapping or ScoreFunction
    aggregator : str, mapping or Aggregator, optional
        For annotations; by default the one for their kind.
    responses : sequence of int, optional
        Numbers of responses an example to thin the annotations to; by default a ladder up to what
        nearly all examples have, an empty sequence for none.
    cluster : str, optional
        Coordinate of the examples, such as the patient, whose examples may be alike.
    combiners : sequence, optional
        Those whose least number of examples is given; by default ``average``, ``held-out-rank``,
        ``pac`` and ``ecdf`` with `delta`.
    delta : float
        Probability with which the promises of ``pac`` and ``ecdf`` may fail.
    resamples : int
        Of the bootstrap, for each n up to the size of the pilot; 0 for none.
    seed : int
        Of resamples and thinned responses, which are keyed by the examples' names.
    only_common : bool
        Leave out the examples that only one side has, instead of refusing.

    Returns
    -------
    Dataset
        Over the dims ``n``, ``draws`` (infinite for expected) and ``bound`` (low, high), and
        ``alpha`` where several were given: `coverage`, between whose bounds the share `confidence`
        of calibrations lies, `coverage_mean`, `spread` (the standard deviation over calibrations)
        and `vacuous` (every set is every label). `bootstrap_spread`, `bootstrap_mean` and
        `bootstrap_coverage` are the same on resamples, NaN where n exceeds the pilot.
        `n_within` (draws): the n from which on it is enough, with `within`, and sets are not every
        label.
        `between`, `within_examples` and `design_effect`: V_b, V_w, and what clusters multiply V_b
        by. With annotations `responses_spread` (responses, n, draws), `responses_distance`
        (responses; mean total variation from the plausibilities of all responses) and
        `responses_n_within` (responses, draws).
        `needed` (combiner): from how many of `needed_counts` on sets are not every label.

    Raises
    ------
    InputError
        ``pilot-too-small``, ``pilot-flat``, ``pilot-half``, ``pilot-missing``, and where options
        are out of range or inputs do not match.

    Warns
    -----
    PlausiblyWarning
        ``pilot-certain`` where the pilot shows no disagreement.

    References
    ----------
    Vovk, Conditional validity of inductive conformal predictors, ACML 2012 (the beta law).
    """
    alphas = read_alphas(alpha)
    options.check_share(
        confidence, "confidence", Fraction(1), "confidence=0.9 for 9 of 10 calibrations"
    )
    options.check_share(delta, "delta", Fraction(1), "delta=0.01 (--delta 0.01)")
    width = None if within is None else options.check_width(within, alphas)
    wanted_resamples = options.check_resamples(resamples)
    given = predictions is not None or plausibilities is not None
    asked = options.read_draws(draws, pilot=given)
    sizes = np.array([] if n is None else options.read_n(n), dtype=np.int64)
    pilot = read_pilot(
        predictions,
        plausibilities,
        score=score,
        aggregator=aggregator,
        cluster=cluster,
        seed=seed,
        only_common=only_common,
    )
    shares = [ONE_DRAW if pilot is None else pilot.atoms.shares(one) for one in alphas]
    if pilot is not None:
        warn_if_certain(pilot)
    goal = Goal(
        alphas=alphas,
        draws=asked,
        within=width,
        confidence=confidence,
        one_sided=one_sided,
        n=sizes,
    )
    enough = None if width is None else goal.enough(shares)
    if n is None:
        size = 0 if pilot is None else len(pilot.atoms)
        steps = options.ladder(size, [] if enough is None else enough.ravel().tolist())
        goal = attrs.evolve(goal, n=np.array(steps, dtype=np.int64))
    result = goal.expected(shares, enough)
    result = result.assign(examples_to_speak(combiners or default_combiners(delta), alphas))
    if pilot is not None:
        result = result.assign(variances(shares))
        if wanted_resamples:
            result = result.assign(bootstrapped(pilot.atoms, goal, wanted_resamples, seed))
        result = result.assign(thinned(pilot, goal, responses, seed))
    result = result.assign_attrs(
        {
            "confidence": confidence,
            "one_sided": int(one_sided),
            "delta": delta,
            "seed": seed,
            "resamples": wanted_resamples if pilot else 0,
            **({} if width is None else {"within": width}),
            **({} if pilot is None else pilot.about),
        }
    )
    return result if is_several(alpha) else result.isel({names.ALPHA: 0})
