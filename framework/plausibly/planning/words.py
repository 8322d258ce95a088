"""A plan in words: the tables and the answer that ``plausibly plan`` prints."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import xarray as xr

from plausibly.data import names
from plausibly.data.names import several
from plausibly.errors import counted
from plausibly.evaluation.describe import decimal, ends
from plausibly.guarantee import bounded
from plausibly.planning.options import EXPECTED

WIDTH = 80
_TITLE = 12


def describe_plan(plan: xr.Dataset) -> str:
    """Return a plan as plain text, one block an alpha.

    Parameters
    ----------
    plan : Dataset
        From `plausibly.plan`.
    """
    return "\n\n".join(_block(one) for one in _planes(plan))


def plan_as_json(plan: xr.Dataset) -> dict[str, object]:
    """Return a plan as plain data.

    Parameters
    ----------
    plan : Dataset
        From `plausibly.plan`.
    """
    return {
        **{str(name): value for name, value in plan.attrs.items()},
        "results": [_as_data(one) for one in _planes(plan)],
    }


def _planes(plan: xr.Dataset) -> Iterator[xr.Dataset]:
    """Yield the plan of each alpha."""
    whole = plan if names.ALPHA in plan.dims else plan.expand_dims(names.ALPHA)
    for place in range(whole.sizes[names.ALPHA]):
        yield whole.isel({names.ALPHA: place})


def _drawn(draws: float) -> str | int:
    return EXPECTED if math.isinf(draws) else int(draws)


def _by(draws: float) -> str:
    return EXPECTED if math.isinf(draws) else several(int(draws), "draw")


def _spread(value: float) -> str:
    return f"{value:.4f}".removeprefix("0")


def _share(confidence: float) -> str:
    """Return a share of calibrations as people say it: ``9 in 10``."""
    share = Fraction(str(confidence)).limit_denominator(1000)
    return f"{share.numerator} in {share.denominator}"


def _block(plan: xr.Dataset) -> str:
    lines = _table(plan)
    for title, text in _rows(plan):
        lines += textwrap.wrap(
            text,
            WIDTH,
            initial_indent=f"{title:<{_TITLE}}",
            subsequent_indent=" " * _TITLE,
            break_on_hyphens=False,
        )
    return "\n".join(lines)


def _table(plan: xr.Dataset) -> list[str]:
    """Return the coverage between whose bounds most calibrations lie."""
    columns = plan["draws"].values.tolist()
    heads = [EXPECTED if math.isinf(m) else f"m = {int(m)}" for m in columns]
    alpha = float(plan[names.ALPHA])
    share = _share(plan.attrs["confidence"])
    lines = [f"alpha {alpha:g}: coverage of {share} calibrations, by examples n and draws m"]
    lines.append(f"{'n':<9}" + "".join(f"{head:<16}" for head in heads).rstrip())
    enough = None if "n_within" not in plan else plan["n_within"].values[-1]
    for row, n in enumerate(plan["n"].values.tolist()):
        cells = [
            "every label"
            if bool(plan["vacuous"][row])
            else " to ".join(decimal(float(end)) for end in plan["coverage"][row, column])
            for column in range(len(columns))
        ]
        text = f"{counted(n):<9}" + "".join(f"{cell:<16}" for cell in cells)
        if enough is not None and n >= enough:
            text += f"<- {_goal(plan)}"
            enough = None
        lines.append(text.rstrip())
    return lines


def _goal(plan: xr.Dataset) -> str:
    level = bounded(1 - Fraction(str(float(plan[names.ALPHA]))))
    width = f"{plan.attrs['within']:g}".removeprefix("0")
    if plan.attrs["one_sided"]:
        return f"{level} less {width}, or more"
    return f"within {width} of {level}"


def _rows(plan: xr.Dataset) -> Iterator[tuple[str, str]]:
    """Yield title and text of what stands below the table."""
    if "bootstrap_spread" in plan:
        yield from _check(plan)
    if "cluster" in plan.attrs:
        yield (
            "clusters",
            f'{counted(plan.attrs["clusters"])} of "{plan.attrs["cluster"]}": examples of one are '
            f"alike, which multiplies the variance between examples by "
            f"{float(plan['design_effect']):.2f}",
        )
    if "responses" in plan.dims:
        yield "responses", _responses(plan)
    yield "not vacuous", "from " + _needed(plan)
    yield "answer", _answer(plan)


def _check(plan: xr.Dataset) -> Iterator[tuple[str, str]]:
    known = np.flatnonzero(~np.isnan(plan["bootstrap_spread"].values[:, -1]))
    if known.size:
        row = int(known[-1])
        pairs = [
            f"{_by(float(m))} {_spread(float(plan['bootstrap_spread'][row, column]))} "
            f"({_spread(float(plan['spread'][row, column]))})"
            for column, m in enumerate(plan["draws"].values)
        ]
        yield (
            "check",
            f"spread (standard deviation) over {plan.attrs['resamples']} resamples of the pilot at "
            f"n = {counted(int(plan['n'][row]))}, and by formula: {', '.join(pairs)}",
        )


def _responses(plan: xr.Dataset) -> str:
    """Return what fewer responses an example would do, with the largest m."""
    steps = plan["responses"].values.tolist()
    by = _by(float(plan["draws"][-1]))
    if "responses_n_within" in plan:
        enough = plan["responses_n_within"].values[:, -1]
        pairs = [f"{counted(int(n))} with {step}" for step, n in zip(steps, enough, strict=True)]
        return f"examples needed, by responses an example ({by}): {', '.join(pairs)}"
    row = int(np.searchsorted(plan["n"].values, plan.attrs["pilot_examples"]))
    row = min(row, plan.sizes["n"] - 1)
    spread = plan["responses_spread"].values[:, row, -1]
    pairs = [f"{_spread(float(one))} with {step}" for step, one in zip(steps, spread, strict=True)]
    n = counted(int(plan["n"][row]))
    return f"spread at n = {n}, by responses an example ({by}): {', '.join(pairs)}"


def _needed(plan: xr.Dataset) -> str:
    parts = []
    for place, name in enumerate(plan["combiner"].values):
        of = " held out" if "held-out" in str(plan["needed_counts"][place].item()) else ""
        parts.append(f"{counted(int(plan['needed'][place]))}{of} ({name})")
    return f"n = {', '.join(parts)}"


def _answer(plan: xr.Dataset) -> str:
    pilot = "pilot_examples" in plan.attrs
    again = (
        " The pilot is your data: plan again after it."
        if pilot
        else " Without a pilot this is the worst case of independent examples: more draws, or "
        "expected, need fewer."
    )
    group = plan.attrs.get("cluster")
    of = "" if group is None else f' of different "{group}"'
    given = f", if examples{of} are independent draws"
    share = _share(plan.attrs["confidence"])
    if "n_within" not in plan:
        row, by = plan.sizes["n"] - 1, _by(float(plan["draws"][-1]))
        between = ends(*(float(end) for end in plan["coverage"][row, -1]))
        n = several(int(plan["n"][row]), "example")
        found = f"with {n} ({by}) {share} calibrations cover {between}{given}; "
        return f"{found}--within says how many are enough.{again}"
    parts = [
        f"{several(int(n), 'example')} ({_by(float(m))})"
        for m, n in zip(plan["draws"].values[::-1], plan["n_within"].values[::-1], strict=True)
    ]
    return f"{', '.join(parts)}: then {share} calibrations are {_goal(plan)}{given}.{again}"


def _as_data(plan: xr.Dataset) -> dict[str, object]:
    draws = [_drawn(float(m)) for m in plan["draws"].values]
    rows = []
    for row, n in enumerate(plan["n"].values.tolist()):
        for column, m in enumerate(draws):
            one: dict[str, object] = {"n": n, "draws": m, "vacuous": bool(plan["vacuous"][row])}
            low, high = plan["coverage"].values[row, column].tolist()
            one |= {"low": low, "high": high}
            for name in ("coverage_mean", "spread", "bootstrap_mean", "bootstrap_spread"):
                if name in plan:
                    one[name] = float(plan[name].values[row, column])
            rows.append(one)
    data: dict[str, object] = {"alpha": float(plan[names.ALPHA]), "by_n": rows}
    if "n_within" in plan:
        data["n_within"] = [
            {"draws": m, "n": n}
            for m, n in zip(draws, plan["n_within"].values.tolist(), strict=True)
        ]
    for name in ("between", "within_examples", "design_effect"):
        if name in plan:
            data[name] = float(plan[name])
    if "responses" in plan.dims:
        data["by_responses"] = [
            {
                "responses": step,
                "distance": float(plan["responses_distance"][place]),
                "spread": plan["responses_spread"].values[place].tolist(),
                **(
                    {"n_within": plan["responses_n_within"].values[place].tolist()}
                    if "responses_n_within" in plan
                    else {}
                ),
            }
            for place, step in enumerate(plan["responses"].values.tolist())
        ]
    data["needed"] = [
        {"combiner": str(name), "n": int(n), "counts": str(counts)}
        for name, n, counts in zip(
            plan["combiner"].values,
            plan["needed"].values,
            plan["needed_counts"].values,
            strict=True,
        )
    ]
    return data
