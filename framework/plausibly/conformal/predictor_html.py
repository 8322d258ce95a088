"""A predictor as a notebook shows it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from plausibly import text
from plausibly.errors import counted, listed

if TYPE_CHECKING:
    from plausibly.conformal.array_predictor import ArrayPredictor

ALPHAS = ("0.1", "0.05")
_MOST_LABELS = 30


def predictor_html(predictor: ArrayPredictor, threshold: Callable[[Fraction], str]) -> str:
    """Return what a predictor is, what it guarantees, and its labels, as HTML.

    Parameters
    ----------
    predictor : ArrayPredictor
    threshold : callable
        Returns the threshold at an alpha as text.
    """
    facts, evidence = predictor.facts, predictor.evidence
    held = f" and {counted(evidence.n_held_out)} held out" if evidence.n_held_out else ""
    rows = [
        ("calibrator", facts.calibrator),
        ("combiner", facts.combiner),
        ("score", facts.score),
        ("aggregator", facts.aggregator),
        ("calibrated on", f"{counted(evidence.n)} examples{held}, seed {facts.seed}"),
        ("labels", f"{len(predictor.labels)}: {listed(predictor.labels, most=_MOST_LABELS)}"),
        ("fingerprint", predictor.fingerprint),
    ]
    promises = [predictor.guarantee(alpha) for alpha in ALPHAS]
    levels = [
        (alpha, threshold(Fraction(alpha)), promise.statement())
        for alpha, promise in zip(ALPHAS, promises, strict=True)
    ]
    return text.framed(
        type(predictor).__name__,
        text.table(rows, titled=True),
        text.table(levels, head=("alpha", "threshold", "guaranteed"), titled=True),
        text.unfolded(
            f"the guarantee at alpha {ALPHAS[0]} in full",
            text.table(promises[0].rows(), titled=True),
        ),
    )
