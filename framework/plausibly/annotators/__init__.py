"""Agreement, certainty and reliability of annotators."""

from plausibly.annotators.agreement import (
    Agreement,
    agreement,
    describe_certainty,
    label_disagreement,
)
from plausibly.annotators.certainty import annotation_certainty, uncertainty_adjusted_accuracy
from plausibly.annotators.measures import average_overlap

__all__ = [
    "Agreement",
    "agreement",
    "annotation_certainty",
    "average_overlap",
    "describe_certainty",
    "label_disagreement",
    "uncertainty_adjusted_accuracy",
]
