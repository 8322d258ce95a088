"""Coverage of prediction sets, and studies of several methods."""

from plausibly.evaluation.describe import as_json, describe, verdict
from plausibly.evaluation.evaluate import evaluate
from plausibly.evaluation.intervals import Interval, interval
from plausibly.evaluation.record import load_study, save_study
from plausibly.evaluation.study import compare
from plausibly.evaluation.tables import study_table

__all__ = [
    "Interval",
    "as_json",
    "compare",
    "describe",
    "evaluate",
    "interval",
    "load_study",
    "save_study",
    "study_table",
    "verdict",
]
