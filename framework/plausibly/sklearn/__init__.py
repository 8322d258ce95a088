"""A scikit-learn classifier that is calibrated on all answers of annotators.

Needs the extra ``sklearn``. Attributes that scikit-learn defines keep its names (``classes_``);
everywhere else the word is label.
"""

from plausibly.extras import require

# Before scikit-learn is imported, so that the error names the extra.
require("sklearn", extra="sklearn", source="plausibly.sklearn")

from plausibly.sklearn.classifier import AmbiguousConformalClassifier, NotConformalized  # noqa: E402  # see above

__all__ = ["AmbiguousConformalClassifier", "NotConformalized"]
