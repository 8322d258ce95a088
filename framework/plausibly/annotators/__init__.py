"""Agreement, certainty and reliability of annotators."""

from plausibly.annotators.agreement import agreement
from plausibly.annotators.agreement_data import agreement_as_json
from plausibly.annotators.agreement_rankings import average_overlap
from plausibly.annotators.agreement_sets import set_likeness
from plausibly.annotators.agreement_words import (
    describe_agreement,
    describe_annotators,
    describe_certainty,
)
from plausibly.annotators.certainty import annotation_certainty, uncertainty_adjusted_accuracy
from plausibly.annotators.disagreement import label_disagreement

__all__ = [
    "agreement",
    "agreement_as_json",
    "annotation_certainty",
    "average_overlap",
    "describe_agreement",
    "describe_annotators",
    "describe_certainty",
    "label_disagreement",
    "set_likeness",
    "uncertainty_adjusted_accuracy",
]
