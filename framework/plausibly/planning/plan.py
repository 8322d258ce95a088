"""The plan: its options, its parts, the tables in words, and `plausibly.plan`."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.calibration.alphas import Alphas, is_several, read_alphas
from plausibly.data import names
from plausibly.data.names import several
from plausibly.errors import InputError, counted, listed, warn
from plausibly.evaluation.result import Result, decimal, each, planes, wrapped
from plausibly.evaluation.splits import check_resamples, check_share, is_whole, out_of_range
from plausibly.guarantee import bounded
from plausibly.kernels.random import Keys
from plausibly.planning.pilot import (
    ONE_DRAW,
    Law,
    Shares,
    examples_needed,
    needed_by_combiner,
    read_pilot,
)
from plausibly.protocols import Aggregator, ComponentLike, PValueCombiner, ScoreFunction

EXPECTED = "expected"
DEFAULT_DRAWS: tuple[float, ...] = (1, 10, math.inf)

Draws: TypeAlias = int | float | str
"""A number of draws; infinite or ``"expected"`` for the calibrator that draws nothing."""

_FIRST, _MOST_ROWS, _LARGEST = 100, 8, 10**9


def ladder(pilot: int, needed: Sequence[int]) -> list[int]:
    """Return numbers of examples, doubled up to the number that is wanted."""
    last = max([pilot, *needed, *([] if pilot or needed else [_FIRST * 32])])
    factor = 2
    while _FIRST * factor**_MOST_ROWS < last:
        factor *= 2
    steps = [_FIRST]
    while steps[-1] < last:
        steps.append(steps[-1] * factor)
    return sorted({*(steps if needed else steps[:-1]), pilot or last})


N, DRAWS, BOUND, RESPONSES = "n", "draws", "bound", "responses"
_OF_RESPONSES = ("responses_distance", "responses_spread", "responses_n_within")


class Plan(Result):
    """Numbers of examples, annotators and draws, from `plausibly.plan`: prints table and answer."""

    def block(self, plane: xr.Dataset) -> list[str]:
        share = _share(plane.attrs["confidence"])
        draws, last = plane["draws"].values.tolist(), int(plane.sizes[DRAWS]) - 1
        method = f"alpha {float(plane[names.ALPHA]):g}, "
        method += f"calibrator {EXPECTED}" if math.isinf(draws[-1]) else _by(draws[-1])
        if "pilot_examples" in plane.attrs:
            method += f", pilot of {several(int(plane.attrs['pilot_examples']), 'example')}"
        if "n_within" not in plane:
            between = " to ".join(map(decimal, plane["coverage"].values[-1, last].tolist()))
            size = several(int(plane["n"][-1]), "calibration example")
            answer = f"with {size}, {share} calibrations cover {between} ({method})."
        else:
            n = int(plane["n_within"][-1])
            answer = f"{counted(n)} calibration examples"
            fewer: list[tuple[int, int]] = []
            if RESPONSES in plane.dims:
                needed = plane["responses_n_within"].values[:, -1].tolist()
                fewer = list(zip(needed, plane[RESPONSES].values.tolist(), strict=True))[::-1]
                if fewer[0][0] == n:
                    answer += f" with {several(fewer.pop(0)[1], 'answer')} each"
            texts = [f"or {counted(n)} with {step}" for n, step in fewer]
            if texts and fewer[0][1] > 1:
                texts[0] += " answers"
            answer = ", ".join([answer, *texts]) + ("," if texts else "")
            level = bounded(1 - Fraction(str(float(plane[names.ALPHA]))))
            width = f"{plane.attrs['within']:g}"
            goal = f"within {width} of {level}"
            if plane.attrs["one_sided"]:
                goal = f"{level} less {width}, or more"
            answer += f" for coverage {goal} in {share} calibrations ({method})."
        # Of the usual numbers of draws the last one; of others each.
        shown = [last] if draws == list(DEFAULT_DRAWS) else list(range(len(draws)))
        head = f"range of coverage in {share} calibrations"
        lines = textwrap.wrap(f"Plan: {answer}", 80, subsequent_indent="  ")
        lines.append(f"examples   {head}{', by draws' if len(shown) > 1 else ''}")
        if len(shown) > 1:
            heads = "".join(f"{_by(draws[place]):<18}" for place in shown)
            lines.append(f"{'':<11}{heads}".rstrip())
        enough = None if "n_within" not in plane else plane["n_within"].values[-1]
        for row, n in enumerate(plane["n"].values.tolist()):
            bounds = plane["coverage"].values[row, shown].tolist()
            cells = [" to ".join(map(decimal, two)) for two in bounds]
            if bool(plane["vacuous"][row]):
                cells = ["all labels"] * len(cells)
            text = f"{counted(n):>8}   " + "".join(f"{cell:<18}" for cell in cells)
            if enough is not None and n >= enough:
                text = f"{text.rstrip()}  (within {plane.attrs['within']:g})"
                enough = None
            lines.append(text.rstrip())
        lines += wrapped(_assumption(plane))
        return [*lines, *wrapped(" ".join(_further(plane)), "further")]

    def to_json(self) -> dict[str, object]:
        results = []
        for plan in planes(self.data):
            draws = [EXPECTED if math.isinf(m) else int(m) for m in plan["draws"].values]
            figures = ("coverage_mean", "spread", "bootstrap_mean", "bootstrap_spread")
            data: dict[str, object] = {
                "alpha": float(plan[names.ALPHA]),
                "by_n": [
                    {
                        "n": int(row["n"]),
                        "draws": m,
                        "vacuous": bool(row["vacuous"]),
                        **dict(zip(("low", "high"), cell["coverage"].values.tolist(), strict=True)),
                        **{name: float(cell[name]) for name in figures if name in plan},
                    }
                    for row in each(plan, N)
                    for m, cell in zip(draws, each(row, DRAWS), strict=True)
                ],
            }
            if "n_within" in plan:
                needed = zip(draws, plan["n_within"].values.tolist(), strict=True)
                data["n_within"] = [{"draws": m, "n": n} for m, n in needed]
            shares = ("between", "within_examples", "design_effect")
            data |= {name: float(plan[name]) for name in shares if name in plan}
            if RESPONSES in plan.dims:
                data["by_responses"] = [
                    {
                        str(name).removeprefix("responses_"): step[name].values.tolist()
                        for name in (RESPONSES, *_OF_RESPONSES)
                        if name in step
                    }
                    for step in each(plan, RESPONSES)
                ]
            data["needed"] = [
                {
                    "combiner": str(part["combiner"].item()),
                    "n": int(part["needed"]),
                    "counts": str(part["needed_counts"].item()),
                }
                for part in each(plan, "combiner")
            ]
            results.append(data)
        return {**self.attrs, "results": results}


def _by(draws: float) -> str:
    return EXPECTED if math.isinf(draws) else several(int(draws), "draw")


def _share(confidence: float) -> str:
    """Return a share of calibrations in words: ``9 in 10``."""
    share = Fraction(str(confidence)).limit_denominator(1000)
    return f"{share.numerator} of {share.denominator}"


def _assumption(plan: xr.Dataset) -> str:
    if "cluster" in plan.attrs:
        text = (
            f'Assumes independent values of "{plan.attrs["cluster"]}": the '
            f"{several(int(plan.attrs['pilot_examples']), 'example')} come from "
            f"{counted(plan.attrs['clusters'])}, which multiplies the variance between examples "
            f"by {float(plan['design_effect']):.2f}."
        )
    else:
        text = "Assumes independent examples."
    if "pilot_examples" not in plan.attrs:
        text += " Without a pilot this is the worst case: more draws, or the calibrator expected, "
        text += "need fewer."
    if "n_within" not in plan:
        text += " Set within, such as 0.02, for the number of examples that is enough."
    return text


def _further(plan: xr.Dataset) -> Iterator[str]:
    """Yield what the table leaves out: other draws, fewer answers, resamples, and combiners."""
    if "n_within" in plan and plan.sizes[DRAWS] > 1:
        each_draw = zip(plan["n_within"].values.tolist(), plan["draws"].values, strict=True)
        yield f"Examples needed: {', '.join(f'{counted(n)} ({_by(m)})' for n, m in each_draw)}."
    elif RESPONSES in plan.dims:
        # The effect of fewer answers per example, with the largest number of draws.
        row = int(np.searchsorted(plan["n"].values, plan.attrs["pilot_examples"]))
        row = min(row, plan.sizes["n"] - 1)
        spread = plan["responses_spread"].values[:, row, -1].tolist()
        steps = plan[RESPONSES].values.tolist()
        pairs = [f"{value:.4f} with {step}" for step, value in zip(steps, spread, strict=True)]
        by = f"by answers per example ({_by(float(plan['draws'][-1]))})"
        n = counted(int(plan["n"][row]))
        yield f"Standard deviation at n = {n}, {by}: {', '.join(pairs)}."
    known = np.array([])
    if "bootstrap_spread" in plan:
        known = np.flatnonzero(~np.isnan(plan["bootstrap_spread"].values[:, -1]))
    if known.size:
        last = plan.isel(n=int(known[-1]))
        pairs = [
            f"{_by(float(cell['draws']))} {float(cell['bootstrap_spread']):.4f} "
            f"({float(cell['spread']):.4f})"
            for cell in each(last, DRAWS)
        ]
        yield (
            f"Standard deviation over {plan.attrs['resamples']} resamples of the pilot at n = "
            f"{counted(int(last['n']))}, and by formula: {', '.join(pairs)}."
        )
    needed = []
    for part in each(plan, "combiner"):
        of = " held out" if "held-out" in str(part["needed_counts"].item()) else ""
        needed.append(f"{counted(int(part['needed']))}{of} ({part['combiner'].item()})")
    yield f"Fewest examples with sets that are not all labels: {', '.join(needed)}."


def _as_list(value: object) -> list[Any]:  # Any: each is checked where it is used
    """Return one value or several as a list, an empty one for None."""
    if value is None:
        return []
    return list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]


def plan(
    predictions: xr.DataArray | None = None,
    plausibilities: xr.DataArray | xr.Dataset | None = None,
    *,
    alpha: Alphas = 0.1,
    n: Sequence[int] | int | None = None,
    draws: Sequence[Draws] | Draws | None = None,
    within: float | None = None,
    confidence: float = 0.9,
    one_sided: bool = False,
    score: ComponentLike[ScoreFunction] = "probability",
    aggregator: ComponentLike[Aggregator] | None = None,
    responses: Sequence[int] | int | None = None,
    cluster: str | None = None,
    combiners: Sequence[ComponentLike[PValueCombiner]] | None = None,
    delta: float = 1e-4,
    resamples: int = 200,
    seed: int = 0,
    only_common: bool = False,
) -> Plan:
    """Plan how far from 1 - alpha a calibration may land, by examples, draws and annotators.

    With one draw the coverage of a calibration has the law ``Beta(n + 1 - k, k)``,
    ``k = floor(alpha (n + 1))``, whatever the data. With m draws the variance is
    ``(V_b + V_w / m) / n``, with the missed plausibility L_i of the pilot's examples:
    ``V_b = Var L_i``, ``V_w = mean L_i (1 - L_i)``; m is infinite for the calibrator ``expected``.

    Parameters
    ----------
    predictions : DataArray, (example, label), optional
        Of the pilot. Without a pilot the plan is for one draw, which is the worst case.
    plausibilities : DataArray or Dataset, (example, label), optional
        Answers on the pilot: plausibilities, or an annotation table.
    alpha : number, text, or a sequence of them
        Miscoverage rates; a sequence gives the result the dim ``alpha``.
    n : int or sequence of int, optional
        Numbers of calibration examples; by default doubled from 100 on.
    draws : int, "expected", or a sequence of them, optional
        By default 1, 10 and expected; 1 alone without a pilot.
    within : float, optional
        How close to 1 - alpha coverage should be.
    confidence : float
        Share of the calibrations that should be within `within`, and share between the bounds.
    one_sided : bool
        Whether more coverage than 1 - alpha + `within` is as good.
    score, aggregator, combiners
        Components; the smallest number of examples is reported for each of `combiners`, by default
        ``average``, ``held-out-rank``, ``pac`` and ``ecdf`` with `delta`.
    responses : int or sequence of int, optional
        Numbers of responses per example to thin the annotations to; by default up to what nearly
        all examples have, an empty sequence for none.
    cluster : str, optional
        Coordinate of the examples, such as the patient, whose examples may be alike.
    delta : float
        Probability with which the guarantees of ``pac`` and ``ecdf`` may fail.
    resamples : int
        Of the bootstrap, for each n up to the size of the pilot; 0 for none.
    seed : int
        Of resamples and thinned responses, which are keyed by the examples' names.
    only_common : bool
        Leave out the examples that only one side has, instead of refusing.

    Returns
    -------
    Plan
        Prints its table and answer. In `data`, over the dims ``n``, ``draws`` (infinite for
        expected) and ``bound`` (low, high), and ``alpha`` where several were passed: `coverage`
        (bounds that hold the share `confidence` of calibrations), `coverage_mean`, `spread`
        (the standard deviation over calibrations) and `vacuous` (every set contains all labels);
        `bootstrap_spread`, `bootstrap_mean` and `bootstrap_coverage`, the same on resamples.
        `n_within` (draws): the n from which on it is enough, with `within`. `between`,
        `within_examples` and `design_effect`: V_b, V_w, and what clusters multiply V_b by. With
        annotations `responses_spread` (responses, n, draws), `responses_distance` (responses; mean
        total variation from the plausibilities of all responses) and `responses_n_within`
        (responses, draws). `needed` (combiner): from how many of `needed_counts` on sets are not
        every label.

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
    check_share("confidence", confidence, 0.9)
    check_share("delta", delta, 0.01)
    width = None
    if within is not None:
        width = check_share("within", within, float(min(alphas)) / 5, 1 - max(alphas))
    wanted_resamples = check_resamples(resamples)
    piloted = predictions is not None or plausibilities is not None
    numbers: set[float] = set()
    for number in _as_list(draws):
        if number not in (EXPECTED, math.inf) and not is_whole(number):
            hint = 'draws=[1, 10, "expected"]'
            raise out_of_range("draws", repr(number), expected="1, 2, 3, … or expected", hint=hint)
        numbers.add(math.inf if number in (EXPECTED, math.inf) else int(number))
    if not piloted and numbers - {1}:
        raise InputError(
            "pilot-missing",
            "the effect of several draws depends on how annotators disagree",
            expected="a pilot: predictions and annotations",
            hint="pass a pilot, or plan for one draw: draws=[1]",
            source="draws",
        )
    counts: list[float] = sorted(numbers) or (list(DEFAULT_DRAWS) if piloted else [1])
    sizes = _as_list(n)
    wrong = [size for size in sizes if not is_whole(size) or size > _LARGEST]
    if wrong or (n is not None and not sizes):
        expected = f"whole numbers from 1 to {counted(_LARGEST)}"
        odd = listed(map(repr, wrong)) or "none"
        raise out_of_range("n", odd, expected=expected, hint="n=[100, 1000]")
    pilot = read_pilot(predictions, plausibilities, score, aggregator, cluster, seed, only_common)
    shares = [ONE_DRAW if pilot is None else pilot.shares(exact) for exact in alphas]
    if pilot is not None:
        largest = pilot.plausibilities.stored.weight.max(axis=1)
        if float(largest.min()) >= 1.0:  # more draws then seem useless
            warn(
                "pilot-certain",
                "each example of the pilot has one certain label: what more draws or annotators "
                "gain cannot be seen",
                expected="several answers per example, which may differ",
                hint="annotate each example twice or more; until then plan for one draw",
                source="pilot",
            )
    confidences = (1 - confidence) / 2, (1 + confidence) / 2

    def enough(shares: Sequence[Shares]) -> NDArray[np.int64]:
        """Return the n from which on coverage is within `within`, (alpha, draws)."""
        options = {"within": width or 0.0, "confidence": confidence}
        needed = [
            [examples_needed(alpha, m, shares=of, one_sided=one_sided, **options) for m in counts]
            for alpha, of in zip(alphas, shares, strict=True)
        ]
        return np.array(needed)

    def laws(shares: Sequence[Shares]) -> list[list[Law]]:
        """Return the law of coverage by alpha and draws."""
        return [
            [Law.of(alpha, n_examples, m, of) for m in counts]
            for alpha, of in zip(alphas, shares, strict=True)
        ]

    needed = None if width is None else enough(shares)
    if n is None:
        size = 0 if pilot is None else len(pilot)
        sizes = ladder(size, [] if needed is None else needed.ravel().tolist())
    n_examples = np.array(sorted(set(map(int, sizes))), dtype=np.int64)
    rows, by_n = laws(shares), (names.ALPHA, DRAWS, N)
    bounds = [[[law.quantile(share) for share in confidences] for law in row] for row in rows]
    result = xr.Dataset(
        {
            "coverage": ((names.ALPHA, DRAWS, BOUND, N), np.array(bounds)),
            "coverage_mean": (by_n, np.array([[law.mean() for law in row] for row in rows])),
            "spread": (by_n, np.array([[law.spread() for law in row] for row in rows])),
            "vacuous": ((names.ALPHA, N), np.array([row[0].vacuous for row in rows])),
            **({} if needed is None else {"n_within": ((names.ALPHA, DRAWS), needed)}),
        },
        coords={
            names.ALPHA: [float(exact) for exact in alphas],
            N: n_examples,
            DRAWS: np.array(counts, dtype=np.float64),
            BOUND: ["low", "high"],
        },
    ).transpose(names.ALPHA, N, DRAWS, BOUND)
    default: list[ComponentLike[PValueCombiner]] = [
        *({"name": name} for name in ("average", "held-out-rank")),
        *({"name": name, "delta": delta} for name in ("pac", "ecdf")),
    ]
    result = result.assign(needed_by_combiner(combiners or default, alphas))
    if pilot is not None:
        result = result.assign(
            between=(names.ALPHA, [at_alpha.between for at_alpha in shares]),
            within_examples=(names.ALPHA, [at_alpha.within for at_alpha in shares]),
            design_effect=(names.ALPHA, [at_alpha.design_effect for at_alpha in shares]),
        )
        if wanted_resamples:
            # NaN where n exceeds the pilot.
            dims = (names.ALPHA, N, DRAWS)
            shape = (len(alphas), len(n_examples), len(counts))
            mean, spread, ends_at = (np.full((*shape, *more), np.nan) for more in ((), (), (2,)))
            for column, size in enumerate(n_examples.tolist()):
                if size <= len(pilot):
                    keys = Keys(seed).child(f"plan/{size}")
                    covered = pilot.resampled(alphas, size, counts, wanted_resamples, keys)
                    mean[:, column] = covered.mean(axis=-1)
                    spread[:, column] = covered.std(axis=-1, ddof=1)
                    quantiles = np.quantile(covered, confidences, axis=-1)
                    ends_at[:, column] = np.moveaxis(quantiles, 0, -1)
            result = result.assign(
                bootstrap_mean=(dims, mean),
                bootstrap_spread=(dims, spread),
                bootstrap_coverage=((*dims, BOUND), ends_at),
            )
        fewer = pilot.thinned(alphas, None if responses is None else _as_list(responses))
        if fewer is not None:
            steps, distance, by_steps = fewer
            spreads = [[[law.spread() for law in row] for row in laws(step)] for step in by_steps]
            further = xr.Dataset(
                {
                    "responses_spread": ((RESPONSES, names.ALPHA, DRAWS, N), np.array(spreads)),
                    "responses_distance": (RESPONSES, distance),
                },
                coords={RESPONSES: np.array(steps, dtype=np.int64)},
            ).transpose(names.ALPHA, RESPONSES, N, DRAWS)
            if width is not None:
                by_steps_enough = np.stack([enough(step) for step in by_steps], axis=1)
                dims = (names.ALPHA, RESPONSES, DRAWS)
                further["responses_n_within"] = (dims, by_steps_enough)
            result = result.assign(further)
    result.attrs = {
        "confidence": confidence,
        "one_sided": int(one_sided),
        "delta": delta,
        "seed": seed,
        "resamples": wanted_resamples if pilot else 0,
        **({} if width is None else {"within": width}),
        **({} if pilot is None else pilot.settings),
    }
    return Plan(result if is_several(alpha) else result.isel({names.ALPHA: 0}))
