"""What the adapter of crowd-kit says: what it cannot take, what failed, how it converged."""

from __future__ import annotations

import json
from importlib import metadata
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausibly.plugin import Floats, InputError, counted, names, require, several, warn

_SKLEARN = "__sklearn_tags__"


def failure(called: str, got: str, details: dict[str, object] | None = None) -> InputError:
    """Return the error ``crowd-kit-failed``: what crowd-kit raised or gave, and a way out."""
    library = require("crowdkit", extra="crowd", whose=f"aggregator crowd-kit:{called}")
    version = f"crowd-kit {library.__version__}"
    do = {
        "one-coin": "aggregator one-coin, which is plausibly's own",
        "wawa": "aggregator worker-agreement, which is plausibly's own",
        "zero-based-skill": "aggregator worker-agreement, which is plausibly's own",
    }.get(called, "aggregator dawid-skene, which is plausibly's own")
    expected = "plausibilities of every example"
    if _SKLEARN in got:
        expected = f"a scikit-learn that {version} fits, such as 1.6"
        got = f"scikit-learn {metadata.version('scikit-learn')}"
        do += '; or pip install "scikit-learn<1.7"'
    return InputError(
        "crowd-kit-failed",
        f"{version} gives no plausibilities by {called}",
        expected=expected,
        got=" ".join(got.split()),
        do=do,
        whose=f"aggregator crowd-kit:{called}",
        details=details,
    )


def convergence(
    estimator: Any,  # Any: crowd-kit is optional
    called: str,
    *,
    iterations: int,
    tolerance: float,
    absolute: bool = False,
) -> dict[str, str]:
    """Return what result tables say of the estimate, and warn where it was stopped early."""
    history = [float(one) for one in estimator.loss_history_]
    before = history[-2] if len(history) > 1 else 0.0
    change = history[-1] if absolute else max(history[-1] - before, 0.0)
    if len(history) >= iterations and (change >= tolerance or len(history) == 1):
        warn(
            "not-converged",
            f"crowd-kit:{called} has not converged: in iteration {counted(len(history))} what it "
            f"maximises still changes by {change:.2g}",
            expected=f"changes below {tolerance:g}",
            do=f"iterations = {iterations * 10}",
            whose=f"aggregator crowd-kit:{called}",
            details={"iterations": len(history), "change": change, "tolerance": tolerance},
            stacklevel=4,
        )
    facts = {
        "iterations": len(history),
        "change": change,
        "tolerance": tolerance,
        "objective": history[-1],
    }
    return {names.CONVERGENCE: json.dumps(facts)}


def check_known(who: NDArray[Any], called: str) -> None:  # Any: integers of some width
    """Raise ``annotators-anonymous`` where a response has no annotator."""
    unknown = int((who < 0).sum())
    if unknown:
        raise InputError(
            "annotators-anonymous",
            f"annotations: {counted(unknown)} of {several(who.size, 'response')} "
            f"{'is' if unknown == 1 else 'are'} of unknown annotators",
            expected=f"annotators by name: crowd-kit:{called} estimates what each is worth",
            got="responses without one",
            do="plausibly.select(ann, annotator=ann.annotator.values) leaves them out; "
            "dawid-skene takes them as one annotator",
            whose="annotations",
            details={"responses": unknown},
        )


def check_labels(said: int, most: int, called: str) -> None:
    """Raise ``labels-too-many`` where the model does not take so many labels."""
    if said > most:
        raise InputError(
            "labels-too-many",
            f"crowd-kit:{called} reads answers between {most} labels, and {counted(said)} are said",
            expected=f"{most} labels",
            got=counted(said),
            do="aggregator crowd-kit:mmsr, crowd-kit:glad or dawid-skene",
            whose=f"aggregator crowd-kit:{called}",
        )


def times_of(weight: Floats, called: str, *, repeats: bool) -> NDArray[np.intp]:
    """Return how many rows each response is, or raise ``weights-broken``."""
    odd = weight != np.rint(weight) if repeats else weight != 1
    if odd.any():
        fine = "a whole number of times" if repeats else "once"
        raise InputError(
            "weights-broken",
            f"crowd-kit:{called} counts rows, and {several(int(odd.sum()), 'response')} of the "
            f"annotations {'does' if odd.sum() == 1 else 'do'} not count {fine}",
            expected=f"responses that count {fine}",
            got=f"{names.RESPONSE_WEIGHT} {weight[odd][0]:g}",
            do="dawid-skene, one-coin or worker-agreement, which take any weight",
            whose=f"aggregator crowd-kit:{called}",
        )
    return np.rint(weight).astype(np.intp)
