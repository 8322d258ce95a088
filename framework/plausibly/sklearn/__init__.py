"""The door of scikit-learn: an estimator that is calibrated on everything that experts said.

Needs the extra ``sklearn``. Where one stands in for what scikit-learn itself calls a class, the
names are scikit-learn's (``classes_``); everywhere else the word is label.
"""

from plausibly.extras import require

# Before anything of it is imported, so that a missing extra is said by its name.
require("sklearn", extra="sklearn", whose="plausibly.sklearn")

from plausibly.sklearn.classifier import AmbiguousConformalClassifier, NotConformalized  # noqa: E402  # see above

__all__ = ["AmbiguousConformalClassifier", "NotConformalized"]
